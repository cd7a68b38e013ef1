"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
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
        "--news", "path", default="news.db", show_default=True, metavar="DB", help="The news store."
    )(command)


def store_finder_option(command: F) -> F:
    """`--finder`, which a store remembers."""
    return click.option(
        "--finder",
        type=click.Choice(["fast", "tagger"]),
        help="What finds the named entities.  [default: the store's; fast for a new one]",
    )(command)


def period_options(command: F) -> F:
    """`--since` and `--before`, the same everywhere."""
    since = click.option("--since", callback=as_moment, help="Only news from then on.")
    before = click.option("--before", callback=as_moment, help="Only news before then.")
    return since(before(command))
