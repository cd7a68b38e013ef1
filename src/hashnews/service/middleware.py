"""What every request passes through: request id, limits, security headers, log, metrics.

Written against ASGI itself, outside the framework, so that it sees every answer and costs little.
"""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import Callable, Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hashnews.service.logs import LOGGER, log
from hashnews.service.metrics import Metrics
from hashnews.service.names import allowed
from hashnews.service.problems import INTERNAL, error_response
from hashnews.service.settings import LARGEST_BODY, ServiceSettings

GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
METHODS = {"GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"}
QUIET = {"/health", "/ready", "/metrics"}  # asked every few seconds by machines
SAFETY = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-cache",  # after an upgrade nobody runs yesterday's page
}


# What pages of the sites given by --cors may send, and read besides the body.
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, X-Request-ID",
    "Access-Control-Max-Age": "600",
}
READABLE = {"Access-Control-Expose-Headers": "X-Request-ID, Retry-After"}
# Paths of the first release: aliases of those under /v1.
FIRST = {"/suggest", "/suggest/batch", "/retrieve", "/trends", "/news"}


def current(path: str) -> str:
    """The path that one of the first release is now."""
    return f"/v1{path}" if path in FIRST or path.startswith("/articles/") else path


class Middleware:
    """Wraps the app."""

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        settings: ServiceSettings,
        largest: Mapping[str, int],
        turned_away: Callable[[Scope, Headers], HTTPException | None],
    ):
        self._app = app
        self._turned_away = turned_away
        self._metrics = metrics
        self._seconds = settings.seconds
        self._sites = settings.cors
        self._largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens."""
        if scope["type"] != "http":
            return
        began = time.perf_counter()
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if GIVEN_ID.fullmatch(given) else uuid.uuid4().hex[:16]
        scope.setdefault("state", {})["request_id"] = request_id
        scope["path"] = current(scope["path"])
        foreign = allowed(headers.get("origin"), self._sites)
        body = _Body(receive, self._largest.get(scope["path"], LARGEST_BODY))
        status = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                mutable = MutableHeaders(scope=message)
                mutable["X-Request-ID"] = request_id
                for name, value in SAFETY.items():
                    mutable.setdefault(name, value)
                if foreign:
                    mutable.update({"Access-Control-Allow-Origin": headers["origin"], **READABLE})
                if self._sites:
                    mutable.add_vary_header("Origin")
            await send(message)

        try:
            async with asyncio.timeout(self._seconds):
                # Before anything is read: to refuse must cost next to nothing.
                no = self._turned_away(scope, headers)
                if no is not None:
                    told = error_response(request_id, no.status_code, no.detail, no.headers)
                    await told(scope, receive, answer)
                elif foreign and scope["method"] == "OPTIONS":
                    await Response(status_code=204, headers=PREFLIGHT)(scope, receive, answer)
                else:
                    await self._app(scope, body.receive, answer)
        except TimeoutError:
            if not status:
                late = (408, "the request took too long to arrive")
                if body.is_whole:
                    late = (504, f"there was no answer within {self._seconds:g} s: try again")
                await error_response(request_id, *late)(scope, receive, answer)
        except Exception:
            LOGGER.exception("failed", extra={"fields": {"request_id": request_id}})
            if not status:
                await error_response(request_id, 500, INTERNAL)(scope, receive, answer)
        finally:
            self._note(scope, request_id, status, time.perf_counter() - began)

    def _note(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")  # not the path: anybody can invent one
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._metrics.requests.labels(method, route, status).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        if scope["path"] not in QUIET or status in (0, 500):
            log(
                "request", "error" if status in (0, 500) else "info", request_id=request_id,
                method=method, path=scope["path"][:200], status=status, ms=round(1000 * seconds, 1),
            )  # fmt: skip


class _Body:
    """The body of a request as it comes in, up to a limit."""

    def __init__(self, receive: Receive, largest: int):
        self._receive = receive
        self._largest = largest
        self._bytes = 0
        self.is_whole = False

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            self.is_whole = not message.get("more_body", False)
            if self._bytes > self._largest:
                raise HTTPException(413, f"the request is larger than {self._largest:,} bytes")
        return message
