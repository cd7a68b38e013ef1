"""Similar posts: the hashtags of the earlier posts most like this one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hashnews.arrays import Array, compiled, decay, lower_bound
from hashnews.index.segment import TermRows, row_at
from hashnews.records import Reason
from hashnews.retrieve.equations import idf
from hashnews.suggest.memory import Posts, View
from hashnews.suggest.sources.base import NAMED, Gathered, MemorySource, many, table_of
from hashnews.text.terms import term_of, terms
from hashnews.times import A_DAY

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.evidence import Look
    from hashnews.suggest.query import Query

MOST = 100  # neighbours
HALF_LIFE = 60.0  # days after which a neighbour counts half
BLOCK = 1 << 14  # rows that are looked at together
SLACK = 1 + 1e-9  # products may round down


class SimilarPosts(MemorySource):
    """What the most similar earlier posts were tagged with."""

    name = "memory"
    label = "Earlier posts"
    gathered = (
        "neighbours", "neighbours_inline", "nearest", "neighbour_rank", "neighbour_count", "fresh",
        "lately",
    )  # fmt: skip
    described = ("uses", "users", "centre", "nearest_three")
    columns = dict.fromkeys((*gathered, *described), 0.0)
    ranked = ("neighbours", "nearest", "centre")
    taken = {"neighbours": 60, "neighbours_inline": 25, "nearest": 25}

    def gather(self, look: Look) -> Gathered:
        """The votes of the neighbours, nearest first."""
        near, uses = look.near, look.near_uses
        tags, numbers = np.unique(uses.tag, return_inverse=True)
        table = table_of(tags, self)
        add_neighbours(
            uses.post, numbers, uses.inline, near.likeness, look.view.ages(near.posts.time),
            near.own, table,
        )  # fmt: skip
        return Gathered(tags, table)

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """The similar posts that used it, or else how often it was used."""
        if not (found.feature("neighbour_rank")[place] or found.feature("centre")[place]):
            return None
        near = found.evidence.near_posts(int(found.tags[place]))
        count = len(near) or int(found.feature("uses")[place])
        text = many(count, "similar earlier post" if near else "earlier use")
        return Reason(source=self.name, text=text, posts=near[:NAMED], count=count)


NEIGHBOURS = SimilarPosts()


class Near(NamedTuple):
    """The posts most like one, nearest first."""

    posts: Posts
    likeness: Array
    own: Array  # whether they are the author's


class Best(NamedTuple):
    """The best posts so far, in no order."""

    score: Array
    likeness: Array
    time: Array
    part: Array
    row: Array


class Similarity:
    """sim(p, r) = sum of IDF(t)^2 over the terms of both / the sum over those of p, by length.

    The last factor is sqrt(|p| / |r|). IDF is that of the rows everybody may see; a term that only
    the future knows is no term. `rooms` has a number for each row of each part: what it shares.
    """

    def __init__(self, view: View, body: str, rooms: list[Array]):
        asked, self.view, self._rooms = terms(body), view, rooms
        parts = zip(view.parts, view.spans, strict=True)
        lists = [find_lists(asked, *span, part.segment.term_rows) for part, span in parts]
        counts = np.zeros(len(asked), np.int64)
        for found in lists:
            counts += found[:, 1] - found[:, 0]
        known = np.flatnonzero(counts)
        squares = np.array([idf(view.size, int(count)) ** 2 for count in counts[known]])
        order = np.argsort(-squares, kind="stable")
        self._lists = [found[known[order]] for found in lists]
        weights, self._known = squares[order] / squares.sum(), len(known)
        self._bounds = bounds_of(weights)
        for part, span, found, room in zip(view.parts, view.spans, self._lists, rooms, strict=True):
            add_shared(found, part.segment.term_rows, weights, span.low, span.limit_own, room)

    def nearest(self, own: Array) -> Near:
        """The posts most like this one, older ones counting less; `own`: how like are the own."""
        view = self.view
        best = Best(*(np.zeros(MOST, kind) for kind in (float, float, int, int, int)))
        size, worst = 0, 0
        for at in np.flatnonzero((own > 0) & view.is_late).tolist():
            part, row, time = (int(column[at]) for column in view.own)
            score = own[at] * decay((view.moment - time) / A_DAY, HALF_LIFE)
            size, worst = offer(best, size, worst, score, own[at], time, part, row)
        for at in view.newest_first():
            segment, span = view.parts[at].segment, view.spans[at]
            size, worst = add_nearest(
                self._lists[at], segment.term_rows, self._bounds, self._rooms[at],
                segment.lengths, segment.times, at, span.low, span.limit, view.moment, A_DAY,
                best, size, worst,
            )  # fmt: skip
        best = Best(*(column[:size] for column in best))
        order = np.lexsort((-best.row, -best.part, -best.time, -best.score))
        best = Best(*(column[order] for column in best))
        posts = Posts(best.part, best.row, best.time)
        by = view.memory.authors(posts)
        return Near(posts, best.likeness, (by == view.author) & (by >= 0))

    def of_posts(self, posts: Posts) -> Array:
        """How like the post some are."""
        similar = np.zeros(len(posts))
        for at in posts.in_parts():
            mine = np.flatnonzero(posts.part == at)
            similar[mine] = self.of_rows(at, posts.row[mine])
        return similar

    def of_rows(self, part: int, rows: Array) -> Array:
        """How like the post rows of one part are."""
        lengths = self.view.parts[part].segment.lengths
        return likeness(rows, self._rooms[part], lengths, self._known)


def posts_that_say(view: View, said: Sequence[str]) -> Array:
    """How many of the posts that may be seen say each word."""
    asked = np.array([term_of(word) for word in said], np.uint32)
    counts = np.zeros(len(asked), np.int64)
    for part, span in zip(view.parts, view.spans, strict=True):
        found = find_lists(asked, *span, part.segment.term_rows)
        counts += found[:, 2] - found[:, 0]
    return counts


@compiled
def find_lists(asked: Array, low: int, limit: int, limit_own: int, of: TermRows) -> Array:
    """Of each term the first of its rows, the first past the limit, and past the author's."""
    found = np.zeros((len(asked), 3), np.int64)
    if limit_own <= low:
        return found
    for n in range(len(asked)):
        term = lower_bound(of.vocabulary, asked[n])
        if term < len(of.vocabulary) and of.vocabulary[term] == asked[n]:
            start, end = of.starts[term], of.starts[term + 1]
            found[n, 0] = first_from(low, of, start, end)
            found[n, 1] = first_from(limit, of, start, end)
            found[n, 2] = first_from(limit_own, of, start, end)
    return found


