"""Similar posts: the hashtags of the earlier posts most like this one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hashnews.arrays import Array, compiled, decay
from hashnews.index.segment import TermRows
from hashnews.records import Reason
from hashnews.retrieve.equations import idf
from hashnews.suggest.memory import Posts, View
from hashnews.suggest.sources.base import NAMED, Gathered, MemorySource, many, table_of
from hashnews.text.terms import terms
from hashnews.times import A_DAY

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.evidence import Look
    from hashnews.suggest.query import Query

MOST = 100  # neighbours
HALF_LIFE = 60.0  # days after which a neighbour counts half
BLOCK = 2048  # rows that are looked at together
SLACK = 1 + 1e-9  # sums of bounds may round down


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


class Terms(NamedTuple):
    """The terms of a post that its past knows, heaviest first."""

    weights: Array  # IDF^2, as shares of their sum
    behind: Array  # the sum of the weights from each term on
    bounds: Array  # the most that a row can be like the post by the terms from each on


class Similarity:
    """sim(p, r) = sum of IDF(t)^2 over the terms of both / the sum over those of p, by length.

    The last factor is sqrt(|p| / |r|). IDF is that of the rows everybody may see; a term that only
    the future knows is no term.
    """

    def __init__(self, view: View, body: str):
        asked, self.view = terms(body), view
        parts = zip(view.parts, view.spans, strict=True)
        lists = [find_lists(asked, *span, part.segment.term_rows) for part, span in parts]
        counts = np.zeros(len(asked), np.int64)
        for found in lists:
            counts += found[:, 1] - found[:, 0]
        known = np.flatnonzero(counts)
        squares = np.array([idf(view.size, int(count)) ** 2 for count in counts[known]])
        order = np.argsort(-squares, kind="stable")
        self._lists = [found[known[order]] for found in lists]
        weights = squares[order] / squares.sum()
        behind = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
        self._terms = Terms(weights, behind, bounds_of(weights))

    def nearest(self, own: Array) -> Near:
        """The posts most like this one, older ones counting less; `own`: how like are the own."""
        view = self.view
        best = Best(*(np.zeros(MOST, kind) for kind in (float, float, int, int, int)))
        size, worst = 0, 0
        for at in np.flatnonzero(own > 0).tolist():  # those that others may not see yet
            part, row = int(view.own.part[at]), int(view.own.row[at])
            if row >= view.spans[part].limit:
                time = int(view.own.time[at])
                score = own[at] * decay((view.moment - time) / A_DAY, HALF_LIFE)
                size, worst = offer(best, size, worst, score, own[at], time, part, row)
        for at in view.newest_first():
            segment, span = view.parts[at].segment, view.spans[at]
            size, worst = add_nearest(
                self._lists[at], segment.term_rows.rows, self._terms, segment.lengths,
                segment.times, at, span.low, span.limit, view.moment, A_DAY,
                best, size, worst,
            )  # fmt: skip
        best = Best(*(column[:size] for column in best))
        order = np.lexsort((-best.row, -best.part, -best.time, -best.score))
        best = Best(*(column[order] for column in best))
        posts = Posts(best.part, best.row, best.time)
        by = view.memory.authors(posts)
        return Near(posts, best.likeness, (by == view.author) & (by >= 0))

    def of_posts(self, posts: Posts, rooms: list[Array]) -> Array:
        """How like the post some are."""
        similar = np.zeros(len(posts))
        for at in np.unique(posts.part).tolist():
            mine = np.flatnonzero(posts.part == at)
            similar[mine] = self.of_rows(at, posts.row[mine], rooms)
        return similar

    def of_rows(self, part: int, rows: Array, rooms: list[Array]) -> Array:
        """How like the post rows of one part are; one may be asked for twice."""
        segment = self.view.parts[part].segment
        return likeness(
            rows, self._lists[part], segment.term_rows.rows, self._terms.weights, segment.lengths,
            rooms[part],
        )  # fmt: skip


@compiled
def find_lists(asked: Array, low: int, limit: int, limit_own: int, of: TermRows) -> Array:
    """Of each term the first of its rows, the first past the limit, and past the author's."""
    found = np.zeros((len(asked), 3), np.int64)
    if limit_own <= low:
        return found
    for n in range(len(asked)):
        term = np.searchsorted(of.vocabulary, asked[n])
        if term < len(of.vocabulary) and of.vocabulary[term] == asked[n]:
            start, end = of.starts[term], of.starts[term + 1]
            found[n, 0] = start + np.searchsorted(of.rows[start:end], low)
            found[n, 1] = start + np.searchsorted(of.rows[start:end], limit)
            found[n, 2] = start + np.searchsorted(of.rows[start:end], limit_own)
    return found


