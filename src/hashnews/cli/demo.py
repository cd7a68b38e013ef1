"""`hashnews demo`: the shipped sample, end to end."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from hashnews.cli.console import loading, say

if TYPE_CHECKING:
    from hashnews.records import Answer, PreparedPost

SHOWN, EXPLAINED = 5, 3
NEXT = """
What next{first}:
  hashnews suggest "my sourdough starter died"    a post of yours
  hashnews serve                                  the page{page}
  hashnews feeds add nasa.gov                     a site you read, for today's news
  hashnews news fetch                             fetches it
  hashnews posts add archive.zip --user ME        what you downloaded of yourself
docs/tutorial.md walks through it."""


@click.command()
@click.option("-n", "--posts", type=click.IntRange(1), default=12, show_default=True,
              help="How many posts to show.")  # fmt: skip
def demo(posts: int) -> None:
    """Suggest hashtags for posts of the shipped sample, beside those their authors used, and why.

    Each post is answered from the news published and the posts written before it. Of all posts of
    the sample those are shown whose suggestions are surest to fit; their authors' choice has no say
    in it.
    """
    from hashnews.errors import EXTRAS
    from hashnews.files import RecordFile
    from hashnews.prepare.preparer import Preparer
    from hashnews.records import Post
    from hashnews.sample import sample_file
    from hashnews.suggest.pipeline import HashNews
    from hashnews.text.entities import load_finder
    from hashnews.text.segment import shipped_segmenter

    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    with sample_file("posts.jsonl") as path:
        raw = {post.id: post for post in RecordFile(path, Post)}
    prepared = list(preparer.prepare(raw.values()))
    say("Reading the sample.", err=True)
    with loading():
        opened = HashNews()
    with opened as hashnews:
        answers = hashnews.suggest_all(prepared)
        articles, remembered = len(hashnews.store), len(hashnews.memory)
    surest = sorted(range(len(prepared)), key=lambda at: -_sureness(answers[at]))[:posts]
    hit = sum(_show(prepared[at], raw[prepared[at].id].text, answers[at]) for at in sorted(surest))
    say(
        f"Of {len(prepared)} posts with hashtags, the {len(surest)} whose suggestions are surest. "
        f"In {hit} of them a hashtag their author used is among the first {SHOWN}."
    )
    say(
        f"{articles} articles, {remembered} of {len(raw)} posts remembered (a retweet is not); "
        "each post saw only those before it."
    )
    say("The model learnt from posts up to May 2023: this shows it, no measure of it.")
    on_path = shutil.which("hashnews") is not None
    enter = f" (first: source {os.path.relpath(sys.prefix)}/bin/activate)"
    page = "" if all(map(find_spec, EXTRAS["serve"])) else " (needs: pip install 'hashnews[serve]')"
    say(NEXT.format(first="" if on_path else enter, page=page))


def _sureness(answer: Answer) -> float:
    """How sure it is that the first suggestions fit: the mean, missing ones count as nothing."""
    return sum(suggestion.on_topic for suggestion in answer.suggestions[:EXPLAINED]) / EXPLAINED


def _show(post: PreparedPost, text: str, answer: Answer) -> bool:
    """Print one post; whether a hashtag its author used is among the first suggestions."""
    used = {tag.key for tag in post.hashtags}
    say(f"{post.created_at:%Y-%m-%d %H:%M}  {post.user}", bold=True)
    say(textwrap.indent(text, "  "))
    _say("used", " ".join(tag.written for tag in post.hashtags))
    first = answer.suggestions[:SHOWN]
    marked = [f"{s.hashtag}{'*' if ''.join(s.words) in used else ''}" for s in first]
    _say("suggested", "  ".join(marked) or "nothing fits")
    for suggestion in first[:EXPLAINED]:
        reasons = "; ".join(reason.text for reason in suggestion.because[:3])
        _say("because", f"{suggestion.hashtag}: {reasons}")
    say()
    return any("".join(suggestion.words) in used for suggestion in first)


def _say(name: str, told: str) -> None:
    say(f"  {name:10}", fg="cyan", nl=False)
    say(told)
