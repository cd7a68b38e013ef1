"""The user's language model: hashtags it proposed for the post and its headlines.

It has no columns: the judges were taught without it, and are as strict with it as without.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hashnews.records import Reason
from hashnews.suggest.sources.base import Proposal, Source

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.query import Query


class LanguageModelSource(Source):
    """What the language model proposes, where there is one."""

    name = "llm"
    label = "Your language model"
    columns = {}

    def propose(self, query: Query) -> Iterator[Proposal]:
        """The hashtags it proposed."""
        return (Proposal(words) for words in query.proposed.values())

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """That it proposed the hashtag."""
        if found.keys[place] not in query.proposed:
            return None
        return Reason(source=self.name, text="proposed by your language model")


LLM = LanguageModelSource()
