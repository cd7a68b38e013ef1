"""`hashnews suggest`: hashtags for a post, and why."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hashnews.cli.console import loading, say, track
from hashnews.cli.networks import NETWORKS, ready_to_post
from hashnews.cli.options import as_moment, engine_for, engine_options, json_option, own_store
from hashnews.cli.settings import LANGUAGE_MODEL, language_model, settings
from hashnews.terminal import one_line

if TYPE_CHECKING:
    from hashnews.records import Answer, Post, PreparedPost

MOST = 5
LONGEST_PATH = 1000  # characters; what is longer is a text
POST_FILES = (".jsonl", ".csv", ".parquet", ".jsonl.gz", ".csv.gz", ".txt")
TOGETHER = 32  # posts that are answered at a time


@click.command()
@click.argument("words", metavar="TEXT|-|POSTS", nargs=-1)
@click.option("--at", callback=as_moment, metavar="TIME",
              help="When it is posted: 2026-11-16T10:00:00Z, or \"2026-11-16 10:00\" in your local "
                   "time.  [default: now]")  # fmt: skip
@click.option("--user", help="Who posts it: habits count.")
@settings("news", "model", *LANGUAGE_MODEL)
@click.option("-n", "most", type=click.IntRange(1, 50),
              help="Hashtags at most.  [default: 5, or as is usual --for a network]")  # fmt: skip
@click.option("--for", "network", type=click.Choice(list(NETWORKS)),
              help="Also print the post, ready to be pasted there: with as many hashtags as are "
                   "usual and fit in.")  # fmt: skip
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    metavar="P",
    default=0.0,
    help="Hide suggestions whose probability is below P.",
)
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="FILE",
              help="Where the answers go as JSON lines; with --engine ray a folder.")  # fmt: skip
@engine_options
@json_option
def suggest(
    words: tuple[str, ...],
    at: datetime | None,
    user: str | None,
    news: Path | None,
    model: Path | None,
    most: int | None,
    network: str | None,
    min_score: float,
    out: Path | None,
    engine: str,
    address: str | None,
    as_json: bool,
    **llm: Any,
) -> None:
    """Suggest hashtags for a text, for lines of standard input (`-`) or for files of posts.

    A text needs no quotes. A line of standard input is a text or a post as JSON. A file holds
    posts, raw or prepared, as JSON lines, CSV or Parquet; the trailing hashtags of a prepared post
    count as unknown. The percentage says how surely a hashtag is about the post. JSON also has its
    score: of suggestions with a score of 0.3 about 30 % are used. With --engine ray the argument is
    a folder of posts by day.
    """
    if not words:
        raise click.UsageError('what does the post say? hashnews suggest "my sourdough died"')
    if network and (out or as_json):
        raise click.UsageError("--for is for people: leave out -o and --json")
    most = most or (NETWORKS[network].hashtags if network else MOST)
    if engine == "ray":
        if out is None or news is None or at or user or llm["llm"] or len(words) > 1:
            need = "--engine ray takes a folder, --news and -o, no --at, --user or --llm"
            raise click.UsageError(need)
        from hashnews.scale.steps import Suggest, suggest_days

        step = Suggest.of(news, model, most, min_score)
        with engine_for(engine, address) as run:
            done = suggest_days(
                step, Path(words[0]), out, run, lambda files: track(files, "suggest")
            )
        say(json.dumps(done.as_dict()) if as_json else f"{done}, see {out}")
        return
    from hashnews.files import new_file

    posts = _posts(words, at, user)
    news = own_store(click.get_current_context(), None, news)
    with loading():
        from hashnews.suggest.pipeline import HashNews

        opened = HashNews(news, model, language_model(**llm))
    several, count = words == ("-",) or _are_files(words), 0
    with opened as hashnews, new_file(out) if out else nullcontext() as stream:
        typed = words == ("-",) and sys.stdin.isatty()
        for batch in _batches(posts, 1 if typed else TOGETHER):
            for answer in hashnews.suggest_all(batch, most, min_score):
                if stream is not None:
                    stream.write(answer.to_json() + "\n")
                elif as_json:
                    say(answer.to_json())
                else:
                    _tell(answer, several, network)
                count += 1
    if out:
        say(f"{count:,} posts, see {out}", err=True)
    elif not count:
        say("no posts there: nothing to suggest", err=True)


def _batches(
    posts: Iterable[Post | PreparedPost], size: int
) -> Iterator[list[Post | PreparedPost]]:
    stream = iter(posts)
    while batch := list(islice(stream, size)):
        yield batch


def _are_files(words: tuple[str, ...]) -> bool:
    return all(len(word) < LONGEST_PATH and Path(word).is_file() for word in words)


def _posts(
    words: tuple[str, ...], at: datetime | None, user: str | None
) -> Iterator[Post | PreparedPost]:
    """The posts that are meant; what cannot be meant is told before anything is loaded."""
    from hashnews.errors import DataError

    given = {"created_at": at, "user": user}
    given = {name: value for name, value in given.items() if value is not None}
    if words == ("-",):
        return _from_lines(given)
    if _are_files(words):
        if texts := [word for word in words if word.endswith(".txt")]:
            raise DataError(f"a post a line is read so: hashnews suggest - < {texts[0]}", texts[0])
        return _from_files(words, given)
    text = " ".join(words)
    if not text.strip():
        raise DataError("the text is empty: write what the post says, or - to read lines")
    if len(words) == 1 and Path(text[:LONGEST_PATH]).is_dir():
        raise DataError("this is a folder: name a file of posts (--engine ray takes folders)", text)
    if len(words) == 1 and text.endswith(POST_FILES):
        raise DataError("there is no such file of posts", text)
    return iter([_post({"text": text, **given}, 0)])


def _from_lines(given: dict[str, Any]) -> Iterator[Post | PreparedPost]:
    if sys.stdin.isatty():
        say("Type a post a line; Ctrl-D ends.", err=True)
    for number, line in enumerate(sys.stdin, 1):
        if line.strip():
            yield _post(_read(line, number) | given, number)


def _from_files(files: tuple[str, ...], given: dict[str, Any]) -> Iterator[Post | PreparedPost]:
    from hashnews.files import PostFile

    for file in files:
        for post in track(PostFile(file), f"suggest {file}"):
            yield post.model_copy(update=given)


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


def _tell(answer: Answer, several: bool, network: str | None) -> None:
    """An answer for people; where there are several, each under its post."""
    if several:
        say(one_line(answer.post.text, 100), bold=True)
    for suggestion in answer.suggestions:
        reasons = "; ".join(reason.text for reason in suggestion.because)
        say(f"{suggestion.on_topic:4.0%}  ", nl=False, dim=True)
        say(one_line(suggestion.hashtag), nl=False, fg="green", bold=True)
        say(f"  ({one_line(reasons)})")
    if answer.note:
        say(answer.note)
    if network:
        hashtags = [suggestion.hashtag for suggestion in answer.suggestions]
        say(f"\n{ready_to_post(answer.post.text, hashtags, network)}")
    if several:
        say()
