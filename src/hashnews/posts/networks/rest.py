"""Asking a server for JSON, politely: within its limits, its robots.txt and our bounds.

The guard is that of the feeds: public addresses only, TLS verified, a cap on bytes, a deadline for
the whole request. Redirects are not followed, so a token goes where it belongs and nowhere else.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.robotparser import RobotFileParser

import httpx

from hashnews.dates import read_date
from hashnews.errors import BlockedAddress, FetchError, TooLarge
from hashnews.news.fetch import HEADERS, NETWORK_ERRORS, GuardedTransport
from hashnews.news.guard import Deadline, GuardedBackend
from hashnews.news.unpack import unpacked

SECONDS = 20.0
SILENCE = 90.0  # seconds without a sign of life, after which a stream is dead
LARGEST_ANSWER = 8 << 20
LARGEST_EVENT = 1 << 20
LARGEST_ROBOTS = 256 << 10
LONGEST_WAIT = 900.0  # seconds: no server makes us wait longer
AGENT = "hashnews"


class Stopped(Exception):
    """Following ends: somebody said stop."""


class Signal(NamedTuple):
    """An event of a stream: its name and its data."""

    name: str
    data: str


class Rest:
    """One server, asked by one thread."""

    def __init__(
        self, root: str, stop: threading.Event, allow_private: bool = False, token: str = "",
        pause: float = 1.0,
    ):  # fmt: skip
        self.root = root
        self._stop = stop
        self._pause = pause
        self._not_before = 0.0  # by time.monotonic()
        self._robots: RobotFileParser | None = None
        self._held: socket.socket | None = None
        self._backend = GuardedBackend(allow_private)
        self._client = httpx.Client(
            transport=GuardedTransport(self._backend), headers=HEADERS, trust_env=False
        )
        self._headers = {"Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def interrupt(self) -> None:
        """End what is under way, from another thread."""
        if self._held is not None:
            with suppress(OSError):
                self._held.shutdown(socket.SHUT_RDWR)

    def get(self, path: str, **parameters: str | int | list[str]) -> Any:
        """The JSON at a path."""
        self._obey(path)
        with self._answer(path, parameters, self._headers) as response:
            body = _body(response, LARGEST_ANSWER)
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise FetchError("the answer is not JSON", self.root + path) from None

    def stream(self, path: str, **parameters: str) -> Iterator[Signal]:
        """The events of a stream (SSE); a name of `` is a sign of life."""
        self._obey(path)
        headers = {**self._headers, "Accept": "text/event-stream", "Accept-Encoding": "identity"}
        with self._answer(path, parameters, headers) as response:
            if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
                raise FetchError("the answer is not a stream", self.root + path)
            yield Signal("", "")  # it is open
            yield from _signals(self._lines(response))

    def _lines(self, response: httpx.Response) -> Iterator[str]:
        rest = b""
        for chunk in response.iter_raw():
            self._backend.deadline = Deadline(SILENCE)
            *lines, rest = (rest + chunk).split(b"\n")
            if len(rest) > LARGEST_EVENT:
                raise TooLarge("an event of the stream is too large", self.root)
            yield from (line.decode("utf-8", "replace").rstrip("\r") for line in lines)

    @contextmanager
    def _answer(
        self, path: str, parameters: dict[str, Any], headers: dict[str, str]
    ) -> Iterator[httpx.Response]:
        """An answer of 200; all else, and whatever goes wrong meanwhile, as `FetchError`."""
        url = self.root + path
        self._wait()
        self._client.cookies.clear()
        self._backend.deadline = Deadline(SECONDS)
        try:
            with self._client.stream("GET", url, params=parameters, headers=headers) as response:
                connection = response.extensions.get("network_stream")
                self._held = connection.get_extra_info("socket") if connection else None
                self._note_limits(response.headers)
                if response.status_code != 200:
                    raise FetchError(
                        f"the server answered {response.status_code}",
                        status=response.status_code,
                        retry_after=response.headers.get("Retry-After"),
                    )
                yield response
        except FetchError as error:
            raise type(error)(error.reason, url, error.status, error.retry_after) from None
        except (*NETWORK_ERRORS, httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            reason = str(error) or type(error).__name__
            raise FetchError(f"it cannot be reached: {reason[:200]}", url) from None
        finally:
            self._held = None
            if self._stop.is_set():
                raise Stopped

    def _wait(self) -> None:
        """Leave a pause after the last request, and wait where the server's limit is reached."""
        if self._stop.wait(max(0.0, self._not_before - time.monotonic())):
            raise Stopped
        self._not_before = time.monotonic() + self._pause

    def _note_limits(self, headers: httpx.Headers) -> None:
        left = headers.get("X-RateLimit-Remaining") or headers.get("RateLimit-Remaining") or ""
        reset = headers.get("X-RateLimit-Reset") or headers.get("RateLimit-Reset") or ""
        if left.isdecimal() and int(left[:9]) == 0 and (wait := seconds_until(reset)) is not None:
            self._not_before = max(self._not_before, time.monotonic() + wait)

    def _obey(self, path: str) -> None:
        """Refuse what the server's robots.txt forbids."""
        if self._robots is None:
            robots = RobotFileParser()
            robots.parse(self._robots_text().splitlines())
            self._robots = robots
        if not self._robots.can_fetch(AGENT, self.root + path):
            raise BlockedAddress("its robots.txt asks programs to stay away", self.root + path)

    def _robots_text(self) -> str:
        try:
            with self._answer("/robots.txt", {}, {"Accept": "text/plain"}) as response:
                return _body(response, LARGEST_ROBOTS).decode("utf-8", "replace")
        except FetchError as error:
            if error.status is not None and 400 <= error.status < 500 and error.status != 429:
                return ""  # there is none
            raise


def _body(response: httpx.Response, largest: int) -> bytes:
    return unpacked(response.iter_raw(), response.headers.get("Content-Encoding", ""), largest)


def _signals(lines: Iterator[str]) -> Iterator[Signal]:
    """Events out of lines: https://html.spec.whatwg.org/multipage/server-sent-events.html."""
    name, data, size = "", list[str](), 0
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        size += len(value)
        if size > LARGEST_EVENT:
            raise TooLarge("an event of the stream is too large")
        if not line:
            if data:
                yield Signal(name or "message", "\n".join(data))
            name, data, size = "", [], 0
        elif field == "event":
            name = value
        elif field == "data":
            data.append(value)
        else:
            yield Signal("", "")


def seconds_until(moment: str) -> float | None:
    """How long to wait for a moment: a date, or seconds since 1970 or from now. It is bounded."""
    text = moment.strip()
    if text[:20].replace(".", "", 1).isdecimal():
        number = float(text[:20])
        wait = number - time.time() if number > 1e9 else number
    elif (date := read_date(text)) is not None:
        wait = (date.latest - datetime.now(UTC)).total_seconds()
    else:
        return None
    return min(max(wait, 0.0), LONGEST_WAIT)


class RestSource:
    """A source that asks one server."""

    _rest: Rest

    def interrupt(self) -> None:
        """End what is under way, from another thread."""
        self._rest.interrupt()

    def close(self) -> None:
        """Close all connections."""
        self._rest.close()
