"""RSS and Atom: bytes into entries, entries into articles.

`read_feed` runs in the worker. It never gets an address and never bytes by themselves: feedparser
would open what looks like a file or a URL.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

from hashnews.dates import read_date, settle
from hashnews.errors import DataError, NotAFeed
from hashnews.news.keys import same_site, site_of
from hashnews.news.pages import plain_text, sound_references
from hashnews.records import Article, identify

LARGEST = 10 << 20
LONGEST_LINK = 2_000  # characters
LONGEST = {"guid": LONGEST_LINK, "title": 2_000, "text": 1_000_000}
LONGEST_PROLOG = 64 << 10
GLOBAL_ID = re.compile(r"(?:https?://|tag:)([^\s/,:?#@]+)\S*", re.IGNORECASE)
SKIPPED_IN_PROLOG = re.compile(rb"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[<>]*>", re.DOTALL)

Entry = dict[str, Any]


def read_feed(body: bytes, url: str | None = None, content_type: str | None = None) -> list[Entry]:
    """The entries of a feed: `guid, link, title, text, time`, what is unknown left out."""
    feed = parsed_feed(body, url, content_type)
    if not feed.get("version") and not feed.entries:
        raise NotAFeed("it is neither RSS nor Atom")
    return [whole_entry(_entry, entry, url) for entry in feed.entries]


def parsed_feed(body: bytes, url: str | None, content_type: str | None) -> Any:
    """A feed as feedparser reads it."""
    refuse_declarations(body)
    import feedparser

    headers = {}
    if url:
        headers["content-location"] = url  # relative links are relative to it
    if content_type:
        headers["content-type"] = content_type
    sound = io.BytesIO(_with_sound_references(body))
    return feedparser.parse(
        sound, response_headers=headers, sanitize_html=False, resolve_relative_uris=False
    )


def _with_sound_references(body: bytes) -> bytes:
    """The feed without references to characters that do not exist: one would lose all of it."""
    wide = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    encoding = "utf-16" if body.startswith(wide) or b"\0" in body[:4] else "latin-1"
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError:
        return body
    sound = sound_references(text)
    return body if sound == text else sound.encode(encoding)


def refuse_declarations(body: bytes) -> None:
    """Refuse entity declarations, of which XML bombs are made; no feed needs one."""
    prolog = body[:LONGEST_PROLOG].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe")
    at = 0
    while skipped := SKIPPED_IN_PROLOG.match(prolog, at):
        at = skipped.end()
    rest = prolog[at:]
    if rest.startswith((b"<!", b"<?")) or (not rest and len(body) > LONGEST_PROLOG):
        raise NotAFeed("it declares entities of its own, which feeds never need")


def whole_entry(read: Callable[[Any, str | None], Entry], entry: Any, base: str | None) -> Entry:
    """An entry, or why it cannot be read: one bad entry says nothing about the next."""
    try:
        found = read(entry, base)
        return {name: value[: LONGEST.get(name)] for name, value in found.items() if value}
    except Exception as error:  # whatever a parser made of hostile bytes
        return {"unreadable": f"could not be read ({type(error).__name__})"}


def _entry(entry: Any, base: str | None) -> Entry:
    texts = [part.get("value", "") for part in entry.get("content", ())]
    texts.append(entry.get("summary", ""))
    return {
        "guid": str(entry.get("id", "")),
        "link": web_link(base, entry.get("link", "")),
        "title": " ".join(plain_text(entry.get("title", "")).split()),
        "text": max((plain_text(text) for text in texts), key=len),
        "time": _time(entry),
    }


def web_link(base: str | None, written: str) -> str | None:
    """Where an entry points to, made whole; only addresses of the web are kept."""
    try:
        link = urljoin(base or "", written.strip())
    except ValueError:
        return None
    return link if is_web(link) and len(link) <= LONGEST_LINK else None


def is_web(url: str) -> bool:
    """Whether an address is one of http or https."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def _time(entry: Any) -> str | None:
    """When it was published, as written, or at least last changed; what can be read of these."""
    # `dict.get`, because feedparser answers for `updated` with `published`, and a warning.
    written = (str(dict.get(entry, name) or "") for name in ("published", "updated"))
    return next((date for date in written if read_date(date) is not None), None)


def article_of(
    entry: Entry, feed: str, seen: datetime | None, moved_to: str | None = None
) -> Article:
    """An entry as an article; `seen` is when the feed was fetched, if it was.

    A feed speaks for its own site: of an entry that points elsewhere the source is the feed's
    site. `moved_to` is where the feed was found in the end.
    """
    if "unreadable" in entry:
        raise DataError(entry["unreadable"])
    link = entry.get("link")
    is_own = not is_web(feed) or (
        link is not None and (same_site(link, feed) or same_site(link, moved_to or feed))
    )
    return Article(
        id=entry_id(entry, feed, is_own),
        title=entry.get("title", ""),
        text=entry.get("text", ""),
        published_at=settle([entry["time"]] if "time" in entry else [], seen).astimezone(UTC),
        url=link,
        source=site_of(link if link and is_own else feed),
    )


def entry_id(entry: Entry, feed: str, is_own: bool = True) -> str:
    """A guid of the feed's own site as it is, any other together with its feed.

    Else a feed could take the ids of another site.
    """
    guid, link = str(entry.get("guid", "")), entry.get("link")
    named = GLOBAL_ID.fullmatch(guid)
    if named and is_own and (not is_web(feed) or same_site(f"https://{named[1]}/", feed)):
        return guid
    if guid or not link or not is_own:
        return identify(feed, guid or link or entry.get("title"), entry.get("time"))
    return identify(link)
