"""The equations of section 2.1 and Eq. 1, one function each.

They are compiled, and what the retriever runs are these very functions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hashnews.arrays import compiled


@compiled
def idf(documents: int, matching: int) -> float:
    """IDF(e, D) = ln((N + 1) / (n + 0.5)): positive for every n <= N, finite at n = 0."""
    return math.log((documents + 1) / (matching + 0.5))


@compiled
def temporal_popularity(idf_reference: float, idf_window: float, cap: float) -> float:
    """TP(e, D_i) = IDF(e, R) / IDF(e, D_i), at most `cap`."""
    return min(cap, idf_reference / idf_window)


@compiled
def term_frequency(f: float, length: float, mean_length: float, a: float, b: float) -> float:
    """BM25: f (a + 1) / (f + a (1 - b + b |d| / E[|d|]))."""
    return f * (a + 1) / (f + a * (1 - b + b * length / mean_length))


@compiled
def weight(tp: float, idf_window: float, by_popularity: float, by_rarity: float) -> float:
    """TP^x IDF(e, D_i)^y: the paper's ranking is x = 1, y = 0, BM25 is x = 0, y = 1."""
    return float(tp**by_popularity * idf_window**by_rarity)


@compiled
def telling(score: Any, best: float, length: Any, sharpness: float) -> Any:
    """(s / s_max)^x / sqrt(|d|): how much each word of retrieved articles counts; of arrays."""
    return (score / best) ** sharpness / np.sqrt(np.maximum(1.0, length))


@compiled
def rise(last_day: Any, window: Any, floor: float) -> Any:
    """B(t) = P_1(t) (P_1(t) + mu) / (P_D(t) + mu): common in the last day, and more than before."""
    return last_day * (last_day + floor) / (window + floor)
