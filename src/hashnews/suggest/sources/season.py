"""The season: hashtags that had their day at this time of the year before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hashnews.records import Reason
from hashnews.suggest.calendar import AROUND
from hashnews.suggest.sources.base import Proposal, Source, many

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.query import Query


class SeasonOfYear(Source):
    """What the model's calendar has for this time of the year."""

    name = "season"
    label = "Time of the year"
    columns = {
        "season": 0.0, "season_share": 0.0, "season_away": 2.0 * AROUND + 1, "season_turned": 0.0,
    }  # fmt: skip

    def propose(self, query: Query) -> Iterator[Proposal]:
        """The hashtags of the season."""
        return (Proposal(season.words) for season in query.season.values())

    def features(self, query: Query, found: Candidates) -> list[tuple[float, ...]]:
        """How many authors used it then, how much of it was then, and how near that day is."""
        out_of_season, rows = tuple(self.columns.values()), []
        for key in found.keys:
            season = query.season.get(key)
            rows.append(
                (season.authors, season.share, season.away, season.turned)
                if season
                else out_of_season
            )
        return rows

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """When that was, and by how many."""
        season = query.season.get(found.keys[place])
        if season is None:
            return None
        text = f"{many(season.authors, 'author')} around this time in {season.day:%Y}"
        return Reason(source=self.name, text=text, count=season.authors, day=season.day)


SEASON = SeasonOfYear()
