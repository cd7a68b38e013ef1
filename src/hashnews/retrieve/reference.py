"""The reference corpus R: a sample of news from other times, built like a day and kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from hashnews.files import RecordFile
from hashnews.index.day import Day, Entry, Settings, build_day
from hashnews.index.folder import READING, entry_of
from hashnews.news.entities import with_entities
from hashnews.records import Article
from hashnews.text.entities import EntityFinder
from hashnews.times import microseconds

BATCH = 512


def load_reference(path: Path, finder: EntityFinder, settings: Settings, kept: Path) -> Day:
    """R from a file of articles; what was built once is kept in the folder `kept`.

    R must be read by the finder that read the news, or temporal popularity would measure finders.
    """
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256")
    digest.update(f"{READING} {finder.name} {settings}".encode())
    built = kept / f"{digest.hexdigest()[:16]}.reference"
    if built.exists():
        return Day.load(built)
    day = build_day(entries(RecordFile(path, Article), finder), settings)
    kept.mkdir(parents=True, exist_ok=True)
    day.save(built)
    return day


def entries(articles: Iterable[Article], finder: EntityFinder) -> Iterator[Entry]:
    """Articles as the index reads them, entities found where they bring none."""
    source = iter(articles)
    while batch := list(islice(source, BATCH)):
        for article in with_entities(finder, batch):
            yield entry_of(article, microseconds(article.published_at))
