"""Explanations add up to the scores, and trends see nothing later."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from in_memory import index_of

from hashnews.index.day import Entry, Settings, build_day
from hashnews.records import PreparedPost
from hashnews.retrieve.explain import as_json, explain
from hashnews.retrieve.retriever import Retriever, RetrieverConfig
from hashnews.retrieve.trends import trends
from hashnews.times import microseconds

START = datetime(2021, 3, 3, tzinfo=UTC)
NAMES = "ann bob carl dora eve".split()


def some_news(count=200, seed=1):
    rng = random.Random(seed)
    for n in range(count):
        names = [
            " ".join(rng.choices(NAMES, k=rng.randint(1, 2))) for _ in range(rng.randint(0, 4))
        ]
        moment = START + timedelta(minutes=rng.randrange(8 * 24 * 60))
        yield Entry(f"n{n}", microseconds(moment), names, " ".join(names))


@pytest.mark.parametrize("ranking", ["tp", "bm25"])
def test_the_parts_add_up(ranking):
    news = list(some_news())
    reference = build_day(news[:40], Settings())
    finder = Retriever(index_of(news), reference, RetrieverConfig(ranking=ranking))
    for hours in range(0, 8 * 24, 7):
        post = PreparedPost(
            id="p", created_at=START + timedelta(hours=hours), body="ann bob", hashtags=(),
            entities=("Ann", "Carl Bob", "zed"),
        )  # fmt: skip
        told, found = explain(finder, post), finder.retrieve(post)
        assert [(a.id, a.window) for a in told.articles] == [
            (r.id, r.window) for r in found.articles
        ]
        for article in told.articles:
            assert sum(part for _, part in article.parts.values()) == pytest.approx(article.score)
        assert as_json(told)["terms"][0]["term"] == "ann"


def test_trends_rise_with_the_news_and_see_nothing_later():
    quiet = [
        Entry(f"q{n}", microseconds(START + timedelta(hours=4 * n)), [NAMES[n % 5]], "")
        for n in range(30 * 6)
    ]
    event = START + timedelta(days=25)
    loud = [
        Entry(f"l{n}", microseconds(event + timedelta(minutes=10 * n)), ["zoe quill"], "")
        for n in range(20)
    ]
    index = index_of(quiet + loud)
    assert "zoe quill" not in {t.entity for t in trends(index, event)}
    risen = trends(index, event + timedelta(hours=3))
    assert risen[0].entity == "zoe quill"
    assert risen[0].counts == [0, 0, 0, 0, 0, 0, 0, 18]
    before = index_of(
        [e for e in quiet + loud if e.published < microseconds(event + timedelta(hours=3))]
    )
    assert trends(before, event + timedelta(hours=3)) == risen
    assert trends(index_of([]), event) == []
