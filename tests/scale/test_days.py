"""Files by day, without a cluster: the same functions, one job after the other."""

import gzip
import json
import os
import shutil
from datetime import UTC, date, datetime, timedelta

import pytest
from byday import joined, run
from hypothesis import given, settings
from hypothesis import strategies as st

from hashnews.errors import DataError, ModelError, StoreError
from hashnews.files import RecordFile, write_records
from hashnews.index.day import Settings
from hashnews.index.folder import NewsIndex
from hashnews.news.store import NewsStore
from hashnews.prepare.preparer import Preparer
from hashnews.prepare.splits import write_prepared
from hashnews.records import Article, Post, PreparedPost
from hashnews.retrieve.all_words import AllWordsConfig
from hashnews.retrieve.source import RetrieverSource
from hashnews.saved import read_manifest
from hashnews.scale.cut import cut_days
from hashnews.scale.days import Days, FileJob, do, read_day
from hashnews.scale.engine import one_by_one
from hashnews.scale.news import index_days, unique
from hashnews.scale.prepare import Readers, Rules, prepare_days
from hashnews.scale.steps import Retrieve, Suggest, find_days, retrieve_days, suggest_days
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter

START = datetime(2020, 6, 1, 22, tzinfo=UTC)
SAYINGS = ["Vote today!", "Thank you, Ohio.", "We march.", "Rest in power, George Floyd."]


def source_of(news):
    return RetrieverSource(news, None, Settings(), AllWordsConfig())


def write(folder, day, name, lines):
    place = folder / f"day={day}"
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_files_are_read_in_order_and_foreign_ones_left_alone(tmp_path):
    for name in ("part-10.jsonl", "part-9.jsonl", "_SUCCESS", ".part-1.jsonl.crc"):
        write(tmp_path, "2020-06-02", name, [])
    write(tmp_path, "2020-06-01", "part-0.jsonl", [])
    (tmp_path / "notes.txt").touch()
    days = Days.of(tmp_path)
    assert list(days.files) == [date(2020, 6, 1), date(2020, 6, 2)]
    names = [path.name for path in days.files[date(2020, 6, 2)]]
    assert names == ["part-9.jsonl", "part-10.jsonl"]


@pytest.mark.parametrize(
    ("post", "message"),
    [
        ({"id": "p", "text": "x", "created_at": "2020-06-03T00:00:00Z"}, "not of this day"),
        ({"id": "p", "text": "x", "created_at": "2020-06-03T01:00:00+02:00"}, None),
        ({"id": "p", "text": "x"}, "has no created_at"),
    ],
)
def test_a_post_must_be_of_its_day(tmp_path, post, message):
    write(tmp_path, "2020-06-02", "part-0.jsonl", [post])
    records = read_day(tmp_path / "day=2020-06-02" / "part-0.jsonl", Post)
    if message is None:
        assert len(list(records)) == 1
        return
    with pytest.raises(DataError, match=message):
        list(records)