@compiled
def first_from(row: int, of: TermRows, start: int, end: int) -> int:
    """The first place of a list whose row is this one or a later one."""
    if start == end or row_at(of, start) >= row:  # mostly all of a part is within
        return start
    if row_at(of, end - 1) < row:
        return end
    while start < end:
        middle = (start + end) // 2
        if row_at(of, middle) < row:
            start = middle + 1
        else:
            end = middle
    return start


@compiled
def add_shared(
    lists: Array, of: TermRows, weights: Array, low: int, limit: int, room: Array
) -> None:
    """Fill `room` with the weights of the terms each row shares, added up heaviest first.

    A block of rows at a time, so that what is added to stays in the cache.
    """
    at = lists[:, 0].copy()
    for start in range(low, limit, BLOCK):
        end = min(limit, start + BLOCK)
        room[start:end] = 0.0
        for term in range(len(weights)):
            weight, place, last = weights[term], at[term], lists[term, 2]
            while place < last:
                row = row_at(of, place)
                if row >= end:
                    break
                room[row] += weight
                place += 1
            at[term] = place


@compiled
def similar_by(shared: float, known: int, length: int) -> float:
    """The weights of shared terms times sqrt(|p| / |r|)."""
    return shared * math.sqrt(known / max(1, length))


@compiled
def likeness(wanted: Array, room: Array, lengths: Array, known: int) -> Array:
    """How like the post rows are."""
    similar = np.zeros(len(wanted))
    for n in range(len(wanted)):
        shared = room[wanted[n]]
        if shared > 0.0:
            similar[n] = similar_by(shared, known, lengths[wanted[n]])
    return similar


