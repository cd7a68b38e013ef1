"""Speed, size, growth and exactness of the retriever on the measuring data, one core.

    python benchmarks/retrieval.py ../shared/data --cache DIR              (everything)
    python benchmarks/retrieval.py ../shared/data --cache DIR --only paper --posts 500

Needs bm25s, tantivy and rank-bm25 beside the test extra. Entities are found and posts prepared
once, and kept in DIR. Each part writes a file of results/retrieval: build.md, paper.md, words.md,
growth.md (with .json and .png) and exact.md.

Times are processor time of the one core they use, so that other work on the machine counts as
little as it can, and medians of rounds in which all that is compared takes its turn. An *empty
cache* is a new `Retriever` over days as they come from a file: nothing of them is read. Posts are
asked in the chunks of `hashnews retrieve`; peers have no such call and are asked one by one.
"""

from __future__ import annotations

import os

os.environ.update(NUMBA_NUM_THREADS="1", OMP_NUM_THREADS="1")

import argparse
import gc
import platform
import runpy
import statistics
import time
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import numpy as np
from peers import Authors, Bm25s, Peer, RankBm25, Tantivy, Windows
from retrieval_growth import growth
from retrieval_tools import (
    PAPER,
    REPORT,
    ROUNDS,
    WORDS,
    Data,
    Finder,
    Job,
    Kind,
    Query,
    answer,
    build,
    busiest,
    by_day,
    empty,
    latency,
    load,
    moment_of,
    queries_of,
    say,
    sizes,
    table,
    thinned,
    timed,
    title,
)

from hashnews.index.day import Day, Settings, build_day, fold_entity
from hashnews.index.folder import NewsIndex
from hashnews.records import PreparedPost
from hashnews.retrieve.batch import CHUNK
from hashnews.retrieve.retriever import Retriever, RetrieverConfig
from hashnews.times import A_DAY

BRUTE_FORCE = Path(__file__).parent.parent / "tests" / "retrieve" / "brute_force.py"


# Build and size


def building(data: Data) -> None:
    """Articles a second, bytes an article."""
    title("Index build, entities known, kernels compiled")
    days = by_day(data.news)
    build({number: days[number] for number in list(days)[:1]})
    rows = []
    for t in (1.0, 0.8):
        spent = []
        for _ in range(3 if t == 1 else 1):
            index, seconds = build(days, Settings(t=t))
            spent.append(seconds)
        parts = sizes(index)
        rate = len(data.news) / statistics.median(spent)
        rows.append((t, f"{len(data.news):,}", f"{rate:,.0f}", *(f"{part:.0f}" for part in parts)))
    head = "t | articles | articles a second | bytes an article: entities | words | times and ids"
    table(head, rows)


# Against peers


def paper(data: Data) -> None:
    """The paper's preset: whole run, single calls, peers."""
    title("The paper's preset, t = 1.0")
    index = data.index
    reference = build_day(data.reference, index.settings)
    posts = [post for post in data.posts if post.entities]
    retriever = PAPER.make(index, reference)
    queries = queries_of(retriever, posts)
    whole_runs(index, reference, PAPER, posts, queries)
    names = [[name for name in map(fold_entity, row.entities) if name] for row in data.news]
    tokens = [[token for name in row for token in name.split()] for row in names]
    windows = Windows([row.published for row in data.news], PAPER.spans, PAPER.takes)
    few = thinned(queries, 12)
    day = busiest(posts, 1, 15)
    of_a_day = queries_of(retriever, day)
    known = [[name for name in map(fold_entity, row.entities) if name] for row in data.reference]
    authors = partial(Authors, names, windows, known, of_a_day)
    samples: dict[str, tuple[Peer, list[Query]]] = {
        "bm25s, numba, one index": (Bm25s(tokens, windows), queries),
        "tantivy, range and phrases, 5 queries": (Tantivy(tokens, windows), thinned(queries, 600)),
        "rank_bm25, one index": (RankBm25(tokens, windows), few),
        "the authors' loop, 5 windows": (authors(hoisted=False), of_a_day),
        "the authors' loop, mean length hoisted": (authors(hoisted=True), of_a_day),
    }
    against(samples, index, reference, PAPER, queries)


