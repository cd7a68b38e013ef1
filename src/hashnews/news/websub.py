"""WebSub (w3.org/TR/websub): the hub of a feed tells when there is something new.

What a hub sends is not read. Signed with the secret that it was given, it says that the feed is
worth a visit now, and that visit goes the way of all others. Feeds are visited in turn all the
same, so a hub that falls silent, lies or refuses costs nothing but the wait for the next turn.
"""

from __future__ import annotations

import hmac
import secrets
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from hashnews.errors import FetchError
from hashnews.news.feeds import web_link
from hashnews.news.fetch import Fetched, Fetcher
from hashnews.news.store import NewsStore
from hashnews.news.worker import Worker
from hashnews.times import microseconds

LEASE = timedelta(days=10)  # that is asked for
LONGEST_LEASE = timedelta(days=30)
AGAIN = timedelta(hours=1)  # after a hub was asked and did not come back to us
AFTER_REFUSAL = timedelta(days=1)
SIGNATURES = {"sha1", "sha256", "sha384", "sha512"}  # those that the standard names


class Subscription(NamedTuple):
    """What is agreed with the hub of a feed."""

    feed: str
    name: str  # in the address that the hub calls
    hub: str
    topic: str  # what the hub calls the feed
    secret: str
    ask_at: int  # microseconds since 1970: when to ask for it, or for more time

    def is_signed(self, signature: str, body: bytes) -> bool:
        """Whether who sent this knows the secret; `signature` is `method=digest`."""
        method, _, digest = signature.partition("=")
        if method not in SIGNATURES:
            return False
        right = hmac.new(self.secret.encode(), body, method).hexdigest()
        return hmac.compare_digest(right.encode(), digest.strip().lower().encode())


class Subscriptions:
    """The hubs of a store's feeds."""

    def __init__(self, store: NewsStore):
        self._db = store.database

    def named(self, name: str) -> Subscription | None:
        """The one that a hub calls by this name."""
        return self._one("name", name)

    def of_feed(self, url: str) -> Subscription | None:
        """That of a feed, if it has a hub."""
        return self._one("feed", url)

    def _one(self, column: str, value: str) -> Subscription | None:
        found = self._db.rows(f"SELECT * FROM hubs WHERE {column} = ?", (value,))
        return Subscription(*found[0]) if found else None

    def note(self, feed: str, hub: str, topic: str) -> None:
        """Keep which hub a feed has; another one is a new subscription."""
        known = self.of_feed(feed)
        if known is None or (known.hub, known.topic) != (hub, topic):
            made = Subscription(
                feed, secrets.token_urlsafe(24), hub, topic, secrets.token_hex(32), 0
            )
            self._db.run("INSERT OR REPLACE INTO hubs VALUES (?,?,?,?,?,?)", made)

    def drop(self, feed: str) -> None:
        """A feed has no hub any more."""
        self._db.run("DELETE FROM hubs WHERE feed = ?", (feed,))

    def ask_after(self, name: str, wait: timedelta) -> None:
        """Leave the hub alone for a while."""
        when = microseconds(datetime.now(UTC) + wait)
        self._db.run("UPDATE hubs SET ask_at = ? WHERE name = ?", (when, name))

    def answered(self, name: str, mode: str, topic: str, lease: int) -> bool:
        """A hub comes back to us: whether what it says is what we asked it for."""
        known = self.named(name)
        if known is None or known.topic != topic or mode not in ("subscribe", "denied"):
            return False
        granted = min(timedelta(seconds=lease), LONGEST_LEASE) if lease > 0 else LEASE
        self.ask_after(name, granted * 3 / 4 if mode == "subscribe" else AFTER_REFUSAL)
        return True

    def is_news(self, name: str, signature: str, body: bytes) -> bool:
        """A hub tells of something new: if it is the hub, the feed is due at once."""
        known = self.named(name)
        if known is None or not known.is_signed(signature, body):
            return False
        self._db.run("UPDATE own_feeds SET visited = NULL WHERE url = ?", (known.feed,))
        return True


class Subscriber:
    """Asks the hubs of feeds to tell what is new; they answer at `callback`."""

    def __init__(self, store: NewsStore, fetcher: Fetcher, worker: Worker, callback: str):
        self._subscriptions = Subscriptions(store)
        self._fetcher = fetcher
        self._worker = worker
        self._callback = callback

    def heard(self, feed: str, fetched: Fetched) -> None:
        """A feed was fetched: keep which hub it names, in its head or in itself."""
        about = {"url": fetched.url, "content_type": fetched.content_type}
        hub, topic = fetched.hub, fetched.topic
        if not hub:
            with suppress(FetchError):
                hub, topic = self._worker.read("hub", fetched.body or b"", **about)
        whole = web_link(fetched.url, hub) if hub else None
        if whole is None:
            self._subscriptions.drop(feed)
        else:
            named = web_link(fetched.url, topic) if topic else None
            self._subscriptions.note(feed, whole, named or feed)

    def ask(self, feed: str) -> str | None:
        """Ask the hub of a feed, if it is time; says how that went."""
        known = self._subscriptions.of_feed(feed)
        if known is None or known.ask_at > microseconds(datetime.now(UTC)):
            return None
        self._subscriptions.ask_after(known.name, AGAIN)  # first: it may answer at once
        asked = {
            "hub.mode": "subscribe",
            "hub.topic": known.topic,
            "hub.callback": f"{self._callback}?name={known.name}",
            "hub.secret": known.secret,
            "hub.lease_seconds": str(LEASE // timedelta(seconds=1)),
        }
        try:
            self._fetcher.post(known.hub, asked)
        except FetchError as error:
            return error.reason
        return "asked"
