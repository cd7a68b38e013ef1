"""Runs steps: each a folder with its output, done once while nothing it depends on changes.

The key of a step is a digest of its settings, its version, the bytes of its input files and the
keys of the steps before it. It is part of the folder's name, so that other settings have a folder
of their own and nothing is overwritten. `step.json` says whether the step is done; an interrupted
one resumes in its folder. Every step runs in a process of its own, which ends when the
process that started it does.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from typing import Any, NamedTuple

from hashnews import __version__
from hashnews.errors import DataError, HashNewsError
from hashnews.files import new_file
from hashnews.portable import held

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
STEP, LOG = "step.json", "log.txt"


class Step(NamedTuple):
    """What is to be done in a folder, named after the step and its key."""

    name: str
    folder: Path
    run: Callable[[Path], None]  # gets the folder; must be picklable
    settings: dict[str, Any]
    needs: tuple[Path, ...] = ()  # folders of the steps before

    @classmethod
    def new(
        cls,
        place: Path,
        run: Callable[[Path], None],
        settings: dict[str, Any],
        files: Sequence[Path] = (),
        needs: Sequence[Step] = (),
        version: int = 1,
    ) -> Step:
        """A step whose output depends on settings, files from outside and the steps before.

        The version is raised when the same inputs give another output.
        """
        inputs = [_digest(path) for path in files] + [step.folder.name for step in needs]
        known = json.dumps([__version__, version, settings, inputs], sort_keys=True)
        key = hashlib.sha256(known.encode()).hexdigest()[:12]
        folder = place.with_name(f"{place.name}.{key}")
        return cls(place.name, folder, run, settings, tuple(step.folder for step in needs))


class Outcome(NamedTuple):
    """What became of the steps."""

    seconds: dict[Path, float]  # of all that are done, now or earlier
    failed: dict[Path, str]


def run_steps(
    steps: Sequence[Step], jobs: int = 1, say: Callable[[str], None] = lambda _: None
) -> Outcome:
    """Run what is not done, `jobs` at a time; what a failed step leads to is left out."""
    done = {step.folder for step in steps if _is_done(step.folder)}
    say(f"{len(steps)} steps, {len(done)} done before")
    failed: dict[Path, str] = {}
    running: dict[Any, Child] = {}
    waiting = [step for step in steps if step.folder not in done]
    try:
        while waiting or running:
            for step in list(waiting):
                if any(folder in failed for folder in step.needs):
                    failed[step.folder] = "a step before it failed"
                    waiting.remove(step)
                elif len(running) < jobs and all(folder in done for folder in step.needs):
                    child = Child(step)
                    running[child.process.sentinel] = child
                    waiting.remove(step)
                    say(f"{step.name}: begins ({len(waiting)} wait)")
            if not running:  # what they wait for is not among the steps
                failed |= dict.fromkeys((step.folder for step in waiting), "lacks a step before it")
                waiting.clear()
            for sentinel in connection.wait(list(running)) if running else ():
                child = running.pop(sentinel)
                name, folder, problem = child.step.name, child.step.folder, child.problem()
                if problem is None:
                    done.add(folder)
                    say(f"{name}: done in {time.monotonic() - child.began:.0f} s")
                else:
                    failed[folder] = problem
                    say(f"{name}: {problem}")
    finally:
        for child in running.values():
            child.process.terminate()
            child.process.join()
    return Outcome({folder: _read(folder).get("seconds", 0.0) for folder in done}, failed)


def done_steps(steps: Sequence[Step]) -> Outcome:
    """What is done already; nothing is run."""
    done = (step.folder for step in steps if _is_done(step.folder))
    return Outcome({folder: _read(folder).get("seconds", 0.0) for folder in done}, {})


class Child:
    """A step in its process."""

    def __init__(self, step: Step):
        self.step = step
        self.began = time.monotonic()
        self._heard, told = connection.Pipe(duplex=False)
        self.process = get_context("spawn").Process(target=_work, args=(step, told))
        with _environment(ONE_THREAD):
            self.process.start()
        told.close()

    def problem(self) -> str | None:
        """What went wrong, if anything."""
        self.process.join()
        with suppress(EOFError):
            return str(self._heard.recv())
        code = self.process.exitcode
        return None if code == 0 else f"its process ended with {code}, see {self.step.folder / LOG}"


def _work(step: Step, told: connection.Connection) -> None:
    """The life of a step's process."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    step.folder.mkdir(parents=True, exist_ok=True)
    with _only_one(step.folder):
        if _is_done(step.folder):  # another run did it meanwhile
            return
        log = os.open(step.folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        about = {"done": False, "settings": step.settings}
        _write(step.folder, about)
        began = time.monotonic()
        try:
            step.run(step.folder)
        except HashNewsError as error:
            told.send(str(error))
            sys.exit(1)
        except Exception as error:
            traceback.print_exc()
            told.send(f"{type(error).__name__}: {error} (see {step.folder / LOG})")
            sys.exit(1)
        seconds = round(time.monotonic() - began, 2)
        _write(step.folder, about | {"done": True, "seconds": seconds})


def _end_with_parent() -> None:
    """A killed run must leave no child behind that writes into its folders."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


@contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Wait until no other run is at this step."""
    with folder.with_name(f".{folder.name}.lock").open("w") as lock, held(lock.fileno()):
        yield


@contextmanager
def _environment(changes: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _is_done(folder: Path) -> bool:
    return bool(_read(folder).get("done"))


def _read(folder: Path) -> dict[str, Any]:
    try:
        about: dict[str, Any] = json.loads((folder / STEP).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return about


def _write(folder: Path, about: dict[str, Any]) -> None:
    with new_file(folder / STEP) as stream:
        json.dump(about, stream, indent=2)


def _digest(path: Path) -> str:
    try:
        about = path.stat()
        return _digest_of(path, about.st_mtime_ns, about.st_size)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None


@lru_cache
def _digest_of(path: Path, changed: int, size: int) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
