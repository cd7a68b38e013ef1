"""Posting lists of entities and words, found once a day and kept in one pool.

What a post asks for is mostly what the post before it asked for. A term's list of a day is resolved
when it is first needed; a `WindowTable` holds, for the posts of one day, where the lists of each
term lie.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from hashnews.retrieve.day import Day, Settings
from hashnews.retrieve.kernels import run_lengths, soft_postings, strict_surfaces
from hashnews.text.match import TokenIndex

Array = np.ndarray[Any, Any]
Place = tuple[int, int]  # where a list begins in the pool, and how long it is
NOTHING: Place = (0, 0)


class Pool:
    """Lists of (article, frequency), one after the other, in arrays that grow."""

    def __init__(self) -> None:
        self.docs = np.empty(1 << 16, np.int32)
        self.counts = np.empty(1 << 16, np.int32)
        self.size = 0

    def room(self, most: int) -> tuple[Array, Array]:
        """Where the next list of at most so many may be written."""
        while self.size + most > len(self.docs):
            self.docs = np.concatenate([self.docs, np.empty_like(self.docs)])
            self.counts = np.concatenate([self.counts, np.empty_like(self.counts)])
        return self.docs[self.size :], self.counts[self.size :]

    def add(self, length: int) -> Place:
        """Keep the list of this length that was written there; give its place."""
        start = self.size
        self.size += length
        return start, length


class Terms(Protocol):
    """What a query is made of: entities, or words."""

    def find(self, day: Day, term: str, pool: Pool) -> Place:
        """The articles of a day that hold the term, and how often."""

    def lengths(self, day: Day) -> Array:
        """The length of each article of a day, counted in such terms."""

    def matches(self, day: Day, term: str) -> list[str]:
        """What the term strictly matches in a day."""


class Entities:
    """Entities as query terms: strict match decides, soft match counts (Appendix B)."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self._vocabularies: dict[int, TokenIndex] = {}

    def lengths(self, day: Day) -> Array:
        """Lengths in mentions."""
        return day.lengths

    def find(self, day: Day, term: str, pool: Pool) -> Place:
        """Articles with a strict match of the entity, and |M^soft| in each."""
        surfaces = self._surfaces(day, term.split())
        if surfaces is None:
            return NOTHING
        docs, counts = pool.room(day.size)
        return pool.add(soft_postings(surfaces, *day.slots, docs, counts))

    def matches(self, day: Day, term: str) -> list[str]:
        """The surfaces that the entity strictly matches."""
        found = self._surfaces(day, term.split())
        return [] if found is None else [day.surfaces[place] for place in found.tolist()]

    def _surfaces(self, day: Day, tokens: list[str]) -> Array | None:
        """The surfaces of a day that an entity strictly matches; None where there is none."""
        if self._settings.t == 1:
            known = day.tokens
            matching = [[known[token]] for token in tokens if token in known]
        else:
            matching = [row for row in (self._aligned(day, token) for token in tokens) if row]
        if not matching or len(matching) / len(tokens) < self._settings.q:
            return None  # most entities in most days
        starts, surfaces = day.token_surfaces
        if len(tokens) == 1 and len(matching[0]) == 1:
            place = matching[0][0]
            return surfaces[starts[place] : starts[place + 1]]
        places = np.array([place for row in matching for place in row], np.int64)
        sizes = np.array([len(row) for row in matching], np.int64)
        hits = np.zeros(len(day.surface_starts) - 1, np.int32)
        found = strict_surfaces(
            places, sizes, starts, surfaces, hits, len(tokens), self._settings.q
        )
        return found if len(found) else None

    def _aligned(self, day: Day, token: str) -> list[int]:
        vocabulary = self._vocabularies.get(id(day))
        if vocabulary is None:
            vocabulary = self._vocabularies[id(day)] = TokenIndex(list(day.tokens))
        return vocabulary.aligned(token, self._settings.t)


