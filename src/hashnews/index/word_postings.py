"""Posting lists of words."""

from __future__ import annotations

import numpy as np

from hashnews.arrays import Array, compiled
from hashnews.index.day import Day
from hashnews.index.packed import Lookup, Stack, TextArrays, Texts, find_string
from hashnews.index.postings import AskedTerms, Postings, TermLists


class WordPostings(Postings):
    """The articles of each word: how many, and for days whose lists are asked for, which."""

    def __init__(self) -> None:
        super().__init__()
        self._texts = Texts()
        # Of each word of each day: where its list begins in the pool, and how long it is.
        self._starts, self._sizes = Stack(np.int32), Stack(np.int32)
        self._inverted: set[int] = set()

    def _open(self, day: Day) -> None:
        self._texts.add(day.words)
        self._sizes.add(day.words_holding)
        self._starts.extend(len(day.words))

    def look_up(self, asked: AskedTerms, days: Array) -> TermLists:
        """Where the list of each word in each day lies; the lists of a day are made once."""
        for number in days.tolist():
            if number not in self._inverted:
                self._invert(number)
        places, sizes = super().look_up(asked, days)
        return TermLists(self._starts.all[places], sizes)

    def _invert(self, number: int) -> None:
        """Make the lists of a day."""
        day, first = self._days[number], int(self._texts.arrays.firsts[number])
        last, start = first + len(day.words), self._docs.size
        starts, sizes = self._starts.all[first:last], self._sizes.all[first:last]
        for stack in (self._docs, self._counts, self._lengths):
            stack.extend(int(sizes.sum()))
        docs, counts, lengths = (array[start : self._docs.size] for array in self.pool)
        invert(day.doc_starts, day.arrays["doc_words"], sizes, starts, docs, counts)
        starts += start
        lengths[:] = day.arrays["doc_sizes"][docs]
        self._inverted.add(number)

    def _find(self, asked: AskedTerms, days: Array) -> None:
        find_words(
            asked.tokens, asked.numbers, days, self._texts.arrays, self._sizes.all, self._known
        )

    def lengths(self, day: Day) -> Array:
        """Lengths in words, stop words aside."""
        return day.arrays["doc_sizes"]


@compiled
def invert(
    doc_starts: Array, doc_words: Array, sizes: Array, starts: Array, docs: Array, counts: Array
) -> None:
    """From the words of articles, the articles of each word: where its list starts, and counts."""
    starts[:], last = np.cumsum(sizes), np.full(len(sizes), -1, np.int32)
    counts[:] = 0
    for doc in range(len(doc_starts) - 2, -1, -1):
        for at in range(doc_starts[doc], doc_starts[doc + 1]):
            word = doc_words[at]
            starts[word] -= last[word] != doc
            last[word] = docs[starts[word]] = doc
            counts[starts[word]] += 1


@compiled
def find_words(
    lookup: Lookup, terms: Array, days: Array, of: TextArrays, list_sizes: Array, known: TermLists
) -> None:
    """Find words, each once in each day: their places, and the sizes of their lists."""
    places, sizes = known
    for day in days:
        for term in range(len(terms)):
            if sizes[day, terms[term]] < 0:
                place = find_string(lookup, term, day, of)
                places[day, terms[term]] = max(0, place)
                sizes[day, terms[term]] = list_sizes[place] if place >= 0 else 0
