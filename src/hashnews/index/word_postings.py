"""Posting lists of words, and one number for each distinct word of all days."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array, compiled
from hashnews.index.day import Day
from hashnews.index.packed import (
    Lookup,
    Stack,
    StringTable,
    TextArrays,
    Texts,
    find_string,
    lookup_of,
)  # fmt: skip
from hashnews.index.postings import Counter, Postings, TermLists


class WordNumbers:
    """The words of the days opened so far, numbered through."""

    def __init__(self) -> None:
        self.texts, self._table = Texts(), StringTable()
        self._days: dict[Day, tuple[int, Array]] = {}
        self._names: list[str | None] = []

    @property
    def size(self) -> int:
        """How many words there are so far."""
        return self._table.size

    def numbers(self, day: Day) -> Array:
        """The number of each word of a day."""
        return self.open(day)[1]

    def find(self, words: Sequence[str]) -> Array:
        """The numbers of words; -1 where no day has the word."""
        _, _, text, starts, _ = self.texts.arrays
        return self._table.find(lookup_of(words), text, starts)

    def name(self, number: int) -> str:
        """The word of a number; it is cut out once."""
        name = self._names[number]
        if name is None:
            name = self._names[number] = self.texts.string(int(self._table.owners[number]))
        return name

    def open(self, day: Day) -> tuple[int, Array]:
        """The number of a day, and that of each of its words."""
        opened = self._days.get(day)
        if opened is None:
            first = self.texts.add(day.words)
            _, _, text, starts, hashes = self.texts.arrays
            numbers = self._table.add(text, starts, hashes, first)
            opened = self._days[day] = len(self._days), numbers
            self._names += [None] * (self.size - len(self._names))
        return opened


class WordDays(NamedTuple):
    """The words of several days."""

    words: TextArrays
    days: Array  # the number of each day there
    firsts: Array  # where the lists of each day begin in `list_starts`
    list_starts: Array


class WordPostings(Postings):
    """The articles of each word, in the days opened so far."""

    def __init__(self, numbers: WordNumbers) -> None:
        super().__init__()
        self._words = numbers
        self._texts, self._firsts = Stack(np.int64), Stack(np.int64)
        self._list_starts = Stack(np.int64, 0)

    def _open(self, day: Day) -> None:
        """Invert a day: the articles of each word."""
        ends, docs, counts = inverted(day.doc_starts, day.arrays["doc_words"], day.words_holding)
        self._texts.add(np.array([self._words.open(day)[0]]))
        self._firsts.add(np.array([self._list_starts.size - 1]))
        self._list_starts.add_ends(ends)
        self._docs.add(docs)
        self._counts.add(counts)
        self._lengths.add(day.arrays["doc_sizes"][docs])

    def look_up(self, terms: Sequence[str], days: Array, row: int, lists: TermLists) -> None:
        """Articles that say each word, and how often."""
        of = WordDays(
            self._words.texts.arrays, self._texts.all, self._firsts.all, self._list_starts.all
        )
        word_lists(lookup_of(terms), days, of, row, lists)

    def counter(self, days: Sequence[Day]) -> Counter:
        """Sums over days are made once; a word that no day had by then is in none of them."""
        numbers = [self._words.numbers(day) for day in days]
        counts = np.zeros(self._words.size + 1, np.int64)  # the last is for words without a number
        for day, number in zip(days, numbers, strict=True):
            add_counts(number, day.words_holding, counts)

        def count(terms: Sequence[str]) -> Array:
            found = self._words.find(terms)
            return counts[np.where(found < len(counts) - 1, found, -1)]

        return count

    def lengths(self, day: Day) -> Array:
        """Lengths in words, stop words aside."""
        return day.arrays["doc_sizes"]


@compiled
def inverted(doc_starts: Array, doc_words: Array, holding: Array) -> tuple[Array, Array, Array]:
    """Where the list of each word ends, the articles that say it, and how often each does."""
    ends = np.cumsum(holding)
    size = ends[-1] if len(ends) else 0
    docs, counts = np.empty(size, np.int32), np.zeros(size, np.int32)
    at_word, last = ends.copy(), np.full(len(ends), -1, np.int32)
    for doc in range(len(doc_starts) - 2, -1, -1):
        for at in range(doc_starts[doc], doc_starts[doc + 1]):
            word = doc_words[at]
            at_word[word] -= last[word] != doc
            last[word] = docs[at_word[word]] = doc
            counts[at_word[word]] += 1
    return ends, docs, counts


@compiled
def add_counts(numbers: Array, counts: Array, sums: Array) -> None:
    """Add a count to each of some numbers."""
    for k in range(len(numbers)):
        sums[numbers[k]] += counts[k]


@compiled
def word_lists(lookup: Lookup, days: Array, of: WordDays, row: int, lists: TermLists) -> None:
    """Look up words; their lists' places go into the rows from `row` on."""
    words, text_days, firsts, list_starts = of
    starts, sizes = lists
    for k in range(len(days)):
        day = text_days[days[k]]
        ahead = firsts[days[k]] - words.firsts[day]
        for term in range(len(lookup.hashes)):
            place = find_string(lookup, term, day, words)
            starts[row + term, k], sizes[row + term, k] = 0, 0
            if place >= 0:
                start, end = list_starts[place + ahead], list_starts[place + ahead + 1]
                starts[row + term, k], sizes[row + term, k] = start, end - start
