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
import json
import math
import platform
import random
import runpy
import statistics
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from peers import Authors, Bm25s, Peer, RankBm25, Tantivy, Windows

from hashnews.files import RecordFile, write_records
from hashnews.news.ingest import with_entities
from hashnews.news.times import A_DAY, microseconds
from hashnews.prepare import Preparer
from hashnews.records import Article, Post, PreparedPost
from hashnews.retrieve.batch import CHUNK
from hashnews.retrieve.best import BestConfig, BestRetriever
from hashnews.retrieve.day import Day, Entry, Settings, build_day, fold_entity
from hashnews.retrieve.index import NewsIndex
from hashnews.retrieve.retriever import Retriever, RetrieverConfig
from hashnews.text.entities import shipped_finder
from hashnews.text.segment import shipped_segmenter

ROUNDS = 3
LONG_ENOUGH = 0.15  # seconds a round must take to be worth timing
SCALES = (1, 4, 16)
SPAN = 57  # days of news
BRUTE_FORCE = Path(__file__).parent.parent / "tests" / "retrieve" / "brute_force.py"
COMMON = ("times", "id_text", "id_sizes")
Query = tuple[list[str], int]  # terms and the post's time


Finder = Retriever | BestRetriever


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
BEST = Kind(lambda index, _: BestRetriever(index), [BestConfig().window], [BestConfig().articles])
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
        raw = RecordFile(data / "2020" / "posts.jsonl.gz", Post)
        write_records(prepared, preparer.prepare(raw))
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
    if isinstance(finder, Retriever | BestRetriever):
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
    rows = [(retriever.terms(post), moment_of(post)) for post in posts]
    return [(terms, moment) for terms, moment in rows if terms]


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


# 1. Build and size


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
            part = "words" if name.startswith(("word_", "doc_sizes", "doc_words")) else "entities"
            held["common" if name in COMMON else part] += array.nbytes
    return tuple(held[part] / held["articles"] for part in ("entities", "words", "common"))


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


# 2. and 3. Against peers


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


def empty(index: NewsIndex, reference: Day | None, kind: Kind) -> Finder:
    """A retriever that knows nothing yet."""
    again = None if reference is None else Day(reference.arrays)
    return kind.make(reopened(index), again)


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


def asking_with_words(data: Data) -> None:
    """The retrievers that ask with words."""
    index = data.index
    days = [index.day(number) for number in index.numbers()]
    said = [day.words_of(place) for day in days for place in range(day.size)]
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


# 4. Growth


def renamed(name: str, copy: int) -> str:
    """Half of all names get one more letter in a copy."""
    return name + chr(96 + copy) if zlib.crc32(f"{copy} {name}".encode()) & 1 else name


def copied(entries: Iterable[Entry], copy: int, shift: Callable[[], int]) -> Iterator[Entry]:
    """A copy of articles at other times, half of the names renamed."""
    if copy == 0:
        yield from entries
        return
    names: dict[str, str] = {}
    for row in entries:
        known = [
            names.get(name) or names.setdefault(name, renamed(name, copy)) for name in row.entities
        ]
        yield Entry(f"{row.id}+{copy}", row.published + shift(), known, row.text)


