"""Preparing posts by day, as if they were one file.

Only two things of `prepare` look beyond a post: copies of earlier posts are dropped, and a split
in time needs all times. So it takes three steps:

    draft    each file by itself; copies within it are dropped. Beside it its marks: a digest and
             the time of every post, and what was dropped
    copies   of posts of earlier files, found range by range of the digests over all marks
    finish   drafts without those copies, and with the names of the parts of the split

No process holds more than its range of digests, and the times where they decide the split: 8 bytes
a post. The marks are kept beside the result, so a new day needs no draft of an old one.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hashnews.arrays import Array
from hashnews.files import OnError, RecordFile, Skipped, write_records
from hashnews.prepare.datasets import NO_RULES, DatasetRules, of_collection, rules_for
from hashnews.prepare.preparer import COPY, Preparer, copy_digest
from hashnews.prepare.splits import (
    Split,
    chronological_cuts,
    chronological_part,
    random_part,
    seconds_of,
)
from hashnews.prepare.statistics import Statistics
from hashnews.records import Post, PreparedPost
from hashnews.scale.days import Days, Result, Watch, read_day, unfinished, write_days
from hashnews.scale.engine import Run, opened
from hashnews.text.entities import EntityFinder, load_finder
from hashnews.text.segment import Segmenter, shipped_segmenter

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
    dataset: DatasetRules = NO_RULES
    """Those beside the posts, read when the work begins."""

    def beside(self, path: Path, what: str) -> Path:
        """A file of the work on a file; one that changed, or other rules, get other names."""
        state = path.stat()
        made_from = f"{self[1:]} {state.st_size} {state.st_mtime_ns}"
        tag = hashlib.sha256(made_from.encode()).hexdigest()[:16]
        return self.work / path.parent.name / f"{path.name}.{tag}.{what}"

    def marks(self, path: Path) -> DraftMarks:
        """The marks of a file."""
        return DraftMarks(self.beside(path, "marks"))


class DraftMarks(NamedTuple):
    """What is known of the posts of a draft, in files of a folder of their own.

    Digests are sorted, so a range of them is one piece of a mapped file.
    """

    folder: Path

    def save(self, digests: Array, times: Array, dropped: Counter[str]) -> None:
        """Write them, whole or not at all."""
        order = np.argsort(digests, kind="stable").astype(np.uint32)
        scratch = self.folder.with_name(f".{self.folder.name}.{secrets.token_hex(8)}")
        scratch.mkdir(parents=True)
        for name, array in (("digests", digests[order]), ("places", order), ("times", times)):
            np.save(scratch / f"{name}.npy", array)
        told = {"posts": len(digests), "dropped": dropped}
        (scratch / "told.json").write_text(json.dumps(told), "utf-8")
        try:
            scratch.rename(self.folder)
        except OSError:
            shutil.rmtree(scratch)
            if not self.folder.exists():  # else the same job, given twice, was quicker elsewhere
                raise

    def array(self, name: str) -> Array:
        """Digests, their places in the draft, or times in the draft's order; mapped."""
        mapped: Array = np.load(self.folder / f"{name}.npy", "r", allow_pickle=False)
        return mapped

    def told(self) -> tuple[int, Counter[str]]:
        """How many posts there are, and what was dropped."""
        known = json.loads((self.folder / "told.json").read_text("utf-8"))
        return known["posts"], Counter(known["dropped"])


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
        for post in preparer.prepare(of_collection(posts, rules.collection), rules.dataset):
            digests.append(int.from_bytes(copy_digest(post)))
            times.append(seconds_of(post))
            yield post

    write_records(rules.beside(job.path, "jsonl"), drafted())
    dropped = preparer.dropped + Counter({SKIPPED: skipped.count})
    known = np.array(digests, np.uint64)
    rules.marks(job.path).save(known, np.array(times, np.float64), dropped)


class RangeJob(NamedTuple):
    """The copies with digests in [first, last] to be found."""

    marks: list[DraftMarks]  # in the order of the posts
    first: int
    last: int


def copies(job: RangeJob) -> tuple[Array, Array]:
    """Posts with the digest of a post of an earlier file: numbers of files, places there."""
    digests, files, places = [], [], []
    for number, marks in enumerate(job.marks):
        known = marks.array("digests")
        begin = int(np.searchsorted(known, np.uint64(job.first)))
        end = int(np.searchsorted(known, np.uint64(job.last), "right"))
        digests.append(known[begin:end])
        places.append(marks.array("places")[begin:end])
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
            chronological_part(seconds_of(post), self.cuts)
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
    rules = rules._replace(dataset=rules_for(raw, files))
    _draft(rules, [path for path in files if not rules.marks(path).folder.exists()], run)
    marks = [rules.marks(path) for path in files]
    told = [one.told() for one in marks]
    again = _copies(marks, sum(posts for posts, _ in told), run)
    dropped = sum((some for _, some in told), Counter({COPY: sum(map(len, again))}))
    cuts = (np.inf, np.inf)
    if split == "chronological":
        pairs = zip(marks, again, strict=True)
        kept = (np.delete(one.array("times"), places) for one, places in pairs)
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
        rules.beside(path, "jsonl").unlink(missing_ok=True)
        rules.beside(path, "copies.npy").unlink(missing_ok=True)
    skipped = Skipped()
    skipped.count = dropped.pop(SKIPPED, 0)
    return Prepared(result, _statistics(days, target, run), dropped, skipped)


def _draft(rules: Rules, files: list[Path], run: Run[Any, Any]) -> None:
    for _ in run(draft, [DraftJob(rules, path) for path in files]):
        pass


def _copies(marks: list[DraftMarks], posts: int, run: Run[Any, Any]) -> list[Array]:
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


def _statistics(days: Days, target: Path, run: Run[Any, Any]) -> Statistics:
    """Of the days of this run; others in the folder are of runs before."""
    made = Days.of(target).files
    files = [path for day in days.files for path in made[day]]
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
