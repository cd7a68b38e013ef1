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
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from hashnews.arrays import Array, compiled
from hashnews.errors import ConfigError, ModelError
from hashnews.plugins import load_plugin, plugin_names
from hashnews.saved import check_directory, open_graph, read_arrays

KIND = "meaning"
MOST_PIECES = 48  # of a post: two sentences say what it is about
BATCH_PIECES = 1024  # more of them do not fit the processor's cache
CACHED_WORDS = 200_000
LARGEST = 256 << 20  # bytes of all arrays
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


class TextEncoder(Protocol):
    """Whatever gives posts and phrases vectors of one space, all of length one."""

    def of_posts(self, texts: Sequence[str]) -> Vectors:
        """The vectors of whole posts."""

    def of_phrases(self, phrases: Sequence[Sequence[str]]) -> Vectors:
        """The vectors of phrases, each given by its words."""


class Meaning:
    """Gives texts their vectors, all of length one."""

    def __init__(self, graph: Any, tokeniser: Tokenizer, tables: Tables):
        tokeniser.no_truncation()
        tokeniser.no_padding()
        self._graph, self._tokeniser, self.tables = graph, tokeniser, tables
        self.pieces = WordPieces(tokeniser)

    @classmethod
    def load(cls, directory: Path, threads: int = 1) -> Self:
        """Read a directory, checked by its manifest."""
        check_directory(directory, KIND)
        files = MeaningFiles(directory)
        graph = open_graph(files.graph, threads, basic=True)
        try:
            tokeniser = Tokenizer.from_file(str(files.tokeniser))
        except Exception as error:  # tokenizers has no common base of its errors
            raise ModelError(f"{files.tokeniser} is no tokeniser: {error}") from None
        tables = _tables(files.vectors, tokeniser.get_vocab_size())
        return cls(graph, tokeniser, tables)

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return int(self.tables.pieces.shape[1])

    def of_posts(self, texts: Sequence[str]) -> Vectors:
        """The vectors of whole posts, texts of like length read together."""
        read = [self._encoded(text) for text in texts]
        hidden = np.zeros((len(read), len(self.tables.basis)), np.float32)
        for batch in _batches(read):
            rows = np.full((len(batch), max(len(read[at]) for at in batch)), PADDING, np.int32)
            for row, at in enumerate(batch):
                rows[row, : len(read[at])] = read[at]
            (states,) = self._graph.run(None, {"pieces": rows})
            inside = (rows != PADDING)[..., None]
            hidden[batch] = (states * inside).sum(axis=1)
        return unit(hidden @ self.tables.basis)

    def of_phrases(self, phrases: Sequence[Sequence[str]]) -> Vectors:
        """The vectors of phrases, each given by its words."""
        flat: list[int] = []
        ends = []
        for words in phrases:
            for word in words:
                flat += self.pieces[word]
            ends.append(len(flat))
        sums = np.zeros((len(phrases), self.width), np.float32)
        pieces, scales, _ = self.tables
        add_pieces(np.array(flat, np.int64), np.array(ends, np.int64), pieces, scales, sums)
        return unit(sums)

    def _encoded(self, text: str) -> list[int]:
        return [START, *pieces_of(text, self._tokeniser)[: MOST_PIECES - 2], END]


class WordPieces(dict[str, list[int]]):
    """The pieces of words; each word is cut when it is first asked for."""

    def __init__(self, tokeniser: Tokenizer):
        super().__init__()
        self._tokeniser = tokeniser

    def __missing__(self, word: str) -> list[int]:
        if len(self) > CACHED_WORDS:
            self.clear()
        found = self[word] = pieces_of(word, self._tokeniser) or [UNKNOWN]
        return found


def pieces_of(text: str, tokeniser: Tokenizer) -> list[int]:
    """The numbers of the pieces of a text."""
    # Half a surrogate pair cannot be encoded, and is not worth refusing a text for.
    readable = text.encode("utf-8", "replace").decode("utf-8")
    found: list[int] = tokeniser.encode(readable, add_special_tokens=False).ids
    return found


@compiled
def add_pieces(flat: Array, ends: Array, pieces: Array, scales: Array, sums: Array) -> None:
    """Add up the vectors of the pieces of each phrase."""
    at = 0
    for phrase in range(len(ends)):
        for piece in flat[at : ends[phrase]]:
            for column in range(pieces.shape[1]):
                sums[phrase, column] += np.float32(pieces[piece, column]) * scales[piece]
        at = ends[phrase]


def similarity(vectors: Vectors, vector: Vectors) -> Vectors:
    """The cosine of each vector and one, all of length one.

    Not by a product of BLAS: its threads wait for work by spinning, which costs a second core.
    """
    found: Vectors = np.einsum("ij,j->i", vectors, vector)
    return found


def _tables(path: Path, pieces: int) -> Tables:
    """The tables of a file, for so many pieces; what does not fit together is refused."""
    read = read_arrays(path, LARGEST)
    if read.keys() != set(Tables._fields):
        raise ModelError(f"{path} holds other arrays than those of meaning: {sorted(read)}")
    tables = Tables(**read)
    kinds = [(str(array.dtype), array.ndim) for array in tables]
    fits = (
        kinds == [("int8", 2), ("float32", 1), ("float32", 2)]
        and pieces <= len(tables.pieces) == len(tables.scales)
        and tables.pieces.shape[1] == tables.basis.shape[1] > 0
    )
    if not fits or not all(np.isfinite(array).all() for array in tables[1:]):
        raise ModelError(f"{path}: its arrays do not fit together, or hold what is no number")
    return tables


def unit(vectors: Vectors) -> Vectors:
    """Vectors of length one; one of length zero stays."""
    lengths = np.sqrt(np.einsum("...i,...i->...", vectors, vectors))[..., np.newaxis]
    scaled: Vectors = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32, copy=False)
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


def load_encoder(name: str | None) -> TextEncoder:
    """The encoder of a plug-in; without a name, the one that comes with the package."""
    if name is None:
        return shipped_meaning()
    known = plugin_names("encoders")
    if name not in known:
        there = " or ".join(known) or "none is installed"
        raise ConfigError(f"there is no encoder {name!r}: {there}")
    encoder: TextEncoder = load_plugin("encoders", name)
    return encoder
