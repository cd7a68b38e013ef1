"""What posting lists are: which articles hold a term, how often, and how long each article is.

All lists stand one after the other in a pool; a list is where it begins there and how long it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from hashnews.arrays import Array
from hashnews.index.day import Day

Counter = Callable[[Sequence[str]], Array]


class TermLists(NamedTuple):
    """Where the lists of terms lie in a pool, and how long they are: terms x days."""

    starts: Array
    sizes: Array  # -1: not looked up yet


class Pool(NamedTuple):
    """All lists: articles by their place in their day, in order."""

    docs: Array
    counts: Array  # how often each holds the term
    lengths: Array  # how long each is


class Postings(Protocol):
    """The lists of terms, entities or words, in the days opened so far."""

    @property
    def size(self) -> int:
        """How much is kept."""

    def open(self, day: Day) -> int:
        """The number of a day; it is opened where it is new."""

    def look_up(self, terms: Sequence[str], days: Array, row: int, lists: TermLists) -> None:
        """Where the list of each term in each day lies, put into the rows from `row` on."""

    def counter(self, days: Sequence[Day]) -> Counter:
        """Says how many articles of some days hold each term."""

    @property
    def pool(self) -> Pool:
        """All lists."""

    def lengths(self, day: Day) -> Array:
        """The length of each article of a day, counted in such terms."""
