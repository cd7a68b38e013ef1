"""Records from files and to files: streaming, gzip unseen, no half-written output.

JSON lines, CSV and Parquet, chosen by the file's name; `.gz` after it and `-` for standard input
are understood. A line that cannot be read stops the run with its file and number, or is counted
and set aside in a side file: the caller chooses.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import secrets
import shutil
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any, Generic, Literal, TypeVar, cast

from pydantic import ValidationError

from hashnews.config import explain
from hashnews.errors import DataError, needs_extra
from hashnews.records import Post, PreparedPost, Record, post_kind
from hashnews.terminal import safe

R = TypeVar("R", bound=Record)
OnError = Literal["stop", "skip"]
DATABASE = b"SQLite format 3\0"
LONGEST_LINE = 64 << 20  # also of a row of CSV, which may have many
MOST_CELLS = 100  # of a bad row that are kept
FORMATS = {".jsonl": "json", ".ndjson": "json", ".csv": "csv", ".parquet": "parquet"}


class Skipped:
    """Lines that could not be read: counted, and kept in a side file made with the first one.

    That of the run before is kept beside it, as `.old`.
    """

    def __init__(self, path: Path | None = None):
        self.path = path
        self.count = 0
        self.first: DataError | None = None

    def add(self, problem: DataError, content: str) -> None:
        """Set one line aside."""
        self.count += 1
        self.first = self.first or problem
        if self.path is None:
            return
        line = {"file": problem.file, "line": problem.line, "reason": problem.reason}
        told = json.dumps({**line, "content": content[:2000]}, ensure_ascii=False)
        try:
            if self.count == 1 and self.path.exists():
                os.replace(self.path, f"{self.path}.old")
            with self.path.open("a", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(told + "\n")
        except OSError as error:
            raise DataError(f"cannot be written: {_os_reason(error)}", self.path) from None


class RecordFile(Generic[R]):
    """One input file as a stream of records; `done` is the share of it read so far."""

    def __init__(
        self,
        path: str | Path,
        kind: type[R],
        on_error: OnError = "stop",
        skipped: Skipped | None = None,
    ):
        self.path = path
        self.done = 0.0
        self._kind: type[R] = kind
        self._on_error = on_error
        self._skipped = Skipped() if skipped is None else skipped

    def __iter__(self) -> Iterator[R]:
        for number, content in self._rows():
            try:
                yield self._record(content)
            except (ValidationError, DataError) as error:
                reason = explain(error) if isinstance(error, ValidationError) else error.reason
                self._refuse(DataError(reason, self.path, number), content)

    def _refuse(self, problem: DataError, content: object) -> None:
        if self._on_error == "stop":
            raise problem from None
        is_bytes = isinstance(content, bytes)
        shown = cast(bytes, content).decode("utf-8", "backslashreplace") if is_bytes else content
        self._skipped.add(problem, str(shown).rstrip("\n"))

    def _record(self, content: bytes | dict[str, Any]) -> R:
        if isinstance(content, dict):
            return self._kind.model_validate(content)
        try:
            return self._kind.model_validate_json(content)
        except ValidationError:
            # Half a surrogate pair is not valid JSON text, yet collections of posts hold some.
            try:
                value = json.loads(content)
            except (ValueError, RecursionError):
                value = None
            if not isinstance(value, dict) or b"\\u" not in content:
                raise
            whole = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
            return self._kind.model_validate_json(whole.decode("utf-16", "replace"))

    def _rows(self) -> Iterator[tuple[int, bytes | dict[str, Any]]]:
        match file_format(self.path):
            case "json":
                yield from self._json_lines()
            case "csv":
                yield from self._csv_rows()
            case _:
                yield from self._parquet_rows()

    def _json_lines(self) -> Iterator[tuple[int, bytes]]:
        for number, line in self._lines():
            if line.strip():
                yield number, line

    def _csv_rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        csv.field_size_limit(LONGEST_LINE)
        length = 0  # of the row so far

        def decoded() -> Iterator[str]:
            nonlocal length
            for number, line in self._lines():
                length += len(line)
                if length > LONGEST_LINE:
                    raise csv.Error(f"a row of more than {LONGEST_LINE >> 20} MiB")
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")

        texts = decoded()
        rows: csv.DictReader[str] = csv.DictReader([])
        try:
            first = next(texts, "")
            rows = csv.DictReader(chain([first], texts), strict=True, delimiter=_delimiter(first))
            for row in rows:
                length = 0
                if None in row:
                    problem = DataError("more cells than columns", self.path, rows.line_num)
                    extra = cast(list[str], row.pop(cast(str, None)))
                    self._refuse(problem, [*row.values(), *extra][:MOST_CELLS])
                    continue
                yield rows.line_num, _from_cells(row)
        except (csv.Error, UnicodeDecodeError) as error:
            # Where one quoted field is broken, the place of the next row cannot be known.
            is_text = isinstance(error, UnicodeDecodeError)
            why = "it is not UTF-8: save it as that" if is_text else f"broken CSV: {error}"
            self._refuse(DataError(why, self.path, rows.line_num + 1), "")

    def _parquet_rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        with needs_extra(f"reading {self.path}", "parquet"):
            from pyarrow import ArrowException, parquet
        try:
            with parquet.ParquetFile(self.path) as table:
                total, number = max(1, table.metadata.num_rows), 0
                for batch in table.iter_batches(batch_size=1024):
                    for row in self._parquet_batch(batch, number):
                        number += 1
                        if row is not None:
                            yield number, {key: v for key, v in row.items() if v is not None}
                    self.done = number / total
        except (OSError, ArrowException, ValueError) as error:
            reason = f"cannot be read as Parquet: {(str(error).splitlines() or [''])[0]}"
            self._refuse(DataError(reason, self.path), "")

    def _parquet_batch(self, batch: Any, read: int) -> Iterator[dict[str, Any] | None]:
        """Rows; times that Python cannot hold, or of unknown zones, cost their row alone."""
        try:
            rows = batch.to_pylist()
        except (ValueError, LookupError, OverflowError) as error:
            if len(batch) > 1:
                parts = (
                    self._parquet_batch(batch.slice(n, 1), read + n) for n in range(len(batch))
                )
                rows = chain.from_iterable(parts)
            else:
                problem = DataError(f"a value cannot be read: {error}", self.path, read + 1)
                self._refuse(problem, "")
                rows = [None]
        yield from rows

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        number = 0
        try:
            with open_bytes(self.path) as (stream, raw, size):
                while line := stream.readline(LONGEST_LINE):
                    number += 1
                    if number % 256 == 0 and size:
                        self.done = raw.tell() / size
                    yield number, line
        except (OSError, EOFError, zlib.error) as error:
            # Past a break in the file nothing can be trusted; what came before is whole.
            self._refuse(DataError(f"cannot be read on: {_os_reason(error)}", self.path), "")


class PostFile(RecordFile[Post | PreparedPost]):
    """A file of posts, raw or prepared, line by line."""

    def __init__(
        self, path: str | Path, on_error: OnError = "stop", skipped: Skipped | None = None
    ):
        super().__init__(path, Post, on_error, skipped)

    def _record(self, content: bytes | dict[str, Any]) -> Post | PreparedPost:
        if isinstance(content, dict):
            self._kind = post_kind(content)
        else:
            self._kind = Post
            if b'"body"' in content:
                with suppress(ValueError, RecursionError):
                    self._kind = post_kind(json.loads(content))
        return super()._record(content)


def _delimiter(first: str) -> str:
    """What parts the cells of a CSV, from its first line: where commas are decimal it is `;`."""
    names = re.sub('"[^"]*"', "", first)
    return max(",;\t", key=names.count)


def file_format(path: str | Path) -> str:
    """`json`, `csv` or `parquet`, from the file's name."""
    name = Path(path).name.lower().removesuffix(".gz")
    if str(path) == "-":
        return "json"
    try:
        return FORMATS[Path(name).suffix]
    except KeyError:
        known = " ".join(FORMATS)
        raise DataError(f"its name should end in one of {known}, also .gz", path) from None


