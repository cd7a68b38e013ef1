"""Commands of the memory of posts: posts add, posts days, posts stats."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hashnews.cli.console import track
from hashnews.cli.options import json_option, news_option, on_error_option

if TYPE_CHECKING:
    from hashnews.files import OnError, Skipped
    from hashnews.records import Post, PreparedPost

    AnyPost = Post | PreparedPost


@click.group()
def posts() -> None:
    """The memory: earlier posts, whose hashtags are suggested again where they fit."""


@posts.command()
@click.argument("files", nargs=-1, required=True)
@news_option
@click.option("--collection", help="Only posts of this collection.")
@click.option("--keep", type=click.IntRange(1), default=400, show_default=True, metavar="DAYS",
              help="Forget posts that are older than the newest by more than that.")  # fmt: skip
@on_error_option
@json_option
def add(
    files: tuple[str, ...],
    path: str,
    collection: str | None,
    keep: int,
    on_error: OnError,
    as_json: bool,
) -> None:
    """Remember posts with hashtags (JSON lines, CSV or Parquet; `-`: JSON lines from stdin).

    They may be raw or prepared. Running it twice changes nothing; suggestions see them at once.
    """
    from hashnews.files import PostFile, Skipped
    from hashnews.news.store import NewsStore
    from hashnews.posts.table import add_posts
    from hashnews.prepare.datasets import of_collection, rules_for
    from hashnews.prepare.preparer import Preparer
    from hashnews.text.entities import load_finder
    from hashnews.text.segment import shipped_segmenter

    skipped = Skipped()
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    added = known = forgotten = 0
    with NewsStore(path, "write") as store:
        for file in files:
            read = track(PostFile(file, on_error, skipped), f"posts {file}")
            dated = _dated(of_collection(read, collection), file, on_error, skipped)
            known_posts = preparer.remember(dated, rules_for(file))
            done = add_posts(store, known_posts, timedelta(days=keep))
            added += done.added
            known += done.known
            forgotten += done.forgotten
    result = {"added": added, "known": known, "forgotten": forgotten, "skipped": skipped.count}
    if as_json:
        click.echo(json.dumps(result))
    else:
        click.echo(", ".join(f"{count:,} {what}" for what, count in result.items()))


@posts.command()
@click.argument("files", nargs=-1, required=True)
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, metavar="DIR",
              help="A new folder.")  # fmt: skip
@json_option
def days(files: tuple[str, ...], out: Path, as_json: bool) -> None:
    """Cut posts, raw or prepared, into files by day, as --engine ray reads them."""
    from hashnews.scale.cut import cut_days

    count = cut_days(files, out)
    click.echo(json.dumps({"posts": count}) if as_json else f"{count:,} posts to {out}")


def _dated(
    posts: Iterable[AnyPost], file: str, on_error: OnError, aside: Skipped
) -> Iterator[AnyPost]:
    """Posts that have a time; without one nobody knows whose past they are."""
    from hashnews.errors import DataError

    for post in posts:
        if post.created_at is not None:
            yield post
            continue
        problem = DataError(f"post {post.id} has no created_at: add it, or --on-error skip", file)
        if on_error == "stop":
            raise problem
        aside.add(problem, post.to_json())


@posts.command()
@news_option
@json_option
def stats(path: str, as_json: bool) -> None:
    """Show how many posts are remembered, of how many authors, and from when to when."""
    from hashnews.news.store import NewsStore
    from hashnews.posts.table import count_posts

    with NewsStore(path) as store:
        counts = count_posts(store)
    if as_json:
        click.echo(json.dumps(counts))
    else:
        for name, value in counts.items():
            click.echo(f"{name.replace('_', ' '):10} {value}")
