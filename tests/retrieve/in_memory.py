"""Indexes in memory, for tests."""

from collections import defaultdict

from hashnews.index.day import build_day
from hashnews.index.folder import NewsIndex
from hashnews.times import A_DAY


def index_of(entries, settings=None):
    """An index of all these articles."""
    index, days = NewsIndex(settings), defaultdict(list)
    for entry in entries:
        days[entry.published // A_DAY].append(entry)
    for number, day in sorted(days.items()):
        index.put(number, build_day(day, index.settings))
    return index
