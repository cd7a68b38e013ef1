"""What the posts of one day share: the days they look back on, and where their terms' lists lie.

What a post asks for is mostly what the post before it asked for, so a term is looked up once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hashnews.arrays import Array, starts_of
from hashnews.index.day import Day
from hashnews.index.entities import Terms
from hashnews.index.matching import TermLists, usual_rarity
from hashnews.index.packed import doubled


class WindowTable:
    """The lists of terms in the days of a window, and how common each term is usually.

    The usual is what the days `usual` say; a term counts as being in `fewest` of their articles
    where it is in less. Without such days it is 1 for all terms.
    """

    def __init__(
        self,
        days: list[Day],
        terms: Terms,
        usual: Sequence[Day] = (),
        fewest: int = 1,
        freshness: Callable[[Array], Array] = np.ones_like,
    ):
        self.days = days
        self._terms = terms
        self._opened = np.array([terms.open(day) for day in days], np.int64)
        self._usual = terms.counter(usual) if usual else None
        self._usual_size = sum(day.size for day in usual)
        self._fewest = fewest
        self._rows: dict[str, int] = {}  # ~row of a term that no day holds
        self._size = 0
        self._lists = TermLists(*np.zeros((2, 64, len(days)), np.int32))
        self._rarity = np.ones(64)
        lengths = [terms.lengths(day) for day in days]
        self.day_sizes = np.array([day.size for day in days], np.int64)
        self.articles = int(self.day_sizes.sum())
        self.length_sums = starts_of(lengths[0]).astype(np.float64)
        self.day_lengths = np.array([float(row.sum()) for row in lengths])
        times = np.concatenate([day.times for day in days[::-1]]).astype(np.float64)
        self._fixed = (
            days[0].times, self.length_sums, self.day_sizes, self.day_lengths,
            starts_of(self.day_sizes[::-1])[-2::-1], freshness(times),
        )  # fmt: skip

    @property
    def arrays(self) -> tuple[Array, ...]:
        """What scoring reads, in its order."""
        return (*self._lists, self._rarity, *self._terms.pool, *self._fixed)

    def rows(self, posts: Sequence[Sequence[str]]) -> tuple[Array, Array]:
        """The rows of the terms of posts, and where each post's begin.

        Terms that no day holds are left out.
        """
        known = self._rows
        new = [term for terms in posts for term in terms if term not in known]
        if new:
            self._add(list(dict.fromkeys(new)))
        rows = [[row for row in map(known.__getitem__, terms) if row >= 0] for terms in posts]
        flat = np.array([row for some in rows for row in some], np.int64)
        return flat, starts_of(np.array(list(map(len, rows)), np.int64))

    def usual_rarity(self, term: str) -> float:
        """IDF(e, R), or whatever stands for R."""
        row = self._row(term)  # first: a new term may need longer arrays
        return float(self._rarity[row])

    def postings(self, term: str, back: int) -> tuple[Array, Array]:
        """The articles of a day that hold a term, and how often each does."""
        row = self._row(term)
        start, size = (int(array[row, back]) for array in self._lists)
        docs, counts, _ = self._terms.pool
        return docs[start : start + size], counts[start : start + size]

    def _row(self, term: str) -> int:
        self.rows([[term]])
        return max(self._rows[term], ~self._rows[term])

    def _add(self, terms: Sequence[str]) -> None:
        row, end = self._size, self._size + len(terms)
        while end > len(self._rarity):
            self._lists = TermLists(*map(doubled, self._lists))
            self._rarity = doubled(self._rarity)
        self._terms.look_up(terms, self._opened, row, self._lists)
        self._rarity[row:end] = 1.0
        if self._usual is not None:
            counts = self._usual(terms)
            self._rarity[row:end] = usual_rarity(counts, self._usual_size, self._fewest)
        self._size = end
        held = (self._lists.sizes[row:end].sum(axis=1) > 0).tolist()
        for at, (term, is_held) in enumerate(zip(terms, held, strict=True), row):
            self._rows[term] = at if is_held else ~at
