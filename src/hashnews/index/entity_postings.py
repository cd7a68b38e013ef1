"""Posting lists of entities over the days that posts look back on.

A day that is asked for is opened once: what its lists are made of is put behind the days before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hashnews.arrays import Array, grouped, starts_of
from hashnews.index.day import Day, Settings
from hashnews.index.matching import (
    EntityDays,
    SlotDays,
    SurfaceDays,
    entity_lists,
    soft_postings,
    stamp_of,
    strict_surfaces,
)
from hashnews.index.packed import Stack, Texts, doubled
from hashnews.index.postings import AskedTerms, Postings
from hashnews.index.token_index import TokenIndex


class EntityPostings(Postings):
    """The articles of each entity: strict match decides, soft match counts (Appendix B)."""

    def __init__(self, settings: Settings):
        super().__init__()
        self._settings = settings
        self._texts = Texts()
        self._token_starts, self._token_surfaces = Stack(np.int32, 0), Stack(np.int32)
        self._surface_starts, self._surface_slots = Stack(np.int32, 0), Stack(np.int32)
        self._slot_docs, self._slot_counts = Stack(np.int32), Stack(np.int32)
        self._doc_firsts, self._doc_lengths = Stack(np.int64), Stack(np.int32)
        self._absorbed_starts, self._absorbed = Stack(np.int32, 0), Stack(np.int32)
        self._aligned: dict[int, TokenIndex] = {}
        self._largest = 0
        self._of: EntityDays | None = None
        self._scratch: list[Array] = []

    @property
    def size(self) -> int:
        """Postings and slots that are kept."""
        return super().size + self._slot_docs.size

    def _open(self, day: Day) -> None:
        """Invert a day: the surfaces of each token, the slots of each surface."""
        arrays = day.arrays
        surface_sizes, doc_slots = arrays["surface_sizes"], arrays["doc_slots"]
        surface, slot = self._surface_starts.size - 1, self._slot_docs.size
        owners = np.repeat(np.arange(len(surface_sizes)), surface_sizes)
        ends, items = grouped(arrays["surface_tokens"], len(day.tokens))
        self._token_starts.add_ends(ends)
        self._token_surfaces.add(owners[items] + surface)
        ends, items = grouped(arrays["slot_surfaces"], len(surface_sizes))
        self._surface_starts.add_ends(ends)
        self._surface_slots.add(items + slot)
        self._slot_docs.add(np.repeat(np.arange(day.size), doc_slots))
        self._slot_counts.add(arrays["slot_counts"])
        absorbed = np.repeat(
            np.repeat(starts_of(doc_slots)[:-1], doc_slots), arrays["absorbed_sizes"]
        )
        self._absorbed_starts.add_ends(np.cumsum(arrays["absorbed_sizes"], dtype=np.int64))
        self._absorbed.add(absorbed + arrays["absorbed"] + slot)
        self._doc_firsts.add(np.array([self._doc_lengths.size]))
        self._doc_lengths.add(self.lengths(day))
        self._texts.add(day.tokens)
        self._largest = max(self._largest, day.size)
        self._of = None

    def _find(self, asked: AskedTerms, days: Array) -> None:
        if self._settings.t < 1:
            self._align(asked.terms, asked.numbers, days)
        complete = False
        while not complete:
            self._pool.size, complete = entity_lists(
                asked.tokens, asked.firsts, asked.numbers, days, self._settings.q, self._all(),
                self._known, self.pool, self._pool.size,
            )  # fmt: skip
            if not complete:
                self._pool.all = doubled(self._pool.all)

    def _align(self, terms: Sequence[str], numbers: Array, days: Array) -> None:
        """The lists at t < 1, where many tokens align with a token: found before they are asked."""
        for term, number in zip(terms, numbers.tolist(), strict=True):
            for day in days.tolist():
                if self._known.sizes[day, number] < 0:
                    start = self._pool.size
                    self._pool.room(self._days[day].size)
                    stamp = stamp_of(number, day)
                    surfaces = self._surfaces(day, term)
                    size = soft_postings(surfaces, self._all().slots, day, stamp, self.pool, start)
                    self._known.starts[day, number], self._known.sizes[day, number] = start, size
                    self._pool.size = start + size

    def lengths(self, day: Day) -> Array:
        """Lengths in mentions."""
        return day.mentions

    def matches(self, day: Day, entity: str) -> list[str]:
        """The surfaces of a day that an entity strictly matches."""
        number = self.open(day)
        first = sum(len(before.arrays["surface_sizes"]) for before in self._days[:number])
        return [day.surfaces[place - first] for place in self._surfaces(number, entity).tolist()]

    def _surfaces(self, number: int, term: str) -> Array:
        """The surfaces of a day that an entity strictly matches."""
        tokens = term.split()
        rows = [self._tokens(number).aligned(token, self._settings.t) for token in tokens]
        matching = np.array([place for row in rows for place in row], np.int64)
        groups = np.array(list(map(len, rows)), np.int64)
        matching += self._texts.arrays.firsts[number]
        return strict_surfaces(
            matching, groups, len(tokens), self._settings.q, self._all().surfaces
        )

    def _tokens(self, number: int) -> TokenIndex:
        index = self._aligned.get(number)
        if index is None:
            tokens = self._days[number].tokens
            index = TokenIndex(tokens.pick(range(len(tokens))))
            self._aligned[number] = index
        return index

    def _all(self) -> EntityDays:
        if self._of is None:
            surfaces, slots = len(self._surface_starts.all), len(self._slot_docs.all)
            sizes = [surfaces, surfaces, surfaces, slots, self._largest]
            if [len(array) for array in self._scratch] != sizes:  # made anew only where it grew
                self._scratch = [np.zeros(size, np.int64) for size in sizes]
            self._of = EntityDays(
                self._texts.arrays,
                SurfaceDays(self._token_starts.all, self._token_surfaces.all, *self._scratch[:3]),
                SlotDays(
                    self._surface_starts.all, self._surface_slots.all, self._slot_docs.all,
                    self._slot_counts.all, self._absorbed_starts.all, self._absorbed.all,
                    self._doc_firsts.all, self._doc_lengths.all,
                    np.array([day.size for day in self._days], np.int64), *self._scratch[3:],
                ),
            )  # fmt: skip
        return self._of