@compiled
def bounds_of(weights: Array) -> Array:
    """The most like a row can be that has only terms from each one on, heaviest first.

    With j of them it is at least j long: max over j of (sum of the j heaviest) sqrt(|p| / j).
    """
    bounds = np.zeros(len(weights) + 1)
    for first in range(len(weights)):
        summed = 0.0
        for at in range(first, len(weights)):
            summed += weights[at]
            bound = summed * math.sqrt(len(weights) / (at - first + 1))
            bounds[first] = max(bounds[first], bound)
    return bounds


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
def add_nearest(
    lists: Array, rows: Array, terms: Terms, lengths: Array, times: Array,
    part: int, low: int, limit: int, moment: int, day: int, best: Best, size: int, worst: int,
) -> tuple[int, int]:  # fmt: skip
    """Offer the rows of a part that can be among the best by sim 2^(-age / 60), and no others.

    Newest first, a block at a time. Rows that have only light terms cannot be among the best once
    enough others are: then only the rows of the heavier terms are looked at, and of these those
    that can still reach the best are looked up in the lists of the light ones.
    """
    known = len(terms.weights)
    ends, heavy = lists[:, 1].copy(), known
    shared, touched = np.zeros(BLOCK), np.empty(BLOCK, np.int64)
    for end in range(limit, low, -BLOCK):
        start = max(low, end - BLOCK)
        fresh = decay((moment - times[end - 1]) / day, HALF_LIFE) * SLACK
        least = best.score[worst] if size == len(best.score) else 0.0
        while heavy > 0 and terms.bounds[heavy - 1] * fresh < least:
            heavy -= 1
        if heavy == 0:
            break
        count = 0
        for term in range(heavy):
            at = ends[term]
            while at > lists[term, 0] and rows[at - 1] >= start:
                at -= 1
                place = rows[at] - start
                if shared[place] == 0.0:
                    touched[count] = place
                    count += 1
                shared[place] += terms.weights[term]
            ends[term] = at
        for n in range(count):
            place = touched[n]
            found, row = shared[place], start + place
            shared[place] = 0.0
            factor = math.sqrt(known / max(1, lengths[row]))
            least = best.score[worst] if size == len(best.score) else 0.0
            if (found + terms.behind[heavy]) * factor * fresh < least:
                continue
            for term in range(heavy, known):
                first, last = lists[term, 0], lists[term, 1]
                at = first + np.searchsorted(rows[first:last], row)
                if at < last and rows[at] == row:
                    found += terms.weights[term]
            similar = found * factor
            score = similar * decay((moment - times[row]) / day, HALF_LIFE)
            if score >= least:
                size, worst = offer(best, size, worst, score, similar, times[row], part, row)
    return size, worst


@compiled
def likeness(
    wanted: Array, lists: Array, rows: Array, weights: Array, lengths: Array, room: Array
) -> Array:
    """How like the post rows are: their terms are added up, heaviest first.

    `room` has a zero for each row, before and after.
    """
    # A bit for each row that is asked for, and one for each that shares a term: a small table stays
    # in the cache, and `room` is read only where there is something to find.
    asked, sharing = np.zeros(len(room) // 8 + 1, np.uint8), np.zeros(len(room) // 8 + 1, np.uint8)
    distinct, count = np.empty(len(wanted), np.int32), 0
    for row in wanted:
        if not asked[row >> 3] >> (row & 7) & 1:
            asked[row >> 3] |= 1 << (row & 7)
            distinct[count] = row
            count += 1
    found, shared, size = np.empty(count, np.int32), np.zeros(count), 0
    for term in range(len(weights)):
        first, last = lists[term, 0], lists[term, 2]
        walk = last - first <= 8 * count
        for n in range(last - first if walk else count):
            if walk:
                row = rows[first + n]
                if not asked[row >> 3] >> (row & 7) & 1:
                    continue
            else:
                row = distinct[n]
                at = first + np.searchsorted(rows[first:last], row)
                if at == last or rows[at] != row:
                    continue
            if room[row] == 0:
                sharing[row >> 3] |= 1 << (row & 7)
                found[size] = row
                size += 1
                room[row] = size
            shared[room[row] - 1] += weights[term]
    for n in range(size):
        shared[n] *= math.sqrt(len(weights) / max(1, lengths[found[n]]))
    similar = np.zeros(len(wanted))
    for n in range(len(wanted)):
        row = wanted[n]
        if sharing[row >> 3] >> (row & 7) & 1:
            similar[n] = shared[room[row] - 1]
    for n in range(size):
        room[found[n]] = 0
    return similar


@compiled
def add_neighbours(
    posts: Array, tags: Array, inline: Array, similar: Array, ages: Array, own: Array, table: Array
) -> None:
    """What the uses in the most similar posts, best first, say: sums, the best, its rank, count."""
    summed, within, best, rank, count, fresh = range(6)
    for use in range(len(posts)):
        at, row = posts[use], table[tags[use]]
        row[within if inline[use] else summed] += similar[at] ** 2 * decay(ages[at], 14.0)
        row[best] = max(row[best], similar[at])
        row[rank] = max(row[rank], 1.0 / (1 + at))
        if not own[at]:
            row[count] += 1
            row[fresh] = max(row[fresh], similar[at] * decay(ages[at], 2.0))
