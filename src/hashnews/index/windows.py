"""What the posts of one day share: the days they look back on, and where their terms' lists lie.

What a post asks for is mostly what the post before it asked for, so a term is looked up once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array, compiled, starts_of
from hashnews.index.day import Day
from hashnews.index.packed import doubled
from hashnews.index.postings import COUNT, DOC, Postings, TermLists
from hashnews.retrieve.equations import idf


class Timeline(NamedTuple):
    """The articles of consecutive days in order of time."""

    day: int  # the last of these days
    times: Array
    length_sums: Array  # of the articles before each, and of all
    day_starts: Array  # the first article of each day, counted back from the last day
    freshness: Array  # a factor of each article


class WindowTable:
    """The lists of terms in the days of a window, and IDF(e, R) of each term.

    R is the articles of the days `reference`; a term counts as being in `fewest` of them where it
    is in less. Without such days IDF(e, R) is 1 for all terms. `days` count back from the post's.
    """

    def __init__(
        self,
        number: int,
        days: list[Day],
        postings: Postings,
        reference: Sequence[Day] = (),
        fewest: int = 1,
        freshness: Callable[[Array], Array] = np.ones_like,
    ):
        self.days = days
        self.postings = postings
        self._opened = np.array([postings.open(day) for day in days], np.int64)
        self._reference = np.array([postings.open(day) for day in reference], np.int64)
        self._reference_size = sum(day.size for day in reference)
        self._fewest = fewest
        self._rows: dict[str, int] = {}  # ~row of a term that no day holds
        self._size = 0
        self.lists = TermLists(*np.zeros((2, 64, len(days)), np.int32))
        self.reference_idfs = np.ones(64)  # one a row
        times = np.concatenate([day.times for day in days[::-1]])
        lengths = np.concatenate([postings.lengths(day) for day in days[::-1]])
        sizes = np.array([day.size for day in days[::-1]], np.int64)
        self.timeline = Timeline(
            number, times, starts_of(lengths).astype(np.float64), starts_of(sizes)[-2::-1],
            freshness(times.astype(np.float64)),
        )  # fmt: skip

    def rows(self, posts: Sequence[Sequence[str]]) -> tuple[Array, Array]:
        """The rows of the terms of posts, and where each post's begin.

        Terms that no day holds are left out.
        """
        row_of = self._rows
        new = [term for terms in posts for term in terms if term not in row_of]
        if new:
            self._add(list(dict.fromkeys(new)))
        rows = [[row for row in map(row_of.__getitem__, terms) if row >= 0] for terms in posts]
        flat = np.array([row for some in rows for row in some], np.int64)
        return flat, starts_of(np.array(list(map(len, rows)), np.int64))

    def reference_idf(self, term: str) -> float:
        """IDF(e, R)."""
        row = self._row(term)  # first: a new term may need longer arrays
        return float(self.reference_idfs[row])

    def list_of(self, term: str, back: int) -> tuple[Array, Array]:
        """The articles of a day that hold a term, and how often each does."""
        row = self._row(term)
        start, size = (int(array[row, back]) for array in self.lists)
        listed = self.postings.pool[start : start + size]
        return listed[:, DOC], listed[:, COUNT]

    def _row(self, term: str) -> int:
        self.rows([[term]])
        return max(self._rows[term], ~self._rows[term])

    def _add(self, terms: Sequence[str]) -> None:
        row, end = self._size, self._size + len(terms)
        while end > len(self.reference_idfs):
            self.lists = TermLists(*map(doubled, self.lists))
            self.reference_idfs = doubled(self.reference_idfs)
        asked = self.postings.ask(terms)
        for array, found in zip(
            self.lists, self.postings.look_up(asked, self._opened), strict=True
        ):
            array[row:end] = found
        self.reference_idfs[row:end] = 1.0
        if len(self._reference):
            counts = np.maximum(self._fewest, self.postings.count(asked, self._reference))
            self.reference_idfs[row:end] = idfs(self._reference_size, counts)
        self._size = end
        held = (self.lists.sizes[row:end].sum(axis=1) > 0).tolist()
        for at, (term, is_held) in enumerate(zip(terms, held, strict=True), row):
            self._rows[term] = at if is_held else ~at


@compiled
def idfs(documents: int, matching: Array) -> Array:
    """IDF(e, D) of several terms."""
    found = np.empty(len(matching))
    for k in range(len(matching)):
        found[k] = idf(documents, matching[k])
    return found
