"""The index of the news: one `Day` after the other, kept beside the store it is made from.

A new article changes its own day alone: that day is built again from the store and takes the place
of the old one, so an index that grew and one made in one go are the same. Days are files that are
mapped into memory when they are first asked for and checked against the manifest then. Programs
that read an old day keep it; whoever opens the index next gets the new one.

The manifest names the state of the store the days were made from and the days that still wait to be
built. It is written as days are finished, so a build that was killed goes on where it was. What is
not of the store's past, or cannot be read, is built again, and one line says so.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from hashnews.errors import ModelError
from hashnews.index.day import Day, Entry, Settings, build_day, empty_day
from hashnews.news.stats import statistics
from hashnews.news.store import NewsStore, StoreState
from hashnews.portable import held
from hashnews.records import Article
from hashnews.saved import MANIFEST, FileSum, check_file, file_sum, read_manifest, write_manifest
from hashnews.times import EPOCH, date_of

KIND = "news index"
READING = 3  # raised when words or entities are read in another way: older indexes are made again
MOST_DAYS = 100  # in memory at once, of an index in a folder
SAVED_EVERY = 2.0  # seconds of building that a kill can cost
LOGGER = logging.getLogger("hashnews.index")  # unless told otherwise, a line on standard error


class NewsIndex:
    """The days of news, by their number since 1970, in memory or in a folder."""

    def __init__(self, settings: Settings | None = None, folder: Path | None = None):
        self.settings = settings or Settings()
        self.version = 0  # grows with every change, so that caches know
        self._folder = folder
        self._store: Path | None = None
        self._about: dict[str, Any] = {}
        self._files: dict[str, FileSum] = {}
        self._days: dict[int, Day] = {}

    @classmethod
    def open(
        cls, store: NewsStore, settings: Settings | None = None, folder: Path | None = None
    ) -> NewsIndex:
        """The index of a store, brought up to date; it stands in a folder beside the store."""
        index = cls(settings, folder or folder_of(store.path))
        index.refresh(store)
        return index

    @classmethod
    def read(cls, folder: Path) -> NewsIndex:
        """An index as it stands in a folder, without the store it was made from."""
        manifest = read_manifest(folder, KIND)
        about = manifest.about
        if about.get("reading") != READING or about.get("waiting"):
            raise ModelError(f"{folder} is half built or of another version: build it again")
        try:
            settings = Settings(float(about["t"]), float(about["q"]))
            _ = [_number(name) for name in manifest.files]
        except (LookupError, TypeError, ValueError, OverflowError):
            raise ModelError(f"{folder}: its manifest is damaged; build it again") from None
        index = cls(settings, folder)
        index._about, index._files = about, manifest.files
        return index

    @classmethod
    def check(cls, store: NewsStore) -> str | None:
        """What is wrong with the index beside a store; nothing where there is none yet."""
        index = cls(None, folder_of(store.path))
        if index._folder is None or not index._folder.exists():
            return None
        with index._locked():
            return index._read_manifest() or index._compare(store, index._folder)

    def _compare(self, store: NewsStore, folder: Path) -> str | None:
        known = self._about
        if not known:
            return None
        self.settings = Settings(known["t"], known["q"])
        there = {(day - date_of(0)).days: count for day, count in statistics(store).days.items()}
        if why := self._misfit(store, store.state(), count=True):
            return why
        if known["waiting"]:
            return f"{len(known['waiting'])} days are not built yet"
        waiting, here = self._waiting(store), {int(day): n for day, n in known["counts"].items()}
        for number in sorted((there.keys() | here.keys()) - waiting):
            has, knows = there.get(number, 0), here.get(number, 0)
            if has != knows:
                return f"of {date_of(number)} the store has {has:,} articles, the index {knows:,}"
        for name, expected in self._files.items():
            try:
                check_file(folder, name, expected)
            except (ModelError, OSError):
                return f"{name} is missing or damaged"
        return None

    @property
    def finder(self) -> str:
        """What found the entities."""
        return self._about.get("finder") or "fast"

    def sums(self, before: int) -> dict[str, FileSum]:
        """The files of the days before one."""
        return {name: known for name, known in self._files.items() if _number(name) < before}

    def numbers(self) -> list[int]:
        """The days there is news of, in order."""
        filled = {number for number, day in self._days.items() if day.size}
        return sorted(filled | {_number(name) for name in self._files})

    def day(self, number: int) -> Day:
        """One day, empty where there was no news."""
        day = self._days.get(number)
        if day is None:
            day = self._days[number] = self._load(number)
            if self._folder is not None and len(self._days) > MOST_DAYS:
                del self._days[next(iter(self._days))]  # it can be mapped again
        return day

    def put(self, number: int, day: Day) -> None:
        """Set a day, all of it."""
        self._days[number] = day
        self.version += 1

    def refresh(self, store: NewsStore, damaged: str | None = None) -> bool:
        """Take in what happened to the store since; says whether there was anything.

        A file that is `damaged` is built again, too.
        """
        with self._locked():
            first, self._store = self._store is None, store.path
            state = store.state()
            why = self._read_manifest() or self._misfit(store, state, first)
            if why:
                LOGGER.warning("%s: %s; it is rebuilt", self._folder, why)
                self._about, self._files = {}, {}
                self._days.clear()
                self.version += 1
            elif left := self._about.get("waiting"):
                LOGGER.warning("%s: %d days were not built yet; going on", self._folder, len(left))
            waiting = self._waiting(store)
            if damaged is not None and damaged in self._files:
                LOGGER.warning("%s: %s is damaged; it is rebuilt", self._folder, damaged)
                waiting.add(_number(damaged))
            if self._about and not waiting:
                return False
            self._about = self._made_from(state, self._about.get("counts", {}))
            self._build(store, sorted(waiting))
            return True

    def _made_from(self, state: StoreState, counts: dict[str, int]) -> dict[str, Any]:
        return {
            "reading": READING,
            **self.settings._asdict(),
            "edition": state.edition,
            "finder": state.finder,
            "store": state.id,
            "writer": state.writer,
            "generation": state.generation,
            "last_row": state.last_row,
            "counts": counts,  # articles of each day that is built
        }

    def _misfit(self, store: NewsStore, state: StoreState, count: bool) -> str | None:
        """Why the days cannot be of this store as it is or was."""
        known = self._about
        if not known:
            return None
        if known["store"] != state.id:
            return "it belongs to another store"
        if not store.descends(known["writer"], known["generation"]):
            return "the store was put back to an earlier state"
        if known.get("reading") != READING or (known["t"], known["q"]) != self.settings:
            return "it was made by another version or with other settings"
        if (known.get("edition"), known.get("finder")) != (state.edition, state.finder):
            return "the entities were found again"
        if count:
            there = store.count_up_to(known["last_row"])  # before asking for what has changed since
            if not self._waiting(store) and there != (here := sum(known["counts"].values())):
                return f"the store has {there:,} articles, the index {here:,}"
        return None

    def _waiting(self, store: NewsStore) -> set[int]:
        """The days to be built: what a kill left over, what grew, and what changed."""
        known = self._about
        return {
            *known.get("waiting", ()),
            *store.days_after(known.get("last_row", 0)),
            *store.changes_since(known.get("generation", 0), "articles"),
        }

    def _build(self, store: NewsStore, waiting: list[int]) -> None:
        saved = time.monotonic()
        try:
            if len(waiting) > 1:
                self._write_manifest(waiting)
            while waiting:
                self._keep(waiting[0], self._build_day(store, waiting[0]))
                del waiting[0]
                if waiting and time.monotonic() - saved > SAVED_EVERY:
                    self._write_manifest(waiting)
                    saved = time.monotonic()
            self._write_manifest([])
        except BaseException as error:
            with suppress(OSError):
                self._write_manifest(waiting)
            if isinstance(error, OSError):
                problem = f"{self._folder} cannot be written: {error.strerror}"
                remedy = "what is built is kept: run it again when there is room"
                raise ModelError(f"{problem}; {remedy}") from None
            raise

    def _build_day(self, store: NewsStore, number: int) -> Day:
        start, end = (EPOCH + timedelta(days=number + ahead) for ahead in (0, 1))
        stored = store.read(start=start, before=end)
        last = self._about["last_row"]  # what came later waits for the next time
        entries = (entry_of(one.article, one.published) for one in stored if one.row <= last)
        return build_day(entries, self.settings)

    def _keep(self, number: int, day: Day) -> None:
        if self._folder is not None:
            name = day_file(number, self._about["generation"])
            path = self._folder / name
            made = None
            if day.size:
                day.save(path)
                made = file_sum(path)
            self._files.pop(self._name(number) or "", None)
            if made is not None:
                self._files[name] = made
        self._about["counts"][str(number)] = day.size
        self.put(number, day)

    def _load(self, number: int) -> Day:
        try:
            return self._mapped(number)
        except (ModelError, OSError):  # damaged, or another program has just built the day again
            if self._store is None:
                raise
            with NewsStore(self._store) as store:
                self.refresh(store, self._name(number))
            return self._mapped(number)

    def _mapped(self, number: int) -> Day:
        name = self._name(number)
        if name is None or self._folder is None:
            return empty_day()
        check_file(self._folder, name, self._files[name])
        return Day.load(self._folder / name)

    def _name(self, number: int) -> str | None:
        return next((name for name in self._files if _number(name) == number), None)

    def _read_manifest(self) -> str | None:
        """Take over what the folder holds; says why where it cannot."""
        if self._folder is None:
            return None
        why = None
        try:
            about, files = read_manifest(self._folder, KIND)
            _check_about(about, files)
        except (ModelError, LookupError, TypeError, ValueError, AttributeError, OverflowError):
            if (self._folder / MANIFEST).exists() or any(self._folder.glob("*.day")):
                why = "its manifest is missing, damaged or of another version"
            about, files = {}, {}
        if files != self._files:
            kept = {_number(name) for name, _ in files.items() & self._files.items()}
            self._days = {number: day for number, day in self._days.items() if number in kept}
            self.version += 1
        self._about, self._files = about, files
        return why

    def _write_manifest(self, waiting: list[int]) -> None:
        self._about["waiting"] = list(waiting)
        if self._folder is not None:
            write_manifest(self._folder, KIND, self._about, self._files)
            _sweep(self._folder, self._files)

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
            with held(lock):
                yield
        finally:
            os.close(lock)


def seal(folder: Path, settings: Settings, finder: str, files: dict[str, FileSum]) -> None:
    """Make an index of files of days, named by `day_file`, that stand in a folder already."""
    about = {"reading": READING, **settings._asdict(), "finder": finder}
    write_manifest(folder, KIND, about, files)
    _sweep(folder, files)


def _sweep(folder: Path, files: dict[str, FileSum]) -> None:
    """Remove what a manifest does not name, and what a kill left of one."""
    for path in chain(folder.glob("*.day"), folder.glob(".*.tmp-*")):
        if path.name not in files:
            path.unlink()


def _check_about(about: dict[str, Any], files: dict[str, FileSum]) -> None:
    """Fail where a manifest lacks what this version writes, or holds something odd."""
    counts, days = about["counts"], [*map(_number, files)]
    whole = (about["generation"], about["last_row"], *about["waiting"], *counts.values())
    fits = [isinstance(number, int) for number in whole]
    fits += [isinstance(about[key], str) for key in ("store", "writer")]
    fits += [isinstance(about[key], int | float) for key in ("t", "q")]
    if not all(fits) or len(set(days)) < len(days):
        raise ValueError
    for number in (*about["waiting"], *map(int, counts), *days):
        date_of(number)  # fails where there is no such day


def folder_of(store: Path) -> Path:
    """Where the index of a store is."""
    return store.with_name(store.name + ".index")


def day_file(number: int, state: int | str) -> str:
    """The name of a day's file; a day that changed gets another."""
    return f"{number}-{state}.day"


def _number(name: str) -> int:
    return int(name.rsplit("-", 1)[0])


def entry_of(article: Article, published: int) -> Entry:
    """An article as the index reads it."""
    return Entry(article.id, published, article.entities or (), f"{article.title}\n{article.text}")
