"""Many strings as one text: where each begins, and how one of them is found.

The strings of a day stand in the order of their hash, so that a string is found where its hash
should be: every sixteenth is hashed when the day is opened, those between two are compared letter
by letter. No dictionary is made, and nothing of it is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hashnews.arrays import Array, compiled, starts_of

HASH_BITS = 32
STEP = 16  # strings from one whose hash is known to the next


def pack(strings: Sequence[str]) -> tuple[Array, Array]:
    """Strings as bytes, and how many each has."""
    joined = "".join(strings)
    if joined.isascii():
        return np.frombuffer(joined.encode(), np.uint8), np.array(list(map(len, strings)), np.int64)
    sizes = [len(s if s.isascii() else s.encode("utf-8", "surrogatepass")) for s in strings]
    text = np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)
    return text, np.array(sizes, np.int64)


class Ordered(NamedTuple):
    """Strings in the order of their hash, and the place of each one there."""

    text: Array
    sizes: Array
    places: Array


def in_order(text: Array, sizes: Array) -> Ordered:
    """Bring strings into the order of their hash."""
    starts = starts_of(sizes)
    order = np.argsort(hashes_of(text, starts), kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return Ordered(unfolded(order, starts, text), sizes[order], places)


class Strings:
    """The strings of a day: cut out of their text when they are asked for."""

    def __init__(self, text: Array, sizes: Array):
        self.text = text
        self._sizes = sizes
        self._cut: dict[int, str] = {}

    @cached_property
    def starts(self) -> Array:
        """Where each string begins."""
        return starts_of(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def __getitem__(self, place: int) -> str:
        """One of the strings; it is cut out once."""
        string = self._cut.get(place)
        if string is None:
            start, end = self.starts[place : place + 2]
            string = self._cut[place] = as_text(self.text[start:end].tobytes())
        return string

    def pick(self, places: Iterable[int]) -> list[str]:
        """Some of the strings."""
        return list(map(self.__getitem__, places))

    @cached_property
    def arrays(self) -> TextArrays:
        """These strings as those of the only day."""
        marks = marks_of(self.text, self.starts)
        ends = (np.array([0, size]) for size in (len(self), len(marks)))
        return TextArrays(next(ends), self.text, self.starts, next(ends), marks)

    def all(self) -> list[str]:
        """All strings; they are not kept."""
        text, starts = self.text.tobytes(), self.starts.tolist()
        return [as_text(text[start:end]) for start, end in pairwise(starts)]


def as_text(letters: bytes) -> str:
    """What `pack` made bytes of."""
    return letters.decode("utf-8", "surrogatepass")


@compiled
def hash_of(text: Array, start: int, end: int) -> Any:
    """FNV-1a of some bytes, 32 bits."""
    value = np.uint64(2166136261)
    for at in range(start, end):
        value = (value ^ np.uint64(text[at])) * np.uint64(16777619)
    return np.uint32(value & np.uint64(0xFFFFFFFF))


@compiled
def hashes_of(text: Array, starts: Array) -> Array:
    """The hash of each string of a text."""
    hashes = np.empty(len(starts) - 1, np.uint32)
    for place in range(len(hashes)):
        hashes[place] = hash_of(text, starts[place], starts[place + 1])
    return hashes


@compiled
def unfolded(lists: Array, starts: Array, items: Array) -> Array:
    """The items of lists, or the letters of strings, one after the other."""
    size = 0
    for number in lists:
        size += starts[number + 1] - starts[number]
    found, at = np.empty(size, items.dtype), 0
    for number in lists:
        for k in range(starts[number], starts[number + 1]):
            found[at] = items[k]
            at += 1
    return found


class TextArrays(NamedTuple):
    """The strings of several days."""

    firsts: Array  # the first string of each day
    text: Array
    starts: Array
    mark_firsts: Array  # the first mark of each day
    marks: Array  # the hashes of the first string of each day and of every `STEP`th after it


class Lookup(NamedTuple):
    """Strings to look up."""

    text: Array
    starts: Array
    hashes: Array


def lookup_of(strings: Sequence[str]) -> Lookup:
    """Strings to look up, with their hashes."""
    text, sizes = pack(strings)
    starts = starts_of(sizes)
    return Lookup(text, starts, hashes_of(text, starts))


@compiled
def marks_of(text: Array, starts: Array) -> Array:
    """The hash of every `STEP`th string."""
    marks = np.empty((len(starts) + STEP - 2) // STEP, np.uint32)
    for mark in range(len(marks)):
        marks[mark] = hash_of(text, starts[STEP * mark], starts[STEP * mark + 1])
    return marks


@compiled
def find_string(lookup: Lookup, number: int, day: int, of: TextArrays) -> int:
    """The place of a string among those of a day; -1 where it is not there."""
    firsts, text, starts, mark_firsts, marks = of
    wanted, letters, begin = lookup.hashes[number], lookup.text, lookup.starts[number]
    size = lookup.starts[number + 1] - begin
    first, last = mark_firsts[day], mark_firsts[day + 1]
    mark = first + ((last - first) * np.int64(wanted) >> HASH_BITS)  # about there
    while mark > first and marks[mark] >= wanted:
        mark -= 1
    while mark + 1 < last and marks[mark + 1] < wanted:
        mark += 1
    while mark < last and marks[mark] <= wanted:
        start = firsts[day] + STEP * (mark - first)
        for place in range(start, min(start + STEP, firsts[day + 1])):
            if starts[place + 1] - starts[place] == size:
                k = 0  # compared here: a call would count references to all arrays
                while k < size and text[starts[place] + k] == letters[begin + k]:
                    k += 1
                if k == size:
                    return int(place)
        mark += 1
    return -1


@compiled
def string_before(place: int, other: int, text: Array, starts: Array) -> bool:
    """Whether a string comes before another: UTF-8 has the order of the characters."""
    start, other_start = starts[place], starts[other]
    size, other_size = starts[place + 1] - start, starts[other + 1] - other_start
    for k in range(min(size, other_size)):
        if text[start + k] != text[other_start + k]:
            return bool(text[start + k] < text[other_start + k])
    return bool(size < other_size)


class Stack:
    """An array that grows at its end."""

    def __init__(self, kind: type[np.generic], *first: int, columns: tuple[int, ...] = ()):
        self.all = np.empty((1 << 16, *columns), kind)  # what has been put there, and room for more
        self.size = 0
        if first:
            self.add(np.array(first))

    def room(self, more: int) -> None:
        """Make room for so many more."""
        if self.size + more > len(self.all):
            grown = np.empty((2 * (self.size + more), *self.all.shape[1:]), self.all.dtype)
            grown[: self.size] = self.all[: self.size]
            self.all = grown

    def extend(self, more: int) -> Array:
        """Take in so many more, whatever they are; returns them."""
        self.room(more)
        self.size += more
        added: Array = self.all[self.size - more : self.size]
        return added

    def add(self, values: Array) -> None:
        """Put values at the end."""
        self.extend(len(values))[:] = values

    def add_ends(self, ends: Array) -> None:
        """Put ends of lists there that follow those that are there."""
        self.add(ends + self.all[self.size - 1])


class Texts:
    """The strings of several days, in each in the order of their hash."""

    def __init__(self) -> None:
        self._firsts = Stack(np.int64, 0)
        self._text = Stack(np.uint8)
        self._starts = Stack(np.int64, 0)
        self._mark_firsts, self._marks = Stack(np.int64, 0), Stack(np.uint32)

    @property
    def size(self) -> int:
        """How many strings there are."""
        return self._starts.size - 1

    def add(self, strings: Strings) -> int:
        """Put the strings of a day there; returns the number of the first."""
        first = self.size
        self._text.add(strings.text)
        self._starts.add_ends(strings.starts[1:])
        self._firsts.add(np.array([self.size]))
        self._marks.add(marks_of(strings.text, strings.starts))
        self._mark_firsts.add(np.array([self._marks.size]))
        return first

    def string(self, place: int) -> str:
        """One of the strings."""
        start, end = self._starts.all[place : place + 2]
        return as_text(self._text.all[start:end].tobytes())

    @property
    def arrays(self) -> TextArrays:
        """All strings."""
        return TextArrays(
            self._firsts.all, self._text.all, self._starts.all, self._mark_firsts.all,
            self._marks.all,
        )  # fmt: skip


class StringTable:
    """One number for each distinct string of all days: an open hash table that grows."""

    def __init__(self) -> None:
        self._table = np.full(1 << 16, -1, np.int32)
        self._hashes = np.empty(1 << 15, np.uint32)
        self._owner = np.empty(1 << 15, np.int64)  # where a string of that number stands in `text`
        self.size = 0

    def add(self, text: Array, starts: Array, first: int, hashes: Array) -> Array:
        """The numbers of strings from `first` on, by their hashes; those that are new get one."""
        lookup, done = Lookup(text, starts[first:], hashes), 0
        numbers = np.empty(len(hashes), np.int32)
        while True:
            done, self.size = number_strings(
                lookup, done, text, starts, self._table, self._hashes, self._owner, self.size,
                first, numbers,
            )  # fmt: skip
            if done == len(hashes):
                return numbers
            self._hashes, self._owner = doubled(self._hashes), doubled(self._owner)
            self._table = np.full(2 * len(self._hashes), -1, np.int32)
            rehash(self._table, self._hashes[: self.size])

    def find(self, lookup: Lookup, text: Array, starts: Array) -> Array:
        """The numbers of strings; -1 where there is none."""
        numbers = np.empty(len(lookup.hashes), np.int32)
        number_strings(
            lookup, 0, text, starts, self._table, self._hashes, self._owner, self.size, -1, numbers
        )
        return numbers

    @property
    def owners(self) -> Array:
        """A string of each number, as its place among all strings."""
        return self._owner[: self.size]


def doubled(array: Array) -> Array:
    """The array with as much room again."""
    grown = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown


@compiled
def slot_of(value: Any, slots: int) -> int:
    """Where a hash belongs in a table: strings in the order of their hash go through it once."""
    return int((np.int64(value) * slots) >> HASH_BITS)


@compiled
def rehash(table: Array, hashes: Array) -> None:
    """Fill an empty table."""
    for number in range(len(hashes)):
        at = slot_of(hashes[number], len(table))
        while table[at] >= 0:
            at = (at + 1) & (len(table) - 1)
        table[at] = number


@compiled
def number_strings(
    lookup: Lookup, done: int, text: Array, starts: Array, table: Array, hashes: Array,
    owner: Array, size: int, first: int, numbers: Array,
) -> tuple[int, int]:  # fmt: skip
    """Number strings; returns how many are done, and how many numbers there are.

    The strings stand in `text` from `first` on, and new ones get a number while there is room; with
    `first` -1 they stand elsewhere and get -1.
    """
    letters, begins, wanted = lookup
    for k in range(done, len(wanted)):
        size_k, number = begins[k + 1] - begins[k], -1
        at = slot_of(wanted[k], len(table))
        while table[at] >= 0 and number < 0:
            place = owner[table[at]]
            same = 0  # compared here: a call would count references to all arrays
            if hashes[table[at]] == wanted[k] and starts[place + 1] - starts[place] == size_k:
                while same < size_k and letters[begins[k] + same] == text[starts[place] + same]:
                    same += 1
                if same == size_k:
                    number = table[at]
            at = at + 1 & len(table) - 1
        if number < 0 and first >= 0:
            if size == len(hashes):
                return k, size
            table[at], hashes[size], owner[size] = size, wanted[k], first + k
            number, size = size, size + 1
        numbers[k] = number
    return len(wanted), size
