"""Context words: what the generator reads of the retrieved articles."""

from __future__ import annotations

from collections.abc import Iterable, Set

import numpy as np

from hashnews.arrays import Array, compiled
from hashnews.index.day import Day
from hashnews.index.word_postings import WordNumbers
from hashnews.records import ContextWord
from hashnews.retrieve.equations import add_context_weights

Shares = tuple[Day, Array, Array]  # articles of a day, and what a word of each adds


class WordSums:
    """Sums over the words of articles."""

    def __init__(self, numbers: WordNumbers) -> None:
        self.words = numbers
        self._weights, self._touched = np.zeros(0), np.zeros(0, np.int64)

    def weights(self, articles: Iterable[Shares]) -> tuple[Array, Array]:
        """The words of articles, by number, and w_t of each (Eq. 1)."""
        rows = [(day, places, shares, self.words.numbers(day)) for day, places, shares in articles]
        if len(self._weights) < self.words.size:
            self._weights = np.zeros(2 * self.words.size)
            self._touched = np.zeros(2 * self.words.size, np.int64)
        size = 0
        for day, places, shares, numbers in rows:
            size = add_context_weights(
                shares, places, day.doc_starts, day.arrays["doc_words"], numbers,
                self._weights, self._touched, size,
            )  # fmt: skip
        touched = self._touched[:size].copy()
        weights = self._weights[touched]
        self._weights[touched] = 0
        return touched, weights

    def heaviest(
        self, numbers: Array, weights: Array, most: int, but: Set[str] = frozenset()
    ) -> list[ContextWord]:
        """The words with the highest weights, heaviest first; of equals the first in the alphabet.

        The words in `but` are left out.
        """
        enough = most + len(but)
        if len(weights) > enough:
            heavy = weights >= np.partition(weights, -enough)[-enough]
            numbers, weights = numbers[heavy], weights[heavy]
        # By word where weights are equal: the numbers also depend on news that came later.
        named = zip((-weights).tolist(), map(self.words.name, numbers.tolist()), strict=True)
        ordered = [ContextWord(word, -weight) for weight, word in sorted(named) if word not in but]
        return ordered[:most]


@compiled
def count_words(start: int, end: int, doc_words: Array, numbers: Array, counts: Array) -> None:
    """Count the words from one place of a day's articles to another."""
    for at in range(start, end):
        counts[numbers[doc_words[at]]] += 1
