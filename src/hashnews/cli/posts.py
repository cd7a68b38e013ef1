"""Commands of the memory of posts: add, days, stats, export, and those that follow networks."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hashnews.cli import follow as networks
from hashnews.cli.console import say, track
from hashnews.cli.options import (
    Commands,
    any_store_option,
    are_there,
    json_option,
    news_option,
    on_error_option,
)

if TYPE_CHECKING:
    from hashnews.files import OnError


def _as_columns(_: Any, __: Any, value: str | None) -> dict[str, str] | None:
    if value is None:
        return None
    from hashnews.posts.archives.columns import read_columns

    try:
        return read_columns(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.group(cls=Commands)
def posts() -> None:
    """The memory: earlier posts, whose hashtags are suggested again where they fit."""


@posts.command()
@click.argument("files", nargs=-1, required=True, callback=are_there)
@news_option
@click.option("--user", metavar="NAME",
              help="Whose posts they are.  [default: as the file says]")  # fmt: skip
@click.option("--replies", is_flag=True, help="Of an archive, take replies, too.")
@click.option("--columns", metavar="FIELD=COLUMN,...", callback=_as_columns,
              help="The columns of another tool's file: text, created_at, id, user.")  # fmt: skip
@click.option("--collection", help="Only posts of this collection.")
@click.option("--keep", type=click.IntRange(1), default=400, show_default=True, metavar="DAYS",
              help="Forget posts that are older than the newest, or than today where that is "
              "earlier, by more than that. Your own stay: of archives and of --user.")  # fmt: skip
@on_error_option
@json_option
def add(
    files: tuple[str, ...],
    path: str,
    user: str | None,
    replies: bool,
    columns: dict[str, str] | None,
    collection: str | None,
    keep: int,
    on_error: OnError,
    as_json: bool,
) -> None:
    """Remember posts with hashtags (JSON lines, CSV or Parquet; `-`: JSON lines from stdin).

    They may be raw or prepared, or what you downloaded of yourself: Mastodon's outbox.json, X's
    tweets.js, Bluesky's repo.car, the JSON of Threads and Instagram, or the .zip or .tar.gz around
    them. Running it twice changes nothing; suggestions see them at once. What is skipped is listed
    in a file next to the store (.skipped.jsonl).
    """
    from hashnews.files import Skipped
    from hashnews.news.store import NewsStore
    from hashnews.posts.adding import AddSettings, add_file
    from hashnews.prepare.preparer import Preparer
    from hashnews.text.entities import load_finder
    from hashnews.text.segment import shipped_segmenter

    settings = AddSettings(user, replies, columns, collection, timedelta(days=keep), on_error)
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    result = dict.fromkeys(("added", "known", "forgotten", "skipped"), 0)
    skipped = Skipped(Path(path).with_suffix(".skipped.jsonl"))
    with NewsStore(path, "write") as store:
        for file in files:
            watch = partial(track, label=f"posts {file}")
            done = add_file(store, preparer, file, settings, watch=watch, skipped=skipped)
            if not done.is_named:
                say(f"{file} does not say whose posts these are: add --user", err=True)
            for name in result:
                result[name] += getattr(done, name)
    if as_json:
        say(json.dumps(result))
    else:
        say(", ".join(f"{count:,} {what}" for what, count in result.items()))
    if result["forgotten"]:
        say(f"forgotten: what is more than {keep:,} days older than the newest; see --keep",
            err=True)  # fmt: skip
    if skipped.count:
        say(f"see {skipped.path}", err=True)


@posts.command()
@click.argument("files", nargs=-1, required=True)
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, metavar="DIR",
              help="A new folder.")  # fmt: skip
@json_option
def days(files: tuple[str, ...], out: Path, as_json: bool) -> None:
    """Cut posts, raw or prepared, into files by day, as --engine ray reads them."""
    from hashnews.scale.cut import cut_days

    count = cut_days(files, out)
    say(json.dumps({"posts": count}) if as_json else f"{count:,} posts to {out}")


@posts.command()
@any_store_option
@json_option
def stats(path: str, as_json: bool) -> None:
    """Show how many posts are remembered, of how many authors, and from when to when."""
    from hashnews.news.store import NewsStore
    from hashnews.posts.table import count_posts

    with NewsStore(path) as store:
        counts = count_posts(store)
    if as_json:
        say(json.dumps(counts))
    else:
        for name, value in counts.items():
            say(f"{name.replace('_', ' '):10} {value}")


@posts.command()
@click.option("-o", "--out", required=True, help="File to write: .jsonl, .jsonl.gz or `-`.")
@news_option
def export(out: str, path: str) -> None:
    """Write the posts that are remembered as prepared posts, for `reproduce` and `posts add`."""
    from hashnews.files import write_records
    from hashnews.news.store import NewsStore
    from hashnews.posts.table import prepared_posts

    with NewsStore(path) as store:
        count = write_records(out, track(prepared_posts(store), "export"))
    say(f"{count:,} posts to {out}", err=True)


for command in (networks.follow, networks.sources, networks.pause, networks.forget):
    posts.add_command(command)