@compiled
def offer(
    best: Best, size: int, worst: int, score: float, likeness: float, time: int, part: int,
    row: int,
) -> tuple[int, int]:  # fmt: skip
    """Take a post among the best if it is one; of equals the newest. How many, and the worst."""
    if size < len(best.score):
        at, size = size, size + 1
    else:
        at = worst
        if (score, time, part, row) <= (
            best.score[at], best.time[at], best.part[at], best.row[at],
        ):  # fmt: skip
            return size, worst
    best.score[at], best.likeness[at], best.time[at] = score, likeness, time
    best.part[at], best.row[at] = part, row
    if size < len(best.score):
        return size, worst
    worst = 0
    for other in range(1, size):
        if (
            best.score[other], best.time[other], best.part[other], best.row[other],
        ) < (
            best.score[worst], best.time[worst], best.part[worst], best.row[worst],
        ):  # fmt: skip
            worst = other
    return size, worst


@compiled
def bounds_of(weights: Array) -> Array:
    """The most like a row can be that has only terms from each one on, heaviest first.

    With j of them it is at least j long: max over j of (sum of the j heaviest) sqrt(|p| / j).
    """
    bounds = np.zeros(len(weights))
    for first in range(len(weights)):
        summed = 0.0
        for at in range(first, len(weights)):
            summed += weights[at]
            bound = similar_by(summed, len(weights), at - first + 1)
            bounds[first] = max(bounds[first], bound)
    return bounds


@compiled
def add_nearest(
    lists: Array, of: TermRows, bounds: Array, room: Array, lengths: Array, times: Array,
    part: int, low: int, limit: int, moment: int, day: int, best: Best, size: int, worst: int,
) -> tuple[int, int]:  # fmt: skip
    """Offer the rows of a part that can be among the best by sim 2^(-age / 60), and no others.

    Newest first, a block at a time. Rows that have only light terms cannot be among the best once
    enough others are: then only the lists of the heavier terms are looked through.
    """
    known = len(bounds)
    ends, heavy, whole = lists[:, 1].copy(), known, similar_by(1.0, known, 1)
    for end in range(limit, low, -BLOCK):
        start = max(low, end - BLOCK)
        fresh = decay((moment - times[end - 1]) / day, HALF_LIFE) * SLACK
        least = best.score[worst] if size == len(best.score) else 0.0
        while heavy > 0 and bounds[heavy - 1] * fresh < least:
            heavy -= 1
        if heavy == 0:
            break
        for term in range(heavy):
            at = ends[term]
            while at > lists[term, 0]:
                row = row_at(of, at - 1)
                if row < start:
                    break
                at -= 1
                shared = room[row]
                if shared * whole * fresh < least:
                    continue
                similar = similar_by(shared, known, lengths[row])
                if similar * fresh < least:
                    continue
                score = similar * decay((moment - times[row]) / day, HALF_LIFE)
                if score >= least and not is_there(best, size, part, row):
                    size, worst = offer(best, size, worst, score, similar, times[row], part, row)
                    least = best.score[worst] if size == len(best.score) else 0.0
            ends[term] = at
    return size, worst


@compiled
def is_there(best: Best, size: int, part: int, row: int) -> bool:
    """Whether a post is among the best."""
    return bool(np.any((best.row[:size] == row) & (best.part[:size] == part)))


@compiled
def add_neighbours(
    posts: Array, tags: Array, inline: Array, similar: Array, ages: Array, own: Array, table: Array
) -> None:
    """What the uses in the most similar posts, best first, say: sums, the best, its rank, count.

    The last two are the freshest one, and the sum over what was posted within hours.
    """
    summed, within, best, rank, count, fresh, lately = range(7)
    for use in range(len(posts)):
        at, row = posts[use], table[tags[use]]
        row[within if inline[use] else summed] += similar[at] ** 2 * decay(ages[at], 14.0)
        row[best] = max(row[best], similar[at])
        row[rank] = max(row[rank], 1.0 / (1 + at))
        if not own[at]:
            row[count] += 1
            row[fresh] = max(row[fresh], similar[at] * decay(ages[at], 2.0))
            row[lately] += similar[at] ** 2 * decay(ages[at], 0.125)
