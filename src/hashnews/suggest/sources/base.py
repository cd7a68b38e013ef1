"""What a source of hashtags is: one kind of evidence, in one file.

A source brings candidates, says in its columns what it knows of each candidate (of its own and of
all others), what those columns hold where it knows nothing, and gives the reason in words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from hashnews.arrays import Array
from hashnews.records import Reason, SourceName

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.evidence import Look
    from hashnews.suggest.query import Query

LAST = math.inf  # stands for the rank behind all candidates
NAMED = 5  # articles and posts a reason names at most


class Proposal(NamedTuple):
    """A hashtag that a source brings up."""

    words: tuple[str, ...]
    only_known: bool = False  # it counts only if somebody has used it before

    @property
    def key(self) -> str:
        """What makes two hashtags the same."""
        return "".join(self.words)


class Source:
    """One kind of evidence; sources of one name give one reason together."""

    name: ClassVar[SourceName | None] = None
    label: ClassVar[str] = ""  # what people call it
    columns: ClassVar[Mapping[str, float]]  # what each holds where the source knows nothing
    ranked: ClassVar[tuple[str, ...]] = ()  # columns whose rank among the candidates counts, too

    def propose(self, query: Query) -> Iterable[Proposal]:
        """Hashtags from what the post, its news and the model say."""
        return ()

    def features(self, query: Query, found: Candidates) -> Array | Sequence[Sequence[float]]:
        """A row for each candidate, in the order of `columns`."""
        raise NotImplementedError

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """What speaks for a candidate, in words; None where the source does not know it."""
        return None


class MemorySource(Source):
    """A source that reads the memory: it fills columns of the table of evidence."""

    gathered: ClassVar[tuple[str, ...]]  # its columns of that table
    described: ClassVar[tuple[str, ...]] = ()  # what it takes from the statistics of hashtags
    taken: ClassVar[Mapping[str, int]]  # how many candidates each column brings, the best

    def gather(self, look: Look) -> None:
        """Add to the table of evidence."""
        raise NotImplementedError

    def features(self, query: Query, found: Candidates) -> Array | Sequence[Sequence[float]]:
        """What was gathered for each candidate, and the statistics that belong to it."""
        return found.evidence.columns((*self.gathered, *self.described))


def many(count: int, what: str) -> str:
    """A number of things in words: `1 article`, `2 articles`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
