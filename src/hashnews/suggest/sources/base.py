"""What a source of hashtags is: one kind of evidence, in one file.

A source brings candidates, says in its columns what it knows of each candidate (of its own and of
all others), what those columns hold where it knows nothing, and gives the reason in words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

import numpy as np

from hashnews.arrays import Array, compiled
from hashnews.records import Reason, SourceName

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.evidence import Look
    from hashnews.suggest.query import Query

LAST = math.inf  # stands for the rank behind all candidates
NAMED = 5  # articles and posts a reason names at most


class Proposal(NamedTuple):
    """A hashtag that a source brings up."""

    words: tuple[str, ...]
    only_known: bool = False  # it counts only if somebody has used it before

    @property
    def key(self) -> str:
        """What makes two hashtags the same."""
        return "".join(self.words)


class Source:
    """One kind of evidence; sources of one name give one reason together."""

    name: ClassVar[SourceName | None] = None
    label: ClassVar[str] = ""  # what people call it
    columns: ClassVar[Mapping[str, float]]  # what each holds where the source knows nothing
    ranked: ClassVar[tuple[str, ...]] = ()  # columns whose rank among the candidates counts, too

    def propose(self, query: Query) -> Iterable[Proposal]:
        """Hashtags from what the post, its news and the model say."""
        return ()

    def features(self, query: Query, found: Candidates) -> Array | Sequence[Sequence[float]]:
        """A row for each candidate, in the order of `columns`."""
        raise NotImplementedError

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """What speaks for a candidate, in words; None where the source does not know it."""
        return None


class HashtagTable(Protocol):
    """What a source that reads the memory gathered: columns for hashtags."""

    def of(self, tags: Array) -> Array:
        """The rows of some hashtags; zeros where nothing was gathered."""

    def best(self, column: int, most: int, signs: Array) -> Array:
        """The hashtags that have most in a column, of equals those of the lowest sign."""


class Gathered(NamedTuple):
    """Columns of the hashtags there is evidence for, in the order of their numbers."""

    tags: Array
    table: Array

    def of(self, tags: Array) -> Array:
        """The rows of some hashtags."""
        found = np.zeros((len(tags), self.table.shape[1]))
        if len(self.tags):
            at = np.minimum(np.searchsorted(self.tags, tags), len(self.tags) - 1)
            here = self.tags[at] == tags
            found[here] = self.table[at[here]]
        return found

    def best(self, column: int, most: int, signs: Array) -> Array:
        """The hashtags that have most in a column."""
        return self.tags[largest(self.table[:, column].copy(), signs[self.tags], most)]


class MemorySource(Source):
    """A source that reads the memory: it gathers columns of the table of evidence."""

    gathered: ClassVar[tuple[str, ...]]  # its columns of that table
    described: ClassVar[tuple[str, ...]] = ()  # what it takes from the statistics of hashtags
    taken: ClassVar[Mapping[str, int]]  # how many candidates each column brings, the best

    def gather(self, look: Look) -> HashtagTable:
        """Its part of the table of evidence."""
        raise NotImplementedError

    def features(self, query: Query, found: Candidates) -> Array | Sequence[Sequence[float]]:
        """What was gathered for each candidate, and the statistics that belong to it."""
        return found.evidence.columns((*self.gathered, *self.described))


def many(count: int, what: str) -> str:
    """A number of things in words: `1 article`, `2 articles`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def table_of(tags: Array, source: MemorySource) -> Array:
    """An empty table for a source's columns of hashtags."""
    return np.zeros((len(tags), len(source.gathered)))


@compiled
def largest(values: Array, signs: Array, most: int) -> Array:
    """The places of the largest values above zero; of equals those of the lowest sign."""
    kept, size = np.empty(most, np.int64), 0
    for at in range(len(values)):
        if values[at] <= 0:
            continue
        if size == most:
            last = kept[size - 1]
            if values[at] < values[last] or (
                values[at] == values[last] and signs[at] >= signs[last]
            ):
                continue
            size -= 1
        place = size
        while place > 0:
            other = kept[place - 1]
            if values[other] > values[at] or (
                values[other] == values[at] and signs[other] <= signs[at]
            ):
                break
            kept[place] = other
            place -= 1
        kept[place] = at
        size += 1
    return kept[:size]
