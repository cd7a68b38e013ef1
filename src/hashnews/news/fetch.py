"""HTTP with a guard: what comes from the network is bounded in place, number, size and time.

http and https only, public addresses only, at most 5 redirects, a cap on the bytes before and
after unpacking, one deadline for the whole request, no proxy or password from the environment.
"""

from __future__ import annotations

import time
from collections.abc import Container, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import httpcore
import httpx

from hashnews import __version__
from hashnews.errors import BlockedAddress, FetchError, TooLarge
from hashnews.news.feeds import is_web
from hashnews.news.guard import Deadline, GuardedBackend, Resolver, resolve
from hashnews.news.unpack import unpacked

REDIRECTS = 5
SECONDS = 20.0
LONGEST_HEADER = 1000  # characters that are kept
HEADERS = {
    "User-Agent": f"hashnews/{__version__} (news reader)",
    "Accept-Encoding": "gzip",  # the one encoding whose size can be capped while unpacking
    "Accept": "application/rss+xml, application/atom+xml, text/xml, text/html, */*;q=0.1",
}
NETWORK_ERRORS = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
)


class Fetched(NamedTuple):
    """What an address gave; `body` is None where nothing changed since the last visit."""

    url: str  # after redirects
    body: bytes | None
    content_type: str
    etag: str | None
    last_modified: str | None
    hub: str | None = None  # that its head names (WebSub), and what it is called there
    topic: str | None = None


class Fetcher:
    """Gets pages and feeds, one at a time, never twice within `delay` from the same host."""

    def __init__(
        self,
        allow_private: bool = False,
        seconds: float = SECONDS,
        delay: float = 1.0,
        resolver: Resolver = resolve,
    ):
        self.seconds = seconds
        self.delay = delay
        self._visited: dict[str, float] = {}
        self._backend = GuardedBackend(allow_private, resolver)
        self._client = httpx.Client(
            transport=GuardedTransport(self._backend),
            headers=HEADERS,
            follow_redirects=True,
            max_redirects=REDIRECTS,
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(
        self,
        url: str,
        largest: int,
        etag: str | None = None,
        last_modified: str | None = None,
    ) -> Fetched:
        """What stands at an address; with the marks of the last visit, only if it changed."""
        marks = {"If-None-Match": etag, "If-Modified-Since": last_modified}
        headers = {name: value for name, value in marks.items() if value}
        with self._asked("GET", url, headers=headers) as response:
            return _fetched(response, largest)

    def post(self, url: str, fields: dict[str, str]) -> None:
        """Send a form; what comes back is not read."""
        with self._asked("POST", url, data=fields) as response:
            _refuse(response, range(200, 300))

    @contextmanager
    def _asked(self, method: str, url: str, **more: Any) -> Iterator[httpx.Response]:
        if not is_web(url):
            raise BlockedAddress("only http and https are fetched", url)
        self._wait_for(urlsplit(url).hostname or "")
        self._client.cookies.clear()
        self._backend.deadline = Deadline(self.seconds)
        try:
            with self._client.stream(method, url, **more) as response:
                yield response
        except FetchError as error:
            raise type(error)(error.reason, url, error.status, error.retry_after) from None
        except httpx.TooManyRedirects:
            raise FetchError(f"it redirects more than {REDIRECTS} times", url) from None
        except httpx.UnsupportedProtocol:
            raise BlockedAddress("it redirects to what is not http or https", url) from None
        except (*NETWORK_ERRORS, httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            reason = str(error) or type(error).__name__
            raise FetchError(f"it cannot be fetched: {reason[:200]}", url) from None

    def _wait_for(self, host: str) -> None:
        """Be polite: leave a pause between two requests to one host."""
        if host in self._visited:
            time.sleep(max(0.0, self._visited[host] + self.delay - time.monotonic()))
        self._visited[host] = time.monotonic()


def _fetched(response: httpx.Response, largest: int) -> Fetched:
    headers, links = response.headers, response.links
    _refuse(response, (200, 304))
    return Fetched(
        str(response.url),
        _body(response, largest) if response.status_code == 200 else None,
        headers.get("Content-Type", "")[:LONGEST_HEADER],
        _mark(headers.get("ETag")),
        _mark(headers.get("Last-Modified")),
        links.get("hub", {}).get("url"),
        links.get("self", {}).get("url"),
    )


def _refuse(response: httpx.Response, good: Container[int]) -> None:
    if response.status_code not in good:
        raise FetchError(
            f"the server answered {response.status_code}",
            status=response.status_code,
            retry_after=response.headers.get("Retry-After"),
        )


def _mark(header: str | None) -> str | None:
    """A mark that can be sent back: one that cannot would fail every later visit."""
    usable = header and header.isascii() and header.isprintable() and len(header) <= LONGEST_HEADER
    return header if usable else None


def _body(response: httpx.Response, largest: int) -> bytes:
    declared = response.headers.get("Content-Length", "")
    if declared.isdecimal() and int(declared) > largest:
        raise TooLarge(f"it is larger than {largest / (1 << 20):g} MiB")
    return unpacked(response.iter_raw(), response.headers.get("Content-Encoding", ""), largest)


class GuardedTransport(httpx.BaseTransport):
    """httpx over a pool of guarded connections."""

    def __init__(self, backend: GuardedBackend):
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=1,
            keepalive_expiry=5.0,
            network_backend=backend,
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One hop; httpx follows redirects by asking for the next one here again."""
        if request.url.scheme not in ("http", "https"):
            raise httpx.UnsupportedProtocol(request.url.scheme)
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        response = self._pool.handle_request(
            httpcore.Request(
                request.method, url, headers=request.headers.raw, content=request.stream
            )
        )
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Stream(response),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


class _Stream(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response):
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        return self._response.iter_stream()

    def close(self) -> None:
        self._response.close()
