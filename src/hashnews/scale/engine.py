"""Where the work is done: here, one job after the other, or on a Ray cluster.

A job is a task without state of its own, so Ray may give it to any node, give it again when a node
dies, and use nodes that join later. What is costly to open (an index, a model) a worker process
opens once and keeps.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar

from hashnews import __version__
from hashnews.errors import ClusterError, HashNewsError, needs_extra
from hashnews.portable import peak_memory

J = TypeVar("J")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
Run = Callable[[Callable[[J], R], Iterable[J]], Iterator[R]]
RETRIES = 5  # of a job whose node or process died
SMALL = 128 << 20  # bytes of Ray's object store: what is large goes through files
AHEAD = 2  # jobs waiting or running for each core
OOM_RETRIES = "RAY_task_oom_retries"  # else a job too large for its node is given without end
NO_IMPORT = "failed to import on the worker"
REACH = 10.0  # seconds in which a cluster must answer


class Opens(Protocol[R_co]):
    """Where something costly comes from; compared by its value."""

    def open(self) -> R_co:
        """The costly thing."""

    def __hash__(self) -> int: ...


class WorkerUsage(NamedTuple):
    """The process that did a job."""

    host: str
    pid: int
    peak: int
    """The most memory it has had, in bytes."""
    opened: int
    """How often it has opened something costly."""


def one_by_one(work: Callable[[J], R], jobs: Iterable[J]) -> Iterator[R]:
    """Do jobs here, in order."""
    return map(work, jobs)


@contextmanager
def on_ray(address: str | None = None) -> Iterator[Run[Any, Any]]:
    """Do jobs on the cluster at an address, or else on this machine's cores, in any order."""
    os.environ.setdefault(OOM_RETRIES, str(RETRIES))  # Ray reads it when it is imported
    with needs_extra("--engine ray", "ray"):
        import ray
    joined = ray.is_initialized()
    if not joined:
        alone: dict[str, Any] = {"include_dashboard": False, "object_store_memory": SMALL}
        try:
            _reach(address or "local")
            ray.init(address or "local", log_to_driver=False, **({} if address else alone))
        except Exception as error:  # Ray has no common base of these
            remedy = "; it needs this Ray, this Python and the same token" if address else ""
            where = address or "this machine"
            raise ClusterError(f"no Ray cluster at {where}: {_one_line(error)}{remedy}") from None
    try:
        yield _run_on_ray
    finally:
        if not joined:
            ray.shutdown()


def _reach(address: str) -> None:
    """Refuse HOST:PORT where nobody answers: Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    if port.isdigit() and "/" not in host:
        socket.create_connection((host, int(port)), REACH).close()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def _run_on_ray(work: Callable[[J], R], jobs: Iterable[J]) -> Iterator[R]:
    import ray

    task: Any = ray.remote(num_cpus=1, max_retries=RETRIES)(_told)
    shared = ray.put(work)  # it may hold much; a node fetches it once
    waiting, running = iter(jobs), dict[Any, J]()
    while True:
        cores = int(ray.cluster_resources().get("CPU", 1))  # type: ignore[no-untyped-call]
        room = AHEAD * max(1, cores) - len(running)
        new = islice(waiting, max(0, room))
        running.update({task.remote(shared, job, __version__): job for job in new})
        if not running:
            return
        (done,), _ = ray.wait(list(running), num_returns=1)
        job = running.pop(done)
        try:
            yield ray.get(done)
        except ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, ClusterError):
                raise cause from None
            if isinstance(cause, ray.exceptions.RaySystemError) or NO_IMPORT in str(cause):
                why = str(cause).partition("\n")[0][:200]
                raise ClusterError(
                    f"{job}: a node cannot begin it ({why}); install the same HashNews on all nodes"
                ) from None
            raise
        except ray.exceptions.RayError as error:
            raise ClusterError(
                f"{job}: its worker died {RETRIES + 1} times ({_one_line(error)}); give workers "
                "more memory, or smaller files"
            ) from None


def _told(work: Callable[[J], R], job: J, version: str) -> R:
    """Do a job; errors are reported in one line, because not all can be sent back."""
    host = socket.gethostname()
    if version != __version__:
        raise ClusterError(
            f"{host} has HashNews {__version__}, not {version}: install the same on every node"
        )
    try:
        return work(job)
    except HashNewsError as error:
        raise ClusterError(f"{error} (on {host})") from None
    except OSError as error:
        remedy = "every node must see the same folders, and may write"
        raise ClusterError(f"{job}: {error} (on {host}): {remedy}") from None


_opened = 0


@lru_cache(maxsize=1, typed=True)
def opened(source: Opens[R]) -> R:
    """What a worker opens once and keeps; two sources of the same values are the same."""
    global _opened
    _opened += 1
    return source.open()


def this_worker() -> WorkerUsage:
    """Who is at work here."""
    return WorkerUsage(socket.gethostname(), os.getpid(), peak_memory(), _opened)
