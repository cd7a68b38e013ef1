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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
        files = sorted(path for path in scratch.iterdir() if path.name != MANIFEST)
        write_manifest(scratch, kind, about, {path.name: file_sum(path) for path in files})
        put_in_place(scratch, target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def check_directory(directory: Path, kind: str) -> dict[str, Any]:
    """Refuse what is not a whole `kind` directory of ours; give what its manifest says of it."""
    manifest = read_manifest(directory, kind)
    for name, expected in manifest.files.items():
        check_file(directory, name, expected)
    return manifest.about


def file_sum(path: Path) -> FileSum:
    """Size and digest of a file that is now safely on the disk."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
        return FileSum(path.stat().st_size, hashlib.file_digest(stream, "sha256").hexdigest())


def write_manifest(
    directory: Path, kind: str, about: dict[str, Any], files: Mapping[str, FileSum]
) -> None:
    """Seal a directory whose files are in place, durably and in one step."""
    listed = {name: expected._asdict() for name, expected in files.items()}
    text = json.dumps({"format": FORMAT, "kind": kind, "about": about, "files": listed}, indent=2)
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


def read_manifest(directory: Path, kind: str) -> Manifest:
    """What the manifest of a directory says; refuses what is not a `kind` of ours."""
    try:
        read = json.loads((directory / MANIFEST).read_text("utf-8"))
        found, version, about = read["kind"], read["format"], dict(read["about"])
        files = {name: FileSum(**entry) for name, entry in read["files"].items()}
    except FileNotFoundError:
        why = "it has no manifest.json" if directory.is_dir() else "there is no such directory"
        raise ModelError(f"{directory} is not a {kind} directory: {why}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
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
    except (OSError, ValueError, KeyError, TypeError):
        return None


def check_file(directory: Path, name: str, expected: FileSum) -> None:
    """Refuse a file that is not what the manifest says."""
    path = directory / name
    if Path(name).name != name or not path.is_file():
        raise ModelError(f"{directory}: {name} is missing; copy or save the directory again")
    if path.stat().st_size != expected.bytes or file_sum(path) != expected:
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
    """An ONNX graph ready to run on the processor; `basic` runs it nearly as it is written."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if basic:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    else:
        options.add_session_config_entry("session.disable_quant_qdq", "1")  # int8 to float, once
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has no common base of its errors
        reason = str(error).splitlines()[0][:200]
        raise ModelError(f"{path} is not a graph onnxruntime can run: {reason}") from None
