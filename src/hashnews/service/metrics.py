"""Figures of a running service, in the text format of Prometheus."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
POSTS = (1, 2, 4, 8, 16, 32)


class Metrics:
    """All figures; each service has its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "hashnews_requests", "Requests answered.", ["method", "route", "status"],
            registry=self.registry,
        )  # fmt: skip
        self.seconds = Histogram(
            "hashnews_request_seconds", "From the request to its answer.", ["route"],
            buckets=SECONDS, registry=self.registry,
        )  # fmt: skip
        self.batch = Histogram(
            "hashnews_batch_posts", "Posts of a micro-batch.", buckets=POSTS, registry=self.registry
        )
        self.queued = self._gauge("hashnews_waiting_posts", "Posts that wait in the queue.")
        self.articles = self._gauge("hashnews_articles", "Articles in the store.")
        self.newest = self._gauge(
            "hashnews_newest_article_timestamp_seconds", "When the newest article was published."
        )
        self.ready = self._gauge("hashnews_suggesters_ready", "Processes that make suggestions.")
        self.restarts = Counter(
            "hashnews_process_restarts", "Processes that ended and were replaced.", ["process"],
            registry=self.registry,
        )  # fmt: skip
        self.models = Counter(
            "hashnews_models", "New model directories, taken over or refused.", ["outcome"],
            registry=self.registry,
        )  # fmt: skip

    def _gauge(self, name: str, what: str) -> Gauge:
        return Gauge(name, what, registry=self.registry)

    def watch_memory(self, processes: Callable[[], Iterable[tuple[str, int]]]) -> None:
        """Tell the memory of these processes, named, whenever somebody asks."""
        self.registry.register(_MemoryCollector(processes))

    def text(self) -> bytes:
        """What GET /metrics answers."""
        return generate_latest(self.registry)


class _MemoryCollector(Collector):
    def __init__(self, processes: Callable[[], Iterable[tuple[str, int]]]):
        self._processes = processes

    def collect(self) -> Iterable[Metric]:
        family = GaugeMetricFamily(
            "hashnews_memory_bytes", "Memory in use, shared pages included.", labels=["process"]
        )
        for name, pid in (("service", os.getpid()), *self._processes()):
            if (resident := resident_bytes(pid)) is not None:
                family.add_metric([name], resident)
        yield family


def resident_bytes(pid: int) -> int | None:
    """Memory of a process; None where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGESIZE")
