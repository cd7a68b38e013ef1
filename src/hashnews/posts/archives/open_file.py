"""A file of posts, whatever it is: told apart by what is in it, not by its name."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, Protocol

from pydantic import ValidationError

from hashnews.config import explain
from hashnews.errors import DataError
from hashnews.files import OnError, PostFile, RecordFile, Skipped
from hashnews.posts.archives import bluesky, mastodon, meta, x
from hashnews.posts.archives.columns import ColumnsFile
from hashnews.posts.archives.items import JsonItems, Readable
from hashnews.posts.archives.members import (
    GZIP,
    RECORD,
    ZIP,
    Joined,
    Member,
    Unpacked,
    is_tar,
    read_head,
    tar_members,
    zip_members,
)
from hashnews.posts.archives.texts import Written
from hashnews.records import Post, PreparedPost

COLUMNS = "say which columns hold what: --columns text=NAME,created_at=NAME"
HEAD = 1 << 18  # bytes that tell what a file is: the first post is in them
# What the standard library raises at a broken file; of a ValueError, a name that is no UTF-8.
BROKEN = (OSError, EOFError, ValueError, zlib.error, struct.error, zipfile.BadZipFile,
          NotImplementedError, RuntimeError)  # fmt: skip


class ArchiveKind(Protocol):
    """A network's archive: which lists of JSON are its posts, and what an item of them says."""

    NAME: str

    def knows(self, name: str, item: Any) -> bool:
        """Whether a list of this name that begins with this item holds posts."""

    def owner(self, name: str, item: Any) -> str | None:
        """Whose archive it is, where this list says it."""

    def post_of(self, item: Any, replies: bool) -> Written | None:
        """The post that an item is; None where it is not wanted."""


KINDS: tuple[ArchiveKind, ...] = (mastodon, x, bluesky, meta)


class DocumentHead(NamedTuple):
    """What the head of a document tells."""

    kind: ArchiveKind | None = None
    owner: str | None = None


class ArchiveFile(RecordFile[Post]):
    """An archive as a stream of its owner's own posts; `done` is the share of it read so far."""

    def __init__(
        self,
        path: str | Path,
        on_error: OnError = "stop",
        skipped: Skipped | None = None,
        replies: bool = False,
    ):
        super().__init__(path, Post, on_error, skipped)
        self.owner: str | None = None  # as far as the archive says it once for all posts
        self.is_named = True  # whether each post so far says who wrote it
        self._replies = replies

    def __iter__(self) -> Iterator[Post]:
        try:
            with Path(self.path).open("rb") as raw:
                yield from self._posts(raw, os.fstat(raw.fileno()).st_size)
        except BROKEN as error:
            # Past a break nothing can be trusted; what came before is whole.
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            self._refuse(DataError(f"cannot be read on: {reason or 'it is broken'}", self.path), "")
        except DataError as error:
            self._refuse(DataError(error.reason, self.path), "")

    def _posts(self, raw: BinaryIO, size: int) -> Iterator[Post]:
        head = raw.read(HEAD)
        raw.seek(0)
        if bluesky.is_car(head):
            yield from self._own(bluesky, bluesky.car_posts(raw), raw, size)
            return
        known = False
        for member in _members(raw, size, head):
            start = read_head(member.stream, HEAD)
            told = tell(start)
            self.owner = self.owner or told.owner
            if told.kind is not None:
                known = True
                items = _items(told.kind, JsonItems(Joined(start, member.stream)))
                yield from self._own(told.kind, items, raw, size)
        if not known:
            names = ", ".join(kind.NAME for kind in KINDS)
            raise DataError(f"it holds no posts that are known: those of {names}, in JSON, are")

    def _own(
        self, kind: ArchiveKind, items: Iterator[Any], raw: IO[bytes], size: int
    ) -> Iterator[Post]:
        for number, item in enumerate(items, 1):
            if number % 256 == 0:
                self.done = raw.tell() / size
            try:
                written = kind.post_of(item, self._replies)
                post = None if written is None else written.as_post(self.owner)
            except (ValueError, OverflowError, DataError) as error:  # pydantic's is a ValueError
                reason = explain(error) if isinstance(error, ValidationError) else str(error)
                problem = DataError(f"item {number:,} of {kind.NAME}: {reason}", self.path)
                self._refuse(problem, str(item)[:2000])
                continue
            if post is not None:
                self.is_named &= post.user is not None
                yield post


def _members(raw: IO[bytes], size: int, head: bytes) -> Iterator[Member]:
    """What may hold posts: the packed files of an archive, or the file itself."""
    if head.startswith(ZIP):
        yield from zip_members(raw, size)
        return
    stream: Readable = raw
    if head.startswith(GZIP):
        unpacked = Unpacked(raw, size)
        head = read_head(unpacked, RECORD)
        stream = Joined(head, unpacked)
    if is_tar(head):
        yield from tar_members(stream)
    else:
        yield Member("", stream)


def _items(kind: ArchiveKind, items: JsonItems) -> Iterator[Any]:
    """The items of the lists that hold posts."""
    known: dict[str, bool] = {}
    for name, item in items:
        if name not in known:
            known[name] = kind.knows(name, item)
        if known[name]:
            yield item


def tell(head: bytes) -> DocumentHead:
    """What a document is, from its first bytes."""
    with suppress(DataError):  # most often: it goes on where the head ends
        for name, item in JsonItems(BytesIO(head)):
            kind = next((kind for kind in KINDS if kind.knows(name, item)), None)
            owner = next((who for kind in KINDS if (who := kind.owner(name, item))), None)
            if kind or owner:
                return DocumentHead(kind, owner)
    return DocumentHead()


def is_archive(path: str | Path) -> bool:
    """Whether a file is an archive: packed files, a CAR, or JSON that one of the kinds knows."""
    if str(path) == "-":
        return False
    try:
        with Path(path).open("rb") as raw:
            head = raw.read(HEAD)
            if head.startswith(ZIP) or is_tar(head) or bluesky.is_car(head):
                return True
            if head.startswith(GZIP):
                raw.seek(0)
                unpacked = Unpacked(raw, os.fstat(raw.fileno()).st_size)
                head = read_head(unpacked, RECORD)
                if is_tar(head):
                    return True
                head += read_head(unpacked, HEAD)
    except (*BROKEN, DataError):
        return False
    return tell(head).kind is not None


def open_posts(
    path: str | Path,
    on_error: OnError = "stop",
    skipped: Skipped | None = None,
    columns: Mapping[str, str] | None = None,
    replies: bool = False,
) -> RecordFile[Post] | RecordFile[Post | PreparedPost]:
    """The posts of a file: of an archive, of a tool with its own columns, or in our own form."""
    if Path(path).is_dir():
        raise DataError("it is a folder: name the files in it, or give the archive packed", path)
    if columns:
        return ColumnsFile(path, columns, on_error, skipped)
    if is_archive(path):
        return ArchiveFile(path, on_error, skipped, replies)
    if str(path).lower().removesuffix(".gz").endswith((".json", ".js")) and Path(path).is_file():
        raise DataError(f"it is not an archive that is known: {COLUMNS}", path)
    return PostFile(path, on_error, skipped)
