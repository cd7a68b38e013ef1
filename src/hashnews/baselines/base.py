"""What a baseline is, and the hashtags it chooses from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hashnews.errors import DataError
from hashnews.records import Hashtag, PreparedPost

Scores = NDArray[np.float64]


class Ranked(NamedTuple):
    """A suggested hashtag and its score."""

    hashtag: Hashtag
    score: float


class Baseline(Protocol):
    """Learns from posts once, then suggests hashtags it has seen there."""

    def fit(self, train: Sequence[PreparedPost], validation: Sequence[PreparedPost]) -> None:
        """Learn from training posts; validation posts say only when to stop."""

    def suggest(self, posts: Sequence[PreparedPost], n: int) -> list[list[Ranked]]:
        """The n best hashtags for each post, best first."""


class Hashtags:
    """The hashtags of posts, numbered from the most to the least frequent."""

    def __init__(self, posts: Iterable[PreparedPost]):
        first: dict[str, Hashtag] = {}
        uses: dict[str, int] = {}
        for post in posts:
            for tag in post.hashtags:
                first.setdefault(tag.key, tag)
                uses[tag.key] = uses.get(tag.key, 0) + 1
        if not first:
            raise DataError("there is no hashtag to learn: no training posts")
        keys = sorted(first, key=lambda key: (-uses[key], key))
        self.tags = [first[key] for key in keys]
        self.uses = np.array([uses[key] for key in keys], dtype=np.float64)
        self._numbers = {key: number for number, key in enumerate(keys)}

    def __len__(self) -> int:
        return len(self.tags)

    def numbers(self, post: PreparedPost) -> list[int]:
        """The numbers of a post's hashtags, as far as they are known."""
        keys = (tag.key for tag in post.hashtags)
        return [self._numbers[key] for key in keys if key in self._numbers]

    def best(self, scores: Scores, n: int) -> list[Ranked]:
        """The n hashtags with the highest scores; of equals the more frequent."""
        n = min(n, len(scores))
        limit = np.partition(scores, len(scores) - n)[len(scores) - n]
        chosen = np.flatnonzero(scores >= limit)  # in order of frequency
        order = chosen[np.argsort(-scores[chosen], kind="stable")][:n]
        return [Ranked(self.tags[number], float(scores[number])) for number in order]


def mixed(scores: Scores, uses: Scores) -> Scores:
    """Scores with frequency far below them, so that a list is always full."""
    below: Scores = 1e-6 * uses / uses.sum()
    return scores + below
