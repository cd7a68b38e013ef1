"""What both retrievers share: posts of one day are looked up, scored and answered together.

A retriever keeps what it has looked up, so it is for one thread; the index may be shared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array
from hashnews.index.day import Day
from hashnews.index.folder import NewsIndex
from hashnews.index.postings import Postings
from hashnews.index.windows import WindowTable
from hashnews.records import ContextWord, PostContext, PreparedPost, Retrieved
from hashnews.retrieve.context import ArticleWords, WordSums
from hashnews.retrieve.scoring import Weighting, Windows, score_posts
from hashnews.times import A_DAY, microseconds

as_retrieved = partial(tuple.__new__, Retrieved)
MOST_TABLES = 64
MOST_POSTINGS = 1 << 26


class TermQuery(NamedTuple):
    """What a post asks for: terms, and the post's time."""

    terms: Sequence[str]
    moment: int


class FoundArticles(NamedTuple):
    """Articles found for a post, best first: how many days back each is, and its place there."""

    days: list[Day]
    back: Array
    places: Array
    scores: Array
    windows: Array

    def rows(self) -> Iterator[tuple[int, int, float, int]]:
        """Of each article the day, the place there, the score and the window."""
        return zip(*(array.tolist() for array in self[1:]), strict=True)

    def named(self, most: int | None = None) -> list[Retrieved]:
        """The articles by id."""
        back, places, scores, windows = (array[:most].tolist() for array in self[1:])
        ids = [day.ids for day in self.days]
        named = [ids[of][place] for of, place in zip(back, places, strict=True)]
        return list(map(as_retrieved, zip(named, scores, windows, strict=True)))


class BaseRetriever(ABC):
    """Finds articles published before a post in nested windows, and draws a context from them."""

    shown: int | None = None
    """Articles that are named; all of them where it is None."""

    def __init__(self, index: NewsIndex, spans: Array, takes: Array, weighting: Weighting):
        self.index = index
        self.windows = Windows(spans, takes)
        self.weighting = weighting
        self._most = int(takes.sum())
        self._scores: Array = np.zeros((len(spans), 0))
        self.forget()

    def retrieve(self, post: PreparedPost) -> PostContext:
        """The articles for a post and the words drawn from them; without a time it is now."""
        return self.retrieve_all([post])[0]

    def retrieve_all(self, posts: Sequence[PreparedPost]) -> list[PostContext]:
        """The same for many posts, which takes less time per post."""
        now = datetime.now(UTC)
        queries = [TermQuery(self.terms(p), microseconds(p.created_at or now)) for p in posts]
        return [
            PostContext(found.named(self.shown), self.context(found, query))
            for found, query in zip(self.find_all(queries), queries, strict=True)
        ]

    def find(self, terms: Sequence[str], moment: int) -> FoundArticles:
        """The best articles before a moment."""
        return self.find_all([TermQuery(terms, moment)])[0]

    def find_all(self, queries: Sequence[TermQuery]) -> list[FoundArticles]:
        """`find` for many posts; those of one day are looked up and scored together."""
        of_day: dict[int, list[int]] = {}
        for at, (_, moment) in enumerate(queries):
            of_day.setdefault(moment // A_DAY, []).append(at)
        found: dict[int, FoundArticles] = {}
        for number, which in of_day.items():
            some = self._find(self.table(number), [queries[at] for at in which])
            found.update(zip(which, some, strict=True))
        return [found[at] for at in range(len(queries))]

    def _find(self, table: WindowTable, queries: list[TermQuery]) -> Iterator[FoundArticles]:
        """The articles for posts of one day."""
        articles = len(table.timeline.times)
        if self._scores.shape[1] < articles:
            self._scores = np.zeros((len(self._scores), articles))
        rows, starts = table.rows([terms for terms, _ in queries])
        moments = np.array([moment for _, moment in queries])
        given = np.zeros((len(queries), self._most, 4))
        sizes = np.empty(len(queries), np.int64)
        score_posts(
            rows, starts, self.ends(moments), table.lists, table.reference_idfs,
            table.postings.pool, table.timeline, self.windows, self.weighting, self._scores,
            given, sizes,
        )  # fmt: skip
        scores = self._as_of(given[:, :, 2], moments)
        back, places, windows = (given[:, :, k].astype(np.int64) for k in (0, 1, 3))
        for at, size in enumerate(sizes.tolist()):
            which = at, slice(size)
            yield FoundArticles(
                table.days, back[which], places[which], scores[which], windows[which]
            )

    def table(self, number: int) -> WindowTable:
        """The days that posts of this day look back on."""
        if self._version != self.index.version:
            self.forget()
        table = self._tables.get(number)
        if table is None:
            if self.postings.size > MOST_POSTINGS:  # one window stays, however much it holds
                self.forget()
            days = self.days(number, range(self.windows.spans[-1] + 1))
            table = self._tables[number] = self._new_table(number, days)
            if len(self._tables) > MOST_TABLES:
                del self._tables[next(iter(self._tables))]
        return table

    def days(self, number: int, back: range) -> list[Day]:
        """Some days before one."""
        return [self.index.day(number - many) for many in back]

    def forget(self) -> None:
        """Drop what was looked up."""
        self.words = ArticleWords()
        self.postings = self._new_postings()
        self.sums = WordSums(self.words)
        self._tables: dict[int, WindowTable] = {}
        self._version = self.index.version

    def ends(self, moments: Array) -> Array:
        """Where the windows of posts end: at the posts' own times."""
        return moments

    def _as_of(self, scores: Array, moments: Array) -> Array:
        """Scores at the time of each post."""
        return scores

    @abstractmethod
    def terms(self, post: PreparedPost) -> list[str]:
        """The distinct terms of a post."""

    @abstractmethod
    def _new_postings(self) -> Postings:
        """Empty posting lists of such terms."""

    @abstractmethod
    def _new_table(self, number: int, days: list[Day]) -> WindowTable:
        """The table of a day, which looks back on `days`."""

    @abstractmethod
    def context(self, found: FoundArticles, query: TermQuery) -> list[ContextWord]:
        """The words drawn from articles, heaviest first."""
