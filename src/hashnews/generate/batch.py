# ruff: noqa: N803, N806, N815 - names end in the letters of their shapes
"""Examples and batches: posts with their contexts as padded arrays, each post once.

Letters of shapes: B posts, P post words, C context words, M = P + C words that can be copied,
R hashtags of all posts together, T hashtag words with the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from hashnews.arrays import Array
from hashnews.errors import DataError
from hashnews.files import RecordFile
from hashnews.generate.config import GeneratorConfig
from hashnews.generate.vocabulary import END, NOTHING, PADDING, Vocabulary
from hashnews.records import ContextWord, PreparedPost, Record
from hashnews.text.tokens import words

BUCKET = 50  # batches that are sorted by length together: little padding, still much chance


class Example(NamedTuple):
    """A post beside its news context, and the hashtags its author chose, where they are known."""

    post: tuple[str, ...]
    context: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    hashtags: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(
        cls,
        config: GeneratorConfig,
        body: str,
        context: Sequence[ContextWord] = (),
        hashtags: Iterable[tuple[str, ...]] = (),
    ) -> Example:
        """Cut texts to what the model reads; hashtags that are too long or double are left out."""
        kept = context[: config.context_words] if config.reads_context else ()
        fitting = (tag for tag in hashtags if 1 <= len(tag) <= config.hashtag_words)
        return cls(
            tuple(words(body)[: config.post_words]),
            tuple(word for word, _ in kept),
            tuple(weight for _, weight in kept),
            tuple(dict.fromkeys(fitting)),
        )


class ContextLine(Record):
    """One line of contexts.jsonl, as far as it is read here."""

    post_id: str
    context: tuple[ContextWord, ...]


def read_contexts(
    config: GeneratorConfig, posts: Path, contexts: Path | None
) -> Iterator[tuple[PreparedPost, tuple[ContextWord, ...]]]:
    """Prepared posts and their contexts; both files hold the same posts in the same order."""
    if contexts is None:
        if config.reads_context:
            raise DataError(f"the model {config.variant} reads contexts: name their file", posts)
        yield from ((post, ()) for post in RecordFile(posts, PreparedPost))
        return
    both = zip_longest(RecordFile(posts, PreparedPost), RecordFile(contexts, ContextLine))
    for number, (post, line) in enumerate(both, 1):
        if post is None or line is None or post.id != line.post_id:
            raise DataError(f"is not the context of the posts in {posts}", contexts, number)
        yield post, line.context


def read_examples(
    config: GeneratorConfig, posts: Path, contexts: Path | None
) -> Iterator[tuple[PreparedPost, Example]]:
    """Prepared posts and their examples."""
    for post, context in read_contexts(config, posts, contexts):
        tags = (tag.words for tag in post.hashtags)
        yield post, Example.of(config, post.body, context, tags)


def raw_weights(weights: Array) -> Array:
    """w_j as the retriever gave it."""
    return weights


def max_weights(weights: Array) -> Array:
    """w_j / max w: the heaviest word keeps its attention, the others lose some."""
    return cast(Array, weights / weights.max())


def mean_weights(weights: Array) -> Array:
    """w_j / mean w: like plain attention on the whole, sharper for heavy words."""
    return cast(Array, weights / weights.mean())


WEIGHTS: dict[str, Callable[[Array], Array]] = {
    "raw": raw_weights,
    "max": max_weights,
    "mean": mean_weights,
}


def scale_weights(weights: Sequence[float], scaling: str) -> Array:
    """Weights of a context as the attention reads them; all one where they say nothing."""
    given = np.array(weights, dtype=np.float64)
    if not given.size or not np.isfinite(given).all() or given.max() <= 0 or given.min() < 0:
        return np.ones(max(1, given.size), dtype=np.float32)
    return WEIGHTS[scaling](given).astype(np.float32)


class Numbered(NamedTuple):
    """An example as numbers; hashtag numbers beyond the vocabulary are the post's `own` words.

    Those can only be copied, and are numbered for this post alone.
    """

    post: Array  # source numbers
    context: Array  # source numbers
    weights: Array
    copies: Array  # what copying each word of post, then context, would write
    own: tuple[str, ...]
    hashtags: tuple[tuple[int, ...], ...]  # each with its end


class Numberer:
    """Turns examples into numbers for one model and its vocabularies."""

    def __init__(self, config: GeneratorConfig, source: Vocabulary, hashtag: Vocabulary):
        self.config = config
        self.source = source
        self.hashtag = hashtag

    def __call__(self, example: Example) -> Numbered:
        """One example as numbers; a hashtag that cannot be written is left out."""
        config = self.config
        outside: dict[str, int] = {}
        copied = (*example.post, *example.context) if config.copies else ()
        for word in copied:
            if self.hashtag.number(word) is None:
                outside.setdefault(word, len(self.hashtag) + len(outside))
        hashtags = [self._numbers(tag, outside) for tag in example.hashtags]
        weights = example.weights if config.weighs else (1.0,) * len(example.context)
        return Numbered(
            np.array(self.source.numbers(example.post) or [NOTHING], dtype=np.int32),
            np.array(self.source.numbers(example.context) or [NOTHING], dtype=np.int32),
            scale_weights(weights, config.weights),
            self._copies(example, outside),
            tuple(outside),
            tuple((*tag, END) for tag in hashtags if tag is not None),
        )

    def _numbers(self, tag: tuple[str, ...], outside: dict[str, int]) -> tuple[int, ...] | None:
        numbers = [self.hashtag.number(word) or outside.get(word) for word in tag]
        known = tuple(number for number in numbers if number is not None)
        return known if len(known) == len(tag) else None

    def _copies(self, example: Example, outside: dict[str, int]) -> Array:
        """Numbers of the copied words; -1, which is no word, where there is nothing to copy."""
        if not self.config.copies:
            return np.empty(0, dtype=np.int64)
        parts = [example.post] + [example.context] * self.config.reads_context
        return np.array([
            (self.hashtag.number(word) or outside[word]) if word else -1
            for part in parts
            for word in part or ("",)
        ])  # fmt: skip

    def word(self, number: int, own: Sequence[str]) -> str:
        """The word of a written number, for a post with these own words."""
        size = len(self.hashtag)
        return self.hashtag.word(number) if number < size else own[number - size]


class Batch(NamedTuple):
    """Posts padded to one length, and the hashtags of them all, longest first."""

    post_BP: Array
    post_length_B: Array
    context_BC: Array
    context_length_B: Array
    weight_BC: Array
    copy_BM: Array  # -1 where nothing can be copied; M = 0 in a model that does not copy
    own: tuple[tuple[str, ...], ...]
    hashtag_RT: Array
    hashtag_length_R: Array
    post_R: Array  # the post of each hashtag

    @property
    def size(self) -> int:
        """How many posts there are."""
        return len(self.post_BP)


def make_batch(examples: Sequence[Numbered]) -> Batch:
    """Pad examples to one length."""
    post_BP = _pad([example.post for example in examples], PADDING)
    context_BC = _pad([example.context for example in examples], PADDING)
    rows = [(tag, post) for post, example in enumerate(examples) for tag in example.hashtags]
    rows.sort(key=lambda row: -len(row[0]))  # the rows still alive at a step are then the first
    hashtag_RT = _pad([np.array(tag) for tag, _ in rows], END)
    return Batch(
        post_BP,
        np.array([len(example.post) for example in examples]),
        context_BC,
        np.array([len(example.context) for example in examples]),
        _pad([example.weights for example in examples], 0.0).astype(np.float32),
        _pad_copies(examples, post_BP.shape[1]),
        tuple(example.own for example in examples),
        hashtag_RT,
        np.array([len(tag) for tag, _ in rows], dtype=np.int64),
        np.array([post for _, post in rows], dtype=np.int64),
    )


def _pad(rows: Sequence[Array], filler: float) -> Array:
    """Rows of several lengths as one array."""
    longest = max((len(row) for row in rows), default=0)
    kind = np.int64 if isinstance(filler, int) else np.float32
    padded = np.full((len(rows), longest), filler, dtype=kind)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    return padded


def _pad_copies(examples: Sequence[Numbered], longest_post: int) -> Array:
    """Post and context are padded each for itself, as they are in the memory of the model."""
    posts = _pad([example.copies[: len(example.post)] for example in examples], -1)
    contexts = _pad([example.copies[len(example.post) :] for example in examples], -1)
    return np.concatenate([posts, contexts], axis=1)


def batches(examples: Sequence[Numbered], size: int, seed: int, epoch: int) -> list[list[int]]:
    """Places of the examples of each batch, for one epoch: another order in every epoch.

    Shuffled examples are sorted by length in pools of `BUCKET` batches, so that a batch has little
    padding; then the batches are shuffled.
    """
    chance = np.random.default_rng([seed, epoch])
    order = chance.permutation([place for place, e in enumerate(examples) if e.hashtags])
    found = []
    for start in range(0, len(order), size * BUCKET):
        pool = order[start : start + size * BUCKET].tolist()
        pool.sort(key=lambda place: (len(examples[place].context), len(examples[place].post)))
        found += [pool[first : first + size] for first in range(0, len(pool), size)]
    return [found[place] for place in chance.permutation(len(found))]


def slots(post_R: Array, posts: int) -> tuple[Array, Array]:
    """Rows in a table of posts: the row in each place BK, and the place b K + k of each row.

    Rows of one post share its memory, so attention is one product per post over its K rows. Empty
    places hold row 0; nothing reads their result.
    """
    order = np.argsort(post_R, kind="stable")
    counts = np.bincount(post_R, minlength=posts)
    widest = int(counts.max(initial=1))
    nth = np.arange(len(order)) - (np.cumsum(counts) - counts)[post_R[order]]
    slot_R = np.empty_like(post_R)
    slot_R[order] = post_R[order] * widest + nth
    row_BK = np.zeros(posts * widest, dtype=np.int64)
    row_BK[slot_R] = np.arange(len(post_R))
    return row_BK.reshape(posts, widest), slot_R
