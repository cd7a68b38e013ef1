"""Posts beside the news of their moment, and what is known without any memory."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from hashnews.index.folder import NewsIndex
from hashnews.news.store import NewsStore
from hashnews.records import PreparedPost
from hashnews.retrieve.all_words import AllWordsRetriever
from hashnews.suggest.lexicon import Lexicon
from hashnews.suggest.prior import Prior
from hashnews.suggest.query import PostWithNews, with_news
from hashnews.suggest.topics import Topics
from hashnews.text.meaning import Meaning
from hashnews.times import microseconds
from sense.collections import few_news, group_of, news_store
from sense.lexicons import lexicon
from sense.tuning import meaning, topics
from sense.work import Work

# Posts of other years are read beside the news of a moment in one of these spans.
SPANS = {
    "2021": (datetime(2021, 1, 25, tzinfo=UTC), datetime(2021, 2, 12, tzinfo=UTC)),
    "2023": (datetime(2023, 4, 12, tzinfo=UTC), datetime(2023, 5, 21, tzinfo=UTC)),
}
DAYS = 400.0  # of an empty memory
TOGETHER = 32  # posts


class Asked(NamedTuple):
    """A post, and the moment whose news it is read beside."""

    post: PreparedPost
    year: str
    moment: datetime | None


def untold(work: Work, left_out: str | None = None) -> Prior:
    """A lexicon with its topics, and meaning: all that stories are taught with."""
    return _untold(lexicon(work, left_out), meaning(work), topics(work))


@lru_cache(2)
def _untold(lexicon_path: Path, meaning_path: Path, topics_path: Path) -> Prior:
    known = Lexicon.load(lexicon_path).taught_by(Topics.load(topics_path))
    return Prior({}, lexicon=known, meaning=Meaning.load(meaning_path))


def asked(posts: Sequence[PreparedPost], year: str | None, chance: random.Random) -> list[Asked]:
    """Posts at their own time, or, if the set has no news, at a random moment."""
    found = []
    for post in posts:
        if year is not None:
            found.append(Asked(post, year, post.created_at))
        else:
            drawn = chance.choice(list(SPANS))
            first, last = SPANS[drawn]
            found.append(Asked(post, drawn, first + (last - first) * chance.random()))
    return found


def beside_news(work: Work, posts: Sequence[Asked], few: bool = False) -> list[PostWithNews]:
    """Posts with the news before their moment; those that have a time keep it.

    `few`: from stores of some hundred articles instead of a hundred thousand.
    """
    read = []
    stores = [(one.year, group_of(one.post.id) if few else -1) for one in posts]
    for store in dict.fromkeys(stores):
        some = [one for one, other in zip(posts, stores, strict=True) if other == store]
        moved = [one.post.model_copy(update={"created_at": one.moment}) for one in some]
        path = few_news(work, *store) if few else news_store(work, store[0])
        for one, found in zip(some, with_news(*_opened(path), moved), strict=True):
            time = one.post.created_at
            moment = microseconds(time) if time else found.moment
            read.append(found._replace(post=one.post, moment=moment))
    return read


@lru_cache
def _opened(path: Path) -> tuple[AllWordsRetriever, NewsStore]:
    store = NewsStore(path)
    return AllWordsRetriever(NewsIndex.open(store)), store
