"""Rounds over feeds: what is new goes into the store, what fails is left alone for a while.

The marks of a visit (ETag, Last-Modified) are kept only after its articles are: a run killed in
between fetches them again.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from hashnews.dates import read_date
from hashnews.errors import BlockedAddress, StoreError
from hashnews.news import feeds, own_feeds, pages
from hashnews.news.discover import title_in
from hashnews.news.fetch import Fetched, Fetcher
from hashnews.news.ingest import add_articles
from hashnews.news.keys import keys_of, site_of
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary, reason_of
from hashnews.news.worker import Worker
from hashnews.records import Article, write_time
from hashnews.text.entities import EntityFinder
from hashnews.times import microseconds, moment_of

Outcome = Literal["fetched", "unchanged", "waiting", "failed"]
VISITING = "visiting"  # stands until the visit is over: a feed that ends us is not the next again
# A failure may be our own network's: even after many of them a feed is not left for long.
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=5), timedelta(hours=4)
LONGEST_ASKED = timedelta(days=1)
SECONDS = re.compile(r"[0-9]+")
# Full texts of one visit: so many pages, for so long; the articles after that keep the feed's text.
PAGES, PAGES_A_STEP, PAGE_SECONDS = 100, 10, 180.0
ITEMS = 2_000  # of one visit; feeds have their newest first, and a flood must not drown the others


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
        now: bool = False,
        heard: Callable[[str, Fetched], None] | None = None,
    ):
        self._store = store
        self._finder = finder
        self._fetcher = fetcher
        self._worker = worker
        self._full_text = full_text
        self._now = now  # whatever failed before
        self._heard = heard  # is told of each feed that was read

    def visit_all(self, urls: Sequence[str], result: Round) -> Iterator[Visit]:
        """Visit each feed; `result` grows with every visit given."""
        for url in urls:
            visit = self.visit(url, result)
            result.visits.append(visit)
            yield visit

    def visit(self, url: str, result: Round) -> Visit:
        """Fetch one feed and store what is new; of one's own feeds also how it went."""
        marks = self._marks(url)
        now = datetime.now(UTC)
        if microseconds(now) < marks.not_before and not self._now:
            return Visit(url, "waiting", f"until {write_time(moment_of(marks.not_before))}")
        own_feeds.note_visit(self._store, url, VISITING, at=now)
        before = result.summary.added
        try:
            visit = self._visit(url, marks, result)
        except StoreError:
            raise
        except BlockedAddress as error:  # our own refusal says nothing about the feed
            visit = Visit(url, "failed", error.reason)
        except Exception as error:  # nothing that a feed does may end the round
            self._keep(url, _after_failure(marks, error, now))
            visit = Visit(url, "failed", reason_of(error))
        brought = result.summary.added - before
        own_feeds.note_visit(self._store, url, visit.outcome, visit.note, brought)
        return visit

    def _visit(self, url: str, marks: FeedMarks, result: Round) -> Visit:
        fetched = self._fetcher.get(url, feeds.LARGEST, marks.etag, marks.last_modified)
        if fetched.body is None:
            self._keep(url, marks._replace(failures=0, not_before=0))
            return Visit(url, "unchanged")
        entries = self._worker.read(
            "feed", fetched.body, url=fetched.url, content_type=fetched.content_type
        )
        source = self._source(url, fetched)
        articles = list(self._articles(entries[:ITEMS], url, fetched.url, result))
        for step in self._steps(articles, result) if self._full_text else [articles]:
            refusals = Refusals(result.summary)
            add_articles(self._store, self._finder, step, refusals, source=source)
        if self._heard is not None:
            self._heard(url, fetched)
        self._keep(url, FeedMarks(fetched.etag, fetched.last_modified))
        return Visit(url, "fetched")

    def _source(self, url: str, fetched: Fetched) -> str | None:
        """The title of one's own feed, asked of the feed where it is not known yet."""
        title = own_feeds.title_of(self._store, url)
        if title == "":
            title = title_in(fetched, self._worker) or str(site_of(url))
            own_feeds.keep_title(self._store, url, title)
        return title

    def _articles(
        self, entries: list[feeds.Entry], url: str, moved_to: str, result: Round
    ) -> Iterator[Article]:
        seen = datetime.now(UTC)
        for entry in entries:
            try:
                article = feeds.article_of(entry, url, seen, moved_to)
            except Exception as error:  # one bad item says nothing about the next
                result.summary.refused[reason_of(error)] += 1
            else:
                result.undated += "time" not in entry
                yield article

    def _steps(self, articles: list[Article], result: Round) -> Iterator[list[Article]]:
        """Articles with the text of the page they link to, a few at a time; then all the others."""
        known = self._store.known([keys_of(article) for article in articles])
        told = list(zip(articles, known, strict=True))
        new = [article for article, why in told if why is None]
        end = time.monotonic() + PAGE_SECONDS
        for start in range(0, min(len(new), PAGES), PAGES_A_STEP):
            step = new[start : min(start + PAGES_A_STEP, PAGES)]
            yield [self._with_full_text(article, end, result) for article in step]
        yield new[PAGES:] + [article for article, why in told if why is not None]

    def _with_full_text(self, article: Article, end: float, result: Round) -> Article:
        """An article with the text of its page where that is longer and there is time for it."""
        in_time = time.monotonic() < end
        text = self._page_text(article.url) if article.url and in_time else ""
        if len(text) <= len(article.text):
            return article
        result.full_texts += 1
        return article.model_copy(update={"text": text})

    def _page_text(self, url: str) -> str:
        try:
            fetched = self._fetcher.get(url, pages.LARGEST)
            found = self._worker.read("page", fetched.body or b"", url=fetched.url)
        except Exception:  # whatever is wrong with the page, the feed's own text will do
            return ""
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


def _after_failure(marks: FeedMarks, error: Exception, now: datetime) -> FeedMarks:
    """Twice as long a wait with each failure in a row, or as long as the server asks for."""
    failures = marks.failures + 1
    wait = min(FIRST_WAIT * 2 ** min(failures - 1, 20), LONGEST_WAIT)
    asked = _asked_wait(getattr(error, "retry_after", None), now)
    if asked is not None:
        wait = min(max(asked, wait), LONGEST_ASKED)
    return marks._replace(failures=failures, not_before=microseconds(now + wait))


def _asked_wait(retry_after: str | None, now: datetime) -> timedelta | None:
    """Retry-After as a time to wait, at most `LONGEST_ASKED`: seconds, or a date."""
    if not retry_after:
        return None
    if SECONDS.fullmatch(retry_after.strip()):
        return min(timedelta(seconds=int(retry_after.strip()[:9])), LONGEST_ASKED)
    date = read_date(retry_after)
    return None if date is None else min(date.latest - now, LONGEST_ASKED)
