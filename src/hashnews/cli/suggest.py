"""`hashnews suggest`: hashtags for a post, and why."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from hashnews.cli.console import track
from hashnews.cli.options import as_moment, engine_for, engine_options, json_option

if TYPE_CHECKING:
    from hashnews.records import Answer, Post, PreparedPost

LEAST_SHOWN = 0.01
TOGETHER = 32  # posts that are answered at a time


@click.command()
@click.argument("text", metavar="TEXT|-|POSTS")
@click.option("--at", callback=as_moment, metavar="TIME", help="When it is posted; default: now.")
@click.option("--user", help="Who posts it: habits count.")
@click.option("--news", type=click.Path(path_type=Path), metavar="DB",
              help="News and memory; default: news.db, or else the shipped sample.")  # fmt: skip
@click.option("--model", type=click.Path(path_type=Path), metavar="DIR",
              help="A suggester or a generator instead of the shipped model.")  # fmt: skip
@click.option("-n", "most", type=click.IntRange(1, 50), default=5, show_default=True,
              help="Hashtags at most.")  # fmt: skip
@click.option("--min-score", type=click.FloatRange(0, 1), metavar="P",
              help="Hide suggestions whose probability is below P; default: 0.01 for people, 0 for "
                   "-o and --json.")  # fmt: skip
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="FILE",
              help="Where the answers go as JSON lines; with --engine ray a folder.")  # fmt: skip
@engine_options
@json_option
def suggest(
    text: str,
    at: datetime | None,
    user: str | None,
    news: Path | None,
    model: Path | None,
    most: int,
    min_score: float | None,
    out: Path | None,
    engine: str,
    address: str | None,
    as_json: bool,
) -> None:
    """Suggest hashtags for a text, for lines of standard input (`-`) or for a file of posts.

    A line of standard input is a text or a post as JSON. A file holds posts, raw or prepared, as
    JSON lines, CSV or Parquet; the trailing hashtags of a prepared post count as unknown. Of
    suggestions with a score of 0.3 about 30 % are used. With --engine ray the argument is a folder
    of posts by day.
    """
    if min_score is None:
        min_score = 0.0 if out or as_json else LEAST_SHOWN
    if engine == "ray":
        if out is None or news is None or at or user:
            raise click.UsageError("--engine ray takes a folder, --news and -o, no --at or --user")
        from hashnews.scale.steps import Suggest, suggest_days

        step = Suggest.of(news, model, most, min_score)
        with engine_for(engine, address) as run:
            done = suggest_days(step, Path(text), out, run, lambda files: track(files, "suggest"))
        click.echo(json.dumps(done.as_dict()) if as_json else f"{done}, see {out}")
        return
    from hashnews.files import new_file
    from hashnews.suggest.pipeline import HashNews

    if news is None and Path("news.db").exists():
        news = Path("news.db")
    if news is None:
        click.echo("Without --news: the shipped sample, 2020-05-20 to 2020-06-08.", err=True)
    count = 0
    with HashNews(news, model) as hashnews, new_file(out) if out else nullcontext() as stream:
        for posts in _batches(_posts(text, at, user)):
            for answer in hashnews.suggest_all(posts, most, min_score):
                _show(answer, stream, as_json)
                count += 1
    if out:
        click.echo(f"{count:,} posts, see {out}", err=True)


def _batches(posts: Iterable[Post | PreparedPost]) -> Iterator[list[Post | PreparedPost]]:
    stream = iter(posts)
    while batch := list(islice(stream, TOGETHER)):
        yield batch


def _posts(text: str, at: datetime | None, user: str | None) -> Iterator[Post | PreparedPost]:
    from hashnews.files import PostFile

    given = {"created_at": at, "user": user}
    given = {name: value for name, value in given.items() if value is not None}
    if text == "-":
        for number, line in enumerate(sys.stdin, 1):
            if line.strip():
                yield _post(_read(line, number) | given, number)
    elif Path(text).is_file():
        for post in track(PostFile(text), f"suggest {text}"):
            yield post.model_copy(update=given)
    else:
        yield _post({"text": text, **given}, 0)


def _read(line: str, number: int) -> dict[str, Any]:
    from hashnews.errors import DataError

    if not line.lstrip().startswith("{"):
        return {"text": line.rstrip("\n")}
    try:
        return dict(json.loads(line))
    except ValueError as error:
        raise DataError(f"not valid JSON ({error})", "-", number) from None


def _post(fields: dict[str, Any], number: int) -> Post | PreparedPost:
    from pydantic import ValidationError

    from hashnews.config import explain
    from hashnews.errors import DataError
    from hashnews.records import post_kind

    try:
        return post_kind(fields).model_validate(fields)
    except ValidationError as error:
        raise DataError(explain(error), "-", number) from None


def _show(answer: Answer, out: IO[str] | None, as_json: bool) -> None:
    if out is not None:
        out.write(answer.to_json() + "\n")
    elif as_json:
        click.echo(answer.to_json())
    else:
        for suggestion in answer.suggestions:
            reasons = "; ".join(reason.text for reason in suggestion.because)
            click.echo(f"{suggestion.score:5.2f}  {suggestion.hashtag}  ({reasons})")
        if answer.note:
            click.echo(answer.note)
