"""Scores of articles and the best of them, compiled.

Posting lists live in pools: `docs` and `counts` hold all lists one after the other, a list is where
it begins and how long it is. Days count back from the post's own: day 0 is the post's day, of which
only the articles before the post are there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hashnews.arrays import Array, compiled
from hashnews.retrieve.equations import idf, temporal_popularity, term_frequency, weight

BINS = 1024  # of scores
LEAST = 1e-300  # less is no score


@compiled
def _before(docs: Array, start: int, size: int, clip: int) -> int:
    """How many of a list's articles come before position `clip`."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if docs[start + middle] < clip:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def window_weights(
    rows: Array,
    list_sizes: Array,
    firsts: Array,
    idf_reference: Array,
    articles: Array,  # of each window
    spans: Array,
    by_popularity: float,
    by_rarity: float,
    cap: float,
) -> Array:
    """The weight of each term in each window; 0 where the window does not hold it."""
    weights = np.zeros((len(rows), len(spans)))
    for window in range(len(spans)):
        for term in range(len(rows)):
            n = firsts[term] + list_sizes[rows[term], 1 : spans[window] + 1].sum()
            if n > 0:
                rarity = idf(articles[window], n)
                popularity = temporal_popularity(idf_reference[rows[term]], rarity, cap)
                weights[term, window] = weight(popularity, rarity, by_popularity, by_rarity)
    return weights


@compiled
def score_windows(
    rows: Array,  # of the post's terms
    moment: int,  # the post's time
    list_starts: Array,  # terms x days, in `docs` and `counts`
    list_sizes: Array,
    idf_reference: Array,  # of each term
    docs: Array,  # the pool: articles,
    counts: Array,  # how often each holds the term,
    lengths: Array,  # and how long it is
    times: Array,  # of the articles of the post's day
    before: Array,  # the sum of lengths of the articles before each of them
    day_sizes: Array,
    day_lengths: Array,
    day_starts: Array,  # the place of each day's first article in the window, in order of time
    freshness: Array,  # a factor of each article of the window
    spans: Array,  # days back of each window, growing
    takes: Array,  # articles each window gives
    by_popularity: float,
    by_rarity: float,
    cap: float,
    a: float,
    b: float,
    scores: Array,  # scratch: zeros, windows x articles
    given: Array,  # out: day, place, score and window (from 1 on) of each article
) -> int:
    """The best articles of nested windows, none twice; gives how many there are.

    s(p, d | D_i) = sum over e of weight(e, D_i) f (a + 1) / (f + a (1 - b + b |d| / E[|d|]))
    times the article's freshness, which is 1 in the paper. Ties go to the later article.
    """
    if len(rows) == 0:
        return 0
    terms, windows, last = len(rows), len(spans), len(spans) - 1
    today = int(np.searchsorted(times, moment))  # articles that are out before the post
    firsts = np.empty(terms, np.int64)  # how much of each term's list of day 0 is before the post
    for term in range(terms):
        row = rows[term]
        firsts[term] = _before(docs, list_starts[row, 0], list_sizes[row, 0], today)
    articles = np.empty(windows, np.int64)
    mean_lengths = np.ones(windows)
    for window in range(windows):
        span = spans[window]
        articles[window] = today + day_sizes[1 : span + 1].sum()
        length = before[today] + day_lengths[1 : span + 1].sum()
        if length > 0:
            mean_lengths[window] = length / articles[window]
    weights = window_weights(
        rows, list_sizes, firsts, idf_reference, articles, spans, by_popularity, by_rarity, cap
    )
    parts = np.empty(scores.shape[1])
    touched = np.empty(scores.shape[1] + 1, np.int64)  # articles with a score, the post's day first
    sizes = np.zeros(windows, np.int64)  # how many of them each window holds
    size, first = 0, 0  # the smallest window that reaches back to this day
    for day in range(spans[last] + 1):
        while spans[first] < day:
            first += 1
        for term in range(terms):
            start = list_starts[rows[term], day]
            end = start + (firsts[term] if day == 0 else list_sizes[rows[term], day])
            for window in range(first, windows):
                # In two loops: the first is done several postings at a time.
                for k in range(end - start):
                    f, length = counts[start + k], lengths[start + k]
                    part = term_frequency(f, length, mean_lengths[window], a, b)
                    parts[k] = weights[term, window] * part
                if window < last:
                    for k in range(end - start):
                        scores[window, day_starts[day] + docs[start + k]] += parts[k]
                else:
                    for k in range(end - start):
                        place = day_starts[day] + docs[start + k]
                        touched[size] = place
                        size += scores[last, place] == 0
                        scores[last, place] += parts[k]
        sizes[first:] = size
    # Window i may lose its best to the windows before it, so it keeps as many as all of them take.
    needs = np.cumsum(takes)
    held = np.zeros(windows, np.int64)
    top_score = np.zeros((windows, needs[last]))
    top_place = np.empty((windows, needs[last]), np.int64)
    for window in range(windows):
        held[window] = _best(
            scores[window], touched[: sizes[window]], freshness, parts, needs[window],
            top_score[window], top_place[window],
        )  # fmt: skip
    return _take(held, takes, top_score, top_place, day_starts, given)


