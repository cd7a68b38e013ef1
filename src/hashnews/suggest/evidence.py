"""The past of one post: what the memory says to it, as of its own time.

Nothing later is seen: the posts of other people only when they are an hour old (whoever writes
does not read faster than that), the author's own up to the post.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from hashnews.arrays import Array
from hashnews.suggest import kernels
from hashnews.suggest.memory import NOBODY, Memory
from hashnews.times import A_DAY

HOUR = A_DAY // 24
DELAY = HOUR
NEIGHBOURS = 100
KINDRED = 40

EVIDENCE = (
    "seen",
    # the most similar earlier posts
    "neighbours", "neighbours_inline", "nearest", "neighbour_rank", "neighbour_count", "fresh",
    # the author's own posts
    "own", "own_inline", "own_week", "own_season", "own_latest", "own_last_five", "own_nearest",
    "own_similar", "own_last",
    # everybody's uses lately
    "six_hours", "day", "three_days", "week", "month", "week_inline",
    # what kindred authors used; what is used with hashtags of the post, or of its neighbours
    "kindred", "together", "together_near",
)  # fmt: skip
COLUMN = {name: at for at, name in enumerate(EVIDENCE)}
STATISTICS = (
    "uses", "trailing_share", "users", "users_share", "last_use", "first_use", "weekly",
    "weeks_ago", "centre", "nearest_three", "own_share",
)  # fmt: skip


def _columns(first: str, last: str) -> Array:
    return np.arange(COLUMN[first], COLUMN[last] + 1)


class Desk:
    """Room to work in, as large as a memory; clean between two posts."""

    def __init__(self, memory: Memory):
        rows, tags, users = len(memory), len(memory.tags), len(memory.users)
        self.similar = np.zeros(rows)
        self.touched = np.empty(rows, np.int64)
        self.evidence = np.zeros((tags, len(EVIDENCE)))
        self.seen = np.empty(tags, np.int64)
        self.kinship = np.zeros(users)
        self.users = np.empty(users, np.int64)
        self.keys = sorted(memory.tags.names)
        self.lengths = np.maximum(1, np.diff(memory.terms.starts)).astype(np.float64)


class Past:
    """What is past for a post, and the evidence it holds for hashtags."""

    def __init__(
        self,
        memory: Memory,
        desk: Desk,
        moment: int,
        user: str | None,
        terms: Array,
        until: int | None = None,
    ):
        """`until` closes the memory at an earlier time, as if nothing had been added since."""
        self.memory, self.moment = memory, moment
        closed = moment if until is None else min(moment, until)
        self.limit = memory.before(min(moment - DELAY + 1, closed))
        number = None if user is None else memory.users.get(user)
        self.author = NOBODY if number is None else number
        # Nobody known has no posts of their own: those of other unknowns wait their hour, too.
        self.limit_own = self.limit if number is None else max(self.limit, memory.before(closed))
        self.own: Array = np.zeros(0, np.int64)
        if number is not None:
            rows = memory.by_user.of(number)
            self.own = rows[: np.searchsorted(rows, self.limit_own)]
        self._desk = desk
        self._size = 0
        self._touched = kernels.similarities(
            memory.numbers_of(terms), memory.postings.starts, memory.postings.values, self.limit,
            self.limit_own, memory.user, self.author, desk.lengths, desk.similar, desk.touched,
        )  # fmt: skip
        self.neighbours, self.likeness = self._nearest()

    def clean(self) -> None:
        """Leave the desk as it was found; what was asked of it is gone, the rest stays true."""
        desk = self._desk
        desk.similar[desk.touched[: self._touched]] = 0
        desk.evidence[desk.seen[: self._size]] = 0

    def ages(self, rows: Array) -> Array:
        """How many days before the post rows are."""
        ages: Array = (self.moment - self.memory.times[rows]) / A_DAY
        return ages

    def _nearest(self) -> tuple[Array, Array]:
        """The rows most like the post, older ones counting less, and how like it they are."""
        rows = self._desk.touched[: self._touched]
        similar = self._desk.similar[rows]
        weighed = similar * 2.0 ** (-self.ages(rows) / 60)
        if len(rows) > NEIGHBOURS:
            kept = np.argpartition(-weighed, NEIGHBOURS)[:NEIGHBOURS]
            rows, similar, weighed = rows[kept], similar[kept], weighed[kept]
        order = np.lexsort((-rows, -weighed))
        return rows[order], similar[order]

    def gather(self, given: list[int]) -> None:
        """Fill the table of evidence; `given` are the hashtags the post already holds."""
        memory, desk = self.memory, self._desk
        tags = (memory.row_tags.starts, memory.row_tags.values, memory.row_inline.values)
        uses = (memory.uses.starts, memory.use_row)
        users = (memory.by_user.starts, memory.by_user.values)
        table = (desk.evidence, desk.seen)
        size = kernels.add_neighbours(
            self.neighbours, self.likeness, self.ages(self.neighbours), memory.user, self.author,
            *tags, _columns("neighbours", "fresh"), *table, 0,
        )  # fmt: skip
        near = desk.seen[:size]
        summed = desk.evidence[near, COLUMN["neighbours"]]
        top = np.argsort(-summed, kind="stable")[:5]
        size = kernels.add_together(
            near[top].copy(), summed[top] / max(1e-9, float(summed.sum())), self.limit, *uses,
            *tags, COLUMN["together_near"], *table, size,
        )  # fmt: skip
        size = kernels.add_author(
            self.own, desk.similar[self.own], self.ages(self.own), *tags,
            _columns("own", "own_last"), *table, size,
        )  # fmt: skip
        first = min(self.limit, memory.before(self.moment - 28 * A_DAY))
        size = kernels.add_recent(
            first, self.limit, self.ages(np.arange(first, self.limit)), *tags,
            _columns("six_hours", "week_inline"), *table, size,
        )  # fmt: skip
        found = kernels.kindred(
            self.own, self.author, self.limit, tags[0], tags[1], *uses, memory.use_user, *users,
            desk.kinship, desk.users,
        )  # fmt: skip
        others = desk.users[:found].copy()
        kinship = desk.kinship[others]
        desk.kinship[others] = 0
        kept = np.argsort(-kinship, kind="stable")[:KINDRED]
        size = kernels.add_kindred(
            others[kept], kinship[kept] / max(1e-9, float(kinship[kept].sum())), self.limit,
            self.moment, A_DAY, memory.times, *users, *tags, COLUMN["kindred"], *table, size,
        )  # fmt: skip
        size = kernels.add_together(
            np.array(given, np.int64), np.ones(len(given)), self.limit, *uses, *tags,
            COLUMN["together"], *table, size,
        )  # fmt: skip
        self._size = size

    @property
    def seen(self) -> Array:
        """The hashtags there is evidence for."""
        return self._desk.seen[: self._size]

    def evidence(self, tags: Array, name: str) -> Array:
        """One kind of evidence for some hashtags."""
        found: Array = self._desk.evidence[tags, COLUMN[name]]
        return found

    def table(self, tags: Array) -> Array:
        """All evidence for hashtags, zero for a number below zero (unknown to the memory)."""
        rows = self._desk.evidence[np.maximum(tags, 0)] if len(self.memory.tags) else None
        if rows is None:
            return np.zeros((len(tags), len(EVIDENCE)))
        rows[tags < 0] = 0
        return rows

    def statistics(self, tags: Array) -> Array:
        """`STATISTICS` of hashtags over everybody's past uses."""
        out = np.zeros((len(tags), len(STATISTICS)))
        out[:, STATISTICS.index("last_use")] = out[:, STATISTICS.index("first_use")] = 1000.0
        memory = self.memory
        kernels.describe(
            tags, self.limit, self.moment, A_DAY, memory.times, self._desk.similar,
            memory.uses.starts, memory.use_row, memory.use_user, memory.use_inline, self.author,
            out,
        )  # fmt: skip
        return out

    def known(self, key: str) -> int | None:
        """The number of a hashtag somebody used before the post, if anybody did."""
        number = self.memory.tags.get(key)
        if number is None:
            return None
        first = self.memory.use_row[self.memory.uses.starts[number]]
        own = first < self.limit_own and self.memory.user[first] == self.author != NOBODY
        return number if first < self.limit or own else None

    def uses(self, tag: int) -> Array:
        """Places of the past uses of a hashtag by anybody, oldest first."""
        memory = self.memory
        first, last = memory.uses.starts[tag], memory.uses.starts[tag + 1]
        return np.arange(first, first + np.searchsorted(memory.use_row[first:last], self.limit))

    def written(self, tag: int) -> list[str]:
        """How a hashtag was written lately."""
        names = self.memory.forms.names
        return [names[form] for form in self.memory.use_form[self.uses(tag)[-200:]].tolist()]

    def near(self, tag: int) -> tuple[tuple[str, ...], int]:
        """The most similar posts with a hashtag, by id, and how many they are."""
        rows = self._rows(tag)
        held = self.neighbours[np.isin(self.neighbours, rows)].tolist()
        return tuple(self.memory.ids[row] for row in held), len(held)

    def mine(self, tag: int) -> tuple[str, ...]:
        """The author's own posts with a hashtag, by id, the latest first."""
        rows = self._rows(tag)
        held = self.own[np.isin(self.own, rows)][::-1].tolist()
        return tuple(self.memory.ids[row] for row in held)

    def _rows(self, tag: int) -> Array:
        first, last = self.memory.uses.starts[tag : tag + 2]
        rows: Array = self.memory.use_row[first:last]
        return rows

    def words(self, key: str) -> tuple[str, ...]:
        """The words of a hashtag of the memory."""
        number = self.memory.tags.get(key)
        return () if number is None else self.memory.words[number]

    def longer(self, key: str) -> list[str]:
        """Hashtags that begin like this one and go on."""
        keys = self._desk.keys
        found = keys[bisect_right(keys, key) : bisect_right(keys, key + "\U0010ffff")]
        return [other for other in found if len(other) > len(key)]


def newest(past: Past) -> float:
    """How many days before the post the newest post it can see was written."""
    if past.limit == 0:
        return 1000.0
    return float((past.moment - past.memory.times[past.limit - 1]) / A_DAY)
