"""Connections: how many there may be, and how long the head of a request may take.

uvicorn waits for half a head for ever, and takes connections until the system has no more files.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from hashnews.portable import room_for_files

HEAD_SECONDS = 10.0
# Of the files that we may have, some are for ourselves, and many connections may come at once.
MOST_CONNECTIONS = min(800, room_for_files(4096) * 3 // 4)
LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class BoundedProtocol(H11Protocol):
    """One connection; without a whole head in time it is closed."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; where there are too many already, end at once."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        """Read on; between two requests the time for a head begins with its first byte."""
        super().data_received(data)
        if self._is_answering:
            self._wait_no_more()
        elif self._waiting is None:
            self._wait()

    def send_400_response(self, msg: str) -> None:
        """Say that this is no HTTP; who works on the request that it broke off need not answer."""
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:  # an answer has begun
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._wait_no_more()
        super().connection_lost(exc)

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        loop: Any = self.loop
        self._waiting = loop.call_later(HEAD_SECONDS, self._give_up)

    def _wait_no_more(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        self._waiting = None
        idle = self.timeout_keep_alive_task is not None  # a whole request came, and nothing since
        if not self._is_answering and not idle and not self.transport.is_closing():
            self.transport.write(LATE)
            self.transport.close()
