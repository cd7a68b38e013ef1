"""JSON Feed (jsonfeed.org), and any feed by what it begins with.

These run in the worker, like `read_feed`.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hashnews.dates import read_date
from hashnews.errors import NotAFeed
from hashnews.news.feed_lists import as_title
from hashnews.news.feeds import Entry, parsed_feed, read_feed, web_link, whole_entry
from hashnews.news.pages import plain_text

VERSION = "jsonfeed.org/version/"


def read_any_feed(
    body: bytes, url: str | None = None, content_type: str | None = None
) -> list[Entry]:
    """The entries of a feed, as `read_feed` gives them, also of a JSON Feed."""
    if not _is_json(body):
        return read_feed(body, url, content_type)
    return [
        whole_entry(_entry, item, url) for item in _parsed(body)["items"] if isinstance(item, dict)
    ]


def read_title(body: bytes, url: str | None = None, content_type: str | None = None) -> str:
    """What a feed calls itself."""
    if _is_json(body):
        return as_title(_text(_parsed(body).get("title")))
    return as_title(parsed_feed(body, url, content_type).feed.get("title", ""))


def read_hub(
    body: bytes, url: str | None = None, content_type: str | None = None
) -> tuple[str, str]:
    """The hub of a feed (WebSub), and what the feed calls itself there; empty where it has none."""
    if _is_json(body):
        feed = _parsed(body)
        hubs = [hub for hub in feed.get("hubs") or () if isinstance(hub, dict)]
        first = next((hub for hub in hubs if _text(hub.get("type")).lower() == "websub"), {})
        return _text(first.get("url")), _text(feed.get("feed_url"))
    links = parsed_feed(body, url, content_type).feed.get("links", [])
    named = {str(link.get("rel")): str(link.get("href", "")) for link in reversed(links)}
    return named.get("hub", ""), named.get("self", "")


def _is_json(body: bytes) -> bool:
    return body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def _parsed(body: bytes) -> dict[str, Any]:
    feed = None
    with suppress(ValueError, RecursionError):
        feed = json.loads(body.removeprefix(b"\xef\xbb\xbf"))
    if not isinstance(feed, dict) or VERSION not in _text(feed.get("version")):
        raise NotAFeed("it is neither RSS nor Atom nor JSON Feed")
    if not isinstance(feed.get("items"), list):
        raise NotAFeed("it is a JSON Feed without items")
    return feed


def _entry(item: dict[str, Any], base: str | None) -> Entry:
    html, text, summary = (_text(item.get(k)) for k in ("content_html", "content_text", "summary"))
    return {
        "guid": _text(item.get("id")),
        "link": web_link(base, _text(item.get("url")) or _text(item.get("external_url"))),
        "title": " ".join(_text(item.get("title")).split()),
        "text": max(plain_text(html), text.strip(), summary.strip(), key=len),
        "time": _time(item),
    }


def _text(value: object) -> str:
    """A string of the feed; half a surrogate pair, which JSON can hold, is no character."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return ""
    return value.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _time(item: dict[str, Any]) -> str | None:
    """When it was published, or at least last changed, if that can be read."""
    written = (_text(item.get(name)) for name in ("date_published", "date_modified"))
    return next((date for date in written if read_date(date) is not None), None)
