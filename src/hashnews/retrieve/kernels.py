"""The inner loops, compiled.

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
def align_codes(x: Array, y: Array) -> float:
    """`hashnews.text.match.align` over arrays of character codes."""
    if len(x) == len(y) and np.all(x == y):
        return 1.0
    longer = max(len(x), len(y))
    best = 0
    above = np.zeros(len(y) + 1, np.int32)
    for i in range(len(x)):
        diagonal, left = 0, 0
        for j in range(len(y)):
            cell = diagonal + (2 if x[i] == y[j] else -1)
            cell = max(0, cell, left - 1, above[j + 1] - 1)
            diagonal, above[j + 1], left = above[j + 1], cell, cell
            best = max(best, cell)
    return best / (2 * longer)


@compiled
def _same(x: int, y: int, t: float, codes: Array, code_starts: Array) -> bool:
    if x == y:
        return True
    if t == 1.0:
        return False
    a = codes[code_starts[x] : code_starts[x + 1]]
    b = codes[code_starts[y] : code_starts[y + 1]]
    longer = max(len(a), len(b))
    # Two tokens of very different length cannot align; nor do very long ones (match.LONGEST).
    if min(len(a), len(b)) < t * longer or longer > 100:
        return False
    return bool(align_codes(a, b) >= t)


@compiled
def absorbed_slots(
    doc_starts: Array,  # slots of each article, article by article
    surface: Array,  # of each slot
    counts: Array,  # mentions of each slot
    token_starts: Array,  # tokens of each surface
    tokens: Array,
    codes: Array,  # letters of each token
    code_starts: Array,
    t: float,
    q: float,
) -> tuple[Array, Array, Array]:
    """For each slot the other slots of its article that strictly match it, and f if it matches.

    f = |M^soft| where this slot's surface is the article's only strict match of an entity.
    """
    slots = len(surface)
    f = np.zeros(slots, np.int64)
    starts = np.zeros(slots + 1, np.uint32)
    found = np.empty(max(16, slots), np.uint32)
    size = 0
    for doc in range(len(doc_starts) - 1):
        for whole in range(doc_starts[doc], doc_starts[doc + 1]):
            f[whole] = counts[whole]
            w0, w1 = token_starts[surface[whole]], token_starts[surface[whole] + 1]
            for part in range(doc_starts[doc], doc_starts[doc + 1]):
                if part == whole:
                    continue
                p0, p1 = token_starts[surface[part]], token_starts[surface[part] + 1]
                matched = 0
                for x in range(p0, p1):
                    for y in range(w0, w1):
                        if _same(tokens[x], tokens[y], t, codes, code_starts):
                            matched += 1
                            break
                if matched / (p1 - p0) >= q:
                    f[whole] += counts[part]
                    if size == len(found):
                        found = np.concatenate((found, np.empty(size, np.uint32)))
                    found[size] = part
                    size += 1
            starts[whole + 1] = size
    return starts, found[:size].copy(), f


@compiled
def strict_surfaces(
    matching: Array,  # places of the tokens that align, those of one entity token together
    sizes: Array,  # how many each entity token has, where it has any
    token_starts: Array,  # surfaces of each token
    token_surfaces: Array,
    hits: Array,  # scratch: zeros, one a surface
    tokens: int,  # of the entity
    q: float,
) -> Array:
    """The surfaces that an entity strictly matches (Definition 1)."""
    touched = np.empty(len(hits), np.uint32)
    seen_for = np.full(len(hits), -1, np.int32)
    count, at = 0, 0
    for token in range(len(sizes)):
        for _ in range(sizes[token]):
            place = matching[at]
            at += 1
            for k in range(token_starts[place], token_starts[place + 1]):
                surface = token_surfaces[k]
                if seen_for[surface] != token:
                    seen_for[surface] = token
                    if hits[surface] == 0:
                        touched[count] = surface
                        count += 1
                    hits[surface] += 1
    kept = 0
    for k in range(count):
        surface = touched[k]
        if hits[surface] / tokens >= q:
            touched[kept] = surface
            kept += 1
        hits[surface] = 0
    return touched[:kept]


@compiled
def soft_postings(
    surfaces: Array,
    surface_starts: Array,  # slots of each surface
    slot_docs: Array,
    slot_counts: Array,
    slot_f: Array,
    absorbed_starts: Array,
    absorbed: Array,
    docs: Array,  # out
    counts: Array,  # out
) -> int:
    """Articles with a strict match, in order, and |M^soft| in each; gives how many there are."""
    total = 0
    for surface in surfaces:
        total += surface_starts[surface + 1] - surface_starts[surface]
    slots = np.empty(total, np.uint32)
    at = 0
    for surface in surfaces:
        for slot in range(surface_starts[surface], surface_starts[surface + 1]):
            slots[at] = slot
            at += 1
    if len(surfaces) > 1:
        slots = slots[np.argsort(slot_docs[slots], kind="mergesort")]
    size, at = 0, 0
    while at < total:
        doc, first = slot_docs[slots[at]], at
        while at < total and slot_docs[slots[at]] == doc:
            at += 1
        docs[size] = doc
        if at - first == 1:
            counts[size] = slot_f[slots[first]]
        else:
            counts[size] = _union(slots[first:at], slot_counts, absorbed_starts, absorbed)
        size += 1
    return size


@compiled
def _union(slots: Array, slot_counts: Array, absorbed_starts: Array, absorbed: Array) -> int:
    """Mentions that strictly match any of several slots of one article."""
    matched = set(slots)
    for slot in slots:
        for k in range(absorbed_starts[slot], absorbed_starts[slot + 1]):
            matched.add(absorbed[k])
    total = 0
    for slot in matched:
        total += slot_counts[slot]
    return total


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
    day_sizes: Array,
    spans: Array,
    by_popularity: float,
    by_rarity: float,
    cap: float,
) -> Array:
    """The weight of each term in each window; 0 where the window does not hold it."""
    weights = np.zeros((len(rows), len(spans)))
    for window in range(len(spans)):
        size = day_sizes[: spans[window] + 1].sum()
        for term in range(len(rows)):
            n = firsts[term] + list_sizes[rows[term], 1 : spans[window] + 1].sum()
            if n > 0:
                rarity = idf(size, n)
                popularity = temporal_popularity(idf_reference[rows[term]], rarity, cap)
                weights[term, window] = weight(popularity, rarity, by_popularity, by_rarity)
    return weights


@compiled
def score_windows(
    rows: Array,  # the query's terms
    list_starts: Array,  # of each term, the list of each day
    list_sizes: Array,
    idf_reference: Array,  # of each term
    docs: Array,
    counts: Array,
    day_sizes: Array,  # articles of each day that are before the post
    day_lengths: Array,  # and the sum of their lengths
    length_starts: Array,  # of each day, in `lengths`
    lengths: Array,
    freshness: Array,  # a factor of each article, as `lengths`
    spans: Array,  # days back of each window, growing
    takes: Array,  # articles each window gives
    by_popularity: float,
    by_rarity: float,
    cap: float,
    a: float,
    b: float,
    scores: Array,  # scratch: zeros, articles of a day x windows
) -> tuple[int, Array, Array, Array, Array]:
    """The best articles of nested windows, none twice: their number, day, place, score, window.

    s(p, d | D_i) = sum over e of weight(e, D_i) f (a + 1) / (f + a (1 - b + b |d| / E[|d|]))
    times the article's freshness, which is 1 in the paper. Ties go to the later article.
    """
    terms, windows, last = len(rows), len(spans), len(spans) - 1
    firsts = np.empty(terms, np.int64)  # how much of each term's list of day 0 is before the post
    for term in range(terms):
        row = rows[term]
        firsts[term] = _before(docs, list_starts[row, 0], list_sizes[row, 0], day_sizes[0])
    weights = window_weights(
        rows, list_sizes, firsts, idf_reference, day_sizes, spans, by_popularity, by_rarity, cap
    )
    inverse = np.ones(windows)  # of the mean length: one division less for every posting
    for window in range(windows):
        length = day_lengths[: spans[window] + 1].sum()
        if length > 0:
            inverse[window] = day_sizes[: spans[window] + 1].sum() / length
    # Window i may lose its best to the windows before it, so it keeps as many as all of them take.
    needs = np.cumsum(takes)
    held, worst = np.zeros(windows, np.int64), np.zeros(windows)
    top_score = np.zeros((windows, needs[last]))
    top_day = np.zeros((windows, needs[last]), np.int64)
    top_doc = np.zeros((windows, needs[last]), np.int64)
    touched = np.empty(len(scores), np.int64)
    for day in range(spans[last] + 1):
        size, first = 0, 0  # `first`: the smallest window that reaches back to this day
        while spans[first] < day:
            first += 1
        for term in range(terms):
            start = list_starts[rows[term], day]
            end = start + (firsts[term] if day == 0 else list_sizes[rows[term], day])
            for k in range(start, end):
                doc = docs[k]
                if scores[doc, last] == 0:
                    touched[size] = doc
                    size += 1
                length = lengths[length_starts[day] + doc]
                for window in range(first, windows):
                    part = term_frequency(counts[k], length * inverse[window], 1.0, a, b)
                    scores[doc, window] += weights[term, window] * part
        for k in range(size):
            doc = touched[k]
            for window in range(first, windows):
                score = scores[doc, window] * freshness[length_starts[day] + doc]
                scores[doc, window] = 0
                if held[window] < needs[window] or score >= worst[window]:
                    held[window] = _keep(
                        score, day, doc, top_score[window], top_day[window], top_doc[window],
                        held[window], needs[window],
                    )  # fmt: skip
                    worst[window] = top_score[window, 0]
    for window in range(windows):
        _sort(held[window], needs[window], top_score[window], top_day[window], top_doc[window])
    return _take(held, takes, top_score, top_day, top_doc)


@compiled
def _is_worse(score: float, day: int, doc: int, s: float, d: int, place: int) -> bool:
    """Whether an article ranks below another: by score, then the earlier one does."""
    if score != s:
        return bool(score < s)
    return bool(day > d or (day == d and doc < place))


@compiled
def _sink(at: int, size: int, scores: Array, days: Array, docs: Array) -> None:
    """Let an article of a heap (the worst on top) sink to where it belongs."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        other = child + 1
        if other < size and _is_worse(
            scores[other], days[other], docs[other], scores[child], days[child], docs[child]
        ):
            child = other
        if _is_worse(scores[at], days[at], docs[at], scores[child], days[child], docs[child]):
            return
        scores[at], scores[child] = scores[child], scores[at]
        days[at], days[child] = days[child], days[at]
        docs[at], docs[child] = docs[child], docs[at]
        at = child