def whole_runs(
    index: NewsIndex,
    reference: Day | None,
    kind: Kind,
    posts: Sequence[PreparedPost],
    queries: Sequence[Query],
) -> None:
    """Posts a second over all posts, and latencies of single calls."""
    warm = kind.make(index, reference)
    answer(warm, queries)

    def retrieve(retriever: Finder) -> None:
        for start in range(0, len(posts), CHUNK):
            retriever.retrieve_all(posts[start : start + CHUNK])

    speeds = timed(
        {
            "articles, from an empty cache": Job(
                len(queries), lambda r: answer(r, queries), lambda: empty(index, reference, kind)
            ),
            "articles, warm": Job(len(queries), lambda _: answer(warm, queries)),
            "articles and context words of prepared posts, from an empty cache": Job(
                len(posts), retrieve, lambda: empty(index, reference, kind)
            ),
            "articles and context words of prepared posts, warm": Job(
                len(posts), lambda _: retrieve(warm)
            ),
        }
    )
    rows = [
        (name, f"{1 / seconds:,.0f}", f"{1e6 * seconds:.0f}") for name, seconds in speeds.items()
    ]
    table(f"whole run, {len(posts):,} posts | posts a second | µs a post", rows)
    some = thinned(queries, 1000)
    for_each = {
        "warm": (some, lambda: warm),
        "cold: a new retriever each": (some, lambda: kind.make(index, reference)),
        "first: its days just opened, too": (
            thinned(queries, 40),
            lambda: empty(index, reference, kind),
        ),
    }
    rows = []
    for name, (asked, finder) in for_each.items():
        median, worst = latency(asked, finder)
        rows.append((name, len(asked), f"{median:.3f}", f"{worst:.3f}"))
    table("single calls | posts | p50 ms | p99 ms", rows)


def against(
    samples: dict[str, tuple[Peer, list[Query]]],
    index: NewsIndex,
    reference: Day | None,
    kind: Kind,
    queries: Sequence[Query],
) -> None:
    """How many times faster than peers: over all posts, and over those the peer answered."""
    warm = kind.make(index, reference)
    answer(warm, queries)
    start = partial(empty, index, reference, kind)
    rows = []
    gc.collect()
    gc.freeze()
    for name, (peer, asked) in samples.items():
        answer(peer, asked[:2])  # compiled
        fast = len(asked) > 1000
        seconds = timed(
            {
                "whole": Job(len(queries), lambda r: answer(r, queries), start),
                "peer": Job(len(asked), lambda _, p=peer, a=asked: answer(p, a)),
                "empty": Job(len(asked), lambda r, a=asked: answer(r, a), start),
                # Few posts are over in no time: ask them again and again.
                "warm": Job(
                    len(asked) * (1 if fast else 20),
                    lambda _, a=asked, n=1 if fast else 20: [answer(warm, a) for _ in range(n)],
                ),
            },
            ROUNDS if fast else 3,
        )
        theirs = seconds["peer"]
        rows.append(
            (
                name, f"{len(asked):,}", f"{1 / theirs:,.{1 if theirs > 0.01 else 0}f}",
                *(f"{theirs / seconds[ours]:,.1f}x" for ours in ("whole", "empty", "warm")),
            )
        )  # fmt: skip
    gc.unfreeze()
    table(
        "peer | posts it was timed on | its posts a second | "
        "all posts from an empty cache | its posts from an empty cache | its posts, warm",
        rows,
    )


def words_of(day: Day) -> Iterator[list[str]]:
    """The words of each article of a day, as often as it says them."""
    words, counts = day.arrays["doc_words"], day.arrays["doc_counts"]
    for start, end in pairwise(day.doc_starts.tolist()):
        yield day.words.pick(np.repeat(words[start:end], counts[start:end]).tolist())