class Words:
    """Plain words as query terms."""

    def lengths(self, day: Day) -> Array:
        """Lengths in words, stop words aside."""
        return day.word_lengths

    def find(self, day: Day, term: str, pool: Pool) -> Place:
        """Articles that say the word, and how often."""
        place = day.words.get(term)
        if place is None:
            return NOTHING
        starts = day.arrays["word_starts"]
        said = day.arrays["word_docs"][starts[place] : starts[place + 1]]
        return pool.add(run_lengths(said, *pool.room(len(said))))

    def matches(self, day: Day, term: str) -> list[str]:
        """The word itself."""
        return [term] if term in day.words else []


class Lists:
    """The lists of one kind of term over all days, each resolved once."""

    def __init__(self, terms: Terms):
        self.pool = Pool()
        self.terms = terms
        self._known: dict[int, tuple[Day, dict[str, Place]]] = {}

    def of(self, day: Day) -> dict[str, Place]:
        """The lists of a day that are known already."""
        # Keeps the day itself, so that its number stays its own.
        return self._known.setdefault(id(day), (day, {}))[1]

    def find(self, term: str, day: Day) -> Place:
        """Where the list of a term in a day lies."""
        known = self.of(day)
        if term not in known:
            known[term] = self.terms.find(day, term, self.pool)
        return known[term]


class WindowTable:
    """For the posts of one day: the days they look back on, and the lists of their terms there."""

    def __init__(
        self,
        days: list[Day],
        lists: Lists,
        idf_reference: Callable[[str], float],
        freshness: Callable[[Array], Array] = np.ones_like,
    ):
        self.days = days
        self._lists = lists
        self._idf_reference = idf_reference
        self._rows: dict[str, int] = {}
        self._size = 0
        self.starts = np.zeros((64, len(days)), np.int64)
        self.sizes = np.zeros((64, len(days)), np.int64)
        self.idf_reference = np.zeros(64)
        self._known = [lists.of(day) for day in days]
        lengths = [lists.terms.lengths(day) for day in days]
        self.lengths = np.concatenate(lengths).astype(np.float64)
        self.freshness = freshness(np.concatenate([day.times for day in days]).astype(np.float64))
        self.length_starts = np.cumsum([0, *map(len, lengths[:-1])])
        self.day_sizes = np.array([day.size for day in days], np.int64)
        self.largest = int(self.day_sizes.max())
        self.day_lengths = np.array([float(row.sum()) for row in lengths])
        self._sums = np.concatenate([[0.0], np.cumsum(lengths[0])])

    def rows(self, terms: Sequence[str]) -> Array:
        """The rows of terms; those that no day holds are left out."""
        known = self._rows
        places = [known[term] if term in known else self._add(term) for term in terms]
        return np.array([place for place in places if place >= 0], np.int64)

    def _add(self, term: str) -> int:
        find, pool = self._lists.terms.find, self._lists.pool
        places = []
        for day, known in zip(self.days, self._known, strict=True):
            place = known.get(term)
            if place is None:
                place = known[term] = find(day, term, pool)
            places.append(place)
        if not any(size for _, size in places):
            self._rows[term] = -1
            return -1
        row = self._size
        self._size += 1
        if row == len(self.starts):
            self.starts, self.sizes = (np.concatenate([a, a]) for a in (self.starts, self.sizes))
            self.idf_reference = np.concatenate([self.idf_reference, self.idf_reference])
        self._rows[term] = row
        self.starts[row] = [start for start, _ in places]
        self.sizes[row] = [size for _, size in places]
        self.idf_reference[row] = self._idf_reference(term)
        return row

    def clipped(self, articles: int) -> tuple[Array, Array]:
        """Sizes and lengths of the days when of the first only so many articles count."""
        sizes, lengths = self.day_sizes.copy(), self.day_lengths.copy()
        sizes[0], lengths[0] = articles, self._sums[articles]
        return sizes, lengths
