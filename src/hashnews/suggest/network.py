"""A second opinion on what is on topic: a small network that also reads the hashtag's vector.

    x     = (features - mean) / deviation, within four of them, beside m(hashtag)
    N(x)  = w · max(0, W x + b) + c, the log-odds of being on topic
    P(on topic) = sigmoid((log-odds of the trees + N(x)) / 2)

Trees see what speaks for a hashtag here; from its vector the network learnt which kinds of hashtags
readers found beside the point wherever they were offered.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from hashnews.arrays import Array
from hashnews.errors import ModelError
from hashnews.saved import read_arrays
from hashnews.suggest.sources import PLACE
from hashnews.text.meaning import Vectors

LARGEST = 64 << 20  # bytes of all arrays
FARTHEST = 4.0  # deviations from the mean
VECTORS = 8.0  # what a number of a vector is multiplied by: it is about 1/16
SURE = 1e-6  # no probability is nearer to 0 or 1

Weights = npt.NDArray[np.float32]


class SecondOpinion(NamedTuple):
    """One hidden layer over some features and the vector of a hashtag."""

    features: tuple[str, ...]
    mean: Weights
    deviation: Weights
    first: Weights  # W, a row for each feature and each number of a vector
    bias: Weights  # b
    second: Weights  # w
    constant: Weights  # c

    def log_odds(self, features: Array, vectors: Vectors) -> Array:
        """N(x) for each row of features and of vectors."""
        hidden = np.einsum("ij,jk->ik", self.inputs(features, vectors), self.first) + self.bias
        found: Array = np.einsum("ij,j->i", np.maximum(0, hidden), self.second) + self.constant
        return found

    def inputs(self, features: Array, vectors: Vectors) -> Weights:
        """What it reads of each row: x."""
        read = features[:, [PLACE[name] for name in self.features]]
        scaled = np.clip((read - self.mean) / self.deviation, -FARTHEST, FARTHEST)
        joined: Weights = np.hstack([scaled, VECTORS * vectors]).astype(np.float32)
        return joined

    @property
    def width(self) -> int:
        """How many numbers the vectors have that it reads."""
        return len(self.first) - len(self.features)

    def save(self, path: Path) -> None:
        """Write the network as one file of arrays; W, the largest, in half as many bits."""
        arrays = self._asdict()
        arrays["first"] = self.first.astype(np.float16)
        arrays["features"] = np.frombuffer("\n".join(self.features).encode(), np.uint8)
        np.savez_compressed(path, **arrays)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote; what is damaged or over other features is refused."""
        read = read_arrays(path, LARGEST)
        try:
            names = tuple(read.pop("features").tobytes().decode().split("\n"))
            if read["first"].dtype == np.float16:
                read["first"] = read["first"].astype(np.float32)
            network = cls(names, **read)
            _check(network)
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"{path} is not a network: {error}") from None
        if not set(names) <= set(PLACE):
            raise ModelError(f"{path} reads other features than this version: train it again")
        return network


def _check(network: SecondOpinion) -> None:
    """Refuse arrays that do not fit together or hold what is no number."""
    names, *arrays = network
    mean, deviation, first, bias, second, constant = arrays
    if not all(array.dtype == np.float32 and np.isfinite(array).all() for array in arrays):
        raise ValueError("it holds what is no number")
    fits = (
        first.ndim == 2
        and mean.shape == deviation.shape == (len(names),)
        and len(first) >= len(names)
        and bias.shape == second.shape == (first.shape[1],)
        and constant.shape == (1,)
        and bool((deviation > 0).all())
    )
    if not fits:
        raise ValueError("its arrays do not fit together")


def together(probabilities: Array, log_odds: Array) -> Array:
    """The mean of two opinions, one given as probabilities, one as log-odds."""
    sure = np.clip(probabilities, SURE, 1 - SURE)
    found: Array = 1 / (1 + np.exp(-(np.log(sure / (1 - sure)) + log_odds) / 2))
    return found
