"""Files by day: `day=2020-06-02/part-0.jsonl`, and a step that turns one such folder into another.

A day is written beside its place, file by file, each whole or not at all; when all are there it is
sealed by a manifest and gets its name. So a day is finished or absent, and what a broken-off run
wrote is kept. Which day is finished its manifest tells: it names all that the day was made from.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from hashnews.errors import DataError
from hashnews.files import OnError, RecordFile, Skipped, file_format, new_file, open_bytes
from hashnews.records import Article, Post, PreparedPost
from hashnews.saved import (
    MANIFEST,
    FileSum,
    file_sum,
    put_in_place,
    read_manifest,
    write_manifest,
)
from hashnews.scale.engine import Run, WorkerUsage, this_worker
from hashnews.times import day_of, time_of

DAY = re.compile(r"day=(\d{4}-\d\d-\d\d)")
NUMBER = re.compile(r"(\d+)")
SAME = "made from"

Dated = TypeVar("Dated", Post, PreparedPost, Article)


class Days(NamedTuple):
    """The files of a folder, by day, both in order."""

    folder: Path
    files: dict[date, list[Path]]

    @classmethod
    def of(cls, folder: Path) -> Days:
        """What is in a folder; hidden files and those that begin with `_` are none of ours."""
        if not folder.is_dir():
            raise DataError("there is no such folder", folder)
        files: dict[date, list[Path]] = {}
        for path in sorted(folder.iterdir()):
            if (found := DAY.fullmatch(path.name)) and path.is_dir():
                files[_date(found[1], path)] = sorted(filter(_is_data, path.iterdir()), key=_order)
        if not files:
            raise DataError("it has no folder of a day, such as day=2020-06-02", folder)
        return cls(folder, files)

    def made_from(self, day: date) -> str:
        """The files of a day, told apart by name, size and time."""
        states = [(path.name, path.stat()) for path in self.files[day]]
        return str([(name, state.st_size, state.st_mtime_ns) for name, state in states])


def _date(text: str, path: Path) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise DataError("there is no such day", path) from None


def _is_data(path: Path) -> bool:
    return path.name != MANIFEST and not path.name.startswith((".", "_"))


def _order(path: Path) -> list[Any]:
    """part-9 before part-10."""
    return [int(piece) if piece.isdigit() else piece for piece in NUMBER.split(path.name)]


def read_day(
    path: Path, kind: type[Dated], on_error: OnError = "stop", skipped: Skipped | None = None
) -> Iterator[Dated]:
    """The records of one file, each checked to be of the folder's day."""
    found = DAY.fullmatch(path.parent.name)
    day = None if found is None else _date(found[1], path)
    for record in RecordFile(path, kind, on_error, skipped):
        check_day(record, day, path)
        yield record


def check_day(record: Post | PreparedPost | Article, day: date | None, path: Path) -> None:
    """Refuse a record that is in the wrong day: what it may see would not be what was checked."""
    if isinstance(record, Article):
        moment = record.published_at
    else:
        moment = time_of(record, "only dated posts go by day", path)
    what = type(record).__name__
    if day is not None and day_of(moment) != (day - date(1970, 1, 1)).days:
        raise DataError(f"{what} {record.id} of {moment.isoformat()} is not of this day", path)


class DayStep(Protocol):
    """What turns a file of records into a file of lines; small, for it travels with every job."""

    kind: ClassVar[str]

    def lines(self, path: Path) -> Iterable[str]:
        """The lines that one file becomes."""


class FileJob(NamedTuple):
    """One file to be made of another."""

    step: DayStep
    day: date
    source: Path
    target: Path

    def __str__(self) -> str:
        return str(self.source)


class Done(NamedTuple):
    """A file that was made."""

    day: date
    name: str
    lines: int
    sum: FileSum
    seconds: float
    """Of the processor's time."""
    worker: WorkerUsage


class Result(NamedTuple):
    """What came of a step."""

    days: int
    skipped: int
    """Days that were finished already."""
    files: int
    lines: int
    """Of the days not skipped."""
    seconds: float
    """Of the workers' processors."""
    workers: list[WorkerUsage]
    """Each process once, as it was last seen."""

    def __str__(self) -> str:
        return (
            f"{self.lines:,} lines in {self.files:,} files of {self.days - self.skipped:,} days, "
            f"{self.skipped:,} days were finished already"
        )

    def as_dict(self) -> dict[str, float]:
        """For `--json`."""
        return {
            "days": self.days,
            "days_skipped": self.skipped,
            "files": self.files,
            "lines": self.lines,
            "cpu_seconds": round(self.seconds, 2),
            "workers": len(self.workers),
        }


