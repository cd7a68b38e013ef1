"""Context words: what the generator reads of the retrieved articles."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import partial
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array, compiled, highest_first
from hashnews.index.day import Day
from hashnews.index.packed import (
    Stack,
    StringTable,
    Texts,
    hashes_of,
    lookup_of,
    string_before,
)
from hashnews.records import ContextWord
from hashnews.retrieve.equations import add_context_weights


class ArticleWords:
    """What the articles of the days opened so far say, in words numbered through."""

    def __init__(self) -> None:
        self._texts, self._table = Texts(), StringTable()
        self._firsts: dict[Day, int] = {}
        self._names: list[str | None] = []
        self._starts, self._words = Stack(np.int64, 0), Stack(np.int32)

    @property
    def size(self) -> int:
        """How many words there are so far."""
        return self._table.size

    @property
    def said(self) -> tuple[Array, Array]:
        """Where the words of each article begin, and the words of all articles, by number."""
        return self._starts.all, self._words.all

    @property
    def spelled(self) -> tuple[Array, Array, Array]:
        """Letters, where each string begins there, and the string of each word."""
        _, text, starts, *_ = self._texts.arrays
        return text, starts, self._table.owners

    def open(self, day: Day) -> int:
        """The number of the first article of a day."""
        first = self._firsts.get(day)
        if first is None:
            first = self._firsts[day] = self._starts.size - 1
            place = self._texts.add(day.words)
            _, text, starts, *_ = self._texts.arrays
            hashes = hashes_of(day.words.text, day.words.starts)
            numbers = self._table.add(text, starts, place, hashes)
            self._words.add(numbers[day.arrays["doc_words"]])
            self._starts.add_ends(day.doc_starts[1:])
            self._names += [None] * (self.size - len(self._names))
        return first

    def articles(self, days: Sequence[Day], of: Array, places: Array) -> tuple[Array, Array]:
        """The numbers of articles at places of some of the days, and their lengths in words."""
        firsts = np.array([self.open(day) for day in days], np.int64)
        numbers: Array = firsts[of] + places
        starts = self._starts.all
        return numbers, starts[numbers + 1] - starts[numbers]

    def find(self, words: Sequence[str]) -> Array:
        """The numbers of those words that some day has."""
        _, text, starts, *_ = self._texts.arrays
        found = self._table.find(lookup_of(words), text, starts)
        return found[found >= 0]

    def names(self, numbers: Sequence[int]) -> list[str]:
        """The words of numbers; each is cut out once."""
        names = self._names
        return [names[number] or self._name(number) for number in numbers]

    def _name(self, number: int) -> str:
        name = self._names[number] = self._texts.string(int(self._table.owners[number]))
        return name


class RisingWords(NamedTuple):
    """Words that count though no article says them, and more where one does."""

    numbers: Array
    weights: Array
    highest: Array  # the numbers of those that may be among the heaviest of all


NONE = np.zeros(0, np.int64)
as_context_word = partial(tuple.__new__, ContextWord)
LEAST = 1e-300
NOT_RISING = RisingWords(NONE, np.zeros(0), NONE)


class WordSums:
    """Sums over the words of articles, and the heaviest words by them."""

    def __init__(self, words: ArticleWords) -> None:
        self.words = words
        self._sums, self._rises = np.zeros((2, 0))  # one a word, zeros between calls; `_rising`
        self._touched, self._rising = NONE, NOT_RISING

    def add(self, articles: Array, shares: Array) -> Array:
        """Add up what the words of articles count (Eq. 1); returns the words, for `heaviest`."""
        if len(self._sums) < self.words.size:
            self._sums, self._rises = np.zeros((2, 2 * self.words.size))
            self._touched = np.zeros(2 * self.words.size + 1, np.int64)
            self._rising = NOT_RISING
        starts, words = self.words.said
        size = add_context_weights(shares, articles, starts, words, self._sums, self._touched)
        return self._touched[:size]

    def total(self, said: Array) -> float:
        """The sum over words that were added."""
        return float(self._sums[said].sum())

    def heaviest(
        self,
        said: Array,
        most: int,
        scale: float = 1.0,
        rising: RisingWords = NOT_RISING,
        but: Array = NONE,
        own: Set[str] = frozenset(),
    ) -> list[ContextWord]:
        """The words with the highest scale w_t + rising_t, heaviest first; the sums are 0 then.

        Of equals the first in the alphabet comes first. The words in `but` and `own` are left out.
        """
        if rising is not self._rising:
            self._rises[self._rising.numbers] = 0
            self._rises[rising.numbers] = rising.weights
            self._rising = rising
        numbers, weights = heaviest_words(
            said, rising.highest, but, self._sums, self._rises, scale, most + len(own),
            *self.words.spelled,
        )  # fmt: skip
        named = zip(self.words.names(numbers.tolist()), weights.tolist(), strict=True)
        others = [pair for pair in named if pair[0] not in own]
        return list(map(as_context_word, others[:most]))


@compiled
def heaviest_words(
    said: Array,
    more: Array,
    but: Array,
    sums: Array,
    rises: Array,
    scale: float,
    most: int,
    text: Array,
    starts: Array,
    owners: Array,
) -> tuple[Array, Array]:
    """The words with the highest scale sum + rise, and those weights; all sums are 0 afterwards."""
    sums[but] = -1.0
    room, size = len(said) + len(more) + 1, 0
    words, values = np.empty(room, np.int64), np.empty(room)
    for word in said:
        words[size], values[size] = word, scale * sums[word] + rises[word]
        size += sums[word] > 0
    for word in more:
        words[size], values[size] = word, rises[word]
        size += sums[word] == 0
    sums[said], sums[but] = 0, 0
    numbers, weights, held = np.empty(most + 1, np.int64), np.empty(most + 1), 0
    highest = LEAST
    for value in values[:size]:
        highest = max(highest, value)
    for k in highest_first(values[:size], highest, most):
        at = held
        while at > 0 and (
            weights[at - 1] < values[k]
            # By word where weights are equal: the numbers also depend on news that came later.
            or (
                weights[at - 1] == values[k]
                and string_before(owners[words[k]], owners[numbers[at - 1]], text, starts)
            )
        ):
            numbers[at], weights[at] = numbers[at - 1], weights[at - 1]
            at -= 1
        numbers[at], weights[at] = words[k], values[k]
        held = min(held + 1, most)
    return numbers[:held], weights[:held]
