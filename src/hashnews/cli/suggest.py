"""`hashnews suggest`: hashtags for a post, and why."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hashnews.cli.console import track
from hashnews.cli.options import as_moment, engine_for, engine_options, json_option

if TYPE_CHECKING:
    from hashnews.records import Answer, Post, Reason

TOGETHER = 32  # posts read from a pipe at a time


@click.command()
@click.argument("text")
@click.option("--at", callback=as_moment, metavar="TIME", help="When it is posted; default: now.")
@click.option("--user", help="Who posts it: habits count.")
@click.option("--news", type=click.Path(path_type=Path), metavar="DB",
              help="News and memory; default: news.db, or else the shipped sample.")  # fmt: skip
@click.option("--model", type=click.Path(path_type=Path), metavar="DIR",
              help="Instead of the shipped model.")  # fmt: skip
@click.option("-n", "most", type=click.IntRange(1, 50), default=10, show_default=True,
              help="Hashtags at most.")  # fmt: skip
@click.option("--min-score", type=click.FloatRange(0, 1), default=0.01, show_default=True,
              help="Hide suggestions whose probability is below this value.")  # fmt: skip
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="DIR",
              help="Where the answers go, with --engine ray.")  # fmt: skip
@engine_options
@json_option
def suggest(
    text: str,
    at: datetime | None,
    user: str | None,
    news: Path | None,
    model: Path | None,
    most: int,
    min_score: float,
    out: Path | None,
    engine: str,
    address: str | None,
    as_json: bool,
) -> None:
    """Suggest hashtags for TEXT, or for each line of standard input (`-`): a text or a JSON post.

    Of suggestions with a score of 0.3 about 30 % are used. With --engine ray TEXT is a folder of
    posts by day.
    """
    if engine == "ray":
        if out is None or news is None or at or user:
            raise click.UsageError("--engine ray takes a folder, --news and -o, no --at or --user")
        from hashnews.scale.steps import Suggest, suggest_days

        step = Suggest.of(news, model, most, min_score)
        with engine_for(engine, address) as run:
            done = suggest_days(step, Path(text), out, run, lambda files: track(files, "suggest"))
        click.echo(json.dumps(done.as_dict()) if as_json else f"{done}, see {out}")
        return
    if out is not None:
        raise click.UsageError("-o is of --engine ray; here the answers go to standard output")
    from hashnews.suggest.pipeline import HashNews

    if news is None and Path("news.db").exists():
        news = Path("news.db")
    if news is None:
        click.echo("Without --news: the shipped sample, 2020-05-20 to 2020-06-08.", err=True)
    with HashNews.load(news, model) as hashnews:
        for posts in _posts(text, at, user):
            for answer in hashnews.suggest_all(posts, most, min_score):
                click.echo(answer.to_json() if as_json else "\n".join(_lines(answer)))


def _posts(text: str, at: datetime | None, user: str | None) -> Iterator[list[Post]]:
    given = {"created_at": at, "user": user}
    given = {name: value for name, value in given.items() if value is not None}
    if text != "-":
        yield [_post({"text": text, **given}, 0)]
        return
    lines = ((n, line) for n, line in enumerate(sys.stdin, 1) if line.strip())
    while batch := list(islice(lines, TOGETHER)):
        yield [_post(_read(line, n) | given, n) for n, line in batch]


def _read(line: str, number: int) -> dict[str, object]:
    from hashnews.errors import DataError

    if not line.lstrip().startswith("{"):
        return {"text": line.rstrip("\n")}
    try:
        return dict(json.loads(line))
    except ValueError as error:
        raise DataError(f"not valid JSON ({error})", "-", number) from None


def _post(fields: dict[str, object], number: int) -> Post:
    from pydantic import ValidationError

    from hashnews.config import explain
    from hashnews.errors import DataError
    from hashnews.records import Post

    try:
        return Post.model_validate(fields)
    except ValidationError as error:
        raise DataError(explain(error), "-", number) from None


def _lines(answer: Answer) -> Iterator[str]:
    titles = {article.id: article.title for article in answer.articles}
    for suggestion in answer.suggestions:
        reasons = "; ".join(because(reason, titles) for reason in suggestion.because)
        yield f"{suggestion.score:5.2f}  {suggestion.hashtag}  ({reasons})"
    if not answer.suggestions:
        yield "no hashtag"


def because(reason: Reason, titles: dict[str, str]) -> str:
    """A reason in a few words."""
    match reason.source:
        case "post":
            return f"in the post: {reason.entity}" if reason.entity else "in the post"
        case "news" if reason.articles:
            title = titles.get(reason.articles[0], "")
            on = f" on {reason.entity}" if reason.entity else ""
            on += f" ({reason.rise:.1f} on the rise)" if (reason.rise or 0) > 1 else ""
            return f"{_many(len(reason.articles), 'article')}{on} “{title}”"
        case "news":
            return f"the news says {', '.join(reason.words)}"
        case "memory":
            what = "similar earlier post" if reason.posts else "earlier use"
            return _many(reason.count or 0, what)
        case "author":
            return f"used by the author {_many(reason.count or 0, 'time')}"
        case "rising":
            return f"{_many(reason.count or 0, 'use')} in a week"
        case "together":
            return "used together"
        case "season":
            return f"{_many(reason.count or 0, 'author')} around this time in {reason.day:%Y}"
    return "generated"


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
