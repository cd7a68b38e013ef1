"""Posts cut into days, for a cluster: `day=2020-06-02/part-0.jsonl`, lines as they came."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, date
from pathlib import Path
from typing import IO

from hashnews.errors import DataError
from hashnews.files import RecordFile, file_format, new_folder, open_bytes
from hashnews.records import Post, parse_time

LINES_A_FILE = 50_000
MOST_OPEN = 200  # files; systems allow a process some 1,000


def cut_days(files: Iterable[str], target: Path, lines_a_file: int = LINES_A_FILE) -> int:
    """Cut files of posts, raw or prepared, into days, in a new folder; returns their number.

    The posts of a day keep their order.
    """
    counts: Counter[date] = Counter()
    with new_folder(target) as scratch, closing(Parts()) as parts:
        for path in files:
            for day, line in _dated_lines(path):
                part = counts[day] // lines_a_file
                parts.add(scratch / f"day={day}" / f"part-{part}.jsonl", line)
                counts[day] += 1
    return counts.total()


class Parts:
    """Files that are written in turn, a few of them open at a time."""

    def __init__(self) -> None:
        self._open: dict[Path, IO[str]] = {}

    def add(self, path: Path, line: str) -> None:
        """Write one line to the end of a file."""
        stream = self._open.get(path)
        if stream is None:
            if len(self._open) == MOST_OPEN:
                self._open.pop(next(iter(self._open))).close()
            path.parent.mkdir(parents=True, exist_ok=True)
            stream = self._open[path] = path.open("a", encoding="utf-8")
        stream.write(line + "\n")

    def close(self) -> None:
        """Close all."""
        for stream in self._open.values():
            stream.close()


def _dated_lines(path: str) -> Iterator[tuple[date, str]]:
    """Each post of a file as JSON, with its day in UTC; JSON lines stay as they are."""
    if file_format(path) == "json":
        try:
            with open_bytes(path) as (stream, _, _):
                for number, raw in enumerate(stream, 1):
                    if raw.strip():
                        line = _text(path, number, raw)
                        yield _day(path, number, line), line
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"cannot be read on: {error}", path) from None
        return
    for number, post in enumerate(RecordFile(path, Post), 1):
        line = post.to_json()
        yield _day(path, number, line), line


def _day(path: str, number: int, line: str) -> date:
    try:
        moment = parse_time(json.loads(line)["created_at"], bare_day="start")
    except KeyError:
        raise DataError("no created_at: only dated posts go by day", path, number) from None
    except (ValueError, TypeError, RecursionError) as error:
        raise DataError(f"no post: {error}", path, number) from None
    return moment.astimezone(UTC).date()


def _text(path: str, number: int, raw: bytes) -> str:
    try:
        return raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8: {error}", path, number) from None
