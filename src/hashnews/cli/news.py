"""Commands of the news store: add, fetch, stats, search, export, reference, reindex, backup."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hashnews.cli.console import (
    engine_for,
    engine_options,
    json_option,
    on_error_option,
    track,
)
from hashnews.cli.text import finder_option as plain_finder_option
from hashnews.cli.text import load_finder

if TYPE_CHECKING:
    from hashnews.files import OnError
    from hashnews.news.rounds import Round, Rounds
    from hashnews.news.store import NewsStore
    from hashnews.text.entities import EntityFinder

F = TypeVar("F", bound=Callable[..., Any])
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def as_moment(_: Any, __: Any, value: str | None) -> datetime | None:
    """Read a time or a day, which counts as its start."""
    from hashnews.records import parse_time

    try:
        return None if value is None else parse_time(value, bare_day="start")
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def as_seconds(_: Any, __: Any, value: str | None) -> float | None:
    """Read a number of seconds, minutes, hours or days."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d{1,6})([smhd])", value)
    if not found:
        raise click.BadParameter(f"{value!r} is not a duration: write 90s, 15m, 2h or 1d")
    return float(found[1]) * UNITS[found[2]]


def news_option(command: F) -> F:
    """`--news DB`, the same everywhere."""
    return click.option(
        "--news", "path", default="news.db", show_default=True, metavar="DB", help="The news store."
    )(command)


def finder_option(command: F) -> F:
    """`--finder`, which a store remembers."""
    return click.option(
        "--finder",
        type=click.Choice(["fast", "tagger"]),
        help="What finds the named entities.  [default: the store's; fast for a new one]",
    )(command)


def period_options(command: F) -> F:
    """`--since` and `--before`, the same everywhere."""
    since = click.option("--since", callback=as_moment, help="Only news from then on.")
    before = click.option("--before", callback=as_moment, help="Only news before then.")
    return since(before(command))


def finder_for(store: NewsStore, name: str | None) -> EntityFinder:
    """The finder asked for, or the one this store was filled with."""
    return load_finder(name or store.state().finder or "fast")


@click.group()
def news() -> None:
    """Keep the news: add files, fetch feeds, look at what is there."""


@news.command()
@click.argument("files", nargs=-1, required=True)
@news_option
@finder_option
@on_error_option
@json_option
def add(
    files: tuple[str, ...], path: str, finder: str | None, on_error: OnError, as_json: bool
) -> None:
    """Add articles from files: .jsonl .csv .parquet .xml (RSS, Atom) .html .warc, also gzipped.

    What is known already is counted, not stored twice, so the same command can run again at any
    time, after a kill too. What is refused is set aside beside the store (.refused.jsonl).
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
            click.echo(json.dumps(summary.as_dict()) if as_json else str(summary))
            if refusals.count:
                click.echo(f"see {refusals.path}", err=True)


@news.command()
@click.argument("feeds", nargs=-1, required=True)
@news_option
@click.option("--every", callback=as_seconds, help="Go on, with a round every 15m, 1h, ...")
@click.option("--full-text", is_flag=True, help="Follow links for the whole text.")
@click.option("--allow-private", is_flag=True, help="Allow addresses of one's own network.")
@finder_option
@json_option
def fetch(
    feeds: tuple[str, ...],
    path: str,
    every: float | None,
    full_text: bool,
    allow_private: bool,
    finder: str | None,
    as_json: bool,
) -> None:
    """Fetch feeds: URLs, files that list URLs, or OPML.

    A feed that did not change is not sent again, one that fails is left alone for a while, and an
    entry without a date counts from the time it was fetched.
    """
    from hashnews.news.feeds import feeds_in
    from hashnews.news.fetch import Fetcher
    from hashnews.news.rounds import Rounds
    from hashnews.news.store import NewsStore
    from hashnews.news.worker import Worker

    urls = list(dict.fromkeys(url for source in feeds for url in feeds_in(source)))
    with (
        NewsStore(path, "write") as store,
        Fetcher(allow_private) as fetcher,
        Worker() as worker,
        _stopped_by_signals(),
    ):
        rounds = Rounds(store, finder_for(store, finder), fetcher, worker, full_text)
        while True:
            began = time.monotonic()
            result = _round(rounds, urls, as_json)
            if every is None:
                _complain(result)
                return
            time.sleep(max(0.0, began + every - time.monotonic()))


def _round(rounds: Rounds, urls: list[str], as_json: bool) -> Round:
    """Visit all feeds once; what failed is told at once, the sum at the end, however it ends."""
    from hashnews.news.rounds import Round

    result = Round()
    try:
        for visit in track(rounds.visit_all(urls, result), "fetch"):
            if visit.note:
                click.echo(f"{visit.url}: {visit.outcome}: {visit.note}", err=True)
    finally:
        click.echo(json.dumps(result.as_dict()) if as_json else str(result))
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
def _stopped_by_signals() -> Iterator[None]:
    """Ctrl-C and a service manager's SIGTERM end the run, and well."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        click.echo("stopped; what was fetched is kept", err=True)
    finally:
        signal.signal(signal.SIGTERM, before)


