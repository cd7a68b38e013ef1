"""The command line: each command parses, calls one function and prints.

Data goes to standard output, everything else to standard error. A `HashNewsError` becomes one
line and exit code 1, wrong usage exit code 2. Commands import what they need when they run, so
that `hashnews --help` answers at once.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from hashnews import __version__
from hashnews.cli.options import Commands
from hashnews.errors import HashNewsError
from hashnews.terminal import OneLine, one_line

COMMANDS = {  # the module of each, and what the list of commands says of it
    "demo": ("demo", "The shipped sample, end to end: hashtags, and why."),
    "suggest": ("suggest", "Hashtags for a post, for lines of text, or for a file of posts."),
    "prepare": ("text", "Make prepared posts of raw ones: body, entities, hashtags."),
    "segment": ("text", "Split hashtags into words."),
    "entities": ("text", "Find the named entities of texts."),
    "news": ("news", "The news: add files, fetch feeds, search, count."),
    "feeds": ("feeds", "The feeds that the news comes from."),
    "posts": ("posts", "Earlier posts: add your archive, follow networks, forget."),
    "retrieve": ("retrieve", "Find the news and the context words of prepared posts."),
    "trends": ("retrieve", "What is on the rise in the news."),
    "train": ("train", "Train a model of your own."),
    "evaluate": ("evaluate", "Compare suggestions with the hashtags people used."),
    "reproduce": ("reproduce", "Make the paper's table on a dataset."),
    "serve": ("serve", "The page, and HTTP for programs."),
    "mcp": ("mcp", "Offer suggestions to assistants (Model Context Protocol)."),
    "doctor": ("doctor", "Check installation, store and model, and say what to do."),
}


class CommandGroup(Commands):
    """The group of all commands, each in a module of its own kind, read when it is called."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Commands in the order in which one needs them."""
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command of that name, from its module."""
        if name not in COMMANDS:
            return None
        module, _ = COMMANDS[name]
        command: click.Command = getattr(import_module(f"hashnews.cli.{module}"), name)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """What there is, a line each; no module is read for it."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        """Read what was typed."""
        with _clean_messages():
            return super().make_context(*arguments, **options)

    def invoke(self, context: click.Context) -> Any:
        """Run a command; our own errors, and those of the disk, become one line."""
        if os.environ.get("NO_COLOR"):
            context.color = False
        with _clean_messages():
            try:
                return super().invoke(context)
            except HashNewsError as error:
                if context.params["debug"]:
                    raise
                raise click.ClickException(str(error)) from None
            except OSError as error:
                if context.params["debug"] or error.errno == errno.EPIPE:
                    raise
                place = f"{error.filename}: " if error.filename else ""
                raise click.ClickException(f"{place}{error.strerror or error}") from None


@contextmanager
def _clean_messages() -> Iterator[None]:
    """Messages quote files and what was typed: they are one line and no more."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise  # it is the help
    except click.ClickException as error:
        if isinstance(error, click.UsageError) and error.ctx is not None:
            told = error.format_message().replace("a valid integer range", "a whole number")
            if "--help" not in told:
                told += f" (see: {error.ctx.command_path} --help)"
            raise click.UsageError(one_line(told, 1000)) from None
        error.message = one_line(error.message, 1000)  # type: ignore[misc]
        raise


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of errors.")
def main(debug: bool) -> None:
    """Hashtags for microblog posts, suggested from the news published before them."""
    if logging.lastResort is not None:  # what prints warnings where nobody said how
        logging.lastResort.setFormatter(OneLine())
