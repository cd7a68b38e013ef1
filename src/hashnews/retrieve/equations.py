"""Section 2.1 and Appendix B of the paper on one page, one function per equation.

p is a post of day t, d an article, e an entity of the post, D_i the articles of window i, R the
reference corpus. These functions are compiled, and they are the ones that run: the index calls them
when it is built and when it is asked, the retrievers call them for every post.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hashnews.arrays import Array, compiled, lower_bound, starts_of
from hashnews.times import A_DAY

MATCH, MISMATCH, GAP = 2, -1, -1  # of Smith–Waterman
LONGEST = 100  # a longer token names nothing: it aligns with itself alone, and time stays bounded


# ----- Section 2.1: windows, temporal popularity, ranking -----


@compiled
def window(times: Array, t: int, i: int, moment: int) -> tuple[int, int]:
    """D_i = {d : 00:00 UTC of day t - i <= time of d < time of p}.

    `times` are those of articles in order; returns where D_i begins there and where it ends.
    """
    return lower_bound(times, (t - i) * A_DAY), lower_bound(times, moment)


@compiled
def idf(documents: int, matching: int) -> float:
    """IDF(e, D) = ln((N + 1) / (n + 0.5)): positive for every n <= N, finite at n = 0.

    N articles are in D, and in n of them M^strict(e, d) is not empty.
    """
    return math.log((documents + 1) / (matching + 0.5))


@compiled
def temporal_popularity(idf_reference: float, idf_window: float, cap: float) -> float:
    """TP(e, D_i) = IDF(e, R) / IDF(e, D_i), at most `cap`."""
    return min(cap, idf_reference / idf_window)


@compiled
def weight(tp: float, idf_window: float, by_popularity: float, by_idf: float) -> float:
    """TP(e, D_i)^x IDF(e, D_i)^y: the paper's ranking is x = 1, y = 0, BM25 is x = 0, y = 1."""
    return float(tp**by_popularity * idf_window**by_idf)


@compiled
def term_frequency(f: float, length: float, mean_length: float, a: float, b: float) -> float:
    """F (a + 1) / (f + a (1 - b + b |d| / E[|d|])) with f = |M^soft(e, d)|, as in BM25."""
    return f * (a + 1) / (f + a * (1 - b + b * length / mean_length))


@compiled
def score_part(
    of_e: float, f: float, length: float, mean_length: float, a: float, b: float
) -> float:
    """s(p, d | D_i) = sum over e of weight(e, D_i) term_frequency(e, d): what one e adds to it."""
    return of_e * term_frequency(f, length, mean_length, a, b)


@compiled
def add_context_weights(
    scores: Array,  # of articles h_i
    articles: Array,  # their numbers
    starts: Array,  # where the words of each article begin
    said: Array,  # each word of each article, by number, and freq(t, h_i)
    weights: Array,  # w_t, zeros at first
    touched: Array,  # out: the words that are no longer zero; room for one more
) -> int:
    """Eq. 1: w_t = sum over i of s(p, h_i | D_i) freq(t, h_i); returns how many words are touched.

    The scores are above 0.
    """
    size = 0
    for k in range(len(articles)):
        score = scores[k]
        for at in range(starts[articles[k]], starts[articles[k] + 1]):
            word, freq = said[at]
            touched[size] = word
            size += weights[word] == 0
            weights[word] += score * freq
    return size


# ----- Appendix B: entities that match -----


class Letters(NamedTuple):
    """The tokens of entities as character codes: token x is `codes[starts[x]:starts[x + 1]]`."""

    codes: Array
    starts: Array


def letters_of(tokens: Sequence[str]) -> Letters:
    """Tokens as character codes; of one token x, `letters_of([x]).codes` is what `align` takes."""
    text = "".join(tokens).encode("utf-32-le", "surrogatepass")
    sizes = np.array(list(map(len, tokens)), np.int64)
    return Letters(np.frombuffer(text, np.uint32), starts_of(sizes))


@compiled
def align(x: Array, y: Array) -> float:
    """Smith–Waterman over the best score of the longer token: SW(x, y) / (2 max(|x|, |y|)).

    A match counts +2, a mismatch and a gap −1: 1 for the same token, and `art` does not align with
    `party`. The tokens are arrays of character codes.
    """
    longer = max(len(x), len(y))
    if longer == 0 or longer > LONGEST:
        return 1.0 if len(x) == len(y) and np.all(x == y) else 0.0
    best, above = 0, np.zeros(len(y) + 1, np.int64)
    for i in range(len(x)):
        diagonal, left = 0, 0
        for j in range(len(y)):
            cell = diagonal + (MATCH if x[i] == y[j] else MISMATCH)
            cell = max(0, cell, left + GAP, above[j + 1] + GAP)
            diagonal, above[j + 1], left = above[j + 1], cell, cell
            best = max(best, cell)
    return best / (MATCH * longer)


@compiled
def aligned(x: int, y: int, letters: Letters, t: float) -> bool:
    """align(x, y) >= t, of tokens by number; as SW <= 2 min(|x|, |y|), few need the whole table."""
    if x == y or t == 1.0:
        return x == y
    first = letters.codes[letters.starts[x] : letters.starts[x + 1]]
    second = letters.codes[letters.starts[y] : letters.starts[y + 1]]
    shorter, longer = min(len(first), len(second)), max(len(first), len(second))
    return bool(shorter / longer >= t and align(first, second) >= t)


@compiled
def is_strict(matched: int, tokens: int, q: float) -> bool:
    """Definition 1, once the matched tokens of e^p are counted: matched / |e^p| >= q."""
    return bool(matched / tokens >= q)


@compiled
def strict_match(e: Array, other: Array, letters: Letters, t: float, q: float) -> bool:
    """Definition 1: whether enough tokens of one entity are in the other.

    |{t^p in e^p : exists t^d in e^d with align(t^p, t^d) >= t}| / |e^p| >= q

    The entities are arrays of token numbers.
    """
    matched = 0
    for x in e:
        for y in other:
            if aligned(x, y, letters, t):
                matched += 1
                break
    return is_strict(matched, len(e), q)


@compiled
def soft_match(
    e: int, strict: int, part_starts: Array, parts: Array, counts: Array, counted_for: Array
) -> int:
    """Definition 2: how many mentions of d one of M^strict(e, d) adds to |M^soft(e, d)|.

    M^soft(e, d) = {e^d in E^d : exists e'^d in M^strict(e, d) with a strict match of (e^d, e'^d)}:
    where an article says `Donald Trump` in full, `Trump` means him. `strict` is e'^d, its `parts`
    are the other entities of d that strictly match it, `counts` how often d mentions each. Nothing
    counts twice: `counted_for` holds the e for which an entity was counted last.
    """
    mentions = 0
    if counted_for[strict] != e:
        counted_for[strict] = e
        mentions += counts[strict]
    for at in range(part_starts[strict], part_starts[strict + 1]):
        part = parts[at]
        if counted_for[part] != e:
            counted_for[part] = e
            mentions += counts[part]
    return mentions


# ----- Beyond the paper: the context of the better preset -----


@compiled
def word_share(score: Any, best: float, length: Any, sharpness: float) -> Any:
    """(s / s_max)^x / sqrt(|d|): how much each word of retrieved articles counts; of arrays."""
    return (score / best) ** sharpness / np.sqrt(np.maximum(1.0, length))


@compiled
def burst(last_day: Any, window: Any, floor: float) -> Any:
    """B(t) = P_1(t) (P_1(t) + mu) / (P_D(t) + mu): common in the last day, and more than before."""
    return last_day * (last_day + floor) / (window + floor)
