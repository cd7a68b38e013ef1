"""Gradient-boosted trees, read from a plain file and run without what trained them.

score(x) = sum over the trees of the value of the leaf that x falls into
P(x)     = calibration of the score
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Self
from zipfile import BadZipFile

import numpy as np

from hashnews.arrays import Array, compiled
from hashnews.errors import ModelError
from hashnews.suggest.sources import FEATURES, PLACE


class Trees(NamedTuple):
    """All trees in arrays, one entry a node; a leaf leads to itself, its value is its threshold."""

    roots: Array  # where each tree begins
    depths: Array  # steps to the lowest leaf of each tree
    feature: Array
    threshold: Array  # x <= threshold goes left
    children: Array  # left and right


class Calibration(NamedTuple):
    """A rising curve from scores to probabilities, linear between its knots."""

    scores: Array
    probabilities: Array

    def __call__(self, scores: Array) -> Array:
        """The probabilities that candidates with these scores are used."""
        found: Array = np.interp(scores, self.scores, self.probabilities)
        return found


class Ranker(NamedTuple):
    """Trees over the features of this version, and the calibration of their sum."""

    trees: Trees
    calibration: Calibration

    def scores(self, features: Array) -> Array:
        """The sum of all trees for each row of features."""
        return run_trees(*self.trees, np.ascontiguousarray(features.T, np.float32))

    def probabilities(self, features: Array) -> Array:
        """What the scores mean."""
        return self.calibration(self.scores(features))

    def save(self, path: Path) -> None:
        """Write the ranker as one file of arrays."""
        arrays = {**self.trees._asdict(), **self.calibration._asdict()}
        names = np.frombuffer("\n".join(FEATURES).encode(), np.uint8)
        np.savez_compressed(path, features=names, **arrays)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote; a ranker over other features is refused."""
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
                read = {name: arrays[name] for name in arrays.files}
            names = read.pop("features").tobytes().decode().split("\n")
            trees = Trees(**{name: read.pop(name) for name in Trees._fields})
            ranker = cls(trees, Calibration(**read))
        except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
            raise ModelError(f"{path} is not a ranker: {error}") from None
        if not set(names) <= set(FEATURES):
            raise ModelError(f"{path} reads other features than this version: train it again")
        places = np.array([PLACE[name] for name in names], np.int16)
        return ranker._replace(trees=trees._replace(feature=places[trees.feature]))


@compiled
def run_trees(
    roots: Array, depths: Array, feature: Array, threshold: Array, children: Array, columns: Array
) -> Array:
    """The sum of the leaves each row falls into; all rows go down a tree side by side."""
    sums = np.zeros(columns.shape[1])
    nodes = np.empty(len(sums), np.int32)
    for tree in range(len(roots)):
        nodes[:] = roots[tree]
        for _ in range(depths[tree]):
            for at in range(len(nodes)):
                node = nodes[at]
                goes_right = columns[feature[node], at] > threshold[node]
                nodes[at] = children[node, np.intp(goes_right)]
        for at in range(len(nodes)):
            sums[at] += threshold[nodes[at]]
    return sums


def isotonic(
    scores: Array, used: Array, among: Array | None = None, fewest: int = 100
) -> Calibration:
    """The rising step function nearest to what was used (pool adjacent violators), as knots.

    Blocks are joined until each holds `fewest` candidates; a knot stands at a block's mean score.
    `among` are the chances that each counted at all: of a block the share is sum of used / sum of
    those, so that with P(on topic) the steps are P(chosen | on topic).
    """
    order = np.argsort(scores, kind="stable")
    weight = np.ones(len(scores)) if among is None else np.maximum(among, 1e-6)
    blocks: list[tuple[float, float, float]] = []  # mean score, share used, weight
    size = max(1, fewest)
    for start in range(0, len(order), size):
        part = order[start : start + size]
        total = float(weight[part].sum())
        mean = float((scores[part] * weight[part]).sum()) / total
        blocks.append((mean, float(used[part].sum()) / total, total))
        while len(blocks) > 1 and blocks[-2][1] >= blocks[-1][1]:
            (x, p, n), (y, q, m) = blocks[-2:]
            blocks[-2:] = [((n * x + m * y) / (n + m), (n * p + m * q) / (n + m), n + m)]
    knots = np.array([(x, min(1.0, p)) for x, p, _ in blocks]).reshape(-1, 2)
    # Means of equal scores may differ in the last bit.
    return Calibration(np.maximum.accumulate(knots[:, 0]), knots[:, 1].copy())


def trees_of(model: str, columns: Sequence[int] | None = None) -> Trees:
    """Trees from the text of a LightGBM model; `columns` of the features, if it saw only those.

    Thresholds become the largest 32-bit numbers not above them, which splits 32-bit features in
    just the same way.
    """
    trees = average([_tree(block) for block in model.split("\nTree=")[1:]], 1)
    if columns is None:
        return trees
    return trees._replace(feature=np.array(columns, np.int16)[trees.feature])


def average(parts: Sequence[Trees], models: int) -> Trees:
    """All trees together, their leaves' values shared among so many models."""
    sizes = np.cumsum([0, *(len(part.feature) for part in parts)])
    moved = [
        Trees(
            part.roots + start,
            part.depths,
            part.feature,
            np.where(part.children[:, 0] == np.arange(len(part.feature)), 1 / models, 1)
            * part.threshold,
            part.children + start,
        )
        for part, start in zip(parts, sizes.tolist(), strict=False)
    ]
    kinds = (np.int32, np.int32, np.int16, np.float32, np.int32)
    columns = zip(kinds, zip(*moved, strict=True), strict=True)
    return Trees(*(np.concatenate(arrays).astype(kind) for kind, arrays in columns))


def _tree(block: str) -> Trees:
    """One tree of LightGBM's text: first its splits, then its leaves."""
    lines = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)

    def read(name: str, kind: type[np.generic]) -> Array:
        return np.array(lines.get(name, "").split(), np.float64).astype(kind)

    values = read("leaf_value", np.float32)
    feature = read("split_feature", np.int16)
    if any(read("decision_type", np.int64) & 1):
        raise ModelError("a ranker with categories cannot be exported")
    thresholds = [not_above(threshold) for threshold in read("threshold", np.float64)]
    splits, leaves = len(feature), len(values)

    def child(name: str) -> Array:
        """A child is a split, or below zero the complement of a leaf."""
        number = read(name, np.int32)
        placed = np.where(number >= 0, number, splits + ~number)
        return np.concatenate([placed, splits + np.arange(leaves)])

    children = np.stack([child("left_child"), child("right_child")], axis=1)
    return Trees(
        np.zeros(1, np.int32),
        np.array([_depth(children)]),
        np.concatenate([feature, np.zeros(leaves, np.int16)]),
        np.concatenate([np.array(thresholds, np.float32), values]),
        children,
    )


def _depth(children: Array) -> int:
    """Steps from the root until every way has come to a leaf."""
    depth, nodes = 0, np.zeros(1, np.int64)
    while (inner := nodes[children[nodes, 0] != nodes]).size:
        depth, nodes = depth + 1, children[inner].ravel()
    return depth


def not_above(threshold: float) -> float:
    """The largest 32-bit number that is not above a threshold."""
    near = np.float32(threshold)
    return float(near if float(near) <= threshold else np.nextafter(near, np.float32(-np.inf)))
