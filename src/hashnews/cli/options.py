"""Options that mean the same in every command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import click

from hashnews.cli.console import say

F = TypeVar("F", bound=Callable[..., Any])
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
STORE = "news.db"
LOCAL_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d)?", re.ASCII)


class Commands(click.Group):
    """A group whose commands are found by nearly their names."""

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was named; of one that is not there, what is meant."""
        name = arguments[0]
        if self.get_command(context, name) is None and name[:1] not in ("-", ""):
            path, is_first = context.command_path, context.parent is None
            known = [*self.list_commands(context), "--help", *["--version"] * is_first]
            if close := get_close_matches(name.lower(), known, 2, 0.6):
                meant = "did you mean " + " or ".join(f"`{path} {one}`?" for one in close)
            elif is_first and (" " in name or len(arguments) > 1):
                meant = f'for hashtags: {path} suggest "{" ".join(arguments)[:60]}"'
            else:
                meant = f"`{path} --help` lists them"
            raise click.UsageError(f"there is no command {name!r}; {meant}", context)
        return super().resolve_command(context, arguments)


def as_moment(_: Any, __: Any, value: str | None) -> datetime | None:
    """Read a time, which without a zone is a local one, or a day, which counts as its start."""
    from hashnews.records import parse_time

    if value is None:
        return None
    try:
        if LOCAL_TIME.fullmatch(value.strip()):
            return parse_time(datetime.fromisoformat(value.strip()).astimezone(), bare_day="utc")
        return parse_time(value, bare_day="utc")
    except (ValueError, OverflowError, OSError) as error:
        why = "" if "is not a time" in str(error) else f" ({error})"
        raise click.BadParameter(
            f'{value!r} is not a time{why}: write 2026-11-16, "2026-11-16 10:00" (your local '
            "time) or 2026-11-16T10:00:00Z"
        ) from None


def as_seconds(_: Any, __: Any, value: str | None) -> float | None:
    """Read a number of seconds, minutes, hours or days."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d{1,6})([smhd])", value)
    if not found:
        raise click.BadParameter(f"{value!r} is not a duration: write 90s, 15m, 2h or 1d")
    return float(found[1]) * UNITS[found[2]]


def as_tokens(_: Any, __: Any, path: Path | None) -> dict[str, str]:
    """Access tokens by host."""
    from hashnews.errors import DataError

    tokens = {}
    lines = path.read_text("utf-8", "replace").splitlines() if path else []
    for number, line in enumerate(lines, 1):
        match line.split():
            case [host, token] if token.isascii() and token.isprintable():
                tokens[host.lower()] = token
            case []:
                pass
            case _:
                raise DataError("should be a host, a space and its token", path, number)
    return tokens


class FinderName(click.Choice[str]):
    """The finders that ship, and those of plug-ins, which are looked for when one is named."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The name, if there is such a finder."""
        from hashnews.text.entities import finder_names

        is_known = value in self.choices or value in finder_names()
        return value if is_known else super().convert(value, param, ctx)


def are_there(_: Any, __: Any, files: tuple[str, ...]) -> tuple[str, ...]:
    """Files to read: that one is missing is said before a store is made for them."""
    from hashnews.errors import DataError

    for file in files:
        if file.startswith(("http://", "https://")):
            told = "no file but an address: hashnews feeds add takes sites, posts follow networks"
            raise DataError(told, file)
        if file != "-" and not Path(file).exists():
            raise DataError("there is no such file", file)
    return files


FINDERS = FinderName(["fast", "tagger"])
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
news_option = click.option("--news", "path", default=STORE, show_default=True, metavar="DB",
                           envvar="HASHNEWS_NEWS",
                           help="The store of news and posts; made if there is none.")  # fmt: skip


def own_store(context: click.Context, _: Any, value: Path | None) -> Path | None:
    """The store that was named, or else the one in this folder; None is the shipped sample."""
    if value is not None or Path(STORE).exists():
        return value or Path(STORE)
    if not context.resilient_parsing:  # as the completion of a shell is
        told = "No news.db in this folder: this is the shipped sample, 20 May to 8 June 2020."
        say(told, err=True)
    return None


def any_store(context: click.Context, option: Any, value: Path | None) -> str:
    """The path of the store that was named, of the one in this folder, or of the sample's."""
    store = own_store(context, option, value)
    if store is not None or context.resilient_parsing:
        return str(store or STORE)
    from hashnews.posts.sample_store import sample_store

    return str(sample_store())


def _store_option(name: str, callback: Callable[..., Any]) -> Callable[[F], F]:
    return click.option("--news", name, type=click.Path(path_type=Path), metavar="DB",
                        envvar="HASHNEWS_NEWS", callback=callback,
                        help="The store of news and posts.  "
                             "[default: news.db, or else the shipped sample]")  # fmt: skip


own_store_option = _store_option("news", own_store)
any_store_option = _store_option("path", any_store)
finder_option = click.option("--finder", type=FINDERS, default="fast", show_default=True,
                             help="How named entities are found.")  # fmt: skip
store_finder_option = click.option("--finder", type=FINDERS, help="How named entities are found.  "
                                   "[default: as in the store; fast for a new one]")  # fmt: skip
private_option = click.option("--allow-private", is_flag=True,
                              help="Allow addresses in your own network.")  # fmt: skip
tokens_option = click.option(
    "--tokens", type=click.Path(exists=True, dir_okay=False, path_type=Path), callback=as_tokens,
    help="A file of access tokens of networks, one per line: HOST TOKEN.",
)  # fmt: skip
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
