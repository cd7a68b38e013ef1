"""Entities on the rise: temporal popularity without a query."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import NamedTuple

import numpy as np

from hashnews.index.day import Day
from hashnews.index.folder import NewsIndex
from hashnews.retrieve.equations import idf, temporal_popularity
from hashnews.times import A_DAY, microseconds

RECENT = 1  # the window: this day so far and the one before
REFERENCE = 28  # days before it that are the reference
SHOWN = 7  # days of the past whose counts are shown beside this day's
FEWEST = 3  # articles an entity must be in to count as on the rise


class Trend(NamedTuple):
    """An entity, its temporal popularity, and the articles a day that name it, oldest first."""

    entity: str
    popularity: float
    counts: list[int]


def trends(index: NewsIndex, at: datetime, most: int = 20, cap: float = 10.0) -> list[Trend]:
    """The entities that rose most at a time, against the weeks before; nothing later is seen."""
    moment = microseconds(at)
    days = [index.day(moment // A_DAY - back) for back in range(RECENT + REFERENCE + 1)]
    clip = int(np.searchsorted(days[0].times, moment))
    counted = [
        articles_naming(day, clip if back == 0 else day.size) for back, day in enumerate(days)
    ]
    recent, reference = Counter[str](), Counter[str]()
    for back, counts in enumerate(counted):
        (recent if back <= RECENT else reference).update(counts)
    now = clip + sum(day.size for day in days[1 : RECENT + 1])
    before = sum(day.size for day in days[RECENT + 1 :])
    rising = [
        (temporal_popularity(idf(before, max(1, reference[name])), idf(now, n), cap), n, name)
        for name, n in recent.items()
        if n >= FEWEST
    ]
    rising.sort(key=lambda row: (-row[0], -row[1], row[2]))
    return [
        Trend(name, popularity, [counts[name] for counts in counted[SHOWN::-1]])
        for popularity, _, name in rising[:most]
    ]


def articles_naming(day: Day, clip: int) -> Counter[str]:
    """How many of the first `clip` articles of a day name each entity."""
    named = int(day.arrays["doc_slots"][:clip].sum(dtype=np.int64))
    slots = day.arrays["slot_surfaces"][:named]
    counts = np.bincount(slots, minlength=len(day.surfaces)).tolist()
    return Counter({name: n for name, n in zip(day.surfaces, counts, strict=True) if n})
