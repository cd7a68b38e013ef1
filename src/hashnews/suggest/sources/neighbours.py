"""Similar posts: the hashtags of the earlier posts most like this one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hashnews.arrays import Array, compiled, decay
from hashnews.records import Reason
from hashnews.retrieve.equations import idf
from hashnews.suggest.sources.base import NAMED, MemorySource, many

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.evidence import Look
    from hashnews.suggest.query import Query


class SimilarPosts(MemorySource):
    """What the most similar earlier posts were tagged with."""

    name = "memory"
    label = "Earlier posts"
    gathered = (
        "neighbours", "neighbours_inline", "nearest", "neighbour_rank", "neighbour_count", "fresh",
    )  # fmt: skip
    described = ("uses", "users", "centre", "nearest_three")
    columns = dict.fromkeys((*gathered, *described), 0.0)
    ranked = ("neighbours", "nearest", "centre")
    taken = {"neighbours": 60, "neighbours_inline": 25, "nearest": 25}

    def gather(self, look: Look) -> None:
        """The votes of the neighbours, nearest first."""
        view, memory = look.view, look.view.memory
        look.size = add_neighbours(
            look.neighbours, look.likeness, view.ages(look.neighbours), memory.user, view.author,
            *look.tags_of_rows, look.columns(self), *look.table, look.size,
        )  # fmt: skip

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """The similar posts that used it, or else how often it was used."""
        if not (found.feature("neighbour_rank")[place] or found.feature("centre")[place]):
            return None
        near = found.evidence.near(int(found.tags[place]))
        count = len(near) or int(found.feature("uses")[place])
        text = many(count, "similar earlier post" if near else "earlier use")
        return Reason(source=self.name, text=text, posts=near[:NAMED], count=count)


NEIGHBOURS = SimilarPosts()


@compiled
def similarities(
    query: Array, starts: Array, rows: Array, limit: int, limit_own: int,
    user: Array, author: int, lengths: Array, similar: Array, touched: Array,
) -> int:  # fmt: skip
    """sim(p, r) = sum of IDF(t)^2 over the terms of both / the sum over those of p, by length.

    The last factor is sqrt(|p| / |r|). IDF is that of the rows before `limit`, the first row that
    is not yet past for everybody (`limit_own`: for the author); a term that only the future knows
    is no term. Returns how many rows were touched.
    """
    size, known, total = 0, 0, 0.0
    for term in query:
        first, last = starts[term], starts[term + 1]
        before = first + np.searchsorted(rows[first:last], limit)
        if before > first:
            known += 1
            weight = idf(limit, before - first) ** 2
            total += weight
            for at in range(first, last):
                row = rows[at]
                if row >= limit_own:
                    break
                if at < before or user[row] == author:
                    if similar[row] == 0.0:
                        touched[size] = row
                        size += 1
                    similar[row] += weight
    for at in range(size):
        row = touched[at]
        similar[row] *= math.sqrt(known / lengths[row]) / total
    return size


@compiled
def add_neighbours(
    rows: Array, similar: Array, ages: Array, user: Array, author: int, tag_starts: Array,
    tags: Array, inline: Array, columns: Array, evidence: Array, seen: Array, size: int,
) -> int:  # fmt: skip
    """What the most similar rows, best first, say: sums, the best, its rank, how many."""
    summed, within, best, rank, count, fresh = columns
    for at in range(len(rows)):
        row = rows[at]
        own = author >= 0 and user[row] == author
        for place in range(tag_starts[row], tag_starts[row + 1]):
            tag = tags[place]
            size = see(tag, evidence, seen, size)
            vote = similar[at] ** 2 * decay(ages[at], 14.0)
            if inline[place]:
                evidence[tag, within] += vote
            else:
                evidence[tag, summed] += vote
            evidence[tag, best] = max(evidence[tag, best], similar[at])
            evidence[tag, rank] = max(evidence[tag, rank], 1.0 / (1 + at))
            if not own:
                evidence[tag, count] += 1
                vote = similar[at] * decay(ages[at], 2.0)
                evidence[tag, fresh] = max(evidence[tag, fresh], vote)
    return size


@compiled
def see(tag: int, evidence: Array, seen: Array, size: int) -> int:
    """Note that a hashtag has evidence; the first column says so."""
    if evidence[tag, 0] == 0.0:
        evidence[tag, 0] = 1.0
        seen[size] = tag
        size += 1
    return size
