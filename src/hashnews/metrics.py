"""Metrics, one function each: as the paper's code computes them, beside the standard definition.

Every metric is a ratio of two sums over posts, so a function returns the two parts of one post:
what is summed and divided, and what the bootstrap draws again. Two hashtags are the same if their
letters are (`Hashtag.key`); the paper's code compares Porter stems of whole phrases instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hashnews.porter import stem

T = TypeVar("T")
Words = tuple[str, ...]
Parts = tuple[float, float]  # what a post adds above and below the line
CUTS = (1, 5, 10)
KINDS = ("unseen", "new to the author", "only entities")


class Judged(NamedTuple):
    """The hashtags of a post beside those suggested for it, best first."""

    gold: tuple[Words, ...]
    suggested: tuple[Words, ...]
    kinds: Mapping[str, frozenset[str]] = {}  # which of the gold keys are of a kind

    @property
    def gold_keys(self) -> list[str]:
        """What gold hashtags are compared by."""
        return ["".join(words) for words in self.gold]

    @property
    def keys(self) -> list[str]:
        """What suggestions are compared by."""
        return ["".join(words) for words in self.suggested]


Metric = Callable[[Judged], Parts]


def hits(post: Judged, k: int) -> int:
    """c_K: how many gold hashtags are among the first K suggestions."""
    first = set(post.keys[:k])
    return sum(key in first for key in post.gold_keys)


def micro_f1(k: int, post: Judged) -> Parts:
    """F1@K = 2 Σ c_K / (K N + G), N posts with G gold hashtags together (the paper's)."""
    return 2 * hits(post, k), k + len(post.gold)


def f1_at(k: int, posts: Iterable[Judged]) -> float:
    """Micro F1@K over posts; 0 if there are none."""
    parts = [micro_f1(k, post) for post in posts]
    below = sum(below for _, below in parts)
    return sum(above for above, _ in parts) / below if below else 0.0


def micro_f1_of(found: NDArray[Any], gold: NDArray[Any], k: int) -> float:
    """Micro F1@K from arrays: found[post, rank] is 1 for a hit, gold[post] counts hashtags."""
    return float(2 * found[:, :k].sum() / max(1, k * len(found) + int(gold.sum())))


def macro_f1(k: int, post: Judged) -> Parts:
    """Mean over posts of 2 P R / (P + R) with P = c_K / K, R = c_K / |gold| (standard)."""
    return 2 * hits(post, k) / (k + len(post.gold)), 1


def accuracy(post: Judged) -> Parts:
    """ACC = c_1 / N (the paper's): a gold hashtag that is given twice counts twice."""
    return hits(post, 1), 1


def hit_rate(post: Judged) -> Parts:
    """The share of posts whose first suggestion is right (standard)."""
    return min(1, hits(post, 1)), 1


def precisions(post: Judged, k: int) -> list[float]:
    """P@r at every rank r <= K that holds a right suggestion."""
    gold, right, found = set(post.gold_keys), 0, []
    for rank, key in enumerate(post.keys[:k], 1):
        if key in gold:
            right += 1
            found.append(right / rank)
    return found


def paper_map(k: int, post: Judged) -> Parts:
    """(1/hits) Σ P@r / |gold|: divided twice, as the paper's code does; its column is K = 1."""
    found = precisions(post, k)
    return (sum(found) / len(found) / len(post.gold) if found else 0.0), 1


def standard_map(k: int, post: Judged) -> Parts:
    """AP@K = Σ P@r / |gold|, mean over posts."""
    return sum(precisions(post, k)) / len(set(post.gold_keys)), 1


def common_words(one: Words, other: Words) -> int:
    """Words both hold, each as often as both do."""
    return (Counter(one) & Counter(other)).total()


def stems(words: Words) -> Words:
    """Words as ROUGE-1.5.5 compares them with `-m` (but for its list of irregular forms)."""
    return tuple(stem(word) if len(word) > 3 else word for word in words)


def harmonic(precision: float, recall: float) -> float:
    """F = 2 P R / (P + R)."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def pooled_rouge(post: Judged) -> Parts:
    """ROUGE-1 F of the first suggestion, all gold hashtags pooled as ROUGE-1.5.5 `-f A -m` does.

    P = Σ common / (|gold| |first|), R = Σ common / Σ |gold words|: not the best of the gold ones.
    """
    if not post.suggested or not post.suggested[0]:
        return 0.0, 1
    first = stems(post.suggested[0])
    common = sum(common_words(first, stems(gold)) for gold in post.gold)
    recall = common / sum(map(len, post.gold))
    return harmonic(common / (len(post.gold) * len(first)), recall), 1


def best_rouge(post: Judged) -> Parts:
    """ROUGE-1 F of the first suggestion against the gold hashtag it fits best (standard)."""
    if not post.suggested or not post.suggested[0]:
        return 0.0, 1
    first = post.suggested[0]
    common = [(common_words(first, gold), len(gold)) for gold in post.gold]
    return max(harmonic(n / len(first), n / length) for n, length in common), 1


def coverage(kind: str, k: int, post: Judged) -> Parts:
    """Recall@K over the gold hashtags of one kind."""
    wanted, first = post.kinds.get(kind, frozenset()), set(post.keys[:k])
    return len(wanted & first), len(wanted)


PAPER: dict[str, Metric] = {
    **{f"F1@{k}": partial(micro_f1, k) for k in CUTS},
    "ACC": accuracy,
    "MAP": partial(paper_map, 1),
    "RG-1": pooled_rouge,
}
STANDARD: dict[str, Metric] = {
    **{f"macro F1@{k}": partial(macro_f1, k) for k in CUTS},
    "hit rate": hit_rate,
    "paper's MAP@5": partial(paper_map, 5),
    "MAP@5": partial(standard_map, 5),
    "best RG-1": best_rouge,
}
COVERAGE: dict[str, Metric] = {
    f"{kind} R@{k}": partial(coverage, kind, k) for kind in KINDS for k in CUTS
}
METRICS = PAPER | STANDARD | COVERAGE


class Measured(NamedTuple):
    """The parts of every metric (columns) for every post (rows)."""

    above: NDArray[np.float64]
    below: NDArray[np.float64]

    def scores(self) -> dict[str, float]:
        """Every metric over all posts; one with nothing to measure is nan."""
        above, below = self.above.sum(0), self.below.sum(0)
        return dict(zip(METRICS, ratio(above, below).tolist(), strict=True))


def ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Above / below, nan where there is nothing below."""
    found: NDArray[np.float64] = np.full(above.shape, np.nan)
    np.divide(above, below, out=found, where=below > 0)
    return found


def measure(posts: Sequence[Judged]) -> Measured:
    """The parts of all metrics for all posts."""
    parts = np.array(
        [[metric(post) for metric in METRICS.values()] for post in posts], dtype=np.float64
    ).reshape(len(posts), len(METRICS), 2)
    return Measured(parts[..., 0], parts[..., 1])


def drawn(posts: Sequence[T], most: int, seed: int) -> list[T]:
    """At most this many posts, drawn at random with the seed, in their order.

    Every model that stops early is measured on validation posts drawn by this function.
    """
    if len(posts) <= most:
        return list(posts)
    places = np.random.default_rng(seed).choice(len(posts), most, replace=False)
    return [posts[place] for place in sorted(places)]


def pooled(runs: Iterable[Measured]) -> Measured:
    """Several runs over the same posts as one: each post adds the parts of all its runs."""
    above, below = zip(*runs, strict=True)
    return Measured(sum(above[1:], above[0]), sum(below[1:], below[0]))