@compiled
def _keep(
    score: float, day: int, doc: int, scores: Array, days: Array, docs: Array, held: int, most: int
) -> int:
    """Put an article among the best where it belongs there; gives how many there are."""
    if held < most:
        scores[held], days[held], docs[held] = score, day, doc
        if held + 1 == most:
            for at in range(most // 2, -1, -1):
                _sink(at, most, scores, days, docs)
        return held + 1
    if _is_worse(scores[0], days[0], docs[0], score, day, doc):
        scores[0], days[0], docs[0] = score, day, doc
        _sink(0, most, scores, days, docs)
    return held


@compiled
def _sort(size: int, most: int, scores: Array, days: Array, docs: Array) -> None:
    """Bring the best into order, best first."""
    if size < most:
        for at in range(size // 2, -1, -1):
            _sink(at, size, scores, days, docs)
    for end in range(size - 1, 0, -1):
        scores[0], scores[end] = scores[end], scores[0]
        days[0], days[end] = days[end], days[0]
        docs[0], docs[end] = docs[end], docs[0]
        _sink(0, end, scores, days, docs)


@compiled
def _take(
    held: Array, takes: Array, top_score: Array, top_day: Array, top_doc: Array
) -> tuple[int, Array, Array, Array, Array]:
    """Each window gives its best that no window before it gave."""
    total = takes.sum()
    days, docs = np.empty(total, np.int64), np.empty(total, np.int64)
    scores, windows = np.empty(total), np.empty(total, np.int64)
    size = 0
    for window in range(len(takes)):
        given = 0
        for k in range(held[window]):
            if given == takes[window]:
                break
            taken = False
            for other in range(size):
                if days[other] == top_day[window, k] and docs[other] == top_doc[window, k]:
                    taken = True
            if not taken:
                days[size], docs[size] = top_day[window, k], top_doc[window, k]
                scores[size], windows[size] = top_score[window, k], window
                size += 1
                given += 1
    return size, days, docs, scores, windows


@compiled
def run_lengths(repeated: Array, docs: Array, counts: Array) -> int:
    """A sorted list with repetitions as distinct values and how often each stands there."""
    size = 0
    for doc in repeated:
        if size > 0 and docs[size - 1] == doc:
            counts[size - 1] += 1
        else:
            docs[size] = doc
            counts[size] = 1
            size += 1
    return size


@compiled
def add_words(
    places: Array,  # articles of one day
    shares: Array,  # what each word of an article adds
    doc_starts: Array,
    doc_words: Array,
    numbers: Array,  # of the day's words, over all days
    weights: Array,  # zeros, one a word; grows
    touched: Array,  # out: the words that are no longer zero
    size: int,
) -> int:
    """Add the words of articles to weights; gives how many words are touched."""
    for k in range(len(places)):
        for at in range(doc_starts[places[k]], doc_starts[places[k] + 1]):
            number = numbers[doc_words[at]]
            if weights[number] == 0:
                touched[size] = number
                size += 1
            weights[number] += shares[k]
    return size


@compiled
def count_words(start: int, end: int, doc_words: Array, numbers: Array, counts: Array) -> None:
    """Count the words from one place of a day's articles to another."""
    for at in range(start, end):
        counts[numbers[doc_words[at]]] += 1
