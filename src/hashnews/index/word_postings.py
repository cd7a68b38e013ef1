"""Posting lists of words."""

from __future__ import annotations

from hashnews.arrays import Array, compiled, starts_of
from hashnews.index.day import Day
from hashnews.index.packed import Lookup, TextArrays, find_string
from hashnews.index.postings import COUNT, DOC, LENGTH, AskedTerms, Postings, TermLists


class WordPostings(Postings):
    """The articles of each word: how many, and for days whose lists are asked for, which."""

    def __init__(self) -> None:
        super().__init__()
        self._starts: dict[int, Array] = {}  # where the list of each word of a day begins

    def _open(self, day: Day) -> None:
        """Nothing is needed of a day until its words are asked for."""

    def look_up(self, asked: AskedTerms, days: Array) -> TermLists:
        """Where the list of each word in each day lies; the lists of a day are made once."""
        new = [number for number in days.tolist() if number not in self._starts]
        self._pool.room(sum(len(self._days[number].arrays["doc_words"]) for number in new))
        for number in new:
            self._starts[number] = self._invert(self._days[number])
        places, sizes = super().look_up(asked, days)
        for at, number in enumerate(days.tolist()):
            if self._days[number].size:
                places[:, at] = self._starts[number][places[:, at]]
        return TermLists(places, sizes)

    def _invert(self, day: Day) -> Array:
        """Make the lists of a day; returns where they begin."""
        words, counts, lengths = (
            day.arrays[f"doc_{name}"] for name in ("words", "counts", "sizes")
        )
        first, ends = self._pool.size, starts_of(day.words_holding)[1:]
        invert(day.doc_starts, words, counts, lengths, ends, self._pool.extend(len(words)))
        return first + ends

    def _find(self, asked: AskedTerms, days: Array) -> None:
        places, sizes = self._known
        for number in days.tolist():
            day = self._days[number]
            find_words(
                asked.tokens, asked.numbers, day.words.arrays, day.words_holding, places[number],
                sizes[number],
            )  # fmt: skip

    def lengths(self, day: Day) -> Array:
        """Lengths in words, stop words aside."""
        return day.arrays["doc_sizes"]


@compiled
def invert(
    doc_starts: Array, words: Array, counts: Array, lengths: Array, ends: Array, pool: Array
) -> None:
    """From the words of articles, the articles of each word; where its list ended it begins."""
    for doc in range(len(doc_starts) - 2, -1, -1):
        for at in range(doc_starts[doc], doc_starts[doc + 1]):
            ends[words[at]] -= 1
            k = ends[words[at]]
            pool[k, DOC], pool[k, COUNT], pool[k, LENGTH] = doc, counts[at], lengths[doc]


@compiled
def find_words(
    lookup: Lookup, terms: Array, of: TextArrays, holding: Array, places: Array, sizes: Array
) -> None:
    """Find words in a day, each once: their places there, and the sizes of their lists."""
    for term in range(len(terms)):
        if sizes[terms[term]] < 0:
            place = find_string(lookup, term, 0, of)
            places[terms[term]] = max(0, place)
            sizes[terms[term]] = holding[place] if place >= 0 else 0
