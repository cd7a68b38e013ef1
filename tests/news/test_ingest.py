import gzip
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from newsroom import START, Capitals, add, dump, make

from hashnews.errors import DataError
from hashnews.news import ingest
from hashnews.news.entities import tidy
from hashnews.news.export import draw_reference, export_lines, export_parquet
from hashnews.news.ingest import add_files
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary
from hashnews.records import DAY_END
from hashnews.text.tokens import repair

NOW = datetime(2020, 6, 3, 12, tzinfo=UTC)


def add_paths(store, *paths, on_error="stop", side=None):
    summary = Summary()
    add_files(store, Capitals(), [str(path) for path in paths], Refusals(summary, side), on_error)
    return summary


def write_lines(path, articles):
    with (gzip.open if path.suffix == ".gz" else open)(path, "wt") as stream:
        stream.writelines(article.to_json() + "\n" for article in articles)
    return path


def test_entities_are_found_in_title_and_text_unless_given(store):
    add(store, [make(1, title="Rome calls", text="Rain in Paris."), make(2, entities=())])
    assert store.get("a1").entities == ("Rome", "Rain", "Paris")
    assert store.get("a2").entities == ()
    assert [one.given for one in store.read()] == [False, True]


def test_text_is_repaired_on_its_way_in(store):
    add(store, [make(1, title="Q&amp;A", text="It’s caf\u00c3\u00a9 time\x00")])
    assert (store.get("a1").title, store.get("a1").text) == ("Q&A", "It's café time")


NASTY = st.sampled_from("“”‘’–—…&;#\r\n\t\x01\x1b'\"abc £€©®°•½éàâãßøÿÂÃÅ¬√Ÿ™\x92\xa0\xad\u0301ﬁ")


@settings(max_examples=500)
@given(st.text(alphabet=st.characters() | NASTY | NASTY))
@example("caf\u00c3\u00a9 “x”")
@example("£5–£10, Q&amp;A & more")
@example("“\x01”")
def test_the_shortcut_repairs_like_repair(text):
    assert tidy(text) == repair(text)


@pytest.mark.parametrize(
    ("moment", "refused"),
    [
        (NOW + timedelta(minutes=9), False),
        (NOW + timedelta(minutes=11), True),
        (NOW + timedelta(days=400), True),
        (datetime.combine(NOW.date(), DAY_END), False),  # today, without an hour
        (datetime.combine(NOW.date() + timedelta(days=1), DAY_END), False),  # in the east it is
        (datetime.combine(NOW.date() + timedelta(days=2), DAY_END), True),
    ],
)
def test_dates_in_the_future_are_refused(store, moment, refused):
    summary = add(store, [make(1, published_at=moment), make(2)], now=NOW)
    assert summary.refused == ({"published in the future": 1} if refused else {})
    assert summary.added == 2 - refused


def test_an_article_without_words_is_refused(store):
    assert add(store, [make(1, title=" ", text="\n")]).refused == {"neither title nor text": 1}


def test_adding_a_file_twice_changes_nothing(store, tmp_path, monkeypatch):
    path = write_lines(tmp_path / "news.jsonl.gz", [make(n) for n in range(25)])
    monkeypatch.setattr(ingest, "BATCH", 10)
    assert add_paths(store, path).added == 25
    before = dump(store)
    again = add_paths(store, path)
    assert (again.added, again.known) == (0, {"id": 25})
    assert dump(store) == before


@pytest.mark.parametrize("order", [1, 7, 13])
def test_the_order_of_distinct_articles_does_not_matter(store, order):
    add(store, [make(n * order % 29) for n in range(29)])
    assert [one.article.id for one in store.read()] == [f"a{n}" for n in range(29)]


