"""How much news there is, per day and source, and where some is missing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from hashnews.news.store import NewsStore
from hashnews.times import date_of

BAR = 40
EIGHTHS = " ▏▎▍▌▋▊▉"
MOST_LINES = 62


class NewsStatistics(NamedTuple):
    """Counts of a store; `days` holds only days that have articles."""

    articles: int
    days: dict[date, int]
    sources: dict[str, int]
    given: int  # articles that brought their own entities
    finder: str | None
    bytes: int

    @property
    def gaps(self) -> list[tuple[date, date]]:
        """Runs of days without an article between the first day and the last."""
        one = timedelta(days=1)
        return [(a + one, b - one) for a, b in pairwise(sorted(self.days)) if b - a > one]

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "articles": self.articles,
            "first_day": min(self.days).isoformat() if self.days else None,
            "last_day": max(self.days).isoformat() if self.days else None,
            "days": {day.isoformat(): count for day, count in sorted(self.days.items())},
            "gaps": [[first.isoformat(), last.isoformat()] for first, last in self.gaps],
            "sources": self.sources,
            "entities_given": self.given,
            "finder": self.finder,
            "bytes": self.bytes,
        }


def statistics(
    store: NewsStore, start: date | None = None, before: date | None = None
) -> NewsStatistics:
    """Counts over the whole store, or over the days in [start, before)."""
    days: dict[date, int] = {}
    sources: dict[str, int] = {}
    given = 0
    for day, source, count, with_entities in store.database.rows(
        "SELECT day, coalesce(source, ''), count(*), sum(given) FROM articles "
        "WHERE day >= ? AND day < ? GROUP BY day, source",
        (_number(start, -(1 << 62)), _number(before, 1 << 62)),
    ):
        days[date_of(day)] = days.get(date_of(day), 0) + count
        sources[source] = sources.get(source, 0) + count
        given += with_entities
    ranked = dict(sorted(sources.items(), key=lambda item: (-item[1], item[0])))
    size = store.path.stat().st_size
    return NewsStatistics(sum(days.values()), days, ranked, given, store.state().finder, size)


def _number(day: date | None, default: int) -> int:
    return default if day is None else (day - date_of(0)).days


def chart(counts: dict[date, int]) -> Iterator[str]:
    """A bar a day; over long spans a bar a week, or a month, of the mean per day."""
    if not counts:
        return
    first, last = min(counts), max(counts)
    span = (last - first).days + 1
    step = 1 if span <= MOST_LINES else 7 if span <= 7 * MOST_LINES else 30
    bars = []
    for offset in range(0, span, step):
        length = min(step, span - offset)
        days = [first + timedelta(days=offset + k) for k in range(length)]
        bars.append((days[0], sum(counts.get(day, 0) for day in days) / length))
    most = max(count for _, count in bars)
    if step > 1:
        yield f"mean per day, a line is {step} days"
    for day, count in bars:
        shown = _bar(count / most) if count else "· no news"
        yield f"{day}  {count:>9,.0f}  {shown}"


def _bar(share: float) -> str:
    full, part = divmod(max(1, round(share * BAR * 8)), 8)
    return "█" * full + EIGHTHS[part].strip()
