"""Many strings as one text: where each begins, and how one of them is found.

The strings of a day stand in the order of their hash, so that a string is found where its hash
should be; hashes are computed when the day is opened. No dictionary is made, and nothing of it is
stored. Equal hashes are no equal strings: the letters are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from hashnews.arrays import Array, compiled, starts_of

BUCKETS, BUCKET_SHIFT = 1 << 12, 20  # ranges of hashes, and how many bits say where in a range


def pack(strings: Sequence[str]) -> tuple[Array, Array]:
    """Strings as bytes, and how many each has."""
    joined = "".join(strings)
    if joined.isascii():
        return np.frombuffer(joined.encode(), np.uint8), np.array(list(map(len, strings)), np.int64)
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    sizes = np.array(list(map(len, encoded)), np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), sizes


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

    @cached_property
    def starts(self) -> Array:
        """Where each string begins."""
        return starts_of(self._sizes)

    @cached_property
    def _cut(self) -> tuple[bytes, list[int], list[str | None]]:
        return self.text.tobytes(), self.starts.tolist(), [None] * len(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def __getitem__(self, place: int) -> str:
        return self.pick([place])[0]

    def pick(self, places: Iterable[int]) -> list[str]:
        """Some of the strings; each is cut out once."""
        text, starts, strings = self._cut
        picked = []
        for place in places:
            string = strings[place]
            if string is None:
                string = text[starts[place] : starts[place + 1]].decode("utf-8", "surrogatepass")
                strings[place] = string
            picked.append(string)
        return picked


@compiled
def hash_of(text: Array, start: int, end: int) -> Any:
    """FNV-1a of some bytes, 32 bits."""
    value = np.uint64(2166136261)
    for at in range(start, end):
        value = ((value ^ np.uint64(text[at])) * np.uint64(16777619)) & np.uint64(0xFFFFFFFF)
    return np.uint32(value)


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


@compiled
def same(text: Array, start: int, size: int, other: Array, other_start: int) -> bool:
    """Whether two pieces of text of one size are equal."""
    for k in range(size):  # noqa: SIM110 (the compiler knows no generators)
        if text[start + k] != other[other_start + k]:
            return False
    return True


class TextArrays(NamedTuple):
    """The strings of several days."""

    firsts: Array  # the first string of each day
    buckets: Array  # of each day the first string of each range of hashes
    text: Array
    starts: Array
    hashes: Array


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
def bucket_starts(hashes: Array) -> Array:
    """How many hashes, which are in order, come before each range of them."""
    starts, at = np.empty(BUCKETS, np.int64), 0
    for bucket in range(BUCKETS):
        while at < len(hashes) and hashes[at] >> BUCKET_SHIFT < bucket:
            at += 1
        starts[bucket] = at
    return starts


@compiled
def find_string(lookup: Lookup, number: int, day: int, of: TextArrays) -> int:
    """The place of a string among those of a day; -1 where it is not there."""
    wanted, start = lookup.hashes[number], lookup.starts[number]
    length = lookup.starts[number + 1] - start
    place = of.buckets[day * BUCKETS + (wanted >> BUCKET_SHIFT)]
    while place < of.firsts[day + 1] and of.hashes[place] <= wanted:
        if of.hashes[place] == wanted:
            size = of.starts[place + 1] - of.starts[place]
            if size == length and same(lookup.text, start, size, of.text, of.starts[place]):
                return int(place)
        place += 1
    return -1


class Stack:
    """An array that grows at its end."""

    def __init__(self, kind: type[np.generic], *first: int):
        self.all = np.empty(1 << 16, kind)  # what has been put there, and room for more
        self.size = 0
        self.add(np.array(first))

    def room(self, more: int) -> None:
        """Make room for so many more."""
        while self.size + more > len(self.all):
            self.all = doubled(self.all)

    def add(self, values: Array) -> None:
        """Put values at the end."""
        self.room(len(values))
        self.all[self.size : self.size + len(values)] = values
        self.size += len(values)

    def add_ends(self, ends: Array) -> None:
        """Put ends of lists there that follow those that are there."""
        self.add(ends + self.all[self.size - 1])


class Texts:
    """The strings of several days, in each in the order of their hash."""

    def __init__(self) -> None:
        self._firsts = Stack(np.int64, 0)
        self._buckets = Stack(np.int32)
        self._text = Stack(np.uint8)
        self._starts = Stack(np.int64, 0)
        self._hashes = Stack(np.uint32)

    def add(self, strings: Strings) -> int:
        """Put the strings of a day there; returns the number of the first."""
        first, hashes = self._hashes.size, hashes_of(strings.text, strings.starts)
        self._buckets.add(bucket_starts(hashes) + first)
        self._text.add(strings.text)
        self._starts.add_ends(strings.starts[1:])
        self._hashes.add(hashes)
        self._firsts.add(np.array([self._hashes.size]))
        return first

    def string(self, place: int) -> str:
        """One of the strings."""
        start, end = self._starts.all[place : place + 2]
        return self._text.all[start:end].tobytes().decode("utf-8", "surrogatepass")

    @property
    def arrays(self) -> TextArrays:
        """All strings."""
        return TextArrays(
            self._firsts.all, self._buckets.all, self._text.all, self._starts.all,
            self._hashes.all[: self._hashes.size],
        )  # fmt: skip


class StringTable:
    """One number for each distinct string of all days: an open hash table that grows."""

    def __init__(self) -> None:
        self._table = np.full(1 << 16, -1, np.int32)
        self._hashes = np.empty(1 << 15, np.uint32)
        self._owner = np.empty(1 << 15, np.int64)  # where a string of that number stands in `text`
        self.size = 0

    def add(self, text: Array, starts: Array, hashes: Array, first: int) -> Array:
        """The numbers of the strings from `first` on; those that are new get one."""
        numbers, place = np.empty(len(hashes) - first, np.int32), first
        while True:
            place, self.size = merge(
                text, starts, hashes, place, self._table, self._hashes, self._owner, self.size,
                numbers[place - first :],
            )  # fmt: skip
            if place == len(hashes):
                return numbers
            self._hashes, self._owner = doubled(self._hashes), doubled(self._owner)
            self._table = np.full(2 * len(self._hashes), -1, np.int32)
            rehash(self._table, self._hashes[: self.size])

    def find(self, lookup: Lookup, text: Array, starts: Array) -> Array:
        """The numbers of strings; -1 where there is none."""
        return find_numbers(lookup, text, starts, self._table, self._hashes, self._owner)

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
def rehash(table: Array, hashes: Array) -> None:
    """Fill an empty table."""
    for number in range(len(hashes)):
        at = hashes[number] & (len(table) - 1)
        while table[at] >= 0:
            at = (at + 1) & (len(table) - 1)
        table[at] = number


@compiled
def number_of(
    letters: Array, start: int, end: int, wanted: Any, text: Array, starts: Array, table: Array,
    hashes: Array, owner: Array,
) -> tuple[int, int]:  # fmt: skip
    """The number of a string, or -1, and its place in the table, or where it would go."""
    at = wanted & (len(table) - 1)
    while table[at] >= 0:
        number = table[at]
        if hashes[number] == wanted:
            other = starts[owner[number]]
            size = starts[owner[number] + 1] - other
            if size == end - start and same(letters, start, size, text, other):
                return number, at
        at = (at + 1) & (len(table) - 1)
    return -1, at


@compiled
def find_numbers(
    lookup: Lookup, text: Array, starts: Array, table: Array, hashes: Array, owner: Array
) -> Array:
    """The numbers of strings; -1 where there is none."""
    found = np.empty(len(lookup.hashes), np.int64)
    for k in range(len(found)):
        found[k], _ = number_of(
            lookup.text, lookup.starts[k], lookup.starts[k + 1], lookup.hashes[k],
            text, starts, table, hashes, owner,
        )  # fmt: skip
    return found


@compiled
def merge(
    text: Array, starts: Array, hashes: Array, first: int, table: Array, known: Array,
    owner: Array, size: int, numbers: Array,
) -> tuple[int, int]:  # fmt: skip
    """Number strings from `first` on while there is room; returns how far, and how many numbers."""
    for place in range(first, len(hashes)):
        number, at = number_of(
            text, starts[place], starts[place + 1], hashes[place], text, starts, table, known, owner
        )
        if number < 0:
            if size == len(known):
                return place, size
            table[at], known[size], owner[size] = size, hashes[place], place
            number, size = size, size + 1
        numbers[place - first] = number
    return len(hashes), size
