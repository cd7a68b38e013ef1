"""A retriever from what lies on the disk: a store, a reference corpus, settings."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hashnews.news.store import NewsStore
from hashnews.retrieve.best import BestConfig, BestRetriever
from hashnews.retrieve.day import Settings
from hashnews.retrieve.index import NewsIndex
from hashnews.retrieve.reference import load_reference
from hashnews.retrieve.retriever import Retriever, RetrieverConfig
from hashnews.text.entities import load_finder


class Source(NamedTuple):
    """Where a retriever reads; small enough to hand to another process."""

    news: Path
    reference: Path | None
    settings: Settings
    config: RetrieverConfig | BestConfig

    def open(self) -> Retriever | BestRetriever:
        """The retriever; its index is brought up to date first."""
        with NewsStore(self.news) as store:
            index = NewsIndex.open(store, self.settings)
            finder = load_finder(store.state().finder or "fast")
        if isinstance(self.config, BestConfig):
            return BestRetriever(index, self.config)
        reference = None
        if self.reference is not None:
            kept = self.news.with_name(self.news.name + ".index")
            reference = load_reference(self.reference, finder, self.settings, kept)
        return Retriever(index, reference, self.config)
