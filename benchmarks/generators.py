"""Generators by themselves on the newest posts of each set, which taught none of them.

    python tools/build_models.py DATA WORK --only generator -o OUT
    python benchmarks/generators.py WORK OLD OUT/generator

WORK is where tools/build_models.py made the sets: prepared posts and their contexts. Prints micro
F1@1 / F1@5 in percent of the hashtags each generator writes, without the rest of the suggester.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from hashnews.files import RecordFile
from hashnews.generate.batch import Example
from hashnews.generate.generator import Generator
from hashnews.metrics import Judged, f1_at
from hashnews.records import ContextWord, PreparedPost

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from sense.writers import DATED, KEPT

MOST = 500  # posts of a set


def main() -> None:
    """Print a row for each set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("generators", type=Path, nargs="+")
    options = parser.parse_args()
    generators = [Generator.load(path) for path in options.generators]
    print("| set | posts |", " | ".join(path.parent.name for path in options.generators), "|")
    print("|---|--:|" + "--:|" * len(generators))
    for name in DATED:
        posts = list(RecordFile(options.work / f"{name}.jsonl", PreparedPost))
        contexts = (options.work / f"{name}.contexts.jsonl").read_text("utf-8").splitlines()
        newest = slice(max(int(KEPT * len(posts)), len(posts) - MOST), None)
        scores = [f1(one, posts[newest], contexts[newest]) for one in generators]
        print(f"| {name} | {len(posts[newest]):,} |", " | ".join(scores), "|", flush=True)


def f1(generator: Generator, posts: list[PreparedPost], contexts: list[str]) -> str:
    """F1@1 / F1@5 of what a generator writes for posts with their contexts."""
    examples = [
        Example.of(
            generator.config,
            post.body,
            [ContextWord(*word) for word in json.loads(line)["context"]],
        )
        for post, line in zip(posts, contexts, strict=True)
    ]
    judged = [
        Judged(tuple(tag.words for tag in post.hashtags), tuple(one.words for one in written))
        for post, written in zip(posts, generator.suggest(examples, 5), strict=True)
    ]
    return " / ".join(f"{100 * f1_at(k, judged):.1f}" for k in (1, 5))


if __name__ == "__main__":
    main()
