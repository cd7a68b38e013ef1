"""`hashnews evaluate`: how good suggestions are."""

from __future__ import annotations

import json
import math
from pathlib import Path

import click

from hashnews.cli.console import say
from hashnews.cli.options import finder_option, json_option


@click.command()
@click.argument("suggestions", type=click.Path(path_type=Path))
@click.option("--posts", type=click.Path(path_type=Path), required=True,
              help="The prepared posts, those of the training too.")  # fmt: skip
@click.option("--part", type=click.Choice(["train", "validation", "test"]), default="test",
              show_default=True, help="Where posts name their part.")  # fmt: skip
@click.option("--against", type=click.Path(path_type=Path),
              help="Other suggestions for the same posts: is the difference chance?")  # fmt: skip
@click.option("-o", "--out", type=click.Path(path_type=Path),
              help="Also write the scores to this file, as --json prints them.")  # fmt: skip
@finder_option
@json_option
def evaluate(
    suggestions: Path,
    posts: Path,
    part: str,
    against: Path | None,
    out: Path | None,
    finder: str,
    as_json: bool,
) -> None:
    """Judge suggestions by the hashtags people used, as the paper's code does and as is usual.

    A line of SUGGESTIONS holds `post_id` and `suggestions`, each with its `words`, best first, as
    `hashnews suggest -o` writes it.
    """
    from hashnews.files import RecordFile, new_file
    from hashnews.metrics import measure
    from hashnews.records import PreparedPost
    from hashnews.reproduce.bootstrap import compare
    from hashnews.reproduce.suggestions import Judge, read_suggestions
    from hashnews.text.entities import load_finder

    judge = Judge(RecordFile(posts, PreparedPost), load_finder(finder), part)
    measured = measure(judge.judge(read_suggestions(suggestions)))
    scores = {name: None if math.isnan(v) else v for name, v in measured.scores().items()}
    differences = {}
    if against is not None:
        other = measure(judge.judge(read_suggestions(against)))
        differences = compare(measured, other)
    told = {"posts": len(judge.posts), "hashtags": judge.hashtags, "scores": scores}
    if differences:
        told["differences"] = {name: one._asdict() for name, one in differences.items()}
    if out is not None:
        with new_file(out) as stream:
            stream.write(json.dumps(told) + "\n")
    if as_json:
        say(json.dumps(told))
        return
    say(f"{len(judge.posts):,} posts, {judge.hashtags:,} hashtags")
    for name, score in scores.items():
        line = f"{name:24}" + (f"{100 * score:7.2f}" if score is not None else "      –")
        if name in differences:
            one = differences[name]
            line += f"  {100 * one.difference:+7.2f}  p = {one.p:.4f} {one.mark}"
        say(line.rstrip())
