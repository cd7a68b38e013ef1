"""Archives that come in part by part: kept in a file beside the store, then read by a process.

So an archive of any size costs no memory, each request is short, and one that breaks off leaves
nothing behind but what was read before.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from pathlib import Path
from typing import NamedTuple

from hashnews.posts.upload import Upload, UploadState
from hashnews.service.problems import refusal

LARGEST_ARCHIVE = 8 << 30  # bytes
MOST_UPLOADS = 4  # at once
SHOWN = 10  # of those that are over
ABANDONED = 600.0  # seconds without a part, after which an upload is no more
SUFFIXES = re.compile(r"(\.[A-Za-z0-9]{1,10}){0,2}$")


class Coming(NamedTuple):
    """An archive of which parts are still to come."""

    name: str
    size: int
    user: str | None
    replies: bool
    file: Path
    seen: float


class Uploads:
    """All archives of one service."""

    def __init__(self, store: Path | None):
        self._store = store
        self._coming: dict[str, Coming] = {}
        self._reading: dict[str, tuple[Upload, Path]] = {}
        self._over: dict[str, UploadState] = {}
        self._writing = asyncio.Lock()
        for left in self._files():  # of a service that was killed
            left.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        if self._store is None:
            return []
        return list(self._store.parent.glob(f".{self._store.name}.upload-*"))

    def begin(self, name: str, size: int, user: str | None, replies: bool) -> str:
        """Announce an archive; says under which id its parts are to be sent."""
        assert self._store is not None  # the gate sees to it
        self._tidy()
        if len(self._coming) + len(self._reading) >= MOST_UPLOADS:
            raise refusal(409, f"{MOST_UPLOADS} archives are on their way: wait for one to end")
        identifier = secrets.token_hex(8)
        found = SUFFIXES.search(name)
        suffix = found[0] if found else ""
        file = self._store.parent / f".{self._store.name}.upload-{identifier}{suffix}"
        file.touch(mode=0o600)
        coming = Coming(name, size, user, replies, file, time.monotonic())
        self._coming[identifier] = coming
        return identifier

    async def take(self, identifier: str, at: int, part: bytes) -> UploadState:
        """Take in a part; with the last one reading begins."""
        async with self._writing:
            coming = self._coming.get(identifier)
            if coming is None:
                raise refusal(404, "there is no upload of this id")
            here = coming.file.stat().st_size
            if at != here or here + len(part) > coming.size:
                raise refusal(409, f"send the part that begins at byte {here:,}")
            await asyncio.to_thread(_append, coming.file, part)
            self._coming[identifier] = coming._replace(seen=time.monotonic())
            if here + len(part) == coming.size:
                del self._coming[identifier]
                self._read(identifier, coming)
        return self.states()[identifier]

    def _read(self, identifier: str, coming: Coming) -> None:
        assert self._store is not None
        upload = Upload(coming.file, self._store, coming.name, coming.user, coming.replies)
        self._reading[identifier] = (upload, coming.file)

    def states(self) -> dict[str, UploadState]:
        """How far each archive is, by id: those on their way, then those that are over."""
        self._tidy()
        coming = {
            identifier: UploadState(one.name, "adding") for identifier, one in self._coming.items()
        }
        reading = {identifier: upload.state for identifier, (upload, _) in self._reading.items()}
        return coming | reading | dict(reversed(self._over.items()))

    def _tidy(self) -> None:
        """Put aside what is over, and forget what never came."""
        for identifier, (upload, file) in list(self._reading.items()):
            if upload.state.state != "adding":
                self._over[identifier] = upload.state
                file.unlink(missing_ok=True)
                del self._reading[identifier]
        for identifier, coming in list(self._coming.items()):
            if time.monotonic() - coming.seen > ABANDONED:
                coming.file.unlink(missing_ok=True)
                del self._coming[identifier]
        for identifier in list(self._over)[:-SHOWN]:
            del self._over[identifier]


def _append(file: Path, part: bytes) -> None:
    with file.open("ab") as stream:
        stream.write(part)
