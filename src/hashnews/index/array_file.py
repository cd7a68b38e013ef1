"""Arrays in one file that can be mapped into memory: what they are, then one after the other."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np

from hashnews.arrays import Array
from hashnews.errors import ModelError


def save_arrays(path: Path, magic: bytes, arrays: dict[str, Array]) -> None:
    """Write arrays; `magic` (16 bytes at most) says what they are."""
    header, offset = {}, 0
    for name, array in arrays.items():
        header[name] = (array.dtype.str, len(array), offset)
        offset += -(-array.nbytes // 8) * 8
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    scratch = path.with_name(f".{path.name}.tmp-{os.getpid()}")  # somebody may have mapped the old
    try:
        with scratch.open("wb") as stream:
            stream.write(magic.ljust(16) + len(text).to_bytes(8, "little") + text)
            for array in arrays.values():
                stream.write(array.data)
                stream.write(b"\0" * (-array.nbytes % 8))
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)


def map_arrays(path: Path, magic: bytes) -> dict[str, Array]:
    """Map what `save_arrays` wrote; nothing is read until it is needed."""
    mapped = np.memmap(path, np.uint8, "r").view(np.ndarray)
    if mapped[:16].tobytes() != magic.ljust(16):
        raise ModelError(f"{path} is not what its name says; delete the index")
    size = int(mapped[16:24].view(np.int64)[0])
    header, start = json.loads(mapped[24 : 24 + size].tobytes()), 24 + size
    arrays = {}
    for name, (kind, length, offset) in header.items():
        begin = start + offset
        arrays[name] = mapped[begin : begin + length * np.dtype(kind).itemsize].view(kind)
    return arrays
