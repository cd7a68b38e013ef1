"""What the memory says to one post: for each hashtag a row of evidence, as of the post's time.

The sources that read the memory each add their columns. What comes out is a value: the room to work
in (`Scratch`) is clean again before anybody reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hashnews.arrays import Array, decay
from hashnews.suggest.memory import Memory, View
from hashnews.suggest.sources import MEMORY_SOURCES
from hashnews.suggest.sources.hashtag import STATISTICS, UNUSED, describe
from hashnews.suggest.sources.neighbours import similarities
from hashnews.text.terms import terms
from hashnews.times import A_DAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hashnews.suggest.sources.base import MemorySource

NEIGHBOURS = 100
GATHERED = ("seen", *(name for source in MEMORY_SOURCES for name in source.gathered))
COLUMN = {name: at for at, name in enumerate((*GATHERED, *STATISTICS))}


class Scratch:
    """Room to work in, as large as a memory; all zeros between two posts."""

    def __init__(self, memory: Memory):
        rows, tags = len(memory), len(memory.tags)
        self.similar = np.zeros(rows)
        self.touched = np.empty(rows, np.int64)
        self.evidence = np.zeros((tags, len(GATHERED)))
        self.seen = np.empty(tags, np.int64)
        self.lengths = np.maximum(1, np.diff(memory.terms.starts)).astype(np.float64)


class Look:
    """A look back at the memory, while it lasts: what the sources read and fill."""

    def __init__(self, view: View, scratch: Scratch, body: str):
        memory = view.memory
        self.view, self.scratch = view, scratch
        self.touched = similarities(
            memory.numbers_of(terms(body)), memory.postings.starts, memory.postings.values,
            view.limit, view.limit_own, memory.user, view.author, scratch.lengths,
            scratch.similar, scratch.touched,
        )  # fmt: skip
        self.neighbours, self.likeness = self._nearest()
        self.tags_of_rows = (
            memory.row_tags.starts, memory.row_tags.values, memory.row_inline.values,
        )  # fmt: skip
        self.table = (scratch.evidence, scratch.seen)
        self.size = 0  # hashtags there is evidence for

    def _nearest(self) -> tuple[Array, Array]:
        """The rows most like the post, older ones counting less, and how like it they are."""
        rows = self.scratch.touched[: self.touched]
        similar = self.scratch.similar[rows]
        weighed = similar * decay(self.view.ages(rows), 60.0)
        if len(rows) > NEIGHBOURS:
            kept = np.argpartition(-weighed, NEIGHBOURS)[:NEIGHBOURS]
            rows, similar, weighed = rows[kept], similar[kept], weighed[kept]
        order = np.lexsort((-rows, -weighed))
        return rows[order], similar[order]

    def columns(self, source: MemorySource) -> Array:
        """The places of a source's columns."""
        return np.array([COLUMN[name] for name in source.gathered])

    def best(self) -> Array:
        """The hashtags that the sources take for candidates."""
        seen = self.scratch.seen[: self.size]
        chosen = [np.zeros(0, np.int64)]
        for source in MEMORY_SOURCES:
            for name, most in source.taken.items():
                evidence = self.scratch.evidence[seen, COLUMN[name]]
                some = np.flatnonzero(evidence > 0)
                if len(some) > most:
                    some = some[np.argpartition(-evidence[some], most)[:most]]
                chosen.append(seen[some])
        # In the order of first use, so that no tie is broken by what came after the post.
        return np.unique(np.concatenate(chosen))

    def evidence(self, tags: Array) -> Evidence:
        """All that is known of some hashtags; a number below zero is of one nobody used."""
        gathered = np.zeros((len(tags), len(GATHERED)))
        gathered[tags >= 0] = self.scratch.evidence[tags[tags >= 0]]
        statistics = np.zeros((len(tags), len(STATISTICS)))
        for name, value in UNUSED.items():
            statistics[:, STATISTICS.index(name)] = value
        view, memory = self.view, self.view.memory
        describe(
            tags, view.limit, view.moment, A_DAY, memory.times, self.scratch.similar,
            memory.uses.starts, memory.use_row, memory.use_user, memory.use_inline, view.author,
            statistics,
        )  # fmt: skip
        return Evidence(view, self.neighbours, np.hstack([gathered, statistics]))

    def clean(self) -> None:
        """Leave the room as it was found."""
        self.scratch.similar[self.scratch.touched[: self.touched]] = 0
        self.scratch.evidence[self.scratch.seen[: self.size]] = 0


@contextmanager
def look_back(view: View, scratch: Scratch, body: str) -> Iterator[Look]:
    """Look back from a post; what is taken along is a value."""
    look = Look(view, scratch, body)
    try:
        for source in MEMORY_SOURCES:
            source.gather(look)
        yield look
    finally:
        look.clean()


class Evidence(NamedTuple):
    """What the memory knows of some hashtags, a row each, and the posts nearest to this one."""

    view: View
    neighbours: Array
    table: Array

    def column(self, name: str) -> Array:
        """One kind of evidence for all hashtags."""
        found: Array = self.table[:, COLUMN[name]]
        return found

    def columns(self, names: Iterable[str]) -> Array:
        """Several kinds of evidence."""
        found: Array = self.table[:, [COLUMN[name] for name in names]]
        return found

    def near(self, tag: int) -> tuple[str, ...]:
        """The most similar posts with a hashtag, by id."""
        held = self.neighbours[np.isin(self.neighbours, self.view.rows(tag))].tolist()
        return tuple(self.view.memory.ids[row] for row in held)

    def of(self, places: Sequence[int]) -> Evidence:
        """The same for some of the hashtags."""
        return self._replace(table=self.table[places])