def test_a_bad_line_stops_after_what_was_good_or_is_set_aside(tmp_path, monkeypatch):
    path = write_lines(tmp_path / "news.jsonl", [make(n) for n in range(7)])
    lines = path.read_text().splitlines()
    lines[4] = '{"id": "x", "text": "no time"}'
    path.write_text("\n".join(lines))
    monkeypatch.setattr(ingest, "BATCH", 3)
    with NewsStore(tmp_path / "stop.db", "write") as store:
        with pytest.raises(DataError, match=r"news.jsonl:5: published_at: is missing"):
            add_paths(store, path)
        assert [one.article.id for one in store.read()] == ["a0", "a1", "a2", "a3"]
    with NewsStore(tmp_path / "skip.db", "write") as store:
        side = tmp_path / "refused.jsonl"
        summary = add_paths(store, path, on_error="skip", side=side)
        assert (summary.added, summary.refused) == (6, {"published_at: is missing": 1})
        assert json.loads(side.read_text())["line"] == 5


def test_exported_lines_make_the_same_store_again(store, tmp_path):
    add(store, [make(3, entities=("Given",)), make(1), make(2)])
    out = tmp_path / "out.jsonl.gz"
    assert export_lines(str(out), store.read()) == 3
    with NewsStore(tmp_path / "again.db", "write") as again:
        add_paths(again, out)
        assert [one[2:] for one in again.read()] == [one[2:] for one in store.read()]
        assert dump(again)["keys"] != []
    export_lines(str(out), store.read(), "fast")
    lines = gzip.decompress(out.read_bytes()).decode().splitlines()
    shown = [json.loads(line)["entities"] for line in lines]
    assert shown[2] == ["Given"]
    assert "Paris" in shown[0]


def test_parquet_is_partitioned_by_day_and_reads_back(store, tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("hashnews.news.export.ROWS_A_FILE", 10)
    add(store, [make(n) for n in range(40)])
    out = tmp_path / "news.parquet"
    assert export_parquet(out, store.read(), "fast") == 40
    files = sorted(str(path.relative_to(out)) for path in out.rglob("*.parquet"))
    assert files == [
        "day=2020-06-01/part-0.parquet", "day=2020-06-01/part-1.parquet",
        "day=2020-06-01/part-2.parquet", "day=2020-06-02/part-0.parquet",
        "day=2020-06-02/part-1.parquet",
    ]  # fmt: skip
    table = parquet.read_table(out)
    assert table.num_rows == 40
    assert table["published_at"][0].as_py() == START
    with pytest.raises(DataError, match="exists already"):
        export_parquet(out, store.read(), "fast")
    with NewsStore(tmp_path / "again.db", "write") as again:
        add_paths(again, *(out / name for name in files))
        assert [one.article for one in again.read()] == [one.article for one in store.read()]


def test_the_reference_is_drawn_from_before_a_time_and_by_seed_alone(store, tmp_path):
    add(store, [make(n) for n in range(100)])
    before, out = START + timedelta(hours=60), tmp_path / "r.jsonl"
    drawn = draw_reference(store, str(out), 20, before, seed=1)
    first = out.read_text()
    assert (drawn.size, drawn.drawn_from, drawn.finder) == (20, 60, "capitals")
    assert max(json.loads(line)["published_at"] for line in first.splitlines()) < "2020-06-03T12"
    assert all(json.loads(line)["entities"] for line in first.splitlines())
    add(store, [make(n) for n in range(100, 120)])  # later news
    draw_reference(store, str(out), 20, before, seed=1)
    assert out.read_text() == first
    draw_reference(store, str(out), 20, before, seed=2)
    assert out.read_text() != first
    with pytest.raises(DataError, match="holds 60 articles before"):
        draw_reference(store, str(out), 61, before, seed=1)


@pytest.mark.parametrize(
    "changes",
    [{"id": "x" * 2001}, {"title": "Angela Merkel " * 70_000}, {"text": "x" * 1_000_001},
     {"url": "https://e.org/" + "x" * 2000}, {"source": "x" * 201}, {"entities": ["x" * 1001]},
     {"entities": ["x"] * 10_001}],
    ids=lambda changes: next(iter(changes)),
)  # fmt: skip
def test_what_is_too_long_is_refused_before_it_costs_anything(store, changes):
    """A title of a megabyte took seconds, an article of fifty over a minute."""
    summary = add(store, [make(1, **changes), make(2)])
    assert (summary.added, summary.refused.total()) == (1, 1)
    (reason,) = summary.refused
    assert "more than" in reason or "too many or too long" in reason
