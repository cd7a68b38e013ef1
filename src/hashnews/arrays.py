"""Arrays as several rooms use them: compiled loops, lists in one array, numbers for things."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
from numba.core.event import Event, Listener, register
from numba.core.runtime.nrt import rtsys

Array = np.ndarray[Any, Any]
F = TypeVar("F", bound=Callable[..., Any])
BINS = 1024  # of values
TOLD_EVERY = 10.0  # seconds
LOOPS = 50  # that a suggestion from a new store needs
NUMBA: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # C does not call them: 6 % less to compile
}
LOGGER = logging.getLogger("hashnews.arrays")  # unless told otherwise, a line on standard error


class _Compiling(Listener):
    """Says that loops are being compiled: at the first one, and then every few seconds."""

    def __init__(self) -> None:
        self.loops, self._depth, self._told = 0, 0, 0.0

    def on_start(self, event: Event) -> None:
        """A loop, or one that it calls, is going to be compiled."""
        self._depth += 1
        ours = event.data["dispatcher"].py_func.__module__.startswith("hashnews.")
        if ours and self._depth == 1 and time.monotonic() - self._told > TOLD_EVERY:
            self._told = time.monotonic()
            done = f" ({self.loops} of about {LOOPS} so far)" if self.loops else ""
            LOGGER.warning("compiling the inner loops, once, about 20 s%s", done)

    def on_end(self, event: Event) -> None:
        """It is done."""
        self._depth -= 1
        self.loops += self._depth == 0


register("numba:compile", _Compiling())  # type: ignore[no-untyped-call]


def compiled(function: F) -> F:
    """Compile a function when it is first called, and keep it compiled for the next run.

    What an older version kept may name classes that are gone: then it is compiled again.
    """
    made: Any = njit(**NUMBA)(function)
    kept = made._cache

    def load_or_forget(signature: Any, context: Any) -> Any:
        try:
            # Before each load numba reads all that it can compile; loops that are compiled need
            # its memory alone.
            rtsys.initialize(context)
            return kept._load_overload(signature, context)
        except Exception:  # whatever unpickling another version's classes may raise
            kept.flush()
            return None

    kept.load_overload = load_or_forget
    return cast(F, made)


@compiled
def decay(age: Any, half_life: float) -> Any:
    """2^(-age / half-life): what something is worth after a time; of one age, or of an array."""
    return 2.0 ** (-age / half_life)


@compiled
def lower_bound(ordered: Array, wanted: Any) -> int:
    """Where the first of ordered values stands that is not less than the wanted one.

    As numpy's `searchsorted`, which takes numba ten times as long to compile.
    """
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) >> 1
        if ordered[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def smallest(numbers: Array) -> Array:
    """Whole numbers in the smallest type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def starts_of(sizes: Array) -> Array:
    """Where each of consecutive lists begins, and where the last one ends."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


class Groups(NamedTuple):
    """Lists one after the other: list `i` is `values[starts[i]:starts[i + 1]]`."""

    starts: Array
    values: Array


@compiled
def grouped(keys: Array, groups: int) -> tuple[Array, Array]:
    """Where the items of each group end, and the items in order of their group."""
    ends = np.zeros(groups, np.int64)
    for key in keys:
        ends[key] += 1
    ends = np.cumsum(ends)
    items, at = np.empty(len(keys), np.int32), ends.copy()
    for item in range(len(keys) - 1, -1, -1):
        at[keys[item]] -= 1
        items[at[keys[item]]] = item
    return ends, items


@compiled
def highest_first(values: Array, highest: float, most: int) -> Array:
    """The places of the highest values, `most` or some more, and those in order but for a little.

    Values, none less than 0, are counted in bins; the bins come in order, what is in one does not.
    """
    bins, scale = np.zeros(BINS, np.int32), (BINS - 1) / highest
    for value in values:
        bins[int(value * scale)] += 1
    held, lowest = 0, BINS
    while held < min(most, len(values)):
        lowest -= 1
        held, bins[lowest] = held + bins[lowest], held  # now where the bin begins
    kept = np.empty(held, np.int64)
    for k in range(len(values)):
        number = int(values[k] * scale)
        if number >= lowest:
            kept[bins[number]] = k
            bins[number] += 1
    return kept


def groups_of(keys: Array, values: Array, count: int) -> Groups:
    """Values by their key, each list in the order the values came in."""
    ends, items = grouped(keys, count)
    return Groups(np.concatenate([[0], ends]), values[items])


def joined(lists: Sequence[Sequence[int] | Array], kind: type[np.generic]) -> Groups:
    """Lists put one after the other."""
    sizes = np.array([len(listed) for listed in lists], np.int64)
    values = np.concatenate([np.asarray(listed, kind) for listed in lists] or [np.zeros(0, kind)])
    return Groups(starts_of(sizes), values.astype(kind))


class Numbering(dict[str, int]):
    """Numbers for strings, in the order in which they are first asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, string: str) -> int:
        number = self[string] = len(self.names)
        self.names.append(string)
        return number


def number_all(strings: Iterable[str]) -> tuple[Array, list[str]]:
    """Each string's number, and the distinct strings."""
    known = Numbering()
    numbers = np.fromiter(map(known.__getitem__, strings), np.int64)
    return numbers, known.names
