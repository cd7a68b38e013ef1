"""Entities on the rise: temporal popularity without a query; names of one person count as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
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
MOST_NAMES = 2000  # that are looked at, the most frequent
SHARED = 0.5  # of the articles that say a part of a name, so many say the name
TITLES = frozenset(
    "ambassador archbishop bishop captain cardinal chancellor chief congressman congresswoman "
    "councillor dame dr duchess duke first gen general gov governor judge justice king lady lord "
    "madam mayor minister miss mr mrs ms officer pope premier president prime prince princess prof "
    "professor queen rep representative rev secretary sen senator sgt sheikh sir sister".split()
)
# Those that stand before people only: no General Motors, Captain America, Duke University.
OF_PEOPLE = frozenset(
    "ambassador archbishop bishop cardinal chancellor congressman congresswoman councillor dr gov "
    "governor mr mrs ms pope president prof professor rep rev sen senator sgt sheikh sir".split()
)
Articles = Mapping[str, frozenset[int]]  # by name: which articles say it


class Trend(NamedTuple):
    """An entity, its temporal popularity, and the articles a day that name it, oldest first."""

    entity: str
    popularity: float
    counts: list[int]


def trends(index: NewsIndex, at: datetime, most: int = 20, cap: float = 10.0) -> list[Trend]:
    """The entities that rose most at a time, against the weeks before; nothing later is seen."""
    moment = microseconds(at)
    days = [index.day(moment // A_DAY - back) for back in range(RECENT + REFERENCE + 1)]
    clips = [int(np.searchsorted(days[0].times, moment)), *(day.size for day in days[1:])]
    recent = Counter[str]()
    for day, clip in list(zip(days, clips, strict=True))[: RECENT + 1]:
        recent.update(articles_naming(day, clip))
    names = {name for name, _ in recent.most_common(MOST_NAMES)}
    said = [
        articles_saying(day, clip, names, start)
        for day, clip, start in zip(days, clips, np.cumsum([0, *clips[:-1]]).tolist(), strict=True)
    ]
    families = name_families(_together(said[: RECENT + 1], names))
    now, before = sum(clips[: RECENT + 1]), sum(clips[RECENT + 1 :])
    rising = []
    for name, family in families.items():
        counts = [len(frozenset[int]().union(*(day.get(one, ()) for one in family)))
                  for day in said]  # fmt: skip
        if (n := sum(counts[: RECENT + 1])) >= FEWEST:
            reference = max(1, sum(counts[RECENT + 1 :]))
            popularity = temporal_popularity(idf(before, reference), idf(now, n), cap)
            rising.append((Trend(name, popularity, counts[SHOWN::-1]), n))
    rising.sort(key=lambda row: (-row[0].popularity, -row[1], row[0].entity))
    return [trend for trend, _ in rising[:most]]


def articles_naming(day: Day, clip: int) -> Counter[str]:
    """How many of the first `clip` articles of a day name each entity."""
    named = int(day.arrays["doc_slots"][:clip].sum(dtype=np.int64))
    slots = day.arrays["slot_surfaces"][:named]
    counts = np.bincount(slots, minlength=len(day.surfaces)).tolist()
    return Counter({name: n for name, n in zip(day.surfaces, counts, strict=True) if n})


def articles_saying(day: Day, clip: int, names: Collection[str], start: int) -> Articles:
    """Which of the first `clip` articles of a day, numbered from `start` on, say which names."""
    sizes = day.arrays["doc_slots"][:clip].astype(np.int64)
    slots = day.arrays["slot_surfaces"][: int(sizes.sum())]
    docs = np.repeat(np.arange(start, start + clip), sizes)
    surfaces = list(day.surfaces)
    wanted = np.array([name in names for name in surfaces], bool)
    held = wanted[slots] if len(slots) else np.zeros(0, bool)
    found: dict[str, set[int]] = {}
    for surface, doc in zip(slots[held].tolist(), docs[held].tolist(), strict=True):
        found.setdefault(surfaces[surface], set()).add(doc)
    return {name: frozenset(several) for name, several in found.items()}


def _together(said: list[Articles], names: Collection[str]) -> Articles:
    return {name: frozenset[int]().union(*(day.get(name, ()) for day in said)) for name in names}


def name_families(said: Articles) -> dict[str, set[str]]:
    """Names that mean the same: by the fullest of them, which most articles say, all of them.

    `pell` and `cardinal pell` are `george pell` where most articles that say them say that, too;
    `trump` is `donald trump`, for it stands beside that more often than beside `melania trump`.
    Headlines say only one of them. There a title tells that a name is somebody's: `president trump`
    makes `trump` a person, who is the one that most articles give a first name.
    """
    bare = {name: _without_title(name) for name in said}
    ends: dict[str, list[str]] = {}  # names by what they end in
    for name, tokens in bare.items():
        for at in range(1, len(tokens)):
            ends.setdefault(" ".join(tokens[at:]), []).append(name)
    people = {tokens[-1] for name, tokens in bare.items() if _has_title_of_people(name, tokens)}
    head = {}
    for name, tokens in bare.items():
        longer = ends.get(" ".join(tokens), [])
        shared = {other: len(said[name] & said[other]) for other in longer if other != name}
        best = max(shared, key=lambda other: (shared[other], other), default=None)
        near = best is not None and shared[best] >= SHARED * len(said[name])
        if best is not None and near:
            head[name] = best
        elif len(tokens) == 1 and tokens[0] in people:
            head[name] = _person(tokens[0], longer, said) or name
        else:
            head[name] = name
    families: dict[str, set[str]] = {}
    for name in said:
        families.setdefault(_last(head, name), set()).add(name)
    return {_shown(family, bare, said): family for family in families.values()}


def _without_title(name: str) -> list[str]:
    tokens = name.split()
    while len(tokens) > 1 and tokens[0].rstrip(".") in TITLES:
        tokens = tokens[1:]
    return tokens


def _has_title_of_people(name: str, bare: list[str]) -> bool:
    titles = name.split()[: -len(bare)]
    return len(bare) == 1 and bool(titles) and titles[-1].rstrip(".") in OF_PEOPLE


def _person(surname: str, longer: Collection[str], said: Articles) -> str | None:
    """Whom a surname means: the one full name, or that of most articles; else the surname."""
    if not longer:
        return surname if surname in said else None
    best = max(longer, key=lambda name: (len(said[name]), name))
    others = frozenset[int]().union(*(said[name] for name in longer)) - said[best]
    return best if len(others) < len(said[best]) else None


def _last(head: Mapping[str, str], name: str) -> str:
    """The end of a chain of ever longer names."""
    while head[name] != name:
        name = head[name]
    return name


def _shown(family: set[str], bare: Mapping[str, list[str]], said: Articles) -> str:
    """A name of several words, rather without a title; of those the most frequent."""
    return max(
        family,
        key=lambda name: (
            len(bare[name]) > 1, len(bare[name]) == len(name.split()), len(said[name]), name,
        ),
    )  # fmt: skip
