"""What posting lists are: which articles hold a term, how often, and how long each article is.

All lists stand one after the other in a pool; a list is where it begins there and how long it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array, Numbering, starts_of
from hashnews.index.day import Day
from hashnews.index.packed import Lookup, Stack, lookup_of


class AskedTerms(NamedTuple):
    """Terms to look up: their numbers, their tokens, and where those of each term begin."""

    terms: Sequence[str]
    numbers: Array
    tokens: Lookup
    firsts: Array


class TermLists(NamedTuple):
    """Where the lists of terms lie in a pool, and how long they are."""

    starts: Array
    sizes: Array  # -1: not looked up yet


DOC, COUNT, LENGTH = range(3)  # an article by its place in its day, how often it holds the term,
# how long it is: what stands in a pool, in order of the articles of each list


class Postings(ABC):
    """The lists of terms, entities or words, in the days opened so far."""

    def __init__(self) -> None:
        self._days: list[Day] = []
        self._numbers: dict[Day, int] = {}
        self._pool = Stack(np.int32, columns=(3,))
        self._terms = Numbering()  # all that were asked for; their lists, days x terms:
        self._known = TermLists(np.zeros((0, 0), np.int32), np.zeros((0, 0), np.int32))

    @property
    def size(self) -> int:
        """How much is kept."""
        return self._pool.size + self._known.sizes.size

    @property
    def pool(self) -> Array:
        """All lists."""
        return self._pool.all

    def open(self, day: Day) -> int:
        """The number of a day; it is opened where it is new."""
        number = self._numbers.get(day)
        if number is None:
            self._open(day)
            number = self._numbers[day] = len(self._days)
            self._days.append(day)
        return number

    @abstractmethod
    def _open(self, day: Day) -> None: ...

    def ask(self, terms: Sequence[str]) -> AskedTerms:
        """Terms to look up."""
        numbers = np.array(list(map(self._terms.__getitem__, terms)), np.int64)
        days, known = self._known.sizes.shape
        if len(self._terms) > known or len(self._days) > days:
            shape = max(days, 2 * len(self._days)), max(known, 2 * len(self._terms))
            grown = TermLists(np.zeros(shape, np.int32), np.full(shape, -1, np.int32))
            for old, new in zip(self._known, grown, strict=True):
                new[:days, :known] = old
            self._known = grown
        tokens = list(map(str.split, terms))
        sizes = np.array(list(map(len, tokens)), np.int64)
        return AskedTerms(terms, numbers, lookup_of(list(chain(*tokens))), starts_of(sizes))

    def look_up(self, asked: AskedTerms, days: Array) -> TermLists:
        """Where the list of each term in each day lies."""
        self._find(asked, days)
        cells = days, asked.numbers[:, np.newaxis]
        return TermLists(*(known[cells] for known in self._known))

    def count(self, asked: AskedTerms, days: Array) -> Array:
        """How many articles of some days hold each term."""
        self._find(asked, days)
        counts: Array = self._known.sizes[days[:, np.newaxis], asked.numbers].sum(axis=0)
        return counts

    @abstractmethod
    def _find(self, asked: AskedTerms, days: Array) -> None:
        """Make the lists of terms in some days known, or at least how long they are."""

    @abstractmethod
    def lengths(self, day: Day) -> Array:
        """The length of each article of a day, counted in such terms."""
