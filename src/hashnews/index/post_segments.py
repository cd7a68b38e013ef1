"""The segments of all posts of a store, kept in a folder beside it.

Segments stand in the order of arrival. What is new becomes a small segment, which is merged with
the one before it unless that is far larger, so each post is written anew a few times only. Large
ones are files that all processes map; the manifest names them and the state of the store they were
made from. What is not of the store's past, or cannot be read, is made again, and one line says so.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

import numpy as np

from hashnews.errors import ModelError
from hashnews.index.array_file import map_arrays, save_arrays
from hashnews.index.segment import Segment, build_segment, merged, without
from hashnews.news.store import NewsStore
from hashnews.posts.table import Remembered, checksums, pick_posts, read_posts
from hashnews.saved import FileSum, check_file, file_sum, read_manifest, write_manifest
from hashnews.times import A_DAY

KIND = "post index"
READING = 2  # raised when posts are read in another way: older segments are made again
MAGIC = b"hashnews posts1\n"
MERGE = 4  # a segment is merged with the one before it unless that is so many times larger ...
FULL = 1 << 18  # ... or the two have more posts than this; a row has three bytes
BATCH = 1 << 16  # posts read at a time
SAVED = 1 << 12  # posts, at least, of a segment that is a file
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
            self._read_manifest()
            if self._writer and not store.descends(self._writer, self._generation):
                LOGGER.warning("The posts of %s are read again: it is another store", store.path)
                self._forget()
            ((self.since,),) = store.database.rows("SELECT coalesce(min(posted), 0) FROM posts")
            if self._writer:
                self._follow(store, store.changes_since(self._generation, "posts"))
            self._writer, self._generation = state.writer, state.generation
            self.extend(read_posts(store, self._last_row))
            self._save()
        return self.all != before or self.since != since

    def _follow(self, store: NewsStore, days: list[int]) -> None:
        """Leave out the posts of some days that the store does not have, and read changed ones.

        What is older than all the store has stays where it is: `since` says that it is gone.
        """
        there = {row: value for day in days for row, value in checksums(store, day).items()}
        for at, segment in enumerate(self.all):
            first = segment.times.searchsorted(self.since)
            of_days = np.flatnonzero(np.isin(segment.times // A_DAY, days))
            known = zip(segment.rows[of_days].tolist(), segment.sums[of_days].tolist(), strict=True)
            gone = np.zeros(len(segment), bool)
            gone[of_days] = [there.get(row) != value for row, value in known]
            gone[:first] = first == len(segment)
            if gone.any():
                changed = [row for row in segment.rows[gone].tolist() if row in there]
                self.all[at] = without(segment, gone)
                if changed:
                    self.all[at] = merged(self.all[at], build_segment(pick_posts(store, changed)))
        self.all = [segment for segment in self.all if len(segment)]

    def _read_manifest(self) -> None:
        """Take over what another process has saved since."""
        if self._folder is None or not (self._folder / "manifest.json").exists():
            return
        try:
            manifest = read_manifest(self._folder, KIND)
            if manifest.about["reading"] != READING:
                raise ModelError("it is of another version")
            if manifest.files == self._files and self._writer:
                return
            names = {}
            for name, expected in manifest.files.items():
                if name not in self._names:
                    check_file(self._folder, name, expected)
                names[name] = self._names.get(name) or self._load(name)
            about = manifest.about
            self._last_row, self._writer = int(about["last_row"]), str(about["writer"])
            self._generation = int(about["generation"])
        except (ModelError, OSError, KeyError, TypeError, ValueError) as error:
            LOGGER.warning("The posts are read again: %s", error)
            self._files = {}
            self._forget()
            return
        self.all, self._names, self._files = list(names.values()), names, manifest.files

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
                     "generation": self._generation}  # fmt: skip
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
        lock = None
        if self._folder is not None:
            with suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True)
                lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
                fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            if lock is not None:
                os.close(lock)


def _should_merge(earlier: int, new: int) -> bool:
    """Whether a segment is merged with the new one after it."""
    return earlier < MERGE * new and earlier + new <= FULL