@news.command()
@news_option
@period_options
@click.option("--check", is_flag=True, help="Check the file for damage, too.")
@json_option
def stats(
    path: str, since: datetime | None, before: datetime | None, check: bool, as_json: bool
) -> None:
    """Show how many articles there are, per day and source, and the gaps."""
    from hashnews.errors import StoreError
    from hashnews.news.stats import chart, statistics
    from hashnews.news.store import NewsStore

    with NewsStore(path) as store:
        if check and (problems := store.check()):
            raise StoreError(f"{path} is damaged: {problems[0]}; restore a backup")
        found = statistics(store, since and since.date(), before and before.date())
    if as_json:
        click.echo(json.dumps(found.as_dict(), ensure_ascii=False))
        return
    for line in chart(found.days):
        click.echo(line)
    click.echo(
        f"\n{found.articles:,} articles on {len(found.days):,} days, {found.bytes / 1e6:,.0f} MB,"
    )
    click.echo(
        f"entities by the finder {found.finder!r}, {found.given:,} articles brought their own"
    )
    for first, last in found.gaps:
        click.echo(f"no news: {first}" + (f" to {last}" if last > first else ""))
    click.echo(f"\n{len(found.sources):,} sources, the largest:")
    for source, count in list(found.sources.items())[:10]:
        click.echo(f"{count:>9,}  {source or '(unknown)'}")


@news.command()
@click.argument("words", nargs=-1, required=True)
@news_option
@click.option("-n", "most", default=10, show_default=True, help="How many to show.")
@click.option("--source", help="Only of this source.")
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
    """Find articles by their words, "phrases in quotes" and beginn*."""
    from hashnews.news.search import CLOSE, OPEN, search
    from hashnews.news.store import NewsStore

    with NewsStore(path) as store:
        hits = search(store, " ".join(words), most, since, before, source)
    for hit in hits:
        article = hit.article
        if as_json:
            click.echo(article.to_json())
            continue
        click.secho(article.title or "(no title)", bold=True)
        shown = f"{article.published_at.astimezone(UTC):%Y-%m-%d %H:%M}"
        click.echo(f"  {shown}  {article.source or ''}  {article.url or article.id}")
        bold = click.style("x", bold=True).split("x")
        excerpt = hit.excerpt.replace(OPEN, bold[0]).replace(CLOSE, bold[1])
        click.echo("  " + " ".join(excerpt.split()))
    if not hits:
        click.echo("nothing found", err=True)


@news.command()
@click.option("-o", "--out", required=True, help="news.jsonl, news.jsonl.gz, - or news.parquet.")
@news_option
@period_options
@click.option("--entities", is_flag=True, help="Write found entities, too (Parquet: always).")
@json_option
def export(
    out: str,
    path: str,
    since: datetime | None,
    before: datetime | None,
    entities: bool,
    as_json: bool,
) -> None:
    """Write articles in time order: JSON lines, or a directory of Parquet files by day."""
    from hashnews.news.export import export_lines, export_parquet
    from hashnews.news.store import NewsStore

    with NewsStore(path) as store:
        articles = track(store.read(start=since, before=before), "export")
        finder = store.state().finder
        if out.endswith(".parquet"):
            count = export_parquet(Path(out), articles, finder)
        elif out == "-" or out.removesuffix(".gz").endswith(".jsonl"):
            count = export_lines(out, articles, finder if entities else None)
        else:
            raise click.BadParameter("should end in .jsonl, .jsonl.gz or .parquet", param_hint="-o")
    answer = (
        json.dumps({"articles": count, "out": out}) if as_json else f"{count:,} articles to {out}"
    )
    click.echo(answer, err=out == "-")


