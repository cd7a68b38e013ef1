"""What the commands print, and progress on standard error: a bar on a terminal, lines in a log."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from hashnews.terminal import one_line, safe

T = TypeVar("T")
LOG_EVERY = 10.0  # seconds between the lines of a log


def say(
    text: object = "", *, err: bool = False, nl: bool = True, over: bool = False, **style: Any
) -> None:
    """Print text as a line, over the line before, or without its end.

    Whatever it quotes, it does nothing to the terminal but to stand there.
    """
    styled = click.style(safe(str(text)), **style) if style else safe(str(text))
    click.echo("\r\x1b[K" * over + styled, err=err, nl=nl and not over)


@contextmanager
def loading() -> Iterator[None]:
    """While models are read nothing is garbage, and looking for it takes a fifth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def track(items: Iterable[T], label: str) -> Iterator[T]:
    """Pass items on and show how many went by, how fast, and, where they know it, how far it is.

    What knows it has an attribute `done` from 0 to 1, as a `RecordFile` has.
    """
    show = _bar if sys.stderr.isatty() else _lines
    return show(items, one_line(label, 80), lambda: float(getattr(items, "done", 0.0)))


def _bar(items: Iterable[T], label: str, done: Callable[[], float]) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),  # it may be the name of a file
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
            say(f"{label}: {count:,}{share}, {count / (now - start):,.0f}/s", err=True)
