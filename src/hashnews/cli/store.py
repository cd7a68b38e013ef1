"""Commands for the whole of the news: export, reference, reindex, backup; find and index by day."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import click

from hashnews.cli.console import say, track
from hashnews.cli.options import (
    FINDERS,
    F,
    any_store_option,
    as_moment,
    engine_for,
    engine_options,
    finder_option,
    json_option,
    news_option,
    period_options,
)


@click.command()
@click.option("-o", "--out", required=True, help="File: .jsonl, .jsonl.gz, .parquet or `-`.")
@any_store_option
@period_options
@click.option("--entities", is_flag=True, help="Also write found entities (Parquet: always).")
@json_option
def export(
    out: str,
    path: str,
    since: datetime | None,
    before: datetime | None,
    entities: bool,
    as_json: bool,
) -> None:
    """Write the articles in order of time, as JSON lines or as a folder of Parquet files by day."""
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
    say(answer, err=out == "-")


@click.command()
@click.option("-o", "--out", required=True, help="File to write (JSON lines).")
@any_store_option
@click.option("--before", callback=as_moment, required=True, metavar="TIME",
              help="Only articles published before this time.")  # fmt: skip
@click.option("--size", type=click.IntRange(1), default=20_000, show_default=True, help="Articles.")
@click.option("--seed", default=1, show_default=True, help="Seed of the random draw.")
@json_option
def reference(out: str, path: str, before: datetime, size: int, seed: int, as_json: bool) -> None:
    """Draw the reference corpus R: a sample of the news before a time, with entities."""
    from hashnews.news.export import draw_reference
    from hashnews.news.store import NewsStore

    with NewsStore(path) as store:
        drawn = draw_reference(store, out, size, before, seed)
    about = drawn.as_dict()
    say(
        json.dumps(about)
        if as_json
        else f"{drawn.size:,} articles of {drawn.sources:,} sources, {about['first']} to "
        f"{about['last']}, drawn with seed {seed} from {drawn.drawn_from:,} before "
        f"{about['before']} in {path} (finder {drawn.finder}) to {out}",
        err=out == "-",
    )


@click.command()
@news_option
@click.option("--finder", type=FINDERS, required=True, help="The finder to change to.")
@json_option
def reindex(path: str, finder: str, as_json: bool) -> None:
    """Find the entities of all articles again, with another finder.

    The old entities stay in use until it is done. If it is interrupted, run it again to resume.
    """
    from hashnews.news.reindex import Reindexing
    from hashnews.news.store import NewsStore
    from hashnews.text.entities import load_finder

    NewsStore(path).close()  # there must be one already
    with NewsStore(path, "write") as store:
        steps = Reindexing(store, load_finder(finder))
        for _ in track(steps, "reindex"):
            pass
    answer = {"articles": steps.found, "finder": finder}
    say(
        json.dumps(answer) if as_json else f"{steps.found:,} articles now have entities of {finder}"
    )


@click.command()
@click.argument("target", type=click.Path(path_type=Path))
@any_store_option
@json_option
def backup(target: Path, path: str, as_json: bool) -> None:
    """Copy the store, also while it is in use, and check the copy."""
    from hashnews.news.store import NewsStore

    with NewsStore(path) as store:
        store.backup(target)
    with NewsStore(target) as copy:
        count = len(copy)
    answer = {"articles": count, "backup": str(target), "bytes": target.stat().st_size}
    say(json.dumps(answer) if as_json else f"{count:,} articles to {target}")


def _by_day(command: F) -> F:
    """The options of commands that turn a folder of days into another folder."""
    for option in (json_option, engine_options, finder_option):
        command = option(command)
    out = click.option("-o", "--out", type=click.Path(path_type=Path), required=True, metavar="DIR",
                       help="The folder to write.")  # fmt: skip
    return click.argument("folder", type=click.Path(path_type=Path))(out(command))


@click.command()
@_by_day
def find(
    folder: Path, out: Path, finder: str, engine: str, address: str | None, as_json: bool
) -> None:
    """Find the entities of articles in folders by day (day=2020-06-02/...), without a store.

    The result can be added to a store (`hashnews news add`) or indexed (`hashnews news index`).
    Days that are finished are skipped.
    """
    from hashnews.scale.steps import find_days

    with engine_for(engine, address) as run:
        done = find_days(finder, folder, out, run, lambda files: track(files, "find"))
    say(json.dumps(done.as_dict()) if as_json else f"{done}, see {out}")


@click.command()
@_by_day
def index(
    folder: Path, out: Path, finder: str, engine: str, address: str | None, as_json: bool
) -> None:
    """Build an index from articles in folders by day, without a store, for `retrieve --news DIR`.

    Entities are found for articles that have none. Days that did not change are not built again.
    """
    from hashnews.scale.news import index_days

    with engine_for(engine, address) as run:
        built = index_days(folder, out, run, finder)
    say(
        json.dumps(built._asdict())
        if as_json
        else f"{built.articles:,} articles, {built.days:,} days ({built.skipped:,} as they were), "
        f"{built.bytes / 1e6:,.1f} MB in {out}"
    )
