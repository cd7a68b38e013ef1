import sqlite3
import threading
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from newsroom import START, Capitals, add, dump, make

from hashnews.errors import StoreError
from hashnews.news import database, migrations
from hashnews.news.reindex import Reindexing
from hashnews.news.search import as_query, search
from hashnews.news.stats import chart, statistics
from hashnews.news.store import NewsStore


def test_what_goes_in_comes_out(store):
    given_zone = datetime(2020, 6, 2, 1, 30, 0, 123456, timezone(timedelta(hours=5, minutes=30)))
    article = make(1, published_at=given_zone, entities=("Paris", "Paris"))
    bare = make(2, url=None, source=None, title="", text="nothing named here")
    add(store, [article, bare])
    assert store.get("a1") == article
    assert store.get("a1").published_at.utcoffset() == timedelta(hours=5, minutes=30)
    assert store.get("a2") == bare.model_copy(update={"entities": ()})
    assert store.get("a3") is None
    assert list(store.get_all(["a3", "a2", "a1", "a2"])) == ["a1", "a2"]
    assert store.get_all([]) == {}
    assert len(store) == 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.text(),
    st.text(min_size=1),
    st.datetimes(
        datetime(1900, 1, 2),
        datetime(2019, 1, 1),
        timezones=st.integers(-720, 720).map(lambda m: timezone(timedelta(minutes=m))),
    ),
)
def test_any_text_and_time_goes_in_and_comes_out(tmp_path_factory, title, text, moment):
    with NewsStore(tmp_path_factory.mktemp("any") / "n.db", "write") as store:
        article = make(1, title=title, text=text, published_at=moment)
        if add(store, [article]).added:
            (stored,) = store.read()
            assert stored.article.published_at == moment
            assert stored.article.published_at.utcoffset() == moment.utcoffset()
            assert add(store, [article]).known == {"id": 1}
        assert store.check() == []


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"url": "https://example.org/other", "title": "Other"}, "id"),
        ({"id": "b", "title": "Other", "url": "http://www.example.org/1/?utm_medium=rss"}, "url"),
        ({"id": "b", "url": "https://example.org/other", "title": "TITLE 1!"}, "title"),
    ],
)
def test_a_duplicate_is_counted_not_stored(store, changes, why):
    add(store, [make(1)])
    assert add(store, [make(1, **changes)]).known == {why: 1}
    assert len(store) == 1
    assert store.get("a1").text == "About Number 1 in Paris."


def test_a_duplicate_within_one_batch_is_seen_too(store):
    summary = add(store, [make(1), make(2), make(1), make(3, url="https://example.org/2")])
    assert (summary.added, summary.known) == (2, {"id": 1, "url": 1})


def test_articles_are_read_by_time_then_id_from_a_row_on(store):
    late, early = make(5), make(1)
    twins = [make(9, id="z", published_at=START), make(8, id="y", published_at=START)]
    add(store, [late, early, *twins])
    assert [one.article.id for one in store.read()] == ["y", "z", "a1", "a5"]
    assert [one.article.id for one in store.read(after=2)] == ["y", "z"]
    between = store.read(start=START + timedelta(hours=1), before=START + timedelta(hours=5))
    assert [one.article.id for one in between] == ["a1"]
    assert store.state()[:3] == (4, 1, "capitals")
    add(store, [make(0)])
    (new,) = store.read(after=4)
    assert (new.row, new.article.id) == (5, "a0")


def test_what_is_added_while_reading_belongs_to_the_next_reading(store, monkeypatch):
    monkeypatch.setattr("hashnews.news.store.PAGE", 2)
    add(store, [make(n) for n in range(6)])
    reading = store.read()
    seen = [next(reading).article.id for _ in range(3)]
    add(store, [make(100), make(-1)])
    assert seen + [one.article.id for one in reading] == [f"a{n}" for n in range(6)]
    assert [one.article.id for one in store.read(after=6)] == ["a-1", "a100"]


