"""What a post, or an article that somebody published, may cost: bounded, whatever it says."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from hashnews import HashNews, Post
from hashnews.news.entities import MOST_NAMES
from hashnews.news.ingest import add_articles
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary
from hashnews.records import Article, PreparedPost, Retrieved
from hashnews.suggest.query import PostWithNews, Query
from hashnews.text.entities import LONGEST_NAME, shipped_finder
from hashnews.times import microseconds

AT = datetime(2020, 6, 5, 20, tzinfo=UTC)
LONGEST = 10_000  # characters that the service takes
DEAR = {
    "one name without end": "Anna " * 2_000,
    "a name in every word": " ".join(f"A{chr(97 + n % 26)}{chr(97 + n // 99)}" for n in range(999)),
    "one name, two thousand times": "Anna. " * 1_600,
    "two words, always": "Anna Berg. " * 900,
    "mentions": " ".join(f"@{chr(97 + n % 26)}{n}" for n in range(1_600)),
    "hashtags": " ".join(f"#{chr(97 + n % 26)}{chr(97 + n // 100)}x" for n in range(1_900)),
    "long hashtags": " ".join("#" + "aeiou"[n % 5] * 139 for n in range(70)),
    "letters": "a " * 5_000,
}  # fmt: skip


@pytest.fixture(scope="module")
def hashnews():
    with HashNews() as opened:
        opened.suggest(Post(text="Marching for George Floyd", created_at=AT))
        yield opened


def processor_time(opened, text):
    began = time.process_time()
    opened.suggest(Post(text=text, created_at=AT))
    return time.process_time() - began


@pytest.mark.parametrize("text", DEAR.values(), ids=DEAR)
def test_no_post_costs_far_more_than_its_length(hashnews, text):
    """`Anna Anna Anna ...` took 11 seconds: all runs of words within a name of 2,000 words."""
    ordinary = "Marching for George Floyd tonight in Minneapolis, where people mourn and pray. "
    usual = processor_time(hashnews, ordinary * (LONGEST // len(ordinary)))
    assert processor_time(hashnews, text[:LONGEST]) < 20 * usual + 1


def test_a_run_of_capitals_without_end_is_no_name():
    find = shipped_finder().find
    assert find("Anna " * 5_000) == []
    assert [one.text for one in find("We met Anna Berg. " + "Anna " * 50)] == ["Anna Berg"]
    longest = " ".join(["Anna"] * LONGEST_NAME)
    assert [one.text for one in find(f"There was {longest} here.")] == [longest]


@pytest.mark.parametrize("text", ["Anna " * 200_000, "Anna. " * 160_000,
                                  " ".join(f"Anna{n:05d}." for n in range(90_000))],
                         ids=["one name", "one name often", "many names"])  # fmt: skip
def test_one_article_does_not_hold_up_every_post_that_finds_it(tmp_path, text):
    """A feed's article of a megabyte of capitals made each of them take minutes."""
    path = tmp_path / "news.db"
    title = "Anna speaks in Paris about George Floyd"
    article = Article(
        title=title, text=text[:1_000_000], published_at=AT - timedelta(hours=9), source="e.org"
    )
    with NewsStore(path, "write") as store:
        add_articles(store, shipped_finder(), [article], Refusals(Summary()))
        (stored,) = store.read()
    assert len(stored.article.entities) <= MOST_NAMES
    with HashNews(path) as opened:
        usual = processor_time(opened, "Nothing")
        spent = processor_time(opened, title)
        assert spent < 20 * usual + 3


def test_what_a_store_of_old_holds_is_read_in_bounds():
    """Entities that were stored before there was a bound, or that came with an article."""
    many = tuple(f"Name{n}" for n in range(50_000))
    long = ("a b " * 50_000, "c " * 90, "Anna Berg")
    for entities in (many, long, long * 5_000):
        article = Article(
            id="1", title="T", text="x", published_at=AT - timedelta(hours=1), entities=entities
        )
        post = PreparedPost(
            id="p", created_at=AT, user=None, body="Anna Berg", entities=entities, hashtags=()
        )
        found = [(Retrieved("1", 1.0, 0), article)]
        query = Query(PostWithNews(post, microseconds(AT), [], found))
        assert query.is_name(("anna", "berg")) == (entities is not many)
        assert len(query._parts) <= 300 * 8 * 8
