"""Write docs/cli.md: the help of every command, as the commands print it.

python tools/cli_reference.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from hashnews.cli import main as hashnews

TARGET = Path(__file__).parent.parent / "docs" / "cli.md"
HEAD = (
    "# The command line\n\nMade by `python tools/cli_reference.py`; a test holds it to the truth.\n"
)


def commands(command: click.Command, path: list[str]) -> Iterator[str]:
    """The help of a command and of all below it, as Markdown."""
    shown = CliRunner().invoke(
        hashnews, [*path, "--help"], prog_name="hashnews", terminal_width=88, max_content_width=88
    )
    yield f"## {' '.join(['hashnews', *path])}\n\n```\n{shown.output}```\n"
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from commands(below, [*path, name])


def reference() -> str:
    """The whole page."""
    return "\n".join([HEAD, *commands(hashnews, [])])


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