@compiled
def _best(
    scores: Array, places: Array, freshness: Array, values: Array, most: int,
    top_score: Array, top_place: Array,
) -> int:  # fmt: skip
    """Keep the best of some articles, best first, and set their scores to 0; gives how many.

    Scores are counted in bins, so that only those in the bins of the best are put in order.
    """
    highest = 0.0
    for k in range(len(places)):
        values[k] = scores[places[k]] * freshness[places[k]]
        scores[places[k]] = 0
        highest = max(highest, values[k])
    if highest < LEAST:
        return 0
    bins, scale = np.zeros(BINS, np.int32), (BINS - 1) / highest
    for k in range(len(places)):
        bins[int(values[k] * scale)] += 1
    held, lowest = 0, BINS
    while held < min(most, len(places)):
        lowest -= 1
        held, bins[lowest] = held + bins[lowest], held  # now where the bin begins
    kept, kept_places = np.empty(held), np.empty(held, np.int64)
    for k in range(len(places)):
        number = int(values[k] * scale)
        if number >= lowest:
            kept[bins[number]], kept_places[bins[number]] = values[k], places[k]
            bins[number] += 1
    size = 0  # of those in order; ties may be many, so no more are kept than are wanted
    for k in range(held):
        value, place, at = kept[k], kept_places[k], size
        while at > 0 and (
            top_score[at - 1] < value or (top_score[at - 1] == value and top_place[at - 1] < place)
        ):
            at -= 1
            if at + 1 < most:
                top_score[at + 1], top_place[at + 1] = top_score[at], top_place[at]
        if at < most:
            top_score[at], top_place[at] = value, place
            size = min(size + 1, most)
    return size


@compiled
def score_posts(
    rows: Array, row_starts: Array, moments: Array, given: Array, sizes: Array, *others: Any
) -> None:
    """`score_windows` for posts of one day; `given` has a row for each."""
    for post in range(len(moments)):
        sizes[post] = score_windows(  # type: ignore[call-arg]  # `others` are its arguments
            rows[row_starts[post] : row_starts[post + 1]], moments[post], *others, given[post]
        )


@compiled
def _take(
    held: Array, takes: Array, top_score: Array, top_place: Array, day_starts: Array, given: Array
) -> int:
    """Each window gives its best that no window before it gave."""
    size = 0
    for window in range(len(takes)):
        start = size
        for k in range(held[window]):
            if size - start == takes[window]:
                break
            day = 0
            while day_starts[day] > top_place[window, k]:
                day += 1
            doc = top_place[window, k] - day_starts[day]
            taken = False
            for other in range(start):
                if given[other, 0] == day and given[other, 1] == doc:
                    taken = True
            if not taken:
                given[size, 0], given[size, 1] = day, doc
                given[size, 2], given[size, 3] = top_score[window, k], window + 1
                size += 1
    return size
