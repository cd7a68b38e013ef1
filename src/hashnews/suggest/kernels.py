"""The inner loops over the memory, compiled.

They add what they find to a table of evidence, one row a hashtag, one column a kind of evidence
(`Evidence` in `past.py` names them). `limit` is the first row that is not yet past for everybody,
`limit_own` the first that is not past for the author.
"""

from __future__ import annotations

import math

import numpy as np

from hashnews.arrays import Array, compiled, decay


@compiled
def similarities(
    query: Array, starts: Array, rows: Array, limit: int, limit_own: int,
    user: Array, author: int, lengths: Array, similar: Array, touched: Array,
) -> int:  # fmt: skip
    """sim(p, r) = sum of IDF(t)^2 over the terms of both / the sum over those of p, by length.

    The last factor is sqrt(|p| / |r|). IDF(t) = ln((N + 1) / (n + 0.5)) of the rows before `limit`;
    a term that only the future knows is no term. Returns how many rows were touched.
    """
    size, known, total = 0, 0, 0.0
    for term in query:
        first, last = starts[term], starts[term + 1]
        before = first + np.searchsorted(rows[first:last], limit)
        if before > first:
            known += 1
            weight = math.log((limit + 1) / (before - first + 0.5)) ** 2
            total += weight
            for at in range(first, last):
                row = rows[at]
                if row >= limit_own:
                    break
                if at < before or user[row] == author:
                    if similar[row] == 0.0:
                        touched[size] = row
                        size += 1
                    similar[row] += weight
    for at in range(size):
        row = touched[at]
        similar[row] *= math.sqrt(known / lengths[row]) / total
    return size


@compiled
def add_neighbours(
    rows: Array, similar: Array, ages: Array, user: Array, author: int, tag_starts: Array,
    tags: Array, inline: Array, columns: Array, evidence: Array, seen: Array, size: int,
) -> int:  # fmt: skip
    """What the most similar rows, best first, say: sums, the best, its rank, how many."""
    summed, within, best, rank, count, fresh = columns
    for at in range(len(rows)):
        row = rows[at]
        own = author >= 0 and user[row] == author
        for place in range(tag_starts[row], tag_starts[row + 1]):
            tag = tags[place]
            size = _see(tag, evidence, seen, size)
            vote = similar[at] ** 2 * decay(ages[at], 14.0)
            if inline[place]:
                evidence[tag, within] += vote
            else:
                evidence[tag, summed] += vote
            evidence[tag, best] = max(evidence[tag, best], similar[at])
            evidence[tag, rank] = max(evidence[tag, rank], 1.0 / (1 + at))
            if not own:
                evidence[tag, count] += 1
                vote = similar[at] * decay(ages[at], 2.0)
                evidence[tag, fresh] = max(evidence[tag, fresh], vote)
    return size


@compiled
def _see(tag: int, evidence: Array, seen: Array, size: int) -> int:
    """Note that a hashtag has evidence; the first column says so."""
    if evidence[tag, 0] == 0.0:
        evidence[tag, 0] = 1.0
        seen[size] = tag
        size += 1
    return size


@compiled
def add_author(
    rows: Array, similar: Array, ages: Array, tag_starts: Array, tags: Array, inline: Array,
    columns: Array, evidence: Array, seen: Array, size: int,
) -> int:  # fmt: skip
    """What the author did: rows oldest first, similarity of each, ages in days."""
    trailing, within, week, season, latest, last, best, summed, streak = columns
    posts = len(rows)
    for at in range(posts):
        row = rows[at]
        for place in range(tag_starts[row], tag_starts[row + 1]):
            tag = tags[place]
            size = _see(tag, evidence, seen, size)
            evidence[tag, within if inline[place] else trailing] += 1
            evidence[tag, week] += decay(ages[at], 4.0)
            evidence[tag, season] += decay(ages[at], 40.0)
            evidence[tag, latest] = 1.0 / (1.0 + 24 * ages[at])
            if at >= posts - 5:
                evidence[tag, last] += 1
            if at == posts - 1:
                evidence[tag, streak] = 1
            evidence[tag, best] = max(evidence[tag, best], similar[at])
            evidence[tag, summed] += similar[at] ** 2
    return size


@compiled
def add_recent(
    first: int, limit: int, ages: Array, tag_starts: Array, tags: Array, inline: Array,
    columns: Array, evidence: Array, seen: Array, size: int,
) -> int:  # fmt: skip
    """Uses within six hours, one, three and seven days and four weeks; `ages` from `first` on."""
    hours, day, three, week, month, within = columns
    for row in range(first, limit):
        age = ages[row - first]
        for place in range(tag_starts[row], tag_starts[row + 1]):
            tag = tags[place]
            size = _see(tag, evidence, seen, size)
            if inline[place]:
                if age <= 7:
                    evidence[tag, within] += 1
                continue
            evidence[tag, month] += 1
            if age <= 7:
                evidence[tag, week] += 1
            if age <= 3:
                evidence[tag, three] += 1
            if age <= 1:
                evidence[tag, day] += 1
            if age <= 0.25:
                evidence[tag, hours] += 1
    return size


