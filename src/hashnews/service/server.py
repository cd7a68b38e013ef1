"""Running the service: bind, start the processes, answer until told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Generator

import uvicorn

from hashnews.errors import ConfigError, HashNewsError
from hashnews.news.store import NewsStore
from hashnews.service.logs import log, start_logging
from hashnews.service.metrics import Metrics
from hashnews.service.pool import Pool
from hashnews.service.process import CallFailed, ProcessDied
from hashnews.service.settings import ServiceSettings

GRACE = 10  # seconds that running requests get to end
BACKLOG = 2048
KEEP_ALIVE = 75  # seconds; longer than proxies keep theirs, so that they close, not we


def serve(settings: ServiceSettings) -> None:
    """Run until SIGTERM or Ctrl-C; raises what keeps the service from starting."""
    start_logging()
    asyncio.run(_serve(settings))


async def _serve(settings: ServiceSettings) -> None:
    if settings.news is not None:  # whoever may write makes it where there is none
        NewsStore(settings.news, "write" if settings.keys or settings.fetch else "read").close()
    if settings.public_url and not settings.fetch:
        raise ConfigError("--public-url is for the hubs of feeds: add --fetch")
    listener = _bind(settings)
    host, port = listener.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    pool = Pool(settings, Metrics())
    starting = asyncio.create_task(_start(pool, address))
    await asyncio.sleep(0)  # the processes are on their way: they and we now import side by side
    server = _server(pool)
    starting.add_done_callback(lambda task: _end_if_failed(task, server))
    try:
        await server.serve([listener])
    finally:
        starting.cancel()
        await asyncio.wait([starting])
        await pool.stop()
        log("stopped")
    if not starting.cancelled() and (problem := starting.exception()) is not None:
        raise problem


def _server(pool: Pool) -> uvicorn.Server:
    from hashnews.service.app import create_app
    from hashnews.service.connection import BoundedProtocol

    return _Server(
        uvicorn.Config(
            create_app(pool), lifespan="off", http=BoundedProtocol, ws="none", log_config=None,
            access_log=False, server_header=False, proxy_headers=False, backlog=BACKLOG,
            timeout_graceful_shutdown=GRACE, timeout_keep_alive=KEEP_ALIVE,
        )
    )  # fmt: skip


def _end_if_failed(starting: asyncio.Task[None], server: uvicorn.Server) -> None:
    if not starting.cancelled() and starting.exception() is not None:
        server.should_exit = True


async def _start(pool: Pool, address: str) -> None:
    """Start what makes the answers; requests get 503 until then."""
    log("listening", address=address)
    try:
        await pool.start()
    except (ProcessDied, CallFailed) as error:
        raise HashNewsError(f"the service cannot start: {str(error).splitlines()[-1]}") from error
    log("ready", address=address, articles=pool.news.articles)


class _Server(uvicorn.Server):
    """uvicorn that ends like any other program: with 0 after being asked to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        loop = asyncio.get_running_loop()
        for asked in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(asked, self.handle_exit, asked, None)
        yield


def _bind(settings: ServiceSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    place = (settings.host, settings.port)
    try:
        listener = socket.create_server(place, family=family, backlog=BACKLOG)
        # Head and body of an answer are two packets: the second must not wait for an answer to the
        # first, which takes 40 ms. asyncio would see to it, but not for a socket made elsewhere.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        why = (error.strerror or str(error)).partition(" (while")[0]
        raise ConfigError(
            f"cannot listen on {settings.host}:{settings.port} ({why}): take another --port"
        ) from None
