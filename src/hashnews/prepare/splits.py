"""Training, validation and test: by time, or by chance."""

from __future__ import annotations

import hashlib
import tempfile
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import numpy as np

from hashnews.files import RecordFile, write_records
from hashnews.records import PreparedPost
from hashnews.times import time_of

Split = Literal["chronological", "random"]
Part = Literal["train", "validation", "test"]
TRAIN, VALIDATION = 0.8, 0.1  # the rest is for the test


def write_prepared(
    target: str | Path, posts: Iterable[PreparedPost], split: Split | None, seed: int = 1
) -> None:
    """Write prepared posts, each with its part of the split where one is asked for.

    A random split goes by the id, so it needs no memory and no order. A chronological one must
    know all times first: the posts wait in a scratch file.
    """
    if split is None:
        write_records(target, posts)
    elif split == "random":
        write_records(target, (_with(post, random_part(post.id, seed)) for post in posts))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            waiting = Path(scratch) / "posts.jsonl"
            times = array("d")
            write_records(waiting, (_noted(post, times) for post in posts))
            cuts = chronological_cuts(times)
            again = RecordFile(waiting, PreparedPost)
            write_records(
                target, (_with(p, chronological_part(seconds_of(p), cuts)) for p in again)
            )


def _with(post: PreparedPost, part: Part) -> PreparedPost:
    return post.model_copy(update={"split": part})


def _noted(post: PreparedPost, times: array[float]) -> PreparedPost:
    times.append(seconds_of(post))
    return post


def seconds_of(post: PreparedPost) -> float:
    """When a post was written, in seconds since 1970."""
    remedy = "a chronological split needs it (or --split random)"
    return time_of(post, remedy).timestamp()


def chronological_cuts(times: Iterable[float]) -> tuple[float, float]:
    """The times at which validation and test begin: every training post is older than both."""
    ordered = np.sort(np.fromiter(times, float))
    if not len(ordered):
        return np.inf, np.inf
    last = len(ordered) - 1
    first_of_validation = min(last, round(TRAIN * len(ordered)))
    first_of_test = min(last, round((TRAIN + VALIDATION) * len(ordered)))
    return float(ordered[first_of_validation]), float(ordered[first_of_test])


def chronological_part(time: float, cuts: tuple[float, float]) -> Part:
    """Which part a time falls into; posts of one moment stay together."""
    return "train" if time < cuts[0] else "validation" if time < cuts[1] else "test"


def random_part(post_id: str, seed: int) -> Part:
    """Which part an id falls into by chance."""
    digest = hashlib.blake2b(f"{seed}:{post_id}".encode(), digest_size=8).digest()
    chance = int.from_bytes(digest) / 2**64
    return "train" if chance < TRAIN else "validation" if chance < TRAIN + VALIDATION else "test"