@news.command()
@click.option("-o", "--out", required=True, help="The corpus as JSON lines.")
@news_option
@click.option("--before", callback=as_moment, required=True, help="Only articles published before.")
@click.option("--size", type=click.IntRange(1), default=20_000, show_default=True, help="How many.")
@click.option("--seed", default=1, show_default=True, help="Of the draw.")
@json_option
def reference(out: str, path: str, before: datetime, size: int, seed: int, as_json: bool) -> None:
    """Draw the reference corpus R: a sample of the news before a time, with entities."""
    from hashnews.news.export import draw_reference
    from hashnews.news.store import NewsStore

    with NewsStore(path) as store:
        drawn = draw_reference(store, out, size, before, seed)
    about = drawn.as_dict()
    click.echo(
        json.dumps(about)
        if as_json
        else f"{drawn.size:,} articles of {drawn.sources:,} sources, {about['first']} to "
        f"{about['last']}, drawn with seed {seed} from {drawn.drawn_from:,} before "
        f"{about['before']} in {path} (finder {drawn.finder}) to {out}",
        err=out == "-",
    )


@news.command()
@news_option
@click.option("--finder", type=click.Choice(["fast", "tagger"]), required=True, help="The new one.")
@json_option
def reindex(path: str, finder: str, as_json: bool) -> None:
    """Find the entities of all articles again, with another finder.

    Until it is done the old ones stay in use; a killed run goes on where it stopped.
    """
    from hashnews.news.reindex import Reindexing
    from hashnews.news.store import NewsStore

    NewsStore(path).close()  # there must be one already
    with NewsStore(path, "write") as store:
        steps = Reindexing(store, load_finder(finder))
        for _ in track(steps, "reindex"):
            pass
    answer = {"articles": steps.found, "finder": finder}
    click.echo(
        json.dumps(answer) if as_json else f"{steps.found:,} articles now have entities of {finder}"
    )


@news.command()
@click.argument("target", type=click.Path(path_type=Path))
@news_option
@json_option
def backup(target: Path, path: str, as_json: bool) -> None:
    """Write a checked copy of the store, as it is at one moment, while others use it."""
    from hashnews.news.store import NewsStore

    with NewsStore(path) as store:
        store.backup(target)
    with NewsStore(target) as copy:
        count = len(copy)
    answer = {"articles": count, "backup": str(target), "bytes": target.stat().st_size}
    click.echo(json.dumps(answer) if as_json else f"{count:,} articles to {target}")


@news.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, metavar="DIR",
              help="Articles by day, as JSON lines.")  # fmt: skip
@plain_finder_option
@engine_options
@json_option
def find(
    folder: Path, out: Path, finder: str, engine: str, address: str | None, as_json: bool
) -> None:
    """Find the entities of articles in files by day (day=2020-06-02/...), without a store.

    `hashnews news add` takes the result into a store as it is, `hashnews news index` makes an
    index of it. A day that is finished is skipped.
    """
    from hashnews.scale.steps import find_days

    with engine_for(engine, address) as run:
        done = find_days(finder, folder, out, run, lambda files: track(files, "find"))
    click.echo(json.dumps(done.as_dict()) if as_json else f"{done}, see {out}")


@news.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, metavar="INDEX",
              help="The folder of the index.")  # fmt: skip
@plain_finder_option
@engine_options
@json_option
def index(
    folder: Path, out: Path, finder: str, engine: str, address: str | None, as_json: bool
) -> None:
    """Build an index from articles in files by day, without a store, for `retrieve --news INDEX`.

    Entities are found where an article brings none. Days that did not change are not built again.
    """
    from hashnews.scale.news import index_days

    with engine_for(engine, address) as run:
        built = index_days(folder, out, run, finder)
    click.echo(
        json.dumps(built._asdict())
        if as_json
        else f"{built.articles:,} articles, {built.days:,} days ({built.skipped:,} as they were), "
        f"{built.bytes / 1e6:,.1f} MB in {out}"
    )
