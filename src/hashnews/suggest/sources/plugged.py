"""Sources of other packages: candidates and a reason, no columns.

One that fails costs nothing but itself: it is heard no more, and the log says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from hashnews.errors import ConfigError
from hashnews.plugins import load_plugin, plugin_names
from hashnews.records import Reason
from hashnews.suggest.sources.base import Proposal, Source

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.query import Query

T = TypeVar("T")
LOGGER = logging.getLogger("hashnews.suggest")
MOST = 50  # hashtags it may bring for a post


class PluggedSource(Source):
    """A source of another package, kept at arm's length."""

    columns = {}

    def __init__(self, name: str, source: Source):
        self.name, self.label = name, source.label or name  # type: ignore[misc]
        self._source: Source | None = source

    def propose(self, query: Query) -> Iterable[Proposal]:
        """What it proposes, not too much of it."""
        return self._heard(lambda source: _proposals(source, query), [])

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """What it says, in its own name."""
        told = self._heard(lambda source: source.reason(query, found, place), None)
        return None if told is None else told.model_copy(update={"source": self.name})

    def _heard(self, ask: Callable[[Source], T], nothing: T) -> T:
        if self._source is None:
            return nothing
        try:
            return ask(self._source)
        except Exception:
            LOGGER.exception("the source %s failed and is heard no more", self.name)
            self._source = None
            return nothing


def _proposals(source: Source, query: Query) -> list[Proposal]:
    some = islice(source.propose(query), MOST)
    return [Proposal(tuple(map(str, one.words)), bool(one.only_known)) for one in some]


def plugged_sources(taken: Iterable[str]) -> tuple[Source, ...]:
    """The sources of other packages; a name that is taken, and columns, are refused."""
    found = []
    for name in plugin_names("sources"):
        source = load_plugin("sources", name)
        if name in taken or getattr(source, "columns", None):
            raise ConfigError(
                f"the source {name!r} of a plug-in has a name that is taken, or columns: the "
                "judges do not know them"
            )
        found.append(PluggedSource(name, source))
    return tuple(found)