def test_what_is_no_folder_of_days_is_refused(tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        Days.of(tmp_path / "nowhere")
    with pytest.raises(DataError, match="day=2020-06-02"):
        Days.of(tmp_path)
    (tmp_path / "day=2020-02-31").mkdir()
    with pytest.raises(DataError, match="no such day"):
        Days.of(tmp_path)


def test_a_result_replaces_nothing_but_itself(sample, tmp_path):
    days = tmp_path / "days"
    cut_days([str(sample.posts)], days)
    with pytest.raises(DataError, match="a folder of its own"):
        retrieve_days(source_of(sample.news), days, days, one_by_one)
    with pytest.raises(ModelError, match=r"day=2020-05-24 .*no manifest"):
        retrieve_days(source_of(sample.news), sample.posts_days, days, one_by_one)
    made = tmp_path / "made"
    rules = Rules(made / ".work", Readers("fast"))
    prepare_days(sample.raw_days, made, rules, None, 1, one_by_one)
    before = joined(made)
    with pytest.raises(ModelError, match="holds a 'posts by day'"):
        retrieve_days(source_of(sample.news), sample.posts_days, made, one_by_one)
    assert joined(made) == before
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be written"):
        retrieve_days(source_of(sample.news), days, tmp_path / "file", one_by_one)


def test_a_node_that_shares_no_folder_writes_nothing(sample, tmp_path):
    source = min(sample.posts_days.glob("day=*/*"))
    target = tmp_path / "elsewhere" / "part-0.jsonl"
    step = Retrieve(source_of(sample.news))
    with pytest.raises(DataError, match="does not see the folder"):
        do(FileJob(step, date(2020, 6, 2), source, target))
    assert not target.parent.exists()


def test_a_node_with_another_store_is_refused(sample, tmp_path):
    few = tmp_path / "few"
    cut_days([str(sample.raw)], few)
    for day in sorted(few.iterdir())[1:]:
        shutil.rmtree(day)
    copy = tmp_path / "news.db"
    run("news", "backup", copy, "--news", sample.news)

    def after_more_news(work, jobs):
        write_records(tmp_path / "more.jsonl", [Article(id="m", text="New.", published_at=START)])
        run("news", "add", tmp_path / "more.jsonl", "--news", copy)
        return map(work, jobs)

    with pytest.raises(StoreError, match="not what the run began with"):
        suggest_days(Suggest.of(copy, None), few, tmp_path / "answers", after_more_news)
    done = suggest_days(Suggest.of(copy, None), few, tmp_path / "answers", one_by_one)
    assert (done.days, done.skipped) == (1, 0)


def test_contexts_are_those_of_one_file(sample, tmp_path):
    run("retrieve", sample.posts, "--news", sample.news, "-o", tmp_path / "c.jsonl")
    contexts = tmp_path / "contexts"
    done = retrieve_days(source_of(sample.news), sample.posts_days, contexts, one_by_one)
    assert joined(contexts) == (tmp_path / "c.jsonl").read_bytes()
    assert done.lines == len(list(RecordFile(sample.posts, PreparedPost)))
    again = retrieve_days(source_of(sample.news), sample.posts_days, contexts, one_by_one)
    assert (again.skipped, again.files) == (done.days, 0)


def test_a_broken_run_goes_on_with_what_it_has(sample, tmp_path):
    contexts, made = tmp_path / "contexts", []

    def breaks(work, jobs):
        for number, job in enumerate(jobs):
            if number == 7:
                raise KeyboardInterrupt
            made.append(job.source)
            yield work(job)

    with pytest.raises(KeyboardInterrupt):
        retrieve_days(source_of(sample.news), sample.posts_days, contexts, breaks)
    assert len(list(contexts.glob("day=*"))) == 7
    (contexts / "day=2020-05-26" / "part-0.jsonl").write_text("cut")  # damaged since
    done = retrieve_days(source_of(sample.news), sample.posts_days, contexts, one_by_one)
    assert done.skipped == 6
    run("retrieve", sample.posts, "--news", sample.news, "-o", tmp_path / "c.jsonl")
    assert joined(contexts) == (tmp_path / "c.jsonl").read_bytes()


def test_parts_of_an_unfinished_day_are_kept(sample, tmp_path):
    posts, contexts = tmp_path / "posts", tmp_path / "contexts"
    cut_days([str(sample.posts)], posts, lines_a_file=2)
    assert len(list(posts.glob("day=*/*"))) > len(list(posts.glob("day=*")))

    def breaks(work, jobs):
        yield from map(work, jobs[:1])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        retrieve_days(source_of(sample.news), posts, contexts, breaks)
    (kept,) = contexts.glob(".day=*/part-0.jsonl")
    before = kept.stat().st_mtime_ns
    (kept.parent / ".part-1.jsonl.tmp-1-dead").write_text("half a line")
    retrieve_days(source_of(sample.news), posts, contexts, one_by_one)
    day = contexts / kept.parent.name[1:15]
    assert (day / "part-0.jsonl").stat().st_mtime_ns == before
    assert not list(contexts.glob("**/.*"))
    assert read_manifest(day, "contexts by day").files.keys() == {
        path.name for path in day.glob("*.jsonl")
    }


def test_news_of_a_later_day_leaves_finished_days_alone(sample, tmp_path):
    days, index, contexts = tmp_path / "news.parquet", tmp_path / "index", tmp_path / "contexts"
    run("news", "export", "--news", sample.news, "-o", days)
    last = max(days.glob("day=*"))
    last.rename(tmp_path / "later")
    index_days(days, index, one_by_one)
    first = retrieve_days(source_of(index), sample.posts_days, contexts, one_by_one)
    (tmp_path / "later").rename(last)
    built = index_days(days, index, one_by_one)
    assert built.skipped == built.days - 1
    second = retrieve_days(source_of(index), sample.posts_days, contexts, one_by_one)
    unseen = sum(path.name < last.name for path in sample.posts_days.glob("day=*"))
    assert (first.skipped, second.skipped) == (0, unseen)
    run("retrieve", sample.posts, "--news", sample.news, "-o", tmp_path / "c.jsonl")
    assert joined(contexts) == (tmp_path / "c.jsonl").read_bytes()


def test_an_index_of_files_is_that_of_the_store(sample, tmp_path):
    run("news", "export", "--news", sample.news, "-o", tmp_path / "news.parquet")
    told = json.loads(
        run("news", "index", tmp_path / "news.parquet", "-o", tmp_path / "index", "--json")
    )
    with NewsStore(sample.news) as store:
        assert told["articles"] == len(store)
        mine, theirs = NewsIndex.read(tmp_path / "index"), NewsIndex.open(store)
    assert mine.numbers() == theirs.numbers()
    for number in mine.numbers():
        for name, array in theirs.day(number).arrays.items():
            assert array.tobytes() == mine.day(number).arrays[name].tobytes()
    again = run("news", "index", tmp_path / "news.parquet", "-o", tmp_path / "index", "--json")
    assert json.loads(again)["skipped"] == told["days"]
    with pytest.raises(ModelError, match="was built with"):
        RetrieverSource(tmp_path / "index", None, Settings(t=0.8), AllWordsConfig()).open()


def test_from_a_store_to_files_and_back(sample, tmp_path):
    def rows(path):
        with NewsStore(path) as store:
            return store.state().finder, [one[1:] for one in store.read()]

    plain, found, again = (tmp_path / name for name in ("plain.jsonl", "found", "again.db"))
    given = Article(id="g", text="It brought its own.", entities=("Own",), published_at=START)
    write_records(plain, [given])
    before = tmp_path / "before.db"
    run("news", "backup", before, "--news", sample.news)
    run("news", "add", plain, "--news", before)
    run("news", "export", "--news", before, "-o", tmp_path / "news.parquet")
    find_days("fast", tmp_path / "news.parquet", found, one_by_one)
    run("news", "add", *sorted(found.glob("day=*/*.jsonl")), "--news", again)
    assert rows(again) == rows(before)
    # Another finder reads the same files anew, but for what came with an article.
    few = [found / "day=2020-05-20" / "part-0.jsonl", found / "day=2020-06-01" / "part-0.jsonl"]
    run("news", "add", *few, "--news", tmp_path / "t.db", "--finder", "tagger")
    finder, stored = rows(tmp_path / "t.db")
    assert finder == "tagger"
    assert [article.id for _, is_given, article in stored if is_given] == ["g"]
    before_of = {article.id: article.entities for *_, article in rows(before)[1]}
    assert any(article.entities != before_of[article.id] for *_, article in stored)


def test_of_articles_with_one_key_the_first_counts():
    def article(name, url=None, title=""):
        return Article(id=name, url=url, title=title, text="x", source="s", published_at=START)

    articles = [
        article("a", "https://x.org/1"), article("b", "http://www.x.org/1/"), article("a"),
        article("c", title="News"), article("d", title="news!"), article("e"),
    ]  # fmt: skip
    assert [one.id for one in unique(articles)] == ["a", "c", "e"]


@settings(max_examples=15, deadline=None)
@given(
    posts=st.lists(
        st.tuples(st.sampled_from(SAYINGS), st.sampled_from(["#a", "#b #c"]), st.integers(0, 5)),
        min_size=1, max_size=30,
    ),
    size=st.integers(1, 7),
    split=st.sampled_from([None, "random", "chronological"]),
)  # fmt: skip
def test_preparing_does_not_depend_on_the_cut(tmp_path_factory, posts, size, split):
    folder = tmp_path_factory.mktemp("cut")
    moment, raw = START, []
    for number, (said, tags, later) in enumerate(posts):
        moment += timedelta(hours=later)
        raw.append(Post(id=str(number), text=f"{said} {tags}", created_at=moment))
    write_records(folder / "raw.jsonl", raw)
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    write_prepared(folder / "posts.jsonl", preparer.prepare(raw), split)
    cut_days([str(folder / "raw.jsonl")], folder / "raw", size)
    rules = Rules(folder / "out" / ".work", Readers("fast"))
    made = prepare_days(folder / "raw", folder / "out", rules, split, 1, one_by_one)
    assert joined(folder / "out") == (folder / "posts.jsonl").read_bytes()
    finder = load_finder("fast")
    assert made.statistics.report(finder, made.dropped) == preparer.statistics.report(
        finder, preparer.dropped
    )
    again = prepare_days(folder / "raw", folder / "out", rules, split, 1, one_by_one)
    assert again.result.skipped == made.result.days
    assert again.dropped == made.dropped


def test_copies_are_found_range_by_range(sample, tmp_path, monkeypatch):
    def prepared(name):
        rules = Rules(tmp_path / name / ".work", Readers("fast"))
        prepare_days(sample.raw_days, tmp_path / name, rules, None, 1, one_by_one)
        return joined(tmp_path / name)

    whole = prepared("whole")
    assert whole == sample.posts.read_bytes()
    monkeypatch.setattr("hashnews.scale.prepare.RANGE", 10)
    assert prepared("ranges") == whole


def test_a_changed_day_is_prepared_again(sample, tmp_path):
    raw, out = tmp_path / "raw", tmp_path / "out"
    cut_days([str(sample.raw)], raw)
    rules = Rules(out / ".work", Readers("fast"))
    first = prepare_days(raw, out, rules, None, 1, one_by_one)
    file = min(raw.glob("day=*/*"))
    lines = file.read_text("utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[1:]), encoding="utf-8")
    os.utime(file, ns=(1, 1))
    second = prepare_days(raw, out, rules, None, 1, one_by_one)
    assert second.result.skipped == first.result.days - 1
    assert second.statistics.posts <= first.statistics.posts
    shutil.rmtree(file.parent)  # what was made of it stays, and is none of this run
    third = prepare_days(raw, out, rules, None, 1, one_by_one)
    assert third.statistics.posts < second.statistics.posts == len(joined(out).splitlines())


def test_bad_lines_are_counted(tmp_path):
    write(tmp_path / "raw", "2020-06-02", "part-0.jsonl", [
        {"id": "1", "text": "We march. #a", "created_at": "2020-06-02T01:00:00Z"}, ["no post"],
    ])  # fmt: skip
    rules = Rules(tmp_path / "out" / ".work", Readers("fast"), on_error="skip")
    made = prepare_days(tmp_path / "raw", tmp_path / "out", rules, None, 1, one_by_one)
    assert (made.skipped.count, made.statistics.posts) == (1, 1)
    stops = Rules(tmp_path / "stops" / ".work", Readers("fast"))
    with pytest.raises(DataError, match=r"part-0\.jsonl:2"):
        prepare_days(tmp_path / "raw", tmp_path / "stops", stops, None, 1, one_by_one)


@pytest.mark.parametrize("most_open", [1, 200])
def test_cutting_keeps_lines_and_order(tmp_path, monkeypatch, most_open):
    monkeypatch.setattr("hashnews.scale.cut.MOST_OPEN", most_open)
    lines = [
        '{"text":"b",  "created_at":"2020-06-02T01:00:00+02:00", "more": 1}',
        '{"text":"a", "created_at":"2020-06-02T00:00:00Z"}',
        '{"text":"c", "created_at":"2020-06-02"}',
    ]
    (tmp_path / "p.jsonl").write_text("\n".join(lines) + "\n")
    assert cut_days([str(tmp_path / "p.jsonl")], tmp_path / "days", 1) == 3
    read = {str(path.relative_to(tmp_path / "days")): path.read_text().rstrip("\n")
            for path in (tmp_path / "days").glob("*/*")}  # fmt: skip
    assert read == {
        "day=2020-06-01/part-0.jsonl": lines[0], "day=2020-06-02/part-0.jsonl": lines[1],
        "day=2020-06-01/part-1.jsonl": lines[2],
    }  # fmt: skip
    with pytest.raises(DataError, match="exists already"):
        cut_days([str(tmp_path / "p.jsonl")], tmp_path / "days")
    (tmp_path / "q.jsonl").write_text('{"text": "x"}\n')
    with pytest.raises(DataError, match=r"q\.jsonl:1: no created_at"):
        cut_days([str(tmp_path / "q.jsonl")], tmp_path / "q")
    assert not list(tmp_path.glob(".q*"))
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(lines[0].encode() * 99)[:40])
    with pytest.raises(DataError, match="cannot be read on"):
        cut_days([str(tmp_path / "c.jsonl.gz")], tmp_path / "c")
    for wrong in ('{"created_at": "2020-06-02"}'.encode("utf-16-le"), b"[" * 100_000, b"\xff"):
        (tmp_path / "w.jsonl").write_bytes(wrong)
        with pytest.raises(DataError, match=r"w\.jsonl:1: "):
            cut_days([str(tmp_path / "w.jsonl")], tmp_path / "w")
