"""`hashnews demo`: the shipped sample, end to end."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hashnews.records import Answer, PreparedPost

SHOWN, EXPLAINED = 5, 3


@click.command()
@click.option("-n", "--posts", default=12, show_default=True, help="How many posts to show.")
def demo(posts: int) -> None:
    """Suggest hashtags for posts of the shipped sample, beside those their authors used, and why.

    Each post is answered from the news published and the posts written before it.
    """
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
    click.echo("Reading the sample; the first run also compiles, which takes a while.", err=True)
    chosen = prepared[:: max(1, len(prepared) // max(1, posts))][:posts]
    with HashNews() as hashnews:
        answers = hashnews.suggest_all(chosen)
        articles, remembered = len(hashnews.store), len(hashnews.memory)
    hit = sum(
        _show(post, raw[post.id].text, answer) for post, answer in zip(chosen, answers, strict=True)
    )
    click.echo(
        f"{hit} of {len(chosen)} posts: a hashtag their author used is among the first {SHOWN}."
    )
    click.echo(
        f"{articles} articles, {remembered} of {len(raw)} posts remembered (a retweet is not); "
        "each post saw only those before it."
    )
    click.echo("The model learnt from posts up to 15 June 2020: this shows it, no measure of it.")


def _show(post: PreparedPost, text: str, answer: Answer) -> bool:
    """Print one post; whether a hashtag its author used is among the first suggestions."""
    used = {tag.key for tag in post.hashtags}
    click.secho(f"{post.created_at:%Y-%m-%d %H:%M}  {post.user}", bold=True)
    click.echo(textwrap.indent(text, "  "))
    click.echo(_label("used") + " ".join(tag.written for tag in post.hashtags))
    first = answer.suggestions[:SHOWN]
    marked = [f"{s.hashtag}{'*' if ''.join(s.words) in used else ''} {s.score:.2f}" for s in first]
    click.echo(_label("suggested") + "  ".join(marked))
    for suggestion in first[:EXPLAINED]:
        reasons = "; ".join(reason.text for reason in suggestion.because[:3])
        click.echo(_label("because") + f"{suggestion.hashtag}: {reasons}")
    click.echo()
    return any("".join(suggestion.words) in used for suggestion in first)


def _label(name: str) -> str:
    return click.style(f"  {name:10}", fg="cyan")
