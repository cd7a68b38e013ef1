"""WARC archives, such as those of CC-NEWS: the pages of a crawl into articles.

Extracting a page costs a hundred times more than reading it, so what the store knows already is
passed over by its address. A page was seen when it was crawled: that bounds its time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hashnews.errors import DataError
from hashnews.files import OnError
from hashnews.news.pages import LARGEST, page_article
from hashnews.news.summary import Refusals, reason_of
from hashnews.news.unpack import unpacked
from hashnews.news.worker import Worker
from hashnews.records import Article

HTML_TYPES = ("text/html", "application/xhtml+xml")
NO_ARTICLE = "no article on the page"


@dataclass
class WarcFile:
    """The articles of one archive, gzipped or not; `done` is the share of it read so far."""

    path: str | Path
    on_error: OnError
    refusals: Refusals
    worker: Worker
    is_known: Callable[[str], bool]
    done: float = 0.0

    def __iter__(self) -> Iterator[Article]:
        try:
            with Path(self.path).open("rb") as stream:
                size = max(1, Path(self.path).stat().st_size)
                for number, record in enumerate(_responses(stream), 1):
                    self.done = stream.tell() / size
                    yield from self._articles(number, record)
        except (OSError, ValueError, EOFError) as error:
            problem = DataError(f"cannot be read on as WARC: {error}", self.path)
            self.refusals.end_file(problem, self.on_error)

    def _articles(self, number: int, record: Any) -> Iterator[Article]:
        """The article of one record; what is not a page is passed over in silence."""
        url = record.headers.get("WARC-Target-URI", "").strip("<> ")
        content_type = (record.http_content_type or "").lower()
        if not content_type.startswith(HTML_TYPES) or record.http_headers.status_code != 200:
            return
        if self.is_known(url):
            self.refusals.summary.known["url"] += 1
            return
        try:
            article = self._article(url, record)
        except Exception as error:  # one bad page says nothing about the next
            self.refusals.add(DataError(reason_of(error), self.path, number), url)
        else:
            yield article

    def _article(self, url: str, record: Any) -> Article:
        packed = record.http_headers.get("Content-Encoding", "")
        body = unpacked(iter(lambda: record.reader.read(1 << 16), b""), packed, LARGEST)
        found = self.worker.read("page", body, url=url)
        if found is None:
            raise DataError(NO_ARTICLE)
        return page_article(found, record.record_date)


def _responses(stream: Any) -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # FastWARC warns of its own old names
        from fastwarc.stream_io import FastWARCError
        from fastwarc.warc import ArchiveIterator, WarcRecordType

    try:
        yield from ArchiveIterator(stream, record_types=WarcRecordType.response)
    except FastWARCError as error:
        raise ValueError(str(error)) from None
