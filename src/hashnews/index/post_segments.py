"""The segments of all posts of a store, kept in a folder beside it.

Segments stand in the order of arrival. What is new becomes a small segment, which is merged with
the one before it unless that is far larger, so each post is written anew a few times only. Large
ones are files that all processes map; the manifest names them and the state of the store they were
made from. What is not of the store's past, or cannot be read, is made again, and one line says so.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path

import numpy as np

from hashnews.errors import ModelError
from hashnews.index.array_file import map_arrays, save_arrays
from hashnews.index.segment import Segment, build_segment, merged, without
from hashnews.news.store import NewsStore
from hashnews.portable import held
from hashnews.posts.table import Remembered, checksums, days_of_posts, pick_posts, read_posts
from hashnews.saved import MANIFEST, FileSum, check_file, file_sum, read_manifest, write_manifest
from hashnews.times import A_DAY, date_of

KIND = "post index"
READING = 3  # raised when posts are read in another way: older segments are made again
MAGIC = b"hashnews posts1\n"
MERGE = 4  # a segment is merged with the one before it unless that is so many times larger ...
FULL = 1 << 18  # ... or the two have more posts than this; a row has three bytes
BATCH = 1 << 16  # posts read at a time
SAVED = 1 << 12  # posts, at least, of a segment that is a file
OLDEST = "SELECT coalesce(min(posted), 0) FROM posts"
LOGGER = logging.getLogger("hashnews.index")  # unless told otherwise, a line on standard error


def folder_of_posts(store: NewsStore) -> Path:
    """Where the segments of a store's posts are."""
    return store.path.with_name(store.path.name + ".posts")


