"""JSON read item by item: the memory holds one item, however large the file is.

A document is an array, an object whose keys hold arrays, or either of them assigned to a name as
in X's archives (`window.YTD.tweets.part0 = [...]`); several may follow each other. Bytes that are
not UTF-8 become U+FFFD, of equal keys the last one counts, numbers too long to mean anything and
NaN are nothing.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, Protocol

from hashnews.errors import DataError

CHUNK = 1 << 16  # bytes
LARGEST_ITEM = 4 << 20  # characters; a post with all that is known about it has some thousand
LONGEST_NUMBER = 20
NEAR = 16  # so far before the end of what was read a break may be the end itself
ASSIGNED = re.compile(r"\s*([A-Za-z_][\w.]{0,100})\s*=\s*", re.ASCII)
SPACE = re.compile(r"[\s;]*")


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes; none at the end."""


def _whole_number(digits: str) -> int | None:
    return int(digits) if len(digits) <= LONGEST_NUMBER else None


DECODER = json.JSONDecoder(
    parse_int=_whole_number, parse_constant=lambda _: None, strict=False
)  # fmt: skip


class JsonItems:
    """The items of all arrays at the top of a document, each with the name of its array.

    The name is the key or the variable; an array without either has the name "".
    """

    def __init__(self, stream: Readable):
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self._text, self._at, self._ended = "", 0, False

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        while sign := self._next_sign():
            name = ""
            if sign not in "[{":
                name = self._assigned()
                sign = self._next_sign()
            if sign == "[":
                yield from self._array(name)
            elif sign == "{":
                yield from self._object()
            else:
                raise DataError("it is no JSON: neither a list nor an object")

    def _assigned(self) -> str:
        self._fill(1)
        found = ASSIGNED.match(self._text, self._at)
        if found is None:
            raise DataError("it is no JSON: neither a list nor an object")
        self._at = found.end()
        return found[1]

    def _array(self, name: str) -> Iterator[tuple[str, Any]]:
        self._at += 1
        sign = self._next_sign()
        while sign != "]":
            yield name, self._value()
            sign = self._comma("]")
        self._at += 1

    def _object(self) -> Iterator[tuple[str, Any]]:
        self._at += 1
        sign = self._next_sign()
        while sign != "}":
            key = self._value()
            if not isinstance(key, str) or self._next_sign() != ":":
                raise DataError("broken JSON: a key of an object is missing")
            self._at += 1
            if self._next_sign() == "[":
                yield from self._array(key)
            else:
                self._value()
            sign = self._comma("}")
        self._at += 1

    def _comma(self, end: str) -> str:
        """The sign after the comma behind a value, or the end."""
        sign = self._next_sign()
        if sign == ",":
            self._at += 1
            sign = self._next_sign()
            if sign != end:
                return sign
        if sign != end:
            raise DataError("broken JSON: it ends early, or a comma is missing")
        return sign

    def _next_sign(self) -> str:
        """The next character that is no space, not taken; "" at the end."""
        while True:
            found = SPACE.match(self._text, self._at)
            assert found is not None
            self._at = found.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._fill(1)

    def _value(self) -> Any:
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except RecursionError:
                raise DataError("broken JSON: an item is nested too deeply") from None
            except json.JSONDecodeError as error:
                goes_on = error.pos >= len(self._text) - NEAR or "Unterminated" in error.msg
                if self._ended or not goes_on:
                    raise DataError(f"broken JSON: {error.msg.lower()}") from None
            else:
                if self._ended or end < len(self._text) - NEAR or self._is_after(end):
                    self._at = end
                    return value
            size = len(self._text) - self._at
            if size > LARGEST_ITEM:
                raise DataError(f"broken JSON, or an item of more than {LARGEST_ITEM >> 20} MB")
            self._fill(size)  # twice as much each time, so the work stays in proportion

    def _is_after(self, end: int) -> bool:
        """Whether a value ends here; a number may go on: `1` may be the begin of `1.5`."""
        return end < len(self._text) and self._text[end] in ",]}: \t\r\n"

    def _fill(self, least: int) -> None:
        content = self._stream.read(max(CHUNK, least))
        self._ended = not content
        self._text = self._text[self._at :] + self._decode(content, self._ended)
        self._at = 0
