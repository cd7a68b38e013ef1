"""The index of one day of news: postings of its entities and of its words, in time order.

A day is the unit of everything: windows are whole days and a part of the last one, a new article
touches its own day alone, and on a cluster days are what is handed out. Statistics of a window are
sums over its days, so no result depends on how the news was cut up.

Entities. A *surface* is a distinct entity string, a *slot* a surface in one article. What of an
article matches an entity softly is decided when the day is built: each slot knows the other slots
of its article that strictly match it (`Trump` beside `Donald Trump`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hashnews.errors import ModelError
from hashnews.retrieve.kernels import absorbed_slots
from hashnews.text.stopwords import STOP_WORDS
from hashnews.text.tokens import words

Array = np.ndarray[Any, Any]
MOST = 65_535  # mentions of one article that count, and the largest frequency
MAGIC = b"hashnews day 1\n"


class Settings(NamedTuple):
    """What decides which entities match; part of a built day."""

    t: float = 1.0
    q: float = 0.65


class Entry(NamedTuple):
    """An article as the index needs it; `published` in microseconds since 1970."""

    id: str
    published: int
    entities: Sequence[str]
    text: str


def fold_entity(entity: str) -> str:
    """An entity as it is compared: lower-case, one space between tokens."""
    return " ".join(entity.lower().split())


def small(largest: int) -> type[np.unsignedinteger[Any]]:
    """The smaller of two whole-number types: two are enough, and each is compiled for."""
    return np.uint16 if largest < 1 << 16 else np.uint32


def starts_of(sizes: Iterable[int]) -> Array:
    """Where each of consecutive lists begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(list(sizes))]).astype(np.uint32)


def pack(strings: Sequence[str]) -> tuple[Array, Array]:
    """Strings as bytes and where each begins."""
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    return np.frombuffer(b"".join(encoded), np.uint8), starts_of(map(len, encoded))


def build_day(entries: Iterable[Entry], settings: Settings) -> Day:
    """The index of some articles of one day (or of a reference corpus, as if it were one)."""
    # Later articles last, and of one moment the smaller id last: a later place wins a tie.
    ordered = sorted(entries, key=lambda entry: entry.id, reverse=True)
    ordered.sort(key=lambda entry: entry.published)
    id_text, id_starts = pack([entry.id for entry in ordered])
    arrays = {
        "times": np.array([entry.published for entry in ordered], np.int64),
        "id_text": id_text,
        "id_starts": id_starts,
        **_entity_arrays([entry.entities for entry in ordered], settings),
        **_word_arrays([entry.text for entry in ordered]),
    }
    return Day(arrays)


def _entity_arrays(mentions: Sequence[Sequence[str]], settings: Settings) -> dict[str, Array]:
    surfaces: dict[str, int] = {}
    folded: dict[str, str] = {}  # the same names come again and again
    surface: list[int] = []
    counts: list[int] = []
    sizes, lengths = [], []
    for names in mentions:
        here: dict[int, int] = {}
        for name in names[:MOST]:
            fold = folded.get(name)
            if fold is None:
                fold = folded[name] = fold_entity(name)
            if fold:
                known = surfaces.setdefault(fold, len(surfaces))
                here[known] = here.get(known, 0) + 1
        surface += here
        counts += here.values()
        sizes.append(len(here))
        lengths.append(sum(here.values()))
    tokens: dict[str, int] = {}
    token_of = [[tokens.setdefault(t, len(tokens)) for t in name.split()] for name in surfaces]
    codes, code_starts = np.zeros(0, np.uint32), np.zeros(1, np.uint32)
    if settings.t < 1:
        letters = [np.frombuffer(t.encode("utf-32-le", "surrogatepass"), np.uint32) for t in tokens]
        codes = np.concatenate([*letters, np.zeros(0, np.uint32)])
        code_starts = starts_of(map(len, letters))
    doc_starts = starts_of(sizes)
    of_slot, in_slot = np.array(surface, np.uint32), np.array(counts, np.uint32)
    absorbed_starts, absorbed, f = absorbed_slots(
        doc_starts, of_slot, in_slot, starts_of(map(len, token_of)),
        np.array([t for row in token_of for t in row], np.uint32),
        codes, code_starts, settings.t, settings.q,
    )  # fmt: skip
    # Slots by surface, then by article; lists of absorbed slots follow.
    docs = np.repeat(np.arange(len(sizes)), sizes)
    order = np.argsort(of_slot, kind="stable")
    place = np.empty(len(order), np.uint32)
    place[order] = np.arange(len(order))
    held = np.diff(absorbed_starts)[order]
    moved = [absorbed[absorbed_starts[s] : absorbed_starts[s + 1]] for s in order[held > 0]]
    pairs = sorted({(t, s) for s, row in enumerate(token_of) for t in row})
    token_text, token_text_starts = pack(list(tokens))
    surface_text, surface_text_starts = pack(list(surfaces))
    return {
        "lengths": np.array(lengths, np.uint16),
        "token_text": token_text,
        "token_text_starts": token_text_starts,
        "token_starts": starts_of(np.bincount([t for t, _ in pairs], minlength=len(tokens))),
        "token_surfaces": np.array([s for _, s in pairs], small(len(surfaces))),
        "surface_text": surface_text,
        "surface_text_starts": surface_text_starts,
        "surface_starts": starts_of(np.bincount(of_slot, minlength=len(surfaces))),
        "slot_docs": docs[order].astype(small(len(sizes))),
        "slot_counts": in_slot[order].astype(np.uint16),
        "slot_f": np.minimum(f[order], MOST).astype(np.uint16),
        "absorbed_starts": starts_of(held),
        "absorbed": place[np.concatenate([*moved, np.zeros(0, np.uint32)]).astype(np.int64)],
    }


