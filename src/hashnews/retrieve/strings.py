"""Many strings as one text: where each begins, and how one of them is found.

The strings of a day stand in the order of their hash, so that a string is found by a binary search
over hashes, which are computed when the day is opened. No dictionary is made, and nothing of it is
stored. Equal hashes are no equal strings: the letters are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from hashnews.retrieve.rank import compiled

Array = np.ndarray[Any, Any]


class Numbering(dict[str, int]):
    """Numbers for strings, in the order in which they are first asked for."""

    def __missing__(self, string: str) -> int:
        number = self[string] = len(self)
        return number


def number_all(strings: Iterable[str]) -> tuple[Array, list[str]]:
    """Each string's number, and the distinct strings."""
    known = Numbering()
    numbers = np.fromiter(map(known.__getitem__, strings), np.int64)
    return numbers, list(known)


def starts_of(sizes: Array) -> Array:
    """Where each of consecutive lists begins, and where the last one ends."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


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


def in_order(strings: Sequence[str]) -> Ordered:
    """Bring strings into the order of their hash."""
    text, sizes = pack(strings)
    starts = starts_of(sizes)
    order = np.argsort(hashes_of(text, starts), kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return Ordered(rearranged(text, starts, order), sizes[order], places)


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
        text, starts, known = self._cut
        picked = []
        for place in places:
            string = known[place]
            if string is None:
                string = text[starts[place] : starts[place + 1]].decode("utf-8", "surrogatepass")
                known[place] = string
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
def rearranged(text: Array, starts: Array, order: Array) -> Array:
    """The text with its strings in another order."""
    moved, at = np.empty(len(text), np.uint8), 0
    for place in order:
        for k in range(starts[place], starts[place + 1]):
            moved[at] = text[k]
            at += 1
    return moved


@compiled
def unfolded(lists: Array, starts: Array, items: Array) -> Array:
    """The items of lists, one list after the other."""
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


@compiled
def find_string(
    asked: Array, start: int, end: int, text: Array, starts: Array, hashes: Array,
    first: int, last: int,
) -> int:  # fmt: skip
    """The place of a string among those from `first` to `last`; -1 where it is not there."""
    wanted = hash_of(asked, start, end)
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if hashes[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    while low < last and hashes[low] == wanted:
        size = starts[low + 1] - starts[low]
        if size == end - start and same(asked, start, size, text, starts[low]):
            return low
        low += 1
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
        self.firsts = Stack(np.int64, 0)
        self.text = Stack(np.uint8)
        self.starts = Stack(np.int64, 0)
        self.hashes = Stack(np.uint32)

    def add(self, strings: Strings) -> int:
        """Put the strings of a day there; gives the number of the first."""
        first = self.hashes.size
        self.text.add(strings.text)
        self.starts.add_ends(strings.starts[1:])
        self.hashes.add(hashes_of(strings.text, strings.starts))
        self.firsts.add(np.array([self.hashes.size]))
        return first

    def string(self, place: int) -> str:
        """One of the strings."""
        start, end = self.starts.all[place : place + 2]
        return self.text.all[start:end].tobytes().decode("utf-8", "surrogatepass")

    @property
    def strings(self) -> tuple[Array, Array, Array]:
        """The text, where each string begins, and its hash."""
        return self.text.all, self.starts.all, self.hashes.all[: self.hashes.size]


class Vocabulary:
    """One number for each distinct string of all days: an open hash table that grows."""

    def __init__(self) -> None:
        self._table = np.full(1 << 16, -1, np.int32)
        self._hashes = np.empty(1 << 15, np.uint32)
        self._owner = np.empty(1 << 15, np.int64)  # where a string of that number stands in `text`
        self.size = 0

    def add(self, text: Array, starts: Array, hashes: Array, first: int) -> Array:
        """The numbers of the strings from `first` on; those that are new get one."""
        new = len(hashes) - first
        while self.size + new > len(self._hashes):
            self._hashes, self._owner = doubled(self._hashes), doubled(self._owner)
        if 2 * len(self._hashes) > len(self._table):
            self._table = np.full(2 * len(self._hashes), -1, np.int32)
            rehash(self._table, self._hashes[: self.size])
        numbers = np.empty(new, np.int32)
        self.size = merge(
            text, starts, hashes, first, self._table, self._hashes, self._owner, self.size, numbers
        )
        return numbers

    @property
    def owners(self) -> Array:
        """A string of each number, as its place among all strings."""
        return self._owner[: self.size]


def doubled(array: Array) -> Array:
    """The array with as much room again."""
    return np.concatenate([array, np.empty_like(array)])


@compiled
def rehash(table: Array, hashes: Array) -> None:
    """Fill an empty table."""
    for number in range(len(hashes)):
        at = hashes[number] & (len(table) - 1)
        while table[at] >= 0:
            at = (at + 1) & (len(table) - 1)
        table[at] = number


@compiled
def merge(
    text: Array, starts: Array, hashes: Array, first: int, table: Array, known: Array,
    owner: Array, size: int, numbers: Array,
) -> int:  # fmt: skip
    """Number the strings from `first` on; gives how many numbers there are."""
    for place in range(first, len(hashes)):
        at = hashes[place] & (len(table) - 1)
        length = starts[place + 1] - starts[place]
        while True:
            number = table[at]
            if number < 0:
                table[at], known[size], owner[size] = size, hashes[place], place
                numbers[place - first] = size
                size += 1
                break
            if known[number] == hashes[place]:
                other = starts[owner[number]]
                if starts[owner[number] + 1] - other == length and same(
                    text, starts[place], length, text, other
                ):
                    numbers[place - first] = number
                    break
            at = (at + 1) & (len(table) - 1)
    return size
