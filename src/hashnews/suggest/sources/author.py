"""The author's own earlier posts: habits, and what was posted last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hashnews.arrays import Array, compiled, decay
from hashnews.records import Reason
from hashnews.suggest.sources.base import NAMED, MemorySource, many
from hashnews.suggest.sources.neighbours import see

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

    def gather(self, look: Look) -> None:
        """Everything the author posted before."""
        own = look.view.own
        look.size = add_author(
            own, look.scratch.similar[own], look.view.ages(own), *look.tags_of_rows,
            look.columns(self), *look.table, look.size,
        )  # fmt: skip

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """How often the author used it."""
        evidence = found.evidence
        if not evidence.column("own")[place] + evidence.column("own_inline")[place]:
            return None
        mine = evidence.view.own_posts(int(found.tags[place]))
        text = f"used by the author {many(len(mine), 'time')}"
        return Reason(source=self.name, text=text, posts=mine[:NAMED], count=len(mine))


AUTHOR = Author()


@compiled
def add_author(
    rows: Array, similar: Array, ages: Array, tag_starts: Array, tags: Array, inline: Array,
    columns: Array, evidence: Array, seen: Array, size: int,
) -> int:  # fmt: skip
    """What the author did: rows oldest first, similarity of each, ages in days."""
    trailing, within, week, season, latest, last, best, summed, streak = columns
    posts = len(rows)
    for at in range(posts):
        row = rows[at]
        for place in range(tag_starts[row], tag_starts[row + 1]):
            tag = tags[place]
            size = see(tag, evidence, seen, size)
            evidence[tag, within if inline[place] else trailing] += 1
            evidence[tag, week] += decay(ages[at], 4.0)
            evidence[tag, season] += decay(ages[at], 40.0)
            evidence[tag, latest] = 1.0 / (1.0 + 24 * ages[at])
            if at >= posts - 5:
                evidence[tag, last] += 1
            if at == posts - 1:
                evidence[tag, streak] = 1
            evidence[tag, best] = max(evidence[tag, best], similar[at])
            evidence[tag, summed] += similar[at] ** 2
    return size
