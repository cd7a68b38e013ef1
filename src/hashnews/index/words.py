"""Words as query terms: one number for each distinct word of all days, and lists of articles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hashnews.arrays import Array
from hashnews.index.day import Day
from hashnews.index.entities import Counter
from hashnews.index.matching import TermLists, WordDays, add_counts, inverted, word_lists
from hashnews.index.packed import Stack, Texts, Vocabulary, asked_for


class KnownWords:
    """The words of the days opened so far, numbered through."""

    def __init__(self) -> None:
        self.texts, self._vocabulary = Texts(), Vocabulary()
        self._days: dict[Day, tuple[int, Array]] = {}
        self._names: list[str | None] = []

    @property
    def size(self) -> int:
        """How many words there are so far."""
        return self._vocabulary.size

    def open(self, day: Day) -> int:
        """The number of a day."""
        return self._open(day)[0]

    def numbers(self, day: Day) -> Array:
        """The number of each word of a day."""
        return self._open(day)[1]

    def find(self, words: Sequence[str]) -> Array:
        """The numbers of words; -1 where no day has the word."""
        _, _, text, starts, _ = self.texts.arrays
        return self._vocabulary.find(asked_for(words), text, starts)

    def name(self, number: int) -> str:
        """The word of a number; it is cut out once."""
        name = self._names[number]
        if name is None:
            name = self._names[number] = self.texts.string(int(self._vocabulary.owners[number]))
        return name

    def _open(self, day: Day) -> tuple[int, Array]:
        known = self._days.get(day)
        if known is None:
            first = self.texts.add(day.words)
            _, _, text, starts, hashes = self.texts.arrays
            numbers = self._vocabulary.add(text, starts, hashes, first)
            known = self._days[day] = len(self._days), numbers
            self._names += [None] * (self.size - len(self._names))
        return known


class Words:
    """Plain words as query terms."""

    def __init__(self, known: KnownWords) -> None:
        self._known = known
        self._numbers: dict[Day, int] = {}
        self._texts, self._firsts = Stack(np.int64), Stack(np.int64)
        self._list_starts = Stack(np.int64, 0)
        self._docs, self._counts, self._lengths = (Stack(np.int32) for _ in range(3))

    @property
    def size(self) -> int:
        """Postings that are kept."""
        return self._docs.size

    def open(self, day: Day) -> int:
        """Invert a day: the articles of each word."""
        number = self._numbers.get(day)
        if number is None:
            ends, docs, counts = inverted(
                day.doc_starts, day.arrays["doc_words"], day.words_holding
            )
            self._texts.add(np.array([self._known.open(day)]))
            self._firsts.add(np.array([self._list_starts.size - 1]))
            self._list_starts.add_ends(ends)
            self._docs.add(docs)
            self._counts.add(counts)
            self._lengths.add(day.arrays["doc_sizes"][docs])
            number = self._numbers[day] = len(self._numbers)
        return number

    def look_up(self, terms: Sequence[str], days: Array, row: int, lists: TermLists) -> None:
        """Articles that say each word, and how often."""
        of = WordDays(
            self._known.texts.arrays, self._texts.all, self._firsts.all, self._list_starts.all
        )
        word_lists(asked_for(terms), days, of, row, lists)

    def counter(self, days: Sequence[Day]) -> Counter:
        """Sums over days are made once; a word that no day had by then is in none of them."""
        numbers = [self._known.numbers(day) for day in days]
        counts = np.zeros(self._known.size + 1, np.int64)  # the last is for words without a number
        for day, number in zip(days, numbers, strict=True):
            add_counts(number, day.words_holding, counts)

        def count(terms: Sequence[str]) -> Array:
            found = self._known.find(terms)
            return counts[np.where(found < len(counts) - 1, found, -1)]

        return count

    @property
    def pool(self) -> tuple[Array, Array, Array]:
        """The articles of all lists, the frequency in each, and how long each is."""
        return self._docs.all, self._counts.all, self._lengths.all

    def lengths(self, day: Day) -> Array:
        """Lengths in words, stop words aside."""
        return day.arrays["doc_sizes"]

    def matches(self, day: Day, term: str) -> list[str]:
        """The word itself."""
        lists = TermLists(*np.zeros((2, 1, 1), np.int32))
        self.look_up([term], np.array([self.open(day)]), 0, lists)
        return [term] if lists.sizes[0, 0] else []
