"""Gzip undone up to a limit, however small the packed bytes were."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from hashnews.errors import FetchError, TooLarge

GZIP = 16 + zlib.MAX_WBITS


def unpacked(chunks: Iterable[bytes], encoding: str, largest: int) -> bytes:
    """The whole body, of at most `largest` bytes before and after unpacking."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return joined(chunks, largest)
    if encoding not in ("gzip", "x-gzip"):
        raise FetchError(f"it is packed as {encoding[:20]!r}, which was not asked for")
    return joined(_gunzip(chunks, largest), largest)


def joined(chunks: Iterable[bytes], largest: int) -> bytes:
    """All chunks, refused as soon as they are too many bytes."""
    whole = bytearray()
    for chunk in chunks:
        whole += chunk
        if len(whole) > largest:
            raise TooLarge(f"it is larger than {largest / (1 << 20):g} MiB")
    return bytes(whole)


def _gunzip(chunks: Iterable[bytes], largest: int) -> Iterable[bytes]:
    """Unpacked pieces, none of them larger than what the limit leaves room for."""
    unpacker = zlib.decompressobj(GZIP)
    try:
        for chunk in chunks:
            while chunk:
                yield unpacker.decompress(chunk, largest + 1)
                if unpacker.eof:  # perhaps another member follows
                    chunk, unpacker = unpacker.unused_data, zlib.decompressobj(GZIP)
                else:
                    chunk = unpacker.unconsumed_tail
    except zlib.error as error:
        raise FetchError(f"its gzip is broken: {error}") from None
