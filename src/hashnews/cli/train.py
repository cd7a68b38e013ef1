"""Commands that train: train tagger, train generator, train best."""

from __future__ import annotations

import json
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hashnews.cli.console import LOG_EVERY, say
from hashnews.cli.options import Commands, json_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from hashnews.generate.training import Progress


@click.group(cls=Commands)
def train() -> None:
    """Train a model from a file of settings; interrupted, the same command resumes."""


@train.command()
@click.option("-c", "--config", "path", type=click.Path(path_type=Path), required=True,
              help="Settings, as in configs/tagger.toml.")  # fmt: skip
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True,
              help="The model directory.")  # fmt: skip
@click.option("--set", "changes", multiple=True, metavar="NAME=VALUE",
              help="Instead of the file's, such as epochs=3.")  # fmt: skip
def tagger(path: Path, out: Path, changes: tuple[str, ...]) -> None:
    """Train the entity tagger on labelled text (CoNLL columns)."""
    from hashnews.errors import needs_extra
    from hashnews.tagger.config import TaggerConfig

    config = TaggerConfig.load(path, changes)
    with needs_extra("training", "train"):
        from hashnews.tagger.training import train as run
    run(config, out, lambda news: say(json.dumps(news), err=True))
    say(out)


@train.command()
@click.option("-c", "--config", "path", type=click.Path(path_type=Path), required=True,
              help="Settings, as in configs/generator.toml.")  # fmt: skip
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True,
              help="The model directory.")  # fmt: skip
@click.option("--set", "changes", multiple=True, metavar="NAME=VALUE",
              help="Instead of the file's, such as model.variant=seq2seq.")  # fmt: skip
@json_option
def generator(path: Path, out: Path, changes: tuple[str, ...], as_json: bool) -> None:
    """Train the generator on prepared posts and their contexts."""
    from hashnews.errors import needs_extra
    from hashnews.generate.config import TrainingConfig

    config = TrainingConfig.load(path, changes)
    with needs_extra("training", "train"):
        from hashnews.generate import training
    measured = training.train(config, out, _progress())
    if as_json:
        say(json.dumps({"model": str(out), **measured._asdict()}))
    else:
        say(f"{out}: perplexity {measured.perplexity:.2f}, F1@5 {measured.f1:.4f}")


@train.command()
@click.option("-c", "--config", "path", type=click.Path(path_type=Path),
              help="Settings, as in configs/best.toml.")  # fmt: skip
@click.option("--posts", multiple=True, help="Raw posts, instead of the sets of a file.")
@click.option("--news", help="The store with the news of their time.")
@click.option("--generator", help="A trained generator to take along.")
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True,
              help="The model directory.")  # fmt: skip
@click.option("--set", "changes", multiple=True, metavar="NAME=VALUE",
              help="Instead of the file's, such as ranker.rounds=200.")  # fmt: skip
@json_option
def best(
    path: Path | None,
    posts: tuple[str, ...],
    news: str | None,
    generator: str | None,
    out: Path,
    changes: tuple[str, ...],
    as_json: bool,
) -> None:
    """Train the suggester: the ranker that fuses memory, author, news and generator."""
    from hashnews.cli.console import say, track
    from hashnews.learn.train import SuggesterConfig
    from hashnews.learn.train import train as run
    from hashnews.saved import read_manifest

    if bool(posts) != bool(news) or not (path or posts):
        raise click.UsageError("name --posts and --news, or a file of settings with -c")
    if posts:
        # JSON lists and strings are TOML, too.
        changes = (f"sets=[{{posts={json.dumps(posts)}, news={json.dumps(news)}}}]", *changes)
    if generator:
        changes = (f"generator={generator}", *changes)
    # Of paths only the names: the manifest is for others to read.
    said = [Path(word).name if "/" in word else word for word in sys.argv[1:]]
    run(SuggesterConfig.load(path, changes), out, track, shlex.join(["hashnews", *said]))
    about = read_manifest(out, "suggester").about
    if as_json:
        say(json.dumps({"model": str(out), **about}))
        return
    for situation, (at_one, at_five) in about["held_out"].items():
        say(f"{out}: {situation} F1@1 {at_one:.4f}, F1@5 {at_five:.4f}")


def _progress() -> Callable[[Progress], None]:
    """Show epoch, loss and time left on standard error: a line rewritten, or lines of a log."""
    terminal = sys.stderr.isatty()
    every = 0.2 if terminal else LOG_EVERY
    shown = -every

    def show(at: Progress) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown < every and at.step < at.steps:
            return
        shown = now
        minutes = at.seconds_left / 60
        line = f"epoch {at.epoch}, step {at.step:,} of {at.steps:,}, loss {at.loss:.3f}"
        line += f", {minutes:.0f} min left"
        say(line, err=True, over=terminal)

    return show
