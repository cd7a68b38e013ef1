"""A saved thing is a directory that is whole or absent.

It is written beside its place, sealed by a manifest of SHA-256 sums written last, and renamed.
Reading begins with the manifest, so that a damaged, half-written or foreign directory is refused
before a byte of it is used.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hashnews.errors import ModelError

MANIFEST = "manifest.json"
FORMAT = 1


@contextmanager
def new_directory(target: Path, kind: str, about: dict[str, Any]) -> Iterator[Path]:
    """Yield a scratch directory to fill; when the block ends well it becomes `target`."""
    scratch = target.with_name(f".{target.name}.tmp-{os.getpid()}")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        yield scratch
        seal(scratch, kind, about)
        _put_in_place(scratch, target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def seal(directory: Path, kind: str, about: dict[str, Any]) -> None:
    """Write the manifest of what stands in `directory`, last and durably."""
    files = sorted(path for path in directory.iterdir() if path.name != MANIFEST)
    listed = {path.name: {"bytes": path.stat().st_size, "sha256": _sha256(path)} for path in files}
    text = json.dumps({"format": FORMAT, "kind": kind, "about": about, "files": listed}, indent=2)
    for path in files:
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
    with (directory / MANIFEST).open("w", encoding="utf-8") as stream:
        stream.write(text + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    _sync_directory(directory)


def check_directory(directory: Path, kind: str) -> dict[str, Any]:
    """Refuse what is not a whole `kind` directory of ours; give what its manifest says of it."""
    try:
        manifest = json.loads((directory / MANIFEST).read_text("utf-8"))
        found, listed = manifest["kind"], manifest["files"]
        version, about = manifest["format"], manifest["about"]
        sums = {name: (entry["bytes"], entry["sha256"]) for name, entry in listed.items()}
    except FileNotFoundError:
        why = "it has no manifest.json" if directory.is_dir() else "there is no such directory"
        raise ModelError(f"{directory} is not a {kind} directory: {why}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ModelError(f"{directory}: manifest.json cannot be read; save it again") from None
    if found != kind:
        raise ModelError(f"{directory} holds a {found!r}, not a {kind!r}")
    if version != FORMAT:
        raise ModelError(f"{directory} has format {version}, this version reads {FORMAT}")
    for name, (size, digest) in sums.items():
        path = directory / name
        if Path(name).name != name or not path.is_file():
            raise ModelError(f"{directory}: {name} is missing; copy or save the directory again")
        if path.stat().st_size != size or _sha256(path) != digest:
            raise ModelError(f"{directory}: {name} is damaged; copy or save the directory again")
    return dict(about)


def _put_in_place(scratch: Path, target: Path) -> None:
    if target.exists():
        if target.is_dir() and any(target.iterdir()) and not (target / MANIFEST).exists():
            raise ModelError(f"{target} is in use by something else: give a new directory")
        old = target.with_name(f".{target.name}.old-{os.getpid()}")
        os.replace(target, old)
        os.replace(scratch, target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.replace(scratch, target)
    _sync_directory(target.parent)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
