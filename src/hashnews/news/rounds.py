"""Rounds over feeds: what is new goes into the store, what fails is left alone for a while.

The marks of a visit (ETag, Last-Modified) are kept only after its articles are: a run killed in
between fetches them again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Literal, NamedTuple

from pydantic import ValidationError

from hashnews.errors import DataError, FetchError
from hashnews.news import feeds, pages
from hashnews.news.fetch import Fetcher
from hashnews.news.ingest import add_articles
from hashnews.news.keys import keys_of
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary, reason_of
from hashnews.news.worker import Worker
from hashnews.records import Article, write_time
from hashnews.text.entities import EntityFinder
from hashnews.times import microseconds, moment_of

Outcome = Literal["fetched", "unchanged", "waiting", "failed"]
# A failure may be our own network's: even after many of them a feed is not left for long.
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=5), timedelta(hours=4)
LONGEST_ASKED = timedelta(days=1)


class FeedMarks(NamedTuple):
    """What the last visit to a feed left behind."""

    etag: str | None = None
    last_modified: str | None = None
    failures: int = 0
    not_before: int = 0  # microseconds since 1970


class Visit(NamedTuple):
    """How one feed fared; `note` says why where it gave nothing."""

    url: str
    outcome: Outcome
    note: str = ""


@dataclass
class Round:
    """How a round went."""

    summary: Summary = field(default_factory=Summary)
    visits: list[Visit] = field(default_factory=list)
    undated: int = 0
    full_texts: int = 0

    def as_dict(self) -> dict[str, object]:
        """For `--json`."""
        return {
            **self.summary.as_dict(),
            "undated": self.undated,
            "full_texts": self.full_texts,
            "feeds": [visit._asdict() for visit in self.visits],
        }

    def __str__(self) -> str:
        counts = Counter(visit.outcome for visit in self.visits)
        outcomes = ", ".join(f"{n:,} {outcome}" for outcome, n in counts.items())
        lines = [f"feeds: {outcomes}", f"articles: {self.summary}"]
        if self.undated:
            lines.append(f"  {self.undated:,} without a date count from the time they were fetched")
        return "\n".join(lines)


class Rounds:
    """Visits feeds, one after the other."""

    def __init__(
        self,
        store: NewsStore,
        finder: EntityFinder,
        fetcher: Fetcher,
        worker: Worker,
        full_text: bool = False,
    ):
        self._store = store
        self._finder = finder
        self._fetcher = fetcher
        self._worker = worker
        self._full_text = full_text

    def visit_all(self, urls: Sequence[str], result: Round) -> Iterator[Visit]:
        """Visit each feed; `result` grows with every visit given."""
        for url in urls:
            visit = self.visit(url, result)
            result.visits.append(visit)
            yield visit

    def visit(self, url: str, result: Round) -> Visit:
        """Fetch one feed and store what is new."""
        marks = self._marks(url)
        now = datetime.now(UTC)
        if microseconds(now) < marks.not_before:
            return Visit(url, "waiting", f"until {write_time(moment_of(marks.not_before))}")
        try:
            fetched = self._fetcher.get(url, feeds.LARGEST, marks.etag, marks.last_modified)
            if fetched.body is None:
                self._keep(url, marks._replace(failures=0, not_before=0))
                return Visit(url, "unchanged")
            entries = self._worker.read(
                "feed", fetched.body, url=fetched.url, content_type=fetched.content_type
            )
        except FetchError as error:
            self._keep(url, _after_failure(marks, error, now))
            return Visit(url, "failed", error.reason)
        articles = list(self._articles(entries, url, result))
        if self._full_text:
            articles = list(self._with_full_text(articles, result))
        add_articles(self._store, self._finder, articles, Refusals(result.summary))
        self._keep(url, FeedMarks(fetched.etag, fetched.last_modified))
        return Visit(url, "fetched")

    def _articles(self, entries: list[feeds.Entry], url: str, result: Round) -> Iterator[Article]:
        seen = datetime.now(UTC)
        for entry in entries:
            try:
                article = feeds.article_of(entry, url, seen)
            except (DataError, ValidationError) as error:
                result.summary.refused[reason_of(error)] += 1
            else:
                result.undated += "time" not in entry
                yield article

    def _with_full_text(self, articles: list[Article], result: Round) -> Iterator[Article]:
        """Articles not known yet, with the text of the page they link to where that is longer."""
        known = self._store.known([keys_of(article) for article in articles])
        for article, why in zip(articles, known, strict=True):
            text = self._page_text(article.url) if why is None and article.url else ""
            if len(text) > len(article.text):
                result.full_texts += 1
                yield article.model_copy(update={"text": text})
            else:
                yield article

    def _page_text(self, url: str) -> str:
        try:
            fetched = self._fetcher.get(url, pages.LARGEST)
            found = self._worker.read("page", fetched.body or b"", url=fetched.url)
        except FetchError:
            return ""  # the feed's own text will do
        return str(found["text"]) if found else ""

    def _marks(self, url: str) -> FeedMarks:
        found = self._store.database.rows(
            "SELECT etag, last_modified, failures, not_before FROM feeds WHERE url = ?", (url,)
        )
        return FeedMarks(*found[0]) if found else FeedMarks()

    def _keep(self, url: str, marks: FeedMarks) -> None:
        self._store.database.run(
            "INSERT OR REPLACE INTO feeds (url, etag, last_modified, failures, not_before) "
            "VALUES (?,?,?,?,?)",
            (url, *marks),
        )


def _after_failure(marks: FeedMarks, error: FetchError, now: datetime) -> FeedMarks:
    """Twice as long a wait with each failure in a row, or as long as the server asks for."""
    failures = marks.failures + 1
    wait = min(FIRST_WAIT * 2 ** min(failures - 1, 20), LONGEST_WAIT)
    asked = _asked_wait(error.retry_after, now)
    if asked is not None:
        wait = min(max(asked, wait), LONGEST_ASKED)
    return marks._replace(failures=failures, not_before=microseconds(now + wait))


def _asked_wait(retry_after: str | None, now: datetime) -> timedelta | None:
    """Retry-After as a time to wait: seconds, or a date."""
    if not retry_after:
        return None
    if retry_after.strip().isdecimal():
        return timedelta(seconds=min(int(retry_after), LONGEST_ASKED.total_seconds()))
    try:
        date = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)) - now
