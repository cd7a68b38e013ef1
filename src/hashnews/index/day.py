"""The index of one day of news: its entities and its words, article by article, in time order.

A day is the unit of everything: windows are whole days and a part of the last one, a new article
touches its own day alone, and on a cluster days are what is handed out. Statistics of a window are
sums over its days, so no result depends on how the news was cut up.

A file holds what each article says, in the smallest whole numbers that can: each word once, and how
often it stands there. Posting lists are made from that when a window first needs them, by counting,
which takes no longer than reading them would.

Entities. A *surface* is a distinct entity string, a *slot* a surface in one article. What of an
article matches an entity softly is decided when the day is built: each slot knows the other slots
of its article that strictly match it (`Trump` beside `Donald Trump`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array, compiled, number_all, smallest, starts_of
from hashnews.index.array_file import map_arrays, save_arrays
from hashnews.index.packed import Strings, in_order, pack
from hashnews.index.tokenise import read_words
from hashnews.retrieve.equations import Letters, letters_of, strict_match

MOST = 65_535  # mentions of one article that count
MAGIC = b"hashnews day 3\n"


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


ARRAYS = (  # of a day, beside the times
    "id_text", "id_sizes", "token_text", "token_sizes", "surface_sizes", "surface_tokens",
    "doc_slots", "slot_surfaces", "slot_counts", "absorbed_sizes", "absorbed", "word_text",
    "word_sizes", "word_docs", "doc_sizes", "doc_distinct", "doc_words", "doc_counts",
)  # fmt: skip


def fold_entity(entity: str) -> str:
    """An entity as it is compared: lower-case, one space between tokens."""
    return " ".join(entity.lower().split())


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


def empty_day() -> Day:
    """What is built of no articles, without the loops that build."""
    nothing = dict.fromkeys(ARRAYS, np.zeros(0, np.uint8))
    return Day({"times": np.zeros(0, np.int64), **nothing})


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
    absorbed_sizes, absorbed = absorbed_slots(
        starts_of(doc_slots), slot_surfaces, starts_of(surface_sizes), token_of,
        letters_of(tokens), *settings,
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
    distinct, words, counts, holding = distinct_words(
        starts_of(said.counts), said.numbers, len(sizes)
    )
    word_docs = np.empty_like(holding)
    word_docs[places] = holding
    return {
        "word_text": text,
        "word_sizes": sizes,
        "word_docs": word_docs,  # how many articles say each
        "doc_sizes": said.counts,
        "doc_distinct": distinct,
        "doc_words": places[words],  # each once an article, and how often it stands there:
        "doc_counts": counts,
    }


@compiled
def absorbed_slots(
    doc_starts: Array,  # slots of each article, article by article
    surface: Array,  # of each slot
    token_starts: Array,  # tokens of each surface
    tokens: Array,
    letters: Letters,
    t: float,
    q: float,
) -> tuple[Array, Array]:
    """For each slot the other slots of its article that strictly match it: how many, and which."""
    sizes = np.zeros(len(surface), np.int64)
    found = np.empty(max(16, len(surface)), np.int64)
    signs = np.full(len(surface), ~np.uint64(0))  # at t = 1 slots without a common bit cannot match
    if t == 1.0 and q > 0:
        for slot in range(len(surface)):
            signs[slot] = 0
            for x in range(token_starts[surface[slot]], token_starts[surface[slot] + 1]):
                signs[slot] |= np.uint64(1) << np.uint64(tokens[x] & 63)
    size = 0
    for doc in range(len(doc_starts) - 1):
        for whole in range(doc_starts[doc], doc_starts[doc + 1]):
            full = tokens[token_starts[surface[whole]] : token_starts[surface[whole] + 1]]
            for part in range(doc_starts[doc], doc_starts[doc + 1]):
                if part == whole or not signs[part] & signs[whole]:
                    continue
                entity = tokens[token_starts[surface[part]] : token_starts[surface[part] + 1]]
                if strict_match(entity, full, letters, t, q):
                    if size == len(found):
                        found = np.concatenate((found, np.empty(size, np.int64)))
                    found[size] = part - doc_starts[doc]
                    size += 1
                    sizes[whole] += 1
    return sizes, found[:size].copy()


@compiled
def distinct_words(doc_starts: Array, said: Array, known: int) -> tuple[Array, Array, Array, Array]:
    """The distinct words of each article: how many, which, how often; and articles a word."""
    distinct, holding = np.zeros(len(doc_starts) - 1, np.int64), np.zeros(known, np.int64)
    words, counts = np.empty(len(said), np.int64), np.zeros(len(said), np.int64)
    place, first, size = np.full(known, -1, np.int64), 0, 0
    for doc in range(len(distinct)):
        for at in range(doc_starts[doc], doc_starts[doc + 1]):
            word = said[at]
            if place[word] < first:  # not in this article yet
                place[word], words[size] = size, word
                holding[word] += 1
                size += 1
            counts[place[word]] += 1
        distinct[doc], first = size - first, size
    return distinct, words[:size], counts[:size], holding


class Day:
    """The arrays of one built day, in memory or mapped from a file."""

    def __init__(self, arrays: dict[str, Array]):
        for array in arrays.values():
            array.flags.writeable = False  # mapped ones are; one kind of array is compiled for
        self.arrays = arrays
        self.times = arrays["times"]
        self.size = len(self.times)
        self.ids = Strings(arrays["id_text"], arrays["id_sizes"])
        self.tokens = Strings(arrays["token_text"], arrays["token_sizes"])
        self.words = Strings(arrays["word_text"], arrays["word_sizes"])

    @cached_property
    def doc_starts(self) -> Array:
        """Where the distinct words of each article begin."""
        return starts_of(self.arrays["doc_distinct"])

    @cached_property
    def mentions(self) -> Array:
        """How many entity mentions each article has."""
        sums = starts_of(self.arrays["slot_counts"])
        return np.diff(sums[starts_of(self.arrays["doc_slots"])])

    @cached_property
    def words_holding(self) -> Array:
        """How many articles say each word."""
        return self.arrays["word_docs"].astype(np.int32)

    @cached_property
    def surfaces(self) -> list[str]:
        """All distinct entity strings."""
        tokens = self.arrays["surface_tokens"].tolist()
        starts = starts_of(self.arrays["surface_sizes"]).tolist()
        return [" ".join(self.tokens.pick(tokens[start:end])) for start, end in pairwise(starts)]

    def save(self, path: Path) -> None:
        """Write the arrays into one file that can be mapped into memory."""
        save_arrays(path, MAGIC, self.arrays)

    @classmethod
    def load(cls, path: Path) -> Day:
        """Map a file that `save` wrote; nothing is read until it is needed."""
        return cls(map_arrays(path, MAGIC))
