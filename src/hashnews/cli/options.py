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


FINDERS = click.Choice(["fast", "tagger"])
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
news_option = click.option("--news", "path", default="news.db", show_default=True, metavar="DB",
                           help="The store of news and posts.")  # fmt: skip
finder_option = click.option("--finder", type=FINDERS, default="fast", show_default=True,
                             help="How named entities are found.")  # fmt: skip
store_finder_option = click.option("--finder", type=FINDERS, help="How named entities are found.  "
                                   "[default: as in the store; fast for a new one]")  # fmt: skip
on_error_option = click.option("--on-error", type=click.Choice(["stop", "skip"]), default="stop",
                               show_default=True, help="What to do with a line that cannot be read:"
                               " stop, or skip it and note it in a file.")  # fmt: skip


def period_options(command: F) -> F:
    """`--since` and `--before`."""
    since = click.option("--since", callback=as_moment, metavar="TIME",
                         help="Only news published at this time or later.")  # fmt: skip
    before = click.option("--before", callback=as_moment, metavar="TIME",
                          help="Only news published before this time.")  # fmt: skip
    return since(before(command))


def engine_options(command: F) -> F:
    """`--engine` and `--address`, for every step that a cluster can do."""
    engine = click.option("--engine", type=click.Choice(["local", "ray"]), default="local",
                          show_default=True, help="Where to run. `ray` reads and writes folders "
                          "with one folder per day.")  # fmt: skip
    address = click.option("--address", metavar="HOST:PORT",
                           help="The Ray cluster; `auto` is the one on this machine.")  # fmt: skip
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
