"""What is packed in a .zip, a .tar.gz or a .gz, as streams; nothing is written to the disk.

Only files whose names end in .json or .js are read: links, media and archives in the archive are
passed over. One that unpacks to far more than it holds, has a name that leads out of it, or is
encrypted is refused.
"""

from __future__ import annotations

import gzip
import io
import re
import stat
import zipfile
from collections.abc import Iterator
from typing import IO, NamedTuple

from hashnews.errors import DataError
from hashnews.posts.archives.items import Readable

RATIO = 200  # JSON unpacks to 5 to 40 times its size, a bomb to a thousand times
SMALL = 16 << 20  # bytes that may come of anything
LARGEST_TABLE = 64 << 20  # bytes of a zip's table of contents, which is read at once
READ = (".json", ".js")
FIRST = ("account.js", "personal_information.json")  # they say whose the posts are
ZIP, GZIP, USTAR = (b"PK\x03\x04", b"PK\x05\x06"), b"\x1f\x8b", slice(257, 262)
RECORD = 512  # bytes; a tar is made of such
OUTSIDE = re.compile(r"(?:^|[/\\])\.\.(?:[/\\]|$)|^[/\\]|^[A-Za-z]:")
BOMB = f"it unpacks to more than {RATIO} times its size: it is broken, or meant to harm"


class Member(NamedTuple):
    """A packed file."""

    name: str
    stream: Readable


class Unpacked(io.RawIOBase):
    """The bytes of a gzip, up to a bound that its packed size sets."""

    def __init__(self, packed: IO[bytes], size: int):
        self._stream = gzip.GzipFile(fileobj=packed)
        self._left = SMALL + RATIO * size

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes; refused where they become too many."""
        content = self._stream.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise DataError(BOMB)
        return content


class Stretch:
    """A part of a stream: so many bytes from here on, and what of them is left."""

    def __init__(self, stream: Readable, size: int):
        self._stream, self.left = stream, size

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes of the part."""
        wanted = self.left if size < 0 else min(size, self.left)
        content = self._stream.read(wanted) if wanted else b""
        if len(content) < wanted and not content:
            raise DataError("it ends in the middle of a file")
        self.left -= len(content)
        return content


class Joined:
    """A stream whose head was read already."""

    def __init__(self, head: bytes, rest: Readable):
        self._head, self._rest = head, rest

    def read(self, size: int = -1, /) -> bytes:
        """The head first, then the rest."""
        if self._head:
            size = len(self._head) if size < 0 else size
            content, self._head = self._head[:size], self._head[size:]
            return content
        return self._rest.read(size)


def read_head(stream: Readable, size: int) -> bytes:
    """The first bytes of a stream: so many, or all there are."""
    head = b""
    while len(head) < size and (content := stream.read(size - len(head))):
        head += content
    return head


def is_tar(head: bytes) -> bool:
    """Whether bytes are the begin of a tar."""
    return head[USTAR] == b"ustar"


def zip_members(raw: IO[bytes], size: int) -> Iterator[Member]:
    """The files of a zip that may hold posts; those that say whose they are come first."""
    _check_table(raw, size)
    left = SMALL + RATIO * size
    with zipfile.ZipFile(raw) as packed:
        listed = packed.infolist()
        for info in listed:
            _check_name(info.filename)
        wanted = [info for info in listed if _is_wanted(info.filename) and _is_file(info)]
        for info in sorted(wanted, key=lambda info: not info.filename.endswith(FIRST)):
            if info.flag_bits & 1:
                raise DataError("it is encrypted: unpack it with its password first")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise DataError("it is packed in a way that is not read: unpack it first")
            left -= info.file_size
            if left < 0 or info.file_size > SMALL + RATIO * info.compress_size:
                raise DataError(BOMB)
            with packed.open(info) as stream:
                yield Member(info.filename, stream)


def _is_file(info: zipfile.ZipInfo) -> bool:
    kind = stat.S_IFMT(info.external_attr >> 16)
    return kind in (0, stat.S_IFREG) and not info.is_dir()


def _check_table(raw: IO[bytes], size: int) -> None:
    """Refuse a zip whose table of contents would fill the memory."""
    raw.seek(max(0, size - (1 << 16) - 22))
    tail = raw.read()
    raw.seek(0)
    at = tail.rfind(b"PK\x05\x06")
    table = int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0
    if table == 0xFFFFFFFF and (large := tail.rfind(b"PK\x06\x06", 0, at)) >= 0:
        table = int.from_bytes(tail[large + 40 : large + 48], "little")
    if table > LARGEST_TABLE:
        raise DataError(f"its table of contents is larger than {LARGEST_TABLE >> 20} MB")


def tar_members(stream: Readable) -> Iterator[Member]:
    """The files of a tar that may hold posts, in one pass.

    Read by our own few lines: the standard library keeps whole headers of any length in memory.
    """
    while any(header := read_head(stream, RECORD)):
        name, size, kind = _read_header(header)
        part = Stretch(stream, size)
        if kind in b"0\0":
            _check_name(name)
            if _is_wanted(name):
                yield Member(name, part)
        while part.left:
            part.read(1 << 16)
        read_head(stream, -size % RECORD)


def _read_header(header: bytes) -> tuple[str, int, bytes]:
    total = sum(header) - sum(header[148:156]) + 8 * ord(" ")
    try:
        if not is_tar(header) or int(header[148:156].strip(b" \0"), 8) != total:
            raise ValueError
        size = int(header[124:136].strip(b" \0") or b"0", 8)
        if size < 0:
            raise ValueError
    except (ValueError, IndexError):
        raise DataError("it is a broken tar") from None
    name, folder = (header[at:end].split(b"\0")[0] for at, end in ((0, 100), (345, 500)))
    whole = b"/".join(filter(None, (folder, name))).decode("utf-8", "replace")
    return whole, size, header[156:157]


def _is_wanted(name: str) -> bool:
    own = re.split(r"[/\\]", name)
    return name.lower().endswith(READ) and "__MACOSX" not in own


def _check_name(name: str) -> None:
    if OUTSIDE.search(name):
        raise DataError(f"it holds a name that leads out of it: {name[:60]!r}")
