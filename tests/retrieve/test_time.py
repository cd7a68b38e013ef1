"""No future, ties, and growth: what is added later, or elsewhere, changes nothing."""

import random
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_memory import index_of

from hashnews.errors import DataError
from hashnews.index.day import Day, Entry, Settings, build_day
from hashnews.index.folder import NewsIndex
from hashnews.news.ingest import add_articles
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary
from hashnews.records import Article, PreparedPost
from hashnews.retrieve.base import TermQuery
from hashnews.retrieve.retriever import Retriever, RetrieverConfig
from hashnews.text.entities import shipped_finder
from hashnews.times import microseconds

START = datetime(2021, 3, 3, tzinfo=UTC)
NAMES = "ann bob carl dora eve".split()
entity = st.lists(st.sampled_from(NAMES), min_size=1, max_size=2).map(" ".join)
minutes = st.integers(0, 9 * 24 * 60)
news = st.lists(st.tuples(minutes, st.lists(entity, max_size=4)), max_size=20)
RANKINGS = ["tp", "bm25"]


def entries(drawn, letter="n"):
    return [
        Entry(f"{letter}{n}", microseconds(START + timedelta(minutes=m)), names, " ".join(names))
        for n, (m, names) in enumerate(drawn)
    ]


REFERENCE = [Entry(f"r{n}", 0, [NAMES[n % 5]], NAMES[n % 5]) for n in range(12)]


def find(articles, names, moment, ranking):
    reference = build_day(REFERENCE, Settings())
    finder = Retriever(index_of(articles), reference, RetrieverConfig(ranking=ranking))
    post = PreparedPost(
        id="p", created_at=moment, body=" ".join(names), entities=names, hashtags=()
    )
    return finder.retrieve(post)


@settings(max_examples=120, deadline=None)
@given(news, news, st.lists(entity, min_size=1, max_size=3), minutes, st.sampled_from(RANKINGS))
def test_nothing_from_the_posts_own_time_on_is_seen(past, future, names, minute, ranking):
    moment = START + timedelta(minutes=minute)
    planted = entries([(minute + m, ns) for m, ns in future], "f")  # from that very moment on
    with_future = find(entries(past) + planted, names, moment, ranking)
    without = find(entries(past), names, moment, ranking)
    kept = [e for e in entries(past) if e.published < microseconds(moment)]
    only_past = find(kept, names, moment, ranking)
    assert with_future == without == only_past  # scores too, so no statistic changed
    times = {e.id: e.published for e in entries(past)}
    assert all(times[r.id] < microseconds(moment) for r in with_future.articles)


@settings(max_examples=60, deadline=None)
@given(news, st.lists(entity, min_size=1, max_size=3), minutes, st.sampled_from(RANKINGS))
def test_windows_are_nested_and_no_article_comes_twice(past, names, minute, ranking):
    found = find(entries(past), names, START + timedelta(minutes=minute), ranking).articles
    assert len({r.id for r in found}) == len(found) <= 5
    assert [r.window for r in found] == sorted(r.window for r in found)
    assert all(r.score > 0 and np.isfinite(r.score) for r in found)


def test_the_leaky_clip_is_there_to_be_measured():
    articles = entries([(10 * 60, ["ann"]), (20 * 60, ["ann"])])
    reference = build_day(REFERENCE, Settings())
    moment = microseconds(START + timedelta(hours=15))
    for clip, ids in (("time", ["n0"]), ("day", ["n1", "n0"])):
        finder = Retriever(index_of(articles), reference, RetrieverConfig(clip=clip))
        assert [r.id for r in finder.find(["ann"], moment).named()] == ids


def test_ties_go_to_the_later_article_then_to_the_smaller_id():
    same = [Entry(name, microseconds(START), ["ann"], "") for name in ("b", "a", "c")]
    later = Entry("z", microseconds(START) + 1, ["ann"], "")
    for order in ([*same, later], [later, *same[::-1]]):
        found = find(order, ["ann"], START + timedelta(hours=1), "bm25").articles
        assert [r.id for r in found] == ["z", "a", "b", "c"]


def test_a_post_without_a_time_counts_as_now():
    now = datetime.now(UTC)
    articles = [
        Entry(n, microseconds(now + timedelta(hours=h)), ["ann"], "")
        for n, h in (("old", -1), ("new", 1))
    ]
    finder = Retriever(index_of(articles), None, RetrieverConfig(ranking="bm25"))
    post = PreparedPost(id="p", body="x", entities=("ann",), hashtags=())
    assert [r.id for r in finder.retrieve(post).articles] == ["old"]


def test_posts_that_ask_for_nothing():
    finder = Retriever(index_of(entries([(5, ["ann"])])), None, RetrieverConfig(ranking="bm25"))
    for names in ((), ("",), ("   ",), ("zed",)):
        post = PreparedPost(
            id="p", created_at=START + timedelta(days=1), body="", entities=names, hashtags=()
        )
        assert finder.retrieve(post) == ([], [])


def test_an_empty_reference_corpus_is_refused():
    with pytest.raises(DataError, match="holds no article"):
        Retriever(index_of([]), build_day([], Settings()))


