"""What became of the articles of a run: added, known already, or refused and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from hashnews.config import explain
from hashnews.errors import DataError, FetchError, HashNewsError
from hashnews.files import OnError, Skipped
from hashnews.news.keys import Why


@dataclass
class Summary:
    """Counts of a run; they grow with each commit."""

    added: int = 0
    known: Counter[Why] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def as_dict(self) -> dict[str, object]:
        """For `--json`."""
        return {
            "added": self.added,
            "known": self.known.total(),
            "known_by": dict(self.known),
            "refused": self.refused.total(),
            "refused_because": dict(self.refused.most_common()),
        }

    def __str__(self) -> str:
        """One line for people, and one for each reason of refusal."""
        lines = [
            f"{self.added:,} added, {self.known.total():,} known already, "
            f"{self.refused.total():,} refused"
        ]
        lines += [f"  refused {n:,} × {reason}" for reason, n in self.refused.most_common(20)]
        return "\n".join(lines)


class Refusals(Skipped):
    """Lines and items that are refused: set aside, and counted by reason."""

    def __init__(self, summary: Summary, path: Path | None = None):
        super().__init__(path)
        self.summary = summary

    def add(self, problem: DataError, content: str) -> None:
        """Set one aside."""
        super().add(problem, content)
        self.summary.refused[problem.reason] += 1

    def end_file(self, problem: DataError, on_error: OnError) -> None:
        """Stop at a file that cannot be read on, or set the rest of it aside."""
        if on_error == "stop":
            raise problem from None
        self.add(problem, "")


def reason_of(error: Exception) -> str:
    """Why something could not be read, in a few words."""
    if isinstance(error, ValidationError):
        return explain(error)
    if isinstance(error, DataError | FetchError):
        return error.reason
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, HashNewsError | EOFError):
        return str(error)
    return f"could not be read ({type(error).__name__})"  # what nobody foresaw
