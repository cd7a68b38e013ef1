"""Commands of the news store: add, fetch, stats, search, forget; and for the whole of it."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hashnews.cli import store as whole
from hashnews.cli.console import say, track
from hashnews.cli.options import (
    Commands,
    any_store_option,
    are_there,
    as_seconds,
    json_option,
    news_option,
    on_error_option,
    period_options,
    private_option,
    store_finder_option,
)
from hashnews.terminal import one_line

if TYPE_CHECKING:
    from hashnews.errors import HashNewsError
    from hashnews.files import OnError
    from hashnews.news.rounds import Round, Rounds
    from hashnews.news.store import NewsStore
    from hashnews.text.entities import EntityFinder


def finder_for(store: NewsStore, name: str | None) -> EntityFinder:
    """The finder asked for, or the one this store was filled with."""
    from hashnews.text.entities import load_finder

    return load_finder(name or store.state().finder or "fast")


@click.group(cls=Commands)
def news() -> None:
    """Manage the news: add files, fetch feeds, search, show statistics."""


@news.command()
@click.argument("files", nargs=-1, required=True, callback=are_there)
@news_option
@store_finder_option
@on_error_option
@json_option
def add(
    files: tuple[str, ...], path: str, finder: str | None, on_error: OnError, as_json: bool
) -> None:
    """Add articles from files: .jsonl .csv .parquet .xml (RSS, Atom) .html .warc, also gzipped.

    An article that is already in the store is not stored again, so the command can be repeated
    at any time. Articles that cannot be used are listed in a file next to the store
    (.refused.jsonl).
    """
    from hashnews.news.ingest import add_files
    from hashnews.news.store import NewsStore
    from hashnews.news.summary import Refusals, Summary

    refusals = Refusals(Summary(), Path(path).with_suffix(".refused.jsonl"))
    with NewsStore(path, "write") as store:
        try:
            add_files(
                store,
                finder_for(store, finder),
                files,
                refusals,
                on_error,
                watch=lambda source, name: track(source, f"add {Path(name).name}"),
            )
        finally:
            summary = refusals.summary
            say(json.dumps(summary.as_dict()) if as_json else str(summary))
            if refusals.count:
                say(f"see {refusals.path}", err=True)


@news.command()
@click.argument("feeds", nargs=-1)
@news_option
@click.option("--every", callback=as_seconds, metavar="TIME", help="Repeat every 15m, 1h, ...")
@click.option("--full-text", is_flag=True, help="Also fetch the linked pages, for the full text.")
@click.option("--now", is_flag=True, help="Also fetch feeds that wait after a failure.")
@private_option
@store_finder_option
@json_option
def fetch(
    feeds: tuple[str, ...],
    path: str,
    every: float | None,
    full_text: bool,
    now: bool,
    allow_private: bool,
    finder: str | None,
    as_json: bool,
) -> None:
    """Fetch feeds: URLs, files that list URLs, or OPML; without any, those of the store.

    An unchanged feed is not downloaded again. A feed that fails is retried later. An entry
    without a date gets the time at which it was fetched.
    """
    from hashnews.news.feed_lists import feeds_in
    from hashnews.news.fetch import Fetcher
    from hashnews.news.rounds import Rounds
    from hashnews.news.store import NewsStore
    from hashnews.news.worker import Worker

    named = list(dict.fromkeys(url for source in feeds for url in feeds_in(source)))
    if not named and not Path(path).exists():
        raise _without_feeds(path)
    with (
        NewsStore(path, "write") as store,
        Fetcher(allow_private) as fetcher,
        Worker() as worker,
        stopped_by_signals(),
    ):
        rounds = Rounds(store, finder_for(store, finder), fetcher, worker, full_text, now)
        while True:
            began = time.monotonic()
            result = _round(rounds, named or _followed(store), as_json)
            if every is None:
                _complain(result)
                return
            time.sleep(max(0.0, began + every - time.monotonic()))


def _followed(store: NewsStore) -> list[str]:
    """The feeds of the store, asked before each round: others may come while it runs."""
    from hashnews.news.own_feeds import PAUSED, list_feeds

    if urls := [feed.url for feed in list_feeds(store) if feed.outcome != PAUSED]:
        return urls
    raise _without_feeds(store.path)


def _without_feeds(path: str | Path) -> HashNewsError:
    from hashnews.errors import DataError

    return DataError(f"{path} has no feeds yet: run hashnews feeds add SITE, or name some")


def _round(rounds: Rounds, urls: list[str], as_json: bool) -> Round:
    """Visit all feeds once; what failed is told at once, the sum at the end, however it ends."""
    from hashnews.news.rounds import Round

    result = Round()
    try:
        for visit in track(rounds.visit_all(urls, result), "fetch"):
            if visit.note:
                say(one_line(f"{visit.url}: {visit.outcome}: {visit.note}"), err=True)
    finally:
        say(json.dumps(result.as_dict()) if as_json else str(result))
    return result


def _complain(result: Round) -> None:
    """A run in which every feed failed has failed."""
    from hashnews.errors import FetchError

    failed = [visit for visit in result.visits if visit.outcome == "failed"]
    if failed and len(failed) == len(result.visits):
        raise FetchError(
            f"all feeds failed ({len(failed)}), this one first: {failed[0].note}", failed[0].url
        )


@contextmanager
def stopped_by_signals(kept: str = "what was fetched is kept") -> Iterator[None]:
    """Ctrl-C and a service manager's SIGTERM end the run, and well."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        say(f"stopped; {kept}", err=True)
    finally:
        signal.signal(signal.SIGTERM, before)


