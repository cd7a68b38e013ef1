"""The lexicon: hashtags that people use anywhere, and which words they find worth one.

Each entry has the form most people write, how many people used it, its first and last day where
they are known, and, if it names a topic, a vector: a post is looked up by meaning. An entry is not
there before its first day is over. Words have two counts: how many people say a word, and how many
made it a hashtag.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from hashnews.saved import check_directory
from hashnews.text.meaning import Vectors
from hashnews.text.segment import packed, unpacked
from hashnews.times import A_DAY

KIND = "lexicon"
ALWAYS = -1  # a first day that nobody knows


class LexiconFiles:
    """The files of a lexicon's directory."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.entries = directory / "entries.npz"


class LexiconEntry(NamedTuple):
    """A hashtag that people use anywhere; days since 1970."""

    row: int
    words: tuple[str, ...]
    written: str
    people: int
    first: int
    last: int

    @property
    def key(self) -> str:
        """What makes two hashtags the same."""
        return "".join(self.words)


class Worth(NamedTuple):
    """How many people say a word, and how many of them made it a hashtag."""

    said: int
    tagged: int

    @property
    def odds(self) -> float:
        """How much it is worth: log (tagged + 1) / (said + 20)."""
        return math.log((self.tagged + 1) / (self.said + 20))


UNSEEN = Worth(0, 0)


class Lexicon:
    """Hashtags by key and by meaning; topics come first."""

    def __init__(
        self,
        entries: Sequence[LexiconEntry] = (),
        vectors: Vectors | None = None,
        worth: Mapping[str, Worth] | None = None,
    ):
        self.entries, self.worth = entries, worth or {}
        self._rows = {entry.key: entry.row for entry in entries}
        self._vectors = np.zeros((0, 0), np.float32) if vectors is None else vectors
        self._first = np.array([entry.first for entry in entries[: len(self._vectors)]], np.int64)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def vectors(self) -> Vectors:
        """Of the first entries, the topics."""
        return self._vectors

    def get(self, key: str, moment: int) -> LexiconEntry | None:
        """The entry of a hashtag, if it was there before a moment."""
        row = self._rows.get(key)
        if row is None or (self.entries[row].first + 1) * A_DAY > moment:
            return None
        return self.entries[row]

    def worth_of(self, word: str) -> Worth:
        """How often a word is made a hashtag."""
        return self.worth.get(word, UNSEEN)

    def similar(self, vector: Vectors) -> Vectors:
        """How near the post of this vector each topic is."""
        if not len(self._vectors):
            return np.zeros(0, np.float32)
        found: Vectors = self._vectors @ vector
        return found

    def nearest(self, similar: Vectors, moment: int, most: int) -> list[LexiconEntry]:
        """The topics that are nearest, and were there before a moment."""
        allowed = np.where((self._first + 1) * A_DAY <= moment, similar, -np.inf)
        most = min(most, len(allowed))
        best = np.argpartition(-allowed, most - 1)[:most] if most else np.zeros(0, np.int64)
        order = best[np.argsort(-allowed[best], kind="stable")]
        return [self.entries[row] for row in order.tolist() if allowed[row] > -np.inf]

    def save(self, directory: Path) -> None:
        """Write the entries into a directory that is being made."""
        whole, scales = _small(self._vectors)
        said = sorted(self.worth)
        np.savez_compressed(
            LexiconFiles(directory).entries,
            words=packed([" ".join(entry.words) for entry in self.entries]),
            written=packed([entry.written for entry in self.entries]),
            people=np.array([entry.people for entry in self.entries], np.int32),
            days=np.array([(entry.first, entry.last) for entry in self.entries], np.int32),
            vectors=whole,
            scales=scales,
            said=packed(said),
            worth=np.array([self.worth[word] for word in said], np.int32).reshape(-1, 2),
        )

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Read what `save` wrote, checked by the manifest."""
        check_directory(directory, KIND)
        with np.load(LexiconFiles(directory).entries, allow_pickle=False) as arrays:
            read = {name: arrays[name] for name in arrays.files}
        columns = zip(
            unpacked(read["words"]),
            unpacked(read["written"]),
            read["people"].tolist(),
            read["days"].tolist(),
            strict=True,
        )
        entries = [
            LexiconEntry(row, tuple(words.split()), written, people, first, last)
            for row, (words, written, people, (first, last)) in enumerate(columns)
        ]
        vectors = read["vectors"].astype(np.float32) * read["scales"][:, None]
        counts = zip(unpacked(read["said"]), read["worth"].tolist(), strict=True)
        return cls(entries, vectors, {word: Worth(*pair) for word, pair in counts})


EMPTY = Lexicon()


def _small(vectors: Vectors) -> tuple[npt.NDArray[np.int8], Vectors]:
    """Vectors as small integers, and the scale of each."""
    if not len(vectors):
        return np.zeros((0, 0), np.int8), np.zeros(0, np.float32)
    scales = np.maximum(np.abs(vectors).max(axis=1), 1e-9) / 127
    return np.round(vectors / scales[:, None]).astype(np.int8), scales.astype(np.float32)


@lru_cache(1)
def shipped_lexicon() -> Lexicon:
    """The lexicon that comes with the package."""
    with resources.as_file(resources.files("hashnews") / "models" / "lexicon") as path:
        return Lexicon.load(path)
