"""Retrieval of articles for posts: nested windows over days, clipped at the post's own time.

A `Retriever` keeps what it has looked up, so it is for one thread; the index may be shared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Literal

import numpy as np

from hashnews.arrays import starts_of
from hashnews.config import Config
from hashnews.errors import DataError
from hashnews.index.day import Day, fold_entity
from hashnews.index.entities import Entities, Terms
from hashnews.index.folder import NewsIndex
from hashnews.index.windows import WindowTable
from hashnews.index.words import KnownWords, Words
from hashnews.records import PostContext, PreparedPost, Retrieved
from hashnews.retrieve.context import WordSums
from hashnews.retrieve.scoring import score_posts
from hashnews.text.stopwords import STOP_WORDS
from hashnews.text.tokens import words
from hashnews.times import A_DAY, microseconds

Ranking = Literal["tp", "bm25", "words"]
Query = tuple[Sequence[str], int]  # terms, and the post's time
Found = tuple[Day, int, float, int]  # day, place there, score, window
MOST_TABLES = 64
MOST_POSTINGS = 1 << 26
NEVER = 1 << 62


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
        self._scores = np.zeros((self.config.windows, 0))
        by_popularity = self.config.ranking == "tp"
        self.exponents = (float(by_popularity), float(not by_popularity))
        self._forget()

    def retrieve(self, post: PreparedPost) -> PostContext:
        """The articles for a post and the words drawn from them; without a time it is now."""
        return self.retrieve_all([post])[0]

    def retrieve_all(self, posts: Sequence[PreparedPost]) -> list[PostContext]:
        """The same for many posts, which takes less time a post."""
        now = datetime.now(UTC)
        asked = [(self.terms(post), microseconds(post.created_at or now)) for post in posts]
        return [self._context(found) for found in self.find_all(asked)]

    def _context(self, found: list[Found]) -> PostContext:
        # Eq. 1: w_t = sum over i of s(p, h_i | D_i) freq(t, h_i), over all words but stop words.
        articles = [(day, np.array([place]), np.array([s])) for day, place, s, _ in found]
        words, weights = self._words.weights(articles)
        return PostContext(
            [Retrieved(day.id(place), score, window) for day, place, score, window in found],
            self._words.heaviest(words, weights, self.config.context),
        )

    def terms(self, post: PreparedPost) -> list[str]:
        """What a post asks for: its distinct entities, or its words."""
        if self.config.ranking == "words":
            return [word for word in dict.fromkeys(words(post.body)) if word not in STOP_WORDS]
        return [name for name in dict.fromkeys(map(fold_entity, post.entities)) if name]

    def find(self, terms: Sequence[str], moment: int) -> list[Found]:
        """The best article of each window that no window before it gave."""
        return self.find_all([(terms, moment)])[0]

    def find_all(self, posts: Sequence[Query]) -> list[list[Found]]:
        """`find` for many posts; those of one day are looked up and scored together."""
        found: list[list[Found]] = [[] for _ in posts]
        of_day: dict[int, list[int]] = {}
        for at, (_, moment) in enumerate(posts):
            of_day.setdefault(moment // A_DAY, []).append(at)
        for number, places in of_day.items():
            table = self.table(number)
            for at, given in zip(
                places, self._score(table, [posts[at] for at in places]), strict=True
            ):
                found[at] = given
        return found

    def _score(self, table: WindowTable, posts: list[Query]) -> Iterator[list[Found]]:
        """The articles of posts of one day."""
        if self._scores.shape[1] < table.articles:
            self._scores = np.zeros((self.config.windows, table.articles))
        config = self.config
        rows, starts = table.rows([terms for terms, _ in posts])
        moments = [moment if config.clip == "time" else NEVER for _, moment in posts]
        given = np.empty((len(posts), config.windows, 4))
        sizes = np.empty(len(posts), np.int64)
        score_posts(
            rows, starts, np.array(moments), given, sizes, *table.arrays, self.spans, self._takes,
            *self.exponents, config.cap, config.a, config.b, self._scores,
        )  # fmt: skip
        held = given[np.arange(config.windows) < sizes[:, np.newaxis]]
        days, places, windows = held[:, (0, 1, 3)].astype(np.int64).T.tolist()
        of_days = map(table.days.__getitem__, days)
        found = list(zip(of_days, places, held[:, 2].tolist(), windows, strict=True))
        return (found[start:end] for start, end in pairwise(starts_of(sizes).tolist()))

    def clip(self, today: Day, moment: int) -> int:
        """How many of the day's articles were out before the post."""
        return int(today.times.searchsorted(moment if self.config.clip == "time" else NEVER))

    def table(self, number: int) -> WindowTable:
        """The days that posts of this day look back on."""
        if self._version != self.index.version or self.lists.size > MOST_POSTINGS:
            self._forget()
        table = self._tables.get(number)
        if table is None:
            days = [self.index.day(number - back) for back in range(self.config.windows + 1)]
            table = self._tables[number] = WindowTable(days, self.lists, self.usual(number))
            if len(self._tables) > MOST_TABLES:
                del self._tables[next(iter(self._tables))]
        return table

    def usual(self, number: int) -> list[Day]:
        """R for the posts of a day: what says how common an entity is otherwise."""
        return [] if self._reference is None else [self._reference]

    def _forget(self) -> None:
        known, by_words = KnownWords(), self.config.ranking == "words"
        self.lists: Terms = Words(known) if by_words else Entities(self.index.settings)
        self._words = WordSums(known)
        self._tables: dict[int, WindowTable] = {}
        self._version = self.index.version
