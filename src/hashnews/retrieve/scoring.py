"""Scores of articles and the best of them, compiled.

Days count back from the post's own: day 0 is the post's day, of which only the articles before the
post are there. A *place* is where an article stands in the timeline of all these days.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array, compiled, highest_first, lower_bound
from hashnews.index.postings import COUNT, DOC, LENGTH, TermLists
from hashnews.index.windows import Timeline
from hashnews.retrieve.equations import idf, score_part, temporal_popularity, weight, window

LEAST = 1e-300  # less is no score


class Windows(NamedTuple):
    """Nested windows."""

    spans: Array  # days back of each, growing
    takes: Array  # articles each gives


class Weighting(NamedTuple):
    """weight(e, D_i) = TP^x IDF^y with TP at most `cap`, and BM25's a and b."""

    by_popularity: float
    by_idf: float
    cap: float
    a: float
    b: float


@compiled
def score_posts(
    rows: Array,
    row_starts: Array,
    moments: Array,
    lists: TermLists,
    reference_idfs: Array,
    pool: Array,
    timeline: Timeline,
    windows: Windows,
    weighting: Weighting,
    scores: Array,
    given: Array,  # out: posts x articles x 4
    sizes: Array,  # out: how many articles each post gets
) -> None:
    """`score_windows` for posts of one day."""
    values, touched = np.empty(scores.shape[1]), np.empty(scores.shape[1] + 1, np.int64)
    for post in range(len(moments)):
        sizes[post] = score_windows(
            rows[row_starts[post] : row_starts[post + 1]], moments[post], lists, reference_idfs,
            pool, timeline, windows, weighting, scores, values, touched, given[post],
        )  # fmt: skip


@compiled
def score_windows(
    rows: Array,  # of the post's terms
    moment: int,  # the post's time
    lists: TermLists,
    reference_idfs: Array,  # IDF(e, R) of each row
    pool: Array,
    timeline: Timeline,
    windows: Windows,
    weighting: Weighting,
    scores: Array,  # scratch: zeros, windows x articles
    values: Array,  # scratch, one an article
    touched: Array,  # scratch, one an article and one more: places with a score, later days first
    given: Array,  # out: day, place in the day, score and window (from 1 on) of each article
) -> int:
    """The best articles of nested windows, none twice; returns how many there are.

    s(p, d | D_i) is multiplied by the freshness of d, which is 1 in the paper. Ties go to the later
    article.
    """
    if len(rows) == 0:
        return 0
    spans, day_starts = windows.spans, timeline.day_starts
    count, last = len(spans), len(spans) - 1
    # How many articles D_i holds, and 1 / E[|d|].
    articles, per_length, end = np.empty(count, np.int64), np.ones(count), 0
    for i in range(count):
        begin, end = window(timeline.times, timeline.day, spans[i], moment)
        articles[i] = end - begin
        length = timeline.length_sums[end] - timeline.length_sums[begin]
        if length > 0:
            per_length[i] = articles[i] / length
    firsts = np.empty(len(rows), np.int64)  # how much of each list of day 0 is before the post
    for term in range(len(rows)):
        start, size = lists.starts[rows[term], 0], lists.sizes[rows[term], 0]
        firsts[term] = lower_bound(pool[start : start + size, DOC], end - day_starts[0])
    weights = window_weights(rows, lists.sizes, firsts, reference_idfs, articles, spans, weighting)
    sizes = np.zeros(count, np.int64)  # how many of them each window holds
    size, smallest, new = 0, 0, 0  # the smallest window that reaches back to this day
    for day in range(spans[last] + 1):
        while spans[smallest] < day:
            smallest += 1
        for term in range(len(rows)):
            start = lists.starts[rows[term], day]
            stop = start + (firsts[term] if day == 0 else lists.sizes[rows[term], day])
            for i in range(smallest, count):  # the last window, which holds all, says what is new
                new = _add_parts(
                    weights[term, i], pool[start:stop], day_starts[day], per_length[i],
                    weighting.a, weighting.b, scores[i], touched[size:],
                )  # fmt: skip
            size += new
        sizes[smallest:] = size
    # Window i may lose its best to the windows before it, so it keeps as many as all of them take.
    needs = np.cumsum(windows.takes)
    held = np.zeros(count, np.int64)
    top_score = np.zeros((count, needs[last]))
    top_place = np.empty((count, needs[last]), np.int64)
    for i in range(count):
        held[i] = _best(
            scores[i], touched[: sizes[i]], timeline.freshness, values, needs[i],
            top_score[i], top_place[i],
        )  # fmt: skip
    return _take(held, windows.takes, top_score, top_place, day_starts, given)


@compiled
def _add_parts(
    of_e: float, postings: Array, first: int, per_length: float, a: float, b: float,
    scores: Array, touched: Array,
) -> int:  # fmt: skip
    """Add what a term gives to articles; returns how many had no score, whose places it notes."""
    size = 0
    for k in range(len(postings)):
        place = first + postings[k, DOC]
        touched[size] = place
        size += scores[place] == 0
        length = postings[k, LENGTH] * per_length  # in mean lengths: there is no quicker division
        scores[place] += score_part(of_e, postings[k, COUNT], length, 1.0, a, b)
    return size


@compiled
def window_weights(
    rows: Array,
    list_sizes: Array,
    firsts: Array,
    reference_idfs: Array,
    articles: Array,  # of each window
    spans: Array,
    weighting: Weighting,
) -> Array:
    """weight(e, D_i) of each term in each window; 0 where the window does not hold it."""
    weights = np.zeros((len(rows), len(spans)))
    for i in range(len(spans)):
        for term in range(len(rows)):
            n = firsts[term] + list_sizes[rows[term], 1 : spans[i] + 1].sum()
            if n > 0:
                idf_window = idf(articles[i], n)
                tp = temporal_popularity(reference_idfs[rows[term]], idf_window, weighting.cap)
                weights[term, i] = weight(tp, idf_window, weighting.by_popularity, weighting.by_idf)
    return weights


@compiled
def _best(
    scores: Array, places: Array, freshness: Array, values: Array, most: int,
    top_score: Array, top_place: Array,
) -> int:  # fmt: skip
    """Keep the best of some articles, best first, and set their scores to 0; returns how many."""
    highest = 0.0
    for k in range(len(places)):
        values[k] = scores[places[k]] * freshness[places[k]]
        scores[places[k]] = 0
        highest = max(highest, values[k])
    if highest < LEAST:
        return 0
    kept = highest_first(values[: len(places)], highest, most)
    size = 0  # of those in order; ties may be many, so no more are kept than are wanted
    for k in kept:
        value, place, at = values[k], places[k], size
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
def _take(
    held: Array, takes: Array, top_score: Array, top_place: Array, day_starts: Array, given: Array
) -> int:
    """Each window gives its best that no window before it gave."""
    size = 0
    for i in range(len(takes)):
        start = size
        for k in range(held[i]):
            if size - start == takes[i]:
                break
            day = 0
            while day_starts[day] > top_place[i, k]:
                day += 1
            doc = top_place[i, k] - day_starts[day]
            taken = False
            for other in range(start):
                if given[other, 0] == day and given[other, 1] == doc:
                    taken = True
            if not taken:
                given[size, 0], given[size, 1] = day, doc
                given[size, 2], given[size, 3] = top_score[i, k], i + 1
                size += 1
    return size
