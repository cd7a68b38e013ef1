"""The folder of a build: what was made there is read again, so a stopped run resumes."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
HERE = Path(__file__).resolve().parent  # where the school and the editor's lists are
ROOT = HERE.parents[1]
MODELS = ROOT / "src" / "hashnews" / "models"


def run(done: Path | None, *arguments: object) -> None:
    """Run `hashnews` with some arguments, once."""
    if done is not None and done.exists():
        return
    print("hashnews", *arguments, flush=True)
    subprocess.run([sys.executable, "-m", "hashnews", *map(str, arguments)], check=True)
    if done is not None:
        done.touch()


class Work:
    """Where a build reads and writes.

    The stores of news stand in `stores` itself, so that other builds can share them; all else is
    in a folder of its own, another one for each limit of posts.
    """

    def __init__(self, data: Path, stores: Path, encoder: Path | None, most: int | None):
        self.data, self.stores, self.encoder = data, stores, encoder
        self.most = most  # rows read of each file; None: all
        self.folder = stores / ("sense" if most is None else f"sense-{most}")
        self.folder.mkdir(parents=True, exist_ok=True)

    def kept(self, name: str, make: Callable[[], T]) -> T:
        """What was made under this name; made now where it is missing."""
        path = self.folder / f"{name}.pickle"
        if path.exists():
            with path.open("rb") as stream:
                read: T = pickle.load(stream)
            return read
        print(name, flush=True)
        made = make()
        scratch = path.with_suffix(".tmp")
        with scratch.open("wb") as stream:
            pickle.dump(made, stream, protocol=pickle.HIGHEST_PROTOCOL)
        os.replace(scratch, path)
        return made

    def limited(self, rows: Sequence[T]) -> Sequence[T]:
        """The rows, in order; some drawn at random where there are more than the limit."""
        if self.most is None:
            return rows
        return [rows[at] for at in sample(random.Random(1), range(len(rows)), self.most)]


def sample(chance: random.Random, rows: Sequence[int], most: int) -> list[int]:
    """Some of the rows at random, in order; all where there are no more."""
    return sorted(chance.sample(rows, min(most, len(rows))))