@compiled
def _before(values: Array, first: int, last: int, limit: int) -> int:
    """Where a list in `values[first:last]` reaches `limit`."""
    return int(first + np.searchsorted(values[first:last], limit))


@compiled
def kindred(
    own: Array, author: int, limit: int, tag_starts: Array, tags: Array, use_starts: Array,
    use_row: Array, use_user: Array, user_starts: Array, user_rows: Array, kinship: Array,
    touched: Array,
) -> int:  # fmt: skip
    """How much other authors are like this one: hashtags both used, rare ones counting more.

    kin(u, v) = sum over the uses by v of hashtags h of u of IDF(h) / sqrt(|posts of v| + 5)
    """
    size = 0
    for row in own[max(0, len(own) - 60) :]:
        for place in range(tag_starts[row], tag_starts[row + 1]):
            tag = tags[place]
            first = use_starts[tag]
            last = _before(use_row, first, use_starts[tag + 1], limit)
            weight = math.log((limit + 1) / (last - first + 0.5))
            for at in range(max(first, last - 100), last):
                other = use_user[at]
                if other >= 0 and other != author:
                    if kinship[other] == 0.0:
                        touched[size] = other
                        size += 1
                    kinship[other] += weight
    for at in range(size):
        other = touched[at]
        first = user_starts[other]
        posts = _before(user_rows, first, user_starts[other + 1], limit) - first
        kinship[other] /= math.sqrt(posts + 5.0)
    return size


@compiled
def add_kindred(
    others: Array, kinship: Array, limit: int, moment: int, day: int, times: Array,
    user_starts: Array, user_rows: Array, tag_starts: Array, tags: Array, inline: Array,
    column: int, evidence: Array, seen: Array, size: int,
) -> int:  # fmt: skip
    """What kindred authors used lately, each by how kindred."""
    for at in range(len(others)):
        other = others[at]
        first = user_starts[other]
        last = _before(user_rows, first, user_starts[other + 1], limit)
        for row in user_rows[max(first, last - 20) : last]:
            vote = kinship[at] * decay((moment - times[row]) / day, 3.0)
            for place in range(tag_starts[row], tag_starts[row + 1]):
                tag = tags[place]
                size = _see(tag, evidence, seen, size)
                evidence[tag, column] += vote * (0.5 if inline[place] else 1.0)
    return size


@compiled
def add_together(
    given: Array, weights: Array, limit: int, use_starts: Array, use_row: Array,
    tag_starts: Array, tags: Array, inline: Array, column: int, evidence: Array, seen: Array,
    size: int,
) -> int:  # fmt: skip
    """P(h | g) over the last uses of the given hashtags g, weighted: what is used with them."""
    for at in range(len(given)):
        first = use_starts[given[at]]
        last = _before(use_row, first, use_starts[given[at] + 1], limit)
        first = max(first, last - 200)
        for use in range(first, last):
            row = use_row[use]
            for place in range(tag_starts[row], tag_starts[row + 1]):
                tag = tags[place]
                if tag != given[at] and not inline[place]:
                    size = _see(tag, evidence, seen, size)
                    evidence[tag, column] += weights[at] / (last - first + 3.0)
    return size


@compiled
def describe(
    chosen: Array, limit: int, moment: int, day: int, times: Array, similar: Array,
    use_starts: Array, use_row: Array, use_user: Array, use_inline: Array, author: int, out: Array,
) -> None:  # fmt: skip
    """What is known of each chosen hashtag: its past uses by anybody (`STATISTICS` names them)."""
    week = 7 * day
    for n in range(len(chosen)):
        if chosen[n] < 0:
            continue
        first = use_starts[chosen[n]]
        last = _before(use_row, first, use_starts[chosen[n] + 1], limit)
        if last == first:
            continue
        start = max(first, last - 200)
        users, trailing, same_day, weekly, summed = 0, 0, 0, 0, 0.0
        best, second, third = 0.0, 0.0, 0.0
        mine = 0
        for use in range(start, last):
            row = use_row[use]
            trailing += 1 - use_inline[use]
            new = True
            for earlier in range(max(start, use - 30), use):
                if use_user[earlier] == use_user[use]:
                    new = False
                    break
            users += new
            if author >= 0 and use_user[use] == author:
                mine += 1
            age = moment - times[row]
            if abs((age + week // 2) % week - week // 2) < day // 2:
                weekly += 1
                same_day += age > day
            likeness = similar[row]
            summed += likeness
            if likeness > best:
                best, second, third = likeness, best, second
            elif likeness > second:
                second, third = likeness, second
            elif likeness > third:
                third = likeness
        read = last - start
        out[n, 0] = last - first
        out[n, 1] = trailing / read
        out[n, 2] = users
        out[n, 3] = users / read
        out[n, 4] = (moment - times[use_row[last - 1]]) / day
        out[n, 5] = (moment - times[use_row[first]]) / day
        out[n, 6] = weekly / read
        out[n, 7] = same_day
        out[n, 8] = summed / read
        out[n, 9] = (best + second + third) / 3
        out[n, 10] = mine / read
