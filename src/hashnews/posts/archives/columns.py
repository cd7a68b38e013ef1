"""CSV, JSON and Parquet of other tools: which of their columns is what, and everyday dates."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hashnews.errors import DataError
from hashnews.files import OnError, RecordFile, Skipped, open_bytes
from hashnews.posts.archives.dates import day_order, everyday_time
from hashnews.posts.archives.items import JsonItems
from hashnews.posts.archives.texts import Written, text_in
from hashnews.records import Post, identify

FIELDS = ("text", "created_at", "id", "user")


def read_columns(written: str) -> dict[str, str]:
    """`text=Content,created_at=Date` as the column of each field; ValueError where it is not."""
    columns = {}
    for pair in written.split(","):
        field, sign, column = (part.strip() for part in pair.partition("="))
        if field not in FIELDS or not sign or not column or field in columns:
            raise ValueError(f"{pair!r} is not FIELD=COLUMN, with FIELD one of {' '.join(FIELDS)}")
        columns[field] = column
    if missing := {"text", "created_at"} - columns.keys():
        raise ValueError(f"the column of {min(missing)} is not named")
    return columns


class ColumnsFile(RecordFile[Post]):
    """A file of posts whose columns have names of their own."""

    def __init__(
        self,
        path: str | Path,
        columns: Mapping[str, str],
        on_error: OnError = "stop",
        skipped: Skipped | None = None,
    ):
        super().__init__(path, Post, on_error, skipped)
        self._columns = columns
        self._day_first: bool | None = None

    def __iter__(self) -> Iterator[Post]:
        if str(self.path) != "-":
            self._day_first = day_order(self._dates())
        yield from super().__iter__()

    def _dates(self) -> Iterator[Any]:
        """What stands in the column of times, where a row can be read."""
        glance = ColumnsFile(self.path, self._columns, "skip")
        for _, content in glance._rows():
            try:
                yield _fields(content).get(self._columns["created_at"])
            except DataError:
                continue

    def _rows(self) -> Iterator[tuple[int, bytes | dict[str, Any]]]:
        if not str(self.path).lower().removesuffix(".gz").endswith(".json"):
            yield from super()._rows()
            return
        number = 0
        try:
            with open_bytes(self.path) as (stream, raw, size):
                for number, (_, item) in enumerate(JsonItems(stream), 1):
                    self.done = raw.tell() / max(size, 1)
                    yield number, item if isinstance(item, dict) else {}
        except (OSError, EOFError) as error:
            self._refuse(DataError(f"cannot be read on: {error}", self.path), "")
        except DataError as error:
            self._refuse(DataError(error.reason, self.path, number + 1), "")

    def _record(self, content: bytes | dict[str, Any]) -> Post:
        fields = _fields(content)
        text, at, name, user = (fields.get(self._columns.get(field, "")) for field in FIELDS)
        if text is None and self._columns["text"] not in fields:
            named = ", ".join(map(repr, list(fields)[:8])) or "nothing"
            raise DataError(f"there is no column {self._columns['text']!r}; there is {named}")
        try:
            moment = None if at in (None, "") else everyday_time(at, self._day_first)
        except ValueError as error:
            raise DataError(str(error)) from None
        text = text_in(text)
        known = name if isinstance(name, str) and name else identify(user, at, text)
        if isinstance(name, int):
            known = str(name)
        post = Written(known, text, moment, None if user is None else str(user)).as_post(None)
        if post is None:
            raise DataError("a post without text")
        return post


def _fields(content: bytes | dict[str, Any]) -> dict[str, Any]:
    if isinstance(content, dict):
        return content
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise DataError("broken JSON, or no object")
    return value
