"""Retrieval of articles for posts: nested windows over days, clipped at the post's own time.

A `Retriever` keeps what it has looked up, so it is for one thread; the index may be shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from hashnews.config import Config
from hashnews.errors import DataError
from hashnews.news.times import A_DAY, microseconds
from hashnews.records import PostContext, PreparedPost, Retrieved
from hashnews.retrieve.context import heaviest, word_weights
from hashnews.retrieve.day import Day, fold_entity
from hashnews.retrieve.index import NewsIndex
from hashnews.retrieve.kernels import score_windows
from hashnews.retrieve.lists import Array, Entities, Lists, Terms, WindowTable, Words
from hashnews.retrieve.rank import idf
from hashnews.text.stopwords import STOP_WORDS
from hashnews.text.tokens import words

Ranking = Literal["tp", "bm25", "words"]
Found = tuple[Day, int, float, int]  # day, place there, score, window
MOST_TABLES = 40
MOST_POSTINGS = 1 << 26


class RetrieverConfig(Config):
    """How articles are ranked and words drawn from them; the defaults are the paper's."""

    ranking: Ranking = "tp"
    windows: int = 5
    """k: "k = 5 in experiments"."""
    a: float = 1.2
    b: float = 0.75
    """"parameters inherent from Okapi BM25 typically set to 1.2 and 0.75"."""
    cap: float = 10.0
    """The largest temporal popularity, so that an entity in nearly every article cannot explode."""
    clip: Literal["time", "day"] = "time"
    """`day` lets in the whole day of the post, as the released code does; it leaks the future."""
    context: int = 100
    """Words a context has at most: the released code cuts there."""


class Retriever:
    """Finds the articles published before a post that speak of what it speaks of."""

    def __init__(
        self, index: NewsIndex, reference: Day | None = None, config: RetrieverConfig | None = None
    ):
        self.index = index
        self.config = config or RetrieverConfig()
        if reference is not None and reference.size == 0:
            raise DataError("the reference corpus holds no article: temporal popularity needs some")
        self._reference = reference
        self.spans = np.arange(1, self.config.windows + 1)
        self._takes = np.ones(self.config.windows, np.int64)
        self._scores = np.zeros((0, self.config.windows))
        by_popularity = self.config.ranking == "tp"
        self.exponents = (float(by_popularity), float(not by_popularity))
        self._forget()

    def retrieve(self, post: PreparedPost) -> PostContext:
        """The articles for a post and the words drawn from them; without a time it is now."""
        moment = microseconds(post.created_at or datetime.now(UTC))
        found = self.find(self.terms(post), moment)
        weights = word_weights((day, place, score) for day, place, score, _ in found)
        return PostContext(
            [Retrieved(day.id(place), score, window) for day, place, score, window in found],
            heaviest(weights, self.config.context),
        )

    def terms(self, post: PreparedPost) -> list[str]:
        """What a post asks for: its distinct entities, or its words."""
        if self.config.ranking == "words":
            return [word for word in dict.fromkeys(words(post.body)) if word not in STOP_WORDS]
        return [name for name in dict.fromkeys(map(fold_entity, post.entities)) if name]

    def find(self, terms: Sequence[str], moment: int) -> list[Found]:
        """The best article of each window that no window before it gave."""
        table = self.table(moment // A_DAY)
        rows = table.rows(terms)
        if not len(rows):
            return []
        if len(self._scores) < table.largest:
            self._scores = np.zeros((table.largest, self.config.windows))
        size, days, places, scores, windows = score_windows(
            rows, table.starts, table.sizes, table.idf_reference,
            self._lists.pool.docs, self._lists.pool.counts,
            *table.clipped(self.clip(table.days[0], moment)), table.length_starts, table.lengths,
            table.freshness, self.spans, self._takes, *self.exponents,
            self.config.cap, self.config.a, self.config.b, self._scores,
        )  # fmt: skip
        rows_found = zip(
            days[:size].tolist(), places[:size].tolist(), scores[:size].tolist(),
            windows[:size].tolist(), strict=True,
        )  # fmt: skip
        return [(table.days[day], place, score, w + 1) for day, place, score, w in rows_found]

    def clip(self, today: Day, moment: int) -> int:
        """How many of the day's articles were out before the post."""
        return (
            today.size if self.config.clip == "day" else int(np.searchsorted(today.times, moment))
        )

    def table(self, number: int) -> WindowTable:
        """The days that posts of this day look back on."""
        if self._version != self.index.version or self._lists.pool.size > MOST_POSTINGS:
            self._forget()
        table = self._tables.get(number)
        if table is None:
            days = [self.index.day(number - back) for back in range(self.config.windows + 1)]
            table = self._tables[number] = WindowTable(days, self._lists, self.idf_reference)
            if len(self._tables) > MOST_TABLES:
                del self._tables[next(iter(self._tables))]
        return table

    def _forget(self) -> None:
        words = self.config.ranking == "words"
        terms: Terms = Words() if words else Entities(self.index.settings)
        self._lists = Lists(terms)
        self._tables: dict[int, WindowTable] = {}
        self._version = self.index.version

    def postings(self, day: Day, term: str) -> tuple[Array, Array]:
        """The articles of a day that hold a term, and how often each does."""
        start, size = self._lists.find(term, day)
        pool = self._lists.pool
        return pool.docs[start : start + size], pool.counts[start : start + size]

    def lengths(self, day: Day) -> Array:
        """The length of each article of a day."""
        return self._lists.terms.lengths(day)

    def matches(self, day: Day, term: str) -> list[str]:
        """What a term strictly matches in a day, as the news writes it."""
        return self._lists.terms.matches(day, term)

    def idf_reference(self, term: str) -> float:
        """IDF(e, R); an entity that R does not hold counts as if one article did."""
        if self._reference is None:
            return 1.0
        n = self._lists.find(term, self._reference)[1]
        return float(idf(self._reference.size, max(1, n)))
