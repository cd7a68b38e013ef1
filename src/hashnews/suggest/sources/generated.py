"""The generator: hashtags it wrote for the post and its context."""

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

LEAST = -8.0  # log-probabilities are clipped here


class GeneratorSource(Source):
    """What the generator writes for the post and its context."""

    name = "generator"
    label = "Written by the model"
    columns = {"generator": LEAST, "generator_rank": LAST}

    def propose(self, query: Query) -> Iterator[Proposal]:
        """The hashtags it wrote."""
        return (Proposal(words) for words in query.generated)

    def features(self, query: Query, found: Candidates) -> Array:
        """The log-probability of each hashtag it wrote, and its rank among them."""
        written = [query.generated.get(words, LEAST) for words in found.words]
        scores = np.maximum(np.array(written, np.float32), LEAST)
        return np.column_stack([scores, np.searchsorted(np.sort(-scores), -scores)])

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """From which words of the news it wrote the hashtag."""
        words = found.words[place]
        if words not in query.generated:
            return None
        read = tuple(one.word for one in query.context if one.word in words)
        text = f"put together from {', '.join(read)} in the news" if read else "fits the post"
        return Reason(source=self.name, text=text, words=read)


GENERATED = GeneratorSource()
