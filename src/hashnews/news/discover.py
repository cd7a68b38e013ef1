"""The feed of a site: the address itself, what its page links to, or a usual path.

A page is read in the worker: `read_links` runs there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin

from hashnews.errors import BlockedAddress, DataError, FetchError
from hashnews.news import feeds, pages
from hashnews.news.feed_lists import as_title, is_feed_url
from hashnews.news.keys import site_of
from hashnews.records import write_time

if TYPE_CHECKING:
    from hashnews.news.fetch import Fetched, Fetcher
    from hashnews.news.worker import Worker

TYPES = frozenset(
    "application/rss+xml application/atom+xml application/rdf+xml application/feed+json "
    "application/xml text/xml".split()
)
USUAL = ("feed", "rss", "feed.xml", "rss.xml", "atom.xml", "index.xml", "feed.json")
MOST_LINKS, MOST_TRIED = 50, 5


class FoundFeed(NamedTuple):
    """A feed and what it is called."""

    url: str
    title: str


class FeedCheck(NamedTuple):
    """What a feed looked like when somebody looked."""

    url: str
    title: str = ""
    entries: int = 0
    newest: str | None = None
    moved_to: str | None = None
    problem: str | None = None

    @property
    def state(self) -> str:
        """One word for it."""
        return "failed" if self.problem else "moved" if self.moved_to else "ok"

    @property
    def what(self) -> str:
        """A few words for it."""
        if self.problem:
            return self.problem
        since = f", newest {self.newest}" if self.newest else ""
        return f"entries: {self.entries:,}{since}{f', to {self.moved_to}' if self.moved_to else ''}"


def check_feed(url: str, fetcher: Fetcher, worker: Worker) -> FeedCheck:
    """Fetch a feed and read it, for nothing but to see how it is."""
    try:
        fetched = fetcher.get(url, feeds.LARGEST)
        title, entries = _read(fetched, worker)
    except FetchError as error:
        return FeedCheck(url, problem=error.reason)
    newest = max(map(write_time, _times(entries, url)), default=None)
    moved = fetched.url if fetched.url != url else None
    return FeedCheck(url, title, len(entries), newest, moved)


def _times(entries: list[feeds.Entry], url: str) -> Iterator[datetime]:
    """When the entries that say so were published."""
    now = datetime.now(UTC)
    for entry in entries:
        if "time" in entry:
            with suppress(DataError, ValueError):
                yield feeds.article_of(entry, url, now).published_at.astimezone(UTC)


def discover(site: str, fetcher: Fetcher, worker: Worker) -> list[FoundFeed]:
    """The feeds of a site, the main one, which was read, first; the others were not looked at."""
    url, fetched = _front(site, fetcher)
    with suppress(FetchError):  # a page may trouble the readers of feeds in any way
        return [FoundFeed(url, _title(url, fetched, worker))]
    body = (fetched.body or b"")[: pages.LARGEST]
    linked = [FoundFeed(*link) for link in worker.read("links", body, url=fetched.url)]
    for place, link in enumerate(linked[:MOST_TRIED]):
        if (found := _tried(link.url, fetcher, worker)) is not None:
            return [found, *linked[:place], *linked[place + 1 :]]
    for usual in _usual(fetched.url):
        if (found := _tried(usual, fetcher, worker)) is not None:
            return [found]
    raise FetchError("no feed was found there: give the address of the feed itself", url)


def _front(site: str, fetcher: Fetcher) -> tuple[str, Fetched]:
    """The page of a site; one named without http or https is asked for securely first."""
    if "://" in site:
        return site, fetcher.get(site, feeds.LARGEST)
    try:
        return f"https://{site}", fetcher.get(f"https://{site}", feeds.LARGEST)
    except BlockedAddress:
        raise
    except FetchError as error:
        with suppress(FetchError):
            return f"http://{site}", fetcher.get(f"http://{site}", feeds.LARGEST)
        raise error from None


def _tried(url: str, fetcher: Fetcher, worker: Worker) -> FoundFeed | None:
    try:
        return FoundFeed(url, _title(url, fetcher.get(url, feeds.LARGEST), worker))
    except FetchError:
        return None


def _title(url: str, fetched: Fetched, worker: Worker) -> str:
    """The title of what was fetched; raises where that is no feed."""
    title, _ = _read(fetched, worker)
    return title or str(site_of(url))


def _read(fetched: Fetched, worker: Worker) -> tuple[str, list[feeds.Entry]]:
    about = {"url": fetched.url, "content_type": fetched.content_type}
    entries = worker.read("feed", fetched.body or b"", **about)  # first: it refuses what is no feed
    return title_in(fetched, worker), entries


def title_in(fetched: Fetched, worker: Worker) -> str:
    """What a fetched feed calls itself; empty where it has no title that can be read."""
    about = {"url": fetched.url, "content_type": fetched.content_type}
    try:
        return str(worker.read("title", fetched.body or b"", **about))
    except FetchError:
        return ""


def _usual(page: str) -> Iterator[str]:
    """Where feeds mostly are: below the page, then below the site's front page."""
    below = page.partition("?")[0].partition("#")[0].rstrip("/") + "/"
    yield from dict.fromkeys(urljoin(base, path) for base in (below, urljoin(page, "/"))
                             for path in USUAL)  # fmt: skip


def read_links(body: bytes, url: str | None = None) -> list[tuple[str, str]]:
    """The feeds a page declares, `<link rel=alternate>`, with their titles; of comments last."""
    parser = _Links(url or "")
    parser.feed(body.decode("utf-8", "replace").replace("<![", "< !["))  # it gives up at `<![x[`
    parser.close()
    found = [link for link in parser.found.items() if link[0] != url]  # the page itself is none
    return sorted(found, key=lambda link: "comment" in "".join(link).casefold())[:MOST_LINKS]


class _Links(HTMLParser):
    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: dict[str, str] = {}
        self._base = base

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        given = {name: value or "" for name, value in reversed(attrs)}
        if tag == "base" and (base := feeds.web_link(self._base, given.get("href", ""))):
            self._base = base
        kind = given.get("type", "").partition(";")[0].strip().lower()
        if tag != "link" or kind not in TYPES:
            return
        if {"alternate", "feed"} & set(given.get("rel", "").lower().split()):
            url = feeds.web_link(self._base, given.get("href", ""))
            if given.get("href", "").strip() and url and is_feed_url(url):
                self.found.setdefault(url, as_title(given.get("title", "")))
