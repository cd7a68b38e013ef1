"""What everybody has been using in the last days and weeks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hashnews.arrays import Array, compiled
from hashnews.index.segment import RowUses
from hashnews.records import Reason
from hashnews.suggest.memory import Memory, View
from hashnews.suggest.sources.base import MemorySource, largest, many
from hashnews.times import A_DAY

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.evidence import Look
    from hashnews.suggest.query import Query


class Recent(MemorySource):
    """Uses by everybody lately, and whether they grow."""

    name = "rising"
    label = "On the rise"
    gathered = (
        "hour", "six_hours", "day", "three_days", "week", "month", "week_inline", "hour_share",
    )  # fmt: skip
    described = ("weekly", "weeks_ago", "last_use")
    columns = {
        **dict.fromkeys((*gathered, *described), 0.0), "last_use": 1000.0, "day_over_week": 1.0,
    }  # fmt: skip
    ranked = ("day", "week")
    taken = {"hour": 10, "six_hours": 10, "day": 25, "week": 20}

    def gather(self, look: Look) -> RecentCounts:
        """All posts of the last four weeks."""
        look.scratch.recent.move(look.view)
        return look.scratch.recent

    def features(self, query: Query, found: Candidates) -> Array:
        """The counts, and the last day against the week: (day + 0.5) / (week / 7 + 0.5)."""
        counts = found.evidence.columns((*self.gathered, *self.described)).astype(np.float32)
        day, week = (counts[:, self.gathered.index(name)] for name in ("day", "week"))
        return np.column_stack([counts, (day + 0.5) / (week / 7 + 0.5)])

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """How many uses there were in a week, and how the last day compares."""
        count = int(found.evidence.column("week")[place])
        if not count:
            return None
        rise = round(float(found.feature("day_over_week")[place]), 3)
        days = found.evidence.view.days_used(int(found.tags[place]), DAYS)
        text = f"{many(count, 'use')} in a week"
        return Reason(source=self.name, text=text, count=count, rise=rise, days=tuple(days))


RECENT = Recent()


SPANS = np.array([A_DAY // 24, A_DAY // 4, A_DAY, 3 * A_DAY, 7 * A_DAY, 28 * A_DAY], np.int64)
HOUR, WEEK = 0, 4
DAYS = 7


class RecentCounts:
    """Uses of each hashtag within an hour, six, one, three and seven days and four weeks.

    After these come inline uses within seven days, and the share of a hashtag in all uses of the
    last hour: what everybody speaks of now, in a small network as in a large one. From one post to
    the next the counts move: what came into a span is added, what left it is taken away.
    """

    def __init__(self, memory: Memory):
        tags = len(memory.tags)
        self._counts = np.zeros((tags, len(SPANS) + 1), np.int32)
        self._rows = np.zeros((len(memory.parts), len(SPANS), 2), np.int64)  # of each span
        self._listed = np.zeros(tags, bool)  # used within the week, perhaps some time ago
        self._tags, self._size = np.zeros(tags, np.int32), 0

    def move(self, view: View) -> None:
        """Count what a post sees."""
        since = view.moment - SPANS
        for part, span, rows in zip(view.parts, view.spans, self._rows, strict=True):
            first = np.clip(part.segment.times.searchsorted(since), span.low, span.limit)
            if rows[-1, 0] != rows[-1, 1] or first[-1] < span.limit:
                now = np.column_stack([first, np.full(len(first), span.limit)])
                self._size = move_counts(
                    rows, now, part.segment.row_uses, part.tags.all, self._counts, self._listed,
                    self._tags, self._size,
                )  # fmt: skip
                rows[:] = now
        self._size = drop_unused(self._counts, self._listed, self._tags, self._size)

    def of(self, tags: Array) -> Array:
        """The counts of some hashtags, and their share of the last hour."""
        found = np.zeros((len(tags), self._counts.shape[1] + 1))
        found[tags >= 0, :-1] = self._counts[tags[tags >= 0]]
        hour = int(self._counts[self._tags[: self._size], HOUR].sum())
        found[:, -1] = found[:, HOUR] / max(1, hour)
        return found

    def best(self, column: int, most: int, signs: Array) -> Array:
        """The hashtags used most often within a week or less."""
        tags = self._tags[: self._size]
        return tags[largest(self._counts[tags, column], signs[tags], most)]


@compiled
def move_counts(
    before: Array, now: Array, uses: RowUses, numbers: Array, counts: Array, listed: Array,
    tags: Array, size: int,
) -> int:  # fmt: skip
    """Take rows that left each span out of the counts and add those that came in."""
    for span in range(len(now)):
        first, last = before[span]
        start, end = now[span]
        for step, low, high in (
            (-1, first, min(last, start)), (-1, max(first, end), last),
            (1, start, min(end, first)), (1, max(start, last), end),
        ):  # fmt: skip
            for row in range(low, high):
                for use in range(uses.starts[row], uses.starts[row + 1]):
                    tag = numbers[uses.tag[use]]
                    if not uses.inline[use]:
                        counts[tag, span] += step
                    elif span == WEEK:
                        counts[tag, len(now)] += step
                    if span == WEEK and not listed[tag]:
                        listed[tag] = True
                        tags[size] = tag
                        size += 1
    return size


@compiled
def drop_unused(counts: Array, listed: Array, tags: Array, size: int) -> int:
    """Take hashtags that were not used within the week off the list."""
    kept = 0
    for at in range(size):
        tag = tags[at]
        if counts[tag, WEEK]:
            tags[kept] = tag
            kept += 1
        else:
            listed[tag] = False
    return kept
