"""Reading and cleaning the posts of DATA: one list of prepared posts per set."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

from hashnews.files import RecordFile, new_file
from hashnews.prepare.datasets import CollectionRule, DatasetRules, rules_for
from hashnews.prepare.preparer import Preparer, copy_digest
from hashnews.records import Hashtag, Post, PreparedPost
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter
from sense.work import HERE, Work, run

SETS = {
    "everyday": "broad/everyday",
    "archives": "broad/archives",
    "searched": "broad/searched-2011-2016",
    "small": "broad/small",
    "howyoutag": "broad/howyoutag",
    "covid": "broad/covid-2020",
    "vaccine": "broad/vaccine-2021",
    "p2021": "2021/posts",
    "p2023": "2023/posts",
    "c2020": "2020/posts",
    "c2019": "2019/posts",
}
# Some files hold the columns of a table inside the text.
LEADING_COLUMNS = re.compile(r"^\d{6,}\t((positive|negative|neutral|UNINFORMATIVE|INFORMATIVE)\t)?")
HASHTAG = re.compile(r"#(\w+)")
SHORTEST = 3  # letters of a body
GROUPS = 6  # of posts, each with a small store of its own


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a gzipped file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def file_of(work: Work, name: str) -> Path:
    """The raw posts of a set."""
    return work.data / f"{SETS[name]}.jsonl.gz"


def prepared(work: Work, name: str) -> list[PreparedPost]:
    """The posts of a set that hold a hashtag, cleaned, each once, with their names."""
    make = _how_you_tag if name == "howyoutag" else _prepare
    return work.kept(f"posts-{name}", lambda: make(work, name))


def rules_of(work: Work, name: str) -> DatasetRules:
    """How the posts of a set were found; those of 2021 by the commonest hashtag of each topic."""
    if name != "p2021":
        return rules_for(file_of(work, name))
    uses: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for post in _raw(work, name):
        uses[post.collection or ""].update(set(HASHTAG.findall(post.text.lower())))
    return DatasetRules(
        collections={
            collection: CollectionRule(searched_for=(counted.most_common(1)[0][0],))
            for collection, counted in uses.items()
        }
    )


def split_set(work: Work, name: str, collection: str) -> list[PreparedPost]:
    """The posts of a collection of 2020 as `hashnews prepare` splits them by time."""
    path = work.stores / f"{name}.jsonl"
    raw = file_of(work, "c2020")
    run(path, "prepare", raw, "--collection", collection, "--split", "chronological", "-o", path)
    return list(work.limited(list(RecordFile(path, PreparedPost))))


def news_store(work: Work, year: str) -> Path:
    """The store of a year's news."""
    store = work.stores / f"{year}.db"
    news = work.data / year / "news.jsonl.gz"
    run(work.stores / f"{year}.added", "news", "add", news, "--news", store)
    return store


def few_news(work: Work, year: str, group: int) -> Path:
    """A store of the few articles of a year that were judged for one group of posts.

    Who follows few feeds finds a story told once or twice: so it is for two posts of three.
    """
    store = work.stores / f"{year}-few-{group}.db"
    if not store.with_suffix(".added").exists():
        judged = {
            article
            for row in json_lines("stories.jsonl")
            if group_of(row["id"]) == group
            for what in ("story", "subject", "other")
            for article in (row[what][: _tellers(row["id"])] if what == "story" else row[what])
        }
        news = store.with_suffix(".jsonl")
        with new_file(news) as stream:
            for row in lines(work.data / year / "news.jsonl.gz"):
                if row["id"] in judged:
                    stream.write(json.dumps(row) + "\n")
        run(store.with_suffix(".added"), "news", "add", news, "--news", store)
    return store


def _tellers(post: str) -> int | None:
    """How many articles tell a post's story in a small store: one, two, or all."""
    return (1, 2, None)[crc32(post[::-1].encode()) % 3]


def group_of(post: str) -> int:
    """The group of a post, by its id."""
    return crc32(post.encode()) % GROUPS


def json_lines(name: str) -> list[dict[str, Any]]:
    """The lines of a file beside this one."""
    with (HERE / name).open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def titles(work: Work, year: str) -> list[str]:
    """The headlines of a year's news."""
    return [row["title"] for row in lines(work.data / year / "news.jsonl.gz")]


def _raw(work: Work, name: str) -> Iterator[Post]:
    for row in lines(file_of(work, name)):
        fields = {key: row.get(key) for key in ("created_at", "user", "collection")}
        text = LEADING_COLUMNS.sub("", row["text"]).strip().strip('"')
        yield Post(id=row["id"], text=text, **fields)


def _prepare(work: Work, name: str) -> list[PreparedPost]:
    finder = load_finder("fast")
    preparer = Preparer(shipped_segmenter(), finder)
    ready, seen = [], set()
    posts = work.limited(list(_raw(work, name)))
    for post in preparer.remember(posts, rules_of(work, name)):
        digest = copy_digest(post)
        if digest not in seen and len(post.body) >= SHORTEST:
            seen.add(digest)
            ready.append(post)
    found = finder.find_all([post.body for post in ready])
    return [
        post.model_copy(update={"entities": tuple(entity.text for entity in entities)})
        for post, entities in zip(ready, found, strict=True)
    ]


def _how_you_tag(work: Work, name: str) -> list[PreparedPost]:
    """These posts come with their hashtags taken out and with a split."""
    segmenter, finder = shipped_segmenter(), load_finder("fast")
    ready = []
    for number, row in work.limited(list(enumerate(lines(file_of(work, name))))):
        tags: dict[str, Hashtag] = {}
        for written in row["hashtags"]:
            tag = Hashtag(segmenter.segment(f"#{written}"), f"#{written}")
            tags.setdefault(tag.key, tag)
        ready.append(
            PreparedPost(
                id=f"h{number}",
                created_at=None,
                user=row["user"],
                collection=name,
                split="train" if row["split"] == "train" else "validation",
                body=row["text"],
                entities=tuple(entity.text for entity in finder.find(row["text"])),
                hashtags=tuple(tags.values()),
            )
        )
    return ready
