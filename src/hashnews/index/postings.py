"""What posting lists are: which articles hold a term, how often, and how long each article is.

All lists stand one after the other in a pool; a list is where it begins there and how long it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array
from hashnews.index.day import Day
from hashnews.index.packed import Stack

Counter = Callable[[Sequence[str]], Array]


class TermLists(NamedTuple):
    """Where the lists of terms lie in a pool, and how long they are: terms x days."""

    starts: Array
    sizes: Array  # -1: not looked up yet


class PostingPool(NamedTuple):
    """All lists: articles by their place in their day, in order."""

    docs: Array
    counts: Array  # how often each holds the term
    lengths: Array  # how long each is


class Postings(ABC):
    """The lists of terms, entities or words, in the days opened so far."""

    def __init__(self) -> None:
        self._days: list[Day] = []
        self._numbers: dict[Day, int] = {}
        self._docs, self._counts, self._lengths = (Stack(np.int32) for _ in range(3))

    @property
    def size(self) -> int:
        """How much is kept."""
        return self._docs.size

    @property
    def pool(self) -> PostingPool:
        """All lists."""
        return PostingPool(self._docs.all, self._counts.all, self._lengths.all)

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

    @abstractmethod
    def look_up(self, terms: Sequence[str], days: Array, row: int, lists: TermLists) -> None:
        """Where the list of each term in each day lies, put into the rows from `row` on."""

    @abstractmethod
    def counter(self, days: Sequence[Day]) -> Counter:
        """Says how many articles of some days hold each term."""

    @abstractmethod
    def lengths(self, day: Day) -> Array:
        """The length of each article of a day, counted in such terms."""
