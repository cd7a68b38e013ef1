"""DAG-CBOR and CAR, as Bluesky writes records and repositories: read strictly, never executed.

DAG-CBOR (https://ipld.io/specs/codecs/dag-cbor/spec/) is CBOR (RFC 8949) in one canonical form:
lengths are given, numbers are as short as they can be, keys of maps are texts in order, floats
have 64 bits, and the only tag is 42, a link (CID). CAR version 1
(https://ipld.io/specs/transport/car/carv1/) is a header and then blocks, each after its CID.
What is written otherwise is refused with `DataError`.
"""

from __future__ import annotations

import hashlib
import io
import math
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from hashnews.errors import DataError

DEEPEST = 64  # lists and maps within each other
LARGEST_BLOCK = 4 << 20
LONGEST_LENGTH = 5  # bytes
CID_BYTES = 36  # version 1, a codec, SHA-256, 32 bytes of it
CID_HEADS = {b"\x01\x71\x12\x20": "dag-cbor", b"\x01\x55\x12\x20": "raw"}
LINK = b"\xd8\x2a\x58\x25\x00"  # what a link begins with: tag 42, 37 bytes, the first of them 0
SHORT, LONG = 0x60, 0x78  # heads of texts of less than 24 bytes
CHUNK = 1 << 16  # bytes read at once
FLOAT64 = struct.Struct(">d")
SIMPLE = {0xF4: False, 0xF5: True, 0xF6: None}


class Cid(bytes):
    """A link: what a block is called, by its own content."""

    def __repr__(self) -> str:
        return f"Cid({self.hex()})"


def decode(data: bytes) -> Any:
    """One value and nothing after it."""
    value, end = decode_first(data)
    if end != len(data):
        raise DataError(f"{len(data) - end} bytes after the end of a DAG-CBOR value")
    return value


def decode_first(data: bytes, start: int = 0) -> tuple[Any, int]:
    """The value that begins at `start`, and where it ends."""
    try:
        return _value(data, start, 0)
    except (IndexError, struct.error):
        raise DataError("a DAG-CBOR value is cut off") from None
    except UnicodeDecodeError:
        raise DataError("a text in DAG-CBOR is not UTF-8") from None


