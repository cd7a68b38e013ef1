"""Hashtags into words: the likeliest reading under unigram and bigram counts.

Viterbi over all ways to cut the tag, where P(word | word before) comes from bigram counts where
there are some and from unigram counts otherwise. Capitals and digits inside the tag are soft
evidence for a cut, underscores are certain. Letters that make no known word may stand as an
unknown one. The counts can learn the names of the day from news and posts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import regex

from hashnews.text.tokens import INVISIBLE, words

LONGEST_TAG = 140  # no network allows longer ones; they stay whole, so that the time is bounded
LONGEST_WORD = 24
# #COVIDー19 is written with the Japanese long-vowel sign, a letter, where a hyphen was meant.
SEPARATOR = regex.compile(r"_|(?<![\p{Katakana}\p{Hiragana}\p{Han}ー])ー")
REMEMBERED = 100_000


# Words as a linked list, last one first: readings that begin alike share their beginning.
Link = tuple[str, "Link"] | None


class Weights(NamedTuple):
    """Log-scores of what the counts do not say; chosen by `benchmarks/text.py --choose`."""

    camel: float = 3.0  # a cut where the capitals show one
    not_camel: float = -4.2  # a cut inside a hump of a tag written in humps
    digit: float = 2.8  # a cut between a letter and a digit
    number: float = -7.2  # a number, whichever
    unknown: float = -6.4  # an unknown word ...
    unknown_letter: float = -2.6  # ... and each of its letters
    learnt: float = 0.03  # share of the total that learnt counts get


class Pairs(Mapping[str, dict[str, float]]):
    """The words that follow a word, with their counts; read when they are asked for."""

    def __init__(self, arrays: Mapping[str, np.ndarray[Any, Any]]):
        firsts, ends = unpacked(arrays["firsts"]), arrays["ends"].tolist()
        self._spans = dict(zip(firsts, zip([0, *ends], ends, strict=False), strict=True))
        self._seconds = unpacked(arrays["seconds"])
        self._counts = arrays["pair_counts"]
        self._read: dict[str, dict[str, float]] = {}

    def __getitem__(self, first: str) -> dict[str, float]:
        if first not in self._read:
            span = slice(*self._spans[first])
            counts = self._counts[span].tolist()
            self._read[first] = dict(zip(self._seconds[span], counts, strict=True))
        return self._read[first]

    def __contains__(self, first: object) -> bool:
        return first in self._spans

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)


class Counts:
    """How often words, and pairs of words, stand in running text."""

    def __init__(
        self, total: float, words: dict[str, float], pairs: Mapping[str, dict[str, float]]
    ):
        self.total = total
        self.words = words
        self.pairs = pairs

    @classmethod
    def of(cls, texts: Iterable[str], rarest_word: int = 3, rarest_pair: int = 3) -> Self:
        """Count the words and pairs of texts, leaving out the rare ones."""
        unigrams: Counter[str] = Counter()
        bigrams: Counter[tuple[str, str]] = Counter()
        for text in texts:
            found = words(text)
            unigrams.update(found)
            bigrams.update(pairwise(found))
            if len(bigrams) > 3_000_000:  # keeps memory flat; the rare ones go in the end anyway
                bigrams = Counter({pair: n for pair, n in bigrams.items() if n > 1})
        known = {w: float(n) for w, n in unigrams.items() if n >= rarest_word and not w.isdecimal()}
        pairs: dict[str, dict[str, float]] = {}
        for (first, second), n in bigrams.items():
            if n >= rarest_pair and first in known:
                pairs.setdefault(first, {})[second] = float(n)
        return cls(float(unigrams.total()), known, pairs)

    def mixed(self, other: Counts, share: float) -> Counts:
        """These counts and others, scaled so that the others make `share` of the total."""
        if not other.total:
            return self
        scale = share / (1 - share) * self.total / other.total
        unigrams = dict(self.words)
        for word, n in other.words.items():
            unigrams[word] = unigrams.get(word, 0.0) + scale * n
        pairs = dict(self.pairs)
        for first, seconds in other.pairs.items():
            together = dict(pairs.get(first, ()))
            for second, n in seconds.items():
                together[second] = together.get(second, 0.0) + scale * n
            pairs[first] = together
        return Counts(self.total / (1 - share), unigrams, pairs)

    def save(self, path: Path) -> None:
        """Write the counts as one compressed file of arrays."""
        firsts = sorted(self.pairs)
        seconds = [sorted(self.pairs[first]) for first in firsts]
        vocabulary = sorted(self.words)
        np.savez_compressed(
            path,
            total=np.float64(self.total),
            words=packed(vocabulary),
            counts=np.array([self.words[word] for word in vocabulary], np.float32),
            firsts=packed(firsts),
            ends=np.cumsum([len(row) for row in seconds], dtype=np.int64),
            seconds=packed([second for row in seconds for second in row]),
            pair_counts=np.array(
                [self.pairs[a][b] for a, row in zip(firsts, seconds, strict=True) for b in row],
                np.float32,
            ),
        )

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            vocabulary = dict(
                zip(unpacked(arrays["words"]), arrays["counts"].tolist(), strict=True)
            )
            return cls(float(arrays["total"]), vocabulary, Pairs(arrays))


def packed(strings: list[str]) -> np.ndarray[Any, Any]:
    """Strings without line breaks as one array of bytes, for `np.savez`."""
    return np.frombuffer("\n".join(strings).encode(), np.uint8)


def unpacked(array: np.ndarray[Any, Any]) -> list[str]:
    """What `packed` packed."""
    return array.tobytes().decode().split("\n")


class Segmenter:
    """Cuts hashtags into words; what it has cut once it remembers."""

    def __init__(self, counts: Counts, weights: Weights | None = None):
        self.counts = counts
        self.weights = weights or Weights()
        self._cut: Callable[[str], tuple[str, ...]] = lru_cache(REMEMBERED)(self._likeliest)

    def segment(self, tag: str) -> tuple[str, ...]:
        """The words of a hashtag, lower-case; joined they give its letters again."""
        parts = SEPARATOR.sub("_", INVISIBLE.sub("", tag.lstrip("#＃"))).split("_")
        return tuple(word for part in parts if part for word in self._cut(part))

    def spell(self, tag: str) -> str:
        """The words of a hashtag or name with the capitals it was written in."""
        letters = SEPARATOR.sub("", INVISIBLE.sub("", tag.lstrip("#＃@＠")))
        spelt, start = [], 0
        for word in self.segment(tag.lstrip("@＠")):
            spelt.append(letters[start : start + len(word)])
            start += len(word)
        return " ".join(spelt)

    def learn(self, texts: Iterable[str]) -> Segmenter:
        """A segmenter that also knows the words of these texts."""
        learnt = self.counts.mixed(Counts.of(texts), self.weights.learnt)
        return Segmenter(learnt, self.weights)

    def _likeliest(self, tag: str) -> tuple[str, ...]:
        """The argmax over all cuts of sum log P(word | word before) + evidence at each cut."""
        letters, size = fold(tag), len(tag)
        if size > LONGEST_TAG:
            return (letters,)
        evidence = self._evidence(tag)
        known, pairs, log = self.counts.words, self.counts.pairs, math.log
        log_total = log(self.counts.total)
        _, _, _, number, unknown, unknown_letter, _ = self.weights
        # best[i]: score and words of the best reading of letters[:i];
        # live[i]: the readings whose last word has bigram counts, with them and their log-count.
        best: list[tuple[float, Link]] = [(0.0, None), *[(-math.inf, None)] * size]
        live: list[list[tuple[float, Link, dict[str, float]]]] = [[] for _ in range(size + 1)]
        strange, strange_start, strange_link = -math.inf, 0, None  # the open unknown word
        for start in range(size):
            score, link = best[start]
            if score + unknown > strange:
                strange, strange_start, strange_link = score + unknown, start, link
            strange += unknown_letter
            if strange + evidence[start + 1] > best[start + 1][0]:
                word = letters[strange_start : start + 1]
                best[start + 1] = (strange + evidence[start + 1], (word, strange_link))
            for end in range(start + 1, min(size, start + LONGEST_WORD) + 1):
                word = letters[start:end]
                count = known.get(word)
                if count is not None:
                    log_count = log(count)
                    new, before = score + log_count - log_total, link
                elif word.isdecimal() and _is_whole_number(letters, start, end):
                    log_count, new, before = 0.0, score + number, link
                else:
                    continue
                for reached, reading, seconds in live[start]:
                    n = seconds.get(word)
                    if n is not None and reached + log(n) > new:
                        new, before = reached + log(n), reading
                new += evidence[end]
                reading = (word, before)
                if new > best[end][0]:
                    best[end] = (new, reading)
                if word in pairs:
                    live[end].append((new - log_count, reading, pairs[word]))
        return tuple(_words_of(best[size][1]))[::-1]

    def _evidence(self, tag: str) -> list[float]:
        """What the writing of a tag says for a cut before each letter."""
        weights = self.weights
        in_humps = tag not in (tag.lower(), tag.upper())
        evidence = [0.0] * (len(tag) + 1)
        for at, (left, right) in enumerate(pairwise(tag), 1):
            if left.isdecimal() != right.isdecimal():
                evidence[at] = weights.digit
            elif in_humps:
                # A hump begins after a small letter, or at the last capital of a run: DCStatehood.
                begins = right.isupper() and (left.islower() or tag[at + 1 : at + 2].islower())
                evidence[at] = weights.camel if begins else weights.not_camel
        return evidence


def _words_of(link: Link) -> Iterator[str]:
    while link is not None:
        yield link[0]
        link = link[1]


def _is_whole_number(letters: str, start: int, end: int) -> bool:
    return not letters[start - 1 : start].isdecimal() and not letters[end : end + 1].isdecimal()


def fold(text: str) -> str:
    """Lower-case, letter by letter, so that positions stay (`İ`.lower() would be two)."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


@lru_cache(1)
def shipped_segmenter() -> Segmenter:
    """The segmenter with the counts that come with the package."""
    with resources.as_file(resources.files("hashnews.text") / "data" / "counts.npz") as path:
        return Segmenter(Counts.load(path))
