"""What the parts of benchmarks/retrieval.py share: data, timing, tables."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hashnews.files import RecordFile, write_records
from hashnews.index.day import Day, Entry, Settings, build_day
from hashnews.index.folder import NewsIndex
from hashnews.news.entities import with_entities
from hashnews.prepare.datasets import rules_for
from hashnews.prepare.preparer import Preparer
from hashnews.records import Article, Post, PreparedPost
from hashnews.retrieve.all_words import AllWordsConfig, AllWordsRetriever
from hashnews.retrieve.base import BaseRetriever
from hashnews.retrieve.base import TermQuery as Query
from hashnews.retrieve.batch import CHUNK
from hashnews.retrieve.retriever import Retriever, RetrieverConfig
from hashnews.text.entities import shipped_finder
from hashnews.text.segment import shipped_segmenter
from hashnews.times import A_DAY, microseconds

if TYPE_CHECKING:
    from peers import Peer

ROUNDS = 3
LONG_ENOUGH = 0.15  # seconds a round must take to be worth timing
COMMON = ("times", "id_text", "id_sizes")


Finder = BaseRetriever


class Kind(NamedTuple):
    """A retriever to measure: how to make one, and the windows and articles peers must match."""

    make: Callable[[NewsIndex, Day | None], Finder]
    spans: Sequence[int]  # days back of each window
    takes: Sequence[int]  # articles each window gives


def with_config(config: RetrieverConfig) -> Kind:
    """The paper's retriever, with some settings."""
    spans = range(1, config.windows + 1)
    return Kind(
        lambda index, reference: Retriever(index, reference, config), spans, [1] * len(spans)
    )


PAPER = with_config(RetrieverConfig())
BEST = Kind(
    lambda index, _: AllWordsRetriever(index),
    [AllWordsConfig().window],
    [AllWordsConfig().articles],
)
WORDS = {f"Best preset: the {BEST.takes[0]} best articles of one window": BEST}


class Job(NamedTuple):
    """Something to time: how many posts it answers, what to do, what to do before, untimed."""

    posts: int
    run: Callable[[Any], object]
    before: Callable[[], Any] = lambda: None


@dataclass(frozen=True, eq=False)
class Data:
    """All of 2020."""

    news: list[Entry]  # in order of time
    reference: list[Entry]
    posts: list[PreparedPost]  # in order of time

    @cached_property
    def index(self) -> NewsIndex:
        """The index of all news at t = 1.0."""
        return build(by_day(self.news))[0]


# Data


def entry(article: Article) -> Entry:
    """An article as the index reads it."""
    text = f"{article.title}\n{article.text}"
    return Entry(article.id, microseconds(article.published_at), article.entities or (), text)


def found(source: Path, kept: Path) -> list[Entry]:
    """Articles with the entities of the fast finder, which are kept in a file."""
    if not kept.exists():
        print(f"finding the entities of {source} ...", flush=True)
        finder, articles = shipped_finder(), iter(RecordFile(source, Article))
        batches = iter(lambda: list(islice(articles, 1000)), [])
        write_records(kept, (a for batch in batches for a in with_entities(finder, batch)))
    return sorted(map(entry, RecordFile(kept, Article)), key=lambda row: row.published)


def load(data: Path, cache: Path, most: int | None) -> Data:
    """Everything the measurements need, from the cache where it is there."""
    cache.mkdir(parents=True, exist_ok=True)
    prepared = cache / "posts.jsonl"
    if not prepared.exists():
        print("preparing the posts ...", flush=True)
        preparer = Preparer(shipped_segmenter(), shipped_finder())
        raw = data / "2020" / "posts.jsonl.gz"
        write_records(prepared, preparer.prepare(RecordFile(raw, Post), rules_for(raw)))
    posts = sorted(RecordFile(prepared, PreparedPost), key=lambda post: moment_of(post))
    return Data(
        found(data / "2020" / "news.jsonl.gz", cache / "news.jsonl.gz"),
        found(data / "2020" / "reference.jsonl.gz", cache / "reference.jsonl.gz"),
        thinned(posts, most) if most else posts,
    )


def moment_of(post: PreparedPost) -> int:
    """The time of a post; all of 2020 have one."""
    assert post.created_at is not None
    return microseconds(post.created_at)