def longer_history(data: Data) -> Iterator[tuple[NewsIndex, float]]:
    """The news and copies of it, each as long before the one before it, at each scale.

    Days do not depend on each other, so a longer history holds the very days of a shorter one.
    """
    built: dict[int, Day] = {}
    spent, made, days = 0.0, 0, by_day(data.news)
    for scale in SCALES:
        for copy in range(made, scale):
            back = -SPAN * A_DAY * copy
            for number, entries in days.items():
                if copy == 0:
                    start = time.process_time()
                    built[number] = build_day(entries, Settings())
                    spent += time.process_time() - start
                else:  # the same day at another time
                    arrays = built[number].arrays
                    moved = {**arrays, "times": arrays["times"] + back}
                    built[number + back // A_DAY] = Day(moved)
        made = scale
        index = NewsIndex()
        for number, day in built.items():
            index.put(number, day)
        yield index, spent


def denser(data: Data, scale: int, wanted: range) -> tuple[NewsIndex, float]:
    """Some days of the news with copies of it, each up to six hours earlier or later."""
    rng = random.Random(scale)
    near = [
        row
        for row in data.news
        if row.published // A_DAY + 1 in range(wanted.start, wanted.stop + 2)
    ]
    hours = 6 * 3_600_000_000
    rows: list[Entry] = []
    for copy in range(scale):
        rows += copied(near, copy, lambda: rng.randint(-hours, hours))
    days = {number: rows for number, rows in by_day(rows).items() if number in wanted}
    return build(days)


def growth(data: Data, plot: Path) -> None:
    """Time and size as the news grows in length and in density."""
    title("Growth")
    reference = build_day(data.reference, Settings())
    posts = busiest([post for post in data.posts if post.entities], 1, 300)
    numbers = [moment_of(post) // A_DAY for post in posts]
    wanted = range(min(numbers) - 5, max(numbers) + 1)
    say(f"\n{len(posts)} posts of {len(set(numbers))} days; density: {len(wanted)} days.")
    curves: dict[tuple[str, str], list[float]] = {}
    for kind in ("density", "history"):
        longer = kind == "history"
        news = longer_history(data) if longer else (denser(data, n, wanted) for n in SCALES)
        made = dict(zip(SCALES, news, strict=True))
        gc.collect()
        gc.freeze()
        jobs, presets = {}, {"paper": PAPER, "best": BEST}
        for name, kind_of in presets.items():
            for scale, (index, _) in made.items():
                jobs.update(grown(name, kind_of, scale, index, reference, posts))
        seconds = timed(jobs)
        gc.unfreeze()
        rows = []
        for scale, (index, _) in made.items():
            articles = sum(index.day(number).size for number in index.numbers())
            entities, words, _ = sizes(index)
            times = []
            for name in presets:
                for state in ("warm", "cold", "first"):
                    here, one = (seconds[f"{name} {state} {n}"] for n in (scale, SCALES[0]))
                    times.append(f"{1e6 * here:,.0f} ({here / one:.2f}x)")
                    curves.setdefault((kind, f"{name}, {state}"), []).append(1e6 * here)
            rows.append(
                (
                    f"{kind} {scale}x", f"{articles:,}", f"{entities:.0f} / {words:.0f}", *times,
                )
            )  # fmt: skip
        states = " | ".join(
            f"{name}: {state}" for name in presets for state in ("warm", "cold", "first")
        )
        head = f"news | articles | bytes an article: entities / words | {states}"
        table(head, rows)
        made.clear()
        gc.collect()
    say("\nTimes in µs a post; x: against the first row. Warm: all lists known. Cold: a new")
    say("retriever for every post. First: its days just opened, too.")
    kept = {f"{kind}: {name}": times for (kind, name), times in curves.items()}
    text = json.dumps({"scales": SCALES, "microseconds": kept}, indent=1)
    plot.with_suffix(".json").write_text(text + "\n", "utf-8")
    draw(curves, plot)


def grown(
    name: str,
    kind: Kind,
    scale: int,
    index: NewsIndex,
    reference: Day,
    posts: Sequence[PreparedPost],
) -> dict[str, Job]:
    """What is timed at one size: warm, cold, and with days just opened."""
    warm = kind.make(index, reference)
    queries = queries_of(warm, posts)
    answer(warm, queries)
    start = time.process_time()
    answer(warm, queries)
    again = math.ceil(LONG_ENOUGH / (time.process_time() - start))
    some, few = thinned(queries, 20), thinned(queries, 4)

    def opened() -> list[Finder]:
        # Only the days a post needs: the others are not looked at.
        return [empty(near(index, moment), reference, kind) for _, moment in few]

    def each(retrievers: list[Finder], asked: list[Query]) -> None:
        for query in asked:
            retrievers.pop(0).find(*query)  # and it is gone, with its memory

    return {
        f"{name} warm {scale}": Job(
            again * len(queries), lambda _: [answer(warm, queries) for _ in range(again)]
        ),
        f"{name} cold {scale}": Job(
            len(some),
            lambda made: each(made, some),
            lambda: [kind.make(index, reference) for _ in some],
        ),
        f"{name} first {scale}": Job(len(few), lambda made: each(made, few), opened),
    }


def near(index: NewsIndex, moment: int) -> NewsIndex:
    """The days of an index up to some weeks before a time."""
    part = NewsIndex(index.settings)
    for number in range(moment // A_DAY - 40, moment // A_DAY + 1):
        part.put(number, index.day(number))
    return part


def draw(curves: dict[tuple[str, str], list[float]], path: Path) -> None:
    """Time a post against size, both on logarithmic axes."""
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    for axes, kind in zip(figure.subplots(1, 2, sharey=True), ("history", "density"), strict=True):
        presets = list(dict.fromkeys(name.rsplit(", ", 1)[0] for _, name in curves))
        for (of, name), times in curves.items():
            if of == kind:
                preset, state = name.rsplit(", ", 1)
                style = {"warm": "-o", "cold": "--s", "first": ":^"}[state]
                colour = f"C{presets.index(preset)}"
                axes.loglog(SCALES, times, style, color=colour, label=name)
        axes.set(title=f"{kind} of the news", xlabel="times as much news", xticks=SCALES)
        axes.set_xticks(SCALES, [str(scale) for scale in SCALES])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("µs a post (processor time)")
    figure.axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=130)
    say(f"\n![growth]({path.name})")


# 5. Exactness


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
            NewsIndex.build(news, settings),
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
                (day.id(place), score, window)
                for day, place, score, window in retriever.find(retriever.terms(post), moment)
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
