"""Gradient-boosted trees, read from a plain file and run without what trained them.

score(x) = sum over the trees of the value of the leaf that x falls into
P(x)     = calibration of the score
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from hashnews.arrays import Array, compiled
from hashnews.errors import ModelError
from hashnews.saved import read_arrays
from hashnews.suggest.sources import FEATURES, PLACE

LARGEST = 256 << 20  # bytes of all arrays
ENOUGH = 2000  # candidates that make a curve
SITUATIONS = 3  # a ranker has a curve for each, or one for all
DEEPEST, MOST_STEPS = 1000, 1_000_000  # steps down a tree, and down all of them


class Trees(NamedTuple):
    """All trees in arrays, one entry a node; a leaf leads to itself, its value is its threshold."""

    roots: Array  # where each tree begins
    depths: Array  # steps to the lowest leaf of each tree
    feature: Array
    threshold: Array  # x <= threshold goes left
    children: Array  # left and right


class Calibration(NamedTuple):
    """A rising curve from scores to probabilities, linear between its knots; or one a situation."""

    scores: Array
    probabilities: Array  # of each knot; several curves are rows over the same knots

    def __call__(self, scores: Array, situation: Array | None = None) -> Array:
        """The probabilities that candidates with these scores are used, each in its situation."""
        if self.probabilities.ndim == 1:
            found: Array = np.interp(scores, self.scores, self.probabilities)
            return found
        curves = [np.interp(scores, self.scores, curve) for curve in self.probabilities]
        which = np.zeros(len(scores), np.int64) if situation is None else situation
        chosen: Array = np.choose(which, curves)
        return chosen


def situation_of(features: Array) -> Array:
    """What the memory is to the author of each row's post.

    0: it does not know the author; 1: its newest post is the author's own, as in an archive of
    one's own; 2: it is of a network in which the author writes, too.
    """
    known = features[:, PLACE["own_posts"]] > 0
    others = features[:, PLACE["own_newest"]] > features[:, PLACE["newest"]]
    found: Array = known.astype(np.int64) + (known & others)
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
        return self.calibration(self.scores(features), situation_of(features))

    def save(self, path: Path, features: Sequence[str] = FEATURES) -> None:
        """Write the ranker as one file of arrays.

        Children are written as steps from their node: such numbers are small, and so is the file.
        """
        arrays = {**self.trees._asdict(), **self.calibration._asdict()}
        children = arrays.pop("children")
        arrays["steps"] = children - np.arange(len(children), dtype=np.int32)[:, None]
        names = np.frombuffer("\n".join(features).encode(), np.uint8)
        np.savez_compressed(path, features=names, **arrays)

    @classmethod
    def load(cls, path: Path, features: Sequence[str] = FEATURES) -> Self:
        """Read what `save` wrote; what is damaged or over other features is refused."""
        read = read_arrays(path, LARGEST)
        try:
            names = read.pop("features").tobytes().decode().split("\n")
            read["children"] = _children(read.pop("steps"))
            trees = Trees(**{name: read.pop(name) for name in Trees._fields})
            ranker = cls(trees, Calibration(**read))
            _check(ranker, len(names))
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"{path} is not a ranker: {error}") from None
        if not set(names) <= set(features):
            raise ModelError(f"{path} reads other features than this version: train it again")
        places = np.array([features.index(name) for name in names], np.int16)
        return ranker._replace(trees=trees._replace(feature=places[trees.feature]))


def _children(steps: Array) -> Array:
    """The children of each node by the steps to them."""
    _need(steps.ndim == 2 and steps.dtype == np.int32, "its nodes do not fit together")
    wide: Array = steps + np.arange(len(steps), dtype=np.int64)[:, None]
    _need(not wide.size or wide.max() < 1 << 31, "children lead out of it")
    return wide.astype(np.int32)


def _check(ranker: Ranker, features: int) -> None:
    """Refuse numbers that would lead out of the arrays, never end, or be no probability."""
    roots, depths, feature, threshold, children = ranker.trees
    nodes = len(threshold)
    kinds = dict(zip(Trees._fields, "iiifi", strict=True)) | dict.fromkeys(Calibration._fields, "f")
    arrays = ranker.trees._asdict() | ranker.calibration._asdict()
    for name, array in arrays.items():
        _need(array.dtype.kind == kinds[name], f"{name} has the type {array.dtype}")
    flat = [array for name, array in arrays.items() if name not in ("children", "probabilities")]
    _need(all(array.ndim == 1 for array in flat), "an array has the wrong shape")
    _need(children.shape == (nodes, 2) and len(feature) == nodes, "its nodes do not fit together")
    _need(len(roots) == len(depths), "its trees do not fit together")
    for name, array, end in [
        ("roots", roots, nodes), ("children", children, nodes), ("feature", feature, features),
        ("depths", depths, DEEPEST),
    ]:  # fmt: skip
        within = not array.size or (array.min() >= 0 and array.max() < end)
        _need(bool(within), f"{name} lead out of it")
    _need(int(depths.sum(dtype=np.int64)) <= MOST_STEPS, "its trees are too many or too deep")
    _need(not np.isnan(threshold).any(), "a threshold is no number")
    scores, probabilities = ranker.calibration
    shapes = ((len(scores),), (SITUATIONS, len(scores)))
    fits = len(scores) > 0 and probabilities.shape in shapes
    _need(fits, "its calibration is empty or does not fit")
    rises = bool(np.isfinite(scores).all() and (np.diff(scores) >= 0).all())
    _need(rises, "its calibration does not rise")
    _need(bool(((probabilities >= 0) & (probabilities <= 1)).all()), "a probability is none")


def _need(holds: bool, else_wrong: str) -> None:
    if not holds:
        raise ValueError(else_wrong)


@compiled
def run_trees(
    roots: Array, depths: Array, feature: Array, threshold: Array, children: Array, columns: Array
) -> Array:
    """The sum of the leaves each row falls into; all rows go down a tree side by side.

    Places without a sign need no look at whether they count from the end, so many rows go at once.
    """
    sums = np.zeros(columns.shape[1])
    nodes = np.empty(len(sums), np.uint32)
    reads, below = feature.astype(np.uint32), children.ravel().astype(np.uint32)
    for tree in range(len(roots)):
        nodes[:] = roots[tree]
        for _ in range(depths[tree]):
            for at in range(len(nodes)):
                node = nodes[at]
                goes_right = columns[reads[node], at] > threshold[node]
                nodes[at] = below[2 * node + goes_right]
        for at in range(len(nodes)):
            sums[at] += threshold[nodes[at]]
    return sums


def isotonic(scores: Array, used: Array, fewest: int = 100) -> Calibration:
    """The rising step function nearest to what was used (pool adjacent violators), as knots.

    Blocks are joined until each holds `fewest` candidates; a knot stands at a block's mean score.
    """
    order = np.argsort(scores, kind="stable")
    blocks: list[tuple[float, float, int]] = []  # mean score, share used, candidates
    for start in range(0, len(order), max(1, fewest)):
        part = order[start : start + max(1, fewest)]
        blocks.append((float(scores[part].mean()), float(used[part].mean()), len(part)))
        while len(blocks) > 1 and blocks[-2][1] >= blocks[-1][1]:
            (x, p, n), (y, q, m) = blocks[-2:]
            blocks[-2:] = [((n * x + m * y) / (n + m), (n * p + m * q) / (n + m), n + m)]
    knots = np.array([(x, p) for x, p, _ in blocks]).reshape(-1, 2)
    # Means of equal scores may differ in the last bit.
    return Calibration(np.maximum.accumulate(knots[:, 0]), knots[:, 1].copy())


def by_situation(scores: Array, used: Array, situation: Array) -> Calibration:
    """A curve for each situation, where there are examples of it; that of all elsewhere."""
    every = isotonic(scores, used)
    curves = [every] * SITUATIONS
    for one in range(SITUATIONS):
        here = situation == one
        if here.sum() >= ENOUGH:
            curves[one] = isotonic(scores[here], used[here])
    knots = np.unique(np.concatenate([curve.scores for curve in curves]))
    return Calibration(knots, np.stack([curve(knots) for curve in curves]))


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
    order = _from_the_left(children)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return Trees(
        np.zeros(1, np.int32),
        np.array([_depth(children)]),
        np.concatenate([feature, np.zeros(leaves, np.int16)])[order],
        np.concatenate([np.array(thresholds, np.float32), values])[order],
        place[children[order]],
    )


def _from_the_left(children: Array) -> Array:
    """The nodes in the order in which one meets them going left first: a child is near its node."""
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        left, right = children[node].tolist()
        if left != node:
            waiting += [right, left]
    return np.array(order, np.int32)


def lighter(trees: Trees, bits: int = 12) -> Trees:
    """The same trees with values of fewer bits, so that the file takes half the room.

    A value moves towards zero, by less than one part in 2^bits.
    """
    mask = np.uint32(0xFFFFFFFF << (23 - bits) & 0xFFFFFFFF)
    cut = (trees.threshold.view(np.uint32) & mask).view(np.float32)
    return trees._replace(threshold=cut)


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
