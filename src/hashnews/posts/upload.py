"""An archive that somebody uploads, added in a process of its own, with bounds.

Whatever is in it, the process may take so much memory and so much time of the processor, opens
nothing but the archive and the store, and its end is the end of this archive only. What it stored
until then stays, and the same archive added again goes on from there.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from hashnews.errors import HashNewsError

MEMORY = 2 << 30  # address space of the process
SECONDS = 1800.0  # by the clock
TELL = 0.5  # seconds between two signs of life


class UploadState(NamedTuple):
    """How far an archive is; the numbers are those of the end, and 0 before it."""

    name: str
    state: Literal["adding", "done", "failed"]
    done: float = 0.0  # the share of it that was read
    read: int = 0  # posts read so far
    added: int = 0
    known: int = 0
    forgotten: int = 0  # older than the memory reaches back
    skipped: int = 0  # what could not be read
    is_named: bool = True  # whether somebody says whose posts they are
    note: str = ""  # why it failed, or what was wrong with the first that was skipped


class Upload:
    """One archive on its way into the memory; `name` is what it is called."""

    def __init__(
        self,
        archive: Path,
        store: Path,
        name: str,
        user: str | None = None,
        replies: bool = False,
        seconds: float = SECONDS,
        memory: int = MEMORY,
    ):
        self._state = UploadState(name, "adding")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "hashnews.posts.upload"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._late = threading.Timer(seconds, self._process.kill)
        self._late.start()
        asked = {
            "archive": str(archive), "store": str(store), "name": name, "user": user,
            "replies": replies, "memory": memory,
        }  # fmt: skip
        with suppress(BrokenPipeError), _open(self._process.stdin) as stdin:
            stdin.write(json.dumps(asked).encode())
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def state(self) -> UploadState:
        """How far it is."""
        return self._state

    def wait(self, seconds: float | None = None) -> UploadState:
        """Wait until it is over, or so long."""
        self._reader.join(seconds)
        return self._state

    def stop(self) -> None:
        """End it; what was added stays."""
        self._process.kill()
        self._reader.join()

    def _read(self) -> None:
        with _open(self._process.stdout) as stdout:
            for line in stdout:
                told: dict[str, Any] = json.loads(line)
                self._state = UploadState(**{**self._state._asdict(), **told})
        self._process.wait()
        self._late.cancel()
        if self._state.state == "adding":
            why = "it took too long or too much memory, or was stopped; what was added stays"
            self._state = self._state._replace(state="failed", note=why)


def _open(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def main() -> None:
    """Add the archive that standard input names; tell how it goes, one JSON object per line."""
    asked = json.load(sys.stdin)
    _limit(asked["memory"])
    try:
        _tell(**_added(asked))
    except HashNewsError as error:
        _tell(state="failed", note=getattr(error, "reason", str(error)))
    except MemoryError:
        _tell(state="failed", note="it takes too much memory")


def _added(asked: dict[str, Any]) -> dict[str, Any]:
    from hashnews.news.store import NewsStore
    from hashnews.posts.adding import AddSettings, add_file
    from hashnews.prepare.preparer import Preparer
    from hashnews.text.entities import load_finder
    from hashnews.text.segment import shipped_segmenter

    settings = AddSettings(user=asked["user"], replies=asked["replies"], on_error="skip")
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    with NewsStore(asked["store"], "write") as store:
        done = add_file(store, preparer, asked["archive"], settings, asked["name"], _watched)
    useless = done.skipped and not (done.added or done.known or done.forgotten)
    return {"state": "failed" if useless else "done", **done._asdict(), "done": 1.0}


def _watched(posts: Any) -> Iterator[Any]:
    told = 0.0
    for count, post in enumerate(posts, 1):
        yield post
        if time.monotonic() - told > TELL:
            told = time.monotonic()
            _tell(done=posts.done, read=count)


def _tell(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:  # not a Unix
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
