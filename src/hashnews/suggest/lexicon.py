"""The lexicon: hashtags that people use anywhere, and which words they find worth one.

Each entry has the form most people write, how many people used it, its first and last day where
they are known, and, if it names a topic, a vector and cues: words that people say who use it
(`compost` for #Gardening). A post is looked up by its meaning, by its words, and by what was learnt
of topics (`suggest/topics.py`). An entry is not there before its first day is over. Words have two
counts: how many people say a word, and how many made it a hashtag.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
import regex

from hashnews.errors import ModelError
from hashnews.porter import stem
from hashnews.saved import check_directory, read_arrays
from hashnews.suggest.topics import NO_TOPICS, NONE, UNLIKELY, Topics, shipped_topics
from hashnews.text.meaning import TextEncoder, Vectors, similarity
from hashnews.text.segment import packed, unpacked
from hashnews.times import A_DAY

KIND = "lexicon"
ALWAYS = -1  # a first day that nobody knows
LONGEST_CUE = 3  # words
CACHED = 100_000  # hashtags
LARGEST = 256 << 20  # bytes of all arrays
ALIKE = 0.9  # the similarity of two topics that are one: #Running and #Runner
NUMBERED = regex.compile(r"(?<name>\p{L}{2,})(?<number>\d{1,4})")  # cop31, euro2028


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


class WorthOfWords(NamedTuple):
    """How much some words are worth as a hashtag, how often they are said, how rare they are.

    One word is worth what it is, several what the least of them is; rare is the rarest.
    """

    odds: float
    said: float
    rarest: float


class Lexicon:
    """Hashtags by key and by meaning; topics come first."""

    def __init__(
        self,
        entries: Sequence[LexiconEntry] = (),
        vectors: Vectors | None = None,
        worth: Mapping[str, Worth] | None = None,
        cues: Mapping[str, Sequence[int]] | None = None,
        topics: Topics = NO_TOPICS,
    ):
        """Topics are the entries that have a vector; `cues` are stems, and the topics' rows."""
        self.entries, self.worth, self.cues = entries, worth or {}, cues or {}
        self._rows = {entry.key: entry.row for entry in entries}
        self._worth_of_all: dict[tuple[str, ...], WorthOfWords] = {}
        self._vectors = np.zeros((0, 0), np.float32) if vectors is None else vectors
        self._first = np.array([entry.first for entry in entries[: len(self._vectors)]], np.int64)
        self._topics = topics
        self._places = topics.places([NONE, *(one.key for one in entries[: len(self._vectors)])])

    def __len__(self) -> int:
        return len(self.entries)

    def encoded(self, encoder: TextEncoder) -> Lexicon:
        """The same with the vectors of another encoder."""
        topics = [entry.words for entry in self.entries[: len(self._vectors)]]
        return Lexicon(self.entries, encoder.of_phrases(topics), self.worth, self.cues)

    def taught_by(self, topics: Topics) -> Lexicon:
        """The same with what was learnt of topics."""
        return Lexicon(self.entries, self._vectors, self.worth, self.cues, topics)

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

    @cached_property
    def _series(self) -> Mapping[str, Sequence[int]]:
        """The rows of hashtags that end in a number, by what stands before it."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for entry in self.entries:
            if parts := NUMBERED.fullmatch(entry.key):
                found[parts["name"]].append(entry.row)
        return found

    def earlier(self, key: str, moment: int) -> LexiconEntry | None:
        """The last one before a hashtag with a number, #COP27 before #COP31, as if it were that."""
        parts = NUMBERED.fullmatch(key)
        if parts is None:
            return None
        size, number = len(key), int(parts["number"])
        known = (self.entries[row] for row in self._series.get(parts["name"], ()))
        before = [
            (int(other), entry)
            for entry in known
            if len(entry.key) == size and int(other := entry.key[parts.start("number") :]) < number
            if self.get(entry.key, moment)
        ]
        if not before:
            return None
        _, last = max(before)
        written = last.written[: -len(parts["number"])] + parts["number"]
        return last._replace(words=(key,), written=written, last=moment // A_DAY)

    def worth_of(self, word: str) -> Worth:
        """How often a word is made a hashtag."""
        return self.worth.get(word, UNSEEN)

    def worth_of_all(self, words: tuple[str, ...]) -> WorthOfWords:
        """How often words are made a hashtag; looked up once."""
        known = self._worth_of_all.get(words)
        if known is None:
            each = [self.worth_of(word) for word in words]
            least = min(each, key=lambda one: one.odds)
            rarest = max(-math.log1p(one.said) for one in each)
            known = WorthOfWords(least.odds, math.log1p(least.said), rarest)
            if len(self._worth_of_all) >= CACHED:
                self._worth_of_all.clear()
            self._worth_of_all[words] = known
        return known

    def told(self, said: Sequence[str]) -> dict[int, float]:
        """How much words speak for topics, by row.

        t(topic) = sum over its cues that are said of log(T / topics of the cue) / log(T)
        """
        every = math.log(max(2, len(self._vectors)))
        found: defaultdict[int, float] = defaultdict(float)
        for cue in dict.fromkeys(_runs([stem(word) for word in said])):
            rows = self.cues.get(cue)
            if rows:
                telling = 1 - math.log(len(rows)) / every
                for row in rows:
                    found[row] += telling
        return found

    def cues_of(self, row: int, said: Sequence[str]) -> tuple[str, ...]:
        """The words that speak for a topic, as they are said."""
        told = (words for cue, words in cues_in(said) if row in self.cues.get(cue, ()))
        return tuple(dict.fromkeys(told))

    def are_alike(self, one: str, other: str) -> bool:
        """Whether two keys are topics that mean nearly the same."""
        rows = [self._rows.get(key, len(self._vectors)) for key in (one, other)]
        if max(rows) >= len(self._vectors):
            return False
        return float(self._vectors[rows[0]] @ self._vectors[rows[1]]) > ALIKE

    def similar(self, vector: Vectors) -> Vectors:
        """How near the post of this vector each topic is."""
        if not len(self._vectors):
            return np.zeros(0, np.float32)
        return similarity(self._vectors, vector)

    def likely(self, vector: Vectors) -> tuple[float, Vectors]:
        """Log P(none) and log P(topic) of each topic, for the post of this vector."""
        found = np.append(self._topics.of(vector), np.float32(UNLIKELY))[self._places]
        return float(found[0]), found[1:]

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
        said, cues = sorted(self.worth), sorted(self.cues)
        np.savez_compressed(
            LexiconFiles(directory).entries,
            words=packed([" ".join(entry.words) for entry in self.entries]),
            written=packed([entry.written for entry in self.entries]),
            people=np.array([entry.people for entry in self.entries], np.int32),
            days=np.array([(entry.first, entry.last) for entry in self.entries], np.int32),
            vectors=whole,
            scales=scales,
            cues=packed(cues),
            cued=np.array([row for cue in cues for row in self.cues[cue]], np.int32),
            cue_sizes=np.array([len(self.cues[cue]) for cue in cues], np.int32),
            said=packed(said),
            worth=np.array([self.worth[word] for word in said], np.int32).reshape(-1, 2),
        )

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Read what `save` wrote, checked by the manifest."""
        check_directory(directory, KIND)
        path = LexiconFiles(directory).entries
        read = read_arrays(path, LARGEST)
        try:
            return cls._of(read)
        except (ValueError, LookupError, TypeError) as error:
            raise ModelError(f"{path} is not a lexicon: {error}") from None

    @classmethod
    def _of(cls, read: Mapping[str, npt.NDArray[np.generic]]) -> Self:
        whole = ("people", "days", "cued", "cue_sizes", "worth")
        if any(read[name].dtype.kind != "i" for name in whole):
            raise ValueError("its counts are no whole numbers")
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
        vectors = read["vectors"].astype(np.float32) * read["scales"].astype(np.float32)[:, None]
        if vectors.ndim != 2 or len(vectors) > len(entries) or not np.isfinite(vectors).all():
            raise ValueError("its vectors are not those of its first entries")
        counts = zip(unpacked(read["said"]), read["worth"].tolist(), strict=True)
        ends, rows = np.cumsum(read["cue_sizes"]).tolist(), read["cued"].tolist()
        places = zip(unpacked(read["cues"]), [0, *ends], ends, strict=False)
        cues = {cue: tuple(rows[start:end]) for cue, start, end in places}
        if rows and not 0 <= min(rows) <= max(rows) < len(vectors):
            raise ValueError("its cues are of topics that it does not have")
        return cls(entries, vectors, {word: Worth(*pair) for word, pair in counts}, cues)


def cues_in(said: Sequence[str]) -> Iterator[tuple[str, str]]:
    """All runs of one to three words, stemmed and as they are: what may be a cue."""
    return zip(_runs([stem(word) for word in said]), _runs(said), strict=True)


def _runs(said: Sequence[str]) -> Iterator[str]:
    """All runs of one to three words."""
    for start in range(len(said)):
        for end in range(start + 1, min(len(said), start + LONGEST_CUE) + 1):
            yield " ".join(said[start:end])


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
        return Lexicon.load(path).taught_by(shipped_topics())
