"""Scores of articles and the best of them, compiled.

Posting lists live in pools: `docs` and `counts` hold all lists one after the other, a list is where
it begins and how long it is. Days count back from the post's own: day 0 is the post's day, of which
only the articles before the post are there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hashnews.retrieve.rank import compiled, idf, temporal_popularity, term_frequency, weight

Array = np.ndarray[Any, Any]


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
    day_starts: Array,  # of each day, in `freshness`
    freshness: Array,  # a factor of each article
    spans: Array,  # days back of each window, growing
    takes: Array,  # articles each window gives
    by_popularity: float,
    by_rarity: float,
    cap: float,
    a: float,
    b: float,
    scores: Array,  # scratch: zeros, windows x articles of a day
    given: Array,  # out: day, place, score and window of each article
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
    inverse = np.ones(windows)  # of the mean length: one division less for every posting
    for window in range(windows):
        span = spans[window]
        articles[window] = today + day_sizes[1 : span + 1].sum()
        length = before[today] + day_lengths[1 : span + 1].sum()
        if length > 0:
            inverse[window] = articles[window] / length
    weights = window_weights(
        rows, list_sizes, firsts, idf_reference, articles, spans, by_popularity, by_rarity, cap
    )
    # Window i may lose its best to the windows before it, so it keeps as many as all of them take.
    needs = np.cumsum(takes)
    held = np.zeros(windows, np.int64)
    top_score = np.zeros((windows, needs[last]))
    top_place = np.empty((windows, needs[last]), np.int64)
    parts, touched = np.empty(scores.shape[1]), np.empty(scores.shape[1], np.int64)
    first = 0  # the smallest window that reaches back to this day
    for day in range(spans[last] + 1):
        size = 0
        while spans[first] < day:
            first += 1
        for term in range(terms):
            start = list_starts[rows[term], day]
            end = start + (firsts[term] if day == 0 else list_sizes[rows[term], day])
            for window in range(first, windows):
                # In two loops: the first is done several postings at a time.
                for k in range(end - start):
                    length = lengths[start + k] * inverse[window]
                    part = term_frequency(counts[start + k], length, 1.0, a, b)
                    parts[k] = weights[term, window] * part
                if window == last:
                    for k in range(start, end):
                        if scores[last, docs[k]] == 0:
                            touched[size] = docs[k]
                            size += 1
                for k in range(end - start):
                    scores[window, docs[start + k]] += parts[k]
        for window in range(first, windows):
            most = needs[window]
            worst = top_score[window, most - 1]  # 0 as long as there is room
            for k in range(size):
                score = scores[window, touched[k]] * freshness[day_starts[day] + touched[k]]
                scores[window, touched[k]] = 0
                if score >= worst:
                    held[window] = _insert(
                        score, place_of(day, touched[k]), held[window], most,
                        top_score[window], top_place[window],
                    )  # fmt: skip
                    worst = top_score[window, most - 1]
    return _take(held, takes, top_score, top_place, given)


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
def place_of(day: int, doc: int) -> int:
    """An article's place as one number; the later the article, the greater it is."""
    return doc - (day << 32)


@compiled
def _insert(score: float, place: int, held: int, most: int, scores: Array, places: Array) -> int:
    """Put an article among the best, best first, ties to the later; gives how many there are."""
    low, high = 0, held  # among those that are better, or as good and later, or not
    while low < high:
        middle = (low + high) // 2
        if scores[middle] > score or (scores[middle] == score and places[middle] > place):
            low = middle + 1
        else:
            high = middle
    if low == most:
        return held
    for k in range(min(held, most - 1), low, -1):
        scores[k], places[k] = scores[k - 1], places[k - 1]
    scores[low], places[low] = score, place
    return min(held + 1, most)


@compiled
def _take(held: Array, takes: Array, top_score: Array, top_place: Array, given: Array) -> int:
    """Each window gives its best that no window before it gave."""
    size = 0
    for window in range(len(takes)):
        start = size
        for k in range(held[window]):
            if size - start == takes[window]:
                break
            place = top_place[window, k]
            doc = place & 0xFFFFFFFF
            day = (doc - place) >> 32
            taken = False
            for other in range(start):
                if given[other, 0] == day and given[other, 1] == doc:
                    taken = True
            if not taken:
                given[size, 0], given[size, 1] = day, doc
                given[size, 2], given[size, 3] = top_score[window, k], window
                size += 1
    return size
