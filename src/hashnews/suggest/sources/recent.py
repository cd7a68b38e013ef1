"""What everybody has been using in the last days and weeks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hashnews.arrays import Array, compiled
from hashnews.records import Reason
from hashnews.suggest.sources.base import MemorySource, many
from hashnews.suggest.sources.neighbours import see
from hashnews.times import A_DAY

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.evidence import Look
    from hashnews.suggest.query import Query


class Recent(MemorySource):
    """Uses by everybody lately, and whether they grow."""

    name = "rising"
    label = "On the rise"
    gathered = ("six_hours", "day", "three_days", "week", "month", "week_inline")
    described = ("weekly", "weeks_ago", "last_use")
    columns = {
        **dict.fromkeys((*gathered, *described), 0.0), "last_use": 1000.0, "day_over_week": 1.0,
    }  # fmt: skip
    ranked = ("day", "week")
    taken = {"six_hours": 10, "day": 25, "week": 20}

    def gather(self, look: Look) -> None:
        """All posts of the last four weeks."""
        view = look.view
        first = min(view.limit, view.memory.before(view.moment - 28 * A_DAY))
        look.size = add_recent(
            first, view.limit, view.ages(np.arange(first, view.limit)), *look.tags_of_rows,
            look.columns(self), *look.table, look.size,
        )  # fmt: skip

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
        return Reason(
            source=self.name, text=f"{many(count, 'use')} in a week", count=count, rise=rise
        )


RECENT = Recent()


@compiled
def add_recent(
    first: int, limit: int, ages: Array, tag_starts: Array, tags: Array, inline: Array,
    columns: Array, evidence: Array, seen: Array, size: int,
) -> int:  # fmt: skip
    """Uses within six hours, one, three and seven days and four weeks; `ages` from `first` on."""
    hours, day, three, week, month, within = columns
    for row in range(first, limit):
        age = ages[row - first]
        for place in range(tag_starts[row], tag_starts[row + 1]):
            tag = tags[place]
            size = see(tag, evidence, seen, size)
            if inline[place]:
                if age <= 7:
                    evidence[tag, within] += 1
                continue
            evidence[tag, month] += 1
            if age <= 7:
                evidence[tag, week] += 1
            if age <= 3:
                evidence[tag, three] += 1
            if age <= 1:
                evidence[tag, day] += 1
            if age <= 0.25:
                evidence[tag, hours] += 1
    return size
