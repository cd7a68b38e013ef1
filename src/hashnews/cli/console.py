"""Progress on standard error: a bar on a terminal, lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import click

T = TypeVar("T")
LOG_EVERY = 10.0  # seconds between the lines of a log


def track(items: Iterable[T], label: str) -> Iterator[T]:
    """Pass items on and show how many went by, how fast, and, where they know it, how far it is.

    What knows it has an attribute `done` from 0 to 1, as a `RecordFile` has.
    """
    show = _bar if sys.stderr.isatty() else _lines
    return show(items, label, lambda: float(getattr(items, "done", 0.0)))


def _bar(items: Iterable[T], label: str, done: Callable[[], float]) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]:,}  {task.fields[rate]:,.0f}/s"),
        TimeRemainingColumn(),
    )
    start, shown, count = time.monotonic(), 0.0, 0
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=1.0, count=0, rate=0.0)
        for item in items:
            yield item
            count += 1
            now = time.monotonic()
            if now - shown > 0.1:
                shown = now
                rate = count / max(now - start, 1e-9)
                progress.update(task, completed=done(), count=count, rate=rate)


def _lines(items: Iterable[T], label: str, done: Callable[[], float]) -> Iterator[T]:
    start = shown = time.monotonic()
    for count, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if now - shown > LOG_EVERY:
            shown = now
            share = f", {done():.0%}" if done() else ""
            click.echo(f"{label}: {count:,}{share}, {count / (now - start):,.0f}/s", err=True)
