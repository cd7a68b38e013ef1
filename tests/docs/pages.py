"""The pages, and what they hold."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
WRITTEN = [page for page in PAGES if page.name != "cli.md"]  # by people
NOT_RUN = "not run in the tests"  # in a comment before a block, or in one of its own
STAYS = "hashnews serve"  # it runs until it is stopped


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


class Command(NamedTuple):
    """A line of a block, and in a console block what it prints."""

    line: str
    output: str | None = None


def fenced(page: Path) -> list[tuple[str, str, str]]:
    """The language and the text of every block, in order, and the comment before it."""
    blocks = r"(?:^<!-- ([^\n]*) -->\n)?^```(\w*)\n(.*?)^```$"
    found = re.findall(blocks, page.read_text("utf-8"), re.DOTALL | re.M)
    return [(language, text, note) for note, language, text in found]


def blocks(page: Path, language: str) -> list[str]:
    """The texts of the blocks in one language."""
    return [text for named, text, _ in fenced(page) if named == language]


def commands(page: Path) -> list[Command]:
    """What the blocks of a page run, in order, without what they say cannot run here."""
    found = []
    for language, block, note in fenced(page):
        if language == "console":
            found += [
                Command(*pair) for pair in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)
            ]
            continue
        if language != "sh" or NOT_RUN in note:
            continue
        lines = block.replace("\\\n", " ").splitlines()
        if lines[0].startswith("#") and NOT_RUN in lines[0]:
            continue
        found += [
            Command(line)
            for line in lines
            if line.strip() and not line.startswith(("#", STAYS)) and NOT_RUN not in line
        ]
    return found
