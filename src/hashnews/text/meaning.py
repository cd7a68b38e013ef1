"""Meaning: the vector of a text; the nearer two vectors, the more alike are two texts.

    m(post)   = W (mean over its pieces of what a small transformer makes of them)
    m(phrase) = sum of the vectors of its pieces
    similarity = cosine of the two

A post is read whole, once. Hashtags and headlines are many, so they are read as bags of pieces,
whose vectors were taught to sum up to what the transformer makes of the phrase. Nothing but numpy,
onnxruntime and tokenizers is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from hashnews.saved import check_directory, open_graph

KIND = "meaning"
MOST_PIECES = 48  # of a post: two sentences say what it is about
BATCH_PIECES = 1024  # more of them do not fit the processor's cache
CACHED_WORDS = 200_000
PADDING, UNKNOWN, START, END = 0, 100, 101, 102  # of BERT's vocabulary
Vectors = npt.NDArray[np.float32]


class MeaningFiles:
    """The files of a directory of meaning."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.graph = directory / "model.onnx"
        self.tokeniser = directory / "tokenizer.json"
        self.vectors = directory / "vectors.npz"


class Tables(NamedTuple):
    """What turns pieces and posts into vectors of one space."""

    pieces: npt.NDArray[np.int8]  # a row a piece
    scales: Vectors  # of each row
    basis: Vectors  # W: from the transformer's space into a smaller one


class Meaning:
    """Gives texts their vectors, all of length one."""

    def __init__(self, graph: Any, tokeniser: Tokenizer, tables: Tables):
        tokeniser.no_truncation()
        tokeniser.no_padding()
        self._graph, self._tokeniser, self._tables = graph, tokeniser, tables
        self._pieces: dict[str, tuple[int, ...]] = {}

    @classmethod
    def load(cls, directory: Path, threads: int = 1) -> Self:
        """Read a directory, checked by its manifest."""
        check_directory(directory, KIND)
        files = MeaningFiles(directory)
        with np.load(files.vectors, allow_pickle=False) as arrays:
            tables = Tables(**{name: arrays[name] for name in Tables._fields})
        graph = open_graph(files.graph, threads, basic=True)
        return cls(graph, Tokenizer.from_file(str(files.tokeniser)), tables)

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return int(self._tables.pieces.shape[1])

    def of_posts(self, texts: Sequence[str]) -> Vectors:
        """The vectors of whole posts, texts of like length read together."""
        read = [self._encoded(text) for text in texts]
        hidden = np.zeros((len(read), len(self._tables.basis)), np.float32)
        for batch in _batches(read):
            rows = np.full((len(batch), max(len(read[at]) for at in batch)), PADDING, np.int32)
            for row, at in enumerate(batch):
                rows[row, : len(read[at])] = read[at]
            (states,) = self._graph.run(None, {"pieces": rows})
            inside = (rows != PADDING)[..., None]
            hidden[batch] = (states * inside).sum(axis=1)
        return unit(hidden @ self._tables.basis)

    def of_phrases(self, phrases: Sequence[Sequence[str]]) -> Vectors:
        """The vectors of phrases, each given by its words."""
        self._learn(word for words in phrases for word in words)
        sums = np.zeros((len(phrases), self.width), np.float32)
        for at, words in enumerate(phrases):
            pieces = [piece for word in words for piece in self._pieces[word]]
            sums[at] = self._tables.scales[pieces] @ self._tables.pieces[pieces]
        return unit(sums)

    def _encoded(self, text: str) -> list[int]:
        # Half a surrogate pair cannot be encoded, and is not worth refusing a text for.
        readable = text.encode("utf-8", "replace").decode("utf-8")
        found: list[int] = self._tokeniser.encode(readable, add_special_tokens=False).ids
        return [START, *found[: MOST_PIECES - 2], END]

    def _learn(self, words: Iterable[str]) -> None:
        if len(self._pieces) > CACHED_WORDS:
            self._pieces.clear()
        new = [word for word in dict.fromkeys(words) if word not in self._pieces]
        readable = [word.encode("utf-8", "replace").decode("utf-8") for word in new]
        for word, found in zip(
            new, self._tokeniser.encode_batch(readable, add_special_tokens=False), strict=True
        ):
            self._pieces[word] = tuple(found.ids) or (UNKNOWN,)


def unit(vectors: Vectors) -> Vectors:
    """Vectors of length one; one of length zero stays."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vectors = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return scaled


def quantised(vectors: Vectors) -> tuple[npt.NDArray[np.int8], Vectors]:
    """Vectors as small integers, and the scale of each."""
    scales = np.maximum(np.abs(vectors).max(axis=1), 1e-9) / 127
    whole = np.round(vectors / scales[:, None]).astype(np.int8)
    return whole, scales.astype(np.float32)


def _batches(read: Sequence[Sequence[int]]) -> Iterable[list[int]]:
    """Places of texts that are read at once: of like length, so that little is padding."""
    batch: list[int] = []
    for at in sorted(range(len(read)), key=lambda at: len(read[at])):
        if batch and len(read[at]) * (len(batch) + 1) > BATCH_PIECES:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


@lru_cache(1)
def shipped_meaning() -> Meaning:
    """The one that comes with the package."""
    with resources.as_file(resources.files("hashnews") / "models" / "meaning") as path:
        return Meaning.load(path)
