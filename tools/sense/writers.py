"""The generator that ships: what it reads, and its training.

It learns from posts with the news of their days, and from posts of anyone without news: those teach
it which words of a post people make hashtags of.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path

from sense.collections import news_store, prepared
from sense.work import ROOT, Work, run, sample

# Sets with news: year and collection; of all posts at most so many.
DATED = {
    "congress20": ("2020", "congress"),
    "blm20": ("2020", "blm"),
    "congress19": ("2019", None),
    "topics21": ("2021", None),
    "trending23": ("2023", None),
}
BROAD = ("everyday", "archives", "searched", "small", "howyoutag", "covid", "vaccine")
MOST, MOST_BROAD, MOST_OF_ONE = 12_000, 5_000, 300  # posts of a set, of one author
KEPT, VALIDATION = 0.95, 0.05  # the newest posts of a dated set are for measuring
SIZES = {  # small enough to ship
    "variant": "hashnews-copy", "embedding": 200, "hidden": 256, "layers": 1, "dropout": 0.2,
    "beam": 10,
}  # fmt: skip
SETTINGS = {"source_words": 36_000, "hashtag_least": 2, "epochs": 5, "patience": 2}


def generator(work: Work, out: Path) -> None:
    """Train the generator; a training that was stopped goes on by itself."""
    posts, contexts = _read(work)
    changes = {"posts": posts, "contexts": contexts, **SETTINGS}
    changes |= {f"model.{name}": value for name, value in SIZES.items()}
    named = [word for name, value in changes.items() for word in ("--set", f"{name}={value}")]
    config = ROOT / "configs" / "generator.toml"
    run(out / "manifest.json", "train", "generator", "-c", config, "-o", out, *named)


def _read(work: Work) -> tuple[Path, Path]:
    """All posts, shuffled within their part, and line by line their contexts."""
    posts, contexts = work.folder / "writes.jsonl", work.folder / "writes-contexts.jsonl"
    if contexts.exists():
        return posts, contexts
    rows = [row for name in DATED for row in _dated(work, name)]
    rows += [row for name in BROAD for row in _broad(work, name)]
    random.Random(1).shuffle(rows)
    scratch = contexts.with_suffix(".tmp")
    with posts.open("w", encoding="utf-8") as one, scratch.open("w", encoding="utf-8") as two:
        for post, context in rows:
            one.write(post + "\n")
            two.write(context + "\n")
    scratch.rename(contexts)
    return posts, contexts


def _dated(work: Work, name: str) -> list[tuple[str, str]]:
    """Posts of a set with the contexts that the better retriever finds, the newest left out."""
    year, collection = DATED[name]
    posts, contexts = work.stores / f"{name}.jsonl", work.stores / f"{name}.contexts.jsonl"
    raw = work.data / year / "posts.jsonl.gz"
    only = ("--collection", collection) if collection else ()
    run(posts, "prepare", raw, *only, "--split", "chronological", "-o", posts)
    run(contexts, "retrieve", posts, "--news", news_store(work, year), "-o", contexts)
    lines = list(zip(posts.open(encoding="utf-8"), contexts.open(encoding="utf-8"), strict=True))
    older = range(int(KEPT * len(lines)))
    return [
        (_for(lines[at][0]), lines[at][1].rstrip("\n"))
        for at in sample(random.Random(1), older, work.most or MOST)
    ]


def _broad(work: Work, name: str) -> list[tuple[str, str]]:
    """Posts of a set without news, few of each author."""
    by_author: defaultdict[str | None, int] = defaultdict(int)
    some = []
    for post in prepared(work, name):
        by_author[post.user] += 1
        if post.hashtags and (post.user is None or by_author[post.user] <= MOST_OF_ONE):
            some.append(post)
    return [
        (
            _for(some[at].to_json()),
            json.dumps({"post_id": some[at].id, "articles": [], "context": []}),
        )
        for at in sample(random.Random(1), range(len(some)), work.most or MOST_BROAD)
    ]


def _for(line: str) -> str:
    """A prepared post in its part: some are drawn for validation."""
    read = json.loads(line)
    part = "validation" if random.Random(read["id"]).random() < VALIDATION else "train"
    return json.dumps({**read, "split": part}, ensure_ascii=False)