@contextmanager
def open_bytes(path: str | Path) -> Iterator[tuple[IO[bytes], IO[bytes], int]]:
    """A file opened for reading, gzip undone: the stream, the raw file below it and its size."""
    if str(path) == "-":
        yield sys.stdin.buffer, sys.stdin.buffer, 0
        return
    with Path(path).open("rb") as raw:
        size = os.fstat(raw.fileno()).st_size
        if str(path).lower().endswith(".gz"):
            with gzip.open(raw) as unpacked:
                # gzip reads in small pieces; a larger buffer reads lines three times as fast.
                yield io.BufferedReader(cast(Any, unpacked), 1 << 18), raw, size
        else:
            yield raw, raw, size


@contextmanager
def new_file(path: str | Path) -> Iterator[IO[str]]:
    """A text file that appears whole, when the block ends well, or not at all."""
    if str(path) == "-":
        yield cast(IO[str], _SafeOutput())
        sys.stdout.flush()
        return
    target = Path(os.path.realpath(path))  # a link stays one: what it leads to is replaced
    if (place := _other_than_file(target, path)) is not None:
        with place as stream:
            yield stream
        return
    # Processes of two machines that share a folder may have the same number.
    scratch = target.with_name(f".{target.name}.tmp-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        packed = target.name.lower().endswith(".gz")
        with scratch.open("wb") as raw:
            # No name and no time inside: the same records give the same bytes.
            with gzip.GzipFile("", "wb", 6, raw, mtime=0) if packed else nullcontext(raw) as below:
                text = io.TextIOWrapper(cast(Any, below), "utf-8", newline="\n")
                yield text
                text.flush()
                text.detach()
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(scratch, target)
    except OSError as error:
        raise DataError(f"cannot be written: {_os_reason(error)}", path) from None
    finally:
        scratch.unlink(missing_ok=True)


class _SafeOutput:
    """Standard output, which may be a terminal, for JSON."""

    def write(self, text: str) -> int:
        return sys.stdout.write(safe(text))


def _other_than_file(target: Path, named: str | Path) -> AbstractContextManager[IO[str]] | None:
    """What is written as it comes because it is no file: a pipe or a terminal, never a disk."""
    try:
        kind = target.stat().st_mode
    except OSError:
        return None  # there is nothing there yet
    if stat.S_ISREG(kind):
        with suppress(PermissionError), target.open("rb") as stream:
            if stream.read(len(DATABASE)) == DATABASE:
                raise DataError("is a database, perhaps a news store: give another name", named)
        return None
    if not stat.S_ISFIFO(kind) and not stat.S_ISCHR(kind):
        raise DataError("is not a file: give the name of one", named)
    return _streamed(target, named)


@contextmanager
def _streamed(target: Path, named: str | Path) -> Iterator[IO[str]]:
    try:
        with target.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream
    except OSError as error:
        raise DataError(f"cannot be written: {_os_reason(error)}", named) from None


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A scratch folder that gets its name when the block ends well, or goes."""
    if target.exists():
        raise DataError("it exists already: give a new folder", target)
    scratch = target.with_name(f".{target.name}.tmp-{os.getpid()}")
    try:
        scratch.mkdir(parents=True)
        yield scratch
        os.replace(scratch, target)
    except OSError as error:
        raise DataError(f"cannot be written: {_os_reason(error)}", target) from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def write_records(path: str | Path, records: Iterable[Record]) -> int:
    """Write records as JSON lines, whole or not at all; give how many there were."""
    count = 0
    with new_file(path) as stream:
        for record in records:
            stream.write(record.to_json() + "\n")
            count += 1
    return count


def _from_cells(row: dict[str | Any, Any]) -> dict[str, Any]:
    """A CSV row as a record: empty cells are unknown, a list stands as JSON."""
    known = {key: cell for key, cell in row.items() if cell not in (None, "")}
    if "entities" in known:
        with suppress(ValueError, RecursionError):  # else the record's own check says what it wants
            known["entities"] = json.loads(known["entities"])
    return {"text": "", **known} if "text" in row else known


def _os_reason(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
