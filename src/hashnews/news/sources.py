"""Every kind of news file as a stream of articles, chosen by the file's name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hashnews.errors import DataError, FetchError
from hashnews.files import FORMATS, OnError, RecordFile, open_bytes
from hashnews.news import feeds, pages
from hashnews.news.archives import NO_ARTICLE, WarcFile
from hashnews.news.summary import Refusals, reason_of
from hashnews.news.unpack import joined
from hashnews.news.worker import Worker
from hashnews.records import Article

FEEDS, PAGES, ARCHIVES = (".xml", ".rss", ".atom"), (".html", ".htm"), (".warc",)


class ArticleStream(Protocol):
    """Articles of one file; `done` is the share of it read so far."""

    done: float

    def __iter__(self) -> Iterator[Article]:
        """The articles, in the file's order."""


def open_news(
    path: str,
    on_error: OnError,
    refusals: Refusals,
    worker: Worker,
    is_known: Callable[[str], bool],
) -> ArticleStream:
    """The articles of a file; `is_known` says of an address whether its article is stored."""
    name = Path(path).name.lower()
    suffix = Path(name.removesuffix(".gz")).suffix
    if path == "-" or suffix in FORMATS:
        return RecordFile(path, Article, on_error, refusals)
    if suffix in ARCHIVES:
        return WarcFile(path, on_error, refusals, worker, is_known)
    if suffix in FEEDS:
        return WholeFile(path, on_error, refusals, lambda body: _of_feed(body, path, worker))
    if suffix in PAGES:
        return WholeFile(path, on_error, refusals, lambda body: _of_page(body, worker))
    known = " ".join((*FORMATS, *FEEDS, *PAGES, *ARCHIVES))
    raise DataError(f"its name should end in one of {known}, also .gz", path)


@dataclass
class WholeFile:
    """A small file that is read at once: a feed or a page."""

    path: str
    on_error: OnError
    refusals: Refusals
    items: Callable[[bytes], Iterable[Callable[[], Article]]]
    done: float = 0.0

    def __iter__(self) -> Iterator[Article]:
        try:
            items = list(self.items(self._body()))
        except (OSError, EOFError, FetchError) as error:
            self.refusals.end_file(DataError(reason_of(error), self.path), self.on_error)
            return
        for number, item in enumerate(items, 1):
            self.done = number / len(items)
            # One bad item says nothing about the next.
            try:
                article = item()
            except Exception as error:
                self.refusals.add(DataError(reason_of(error), self.path, number), "")
            else:
                yield article

    def _body(self) -> bytes:
        with open_bytes(self.path) as (stream, _, _):
            return joined(iter(lambda: stream.read(1 << 16), b""), feeds.LARGEST)


def _of_feed(body: bytes, path: str, worker: Worker) -> Iterator[Callable[[], Article]]:
    for entry in worker.read("feed", body):
        yield _later(feeds.article_of, entry, Path(path).name, None)


def _of_page(body: bytes, worker: Worker) -> Iterator[Callable[[], Article]]:
    if len(body) > pages.LARGEST:
        body = body[: pages.LARGEST]
    found = worker.read("page", body)
    if found is None:
        raise FetchError(NO_ARTICLE)
    yield _later(pages.page_article, found, None)


def _later(function: Callable[..., Article], *values: Any) -> Callable[[], Article]:
    return lambda: function(*values)
