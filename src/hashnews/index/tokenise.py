"""The words of many texts at once: of each text what `hashnews.text.tokens.words` reads.

No word reaches over white space, so what stands between white space, a *chunk*, is read once,
however often it comes. Most chunks are plain: words of ASCII letters and digits, hyphens between
them, marks around them. Those are read here, compiled; the few others by `words` itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array, compiled, starts_of
from hashnews.index.packed import StringTable, hashes_of, pack, unfolded
from hashnews.text.stopwords import STOP_WORDS
from hashnews.text.tokens import EDGES, words

OTHER, LETTER, HYPHEN, EDGE, SPACE = range(5)
KNOWN = 0x3001  # there is no white space and none of EDGES beyond


def kind_of(sign: str) -> int:
    """What a character is where plain chunks are read."""
    if sign.isspace():
        return SPACE
    if sign in EDGES:
        return EDGE
    if sign == "-":
        return HYPHEN
    return LETTER if sign.isascii() and sign.isalnum() else OTHER


KINDS = np.array([kind_of(chr(code)) for code in range(KNOWN)], np.uint8)


class Reading(NamedTuple):
    """The words of texts, stop words aside."""

    numbers: Array  # of each word, text after text
    counts: Array  # how many words each text has
    text: Array  # the words that the numbers stand for,
    sizes: Array  # and how long each is


class Pieces(NamedTuple):
    """What stands between white space in texts."""

    text: Array
    starts: Array
    counts: Array  # how many each text has


def read_words(texts: Sequence[str]) -> Reading:
    """The words of texts; numbers are given in the order in which words first come."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    chunks = cut(codes, starts_of(np.array(list(map(len, texts)), np.int64)), KINDS)
    chunk_of, firsts = numbered(chunks.text, chunks.starts)
    said = read_chunks(chunks, firsts)
    stop_text, stop_sizes = pack(sorted(STOP_WORDS))  # numbered first, so they are known by number
    text = np.concatenate([stop_text, said.text])
    starts = starts_of(np.concatenate([stop_sizes, np.diff(said.starts)]))
    word_of, owners = numbered(text, starts)
    stops = len(stop_sizes)
    word_of, owners = word_of[stops:] - stops, owners[stops:]
    of_chunk = np.repeat(np.arange(len(firsts)), said.counts)[word_of >= 0]
    in_chunk = np.bincount(of_chunk, minlength=len(firsts))
    before = starts_of(chunks.counts)
    return Reading(
        unfolded(chunk_of, starts_of(in_chunk), word_of[word_of >= 0]),
        np.diff(starts_of(in_chunk[chunk_of])[before]),
        unfolded(owners, starts, text),
        np.diff(starts)[owners],
    )


def numbered(text: Array, starts: Array) -> tuple[Array, Array]:
    """A number for each string, the same for equal ones, and where each number first stands."""
    table = StringTable()
    return table.add(text, starts, 0, hashes_of(text, starts)), table.owners


def read_chunks(chunks: Pieces, firsts: Array) -> Pieces:
    """The words of some chunks."""
    text, sizes = read_plain(chunks.text, chunks.starts, firsts, KINDS)
    others = np.flatnonzero(sizes == 0)
    spans = zip(*(chunks.starts[firsts[others] + end].tolist() for end in (0, 1)), strict=True)
    written = (chunks.text[start:end].tobytes() for start, end in spans)
    read = [" ".join(words(some.decode("utf-32-le", "surrogatepass"))) for some in written]
    other_text, other_sizes = pack(read)
    order = np.arange(len(firsts))
    order[others] = len(firsts) + np.arange(len(others))
    sizes = np.concatenate([sizes, other_sizes])
    said = unfolded(order, starts_of(sizes), np.concatenate([text, other_text]))
    return cut(said, starts_of(sizes[order]), KINDS[:128])  # bytes: what is not ASCII is a letter


@compiled
def cut(text: Array, starts: Array, kinds: Array) -> Pieces:
    """Cut texts where there is white space."""
    kept, begins = np.empty_like(text), np.empty(len(text) + 2, np.int64)
    counts = np.zeros(len(starts) - 1, np.int64)
    size, pieces = 0, 0
    begins[0] = 0
    for number in range(len(starts) - 1):
        before = pieces
        for at in range(starts[number], starts[number + 1]):
            if text[at] < len(kinds) and kinds[text[at]] == SPACE:
                if size > begins[pieces]:
                    pieces += 1
                    begins[pieces] = size
            else:
                kept[size] = text[at]
                size += 1
        if size > begins[pieces]:
            pieces += 1
            begins[pieces] = size
        counts[number] = pieces - before
    return Pieces(kept[:size], begins[: pieces + 1], counts)


@compiled
def read_plain(text: Array, starts: Array, places: Array, kinds: Array) -> tuple[Array, Array]:
    """Some chunks in lower case, without marks around, spaces for hyphens; plain ones alone."""
    room = 0
    for place in places:
        room += starts[place + 1] - starts[place]
    said, sizes = np.empty(room, np.uint8), np.zeros(len(places), np.int64)
    size = 0
    for number in range(len(places)):
        start, end = starts[places[number]], starts[places[number] + 1]
        while start < end and text[start] < len(kinds) and kinds[text[start]] == EDGE:
            start += 1
        while start < end and text[end - 1] < len(kinds) and kinds[text[end - 1]] == EDGE:
            end -= 1
        before, last = size, HYPHEN  # neither the first nor the last may be a hyphen, nor two
        for at in range(start, end):
            kind = kinds[text[at]] if text[at] < len(kinds) else OTHER
            if kind == LETTER:
                capital = ord("A") <= text[at] <= ord("Z")
                said[size] = text[at] + 32 if capital else text[at]
            elif kind == HYPHEN and last == LETTER:
                said[size] = ord(" ")
            else:
                last = OTHER
                break
            last = kind
            size += 1
        if last != LETTER:
            size = before
        sizes[number] = size - before
    return said[:size], sizes