class PostSegments:
    """Segments of posts, in memory or in a folder."""

    def __init__(self, folder: Path | None = None):
        self.all: list[Segment] = []
        self.since = 0  # when the oldest post was written; older rows are gone
        self._folder = folder
        self._files: dict[str, FileSum] = {}
        self._names: dict[str, Segment] = {}  # those that are files
        self._forget()

    def _forget(self) -> None:
        self.all, self._names, self.since = [], {}, 0
        self._last_row, self._writer, self._generation = 0, "", -1

    def extend(self, posts: Iterable[Remembered]) -> None:
        """Take in posts, in any order of time; the work grows with what is new."""
        stream = iter(posts)
        while batch := list(islice(stream, BATCH)):
            new = build_segment(batch)
            while self.all and _should_merge(len(self.all[-1]), len(new)):
                new = merged(self.all.pop(), new)
            self.all.append(new)
            self._last_row = max(self._last_row, batch[-1].row)
            self._save()

    def refresh(self, store: NewsStore) -> bool:
        """Take in what happened to the store's posts since; says whether there was anything."""
        state = store.state()
        if (state.writer, state.generation) == (self._writer, self._generation):
            return False
        with self._locked():
            before, since = list(self.all), self.since
            if why := self._read_manifest():
                LOGGER.warning("The posts of %s are read again: %s", store.path, why)
            if self._writer and not store.descends(self._writer, self._generation):
                LOGGER.warning("The posts of %s are read again: it is another store", store.path)
                self._forget()
            ((oldest,),) = store.database.rows(OLDEST)
            if oldest < self.since:
                self._drop_older(self.since)
            self.since = oldest
            if self._writer:
                self._follow(store, store.changes_since(self._generation, "posts"))
            self._writer, self._generation = state.writer, state.generation
            self.extend(read_posts(store, self._last_row))
            self._save()
        return self.all != before or self.since != since

    def _drop_older(self, moment: int) -> None:
        """Leave out what was gone by its time alone: that time is about to move back."""
        for at, segment in enumerate(self.all):
            if (gone := segment.times < moment).any():
                self.all[at] = without(segment, gone)
        self.all = [segment for segment in self.all if len(segment)]

    def _follow(self, store: NewsStore, days: list[int]) -> None:
        """Leave out the posts of some days that the store does not have, and read changed ones.

        What is older than all the store has stays where it is: `since` says that it is gone.
        """
        there = {row: value for day in days for row, value in checksums(store, day).items()}
        for at, segment in enumerate(self.all):
            gone = np.zeros(len(segment), bool)
            for day in days:
                some, known = _of_day(segment, day)
                counts = (segment.times[some] >= self.since).tolist()
                gone[some] = [
                    there.get(row) != value and (new or row in there)
                    for (row, value), new in zip(known, counts, strict=True)
                ]
            gone |= segment.times[-1] < self.since
            if gone.any():
                changed = [row for row in segment.rows[gone].tolist() if row in there]
                self.all[at] = without(segment, gone)
                if changed:
                    self.all[at] = merged(self.all[at], build_segment(pick_posts(store, changed)))
        self.all = [segment for segment in self.all if len(segment)]

    @classmethod
    def check(cls, store: NewsStore) -> str | None:
        """What is wrong with the segments beside a store; nothing where there are none yet."""
        segments = cls(folder_of_posts(store))
        if not folder_of_posts(store).exists():
            return None
        with segments._locked():
            return segments._read_manifest() or segments._compare(store)

    def _compare(self, store: NewsStore) -> str | None:
        if not self._writer:
            return None
        if not store.descends(self._writer, self._generation):
            return "it is of another store, or the store was put back to an earlier state"
        (oldest,), days = store.database.rows(OLDEST)[0], set(days_of_posts(store))
        days.update(*((one.times[one.times >= oldest] // A_DAY).tolist() for one in self.all))
        for day in sorted(days.difference(store.changes_since(self._generation, "posts"))):
            there, here = checksums(store, day), dict[int, int]()
            for one in self.all:
                some, known = _of_day(one, day)
                here |= known[(one.times[some] < oldest).sum() :]
            if here != {row: value for row, value in there.items() if row <= self._last_row}:
                return f"the posts of {date_of(day)} are not those of the store"
        return None

    def _read_manifest(self) -> str | None:
        """Take over what another process has saved since; says why where it cannot."""
        if self._folder is None or not (self._folder / MANIFEST).exists():
            return None
        try:
            manifest = read_manifest(self._folder, KIND)
            if manifest.about["reading"] != READING:
                raise ModelError("it is of another version")
            if manifest.files == self._files and self._writer:
                return None
            names = {}
            for name, expected in manifest.files.items():
                if name not in self._names:
                    check_file(self._folder, name, expected)
                names[name] = self._names.get(name) or self._load(name)
            about = manifest.about
            self._last_row, self._writer = int(about["last_row"]), str(about["writer"])
            self.since = int(about["since"])
            self._generation = int(about["generation"])
        except (ModelError, OSError, KeyError, TypeError, ValueError) as error:
            self._files = {}
            self._forget()
            return str(error)
        self.all, self._names, self._files = list(names.values()), names, manifest.files
        return None

    def _load(self, name: str) -> Segment:
        assert self._folder is not None
        return Segment(map_arrays(self._folder / name, MAGIC))

    def _save(self) -> None:
        """Have the large segments in the folder, as far as nothing small stands before them."""
        if self._folder is None or not self._writer:
            return
        saved, files = {}, {}
        known = {id(segment): name for name, segment in self._names.items()}
        try:
            for at, segment in enumerate(self.all):
                if len(segment) < SAVED:
                    break
                name = known.get(id(segment))
                if name is None:
                    rows = segment.rows
                    name = f"{rows.min()}-{rows.max()}-{self._generation}.posts"
                    save_arrays(self._folder / name, MAGIC, segment.arrays)
                    files[name] = file_sum(self._folder / name)
                    self.all[at] = self._load(name)
                else:
                    files[name] = self._files[name]
                saved[name] = self.all[at]
            if files == self._files:
                return
            last_row = max((int(one.rows.max()) for one in saved.values()), default=0)
            about = {"reading": READING, "writer": self._writer, "last_row": last_row,
                     "generation": self._generation, "since": self.since}  # fmt: skip
            write_manifest(self._folder, KIND, about, files)
            self._names, self._files = saved, files
            for path in (*self._folder.glob("*.posts"), *self._folder.glob(".*.tmp-*")):
                if path.name not in files:
                    path.unlink()
        except OSError as error:
            LOGGER.warning("%s cannot be written: %s", self._folder, error.strerror)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One at a time brings the segments up to date; where one may not write, in memory only."""
        with ExitStack() as stack:
            if self._folder is not None:
                with suppress(OSError):
                    self._folder.mkdir(parents=True, exist_ok=True)
                    lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
                    stack.callback(os.close, lock)
                    stack.enter_context(held(lock))
            yield


def _of_day(segment: Segment, day: int) -> tuple[slice, list[tuple[int, int]]]:
    """Where the posts of a day are in a segment, and the row and checksum of each."""
    some = slice(*segment.times.searchsorted((day * A_DAY, (day + 1) * A_DAY)).tolist())
    known = zip(segment.rows[some].tolist(), segment.sums[some].tolist(), strict=True)
    return some, list(known)


def _should_merge(earlier: int, new: int) -> bool:
    """Whether a segment is merged with the new one after it."""
    return earlier < MERGE * new and earlier + new <= FULL