def test_readers_see_new_articles_at_once_and_never_half_a_batch(tmp_path):
    path, wrong = tmp_path / "n.db", []
    with NewsStore(path, "write") as store:
        add(store, [make(0)])
        done = threading.Event()

        def watch():
            with NewsStore(path) as reader:
                while not done.is_set():
                    count = len(reader)
                    rows = sum(1 for _ in reader.read())
                    if count % 10 != 1 or rows < count:
                        wrong.append((count, rows))

        threads = [threading.Thread(target=watch) for _ in range(3)]
        for thread in threads:
            thread.start()
        with NewsStore(path) as reader:
            for batch in range(20):
                add(store, [make(1 + batch * 10 + n) for n in range(10)])
                assert len(reader) == 11 + batch * 10
        done.set()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_two_writers_take_turns(tmp_path):
    def fill(start):
        with NewsStore(tmp_path / "n.db", "write") as store:
            for n in range(start, start + 30):
                add(store, [make(n)])

    threads = [threading.Thread(target=fill, args=(start,)) for start in (0, 15)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with NewsStore(tmp_path / "n.db") as store:
        assert len(store) == 45
        assert store.check() == []


def test_a_reader_cannot_write(store):
    add(store, [make(1)])
    with NewsStore(store.path) as reader, pytest.raises(StoreError, match="read-only"):
        add(reader, [make(2)])


def test_a_backup_under_load_is_the_store_at_one_moment(tmp_path):
    with NewsStore(tmp_path / "n.db", "write") as store:
        add(store, [make(n) for n in range(100)])
        done = threading.Event()

        def fill():
            with NewsStore(tmp_path / "n.db", "write") as other:
                n = 100
                while not done.is_set():
                    add(other, [make(n), make(n + 1)])
                    n += 2

        thread = threading.Thread(target=fill)
        thread.start()
        for copy in range(3):
            store.backup(tmp_path / f"{copy}.db")
        done.set()
        thread.join()
        whole = dump(store)["articles"]
        for copy in range(3):
            with NewsStore(tmp_path / f"{copy}.db", "write") as restored:
                kept = dump(restored)["articles"]
                assert kept == whole[: len(kept)]
                assert len(kept) >= 100
                assert len(kept) % 2 == 0
                assert restored.check() == []
                assert add(restored, [make(0), make(-7)]).added == 1
        with pytest.raises(StoreError, match="exists already"):
            store.backup(tmp_path / "0.db")
    assert not list(tmp_path.glob(".*tmp*"))


def test_reindex_changes_found_entities_and_leaves_given_ones(store):
    class Lower(Capitals):
        name = "lower"

        def find_all(self, texts):
            return [super(Lower, self).find(text.title()) for text in texts]

    add(store, [make(1), make(2, entities=("Mine",))])
    before = store.get("a1").entities
    steps = Reindexing(store, Lower())
    assert list(steps) == [1]
    assert steps.found == 1
    assert store.get("a1").entities != before
    assert store.get("a2").entities == ("Mine",)
    assert store.state()[:3] == (2, 2, "lower")
    with pytest.raises(StoreError, match="finder 'lower', not 'capitals'"):
        add(store, [make(3)])


def test_an_unfinished_reindex_shows_nothing_and_goes_on(store, monkeypatch):
    class Other(Capitals):
        name = "other"
        calls = 0

        def find_all(self, texts):
            self.calls += 1
            if self.calls == 2:
                raise KeyboardInterrupt
            return [[] for _ in texts]

    monkeypatch.setattr("hashnews.news.reindex.BATCH", 2)
    add(store, [make(n) for n in range(5)])
    old = [one.article.entities for one in store.read()]
    with pytest.raises(KeyboardInterrupt):
        list(Reindexing(store, Other()))
    assert [one.article.entities for one in store.read()] == old
    assert store.state()[:3] == (5, 1, "capitals")
    add(store, [make(5)])  # still with the old finder
    steps = Reindexing(store, Other())
    steps._finder.calls = 2
    assert list(steps) == [3, 4, 5, 6]
    assert {one.article.entities for one in store.read()} == {()}
    assert store.state()[:3] == (6, 2, "other")


def test_search_is_for_people(store):
    add(
        store,
        [
            make(1, title="Protest in Paris", text="Thousands marched."),
            make(2, title="Weather", text="Rain in Paris, and a protest song."),
            make(3, title="Élysée", text='He said "no comment"; AND/OR NOT (near) *'),
        ],
    )

    def found(words, **limits):
        return [hit.article.id for hit in search(store, words, **limits)]

    assert found("paris protest") == ["a1", "a2"]
    assert found('"protest in paris"') == ["a1"]
    assert found("prot*") == ["a1", "a2"]
    assert found("elysee") == ["a3"]
    assert found("paris", start=START + timedelta(hours=2)) == ["a2"]
    assert found("paris", source="nobody") == []
    assert found("paris", most=1) == ["a1"]
    assert "\x02protest\x03" in search(store, "protest")[1].excerpt.lower()


@given(st.text())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_a_person_types_breaks_the_search(words):
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5(a)")
        if query := as_query(words):
            db.execute("SELECT * FROM t WHERE t MATCH ?", (query,)).fetchall()
    db.close()


def test_statistics_show_days_sources_and_gaps(store):
    add(store, [make(n) for n in (0, 1, 24, 96)] + [make(200, source=None)])
    found = statistics(store).as_dict()
    assert found["days"] == {
        "2020-06-01": 2, "2020-06-02": 1, "2020-06-05": 1, "2020-06-09": 1,
    }  # fmt: skip
    assert found["gaps"] == [["2020-06-03", "2020-06-04"], ["2020-06-06", "2020-06-08"]]
    assert found["sources"] == {"example.org": 4, "": 1}
    lines = list(chart(statistics(store).days))
    assert len(lines) == 9
    assert "no news" in lines[2]
    assert lines[0].count("█") > lines[1].count("█") > 0
    some = statistics(store, START.date(), START.date() + timedelta(days=2))
    assert some.articles == 3


def test_a_chart_of_years_stays_short():
    days = {START.date() + timedelta(days=n): 5 for n in range(0, 1500, 2)}
    assert len(list(chart(days))) <= 64


def test_days_before_1970_are_days(store):
    add(store, [make(1, published_at=datetime(1969, 12, 31, 12, tzinfo=UTC))])
    assert list(statistics(store).as_dict()["days"]) == ["1969-12-31"]


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ((3, 40, 1), False), ((3, 44, 5), False), ((3, 44, 6), True), ((3, 45, 0), False),
        ((3, 50, 6), False), ((3, 50, 7), True), ((3, 51, 2), False), ((3, 51, 3), True),
        ((3, 54, 1), True), ((4, 0, 0), True),
    ],
)  # fmt: skip
def test_write_ahead_logging_only_where_sqlite_has_the_fix(version, safe):
    assert database.is_wal_safe(version) is safe


@pytest.mark.parametrize("steps", range(1, len(migrations.MIGRATIONS)))
def test_stores_of_every_earlier_schema_open_and_grow(tmp_path, monkeypatch, steps):
    path = tmp_path / "old.db"
    with monkeypatch.context() as past:
        past.setattr(database, "MIGRATIONS", migrations.MIGRATIONS[:steps])
        with NewsStore(path, "write") as store:
            rows = "(1, 0, 0, 0, 0, 'a1', 'example.org', NULL, 'Paris', '[]', 'Text')"
            store.database.run(f"INSERT INTO articles VALUES {rows}")
            if steps > 1:
                store.database.run("INSERT INTO search (search) VALUES ('rebuild')")
    with NewsStore(path) as store:  # a reader may be the first to come
        assert [hit.article.id for hit in search(store, "paris")] == ["a1"]
        assert store.check() == []
    with NewsStore(path, "write") as store:
        assert add(store, [make(2)]).added == 1
