"""Which topics a post is about, learnt from invented posts whose writers said so.

    q(post) = m(post) + B max(0, A m(post) + a) + b
    P(topic | post) ∝ exp(s · q(post) · t(topic) + c(topic))

m is the vector of the post, t(topic) began as the vector of the topic's name and cues, and one of
the topics is none: small talk. So "she can't be left alone with a wheel of brie" is near #Dogs,
though it says no word of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from hashnews.errors import ModelError
from hashnews.saved import check_directory, read_arrays
from hashnews.text.meaning import Vectors, quantised, similarity
from hashnews.text.segment import packed, unpacked

KIND = "topics"
NONE = ""  # the key of no topic
UNLIKELY = -14.0  # log P of what nothing is known of, or less likely still
LARGEST = 64 << 20  # bytes of all arrays


class TopicsFiles:
    """The files of a directory of topics."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.arrays = directory / "topics.npz"


class Turn(NamedTuple):
    """What turns the vector of a post towards its topics."""

    up: Vectors  # A
    up_bias: Vectors  # a
    down: Vectors  # B
    down_bias: Vectors  # b


class Topics(NamedTuple):
    """How likely each of some topics is; the keys say which they are."""

    keys: tuple[str, ...]
    vectors: Vectors  # t, times s
    bias: Vectors  # c
    turn: Turn | None

    def of(self, vector: Vectors) -> Vectors:
        """Log P(topic | post) of each key, at least UNLIKELY."""
        if self.turn is None or len(vector) != self.vectors.shape[1]:
            return np.full(len(self.keys), UNLIKELY, np.float32)
        up, up_bias, down, down_bias = self.turn
        hidden = np.maximum(0, similarity(up, vector) + up_bias)
        score = similarity(self.vectors, vector + similarity(down, hidden) + down_bias) + self.bias
        best = score.max()
        found: Vectors = score - best - np.log(np.exp(score - best).sum())
        return np.maximum(UNLIKELY, found)

    def places(self, keys: Sequence[str]) -> npt.NDArray[np.int64]:
        """Where some keys stand; the place behind the last for those that are unknown."""
        at = {key: place for place, key in enumerate(self.keys)}
        return np.array([at.get(key, len(self.keys)) for key in keys], np.int64)

    def save(self, directory: Path) -> None:
        """Write the arrays into a directory that is being made."""
        if self.turn is None:
            raise ValueError("there is nothing to save")
        whole, scales = quantised(self.vectors)
        np.savez_compressed(
            TopicsFiles(directory).arrays,
            keys=packed(list(self.keys)),
            vectors=whole,
            scales=scales,
            bias=self.bias,
            **self.turn._asdict(),
        )

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Read what `save` wrote, checked by the manifest."""
        check_directory(directory, KIND)
        path = TopicsFiles(directory).arrays
        read = read_arrays(path, LARGEST)
        try:
            return cls._of(read)
        except (ValueError, LookupError, TypeError) as error:
            raise ModelError(f"{path} holds no topics: {error}") from None

    @classmethod
    def _of(cls, read: dict[str, Any]) -> Self:
        keys = tuple(unpacked(read["keys"]))
        vectors = read["vectors"].astype(np.float32) * read["scales"].astype(np.float32)[:, None]
        bias, turn = read["bias"], Turn(*(read[name] for name in Turn._fields))
        hidden, width = turn.up.shape
        fits = (
            vectors.shape == (len(keys), width)
            and bias.shape == (len(keys),)
            and turn.up_bias.shape == (hidden,)
            and turn.down.shape == (width, hidden)
            and turn.down_bias.shape == (width,)
        )
        if not fits or not all(np.isfinite(one).all() for one in (vectors, bias, *turn)):
            raise ValueError("its arrays do not fit together, or hold what is no number")
        return cls(keys, vectors, bias.astype(np.float32), turn)


NO_TOPICS = Topics((), np.zeros((0, 0), np.float32), np.zeros(0, np.float32), None)


@lru_cache(1)
def shipped_topics() -> Topics:
    """The topics that come with the package."""
    with resources.as_file(resources.files("hashnews") / "models" / "topics") as path:
        return Topics.load(path)
