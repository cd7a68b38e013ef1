"""RSS and Atom: bytes into entries, entries into articles; lists of feeds, OPML among them.

`read_feed` runs in the worker. It never gets an address and never bytes by themselves: feedparser
would open what looks like a file or a URL.
"""

from __future__ import annotations

import io
import re
from calendar import timegm
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from hashnews.errors import DataError, NotAFeed
from hashnews.news.pages import plain_text
from hashnews.records import Article, identify, write_time
from hashnews.times import settle

LARGEST = 10 << 20
LONGEST_PROLOG = 64 << 10
GLOBAL_ID = re.compile(r"(?:https?://|tag:|urn:)\S+", re.IGNORECASE)
SKIPPED_IN_PROLOG = re.compile(rb"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[<>]*>", re.DOTALL)

Entry = dict[str, Any]


def read_feed(body: bytes, url: str | None = None, content_type: str | None = None) -> list[Entry]:
    """The entries of a feed: `guid, link, title, text, time`, what is unknown left out."""
    refuse_declarations(body)
    import feedparser

    headers = {}
    if url:
        headers["content-location"] = url  # relative links are relative to it
    if content_type:
        headers["content-type"] = content_type
    feed = feedparser.parse(
        io.BytesIO(body), response_headers=headers, sanitize_html=False, resolve_relative_uris=False
    )
    if not feed.get("version") and not feed.entries:
        raise NotAFeed("it is neither RSS nor Atom")
    return [_entry(entry, url) for entry in feed.entries]


def refuse_declarations(body: bytes) -> None:
    """Refuse entity declarations, of which XML bombs are made; no feed needs one."""
    prolog = body[:LONGEST_PROLOG].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe")
    at = 0
    while skipped := SKIPPED_IN_PROLOG.match(prolog, at):
        at = skipped.end()
    rest = prolog[at:]
    if rest.startswith((b"<!", b"<?")) or (not rest and len(body) > LONGEST_PROLOG):
        raise NotAFeed("it declares entities of its own, which feeds never need")


def _entry(entry: Any, base: str | None) -> Entry:
    texts = [part.get("value", "") for part in entry.get("content", ())]
    texts.append(entry.get("summary", ""))
    found = {
        "guid": entry.get("id"),
        "link": _link(base, entry.get("link", "")),
        "title": " ".join(plain_text(entry.get("title", "")).split()),
        "text": max((plain_text(text) for text in texts), key=len),
        "time": _time(entry),
    }
    return {name: value for name, value in found.items() if value}


def _link(base: str | None, written: str) -> str | None:
    """Where an entry points to, made whole; only addresses of the web are kept."""
    try:
        link = urljoin(base or "", written.strip())
    except ValueError:
        return None
    return link if is_web(link) else None


def is_web(url: str) -> bool:
    """Whether an address is one of http or https."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def _time(entry: Any) -> str | None:
    """When it was published, or at least last changed; a day without an hour stays one."""
    for name in ("published", "updated", "created"):
        # `dict.get`, because feedparser answers for `updated` with `published`, and a warning.
        written, parsed = dict.get(entry, name), dict.get(entry, f"{name}_parsed")
        if written and parsed:
            try:
                moment = datetime.fromtimestamp(timegm(parsed), UTC)
            except (ValueError, OverflowError, OSError):
                continue
            return write_time(moment) if ":" in written else moment.date().isoformat()
    return None


def article_of(entry: Entry, feed: str, seen: datetime | None) -> Article:
    """An entry as an article; `seen` is when the feed was fetched, if it was."""
    link = entry.get("link")
    return Article(
        id=entry_id(entry, feed),
        title=entry.get("title", ""),
        text=entry.get("text", ""),
        published_at=settle(entry.get("time"), seen),
        url=link,
        source=site_of(link or feed),
    )


def entry_id(entry: Entry, feed: str) -> str:
    """A guid that is unique in the world as it is, any other together with its feed."""
    guid, link = entry.get("guid"), entry.get("link")
    if guid and GLOBAL_ID.fullmatch(guid):
        return str(guid)
    if guid or not link:
        return identify(feed, guid or entry.get("title"), entry.get("time"))
    return identify(link)


def site_of(url: str) -> str | None:
    """The site of an address: what the reader would call the source."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return host.removeprefix("www.") if host else None


def feeds_in(source: str) -> list[str]:
    """The addresses that an argument stands for: itself, the lines of a list, or an OPML file."""
    if is_web(source):
        return [source]
    try:
        content = Path(source).read_bytes()
    except OSError as error:
        raise DataError(f"is neither a URL nor a readable file: {error.strerror}", source) from None
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        found = _opml(content, source)
    else:
        lines = content.decode("utf-8-sig", "replace").splitlines()
        found = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    for url in found:
        if not is_web(url):
            raise DataError(f"{url[:80]!r} is not the URL of a feed", source)
    if not found:
        raise DataError("it lists no feed", source)
    return list(dict.fromkeys(found))


def _opml(content: bytes, source: str) -> list[str]:
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    try:
        outlines = fromstring(content, forbid_dtd=True).iter("outline")
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise DataError(f"cannot be read as OPML: {error}", source) from None
    addresses = (outline.get("xmlUrl") or outline.get("xmlurl") for outline in outlines)
    return [address.strip() for address in addresses if address]
