"""Words on the rise: how much more the last day says them than the days before."""

from __future__ import annotations

import numpy as np

from hashnews.arrays import Array, compiled
from hashnews.index.folder import NewsIndex
from hashnews.retrieve.context import ArticleWords, RisingWords
from hashnews.retrieve.equations import burst
from hashnews.times import A_DAY

HOUR = A_DAY // 24
MOST_HOURS = 48


class Bursts:
    """B(t) as of whole hours, times a share; the last hours asked for are kept.

    P_1 is the last 24 hours, P_D some days before the hour's own and that day so far. What is
    counted for one hour is counted on for a later one of the same day.
    """

    def __init__(
        self, index: NewsIndex, words: ArticleWords, days: int, floor: float, share: float,
        most: int,
    ):  # fmt: skip
        self._index, self._words = index, words
        self._days, self._floor, self._share, self._most = days, floor, share, most
        self._kept: dict[int, RisingWords] = {}
        self._hour, self._totals = -1, (0, 0)

    def at(self, moment: int) -> RisingWords:
        """B(t) as of the hour of a moment; `most` words are the highest."""
        hour = moment // HOUR * HOUR
        kept = self._kept.get(hour)
        if kept is None:
            self._count_to(hour)
            numbers, heights = burst_words(
                self._numbers, self._last_day, self._window, *self._totals, self._floor
            )
            few = min(self._most, len(numbers))
            least = np.partition(heights, -few)[-few] if few else 0.0
            kept = RisingWords(numbers, self._share * heights, numbers[heights >= least])
            self._kept[hour] = kept
            if len(self._kept) > MOST_HOURS:
                del self._kept[next(iter(self._kept))]
        return kept

    def _count_to(self, hour: int) -> None:
        midnight = hour // A_DAY * A_DAY
        if not midnight <= self._hour <= hour:
            self._begin(midnight)
        said, gone = (self._said(self._hour - back, hour - back) for back in (0, A_DAY))
        last_day, window = self._totals
        last_day += count_words(said, 1, self._last_day) + count_words(gone, -1, self._last_day)
        window += count_words(said, 1, self._window)
        self._hour, self._totals = hour, (last_day, window)

    def _begin(self, midnight: int) -> None:
        """Count as of the beginning of a day."""
        starts = [midnight - back * A_DAY for back in range(self._days, 0, -1)]
        before = [self._said(start, start + A_DAY) for start in starts]
        two_days = [self._index.day(midnight // A_DAY - back) for back in (1, 0)]
        numbers = [self._words.of_day(day) for day in two_days]
        in_two_days = np.zeros(self._words.size, bool)
        in_two_days[numbers[0]] = in_two_days[numbers[1]] = True
        self._numbers = np.flatnonzero(in_two_days)
        self._last_day, self._window = np.zeros((2, self._words.size), np.int32)
        last_day = count_words(self._said(midnight - A_DAY, midnight), 1, self._last_day)
        self._totals = last_day, sum(count_words(said, 1, self._window) for said in before)
        self._hour = midnight

    def _said(self, start: int, end: int) -> Array:
        """The words of one day's articles from a moment up to another, and how often each."""
        day = self._index.day(start // A_DAY)
        first = self._words.open(day)
        starts, words = self._words.said
        begin, stop = starts[first + np.searchsorted(day.times, (start, end))]
        said: Array = words[begin:stop]
        return said


@compiled
def count_words(said: Array, by: int, counts: Array) -> int:
    """Count words, or count them back; returns by how many."""
    total = 0
    for k in range(len(said)):
        counts[said[k, 0]] += by * said[k, 1]
        total += by * said[k, 1]
    return total


@compiled
def burst_words(
    numbers: Array,
    last_day: Array,  # how often each word is said there,
    window: Array,  # and there
    last_day_total: int,
    window_total: int,
    floor: float,
) -> tuple[Array, Array]:
    """Those of some words that the last day says, and B(t) of each."""
    kept, heights, size = np.empty(len(numbers), np.int64), np.empty(len(numbers)), 0
    last_day_total, window_total = max(1, last_day_total), max(1, window_total)
    for word in numbers:
        if last_day[word] > 0:
            kept[size] = word
            heights[size] = burst(
                last_day[word] / last_day_total, window[word] / window_total, floor
            )
            size += 1
    return kept[:size], heights[:size]
