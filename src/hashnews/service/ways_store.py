"""What the page's ways in do to the store: feeds and sources, what arrived, an author forgotten."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from hashnews.errors import DataError
from hashnews.news.arrivals import latest_arrivals
from hashnews.news.feed_lists import ListedFeed
from hashnews.news.own_feeds import add_feeds, list_feeds, pause_feed, remove_feeds
from hashnews.news.store import NewsStore
from hashnews.posts.networks.address import parse_source
from hashnews.posts.networks.authors import forget_author
from hashnews.posts.networks.events import FollowSettings
from hashnews.posts.networks.sources import (
    add_source,
    forget_source,
    pause_source,
    source_states,
    with_kept,
)
from hashnews.posts.table import count_posts

ARRIVALS = 30  # lines that are shown


class WaysStore:
    """One store; whatever is refused is returned as the text that says why."""

    def __init__(self, store: NewsStore):
        self._store = store

    def do(self, what: str, *arguments: Any) -> Any:
        """Do one of the things below; `{"refused": why}` where it cannot be done."""
        actions: dict[str, Callable[..., Any]] = {
            "state": self._state,
            "add_feed": self._add_feed,
            "add_source": self._add_source,
            "pause": self._pause,
            "remove": self._remove,
            "forget": self._forget,
        }
        try:
            return actions[what](*arguments)
        except DataError as error:
            return {"refused": error.reason}

    def _state(self) -> dict[str, Any]:
        now = datetime.now(UTC)
        counts = count_posts(self._store)
        return {
            "posts": counts["posts"],
            "authors": counts["users"],
            "feeds": [feed.as_dict(now) for feed in list_feeds(self._store)],
            "sources": [state.as_dict() for state in source_states(self._store)],
            "arrivals": [line.as_dict() for line in latest_arrivals(self._store, ARRIVALS)],
        }

    def _add_feed(self, url: str, title: str) -> dict[str, Any]:
        new = add_feeds(self._store, [ListedFeed(url, title)])
        return {"address": url, "title": title, "added": bool(new)}

    def _add_source(self, address: str, user: str | None, allow_private: bool) -> dict[str, Any]:
        source = parse_source(address, allow_private)
        accounts = {}
        if user and source.kind == "account":
            at = f"{source.name}@{source.host}" if source.network == "mastodon" else source.name
            accounts = {(source.name if "@" in source.name else at).lower(): user}
        settings = FollowSettings(accounts=accounts, allow_private=allow_private)
        for known in source_states(self._store):
            if known.address == source.text:  # its filters stay as they are
                settings = with_kept(settings, json.loads(known.settings))
        new = add_source(self._store, address, settings)
        return {"address": source.text, "title": "", "added": new}

    def _is_feed(self, address: str) -> bool:
        return any(feed.url == address for feed in list_feeds(self._store))

    def _pause(self, address: str, paused: bool) -> dict[str, Any]:
        pause = pause_feed if self._is_feed(address) else pause_source
        pause(self._store, address, paused)
        return {"address": address, "paused": paused}

    def _remove(self, address: str) -> dict[str, Any]:
        if self._is_feed(address):
            remove_feeds(self._store, [address])
            return {"address": address, "forgotten": 0}
        return {"address": address, "forgotten": forget_source(self._store, address)}

    def _forget(self, author: str) -> dict[str, Any]:
        return {"forgotten": forget_author(self._store, author)}
