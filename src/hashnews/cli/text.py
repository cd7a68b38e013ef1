"""Commands of the text layer: prepare, segment, entities."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hashnews.cli.console import say, track
from hashnews.cli.options import (
    engine_for,
    engine_options,
    finder_option,
    json_option,
    on_error_option,
)

if TYPE_CHECKING:
    from hashnews.files import OnError
    from hashnews.prepare.splits import Split
    from hashnews.records import PreparedPost


@click.command()
@click.argument("raw", nargs=-1, required=True)
@click.option("-o", "--out", required=True, help="File to write (JSON lines); `-`: stdout.")
@click.option("--split", type=click.Choice(["chronological", "random"]),
              help="Split the posts into training, validation and test.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="Seed of the random split.")
@click.option("--collection", help="Use only posts of exactly this collection.")
@click.option("--never", multiple=True, metavar="TAG", help="A hashtag that is never a target.")
@click.option("--learn", multiple=True, metavar="NEWS", help="News to learn words and names from.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw how often hashtags are used.")
@finder_option
@engine_options
@on_error_option
@json_option
def prepare(
    raw: tuple[str, ...],
    out: str,
    split: Split | None,
    seed: int,
    collection: str | None,
    never: tuple[str, ...],
    learn: tuple[str, ...],
    plot: Path | None,
    finder: str,
    engine: str,
    address: str | None,
    on_error: OnError,
    as_json: bool,
) -> None:
    """Prepare raw posts (JSON lines, CSV, Parquet): split off the hashtags, find the entities.

    RAW may also be the folder of a public dataset (#HowYouTagTweets, CMKP, THG, WHG): its posts
    keep the split they have.

    Writes the prepared posts and a file with their statistics (.stats.json), which also counts
    the posts that were dropped, by reason. Rules of the dataset come from a dataset.toml in the
    folder of the posts. From the news given with --learn only articles older than every post
    are read.
    """
    from hashnews.files import RecordFile, Skipped, new_file
    from hashnews.prepare.datasets import of_collection, rules_for
    from hashnews.prepare.preparer import Preparer, learn_from
    from hashnews.prepare.public_sets import read_public
    from hashnews.prepare.splits import write_prepared
    from hashnews.prepare.statistics import plot_frequencies
    from hashnews.records import Post
    from hashnews.text.entities import load_finder
    from hashnews.text.segment import shipped_segmenter

    if engine != "ray" and any(Path(path).is_dir() for path in raw) and (split or learn):
        raise click.UsageError("a public dataset has a split of its own: no --split, no --learn")
    beside = None if out == "-" else _stem(Path(out))
    skipped = Skipped(beside and beside.with_suffix(".skipped.jsonl"))
    segmenter, entity_finder = shipped_segmenter(), load_finder(finder)
    if learn:
        segmenter, entity_finder = learn_from(learn, raw, segmenter, entity_finder)
    preparer = Preparer(segmenter, entity_finder, never)

    def prepared() -> Iterator[PreparedPost]:
        for path in raw:
            if Path(path).is_dir():
                public = track(read_public(Path(path), segmenter), f"prepare {Path(path).name}")
                yield from preparer.adopt(public)
                continue
            posts = track(RecordFile(path, Post, on_error, skipped), f"prepare {Path(path).name}")
            yield from preparer.prepare(of_collection(posts, collection), rules_for(path))

    if engine == "ray":
        if learn or len(raw) > 1 or beside is None:
            raise click.UsageError("--engine ray takes one folder, -o another, and no --learn")
        from hashnews.scale.prepare import Readers, Rules, prepare_days

        target = Path(out)
        rules = Rules(target / ".work", Readers(finder), never, collection, on_error)
        with engine_for(engine, address) as run:
            made = prepare_days(
                Path(raw[0]), target, rules, split, seed, run, lambda done: track(done, "prepare")
            )
        statistics, dropped, skipped = made.statistics, made.dropped, made.skipped
    else:
        write_prepared(out, prepared(), split, seed)
        statistics, dropped = preparer.statistics, preparer.dropped
    report = statistics.report(entity_finder, dropped)
    if skipped.count:
        report["lines_skipped"] = skipped.count
        seen = f", see {skipped.path}" if skipped.path else ""
        say(f"{skipped.count} lines could not be read{seen}", err=True)
    if beside:
        with new_file(beside.with_suffix(".stats.json")) as stream:
            json.dump(report, stream, indent=2)
            stream.write("\n")
    if plot:
        plot_frequencies(statistics.frequencies(), plot)
    to_stderr = out == "-"
    say(json.dumps(report) if as_json else _table(report), err=to_stderr)


def _stem(path: Path) -> Path:
    name = path.name.removesuffix(".gz")
    return path.with_name(name.removesuffix(".jsonl"))


LABELS = {
    "posts": "posts",
    "distinct_hashtags": "distinct hashtags",
    "hashtags_per_post": "hashtags per post",
    "entities_per_post": "entities per post",
    "percent_entity_hashtags": "% of hashtags with an entity",
    "percent_all_entity_hashtags": "% of hashtags of entities only",
    "percent_words_in_post": "% of hashtag words in the post",
}


def _table(report: dict[str, Any]) -> str:
    lines = [f"{label:32}{report['table'][key]:>10,}" for key, label in LABELS.items()]
    share = report["percent_hashtags_used_at_most_5_times"]
    lines.append(f"{'% of hashtags used 5 times or less':34}{share:>8,}")
    lines += [f"dropped: {n:,} × {reason}" for reason, n in report["dropped"].items()]
    return "\n".join(lines)


@click.command()
@click.argument("tags", nargs=-1, required=True, metavar="TAG...")
def segment(tags: tuple[str, ...]) -> None:
    """Split hashtags into words. Prints one line per hashtag: the hashtag, a tab, its words.

    `-` reads hashtags from standard input, one per line.
    """
    from hashnews.text.segment import shipped_segmenter

    segmenter = shipped_segmenter()
    for tag in _lines_of(sys.stdin) if tags == ("-",) else tags:
        say(f"{tag}\t{' '.join(segmenter.segment(tag))}")


@click.command()
@click.argument("text")
@finder_option
@json_option
def entities(text: str, finder: str, as_json: bool) -> None:
    """Show the named entities of a text; `-` reads one text per line from standard input."""
    from hashnews.text.entities import load_finder

    found_by = load_finder(finder)
    for line in _lines_of(sys.stdin) if text == "-" else [text]:
        found = found_by.find(line)
        if as_json:
            entity_list = [asdict(entity) for entity in found]
            say(json.dumps({"text": line, "entities": entity_list}, ensure_ascii=False))
        else:
            say("\t".join(entity.text for entity in found))


def _lines_of(stream: Any) -> Iterator[str]:
    for line in stream:
        yield line.rstrip("\r\n")
