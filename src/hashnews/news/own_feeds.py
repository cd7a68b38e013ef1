"""The feeds that the owner of a store follows, and how the last visit to each went.

A list of feeds is added in one transaction: after a kill all of it is there, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from hashnews.errors import DataError
from hashnews.news.arrivals import note_arrival
from hashnews.news.feed_lists import ListedFeed, is_feed_url
from hashnews.news.store import NewsStore
from hashnews.records import write_time
from hashnews.times import MICROSECOND, microseconds, moment_of

COLUMNS = "url, title, topic, added, visited, outcome, note, articles, coalesce(not_before, 0)"

PAUSED = "paused"  # an outcome of its own


class OwnFeed(NamedTuple):
    """A feed of the store; times in microseconds since 1970."""

    url: str
    title: str
    topic: str
    added: int
    visited: int | None
    outcome: str
    note: str
    articles: int
    not_before: int

    def state(self, now: datetime) -> str:
        """The outcome of the last visit; or `new`, `waiting` after a failure, `paused`."""
        if microseconds(now) < self.not_before and self.outcome != PAUSED:
            return "waiting"
        return self.outcome or "new"

    def as_dict(self, now: datetime) -> dict[str, object]:
        """For `--json` and over HTTP."""
        waits = self.state(now) == "waiting"
        return {
            "url": self.url,
            "title": self.title,
            "topic": self.topic or None,
            "state": self.state(now),
            "note": self.note or None,
            "articles": self.articles,
            "added_at": write_time(moment_of(self.added)),
            "visited_at": None if self.visited is None else write_time(moment_of(self.visited)),
            "waits_until": write_time(moment_of(self.not_before)) if waits else None,
        }


def add_feeds(store: NewsStore, feeds: Iterable[ListedFeed]) -> int:
    """Follow feeds, all or none; says how many are new."""
    rows = [(*_checked(feed), microseconds(datetime.now(UTC))) for feed in feeds]
    with store.database.transaction():
        before = store.database.changed_rows
        store.database.run_many(
            "INSERT OR IGNORE INTO own_feeds VALUES (?,?,?,?,NULL,'','',0)", rows
        )
        return store.database.changed_rows - before


def _checked(feed: ListedFeed) -> tuple[str, str, str]:
    if not is_feed_url(feed.url):
        raise DataError(f"{feed.url[:80]!r} is not the URL of a feed")
    return feed.url, feed.title, feed.topic


def list_feeds(store: NewsStore) -> list[OwnFeed]:
    """All feeds of the store, by topic and title."""
    found = store.database.rows(
        f"SELECT {COLUMNS} FROM own_feeds LEFT JOIN feeds USING (url) ORDER BY topic, title, url"
    )
    return [OwnFeed(*row) for row in found]


def pick_feeds(store: NewsStore, names: Sequence[str]) -> list[OwnFeed]:
    """The feeds of these addresses or titles; a name that fits none is refused."""
    every, picked = list_feeds(store), []
    for name in names:
        fitting = [feed for feed in every if name in (feed.url, feed.title)]
        if not fitting:
            raise DataError(f"{store.path} has no feed {name[:80]!r}: see hashnews feeds list")
        picked += fitting
    return list(dict.fromkeys(picked))


def remove_feeds(store: NewsStore, urls: Sequence[str]) -> None:
    """Follow feeds no more; their articles stay."""
    with store.database.transaction():
        for table, column in (("own_feeds", "url"), ("feeds", "url"), ("hubs", "feed")):
            store.database.run_many(
                f"DELETE FROM {table} WHERE {column} = ?", [(url,) for url in urls]
            )


def pause_feed(store: NewsStore, url: str, paused: bool = True) -> None:
    """Visit a feed no more until it is to go on: a visit that is under way changes nothing."""
    store.database.run(
        "UPDATE own_feeds SET outcome = ?, note = '' WHERE url = ?", (PAUSED if paused else "", url)
    )


def due_feeds(store: NewsStore, every: timedelta, now: datetime) -> list[str]:
    """The feeds to be visited now, those that waited longest first."""
    present = microseconds(now)
    found = store.database.rows(  # a visit of the future is that of a clock put back since
        "SELECT url FROM own_feeds LEFT JOIN feeds USING (url) "
        "WHERE NOT (coalesce(visited, 0) > ? AND visited <= ?) AND coalesce(not_before, 0) <= ? "
        f"AND outcome != '{PAUSED}' "
        "ORDER BY coalesce(visited, 0), url",
        (present - every // MICROSECOND, present, present),
    )
    return [url for (url,) in found]


def title_of(store: NewsStore, url: str) -> str | None:
    """What a feed is called, empty where that is not known yet; None: not a feed of the store."""
    found = store.database.rows("SELECT title FROM own_feeds WHERE url = ?", (url,))
    return str(found[0][0]) if found else None


def keep_title(store: NewsStore, url: str, title: str) -> None:
    """Remember what a feed is called."""
    store.database.run("UPDATE own_feeds SET title = ? WHERE url = ?", (title, url))


def note_visit(
    store: NewsStore,
    url: str,
    outcome: str,
    note: str = "",
    articles: int = 0,
    at: datetime | None = None,
) -> None:
    """Keep how a visit went, `at` when it began; nothing where the feed is not the store's."""
    store.database.run(
        "UPDATE own_feeds SET outcome = ?, note = ?, articles = articles + ?, "
        f"visited = coalesce(?, visited) WHERE url = ? AND outcome != '{PAUSED}'",
        (outcome, note, articles, None if at is None else microseconds(at), url),
    )
    note_arrival(store, url, "articles", articles)
