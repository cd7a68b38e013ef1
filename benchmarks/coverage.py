"""Which entity finder serves the paper's retriever better: hashtag words its contexts cover.

    python benchmarks/coverage.py ../shared/data

On the validation posts of 2020 (of each collection the tenth before the last tenth), with BM25 over
entities, which needs no reference corpus. `newW` is the share of gold hashtag words that are in the
context and not in the post.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable
from pathlib import Path

from retrieval_tools import build, by_day

from hashnews.files import RecordFile
from hashnews.prepare.datasets import rules_for
from hashnews.prepare.preparer import Preparer
from hashnews.records import Article, Post, PreparedPost
from hashnews.retrieve.reference import entries
from hashnews.retrieve.retriever import Retriever, RetrieverConfig
from hashnews.text.entities import EntityFinder, load_finder
from hashnews.text.segment import shipped_segmenter
from hashnews.text.stopwords import STOP_WORDS
from hashnews.text.tokens import words
from hashnews.times import A_DAY, microseconds

WINDOW = 5


def validation(posts: Iterable[PreparedPost], collection: str) -> list[PreparedPost]:
    """The tenth before the last tenth, by time."""
    ours = sorted((p for p in posts if p.collection == collection), key=lambda p: p.created_at)
    return ours[round(0.8 * len(ours)) : round(0.9 * len(ours))]


def covered(post: PreparedPost, retriever: Retriever) -> tuple[int, int, bool]:
    """Gold words that only the context has, gold words, and whether any article was found."""
    found = retriever.retrieve(post)
    context, said = {word for word, _ in found.words}, set(words(post.body))
    gold = [w for tag in post.hashtags for w in tag.words if w not in STOP_WORDS]
    return sum(w in context and w not in said for w in gold), len(gold), bool(found.articles)


def interval(rows: list[tuple[int, int, bool]]) -> tuple[float, float]:
    """A 95 % bootstrap interval of newW over posts."""
    rng = random.Random(1)
    shares = []
    for _ in range(1000):
        drawn = rng.choices(rows, k=len(rows))
        shares.append(sum(r[0] for r in drawn) / sum(r[1] for r in drawn))
    return sorted(shares)[25], sorted(shares)[974]


def measure(data: Path, finder: EntityFinder) -> None:
    """One row a collection."""
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    raw = data / "2020" / "posts.jsonl.gz"
    ready = list(preparer.prepare(RecordFile(raw, Post), rules_for(raw)))
    for collection in ("congress", "blm"):
        posts = validation(ready, collection)
        found = finder.find_all([post.body for post in posts])
        posts = [
            post.model_copy(update={"entities": tuple(entity.text for entity in entities)})
            for post, entities in zip(posts, found, strict=True)
        ]
        first, last = (microseconds(posts[at].created_at) // A_DAY for at in (0, -1))
        news = [
            article
            for article in RecordFile(data / "2020" / "news.jsonl.gz", Article)
            if first - WINDOW <= microseconds(article.published_at) // A_DAY <= last
        ]
        index = build(by_day(entries(news, finder)))[0]
        retriever = Retriever(index, None, RetrieverConfig(ranking="bm25"))
        rows = [covered(post, retriever) for post in posts]
        share = sum(row[0] for row in rows) / sum(row[1] for row in rows)
        low, high = interval(rows)
        answered = sum(row[2] for row in rows) / len(rows)
        print(
            f"| {finder.name} | {collection} 2020 | {len(posts):,} | {len(news):,} | "
            f"{answered:.3f} | {share:.3f} [{low:.3f}, {high:.3f}] |",
            flush=True,
        )


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    options = parser.parse_args()
    print("| finder | posts of | posts | articles | with an article | newW |")
    print("|---" * 6 + "|")
    for name in ("fast", "tagger"):
        measure(options.data, load_finder(name))


if __name__ == "__main__":
    main()