def _value(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    first = data[at]
    kind = first >> 5
    if kind == 7:
        return _simple(data, at)
    if first == 0xD8 and data[at : at + 5] == LINK and depth < DEEPEST:  # nearly all links
        end = at + 5 + CID_BYTES
        if end > len(data):
            raise IndexError
        return read_cid(data[at + 5 : end]), end
    number = first & 31
    if number < 24:
        at += 1
    else:
        number, at = _number(data, at, number)
    if kind == 0:
        return number, at
    if kind == 1:
        return -1 - number, at
    if kind in (2, 3):
        end = at + number
        if end > len(data):
            raise IndexError
        return (data[at:end] if kind == 2 else data[at:end].decode()), end
    if depth >= DEEPEST:
        raise DataError(f"DAG-CBOR is nested more than {DEEPEST} deep")
    if kind == 6:
        return _link(data, at, number, depth)
    if number * (kind - 3) > len(data) - at:  # an item has a byte at least, a pair has two
        raise IndexError
    return (_list if kind == 4 else _map)(data, at, number, depth)


def _number(data: bytes, at: int, short: int) -> tuple[int, int]:
    """The number behind a head: a count, a length or a value; as short as it can be."""
    if short > 27:
        raise DataError("DAG-CBOR must give its lengths")
    width = 1 << (short - 24)
    end = at + 1 + width
    if end > len(data):
        raise IndexError
    number = int.from_bytes(data[at + 1 : end], "big")
    if number < (24 if width == 1 else 1 << 4 * width):
        raise DataError("a number in DAG-CBOR is longer than it needs to be")
    return number, end


def _simple(data: bytes, at: int) -> tuple[Any, int]:
    first = data[at]
    if first in SIMPLE:
        return SIMPLE[first], at + 1
    if first != 0xFB:
        raise DataError(f"0x{first:02x} does not belong in DAG-CBOR")
    (value,) = FLOAT64.unpack_from(data, at + 1)
    if not math.isfinite(value):
        raise DataError("a float in DAG-CBOR is not a number")
    return value, at + 9


def _list(data: bytes, at: int, count: int, depth: int) -> tuple[list[Any], int]:
    items = []
    for _ in range(count):
        item, at = _value(data, at, depth + 1)
        items.append(item)
    return items, at


def _map(data: bytes, at: int, count: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    before = b""
    for _ in range(count):
        start, first = at, data[at]
        if SHORT <= first < LONG:  # nearly all keys: a short text
            at += first - SHORT + 1
            if at > len(data):
                raise IndexError
            key = data[start + 1 : at].decode()
        else:
            key, at = _value(data, at, depth + 1)
            if not isinstance(key, str):
                raise DataError("a key in DAG-CBOR is not a text")
        order = data[start:at]  # begins with the length, so shorter keys come first
        if order <= before:
            raise DataError("the keys of a DAG-CBOR map are not in order")
        before = order
        first = data[at]
        if SHORT <= first < LONG:
            end = at + first - SHORT + 1
            if end > len(data):
                raise IndexError
            found[key] = data[at + 1 : end].decode()
            at = end
        else:
            found[key], at = _value(data, at, depth + 1)
    return found, at


def _link(data: bytes, at: int, tag: int, depth: int) -> tuple[Cid, int]:
    if tag != 42:
        raise DataError(f"tag {tag} does not belong in DAG-CBOR")
    content, at = _value(data, at, depth + 1)
    if not isinstance(content, bytes) or content[:1] != b"\0":
        raise DataError("a link in DAG-CBOR is no CID")
    return read_cid(content[1:]), at


def read_cid(data: bytes) -> Cid:
    """A CID of the one kind that Bluesky uses."""
    if len(data) != CID_BYTES or data[:4] not in CID_HEADS:
        raise DataError(f"{data[:8].hex()}... is not a CID of DAG-CBOR by SHA-256")
    return Cid(data)


class CarBlock(NamedTuple):
    """A block of a CAR, and where it ends in the file."""

    cid: Cid
    content: bytes
    end: int


def read_car(source: bytes | BinaryIO, check: bool = True) -> tuple[list[Cid], Iterator[CarBlock]]:
    """The roots of a CAR, and its blocks one after the other.

    Each is checked against its CID, unless they were before.
    """
    sections = _sections(io.BytesIO(source) if isinstance(source, bytes) else source)
    head, _ = next(sections, (b"", 0))
    header = decode(head) if head else None
    if not isinstance(header, dict) or header.get("version") != 1:
        raise DataError("is not a CAR of version 1")
    roots = header.get("roots")
    if not isinstance(roots, list) or not all(isinstance(root, Cid) for root in roots):
        raise DataError("a CAR names no roots")
    return roots, _blocks(sections, check)


def _blocks(sections: Iterator[tuple[bytes, int]], check: bool) -> Iterator[CarBlock]:
    for section, end in sections:
        cid, content = read_cid(section[:CID_BYTES]), section[CID_BYTES:]
        if check and hashlib.sha256(content).digest() != cid[4:]:
            raise DataError(f"a block of a CAR is not what its CID {cid.hex()[:16]}... says")
        yield CarBlock(cid, content, end)


def _sections(stream: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """What stands after each length, and where it ends in the file."""
    held, at, before = b"", 0, 0  # what was read, how far it is used, what was read before it
    while True:
        if len(held) - at < LONGEST_LENGTH:
            before += at
            held, at = held[at:] + stream.read(CHUNK), 0
            if not held:
                return
        length, at = _length(held, at)
        if not 0 < length <= LARGEST_BLOCK:
            raise DataError(
                f"a block of a CAR has {length:,} bytes: at most {LARGEST_BLOCK:,} are read"
            )
        end = at + length
        if end > len(held):
            before += at
            held, at, end = held[at:] + stream.read(max(CHUNK, end - len(held))), 0, length
            if end > len(held):
                raise DataError("a CAR is cut off")
        yield held[at:end], before + end
        at = end


def _length(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned LEB128 number, and where it ends."""
    number = 0
    for shift in range(0, 7 * LONGEST_LENGTH, 7):
        if at >= len(data):
            raise DataError("a CAR is cut off")
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            if shift and not byte:
                raise DataError("a length in a CAR is longer than it needs to be")
            return number, at
    raise DataError(f"a length in a CAR has more than {LONGEST_LENGTH} bytes")