@news.command()
@any_store_option
@period_options
@click.option(
    "--check", is_flag=True, help="Also check the store, its index and its memory for damage."
)
@json_option
def stats(
    path: str, since: datetime | None, before: datetime | None, check: bool, as_json: bool
) -> None:
    """Show the number of articles per day and source, and days without news."""
    from hashnews.errors import StoreError
    from hashnews.index.folder import NewsIndex
    from hashnews.index.post_segments import PostSegments
    from hashnews.news.stats import chart, statistics
    from hashnews.news.store import NewsStore

    with NewsStore(path) as store:
        if check and (problems := store.check()):
            raise StoreError(f"{path} is damaged: {problems[0]}; restore a backup")
        checked = (
            {"index": NewsIndex.check(store), "posts": PostSegments.check(store)} if check else {}
        )
        for name, problem in checked.items():
            if problem:
                heals = "it will be rebuilt when it is next used"
                say(f"{path}.{name}: {problem}; {heals}", err=True)
        found = statistics(store, since and since.date(), before and before.date())
    if as_json:
        say(json.dumps(found.as_dict(), ensure_ascii=False))
        return
    if not found.articles:
        say("no news: run hashnews feeds add SITE, then hashnews news fetch", err=True)
        return
    for line in chart(found.days):
        say(line)
    say(f"\n{found.articles:,} articles on {len(found.days):,} days, {found.bytes / 1e6:,.1f} MB,")
    say(f"entities by the finder {found.finder!r}, {found.given:,} articles brought their own")
    for first, last in found.gaps:
        say(f"no news: {first}" + (f" to {last}" if last > first else ""))
    say(f"\n{len(found.sources):,} sources, the largest:")
    for source, count in list(found.sources.items())[:10]:
        say(f"{count:>9,}  {one_line(source) or '(unknown)'}")


@news.command()
@click.argument("words", nargs=-1, required=True)
@any_store_option
@click.option("-n", "most", default=10, show_default=True, help="How many articles to show.")
@click.option("--source", help="Only articles of this source.")
@period_options
@json_option
def search(
    words: tuple[str, ...],
    path: str,
    most: int,
    source: str | None,
    since: datetime | None,
    before: datetime | None,
    as_json: bool,
) -> None:
    """Search articles for words, "phrases in quotes" and beginnings of words (protest*)."""
    from hashnews.news.search import MARKS, search
    from hashnews.news.store import NewsStore

    with NewsStore(path) as store:
        hits = search(store, " ".join(words), most, since, before, source)
    for hit in hits:
        article = hit.article
        if as_json:
            say(article.to_json())
            continue
        say(one_line(article.title) or "(no title)", bold=True)
        shown = f"{article.published_at.astimezone(UTC):%Y-%m-%d %H:%M}"
        say(f"  {shown}  {one_line(article.source or '')}  {one_line(article.url or article.id)}")
        say("  ", nl=False)
        for number, part in enumerate(MARKS.split(" ".join(hit.excerpt.split()))):
            say(part, nl=False, bold=number % 2 == 1)  # what matched
        say()
    if not hits:
        say("nothing found", err=True)


@news.command()
@click.argument("articles", nargs=-1, required=True, metavar="ID|URL...")
@news_option
@json_option
def forget(articles: tuple[str, ...], path: str, as_json: bool) -> None:
    """Forget articles, such as withdrawn ones, named by id or address.

    Suggestions stop using them at once. A feed or file that still has one brings it back.
    """
    from hashnews.news.store import NewsStore

    NewsStore(path).close()  # there must be one already
    with NewsStore(path, "write") as store:
        count = store.withdraw(articles)
    say(json.dumps({"forgotten": count}) if as_json else f"{count:,} articles forgotten")


for command in (
    whole.export, whole.reference, whole.reindex, whole.backup, whole.find, whole.index
):  # fmt: skip
    news.add_command(command)
