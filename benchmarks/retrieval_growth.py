"""How time and size of the retriever grow with the news, for benchmarks/retrieval.py."""

from __future__ import annotations

import gc
import json
import math
import random
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from matplotlib.figure import Figure
from retrieval_tools import (
    BEST,
    LONG_ENOUGH,
    PAPER,
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
    moment_of,
    queries_of,
    say,
    sizes,
    table,
    thinned,
    timed,
    title,
)

from hashnews.index.day import Day, Entry, Settings, build_day
from hashnews.index.folder import NewsIndex
from hashnews.records import PreparedPost
from hashnews.times import A_DAY

SCALES = (1, 4, 16)
SPAN = 57  # days of news


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
