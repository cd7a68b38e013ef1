"""The index of one day of news: its entities and its words, article by article, in time order.

A day is the unit of everything: windows are whole days and a part of the last one, a new article
touches its own day alone, and on a cluster days are what is handed out. Statistics of a window are
sums over its days, so no result depends on how the news was cut up.

A file holds what each article says, in the smallest whole numbers that can; posting lists are made
from that when a day is opened, by counting, which takes no longer than reading them would.

Entities. A *surface* is a distinct entity string, a *slot* a surface in one article. What of an
article matches an entity softly is decided when the day is built: each slot knows the other slots
of its article that strictly match it (`Trump` beside `Donald Trump`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array, number_all, starts_of
from hashnews.errors import ModelError
from hashnews.index.matching import absorbed_slots, holding
from hashnews.index.packed import Strings, in_order, pack
from hashnews.index.tokenise import read_words

MOST = 65_535  # mentions of one article that count
MAGIC = b"hashnews day 2\n"


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


def smallest(numbers: Array) -> Array:
    """Whole numbers in the smallest type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def build_day(entries: Iterable[Entry], settings: Settings) -> Day:
    """The index of some articles of one day (or of a reference corpus, as if it were one)."""
    # Later articles last, and of one moment the smaller id last: a later place wins a tie.
    ordered = sorted(entries, key=lambda entry: entry.id, reverse=True)
    ordered.sort(key=lambda entry: entry.published)
    id_text, id_sizes = pack([entry.id for entry in ordered])
    arrays = {
        "id_text": id_text,
        "id_sizes": id_sizes,
        **_entity_arrays([entry.entities for entry in ordered], settings),
        **_word_arrays([entry.text for entry in ordered]),
    }
    times = np.array([entry.published for entry in ordered], np.int64)
    return Day({"times": times, **{name: smallest(array) for name, array in arrays.items()}})


def _entity_arrays(mentions: Sequence[Sequence[str]], settings: Settings) -> dict[str, Array]:
    counted = [names[:MOST] for names in mentions]
    written, distinct = number_all(chain.from_iterable(counted))
    folded, surfaces = number_all(map(fold_entity, distinct))
    token_of, tokens = number_all(chain.from_iterable(map(str.split, surfaces)))
    if "" in surfaces:  # white space is no entity
        folded[folded == surfaces.index("")] = -1
    docs = np.repeat(np.arange(len(counted)), list(map(len, counted)))
    surface = folded[written]
    docs, surface = docs[surface >= 0], surface[surface >= 0]
    slots, slot_counts = np.unique(docs * len(surfaces) + surface, return_counts=True)
    slot_docs, slot_surfaces = np.divmod(slots, max(1, len(surfaces)))
    doc_slots = np.bincount(slot_docs, minlength=len(counted))
    surface_sizes = np.array([name.count(" ") + 1 if name else 0 for name in surfaces], np.int64)
    codes, code_starts = np.zeros(0, np.uint32), np.zeros(1, np.int64)
    if settings.t < 1:
        letters = [np.frombuffer(t.encode("utf-32-le", "surrogatepass"), np.uint32) for t in tokens]
        codes = np.concatenate([*letters, codes])
        code_starts = starts_of(np.array(list(map(len, letters)), np.int64))
    absorbed_sizes, absorbed = absorbed_slots(
        starts_of(doc_slots), slot_surfaces, starts_of(surface_sizes), token_of,
        codes, code_starts, settings.t, settings.q,
    )  # fmt: skip
    text, sizes, places = in_order(*pack(tokens))
    return {
        "token_text": text,
        "token_sizes": sizes,
        "surface_sizes": surface_sizes,
        "surface_tokens": places[token_of],
        "doc_slots": doc_slots,
        "slot_surfaces": slot_surfaces,
        "slot_counts": slot_counts,
        "absorbed_sizes": absorbed_sizes,
        "absorbed": absorbed,  # counted from the article's first slot
    }


def _word_arrays(texts: Sequence[str]) -> dict[str, Array]:
    said = read_words(texts)
    text, sizes, places = in_order(said.text, said.sizes)
    return {
        "word_text": text,
        "word_sizes": sizes,
        "doc_sizes": said.counts,
        "doc_words": places[said.numbers],
    }


class Day:
    """The arrays of one built day, in memory or mapped from a file."""

    def __init__(self, arrays: dict[str, Array]):
        self.arrays = arrays
        self.times = arrays["times"]
        self.size = len(self.times)
        self.ids = Strings(arrays["id_text"], arrays["id_sizes"])
        self.tokens = Strings(arrays["token_text"], arrays["token_sizes"])
        self.words = Strings(arrays["word_text"], arrays["word_sizes"])

    def id(self, place: int) -> str:
        """The id of an article."""
        return self.ids[place]

    @cached_property
    def doc_starts(self) -> Array:
        """Where the words of each article begin."""
        return starts_of(self.arrays["doc_sizes"])

    @cached_property
    def mentions(self) -> Array:
        """How many entity mentions each article has."""
        sums = starts_of(self.arrays["slot_counts"])
        return np.diff(sums[starts_of(self.arrays["doc_slots"])])

    @cached_property
    def word_counts(self) -> Array:
        """How often each word stands in the day."""
        return np.bincount(self.arrays["doc_words"], minlength=len(self.words))

    @cached_property
    def words_holding(self) -> Array:
        """How many articles say each word."""
        return holding(self.doc_starts, self.arrays["doc_words"], len(self.words))

    @cached_property
    def surfaces(self) -> list[str]:
        """All distinct entity strings."""
        tokens = self.arrays["surface_tokens"].tolist()
        starts = starts_of(self.arrays["surface_sizes"]).tolist()
        return [" ".join(self.tokens.pick(tokens[start:end])) for start, end in pairwise(starts)]

    def words_of(self, place: int) -> list[str]:
        """The words of an article, stop words aside, as often as they stand there."""
        start, end = self.doc_starts[place : place + 2]
        return self.words.pick(self.arrays["doc_words"][start:end].tolist())

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