def thinned(rows: Sequence[Any], most: int) -> list[Any]:
    """At most so many of a list, evenly spread over it."""
    if len(rows) <= most:
        return list(rows)
    return [rows[k * len(rows) // most] for k in range(most)]


def busiest(posts: Sequence[PreparedPost], days: int, most: int) -> list[PreparedPost]:
    """Posts of consecutive days, of those that have most."""
    held = Counter(moment_of(post) // A_DAY for post in posts)
    first = max(held, key=lambda day: sum(held[day + k] for k in range(days)))
    return thinned([p for p in posts if first <= moment_of(p) // A_DAY < first + days], most)


# Timing


def timed(jobs: dict[str, Job], rounds: int = ROUNDS) -> dict[str, float]:
    """Seconds a post of each job: medians of interleaved rounds."""
    spent: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            given = job.before()
            gc.collect()
            start = time.process_time()
            job.run(given)
            spent[name].append((time.process_time() - start) / job.posts)
    return {name: statistics.median(times) for name, times in spent.items()}


def answer(finder: Finder | Peer, queries: Sequence[Query]) -> None:
    """Find the articles of all queries."""
    if isinstance(finder, BaseRetriever):
        for start in range(0, len(queries), CHUNK):
            finder.find_all(queries[start : start + CHUNK])
    else:
        for terms, moment in queries:
            finder.find(terms, moment)


def latency(queries: Sequence[Query], finder: Callable[[], Finder]) -> tuple[float, float]:
    """Median and 99th percentile of single calls, in milliseconds."""
    spent = []
    for terms, moment in queries:
        retriever = finder()
        start = time.process_time_ns()
        retriever.find(terms, moment)
        spent.append((time.process_time_ns() - start) / 1e6)
    return float(np.percentile(spent, 50)), float(np.percentile(spent, 99))


def reopened(index: NewsIndex) -> NewsIndex:
    """The same index with nothing read of it yet."""
    again = NewsIndex(index.settings)
    for number in index.numbers():
        again.put(number, Day(index.day(number).arrays))
    return again


def queries_of(retriever: Finder, posts: Iterable[PreparedPost]) -> list[Query]:
    """What posts ask for, where they ask for anything."""
    queries = [Query(retriever.terms(post), moment_of(post)) for post in posts]
    return [query for query in queries if query.terms]


REPORT: list[str] = []  # what the part that runs has said


def say(line: str) -> None:
    """Print a line, and keep it for the report."""
    print(line, flush=True)
    REPORT.append(line)


def table(head: str, rows: Iterable[Sequence[object]]) -> None:
    """A table in Markdown."""
    say(f"\n| {head} |\n|{'---|' * (head.count('|') + 1)}")
    for row in rows:
        say(f"| {' | '.join(map(str, row))} |")


def title(text: str) -> None:
    """A heading in Markdown, and how busy the machine is, where a part begins."""
    say(f"\n## {text}\n\nLoad at the start: {os.getloadavg()[0]:.1f}.")


def by_day(entries: Iterable[Entry]) -> dict[int, list[Entry]]:
    """Articles by the number of their day."""
    days = defaultdict(list)
    for row in entries:
        days[row.published // A_DAY].append(row)
    return days


def build(
    days: dict[int, list[Entry]], settings: Settings | None = None
) -> tuple[NewsIndex, float]:
    """An index, and the seconds it took."""
    index, spent = NewsIndex(settings), 0.0
    for number, entries in sorted(days.items()):
        start = time.process_time()
        index.put(number, build_day(entries, index.settings))
        spent += time.process_time() - start
    return index, spent


def sizes(index: NewsIndex) -> tuple[float, float, float]:
    """Bytes an article of entities, of words, and of what both need."""
    held: Counter[str] = Counter()
    for number in index.numbers():
        day = index.day(number)
        held["articles"] += day.size
        for name, array in day.arrays.items():
            of_words = name.startswith(("word_", "doc_")) and name != "doc_slots"
            part = "words" if of_words else "entities"
            held["common" if name in COMMON else part] += array.nbytes
    return tuple(held[part] / held["articles"] for part in ("entities", "words", "common"))


def empty(index: NewsIndex, reference: Day | None, kind: Kind) -> Finder:
    """A retriever that knows nothing yet."""
    again = None if reference is None else Day(reference.arrays)
    return kind.make(reopened(index), again)
