"""What the feed process does: it visits the feeds of the store when they are due.

Nothing leaves the machine but requests to the feeds. What it adds the news process finds by itself.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hashnews.errors import DataError, FetchError
from hashnews.news.discover import discover
from hashnews.news.fetch import Fetcher
from hashnews.news.own_feeds import due_feeds
from hashnews.news.rounds import Round, Rounds
from hashnews.news.store import NewsStore
from hashnews.news.websub import Subscriber
from hashnews.news.worker import Worker
from hashnews.service.settings import CALLBACK, ServiceSettings
from hashnews.text.entities import load_finder


class FeedProcess:
    """One store, one connection to the web, one reader of foreign bytes."""

    def __init__(self, settings: ServiceSettings):
        assert settings.news is not None  # the server sees to it
        self._every = timedelta(seconds=settings.every)
        self._store = NewsStore(settings.news, "write")
        finder = load_finder(self._store.state().finder or "fast")
        fetcher = Fetcher(settings.allow_private)
        worker, heard = Worker(), None
        self._subscriber: Subscriber | None = None
        if settings.public_url:
            callback = settings.public_url.rstrip("/") + CALLBACK
            self._subscriber = Subscriber(self._store, fetcher, worker, callback)
            heard = self._subscriber.heard
        self._rounds = Rounds(self._store, finder, fetcher, worker, heard=heard)

    def due(self) -> list[str]:
        """The addresses of the feeds to be visited now."""
        self._store.database.follow_name()
        return due_feeds(self._store, self._every, datetime.now(UTC))

    def visit(self, url: str) -> dict[str, object]:
        """Visit a feed; says how it went."""
        result = Round()
        visit = self._rounds.visit(url, result)
        told = {**visit._asdict(), "added": result.summary.added}
        if self._subscriber and visit.outcome in ("fetched", "unchanged"):
            told["hub"] = self._subscriber.ask(url)
        return told


class FeedFinder:
    """Looks for the feed of a site, once."""

    def __init__(self, allow_private: bool):
        self._allow_private = allow_private

    def find(self, site: str) -> dict[str, str]:
        """Its address and title; `{"refused": why}` where there is none."""
        try:
            with Fetcher(self._allow_private) as fetcher, Worker() as worker:
                return discover(site, fetcher, worker)[0]._asdict()
        except (DataError, FetchError) as error:
            return {"refused": error.reason}
