"""A retriever from what lies on the disk: a store, a reference corpus, settings."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hashnews.errors import ModelError
from hashnews.index.day import Settings
from hashnews.index.folder import NewsIndex, folder_of
from hashnews.news.store import NewsStore
from hashnews.retrieve.all_words import AllWordsConfig, AllWordsRetriever
from hashnews.retrieve.base import BaseRetriever
from hashnews.retrieve.reference import load_reference
from hashnews.retrieve.retriever import Retriever, RetrieverConfig
from hashnews.saved import MANIFEST
from hashnews.text.entities import load_finder


class RetrieverSource(NamedTuple):
    """Where a retriever reads; small enough to hand to another process."""

    news: Path  # a store, or the folder of an index
    reference: Path | None
    settings: Settings
    config: RetrieverConfig | AllWordsConfig

    def open(self) -> BaseRetriever:
        """The retriever; its index is brought up to date first."""
        index = self.open_index()
        if isinstance(self.config, AllWordsConfig):
            return AllWordsRetriever(index, self.config)
        reference = None
        if self.reference is not None:
            finder = load_finder(index.finder)
            reference = load_reference(self.reference, finder, self.settings, self.folder)
        return Retriever(index, reference, self.config)

    def state(self) -> str:
        """What the news is at the moment; another state may give other contexts."""
        if self.news.is_dir():
            return (self.news / MANIFEST).read_text("utf-8")
        with NewsStore(self.news) as store:
            state = store.state()
            # Posts raise the generation, too, and change no context.
            return f"{state.id} {state[:3]} {store.last_change('articles')}"

    @property
    def folder(self) -> Path:
        """Where the index is."""
        return self.news if self.news.is_dir() else folder_of(self.news)

    def open_index(self) -> NewsIndex:
        """The index: of a store, brought up to date; a folder's, as it is."""
        if not self.news.is_dir():
            with NewsStore(self.news) as store:
                return NewsIndex.open(store, self.settings)
        index = NewsIndex.read(self.news)
        if index.settings != self.settings:
            raise ModelError(f"{self.news} was built with {index.settings}, not {self.settings}")
        return index
