"""The paper's retriever with the tagger's entities: temporal popularity against BM25.

    python benchmarks/retrieval_tagger.py ../shared/data WORK KEPT --first 2020-05-24

Test posts of 2020 (WORK as in retrieval_quality.py), the news from the first day on, and R, all
read by the tagger. That takes half an hour of one core and more; what it found is kept in KEPT.
The rolling R is the news before the window from that day on, 28 days at most.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from retrieval_quality import SETS, News, RollingRetriever, coverage
from retrieval_tools import build, by_day

from hashnews.files import RecordFile, write_records
from hashnews.index.day import Settings, build_day
from hashnews.news.entities import with_entities
from hashnews.records import Article, PreparedPost
from hashnews.retrieve.reference import entries
from hashnews.retrieve.retriever import Retriever, RetrieverConfig
from hashnews.text.entities import EntityFinder, load_finder

BATCH = 500


def tagged(articles: Iterable[Article], finder: EntityFinder, kept: Path) -> RecordFile[Article]:
    """Articles with the tagger's entities, from a file where they were found before."""
    if not kept.exists():
        source = iter(articles)
        batches = iter(lambda: list(islice(source, BATCH)), [])
        write_records(kept, (a for batch in batches for a in with_entities(finder, batch)))
    return RecordFile(kept, Article)


def main() -> None:
    """Write tagger.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("kept", type=Path)
    parser.add_argument("--first", type=datetime.fromisoformat, required=True)
    parser.add_argument("--index", type=Path, help="folder for the index of the fast finder")
    parser.add_argument("-o", "--out", type=Path, default=Path("results/retrieval"))
    options = parser.parse_args()
    finder, first = load_finder("tagger"), options.first.replace(tzinfo=UTC)
    year = options.data / "2020"
    recent = (
        article
        for article in RecordFile(year / "news.jsonl.gz", Article)
        if article.published_at >= first
    )
    news = tagged(recent, finder, options.kept / "news.jsonl")
    reference = tagged(
        RecordFile(year / "reference.jsonl.gz", Article), finder, options.kept / "reference.jsonl"
    )
    index = build(by_day(entries(news, finder)))[0]
    given = build_day(entries(reference, finder), Settings())
    ways = {
        "paper, BM25": Retriever(index, None, RetrieverConfig(ranking="bm25")),
        "paper, TP, given R": Retriever(index, given),
        "paper, TP, rolling R": RollingRetriever(index),
    }
    folder = (options.index or options.work / "2020") / "2020.index"
    control = News(options.work / "2020" / "news.db", folder)
    tables = ["# The paper's retriever with the tagger's entities", ""]
    tables.append(f"News from {first.date()} on; made by `benchmarks/retrieval_tagger.py`.")
    for name in (name for name, of in SETS.items() if of == "2020"):
        posts = RecordFile(options.work / name / "posts.jsonl", PreparedPost)
        test = [post for post in posts if post.split == "test"]
        found = finder.find_all([post.body for post in test])
        test = [
            post.model_copy(update={"entities": tuple(entity.text for entity in entities)})
            for post, entities in zip(test, found, strict=True)
        ]
        all_of = {way: retriever.retrieve_all for way, retriever in ways.items()}
        tables += ["", coverage(name, test, control, all_of)]
    (options.out / "tagger.md").write_text("\n".join(tables) + "\n", "utf-8")


if __name__ == "__main__":
    main()
