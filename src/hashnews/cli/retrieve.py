"""Commands of the retriever: retrieve, trends."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hashnews.cli.console import say, track
from hashnews.cli.options import (
    any_store_option,
    as_moment,
    engine_for,
    engine_options,
    json_option,
)
from hashnews.terminal import one_line

if TYPE_CHECKING:
    from hashnews.retrieve.explain import Explanation
    from hashnews.retrieve.source import RetrieverSource


@click.command()
@click.argument("posts", type=click.Path(path_type=Path))
@any_store_option
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Contexts as JSON lines.")
@click.option("--reference", type=click.Path(path_type=Path), help="Articles of other times (R).")
@click.option("--preset", type=click.Choice(["paper", "best"]), default="best", show_default=True)
@click.option("--ranking", type=click.Choice(["tp", "bm25"]), help="Instead of the preset's.")
@click.option("--align", "t", type=click.FloatRange(0.3, 1), default=1.0, show_default=True,
              help="How well two tokens must align to match.")  # fmt: skip
@click.option("--clip", type=click.Choice(["time", "day"]), default="time", show_default=True,
              help="Look at news before the post, or at its whole day (leaks).")  # fmt: skip
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True)
@click.option("--explain", "explained", metavar="ID", help="Show why, for one post.")
@engine_options
@json_option
def retrieve(
    posts: Path,
    path: str,
    out: Path | None,
    reference: Path | None,
    preset: str,
    ranking: str | None,
    t: float,
    clip: str,
    workers: int,
    explained: str | None,
    engine: str,
    address: str | None,
    as_json: bool,
) -> None:
    """Find the news before each prepared post, and the context words drawn from it.

    Broken off, the same command goes on where it stopped. The news may also be the folder of an
    index (hashnews news index).
    """
    from hashnews.errors import DataError
    from hashnews.index.day import Settings
    from hashnews.retrieve.all_words import AllWordsConfig
    from hashnews.retrieve.batch import write_contexts
    from hashnews.retrieve.retriever import RetrieverConfig
    from hashnews.retrieve.source import RetrieverSource

    config: RetrieverConfig | AllWordsConfig = AllWordsConfig()
    if preset == "paper":
        changes = {"clip": clip} | ({"ranking": ranking} if ranking else {})
        config = RetrieverConfig.model_validate(changes)
        if config.ranking == "tp" and reference is None:
            need = "temporal popularity needs --reference; draw one: hashnews news reference"
            raise DataError(need)
    elif ranking or reference or clip != "time" or explained is not None:
        raise click.UsageError("--ranking, --reference, --clip and --explain are of --preset paper")
    source = RetrieverSource(Path(path), reference, Settings(t=t), config)
    if explained is not None:
        _explain(source, posts, explained, as_json)
        return
    if out is None:
        raise click.UsageError("say where the contexts go: -o FILE")
    if engine == "ray":
        from hashnews.scale.steps import retrieve_days

        with engine_for(engine, address) as run:
            done = retrieve_days(source, posts, out, run, lambda files: track(files, "retrieve"))
        say(json.dumps(done.as_dict()) if as_json else f"{done}, see {out}")
        return
    same = f"{source} {source.state()} {posts.stat() if posts.exists() else None}"
    count = write_contexts(
        posts, out, source.open, same, workers, lambda lines: track(lines, "retrieve")
    )
    say(json.dumps({"posts": count}) if as_json else f"{count:,} posts, see {out}")


def _explain(source: RetrieverSource, posts: Path, wanted: str, as_json: bool) -> None:
    from hashnews.errors import DataError
    from hashnews.files import RecordFile
    from hashnews.records import PreparedPost
    from hashnews.retrieve.explain import as_json as nested
    from hashnews.retrieve.explain import explain
    from hashnews.retrieve.retriever import Retriever

    post = next((post for post in RecordFile(posts, PreparedPost) if post.id == wanted), None)
    if post is None:
        raise DataError(f"there is no post {wanted}", posts)
    retriever = source.open()
    if not isinstance(retriever, Retriever):
        raise DataError("only the paper's ranking is explained")
    told = explain(retriever, post)
    say(json.dumps(nested(told)) if as_json else _told(told))


def _told(told: Explanation) -> str:
    lines = ["window  articles  mean length"]
    lines += [
        f"{number:6}  {window.articles:8,}  {window.mean_length:11.2f}"
        for number, window in enumerate(told.windows, 1)
    ]
    for term in told.terms:
        matches = one_line(", ".join(term.matches[:6])) or "nothing"
        named = one_line(term.term)
        lines += ["", f"{named}  (IDF in R {term.idf_reference:.3f}; matches {matches})"]
        lines += ["  window       n     IDF      TP  weight"]
        lines += [
            f"  {number:6}  {n:6,}  {idf:6.3f}  {popularity:6.3f}  {weight:6.3f}"
            for number, (n, idf, popularity, weight) in enumerate(term.windows, 1)
        ]
    for article in told.articles:
        parts = ", ".join(f"{t} × {f}: {part:.3f}" for t, (f, part) in article.parts.items())
        named = one_line(article.id)
        lines += ["", f"window {article.window}: {named}  score {article.score:.4f}"]
        lines += [f"  length {article.length}; {one_line(parts)}"]
    return "\n".join(lines)


@click.command()
@any_store_option
@click.option("--at", callback=as_moment, metavar="TIME",
              help="The time to look at.  [default: now; of the sample, its end]")  # fmt: skip
@click.option("-n", "most", default=20, show_default=True, help="How many entities.")
@json_option
def trends(path: str, at: datetime | None, most: int, as_json: bool) -> None:
    """List the entities on the rise, with the articles a day that name them (this day last)."""
    from hashnews.index.folder import NewsIndex
    from hashnews.news.store import NewsStore
    from hashnews.retrieve.trends import FEWEST
    from hashnews.retrieve.trends import trends as rising
    from hashnews.sample import END

    with NewsStore(path) as store:
        index = NewsIndex.open(store)
    at = at or _now(path)
    found = rising(index, at, most)
    if as_json:
        say(json.dumps([trend._asdict() for trend in found], ensure_ascii=False))
        return
    if not found:
        told = f"nothing is on the rise at {at:%Y-%m-%d %H:%M}: no name is in {FEWEST} articles"
        say(f"{told} of two days; try {'--at 2020-05-30' if at == END else '--at TIME'}", err=True)
    for trend in found:
        counts = " ".join(f"{count:>3}" for count in trend.counts)
        say(f"{trend.popularity:6.2f}  {counts}  {one_line(trend.entity)}")


def _now(path: str) -> datetime:
    """The present moment; of the shipped sample its end."""
    from hashnews.posts.sample_store import sample_store
    from hashnews.sample import END

    return END if Path(path) == sample_store() else datetime.now(UTC)
