"""A process that holds one object and runs its methods, one call at a time.

The object is made in the process, so what cannot be shared (SQLite, a model) need not be. The
process ends when its socket closes: when told to, and also when the service was killed.

A message is its length and its pickle, as `multiprocessing.connection` writes it; on the side of
the service asyncio reads and writes it, so that no thread stands between a request and its answer.
"""

from __future__ import annotations

import asyncio
import pickle
import signal
import socket
import struct
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from hashnews.errors import HashNewsError

GRACE = 10.0  # seconds that a running call gets to end
LENGTH = struct.Struct("!i")


class ProcessDied(Exception):
    """The process ended in the middle of a call, or took too long and was ended."""


class CallFailed(Exception):
    """The method raised what it should not; the text is its traceback."""


class Process:
    """One object in a process of its own."""

    def __init__(self, make: Callable[..., Any], *arguments: Any):
        # Not forked from the service itself: that would copy what it has open.
        context = get_context("forkserver")
        context.set_forkserver_preload(["hashnews.service.shared"])
        try:
            self._socket, theirs = socket.socketpair()
        except OSError as error:
            raise _none_starts(error) from None
        about = (theirs, make, arguments)
        self._process = context.Process(target=_serve, args=about, daemon=True)
        try:
            self._process.start()
        except (OSError, EOFError) as error:
            self._socket.close()
            raise _none_starts(error) from None
        finally:
            theirs.close()
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._calling = asyncio.Lock()
        self.pid = self._process.pid

    async def ready(self, seconds: float) -> None:
        """Wait until the object is made; what went wrong is raised here."""
        self._streams = await asyncio.open_connection(sock=self._socket)
        await self._guarded(self._receive(), seconds)

    async def call(self, method: str, *arguments: Any, seconds: float) -> Any:
        """Run a method; a process that takes longer than this is ended."""
        async with self._calling:
            return await self._guarded(self._send_and_receive((method, arguments)), seconds)

    async def close(self) -> None:
        """Let a running call end, then the process; one that will not is ended."""
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE), self._calling:
                await self._hang_up()
        await asyncio.to_thread(self._process.join, GRACE)
        await self.kill()

    async def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        await self._hang_up()

    async def _hang_up(self) -> None:
        if self._streams is None:
            self._socket.close()
        else:
            self._streams[1].close()
            with suppress(OSError):
                await self._streams[1].wait_closed()

    async def _guarded(self, talk: Any, seconds: float) -> Any:
        try:
            async with asyncio.timeout(seconds):
                problem, result = await talk
        except TimeoutError:
            await self.kill()
            raise ProcessDied(f"process {self.pid} took over {seconds:g} s") from None
        except (EOFError, OSError):
            raise ProcessDied(f"process {self.pid} is gone") from None
        if problem is not None:
            raise problem
        return result

    async def _send_and_receive(self, message: object) -> Any:
        if self._streams is None:
            raise EOFError
        content = pickle.dumps(message)
        self._streams[1].write(LENGTH.pack(len(content)) + content)
        await self._streams[1].drain()
        return await self._receive()

    async def _receive(self) -> Any:
        if self._streams is None:
            raise EOFError
        reader = self._streams[0]
        (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
        return pickle.loads(await reader.readexactly(length))


def _none_starts(error: Exception) -> ProcessDied:
    """No more files, no memory: it may be had later."""
    return ProcessDied(f"no process can be started: {error}")


def _serve(theirs: socket.socket, make: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Make the object, then answer calls until the socket closes."""
    for asked_to_stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(asked_to_stop, signal.SIG_IGN)  # the service says when
    held = None

    def begin() -> None:
        nonlocal held
        held = make(*arguments)

    with suppress(EOFError, OSError), Connection(theirs.detach()) as pipe:
        _answer(pipe, begin, ())
        while held is not None:
            method, values = pipe.recv()
            _answer(pipe, getattr(held, method), values)
    if (close := getattr(held, "close", None)) is not None:
        close()


def _answer(
    pipe: Connection[Any, Any], function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    problem: Exception | None = None
    result = None
    try:
        result = function(*arguments)
    except HashNewsError as error:
        problem = HashNewsError(str(error))  # its own class may not survive the journey
    except Exception:
        problem = CallFailed(traceback.format_exc())
    pipe.send((problem, result))
