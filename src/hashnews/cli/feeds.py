"""Commands of the store's feeds: add, list, remove, import, export, check, starter."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from hashnews.cli.console import say, track
from hashnews.cli.options import (
    Commands,
    any_store_option,
    json_option,
    news_option,
    private_option,
)
from hashnews.terminal import one_line

if TYPE_CHECKING:
    from hashnews.news.feed_lists import ListedFeed
    from hashnews.news.own_feeds import OwnFeed

NEXT = "to fetch the news: hashnews news fetch"


@click.group(cls=Commands)
def feeds() -> None:
    """The feeds of the store, which `news fetch` and `serve --fetch` fetch."""


@feeds.command()
@click.argument("sites", nargs=-1, required=True)
@news_option
@private_option
@json_option
def add(sites: tuple[str, ...], path: str, allow_private: bool, as_json: bool) -> None:
    """Add the feed of each site: the address of a feed or of any page that has one.

    A page with several feeds lists them; its first one is added.
    """
    from hashnews.news.discover import discover
    from hashnews.news.feed_lists import ListedFeed
    from hashnews.news.fetch import Fetcher
    from hashnews.news.own_feeds import add_feeds
    from hashnews.news.store import NewsStore
    from hashnews.news.worker import Worker

    with Fetcher(allow_private) as fetcher, Worker() as worker:
        for site in sites:
            main, *others = discover(site.strip(), fetcher, worker)
            with NewsStore(path, "write") as store:
                new = add_feeds(store, [ListedFeed(main.url, main.title)])
            if as_json:
                also = [other._asdict() for other in others]
                _print({"added": bool(new), **main._asdict(), "others": also})
                continue
            say(one_line(f"{'added' if new else 'known already'}: {main.title}  {main.url}"))
            for other in others:
                told = f"  also there: {other.title or '(no title)'}  {other.url}"
                say(one_line(told), err=True)
    if not as_json:
        say(NEXT, err=True)


@feeds.command("list")
@any_store_option
@json_option
def list_(path: str, as_json: bool) -> None:
    """List the feeds and how the last visit to each went."""
    from hashnews.news.own_feeds import list_feeds
    from hashnews.news.store import NewsStore

    with NewsStore(path) as store:
        found = list_feeds(store)
    now = datetime.now(UTC)
    for feed in found:
        if as_json:
            _print(feed.as_dict(now))
        else:
            say(one_line(_line(feed, now)))
    if not found:
        say("There are no feeds yet: run hashnews feeds add SITE", err=True)


def _line(feed: OwnFeed, now: datetime) -> str:
    told = feed.as_dict(now)
    until = f" until {told['waits_until']}" if told["waits_until"] else ""
    note = f" ({feed.note}{until})" if feed.note else ""
    visited = str(told["visited_at"] or "never")[:16].replace("T", " ")
    title = feed.title or "(no title yet)"
    return f"{told['state']:9}  {visited:16}  {feed.articles:>7,}  {title}  {feed.url}{note}"


@feeds.command()
@click.argument("names", nargs=-1, required=True, metavar="URL|TITLE...")
@news_option
@json_option
def remove(names: tuple[str, ...], path: str, as_json: bool) -> None:
    """Remove feeds, named by address or title. Their articles stay."""
    from hashnews.news.own_feeds import pick_feeds, remove_feeds
    from hashnews.news.store import NewsStore

    with NewsStore(path, "write") as store:
        gone = pick_feeds(store, names)
        remove_feeds(store, [feed.url for feed in gone])
    say(json.dumps({"removed": len(gone)}) if as_json else f"{len(gone):,} removed")


@feeds.command("import")
@click.argument("files", nargs=-1, required=True)
@news_option
@json_option
def import_(files: tuple[str, ...], path: str, as_json: bool) -> None:
    """Add the feeds of lists: OPML, or files with one URL per line. Nothing is fetched yet."""
    from hashnews.news.feed_lists import is_feed_url, read_list

    listed = [feed for file in files for feed in read_list(file)]
    fit = [feed for feed in listed if is_feed_url(feed.url)]
    for feed in listed:
        if not is_feed_url(feed.url):
            say(f"refused: {feed.url[:80]!r} is not the URL of a feed", err=True)
    _add_listed(path, fit, len(listed) - len(fit), as_json)


def _add_listed(path: str, listed: Sequence[ListedFeed], refused: int, as_json: bool) -> None:
    from hashnews.news.own_feeds import add_feeds
    from hashnews.news.store import NewsStore

    with NewsStore(path, "write") as store:
        added = add_feeds(store, listed)
    result = {"added": added, "known": len(listed) - added, "refused": refused}
    told = ", ".join(f"{count:,} {what}" for what, count in result.items())
    say(json.dumps(result) if as_json else told)
    if added and not as_json:
        say(NEXT, err=True)


@feeds.command()
@click.option("-o", "--out", default="-", show_default=True, help="File to write; `-`: stdout.")
@news_option
def export(out: str, path: str) -> None:
    """Write the feeds as OPML, which other readers of feeds can import."""
    from hashnews.files import new_file
    from hashnews.news.feed_lists import ListedFeed, write_opml
    from hashnews.news.own_feeds import list_feeds
    from hashnews.news.store import NewsStore

    with NewsStore(path) as store:
        found = [ListedFeed(feed.url, feed.title, feed.topic) for feed in list_feeds(store)]
    with new_file(out) as stream:
        stream.write(write_opml(found))
    say(f"{len(found):,} feeds to {out}", err=True)


@feeds.command()
@click.argument("names", nargs=-1, metavar="[URL|TITLE]...")
@news_option
@private_option
@json_option
def check(names: tuple[str, ...], path: str, allow_private: bool, as_json: bool) -> None:
    """Fetch each feed once and say how it is; the store stays as it is.

    Exits with 1 if a feed cannot be read.
    """
    from hashnews.errors import FetchError
    from hashnews.news.discover import check_feed
    from hashnews.news.fetch import Fetcher
    from hashnews.news.own_feeds import list_feeds, pick_feeds
    from hashnews.news.store import NewsStore
    from hashnews.news.worker import Worker

    with NewsStore(path) as store:
        picked = pick_feeds(store, names) if names else list_feeds(store)
    failed = 0
    with Fetcher(allow_private) as fetcher, Worker() as worker:
        for feed in track(picked, "check"):
            told = check_feed(feed.url, fetcher, worker)
            failed += told.problem is not None
            if as_json:
                _print({"state": told.state, **told._asdict()})
            else:
                title = feed.title or told.title
                say(one_line(f"{told.state:6}  {title}  {feed.url}  {told.what}"))
    if failed:
        raise FetchError(f"{failed:,} of {len(picked):,} feeds cannot be read")


@feeds.command()
@click.argument("name", required=False, metavar="[TOPIC|COUNTRY]")
@click.option("--add", "adds", is_flag=True, help="Add them to the store.")
@news_option
@json_option
def starter(name: str | None, adds: bool, path: str, as_json: bool) -> None:
    """List, or add, public feeds of well-known outlets, by topic and country (gb, us, int, ...).

    They are not tested here: outlets move their feeds. See: hashnews feeds check.
    """
    from hashnews.news.starter import starter_feeds

    found = starter_feeds(name)
    if adds:
        _add_listed(path, found, 0, as_json)
        return
    for feed in found:
        if as_json:
            _print(feed._asdict())
        else:
            say(f"{feed.topic:10}  {' '.join(feed.labels):3}  {feed.title}  {feed.url}")
    if not as_json:
        say(f"to add them: hashnews feeds starter {name or 'TOPIC'} --add", err=True)


def _print(told: dict[str, object]) -> None:
    say(json.dumps(told, ensure_ascii=False))