Watch = Callable[[Iterator[Done]], Iterable[Done]]


class DayFolder:
    """One day of a result: unfinished, it stands beside its place under another name."""

    def __init__(self, target: Path, day: date, kind: str, made_from: str):
        self.kind = kind
        self.digest = hashlib.sha256(made_from.encode()).hexdigest()
        self.place = target / f"day={day}"
        self.scratch = target / f".day={day}.{self.digest[:16]}"
        self.sums: dict[str, FileSum] = {}
        self.waiting: set[str] = set()

    def is_finished(self) -> bool:
        """Whether it was made before, of the same."""
        if not self.place.exists():
            return False
        known = read_manifest(self.place, self.kind)  # refuses what is not ours to replace
        sizes = {path.name: path.stat().st_size for path in self.place.iterdir()}
        whole = all(sizes.get(name) == known.files[name].bytes for name in known.files)
        return whole and known.about.get(SAME) == self.digest

    def begin(self) -> None:
        """Make its folder; a worker that does not see it is on a node that shares no folder."""
        try:
            self.scratch.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", self.scratch.parent) from None

    def add(self, name: str, made: FileSum) -> None:
        """One file more is there; with the last one the day is sealed."""
        self.sums[name] = made
        self.waiting.discard(name)
        if not self.waiting:
            self.seal()

    def seal(self) -> None:
        """Give the day its name."""
        for left in self.scratch.glob(".*"):  # of a process that died
            left.unlink()
        write_manifest(self.scratch, self.kind, {SAME: self.digest}, self.sums)
        put_in_place(self.scratch, self.place)


def write_days(
    step: DayStep,
    made_from: Callable[[date], str],
    source: Days,
    target: Path,
    run: Run[FileJob, Done],
    watch: Watch = lambda done: done,
) -> Result:
    """Make every day of a folder into a day of another; finished ones are skipped.

    `made_from` names all but the files of a day that its result depends on.
    """
    folders, jobs = unfinished(step, made_from, source, target), []
    for day, folder in folders.items():
        folder.begin()
        files = source.files[day]
        new = [FileJob(step, day, path, folder.scratch / result_name(path)) for path in files]
        folder.waiting = {job.target.name for job in new}
        if len(folder.waiting) < len(new):
            raise DataError("two of its files would become one: rename them", files[0].parent)
        if not new:
            folder.seal()
        jobs += new
    lines, seconds, workers = 0, 0.0, {}
    for done in watch(run(do, jobs)):
        folders[done.day].add(done.name, done.sum)
        lines += done.lines
        seconds += done.seconds
        workers[done.worker.host, done.worker.pid] = done.worker
    for left in target.glob(".day=*"):  # of runs with other settings
        shutil.rmtree(left, ignore_errors=True)
    skipped = len(source.files) - len(folders)
    by_whom = list(workers.values())
    return Result(len(source.files), skipped, len(jobs), lines, seconds, by_whom)


def unfinished(
    step: DayStep, made_from: Callable[[date], str], source: Days, target: Path
) -> dict[date, DayFolder]:
    """The days that are still to be made."""
    if target.resolve() == source.folder.resolve():
        raise DataError("the result needs a folder of its own", target)
    folders = {
        day: DayFolder(target, day, step.kind, f"{made_from(day)}\n{source.made_from(day)}")
        for day in source.files
    }
    return {day: folder for day, folder in folders.items() if not folder.is_finished()}


def result_name(path: Path) -> str:
    """A result is JSON lines, packed where its source is."""
    file_format(path)  # refuses what cannot be read
    packed = path.name.lower().endswith(".gz")
    stem = path.name.split(".")[0]
    return f"{stem}.jsonl.gz" if packed else f"{stem}.jsonl"


def do(job: FileJob) -> Done:
    """Make one file, unless a run before has."""
    began = time.process_time()
    if not job.target.parent.is_dir():
        raise DataError("this node does not see the folder of the result", job.target.parent)
    if job.target.exists():
        with open_bytes(job.target) as (stream, _, _):
            count = sum(1 for _ in stream)
    else:
        count = 0
        with new_file(job.target) as out:
            for line in job.step.lines(job.source):
                out.write(line + "\n")
                count += 1
    spent = time.process_time() - began
    return Done(job.day, job.target.name, count, file_sum(job.target), spent, this_worker())
