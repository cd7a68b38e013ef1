"""The command line: each command parses, calls one function and prints.

Data goes to standard output, everything else to standard error. A `HashNewsError` becomes one
line and exit code 1, wrong usage exit code 2. Commands import what they need when they run, so
that `hashnews --help` answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from hashnews import __version__
from hashnews.errors import HashNewsError

COMMANDS = {
    "demo": "demo",
    "suggest": "suggest",
    "prepare": "text",
    "segment": "text",
    "entities": "text",
    "news": "news",
    "posts": "posts",
    "retrieve": "retrieve",
    "trends": "retrieve",
    "train": "train",
    "evaluate": "evaluate",
    "reproduce": "reproduce",
    "serve": "serve",
    "doctor": "doctor",
}


class CommandGroup(click.Group):
    """The group of all commands, each in a module of its own kind, read when it is called."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Commands in the order in which one needs them."""
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command of that name, from its module."""
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"hashnews.cli.{COMMANDS[name]}"), name)
        return command

    def invoke(self, context: click.Context) -> Any:
        """Run a command; our own errors become one line."""
        try:
            return super().invoke(context)
        except HashNewsError as error:
            if context.params["debug"]:
                raise
            raise click.ClickException(str(error)) from None


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of errors.")
def main(debug: bool) -> None:
    """Hashtags for microblog posts, suggested from the news published before them."""
