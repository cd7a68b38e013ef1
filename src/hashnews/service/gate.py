"""The gate: whether a request need be read at all. To refuse must cost next to nothing.

In this order: is it for us (`names`), does this client ask too often, has it the key it needs, and
can it be answered now.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Scope

from hashnews.service.keys import key_in, without_key
from hashnews.service.names import not_for_us
from hashnews.service.pool import Pool
from hashnews.service.problems import FULL, STARTING, not_now, refusal
from hashnews.service.settings import CALLBACK

INTERFACE = "/v1/"
QUEUED = {"/v1/suggest", "/v1/suggest/batch", "/v1/retrieve"}
WRITING = ("/v1/news", "/v1/posts", "/v1/ways")  # and what is below: needs a key that may write
# The same where there is such a key: what somebody reads is their own affair, and the address of a
# feed may hold a password.
PRIVATE = ("/v1/feeds",)
OPEN = (CALLBACK,)  # hubs have no key: they sign
SLIGHT = 1e-6  # of a request: what sums of fractions may lack of a whole one
MOST_CLIENTS = 10_000  # whose requests are counted; of more, those silent longest are forgotten


class Gate:
    """Who may ask what, and how often."""

    def __init__(self, pool: Pool):
        self._pool = pool
        self._settings = pool.settings
        public = urlsplit(pool.settings.public_url or "").hostname or pool.settings.host
        self._names = {pool.settings.host, public, *pool.settings.allow_hosts}
        self._rates = Rates(pool.settings.rate) if pool.settings.rate else None

    def turned_away(self, scope: Scope, headers: Headers) -> HTTPException | None:
        """Why a request need not even be read, if it need not."""
        method, path = scope["method"], scope["path"]
        if (no := not_for_us(headers, method, self._names, self._settings.cors)) is not None:
            return no
        if not path.startswith(INTERFACE) or method == "OPTIONS":
            return None
        return (
            self._too_often(scope, headers)
            or self._without_key(path, headers)
            or self._not_now(path)
        )

    async def may_write(self, request: Request) -> None:
        """For endpoints: the gate goes by the path; this catches other paths that lead there."""
        if (no := self._without_key(WRITING[0], request.headers)) is not None:
            raise no

    def _too_often(self, scope: Scope, headers: Headers) -> HTTPException | None:
        if self._rates is None:
            return None
        known = (*self._settings.keys, *self._settings.read_keys)
        client = key_in(headers, known) or (scope.get("client") or ("",))[0]
        wait = self._rates.wait(client, time.monotonic())
        if not wait:
            return None
        told = f"more than {self._settings.rate} requests a minute: wait {wait} s"
        return refusal(429, told, {"Retry-After": str(wait)})

    def _without_key(self, path: str, headers: Headers) -> HTTPException | None:
        settings = self._settings
        if path in OPEN:
            return None
        if _is_below(path, WRITING):
            if not settings.keys or settings.news is None:
                return refusal(403, "this service is read only: start it with --news and a key")
            allowed: Collection[str] = settings.keys
        elif _is_below(path, PRIVATE) and settings.keys:
            allowed = settings.keys
        else:  # whoever may write may read
            allowed = (*settings.read_keys, *settings.keys) if settings.read_keys else ()
        return without_key(headers, allowed)

    def _not_now(self, path: str) -> HTTPException | None:
        if not self._pool.ready:
            return not_now(STARTING)
        if path in QUEUED and len(self._pool.queue) >= self._pool.queue.limit:
            return not_now(FULL)
        return None


class Rates:
    """How often each client asked: a bucket of requests that fills up again within a minute."""

    def __init__(self, a_minute: int):
        self._most = a_minute
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # requests, and when

    def wait(self, client: str, now: float) -> int:
        """Seconds until the client may ask; 0: it may, and this is counted."""
        left, before = self._left.pop(client, (float(self._most), now))
        left = min(float(self._most), left + (now - before) * self._most / 60)
        may = left > 1 - SLIGHT
        self._left[client] = (left - may, now)
        if len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)
        return 0 if may else math.ceil((1 - left) * 60 / self._most)


def _is_below(path: str, places: Collection[str]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)
