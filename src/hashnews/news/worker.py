"""A process of its own in which foreign bytes are read, killed when it takes too long.

Parsers of HTML and XML can be made to run for minutes by a page of a few kilobytes, and nothing
inside a process can stop them. Requests and answers are JSON (and the bytes to read), so that
nothing in them can run code on this side.
"""

from __future__ import annotations

import json
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, Self

from hashnews.errors import FetchError, NotAFeed, TooSlow
from hashnews.portable import limit_memory

SECONDS = 10.0
MEMORY = 1 << 30  # address space of the process
HEAD = struct.Struct(">II")  # lengths of the JSON and of the bytes after it


class Worker:
    """Reads feeds and pages elsewhere; started with the first one, restarted after a kill."""

    def __init__(self, seconds: float = SECONDS):
        self.seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, what: str, body: bytes, **about: str | None) -> Any:
        """What a reader says to these bytes: of a `feed`, its `title`, `hub`, a `page`, `links`."""
        process = self._running()
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self.seconds, stop)
        timer.start()
        try:
            send(_pipe(process.stdin), {"what": what, "about": about}, body)
            answer, _ = receive(_pipe(process.stdout))
        except (OSError, EOFError):
            self.close()
            if late.is_set():
                raise TooSlow(f"took more than {self.seconds:g} s to read") from None
            raise FetchError("it cannot be read: its reader died, likely of hunger") from None
        finally:
            timer.cancel()
        if "not_a_feed" in answer:
            raise NotAFeed(answer["not_a_feed"])
        if "error" in answer:
            raise FetchError(answer["error"])
        return answer["answer"]

    @property
    def pid(self) -> int | None:
        """The process's number while it runs."""
        return None if self._process is None else self._process.pid

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "hashnews.news.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            receive(_pipe(self._process.stdout))  # its imports, which take a while, are done
        return self._process

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (_pipe(process.stdin), _pipe(process.stdout)):
                with suppress(BrokenPipeError):  # the rest of a request that nobody will read
                    stream.close()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def send(stream: IO[bytes], message: dict[str, Any], body: bytes = b"") -> None:
    """Write one message."""
    head = json.dumps(message).encode()
    stream.write(HEAD.pack(len(head), len(body)) + head + body)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    """Read one message."""
    lengths = _exactly(stream, HEAD.size)
    head, body = HEAD.unpack(lengths)
    return json.loads(_exactly(stream, head)), _exactly(stream, body)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise EOFError
    return content


def main() -> None:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which will end us
    limit_memory(MEMORY)
    from hashnews.news.discover import read_links
    from hashnews.news.json_feed import read_any_feed, read_hub, read_title
    from hashnews.news.pages import read_page

    readers: dict[str, Callable[..., Any]] = {
        "feed": read_any_feed, "hub": read_hub, "links": read_links, "page": read_page,
        "title": read_title,
    }  # fmt: skip
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    send(answers, {"answer": "ready"})
    while True:
        try:
            request, body = receive(requests)
        except EOFError:
            return
        try:
            answer = {"answer": readers[request["what"]](body, **request["about"])}
        except NotAFeed as error:
            answer = {"not_a_feed": error.reason}
        except Exception as error:  # whatever a parser does with hostile bytes, it is told
            answer = {"error": f"could not be read ({type(error).__name__})"}
        send(answers, answer)


if __name__ == "__main__":
    main()
