"""What the tests of files by day share."""

from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from hashnews.cli import main


def run(*arguments, input=None):
    """Run a command that must succeed; what it printed."""
    done = CliRunner().invoke(main, [str(argument) for argument in arguments], input=input)
    assert done.exit_code == 0, done.output + repr(done.exception)
    return done.stdout


def joined(folder: Path) -> bytes:
    """The files of all days, one after the other."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("day=*/part-*.jsonl")))


class Sample(NamedTuple):
    """The shipped sample, as one file and by day."""

    folder: Path
    news: Path
    reference: Path
    raw: Path  # sorted by day
    posts: Path  # prepared
    raw_days: Path
    posts_days: Path
