"""Preparing posts by day, as if they were one file.

Only two things of `prepare` look beyond a post: copies of earlier posts are dropped, and a split
in time needs all times. So it takes three steps:

    draft    each file by itself; copies within it are dropped. Beside it its marks: a digest and
             the time of every post, and what was dropped
    copies   of posts of earlier files, found range by range of the digests over all marks
    finish   drafts without those copies, and with the names of the parts of the split

No process holds more than its range of digests, 8 bytes a post. The marks are kept beside the
result, so a new day needs no draft of an old one.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hashnews.files import OnError, RecordFile, Skipped, write_records
from hashnews.prepare import (
    COPY,
    Preparer,
    Split,
    chronological_cuts,
    chronological_part,
    copy_digest,
    random_part,
    time_of,
)
from hashnews.records import Post, PreparedPost
from hashnews.scale.days import Days, Result, Watch, read_day, unfinished, write_days
from hashnews.scale.engine import Run, opened
from hashnews.statistics import Statistics
from hashnews.text.entities import EntityFinder, load_finder
from hashnews.text.segment import Segmenter, shipped_segmenter

Array = np.ndarray[Any, Any]
RANGE = 20_000_000  # digests that one job compares
SKIPPED = "lines skipped"


class Readers(NamedTuple):
    """What reads posts; a worker opens it once."""

    finder: str

    def open(self) -> tuple[Segmenter, EntityFinder]:
        """The segmenter and the finder."""
        return shipped_segmenter(), load_finder(self.finder)


class Rules(NamedTuple):
    """How posts are prepared, one by one, and where what is not finished stands."""

    work: Path
    readers: Readers
    never: tuple[str, ...] = ()
    collection: str | None = None
    on_error: OnError = "stop"

    def beside(self, path: Path, what: str) -> Path:
        """A file of the work on a file; one that changed, or other rules, get other names."""
        state = path.stat()
        made_from = f"{self[1:]} {state.st_size} {state.st_mtime_ns}"
        tag = hashlib.sha256(made_from.encode()).hexdigest()[:16]
        return self.work / path.parent.name / f"{path.name}.{tag}.{what}"


class Marks(NamedTuple):
    """What is known of the posts of a draft, in its order; digests also sorted, for ranges."""

    digests: Array
    places: Array
    times: Array
    dropped: Counter[str]

    def save(self, path: Path) -> None:
        """Write them, whole or not at all."""
        scratch = path.with_name(f".{path.name}.{secrets.token_hex(8)}.npz")
        told = np.frombuffer(json.dumps(self.dropped).encode(), np.uint8)
        np.savez(scratch, digests=self.digests, places=self.places, times=self.times, dropped=told)
        scratch.replace(path)

    @classmethod
    def load(cls, path: Path) -> Marks:
        """Read what `save` wrote."""
        with np.load(path, allow_pickle=False) as known:
            dropped = Counter(json.loads(known["dropped"].tobytes()))
            return cls(known["digests"], known["places"], known["times"], dropped)


class DraftJob(NamedTuple):
    """A file of posts to be drafted."""

    rules: Rules
    path: Path

    def __str__(self) -> str:
        return str(self.path)


def draft(job: DraftJob) -> None:
    """Prepare the posts of one file by itself."""
    rules = job.rules
    segmenter, finder = opened(rules.readers)
    preparer, skipped = Preparer(segmenter, finder, rules.never), Skipped()
    digests, times = [], []

    def drafted() -> Iterator[PreparedPost]:
        posts = read_day(job.path, Post, rules.on_error, skipped)
        wanted = (post for post in posts if rules.collection in (None, post.collection))
        for post in preparer.prepare(wanted):
            digests.append(int.from_bytes(copy_digest(post)))
            times.append(time_of(post))
            yield post

    write_records(rules.beside(job.path, "jsonl"), drafted())
    dropped = preparer.dropped + Counter({SKIPPED: skipped.count})
    known = np.array(digests, np.uint64)
    order = np.argsort(known, kind="stable")
    marks = Marks(known[order], order, np.array(times, np.float64), dropped)
    marks.save(rules.beside(job.path, "npz"))


class RangeJob(NamedTuple):
    """The copies with digests in [first, last] to be found."""

    files: list[Path]  # of marks, in the order of the posts
    first: int
    last: int


def copies(job: RangeJob) -> tuple[Array, Array]:
    """Posts with the digest of a post of an earlier file: numbers of files, places there."""
    digests, files, places = [], [], []
    for number, path in enumerate(job.files):
        marks = Marks.load(path)
        begin = int(np.searchsorted(marks.digests, np.uint64(job.first)))
        end = int(np.searchsorted(marks.digests, np.uint64(job.last), "right"))
        digests.append(marks.digests[begin:end])
        places.append(marks.places[begin:end])
        files.append(np.full(end - begin, number))
    every = np.concatenate(digests)
    order = np.argsort(every, kind="stable")  # of equals the one of the earliest file first
    again = order[1:][every[order][1:] == every[order][:-1]]
    return np.concatenate(files)[again], np.concatenate(places)[again]


@dataclass(frozen=True)
class Finish:
    """Drafts to prepared posts."""

    rules: Rules
    split: Split | None
    seed: int
    cuts: tuple[float, float]
    kind: ClassVar[str] = "posts by day"

    def lines(self, path: Path) -> Iterator[str]:
        """The posts of a draft that are no copies."""
        known = set(np.load(self.rules.beside(path, "copies.npy")).tolist())
        drafted = RecordFile(self.rules.beside(path, "jsonl"), PreparedPost)
        for place, post in enumerate(drafted):
            if place not in known:
                yield self._parted(post).to_json()

    def _parted(self, post: PreparedPost) -> PreparedPost:
        if self.split is None:
            return post
        by_time = self.split == "chronological"
        part = (
            chronological_part(time_of(post), self.cuts)
            if by_time
            else random_part(post.id, self.seed)
        )
        return post.model_copy(update={"split": part})


class Prepared(NamedTuple):
    """What came of preparing."""

    result: Result
    statistics: Statistics
    dropped: Counter[str]
    skipped: Skipped


def prepare_days(
    raw: Path,
    target: Path,
    rules: Rules,
    split: Split | None,
    seed: int,
    run: Run[Any, Any],
    watch: Watch = lambda done: done,
) -> Prepared:
    """Prepare all days of posts; finished ones are skipped."""
    days = Days.of(raw)
    files = [path for day in days.files.values() for path in day]
    _draft(rules, [path for path in files if not rules.beside(path, "npz").exists()], run)
    marks = [rules.beside(path, "npz") for path in files]
    known = [Marks.load(path) for path in marks]
    again = _copies(marks, sum(len(one.digests) for one in known), run)
    dropped = sum((one.dropped for one in known), Counter({COPY: sum(map(len, again))}))
    cuts = (np.inf, np.inf)
    if split == "chronological":
        kept = (np.delete(one.times, places) for one, places in zip(known, again, strict=True))
        cuts = chronological_cuts(np.concatenate([*kept]))
    finish = Finish(rules, split, seed, cuts)
    of_file = dict(zip(files, again, strict=True))

    def made_from(day: date) -> str:
        return f"{finish} {[of_file[path].tolist() for path in days.files[day]]}"

    todo = unfinished(finish, made_from, days, target)
    lost = [path for day in todo for path in days.files[day]]
    _draft(rules, [path for path in lost if not rules.beside(path, "jsonl").exists()], run)
    for path in lost:
        np.save(rules.beside(path, "copies.npy"), of_file[path])
    result = write_days(finish, made_from, days, target, run, watch)
    for path in lost:  # the marks stay
        rules.beside(path, "jsonl").unlink()
        rules.beside(path, "copies.npy").unlink()
    skipped = Skipped()
    skipped.count = dropped.pop(SKIPPED, 0)
    return Prepared(result, _statistics(Days.of(target), run), dropped, skipped)


def _draft(rules: Rules, files: list[Path], run: Run[Any, Any]) -> None:
    for _ in run(draft, [DraftJob(rules, path) for path in files]):
        pass


def _copies(marks: list[Path], posts: int, run: Run[Any, Any]) -> list[Array]:
    """The places of the copies in each file."""
    ranges = -(-posts // RANGE)
    bounds = [(1 << 64) * at // max(1, ranges) for at in range(ranges + 1)]
    jobs = [
        RangeJob(marks, *ends)
        for ends in zip(bounds[:-1], (b - 1 for b in bounds[1:]), strict=True)
    ]
    found = list(run(copies, jobs))
    files = np.concatenate([np.zeros(0, np.int64), *(files for files, _ in found)])
    places = np.concatenate([np.zeros(0, np.int64), *(places for _, places in found)])
    return [np.sort(places[files == number]) for number in range(len(marks))]


def _statistics(days: Days, run: Run[Any, Any]) -> Statistics:
    files = [path for day in days.files.values() for path in day]
    found = dict(run(count, files))
    total = Statistics()
    for path in files:
        total.join(found[path])
    return total


def count(path: Path) -> tuple[Path, Statistics]:
    """The statistics of one file of prepared posts."""
    statistics = Statistics()
    for post in read_day(path, PreparedPost):
        statistics.add(post)
    return path, statistics
