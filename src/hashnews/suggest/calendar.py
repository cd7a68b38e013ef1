"""The calendar: hashtags that had their day a year ago, or several years.

Memorial days, holidays and awareness weeks come back with their hashtags, and nobody has used those
in the weeks before. A model therefore keeps on which days several authors used a hashtag that was
used little around them:

    share(h, d) = uses of h within three days of d / uses of h within half a year of d

A use is one author on one day. A number that counts years goes on: `#DDay75` brings `#DDay76`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import date
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array
from hashnews.errors import DataError
from hashnews.posts.table import Remembered
from hashnews.times import A_DAY

YEAR = 365.25
AROUND = 3  # days before and after that are the same time of the year
SAME_WEEKDAY = 6.5  # days that the second Sunday of a month may wander
SEVERAL = 3  # authors that make it a day of the hashtag
LEAST_SHARE = 0.2
TAKEN = 40  # hashtags of the season for a post, those of most authors
EPOCH = date(1970, 1, 1).toordinal()
ANNIVERSARY = 20  # years, at least, of a number that is not the year: less may count anything
NUMBERED = 4  # letters, at least, before it: fewer are a bill, a district, a road
_NUMBERED = re.compile(r"(.*?)([0-9]{2,4})", re.DOTALL)


class HashtagDay(NamedTuple):
    """A day on which several authors used a hashtag."""

    day: int  # since 1970
    written: str
    words: tuple[str, ...]
    authors: int
    share: float


class Season(NamedTuple):
    """A hashtag of this time of the year, and the day that speaks for it."""

    written: str
    words: tuple[str, ...]
    authors: int
    share: float
    away: float  # days between the post and that day, the years put aside
    turned: bool  # its number went on with the years
    day: date


class Calendar:
    """The days of hashtags, by time; a post sees those a year or more before it."""

    def __init__(self, days: Iterable[HashtagDay] = ()):
        self.days = sorted(days)
        self._at: Array = np.array([day.day for day in self.days], np.int64)
        self.around = lru_cache(64)(self._around)

    def season(self, moment: int) -> dict[str, Season]:
        """The hashtags of the time of the year that a moment is in, by key."""
        return self.around(moment // A_DAY)

    def _around(self, day: int) -> dict[str, Season]:
        found: dict[str, Season] = {}
        passed = day - self._at
        years = np.rint(passed / YEAR)
        away = np.abs(passed - years * YEAR)
        same = (away <= AROUND + 0.5) | ((passed % 7 == 0) & (away <= SAME_WEEKDAY))
        for place in np.flatnonzero(same & (years >= 1)).tolist():
            season = _season(self.days[place], int(years[place]), float(away[place]))
            key = "".join(season.words)
            if key not in found or _order(season) > _order(found[key]):
                found[key] = season
        best = sorted(found.items(), key=lambda item: (-item[1].authors, item[0]))
        return dict(best[:TAKEN])

    def lines(self) -> Iterator[str]:
        """The calendar as text, one day of a hashtag a line."""
        for day in self.days:
            when = date.fromordinal(EPOCH + day.day).isoformat()
            words = " ".join(day.words)
            yield f"{when}\t{day.written}\t{words}\t{day.authors}\t{day.share:.2f}"

    @classmethod
    def read(cls, lines: Iterable[str]) -> Calendar:
        """What `lines` wrote."""
        return cls(_day(line) for line in lines if line.strip())


def _order(season: Season) -> tuple[int, float]:
    return season.authors, -season.away


def _season(day: HashtagDay, years: int, away: float) -> Season:
    """A hashtag as it was, or as it is now where its number counts the years."""
    when = date.fromordinal(EPOCH + day.day)
    season = Season(day.written, day.words, day.authors, day.share, away, False, when)
    found = _NUMBERED.fullmatch(day.written.removeprefix("#"))
    if found is None or not day.words[-1].endswith(found[2]):
        return season
    if not counts_years(found[1], found[2], when.year):
        return season
    later = f"{int(found[2]) + years:0{len(found[2])}}"
    words = (*day.words[:-1], day.words[-1].removesuffix(found[2]) + later)
    written = day.written.removesuffix(found[2]) + later
    return season._replace(written=written, words=words, turned=True)


def counts_years(stem: str, number: str, year: int) -> bool:
    """Whether the number a hashtag ends in is the year, or may be an anniversary."""
    if int(number) in (year, year % 100):
        return True
    return len(number) < 4 and int(number) >= ANNIVERSARY and len(stem) >= NUMBERED


def _day(line: str) -> HashtagDay:
    try:
        when, written, words, authors, share = line.rstrip("\n").split("\t")
        day = date.fromisoformat(when).toordinal() - EPOCH
        return HashtagDay(day, written, tuple(words.split()), int(authors), float(share))
    except ValueError:
        raise DataError(f"not a line of a calendar: {line.rstrip()!r}") from None


def calendar_of(posts: Iterable[Remembered]) -> Calendar:
    """The days of the hashtags of some posts."""
    uses: defaultdict[tuple[str, ...], set[tuple[int, str]]] = defaultdict(set)
    forms: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for post in posts:
        for tag in (*post.hashtags, *post.inline):
            if post.user is not None and tag.words:
                uses[tag.words].add((post.posted // A_DAY, post.user))
                forms[tag.words][tag.written] += 1
    found = []
    for words, used in uses.items():
        if len(used) >= SEVERAL:
            written = min(forms[words], key=lambda form: (-forms[words][form], form))
            days = np.sort([day for day, _ in used])
            for day, authors, share in _days_of(days):
                found.append(HashtagDay(day, written, words, authors, share))
    return Calendar(found)


def _days_of(days: Array) -> Iterator[tuple[int, int, float]]:
    """The days that were a hashtag's own, from the sorted days of its uses."""
    for day, authors in zip(*np.unique(days, return_counts=True), strict=True):
        if authors >= SEVERAL:
            near, year = (_within(days, day, span) for span in (AROUND, YEAR / 2))
            if near >= LEAST_SHARE * year:
                yield int(day), int(authors), near / year


def _within(days: Array, day: int, span: float) -> int:
    first, last = np.searchsorted(days, [day - span, day + span + 1e-9])
    return int(last - first)
