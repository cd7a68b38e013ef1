"""Connections that reach public addresses only, and end in time.

A feed is an address that somebody else chose, and so is every redirect and every link in it. The
check is made on the address a socket is about to connect to, not on a name looked up before:
a name that answers differently the second time gains nothing.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import httpcore

from hashnews.errors import BlockedAddress, FetchError, TooSlow
from hashnews.news.addresses import is_public

T = TypeVar("T")
Resolver = Callable[[str, int], list[str]]
WEB_PORTS = (80, 443)


def resolve(host: str, port: int) -> list[str]:
    """All addresses of a name, as the system knows them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in found))


class Deadline:
    """The moment by which the whole of a request must be over."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left; raises when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TooSlow(f"it took more than {self.seconds:g} s")
        return left


class GuardedBackend(httpcore.SyncBackend):
    """Opens connections to public addresses, each bound to the deadline of the moment."""

    def __init__(self, allow_private: bool, resolver: Resolver = resolve):
        super().__init__()
        self.deadline = Deadline(0.0)
        self._allow_private = allow_private
        self._resolve = resolver

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Look the name up, keep what is public, connect to exactly that."""
        if not self._allow_private and port not in WEB_PORTS:
            raise BlockedAddress(f"port {port} is not one of the web (--allow-private allows it)")
        addresses = self._addresses(host, port)
        for at, address in enumerate(addresses, 1):
            try:
                stream = super().connect_tcp(
                    address, port, self.deadline.left(), local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if at == len(addresses):
                    raise
            else:
                return _TimedStream(stream, self)
        raise FetchError(f"{host} has no address")

    def _addresses(self, host: str, port: int) -> list[str]:
        found = self._looked_up(host, port)
        if self._allow_private:
            return found
        public = [address for address in found if is_public(address)]
        if found and not public:
            shown = ", ".join(found[:3])
            raise BlockedAddress(f"{host} is {shown}: not public (--allow-private allows it)")
        return public

    def _looked_up(self, host: str, port: int) -> list[str]:
        """Resolve in a thread: the system's resolver knows no deadline."""
        answer: list[list[str]] = []

        def look_up() -> None:
            try:
                answer.append(self._resolve(host, port))
            except (OSError, UnicodeError):
                answer.append([])

        thread = threading.Thread(target=look_up, daemon=True)
        thread.start()
        thread.join(self.deadline.left())
        if not answer:
            raise TooSlow(f"{host} was not found within {self.deadline.seconds:g} s")
        if not answer[0]:
            missing = "" if "." in host else f": write it in full, as {host}.com"
            raise FetchError(f"there is no such host as {host}{missing}")
        return answer[0]

    def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore.NetworkStream:
        """Never."""
        raise BlockedAddress("not a web address")


class _TimedStream(httpcore.NetworkStream):
    """A connection on which every wait ends at the deadline, however the bytes drip."""

    def __init__(self, stream: httpcore.NetworkStream, backend: GuardedBackend):
        self._stream = stream
        self._backend = backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._in_time(lambda left: self._stream.read(max_bytes, left))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._in_time(lambda left: self._stream.write(buffer, left))

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        secure = self._in_time(
            lambda left: self._stream.start_tls(ssl_context, server_hostname, left)
        )
        return _TimedStream(secure, self._backend)

    def _in_time(self, action: Callable[[float], T]) -> T:
        try:
            return action(self._backend.deadline.left())
        except (httpcore.ReadTimeout, httpcore.WriteTimeout, httpcore.ConnectTimeout):
            self._backend.deadline.left()  # says so in our words
            raise

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
