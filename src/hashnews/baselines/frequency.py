"""The same hashtags for every post: the most frequent ones, of all time or of late."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hashnews.arrays import decay
from hashnews.baselines.base import Hashtags, Ranked
from hashnews.records import PreparedPost
from hashnews.times import time_of

HALF_LIFE = 0.5  # days; of 0.5 to 16 the best mean F1@5 on the validation posts of 2019 and 2020


class MostFrequent:
    """The most frequent hashtags of the training posts."""

    def fit(self, train: Sequence[PreparedPost], validation: Sequence[PreparedPost]) -> None:
        """Count."""
        self._hashtags = Hashtags(train)

    def suggest(self, posts: Sequence[PreparedPost], n: int) -> list[list[Ranked]]:
        """The same for all."""
        return [self._hashtags.best(self._hashtags.uses, n)] * len(posts)


class RecentFrequency:
    """The most frequent hashtags of the training posts before a post, the later the more."""

    def __init__(self, half_life: float = HALF_LIFE):
        self._half_life = half_life

    def fit(self, train: Sequence[PreparedPost], validation: Sequence[PreparedPost]) -> None:
        """Bring the posts in order."""
        self._hashtags = Hashtags(train)
        self._train = sorted(train, key=days)

    def suggest(self, posts: Sequence[PreparedPost], n: int) -> list[list[Ranked]]:
        """Σ over uses before the post of 2^(-age / half-life)."""
        answers: list[list[Ranked]] = [[] for _ in posts]
        scores = np.zeros(len(self._hashtags))
        waiting, now = iter(self._train), 0.0
        coming = next(waiting, None)
        for place in sorted(range(len(posts)), key=lambda place: days(posts[place])):
            moment = days(posts[place])
            while coming is not None and days(coming) < moment:
                scores *= decay(days(coming) - now, self._half_life)
                now = days(coming)
                scores[self._hashtags.numbers(coming)] += 1.0
                coming = next(waiting, None)
            answers[place] = self._hashtags.best(scores, n)
        return answers


def days(post: PreparedPost) -> float:
    """When a post was made, in days since 1970."""
    return time_of(post, "recent frequency needs it").timestamp() / 86400
