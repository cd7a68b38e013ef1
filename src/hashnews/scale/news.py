"""The index of the news from files by day: one file of the index for each, made by one job."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from hashnews.index.day import Settings, build_day
from hashnews.index.folder import READING, day_file, seal
from hashnews.news.ingest import unfit
from hashnews.news.keys import keys_of
from hashnews.records import Article
from hashnews.retrieve.reference import entries
from hashnews.saved import FileSum, file_sum
from hashnews.scale.days import Days, read_day
from hashnews.scale.engine import Run, WorkerUsage, opened, this_worker
from hashnews.scale.steps import Finder
from hashnews.times import date_of


class DayJob(NamedTuple):
    """One day of news to be indexed."""

    finder: Finder
    settings: Settings
    sources: list[Path]
    target: Path

    def __str__(self) -> str:
        return str(self.sources[0].parent)


class BuiltDay(NamedTuple):
    """One day of an index."""

    name: str
    articles: int
    sum: FileSum
    seconds: float
    """Of the processor's time."""
    worker: WorkerUsage


class Built(NamedTuple):
    """What an index holds."""

    days: int
    skipped: int
    articles: int
    """Of the days not skipped."""
    bytes: int
    cpu_seconds: float
    """Of the workers' processors."""


def index_days(
    news: Path,
    folder: Path,
    run: Run[DayJob, BuiltDay],
    finder: str = "fast",
    settings: Settings | None = None,
) -> Built:
    """Build the index of all days of news; days that did not change stay as they are.

    Of articles of a day with one id, address or title the first counts, as in a store.
    """
    settings = settings or Settings()
    days = Days.of(news)
    folder.mkdir(parents=True, exist_ok=True)
    jobs, files = [], {}
    for day, sources in days.files.items():
        made_from = f"{READING} {settings} {finder} {days.made_from(day)}"
        state = hashlib.sha256(made_from.encode()).hexdigest()[:16]
        target = folder / day_file((day - date_of(0)).days, state)
        if target.exists():
            files[target.name] = file_sum(target)
        elif sources:
            jobs.append(DayJob(Finder(finder), settings, sources, target))
    skipped, articles, seconds = len(files), 0, 0.0
    for built in run(index_day, jobs):
        files[built.name] = built.sum
        articles += built.articles
        seconds += built.seconds
    seal(folder, settings, finder, files)
    size = sum(known.bytes for known in files.values())
    return Built(len(files), skipped, articles, size, round(seconds, 2))


def index_day(job: DayJob) -> BuiltDay:
    """Build one day of the index."""
    began = time.process_time()
    finder = opened(job.finder)
    now = datetime.now(UTC)
    articles = chain.from_iterable(read_day(path, Article) for path in job.sources)
    fit = (article for article in articles if unfit(article, now) is None)
    day = build_day(entries(unique(fit), finder), job.settings)
    scratch = job.target.with_name(f".{job.target.name}.{secrets.token_hex(8)}")
    day.save(scratch)
    safe = file_sum(scratch)
    scratch.replace(job.target)
    spent = time.process_time() - began
    return BuiltDay(job.target.name, day.size, safe, spent, this_worker())


def unique(articles: Iterable[Article]) -> Iterator[Article]:
    """Articles of which none before had a key."""
    seen: set[bytes] = set()
    for article in articles:
        keys = {key.digest for key in keys_of(article)}
        if keys.isdisjoint(seen):
            seen |= keys
            yield article
