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
        self._numbers: dict[Day, Array] = {}
        self._names: list[str | None] = []
        self._starts, self._lengths = Stack(np.int64, 0), Stack(np.int32)
        self._said = Stack(np.int32, columns=(2,))

    @property
    def size(self) -> int:
        """How many words there are so far."""
        return self._table.size

    @property
    def said(self) -> tuple[Array, Array]:
        """Where the words of each article begin; each word there, and how often it says it."""
        return self._starts.all, self._said.all

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
            numbers = self._numbers[day] = self._table.add(text, starts, place, hashes)
            said = self._said.extend(len(day.arrays["doc_words"]))
            said[:, 0] = numbers.take(day.arrays["doc_words"])
            said[:, 1] = day.arrays["doc_counts"]
            self._starts.add_ends(day.doc_starts[1:])
            self._lengths.add(day.arrays["doc_sizes"])
            self._names += [None] * (self.size - len(self._names))
        return first

    def articles(self, days: Sequence[Day], of: Array, places: Array) -> tuple[Array, Array]:
        """The numbers of articles at places of some of the days, and their lengths in words."""
        firsts = np.array([self.open(day) for day in days], np.int64)
        numbers: Array = firsts[of] + places
        return numbers, self._lengths.all[numbers]

    def of_day(self, day: Day) -> Array:
        """The numbers of the words of a day."""
        self.open(day)
        return self._numbers[day]

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
        # Of each word the sum, 0 between calls, and how much it rises: `_rising`, spread out.
        self._sums, self._rises = np.zeros((2, 0))
        self._touched, self._rising = NONE, NOT_RISING

    def heaviest(
        self,
        articles: Array,
        shares: Array,
        most: int,
        rising: RisingWords = NOT_RISING,
        but: Array = NONE,
        own: Set[str] = frozenset(),
    ) -> list[ContextWord]:
        """The words with the highest w_t (Eq. 1) + rising_t, heaviest first.

        Of equals the first in the alphabet comes first. The words in `but` and `own` are left out.
        """
        if len(self._sums) < self.words.size:
            self._sums, self._rises = np.zeros((2, 2 * self.words.size))
            self._touched = np.zeros(2 * self.words.size + 1, np.int64)
            self._rising = NOT_RISING
        if rising is not self._rising:
            set_rises(self._rises, self._rising.numbers, rising.numbers, rising.weights)
            self._rising = rising
        numbers, weights = heaviest_words(
            shares, articles, *self.words.said, self._sums, self._touched, self._rises,
            rising.highest, but, most + len(own), *self.words.spelled,
        )  # fmt: skip
        named = zip(self.words.names(numbers.tolist()), weights.tolist(), strict=True)
        others = [pair for pair in named if pair[0] not in own]
        return list(map(as_context_word, others[:most]))


@compiled
def set_rises(rises: Array, before: Array, numbers: Array, weights: Array) -> None:
    """Forget how much some words rise, and note it of others."""
    for number in before:
        rises[number] = 0
    for k in range(len(numbers)):
        rises[numbers[k]] = weights[k]


@compiled
def heaviest_words(
    shares: Array,
    articles: Array,
    said_starts: Array,
    said: Array,
    sums: Array,
    touched: Array,
    rises: Array,
    more: Array,
    but: Array,
    most: int,
    text: Array,
    starts: Array,
    owners: Array,
) -> tuple[Array, Array]:
    """The words with the highest sum + rise, and those weights; all sums are 0 afterwards."""
    held = add_context_weights(shares, articles, said_starts, said, sums, touched)
    for word in but:
        sums[word] = -1.0
    room, size, highest = held + len(more) + 1, 0, LEAST
    words, values = np.empty(room, np.int64), np.empty(room)
    for word in more:
        words[size], values[size] = word, rises[word]
        size += sums[word] == 0
    for word in touched[:held]:
        words[size], values[size] = word, sums[word] + rises[word]
        size += sums[word] > 0
        sums[word] = 0
    for word in but:
        sums[word] = 0
    for value in values[:size]:
        highest = max(highest, value)
    return in_order_of_weight(words, values[:size], highest, most, text, starts, owners)


@compiled
def in_order_of_weight(
    words: Array, values: Array, highest: float, most: int, text: Array, starts: Array,
    owners: Array,
) -> tuple[Array, Array]:  # fmt: skip
    """The words with the highest values, and those."""
    numbers, weights, held = np.empty(most + 1, np.int64), np.empty(most + 1), 0
    for k in highest_first(values, highest, most):
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