def asking_with_words(data: Data) -> None:
    """The retrievers that ask with words."""
    index = data.index
    days = [index.day(number) for number in index.numbers()]
    said = [said for day in days for said in words_of(day)]
    times = [int(moment) for day in days for moment in day.times]
    reference = build_day(data.reference, index.settings)
    for name, kind in WORDS.items():
        title(name)
        retriever = kind.make(index, reference)
        queries = queries_of(retriever, data.posts)
        whole_runs(index, reference, kind, data.posts, queries)
        windows = Windows(times, kind.spans, kind.takes)
        samples: dict[str, tuple[Peer, list[Query]]] = {
            "bm25s, numba, one index": (Bm25s(said, windows), thinned(queries, 4000)),
            "tantivy, range": (Tantivy(said, windows), thinned(queries, 600)),
        }
        against(samples, index, reference, kind, queries)


# Exactness


def exactness(data: Data) -> None:
    """The retriever against brute force that shares no code with it."""
    title("Exactness against tests/retrieve/brute_force.py")
    brute_force = runpy.run_path(str(BRUTE_FORCE))["BruteForce"]
    posts = busiest([post for post in data.posts if post.entities], 3, 500)
    numbers = [moment_of(post) // A_DAY for post in posts]
    news = [row for row in data.news if min(numbers) - 6 <= row.published // A_DAY <= max(numbers)]
    say(f"\n{len(posts)} posts, {len(news):,} articles, {len(data.reference):,} in R.")
    rows = []
    for t, ranking in ((1.0, "tp"), (0.8, "tp"), (1.0, "bm25")):
        settings, started = Settings(t=t), time.process_time()
        retriever = Retriever(
            build(by_day(news), settings)[0],
            build_day(data.reference, settings),
            RetrieverConfig(ranking=ranking),
        )
        force = brute_force(
            [(row.id, row.published, row.entities) for row in news],
            [(row.id, row.published, row.entities) for row in data.reference],
            t,
            ranking,
        )
        alike, picks, difference = 0, 0, 0.0
        for post in posts:
            moment = moment_of(post)
            ours = [
                tuple(article) for article in retriever.find(retriever.terms(post), moment).named()
            ]
            theirs = force.retrieve(post.entities, moment)
            if [(i, w) for i, _, w in ours] == [(i, w) for i, _, w in theirs]:
                alike += 1
                gaps = [abs(a - b) for (_, a, _), (_, b, _) in zip(ours, theirs, strict=True)]
                difference = max([difference, *gaps])
            else:
                say(f"\npost {post.id} differs: {ours} against {theirs}")
            picks += len(theirs)
        spent = time.process_time() - started
        rows.append(
            (
                t,
                ranking,
                f"{alike} of {len(posts)}",
                f"{picks:,}",
                f"{difference:.1e}",
                f"{spent:.0f}",
            )
        )
    head = (
        "t | ranking | posts with the same picks | picks | largest difference of scores | seconds"
    )
    table(head, rows)


def machine() -> None:
    """Where and with what this runs."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    packages = ("numpy", "numba", "bm25s", "tantivy", "rank-bm25")
    held = ", ".join(f"{package} {version(package)}" for package in packages)
    say(f"{time.strftime('%Y-%m-%d %H:%M')}, {os.cpu_count()} cores of {model}, one used.  ")
    say(f"Python {platform.python_version()}, {held}.  ")


def main() -> None:
    """Measure everything, or some of it."""
    parts = {
        "build": building,
        "paper": paper,
        "words": asking_with_words,
        "growth": growth,
        "exact": exactness,
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--posts", type=int, help="at most so many, for a quick run")
    parser.add_argument("--only", choices=parts, nargs="+", default=list(parts))
    parser.add_argument("-o", "--out", type=Path, default=Path("results/retrieval"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    data = load(options.data, options.cache, options.posts)
    with_names = sum(1 for post in data.posts if post.entities)
    gc.collect()
    gc.freeze()
    for name in options.only:
        REPORT.clear()
        machine()
        say(
            f"{len(data.news):,} articles, {len(data.posts):,} posts, {with_names:,} with entities."
        )
        if name == "growth":
            growth(data, options.out / "growth.png")
        else:
            parts[name](data)
        (options.out / f"{name}.md").write_text("\n".join(REPORT) + "\n", "utf-8")


if __name__ == "__main__":
    main()
