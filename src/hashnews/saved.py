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
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from hashnews.errors import ModelError

MANIFEST = "manifest.json"
FORMAT = 1


class FileSum(NamedTuple):
    """What a file must be."""

    bytes: int
    sha256: str


class Manifest(NamedTuple):
    """What a directory is, what its maker says of it, and its files."""

    about: dict[str, Any]
    files: dict[str, FileSum]


@contextmanager
def new_directory(target: Path, kind: str, about: dict[str, Any]) -> Iterator[Path]:
    """Yield a scratch directory to fill; when the block ends well it becomes `target`."""
    scratch = target.with_name(f".{target.name}.tmp-{os.getpid()}")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        yield scratch
        sums = {name: file_sum(scratch / name) for name in _files_of(scratch)}
        write_manifest(scratch, kind, about, sums)
        put_in_place(scratch, target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def check_directory(directory: Path, kind: str) -> dict[str, Any]:
    """Refuse what is not a whole `kind` directory of ours; give what its manifest says of it."""
    manifest = read_manifest(directory, kind)
    for name, expected in manifest.files.items():
        check_file(directory, name, expected)
    for name in _files_of(directory):
        if name not in manifest.files:
            again = f"remove it, or seal the directory: python -m hashnews.saved {directory}"
            raise ModelError(f"{directory}: {name} is not in its manifest; {again}")
    return manifest.about


def seal(directory: Path) -> None:
    """Take the files of a directory of ours as they are: write its manifest again."""
    kind = kind_of(directory)
    if kind is None:
        raise ModelError(f"{directory} has no manifest.json that can be read")
    about = read_manifest(directory, kind).about
    files = {name: file_sum(directory / name) for name in _files_of(directory)}
    write_manifest(directory, kind, about, files)


def _files_of(directory: Path) -> list[str]:
    """What a directory holds that might be read: not the manifest, not what is hidden."""
    return sorted(
        path.name
        for path in directory.iterdir()
        if path.name != MANIFEST and not path.name.startswith(".") and not path.is_dir()
    )


def file_sum(path: Path) -> FileSum:
    """Size and digest of a file that is now safely on the disk."""
    sync(path)
    return _sum_of(path)


def _sum_of(path: Path) -> FileSum:
    with path.open("rb") as stream:
        return FileSum(path.stat().st_size, hashlib.file_digest(stream, "sha256").hexdigest())


def write_manifest(
    directory: Path, kind: str, about: dict[str, Any], files: Mapping[str, FileSum]
) -> None:
    """Seal a directory whose files are in place, durably and in one step."""
    listed = {name: expected._asdict() for name, expected in files.items()}
    said = {"format": FORMAT, "kind": kind, "about": about, "files": listed}
    text = json.dumps({**said, "sum": _digest(said)}, indent=2)
    scratch = directory / f".{MANIFEST}.tmp-{os.getpid()}"
    try:
        with scratch.open("w", encoding="utf-8") as stream:
            stream.write(text + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(scratch, directory / MANIFEST)
    finally:
        scratch.unlink(missing_ok=True)
    sync(directory)


def _digest(said: dict[str, Any]) -> str:
    """The digest of what a manifest says: a damaged one must not pass for another."""
    as_read = json.loads(json.dumps(said))
    return hashlib.sha256(json.dumps(as_read, sort_keys=True).encode()).hexdigest()


def read_manifest(directory: Path, kind: str) -> Manifest:
    """What the manifest of a directory says; refuses what is not a `kind` of ours."""
    try:
        read = json.loads((directory / MANIFEST).read_text("utf-8"))
        if read.pop("sum", None) not in (None, _digest(read)):
            raise ValueError
        found, version, about = read["kind"], read["format"], dict(read["about"])
        files = {str(name): FileSum(**entry) for name, entry in read["files"].items()}
    except FileNotFoundError:
        why = "it has no manifest.json" if directory.is_dir() else "there is no such directory"
        raise ModelError(f"{directory} is not a {kind} directory: {why}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ModelError(f"{directory}: manifest.json cannot be read; save it again") from None
    if found != kind:
        raise ModelError(f"{directory} holds a {found!r}, not a {kind!r}")
    if version != FORMAT:
        raise ModelError(f"{directory} has format {version}, this version reads {FORMAT}")
    return Manifest(about, files)


def kind_of(directory: Path) -> str | None:
    """What a directory says it holds; None where it cannot be read."""
    try:
        return str(json.loads((directory / MANIFEST).read_text("utf-8"))["kind"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def check_file(directory: Path, name: str, expected: FileSum) -> None:
    """Refuse a file that is not what the manifest says."""
    path = directory / name
    try:
        is_there = Path(name).name == name and path.is_file()
    except (OSError, ValueError):  # no name that a file could have
        is_there = False
    if not is_there:
        raise ModelError(f"{directory}: {name[:100]} is missing; copy or save the directory again")
    if path.stat().st_size != expected.bytes or _sum_of(path) != expected:
        raise ModelError(f"{directory}: {name} is damaged; copy or save the directory again")


def put_in_place(scratch: Path, target: Path) -> None:
    """Give a whole directory its name; one of ours that has it goes."""
    if target.exists():
        if target.is_dir() and any(target.iterdir()) and not (target / MANIFEST).exists():
            raise ModelError(f"{target} is in use by something else: give a new directory")
        old = target.with_name(f".{target.name}.old-{os.getpid()}")
        os.replace(target, old)
        os.replace(scratch, target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.replace(scratch, target)
    sync(target.parent)


def sync(path: Path) -> None:
    """Have a file or a directory on the disk before going on."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_graph(path: Path, threads: int, basic: bool = False) -> Any:
    """An ONNX graph ready to run on the processor; `basic` runs it nearly as it is written.

    While the file stays the same it is opened once: a graph only computes.
    """
    about = path.stat()
    return _open_graph(path.resolve(), about.st_mtime_ns, about.st_size, threads, basic)


@lru_cache(8)
def _open_graph(path: Path, modified: int, size: int, threads: int, basic: bool) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if basic:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    else:
        options.add_session_config_entry("session.disable_quant_qdq", "1")  # int8 to float, once

    class Graph(onnxruntime.InferenceSession):  # type: ignore[misc]
        """What it cannot compute is an error of the model: its files do not fit together."""

        def run(self, *given: Any) -> Any:
            with _as_model_error(f"{path} cannot compute that"):
                return super().run(*given)

    with _as_model_error(f"{path} is not a graph onnxruntime can run"):
        return Graph(str(path), options, providers=["CPUExecutionProvider"])


@contextmanager
def _as_model_error(what: str) -> Iterator[None]:
    """Onnxruntime has no common base of its errors."""
    try:
        yield
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0][:200]
        raise ModelError(f"{what}: {reason}") from None


def read_arrays(path: Path, largest: int) -> dict[str, Any]:
    """The arrays of an .npz file, which may unpack to so many bytes at most."""
    import numpy as np

    try:
        with zipfile.ZipFile(path) as packed:
            if sum(entry.file_size for entry in packed.infolist()) > largest:
                raise ValueError(f"it unpacks to more than {largest >> 20} MiB")
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError, LookupError, TypeError, EOFError, MemoryError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from None
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise ModelError(f"{path} is not a file of arrays: {error}") from None


if __name__ == "__main__":
    for place in sys.argv[1:]:
        seal(Path(place))
