"""Paired bootstrap: whether a model is better, or the posts were only kind to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hashnews.metrics import METRICS, Measured, ratio

TOGETHER = 500  # draws in memory at once


class Difference(NamedTuple):
    """How far the first model is ahead, between which bounds (95 %), and how sure that is."""

    difference: float
    low: float
    high: float
    p: float

    @property
    def mark(self) -> str:
        """`***`, `**` or `*` for p below 0.001, 0.01, 0.05."""
        return "*" * sum(self.p < limit for limit in (0.001, 0.01, 0.05))


def compare(
    first: Measured, second: Measured, draws: int = 10_000, seed: int = 0
) -> dict[str, Difference]:
    """Every metric of two models over the same posts, drawn again with replacement.

    p = 2 min(P(d <= 0), P(d >= 0)), counted over the draws with one added (Davison and Hinkley).
    """
    posts = len(first.above)
    both = np.concatenate([first.above, first.below, second.above, second.below], axis=1)
    chance = np.random.default_rng(seed)
    found = []
    for start in range(0, draws, TOGETHER):
        rows = min(TOGETHER, draws - start)
        drawn = chance.multinomial(posts, np.full(posts, 1 / posts), rows).astype(np.float64)
        above, below, other_above, other_below = np.split(drawn @ both, 4, axis=1)
        found.append(ratio(above, below) - ratio(other_above, other_below))
    differences = np.concatenate(found)
    one, other = first.scores(), second.scores()
    result = {}
    for name, column in zip(METRICS, differences.T, strict=True):
        known = column[np.isfinite(column)]
        if not len(known):
            continue
        tail = min((known <= 0).sum(), (known >= 0).sum())
        p = min(1.0, 2 * (tail + 1) / (len(known) + 1))
        low, high = np.quantile(known, [0.025, 0.975])
        result[name] = Difference(one[name] - other[name], float(low), float(high), float(p))
    return result
