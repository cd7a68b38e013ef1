"""Posting lists of entities: which surfaces of a day match one, and what follows, compiled.

Days stand one after the other in arrays that grow (`entity_postings.py`); tokens, surfaces and
slots are numbered through over all of them, articles within their day.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array, compiled
from hashnews.index.packed import Lookup, TextArrays, find_string
from hashnews.index.postings import COUNT, DOC, LENGTH, TermLists
from hashnews.retrieve.equations import is_strict, soft_match


class SurfaceDays(NamedTuple):
    """The surfaces of several days, by their tokens."""

    token_starts: Array
    token_surfaces: Array
    # Scratch, zeros at first, one a surface.
    hits: Array
    seen_for: Array
    found: Array


class SlotDays(NamedTuple):
    """The slots of several days, by their surfaces."""

    surface_starts: Array
    surface_slots: Array
    docs: Array
    counts: Array
    absorbed_starts: Array
    absorbed: Array
    doc_firsts: Array  # the first article of each day
    doc_lengths: Array
    sizes: Array  # articles of each day
    # Scratch, zeros at first.
    counted_for: Array  # one a slot: the number of the list it was last counted for
    mentions: Array  # one an article


class EntityDays(NamedTuple):
    """The entities of several days, in small tuples: numba counts references array by array."""

    tokens: TextArrays
    surfaces: SurfaceDays
    slots: SlotDays


@compiled
def exact_tokens(
    lookup: Lookup, first: int, last: int, day: int, of: TextArrays, matching: Array, groups: Array
) -> int:
    """Those of some tokens that a day holds; returns how many there are."""
    size = 0
    for token in range(first, last):
        place = find_string(lookup, token, day, of)
        groups[token - first] = place >= 0
        if place >= 0:
            matching[size] = place
            size += 1
    return size


@compiled
def strict_surfaces(
    matching: Array,  # tokens of a day that align, those of one entity token together
    groups: Array,  # how many each entity token has
    tokens: int,  # of the entity
    q: float,
    of: SurfaceDays,
) -> Array:
    """The surfaces of a day that an entity strictly matches (Definition 1)."""
    count, at = 0, 0
    for token in range(tokens):
        for _ in range(groups[token]):
            place = matching[at]
            at += 1
            for k in range(of.token_starts[place], of.token_starts[place + 1]):
                surface = of.token_surfaces[k]
                if of.hits[surface] == 0:
                    of.found[count] = surface
                    count += 1
                elif of.seen_for[surface] == token:
                    continue
                of.seen_for[surface] = token
                of.hits[surface] += 1
    kept = 0
    for k in range(count):
        surface = of.found[k]
        if is_strict(of.hits[surface], tokens, q):
            of.found[kept] = surface
            kept += 1
        of.hits[surface] = 0
    return of.found[:kept]


@compiled
def stamp_of(term: int, day: int) -> int:
    """A number for a term in a day that no other has, and not 0."""
    return (term << 24) + day + 1


@compiled
def soft_postings(
    surfaces: Array, of: SlotDays, day: int, stamp: int, pool: Array, start: int
) -> int:
    """Articles with a strict match, in order, and |M^soft| in each, put into the pool at `start`.

    `stamp` is another number for every list. Returns how many articles there are.
    """
    docs, counts, lengths = pool[start:, DOC], pool[start:, COUNT], pool[start:, LENGTH]
    size, lowest, highest = 0, len(of.mentions), 0
    for surface in surfaces:
        for k in range(of.surface_starts[surface], of.surface_starts[surface + 1]):
            slot = of.surface_slots[k]
            doc = of.docs[slot]
            if of.mentions[doc] == 0:
                docs[size] = doc
                size += 1
                lowest, highest = min(lowest, doc), max(highest, doc)
            of.mentions[doc] += soft_match(
                stamp, slot, of.absorbed_starts, of.absorbed, of.counts, of.counted_for
            )
    if len(surfaces) > 1:  # else they are in order
        if 16 * size < highest - lowest:
            docs[:size].sort()
        else:
            size = 0
            for doc in range(lowest, highest + 1):
                if of.mentions[doc] > 0:
                    docs[size] = doc
                    size += 1
    for k in range(size):
        counts[k] = of.mentions[docs[k]]
        of.mentions[docs[k]] = 0
        lengths[k] = of.doc_lengths[of.doc_firsts[day] + docs[k]]
    return size


@compiled
def entity_lists(
    lookup: Lookup,  # tokens of entities
    firsts: Array,  # where those of each entity begin
    terms: Array,  # the entities' numbers
    days: Array,
    q: float,
    of: EntityDays,
    known: TermLists,  # all days x all terms
    pool: Array,
    end: int,  # of what is in the pool
) -> tuple[int, bool]:
    """The lists of entities at t = 1, where a token aligns with itself alone.

    Returns where the pool ends now, and whether there was room for everything.
    """
    tokens_of, surfaces_of, slots_of = of
    known_starts, known_sizes = known
    matching, groups = np.empty((2, len(lookup.hashes)), np.int64)
    for day in days:
        for term in range(len(terms)):
            number, tokens = terms[term], firsts[term + 1] - firsts[term]
            if known_sizes[day, number] < 0:
                if end + slots_of.sizes[day] > len(pool):
                    return end, False
                found = exact_tokens(
                    lookup, firsts[term], firsts[term + 1], day, tokens_of, matching, groups
                )
                size = 0
                if is_strict(found, tokens, q):  # few entities in few days
                    surfaces = strict_surfaces(matching, groups, tokens, q, surfaces_of)
                    size = soft_postings(surfaces, slots_of, day, stamp_of(number, day), pool, end)
                known_starts[day, number], known_sizes[day, number] = end, size
                end += size
    return end, True
