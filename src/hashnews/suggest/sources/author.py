"""The author's own earlier posts: habits, and what was posted last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hashnews.arrays import Array, compiled, decay
from hashnews.records import Reason
from hashnews.suggest.sources.base import NAMED, Gathered, MemorySource, many, table_of

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.evidence import Look
    from hashnews.suggest.query import Query


class Author(MemorySource):
    """What the author used, how often, how lately, and in posts like this one."""

    name = "author"
    label = "Author’s habit"
    gathered = (
        "own", "own_inline", "own_week", "own_season", "own_latest", "own_last_five", "own_nearest",
        "own_similar", "own_last",
    )  # fmt: skip
    described = ("own_share",)
    columns = dict.fromkeys((*gathered, *described), 0.0)
    ranked = ("own_season", "own_similar")
    taken = {"own_season": 40, "own_similar": 15}

    def gather(self, look: Look) -> Gathered:
        """Everything the author posted before."""
        own, uses = look.view.own, look.view.own_uses
        tags, numbers = np.unique(uses.tag, return_inverse=True)
        table = table_of(tags, self)
        add_author(
            len(own), uses.post, numbers, uses.inline, look.own_likeness,
            look.view.ages(own.time), table,
        )  # fmt: skip
        return Gathered(tags, table)

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """How often the author used it."""
        evidence = found.evidence
        if not evidence.column("own")[place] + evidence.column("own_inline")[place]:
            return None
        mine = evidence.own_posts(int(found.tags[place]))
        text = f"used by the author {many(len(mine), 'time')}"
        return Reason(source=self.name, text=text, posts=mine[:NAMED], count=len(mine))


AUTHOR = Author()


@compiled
def add_author(
    count: int, posts: Array, tags: Array, inline: Array, similar: Array, ages: Array, table: Array
) -> None:
    """What the uses in the author's posts say: oldest first, similarity of each, ages in days."""
    trailing, within, week, season, latest, last, best, summed, streak = range(9)
    for use in range(len(posts)):
        at, row = posts[use], table[tags[use]]
        row[within if inline[use] else trailing] += 1
        row[week] += decay(ages[at], 4.0)
        row[season] += decay(ages[at], 40.0)
        row[latest] = 1.0 / (1.0 + 24 * ages[at])
        if at >= count - 5:
            row[last] += 1
        if at == count - 1:
            row[streak] = 1
        row[best] = max(row[best], similar[at])
        row[summed] += similar[at] ** 2
