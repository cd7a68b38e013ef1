"""Options that mean the same in every command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def as_moment(_: Any, __: Any, value: str | None) -> datetime | None:
    """Read a time or a day, which counts as its start."""
    from hashnews.records import parse_time

    try:
        return None if value is None else parse_time(value, bare_day="start")
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def as_seconds(_: Any, __: Any, value: str | None) -> float | None:
    """Read a number of seconds, minutes, hours or days."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d{1,6})([smhd])", value)
    if not found:
        raise click.BadParameter(f"{value!r} is not a duration: write 90s, 15m, 2h or 1d")
    return float(found[1]) * UNITS[found[2]]


def news_option(command: F) -> F:
    """`--news DB`, the same everywhere."""
    return click.option(
        "--news",
        "path",
        default="news.db",
        show_default=True,
        metavar="DB",
        help="The store of news and posts.",
    )(command)


def store_finder_option(command: F) -> F:
    """`--finder`, which a store remembers."""
    return click.option(
        "--finder",
        type=click.Choice(["fast", "tagger"]),
        help="How named entities are found.  [default: as in the store; fast for a new one]",
    )(command)


def finder_option(command: F) -> F:
    """`--finder`, for commands without a store."""
    return click.option(
        "--finder",
        type=click.Choice(["fast", "tagger"]),
        default="fast",
        show_default=True,
        help="How named entities are found.",
    )(command)


def period_options(command: F) -> F:
    """`--since` and `--before`, the same everywhere."""
    since = click.option(
        "--since",
        callback=as_moment,
        metavar="TIME",
        help="Only news published at this time or later.",
    )
    before = click.option(
        "--before", callback=as_moment, metavar="TIME", help="Only news published before this time."
    )
    return since(before(command))


def on_error_option(command: F) -> F:
    """`--on-error stop|skip`, the same for every command that reads records."""
    return click.option(
        "--on-error",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="What to do with a line that cannot be read: stop, or skip it and note it in a file.",
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
        help="Where to run. `ray` reads and writes folders with one folder per day.",
    )
    address = click.option(
        "--address",
        metavar="HOST:PORT",
        help="Address of the Ray cluster; `auto` is the one on this machine.",
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
        raise click.UsageError("--address needs --engine ray")
    else:
        yield one_by_one
