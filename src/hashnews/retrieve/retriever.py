"""The paper's retriever: entities, temporal popularity, the best article of each nested window."""

from __future__ import annotations

from typing import Literal

import numpy as np

from hashnews.arrays import Array
from hashnews.config import Config
from hashnews.errors import DataError
from hashnews.index.day import Day, fold_entity
from hashnews.index.entity_postings import EntityPostings
from hashnews.index.folder import NewsIndex
from hashnews.index.windows import WindowTable
from hashnews.records import ContextWord, PreparedPost
from hashnews.retrieve.base import BaseRetriever, FoundArticles, TermQuery
from hashnews.retrieve.scoring import Weighting
from hashnews.times import A_DAY


class RetrieverConfig(Config):
    """How articles are ranked and words drawn from them; the defaults are the paper's."""

    ranking: Literal["tp", "bm25"] = "tp"
    windows: int = 5
    """k: "k = 5 in experiments"."""
    a: float = 1.2
    b: float = 0.75
    """"parameters inherent from Okapi BM25 typically set to 1.2 and 0.75"."""
    cap: float = 10.0
    """The largest temporal popularity, so that an entity in nearly every article cannot explode."""
    clip: Literal["time", "day"] = "time"
    """`day` lets in the whole day of the post, as the released code does; it leaks the future."""
    context: int = 100
    """Words a context has at most: the released code cuts there."""


class Retriever(BaseRetriever):
    """Finds the articles published before a post that speak of what it speaks of."""

    postings: EntityPostings

    def __init__(
        self, index: NewsIndex, reference: Day | None = None, config: RetrieverConfig | None = None
    ):
        self.config = config = config or RetrieverConfig()
        if reference is not None and reference.size == 0:
            raise DataError("the reference corpus holds no article: temporal popularity needs some")
        self._reference = reference
        spans, takes = np.arange(1, config.windows + 1), np.ones(config.windows, np.int64)
        by_popularity = float(config.ranking == "tp")
        weighting = Weighting(by_popularity, 1 - by_popularity, config.cap, config.a, config.b)
        super().__init__(index, spans, takes, weighting)

    def terms(self, post: PreparedPost) -> list[str]:
        """The distinct entities of a post."""
        return [name for name in dict.fromkeys(map(fold_entity, post.entities)) if name]

    def context(self, found: FoundArticles, query: TermQuery) -> list[ContextWord]:
        """The heaviest words by Eq. 1, over all words but stop words."""
        articles, _ = self.words.articles(found.days, found.back, found.places)
        return self.sums.heaviest(articles, found.scores, self.config.context)

    def ends(self, moments: Array) -> Array:
        """The posts' own times, or the ends of their days."""
        return moments if self.config.clip == "time" else (moments // A_DAY + 1) * A_DAY

    def reference(self, number: int) -> list[Day]:
        """R for the posts of a day."""
        return [] if self._reference is None else [self._reference]

    def _new_postings(self) -> EntityPostings:
        return EntityPostings(self.index.settings)

    def _new_table(self, number: int, days: list[Day]) -> WindowTable:
        return WindowTable(number, days, self.postings, self.reference(number))
