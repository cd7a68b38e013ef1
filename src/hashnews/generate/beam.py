# ruff: noqa: N803, N806, N815 - names end in the letters of their shapes
"""Beam search, written once for every runtime: batched over posts and hypotheses, and exact.

A step extends all live hypotheses of all posts at once. Of the extensions of a post the `width`
best are kept; those that end are finished, the others live on. Log-probabilities only fall, so a
live hypothesis that is not above the worst of the `n` finished ones that are kept can never enter
them: it is dropped, which changes nothing in the answer, and a post without live ones is done.

Letters of shapes: R live hypotheses of all posts together, W words that can be written.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from hashnews.arrays import Array
from hashnews.generate.batch import Batch
from hashnews.generate.vocabulary import END, START

Memory = TypeVar("Memory")
State = tuple[Array, ...]
Words = tuple[int, ...]
Same = Callable[[int, Words], Hashable]
BLOCK = 64


class Runtime(Protocol[Memory]):
    """What the search asks of a model, whoever runs it."""

    def start(self, batch: Batch) -> tuple[Memory, State]:
        """Read the posts: their memory, and a state with one row a post."""

    def step(
        self, memory: Memory, state: State, last_R: Array, post_R: Array
    ) -> tuple[Array, State]:
        """One word more: log-probabilities RW and the new state, for rows of the given posts."""


class Hypothesis(NamedTuple):
    """A hashtag as numbers of words, without its end, and its log-probability."""

    words: Words
    score: float


class Finished:
    """The best `n` finished hypotheses of a post, best first, no two the same."""

    def __init__(self, n: int, key: Callable[[Words], Hashable]):
        self.best: list[Hypothesis] = []
        self._n = n
        self._key = key

    @property
    def worst(self) -> float:
        """What a hypothesis must exceed to be kept."""
        return self.best[-1].score if len(self.best) == self._n else float("-inf")

    def add(self, found: Hypothesis) -> None:
        """Keep a hypothesis if it is good enough; of equals the earlier stays."""
        if found.score <= self.worst:
            return
        key = self._key(found.words)
        for place, known in enumerate(self.best):
            if self._key(known.words) == key:
                if found.score <= known.score:
                    return
                del self.best[place]
                break
        self.best.append(found)
        self.best.sort(key=lambda hypothesis: -hypothesis.score)
        del self.best[self._n :]


class Live(NamedTuple):
    """The hypotheses still growing, row by row: post, words so far, score; posts in order."""

    post_R: Array
    words: list[Words]
    score_R: Array


def search(
    runtime: Runtime[Any],
    batch: Batch,
    width: int,
    n: int,
    longest: int,
    same: Same = lambda post, words: words,
) -> list[list[Hypothesis]]:
    """The n best hashtags of every post, best first; `same` says which two are one hashtag."""
    memory, state = runtime.start(batch)
    finished = [_finished(n, same, post) for post in range(batch.size)]
    writable = _writable(batch)
    live = Live(np.arange(batch.size), [()] * batch.size, np.zeros(batch.size, dtype=np.float32))
    for length in range(longest + 1):
        last_R = np.array([words[-1] if words else START for words in live.words])
        log_RW, state = runtime.step(memory, state, last_R, live.post_R)
        log_RW = _allowed(log_RW, length, longest)
        parents, live = _extend(live, log_RW, writable, width, finished)
        if not parents:
            break
        state = tuple(part[parents] for part in state)
    return [pool.best for pool in finished]


def _finished(n: int, same: Same, post: int) -> Finished:
    return Finished(n, lambda words: same(post, words))


def _writable(batch: Batch) -> Array:
    """How many of the posts' own words each has; the columns after them are another post's."""
    return np.array([len(own) for own in batch.own])


def _allowed(log_RW: Array, length: int, longest: int) -> Array:
    """A hashtag has one word or more, and after the longest can only end."""
    if length == 0:
        log_RW = log_RW.copy()
        log_RW[:, END] = -np.inf
    elif length == longest:
        ending = np.full_like(log_RW, -np.inf)
        ending[:, END] = log_RW[:, END]
        log_RW = ending
    return np.minimum(log_RW, 0.0)  # rounding may lift a mixture above log 1


def _extend(
    live: Live, log_RW: Array, writable: Array, width: int, finished: Sequence[Finished]
) -> tuple[list[int], Live]:
    """Extend all live hypotheses by a word: the parents of those that live on, and these."""
    parents: list[int] = []
    words: list[Words] = []
    scores: list[float] = []
    posts = np.unique(live.post_R)
    starts = np.searchsorted(live.post_R, posts)
    ends = np.searchsorted(live.post_R, posts, side="right")
    known = log_RW.shape[1] - int(writable.max(initial=0))
    for post, start, end in zip(posts.tolist(), starts.tolist(), ends.tolist(), strict=True):
        pool = finished[post]
        columns = known + int(writable[post])
        totals = live.score_R[start:end, None] + log_RW[start:end, :columns]
        growing = []
        for place in largest(totals.ravel(), width):
            row, word = divmod(place, columns)
            score = float(totals[row, word])
            if word == END:
                pool.add(Hypothesis(live.words[start + row], score))
            else:
                growing.append((score, start + row, word))
        for score, row, word in growing:
            if score > pool.worst:
                parents.append(row)
                words.append((*live.words[row], word))
                scores.append(score)
    post_R = live.post_R[parents] if parents else np.empty(0, dtype=np.int64)
    return parents, Live(post_R, words, np.array(scores, dtype=np.float32))


def largest(values: Array, most: int) -> list[int]:
    """Places of the `most` largest values above -inf, largest first; of equals the earlier.

    The largest of each block bound the answer from below (`most` blocks hold `most` values that
    large), so that only a few values need sorting: several times faster than a partition.
    """
    blocks = len(values) // BLOCK
    bound = -np.inf
    if blocks >= most:
        tops = values[: blocks * BLOCK].reshape(blocks, BLOCK).max(axis=1)
        bound = np.partition(tops, blocks - most)[blocks - most]
    places = np.flatnonzero(values >= bound if bound > -np.inf else values > -np.inf)
    order = np.argsort(-values[places], kind="stable")[:most]
    found: list[int] = places[order].tolist()
    return found
