"""WebSockets with the guard of the feeds: public addresses, TLS verified, frames not too large."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpcore
import httpx

from hashnews import __version__
from hashnews.errors import FetchError, needs_extra
from hashnews.news.guard import Deadline, GuardedBackend

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

SECONDS = 20.0
LARGEST_FRAME = 5 << 20
AT_ONCE = 500  # frames
GATHER = 0.2  # seconds in which frames are gathered


@contextmanager
def open_socket(url: str, allow_private: bool) -> Iterator[ClientConnection]:
    """A WebSocket; whatever goes wrong with it is a `FetchError`."""
    with needs_extra("following a stream", "networks"):
        from websockets.exceptions import InvalidStatus, WebSocketException
        from websockets.sync.client import connect
    parts = urlsplit(url)
    secure = parts.scheme == "wss"
    place = f"{parts.scheme}://{parts.netloc}{parts.path}"
    backend = GuardedBackend(allow_private)
    backend.deadline = Deadline(SECONDS)
    try:
        stream = backend.connect_tcp(parts.hostname or "", parts.port or (443 if secure else 80))
        with connect(
            url,
            sock=stream.get_extra_info("socket"),
            ssl=httpx.create_ssl_context(trust_env=False) if secure else None,
            server_hostname=parts.hostname if secure else None,
            compression=None,
            proxy=None,
            user_agent_header=f"hashnews/{__version__}",
            open_timeout=SECONDS,
            close_timeout=1,
            max_size=LARGEST_FRAME,
        ) as opened:
            yield opened
    except FetchError as error:
        raise type(error)(error.reason, error.url or place, error.status) from None
    except InvalidStatus as error:
        status = error.response.status_code
        after = error.response.headers.get("Retry-After")
        raise FetchError(f"the server answered {status}", place, status, after) from None
    except (WebSocketException, httpcore.NetworkError, httpcore.TimeoutException, OSError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FetchError(f"the stream broke off: {reason[:200]}", place) from None


def gathered(opened: ClientConnection) -> list[str | bytes]:
    """The frames that come within a moment; none where it is quiet."""
    frames: list[str | bytes] = []
    end = time.monotonic() + GATHER
    try:
        frames.append(opened.recv(timeout=2 * GATHER))
        while len(frames) < AT_ONCE and (left := end - time.monotonic()) > 0:
            frames.append(opened.recv(timeout=left))
    except TimeoutError:
        pass
    return frames
