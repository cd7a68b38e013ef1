"""The index of the news: one `Day` after the other, kept beside the store it is made from.

A new article changes its own day alone: that day is built again from the store and takes the place
of the old one, so an index that grew and one made in one go are the same. Days are files that are
mapped into memory when they are first asked for and checked against the manifest then. Programs
that read an old day keep it; whoever opens the index next gets the new one.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from hashnews.errors import ModelError
from hashnews.index.day import Day, Entry, Settings, build_day
from hashnews.news.store import NewsStore
from hashnews.records import Article
from hashnews.saved import FileSum, check_file, file_sum, read_manifest, write_manifest
from hashnews.times import EPOCH

KIND = "news index"
READING = 2  # raised when words or entities are read in another way: older indexes are made again
MOST_DAYS = 100  # in memory at once, of an index in a folder


class NewsIndex:
    """The days of news, by their number since 1970, in memory or in a folder."""

    def __init__(self, settings: Settings | None = None, folder: Path | None = None):
        self.settings = settings or Settings()
        self.version = 0  # grows with every change, so that caches know
        self._folder = folder
        self._about: dict[str, Any] = {}
        self._files: dict[str, FileSum] = {}
        self._days: dict[int, Day] = {}
        self._empty = build_day([], self.settings)

    @classmethod
    def open(
        cls, store: NewsStore, settings: Settings | None = None, folder: Path | None = None
    ) -> NewsIndex:
        """The index of a store, brought up to date; it stands in a folder beside the store."""
        beside = store.path.with_name(store.path.name + ".index")
        index = cls(settings, folder or beside)
        index.refresh(store)
        return index

    @classmethod
    def read(cls, folder: Path) -> NewsIndex:
        """An index as it stands in a folder, without the store it was made from."""
        about = read_manifest(folder, KIND).about
        if about.get("reading") != READING:
            raise ModelError(f"{folder} is of another version of HashNews: build it again")
        index = cls(Settings(about["t"], about["q"]), folder)
        index._read_manifest()
        return index

    @property
    def finder(self) -> str:
        """What found the entities."""
        return self._about.get("finder") or "fast"

    def sums(self, before: int) -> dict[str, FileSum]:
        """The files of the days before one."""
        return {name: known for name, known in self._files.items() if _number(name) < before}

    def numbers(self) -> list[int]:
        """The days there is news of, in order."""
        return sorted(self._days.keys() | {_number(name) for name in self._files})

    def day(self, number: int) -> Day:
        """One day, empty where there was no news."""
        day = self._days.get(number)
        if day is None:
            name = next((name for name in self._files if _number(name) == number), None)
            day = self._days[number] = self._empty if name is None else self._load(name)
            if self._folder is not None and len(self._days) > MOST_DAYS:
                del self._days[next(iter(self._days))]  # it can be mapped again
        return day

    def put(self, number: int, day: Day) -> None:
        """Set a day, all of it."""
        self._days[number] = day
        self.version += 1

    def refresh(self, store: NewsStore) -> bool:
        """Take in what the store has got since; says whether there was anything."""
        with self._locked():
            self._read_manifest()
            state = store.state()
            about = {
                "reading": READING,
                "t": self.settings.t,
                "q": self.settings.q,
                "edition": state.edition,
                "finder": state.finder,
            }
            known = {key: value for key, value in self._about.items() if key != "last_row"}
            last_row = self._about["last_row"] if known == about else 0
            if last_row == state.last_row and known == about:
                return False
            if last_row == 0:
                self._files.clear()
                self._days.clear()
            for number in store.days_after(last_row):
                start, end = (EPOCH + timedelta(days=number + ahead) for ahead in (0, 1))
                stored = store.read(start=start, before=end)
                entries = (entry_of(one.article, one.published) for one in stored)
                self._keep(number, build_day(entries, self.settings), state.last_row)
            self._write_manifest({**about, "last_row": state.last_row})
            return True

    def _keep(self, number: int, day: Day, last_row: int) -> None:
        self.put(number, day)
        if self._folder is not None:
            for old in [name for name in self._files if _number(name) == number]:
                del self._files[old]
            name = day_file(number, last_row)
            day.save(self._folder / name)
            self._files[name] = file_sum(self._folder / name)

    def _load(self, name: str) -> Day:
        if self._folder is None:
            raise ModelError(f"{name}: this index has no folder")
        check_file(self._folder, name, self._files[name])
        return Day.load(self._folder / name)

    def _read_manifest(self) -> None:
        if self._folder is None or not self._folder.exists():
            return
        try:
            manifest = read_manifest(self._folder, KIND)
        except ModelError:
            if any(self._folder.glob("*.day")):
                raise
            return  # just made, nothing in it yet
        if manifest.files != self._files:
            kept = {_number(name) for name in manifest.files.keys() & self._files.keys()}
            self._days = {number: day for number, day in self._days.items() if number in kept}
            self.version += 1
        self._about, self._files = dict(manifest.about), dict(manifest.files)

    def _write_manifest(self, about: dict[str, Any]) -> None:
        self._about = about
        if self._folder is not None:
            write_manifest(self._folder, KIND, about, self._files)
            for path in self._folder.glob("*.day"):
                if path.name not in self._files:
                    path.unlink()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One at a time brings an index up to date; readers are not held up."""
        if self._folder is None:
            yield
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise ModelError(f"{self._folder} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def seal(folder: Path, settings: Settings, finder: str, files: dict[str, FileSum]) -> None:
    """Make an index of files of days, named by `day_file`, that stand in a folder already."""
    about = {"reading": READING, **settings._asdict(), "finder": finder}
    write_manifest(folder, KIND, about, files)
    for path in folder.glob("*.day"):
        if path.name not in files:
            path.unlink()


def day_file(number: int, state: int | str) -> str:
    """The name of a day's file; a day that changed gets another."""
    return f"{number}-{state}.day"


def _number(name: str) -> int:
    return int(name.rsplit("-", 1)[0])


def entry_of(article: Article, published: int) -> Entry:
    """An article as the index reads it."""
    return Entry(article.id, published, article.entities or (), f"{article.title}\n{article.text}")