# ----- the index in a folder -----


def articles(count, seed=1):
    rng = random.Random(seed)
    return [
        Article(
            id=f"a{n}",
            title=f"Title {n}",
            text=" ".join(rng.choices([*NAMES, "rain", "sun", "vote", "march"], k=12)),
            published_at=START + timedelta(minutes=rng.randrange(6 * 24 * 60)),
            entities=[
                " ".join(rng.choices(NAMES, k=rng.randint(1, 2))) for _ in range(rng.randint(0, 4))
            ],
        )
        for n in range(count)
    ]


def add(path, some):
    with NewsStore(path, "write") as store:
        add_articles(store, shipped_finder(), some, Refusals(Summary()))


def same_days(one, other):
    assert one.numbers() == other.numbers()
    for number in one.numbers():
        a, b = one.day(number).arrays, other.day(number).arrays
        assert a.keys() == b.keys()
        for name in a:
            assert np.array_equal(a[name], b[name]), (number, name)


def test_growing_equals_building_at_once(tmp_path):
    some = articles(300)
    add(tmp_path / "once.db", some)
    rng = random.Random(2)
    rng.shuffle(some)  # late and early articles in any order
    for start in range(0, 300, 40):
        add(tmp_path / "grown.db", some[start : start + 40])
        with NewsStore(tmp_path / "grown.db") as store:
            grown = NewsIndex.open(store)
    with NewsStore(tmp_path / "once.db") as store:
        once = NewsIndex.open(store)
    same_days(once, grown)
    files = {path.name for path in (tmp_path / "grown.db.index").glob("*.day")}
    assert len(files) == len(once.numbers())  # old days are gone


def test_new_articles_are_found_without_a_rebuild(tmp_path):
    path = tmp_path / "news.db"
    add(path, articles(50))
    with NewsStore(path) as store:
        index = NewsIndex.open(store)
        finder = Retriever(index, None, RetrieverConfig(ranking="bm25"))
        moment = microseconds(START + timedelta(days=3))
        assert finder.find(["zoe quill"], moment).named() == []
        assert index.refresh(store) is False
        news = Article(
            id="new", text="x", published_at=START + timedelta(days=2), entities=["Zoe Quill"]
        )
        add(path, [news])
        assert index.refresh(store) is True
        assert [r.id for r in finder.find(["zoe quill"], moment).named()] == ["new"]


def test_another_program_sees_what_was_added(tmp_path):
    path = tmp_path / "news.db"
    add(path, articles(50))
    with NewsStore(path) as store:
        one, other = NewsIndex.open(store), NewsIndex.open(store)
        add(path, articles(80, seed=3)[50:])
        one.refresh(store)
        other.refresh(store)
        same_days(one, other)


def test_a_day_reads_back(tmp_path):
    day = build_day(
        entries([(n, [NAMES[n % 5], "Ünal Straße"]) for n in range(30)]), Settings(t=0.8)
    )
    day.save(tmp_path / "x.day")
    again = Day.load(tmp_path / "x.day")
    for name, array in day.arrays.items():
        assert np.array_equal(array, again.arrays[name])
        assert array.dtype == again.arrays[name].dtype


def test_damage_is_noticed_and_mended(tmp_path):
    path = tmp_path / "news.db"
    add(path, articles(50))
    with NewsStore(path) as store:
        NewsIndex.open(store)
        damaged = next((tmp_path / "news.db.index").glob("*.day"))
        content = bytearray(damaged.read_bytes())
        content[len(content) // 2] ^= 1
        damaged.write_bytes(content)
        same_days(NewsIndex.open(store), index_of(map_entries(articles(50))))


def test_other_settings_make_another_index(tmp_path):
    path = tmp_path / "news.db"
    add(path, articles(50))
    with NewsStore(path) as store:
        NewsIndex.open(store)
        fuzzy = NewsIndex.open(store, Settings(t=0.8))
        same_days(fuzzy, index_of(map_entries(articles(50)), Settings(t=0.8)))


def map_entries(some):
    for article in some:
        text = f"{article.title}\n{article.text}"
        yield Entry(article.id, microseconds(article.published_at), article.entities, text)


class Rolling(Retriever):
    """R is the news before the window."""

    def reference(self, number):
        return self.days(number, range(6, 20))


@settings(max_examples=30, deadline=None)
@given(st.lists(minutes, min_size=2, max_size=4), st.permutations(NAMES))
def test_the_order_of_posts_does_not_matter(asked, names):
    """A day may be of R for one post and in the window of the next."""
    rng = random.Random(7)
    index = index_of(
        entries([(rng.randrange(9 * 24 * 60), rng.choices(NAMES, k=3)) for _ in range(200)])
    )
    one = Rolling(index)
    for minute in asked:
        moment = microseconds(START + timedelta(minutes=minute))
        found = one.find(names, moment).named()
        assert found == Rolling(index).find(names, moment).named()
        assert found == one.find_all([TermQuery(["zed"], 0), TermQuery(names, moment)])[1].named()