def _word_arrays(texts: Sequence[str]) -> dict[str, Array]:
    known: dict[str, int] = {}
    read: dict[str, list[int]] = {}  # what stands between white space, as places of its words
    said: list[int] = []
    sizes = []
    for text in texts:
        before = len(said)
        for chunk in text.split():
            places = read.get(chunk)
            if places is None:
                places = read[chunk] = [
                    known.setdefault(word, len(known))
                    for word in words(chunk)
                    if word not in STOP_WORDS
                ]
            said += places
        sizes.append(len(said) - before)
    forward = np.array(said, np.int64)
    docs = np.repeat(np.arange(len(texts)), sizes)
    word_text, word_text_starts = pack(list(known))
    return {
        "word_text": word_text,
        "word_text_starts": word_text_starts,
        "doc_starts": starts_of(sizes),
        "doc_words": forward.astype(small(len(known))),
        "word_starts": starts_of(np.bincount(forward, minlength=len(known))),
        # An article stands as often as the word stands in it.
        "word_docs": docs[np.argsort(forward, kind="stable")].astype(small(len(texts))),
    }


class Day:
    """The arrays of one built day, in memory or mapped from a file."""

    def __init__(self, arrays: dict[str, Array]):
        self.arrays = arrays
        self.times = arrays["times"]
        self.size = len(self.times)
        self.lengths = arrays["lengths"]
        self.word_lengths = np.diff(arrays["doc_starts"])
        self._id_text, self._id_starts = arrays["id_text"], arrays["id_starts"]
        self.surface_starts = arrays["surface_starts"]
        self.token_surfaces = arrays["token_starts"], arrays["token_surfaces"]
        self.slots = (
            arrays["surface_starts"], arrays["slot_docs"], arrays["slot_counts"],
            arrays["slot_f"], arrays["absorbed_starts"], arrays["absorbed"],
        )  # fmt: skip

    def id(self, place: int) -> str:
        """The id of an article."""
        start, end = self._id_starts[place : place + 2]
        return self._id_text[start:end].tobytes().decode("utf-8", "surrogatepass")

    def strings(self, name: str) -> list[str]:
        """All tokens, surfaces or words."""
        text = self.arrays[f"{name}_text"].tobytes()
        starts = self.arrays[f"{name}_text_starts"].tolist()
        return [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(starts)]

    @cached_property
    def tokens(self) -> dict[str, int]:
        """The place of each token of an entity."""
        return {token: place for place, token in enumerate(self.strings("token"))}

    @cached_property
    def words(self) -> dict[str, int]:
        """The place of each word."""
        return {word: place for place, word in enumerate(self.word_list)}

    @cached_property
    def surfaces(self) -> list[str]:
        """All distinct entity strings."""
        return self.strings("surface")

    @cached_property
    def word_list(self) -> list[str]:
        """All words."""
        return self.strings("word")

    @cached_property
    def word_articles(self) -> Array:
        """How many articles say each word."""
        docs, starts = self.arrays["word_docs"], self.arrays["word_starts"]
        new = np.ones(len(docs), np.int64)
        new[1:] = docs[1:] != docs[:-1]
        new[starts[:-1][starts[:-1] < len(docs)]] = 1
        return np.add.reduceat(new, starts[:-1]) if len(starts) > 1 else new

    def words_of(self, place: int) -> list[str]:
        """The words of an article, stop words aside, as often as they stand there."""
        starts = self.arrays["doc_starts"]
        said = self.arrays["doc_words"][starts[place] : starts[place + 1]].tolist()
        known = self.word_list
        return [known[word] for word in said]

    def save(self, path: Path) -> None:
        """Write the arrays into one file that can be mapped into memory."""
        header, offset = {}, 0
        for name, array in self.arrays.items():
            header[name] = (array.dtype.str, len(array), offset)
            offset += -(-array.nbytes // 8) * 8
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with path.open("wb") as stream:
            stream.write(MAGIC.ljust(16) + len(text).to_bytes(8, "little") + text)
            for array in self.arrays.values():
                stream.write(array.tobytes().ljust(-(-array.nbytes // 8) * 8, b"\0"))

    @classmethod
    def load(cls, path: Path) -> Day:
        """Map a file that `save` wrote; nothing is read until it is needed."""
        mapped = np.memmap(path, np.uint8, "r").view(np.ndarray)
        if mapped[: len(MAGIC)].tobytes() != MAGIC:
            raise ModelError(f"{path} is not a day of a news index; delete the index")
        size = int(mapped[16:24].view(np.int64)[0])
        header, start = json.loads(mapped[24 : 24 + size].tobytes()), 24 + size
        arrays = {}
        for name, (kind, length, offset) in header.items():
            begin = start + offset
            nbytes = length * np.dtype(kind).itemsize
            arrays[name] = mapped[begin : begin + nbytes].view(kind)
        return cls(arrays)
