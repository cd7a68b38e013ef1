"""What commands share: progress on standard error, and options that mean the same everywhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
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


def on_error_option(command: F) -> F:
    """`--on-error stop|skip`, the same for every command that reads records."""
    return click.option(
        "--on-error",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="At a line that cannot be read: stop, or set it aside in a side file.",
    )(command)


def json_option(command: F) -> F:
    """`--json`, the same everywhere."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def engine_options(command: F) -> F:
    """`--engine` and `--address`, the same for every step that a cluster can do."""
    engine = click.option(
        "--engine",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="Where: ray reads and writes folders of files by day.",
    )
    address = click.option(
        "--address", metavar="HOST:PORT", help="The Ray cluster (`auto`: this machine's)."
    )
    return engine(address(command))


@contextmanager
def engine_for(engine: str, address: str | None) -> Iterator[Any]:
    """What does jobs: this process, or Ray."""
    from hashnews.scale.engine import on_ray, one_by_one

    if engine == "ray":
        with on_ray(address) as run:
            yield run
    elif address is not None:
        raise click.UsageError("--address is of --engine ray")
    else:
        yield one_by_one
