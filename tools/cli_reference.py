"""Write docs/cli.md, the help of every command, and in docs/data.md the table of settings.

python tools/cli_reference.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from hashnews.cli import main as hashnews
from hashnews.cli.settings import OPTIONS, PREFIX

RUNNING = ("serve", "mcp", "suggest")  # the commands that have settings
DOCS = Path(__file__).parent.parent / "docs"
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


def configuration() -> str:
    """The page with the settings, their table made anew."""
    page = (DOCS / "data.md").read_text("utf-8")
    head, begin, rest = page.partition("<!-- made by tools/cli_reference.py -->\n")
    _, end, tail = rest.partition("<!-- end -->")
    rows = ["| flag | environment | in the file | default | |", "|---|---|---|---|---|"]
    for name, option in OPTIONS.items():
        value = "true" if option.get("is_flag") else '["…"]' if option.get("multiple") else "…"
        users = ", ".join(one for one in RUNNING if _takes(one, name))
        default = option.get("default", "")
        flag, variable = f"--{name.replace('_', '-')}", PREFIX + name.upper()
        rows.append(f"| `{flag}` | `{variable}` | `{name} = {value}` | {default} | {users} |")
    return head + begin + "\n".join(rows) + "\n" + end + tail


def _takes(command: str, name: str) -> bool:
    found = hashnews.get_command(click.Context(hashnews), command)
    return found is not None and any(one.name == name for one in found.params)


if __name__ == "__main__":
    (DOCS / "cli.md").write_text(reference(), encoding="utf-8")
    (DOCS / "data.md").write_text(configuration(), encoding="utf-8")
