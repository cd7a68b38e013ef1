"""Small stores of made-up news, and the index as it should be."""

import random
from datetime import UTC, datetime, timedelta

import numpy as np

from hashnews.index.folder import NewsIndex
from hashnews.news.keys import keys_of
from hashnews.news.store import New, NewsStore
from hashnews.records import Article
from hashnews.retrieve.retriever import Retriever, RetrieverConfig
from hashnews.times import microseconds

START = datetime(2020, 6, 1, tzinfo=UTC)
NAMES = ["Anna Ferrow", "Tom Arlen", "Port Lindow", "Greywater", "Ferrow"]
WORDS = "bridge ferry storm lantern harbour market strike school".split()


def news(count, days=5, seed=0, prefix="a"):
    """Articles at random times of some days."""
    chance = random.Random(f"{seed} {prefix}")
    return [
        Article(
            id=f"{prefix}{n}",
            title=f"{chance.choice(WORDS)} {prefix}{n}",
            text=" ".join(chance.choices(WORDS, k=30)),
            published_at=START + timedelta(seconds=chance.randrange(days * 86_400)),
            entities=tuple(chance.choices(NAMES, k=4)),
        )
        for n in range(count)
    ]


def add(path, articles, finder="fast"):
    with NewsStore(path, "write") as store:
        store.add([New(article, keys_of(article), True) for article in articles], finder)


def withdraw(path, ids):
    with NewsStore(path, "write") as store:
        return store.withdraw(ids)


def answers(index, days):
    """All articles found for all names at the end of each day."""
    retriever = Retriever(index, None, RetrieverConfig(ranking="bm25"))
    moments = [microseconds(START + timedelta(days=day + 1)) for day in range(days)]
    return [retriever.find([name.lower()], at).named() for name in NAMES for at in moments]


def assert_as_fresh(index, store, days=5):
    """The index is what a new one would be, to the bit, and names articles of the store alone."""
    fresh = NewsIndex(index.settings)
    fresh.refresh(store)
    assert index.numbers() == fresh.numbers()
    for number in fresh.numbers():
        arrays, expected = index.day(number).arrays, fresh.day(number).arrays
        assert arrays.keys() == expected.keys()
        assert all(np.array_equal(arrays[name], expected[name]) for name in expected)
    found = answers(index, days)
    assert found == answers(fresh, days)
    there = {one.article.id for one in store.read()}
    assert {article.id for some in found for article in some} <= there
    assert not there or any(found)
