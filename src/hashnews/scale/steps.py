"""Steps that read a file of a day and write one: retrieve, suggest, find entities.

Each calls what the local path calls; there is no second implementation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from itertools import islice
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar

from hashnews.errors import StoreError
from hashnews.news.entities import with_entities
from hashnews.news.ingest import unfit
from hashnews.posts.table import count_posts
from hashnews.records import Article, Post, PreparedPost
from hashnews.retrieve.batch import context_lines
from hashnews.retrieve.source import RetrieverSource
from hashnews.saved import MANIFEST
from hashnews.scale.days import Days, Done, FileJob, Result, Watch, read_day, write_days
from hashnews.scale.engine import Run, opened
from hashnews.suggest.pipeline import HashNews
from hashnews.text.entities import EntityFinder, load_finder
from hashnews.times import date_of

T = TypeVar("T")
TOGETHER = 32  # posts suggested for at a time
BATCH = 512  # articles read at a time


@dataclass(frozen=True)
class Retrieve:
    """Prepared posts to contexts."""

    source: RetrieverSource
    kind: ClassVar[str] = "contexts by day"

    def lines(self, path: Path) -> Iterable[str]:
        """The context of each post."""
        return context_lines(opened(self.source), read_day(path, PreparedPost))


def retrieve_days(
    source: RetrieverSource,
    posts: Path,
    target: Path,
    run: Run[FileJob, Done],
    watch: Watch = lambda done: done,
) -> Result:
    """The contexts of all days of posts; workers read the folder of the index, never the store."""
    source.open()  # an index beside a store is brought up to date, a reference built
    index = source.open_index()
    reference = None if source.reference is None else source.reference.stat()

    def made_from(day: date) -> str:
        # Later news touches no earlier post, so a finished day stays finished when news comes in.
        known = sorted(index.sums((day - date_of(0)).days + 1).items())
        return f"{source.settings} {source.config!r} {reference} {known}"

    step = Retrieve(source._replace(news=source.folder))
    return write_days(step, made_from, Days.of(posts), target, run, watch)


class SuggestSource(NamedTuple):
    """From what hashtags are suggested; a worker opens it once."""

    news: Path
    model: Path | None
    """None: the shipped one, wherever it is on a node."""
    state: str | None = None
    """What store and model must be: each node has its own copy."""

    def open(self) -> HashNews:
        """The store, its index, the memory and the model."""
        hashnews = HashNews(self.news, self.model)
        if self.state not in (None, self.state_of(hashnews)):
            hashnews.close()
            raise StoreError(
                f"{self.news} or the model is not what the run began with: copy it to this node"
            )
        return hashnews

    @staticmethod
    def state_of(hashnews: HashNews) -> str:
        """A digest of what the answers depend on, besides the posts."""
        store, model = hashnews.store, hashnews.model
        folders = [folder for folder in (model.directory, model.generator) if folder]
        manifests = [(folder / MANIFEST).read_text("utf-8") for folder in folders]
        known = f"{store.state()} {count_posts(store)} {manifests}"
        return hashlib.sha256(known.encode()).hexdigest()


@dataclass(frozen=True)
class Suggest:
    """Posts to answers."""

    source: SuggestSource
    most: int
    min_score: float
    kind: ClassVar[str] = "suggestions by day"

    @classmethod
    def of(cls, news: Path, model: Path | None, most: int = 10, min_score: float = 0.0) -> Suggest:
        """From a store and a model, by default the shipped one."""
        return cls(SuggestSource(news, model), most, min_score)

    def lines(self, path: Path) -> Iterator[str]:
        """The answer to each post; how long it took is left out, or no two runs were the same."""
        hashnews = opened(self.source)
        for posts in batches(read_day(path, Post), TOGETHER):
            for answer in hashnews.suggest_all(posts, self.most, self.min_score):
                yield answer.model_copy(update={"timings_ms": {}}).to_json()


def suggest_days(
    step: Suggest,
    posts: Path,
    target: Path,
    run: Run[FileJob, Done],
    watch: Watch = lambda done: done,
) -> Result:
    """The answers to all days of posts."""
    with step.source.open() as hashnews:  # brings the index up to date
        state = step.source.state_of(hashnews)
    step = replace(step, source=step.source._replace(state=state))
    return write_days(step, lambda _: str(step), Days.of(posts), target, run, watch)


class Finder(NamedTuple):
    """A finder by its name."""

    name: str

    def open(self) -> EntityFinder:
        """The finder."""
        return load_finder(self.name)


@dataclass(frozen=True)
class FindEntities:
    """Articles to articles with their text repaired and their entities found."""

    finder: Finder
    now: datetime
    kind: ClassVar[str] = "news by day"

    def lines(self, path: Path) -> Iterator[str]:
        """Each article that is fit for a store."""
        finder = opened(self.finder)
        for articles in batches(read_day(path, Article), BATCH):
            fit = [article for article in articles if unfit(article, self.now) is None]
            for article in with_entities(finder, fit):
                yield article.to_json()


def find_days(
    finder: str, news: Path, target: Path, run: Run[FileJob, Done], watch: Watch = lambda done: done
) -> Result:
    """All days of news with entities."""
    step = FindEntities(Finder(finder), datetime.now(UTC))
    return write_days(step, lambda _: finder, Days.of(news), target, run, watch)


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most so many items."""
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch
