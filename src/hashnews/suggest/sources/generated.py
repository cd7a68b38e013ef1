"""The generator: hashtags it wrote, and what it thinks of everybody's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from hashnews.arrays import Array
from hashnews.records import Reason
from hashnews.suggest.sources.base import LAST, Proposal, Source

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.query import Query

LEAST = -8.0  # log-probabilities are clipped here, so that scoring can stop early


class GeneratorSource(Source):
    """What the generator writes for the post and its context."""

    name = "generator"
    label = "Written by the model"
    columns = {"generator": LEAST, "generator_rank": LAST}

    def propose(self, query: Query) -> Iterator[Proposal]:
        """The hashtags it wrote."""
        return (Proposal(words) for words in query.generated)

    def features(self, query: Query, found: Candidates) -> Array:
        """The log-probability of each candidate, where there is a generator, and its rank."""
        likely = np.full(len(found.keys), LEAST) if found.likely is None else found.likely
        scores = np.maximum(np.array(likely, np.float32), LEAST)
        return np.column_stack([scores, np.searchsorted(np.sort(-scores), -scores)])

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """That it wrote the hashtag."""
        if found.words[place] not in query.generated:
            return None
        return Reason(source=self.name, text="generated")


GENERATED = GeneratorSource()
