"""How the memory of posts grows: start, one more post, look back, and the memory it takes.

    python benchmarks/memory.py DATA/history/posts.jsonl.gz --posts 300000 --old OTHER/src
    python benchmarks/memory.py DATA/history/posts.jsonl.gz --posts 1200000 10000000 --store

The posts are repeated with other times until there are so many, spread evenly over 400 days, or
3,000 a day where that takes longer; a post sees 400 days. With `--old` the same is measured with
the code of another checkout, one after the other, and what both say of the same candidates is
compared. With `--store` the posts are in a store and the memory in files beside it: first built,
then opened by a new process, then by two that suggest. Times are of the processor, one thread.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from statistics import median

import numpy as np

from hashnews.files import RecordFile
from hashnews.news.store import NewsStore
from hashnews.posts import table
from hashnews.posts.table import Remembered, remembered
from hashnews.prepare.preparer import Preparer
from hashnews.records import Hashtag, Post, PreparedPost
from hashnews.service.pool import make_suggest_process
from hashnews.service.process import Process
from hashnews.service.queue import Ask
from hashnews.suggest.candidates import find, with_features
from hashnews.suggest.evidence import Scratch
from hashnews.suggest.memory import Memory
from hashnews.suggest.query import PostWithNews, Query
from hashnews.suggest.sources import FEATURES
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter

DAY = 86_400_000_000
DAYS, A_DAY = 400, 3000  # at least so many, at most so many posts each
LAST = 1_500_000_000_000_000 + DAYS * DAY
QUERIES, COMPARED = 300, 50
INSERT = "INSERT INTO posts (posted, id, user, hashtags, inline, body) VALUES (?,?,?,?,?,?)"
ID = 1_200_000_000_000_000_000  # ids have 19 digits, as those of a large network


def prepare(path: Path, out: Path) -> None:
    """The posts as the memory keeps them, in a shuffled order."""
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    posts = [remembered(post) for post in preparer.remember(RecordFile(path, Post))]
    random.Random(1).shuffle(posts)
    plain = [
        (*post[:4], *([(tag.words, tag.written) for tag in tags] for tags in post[4:6]), post.body)
        for post in posts
    ]
    out.write_bytes(pickle.dumps(plain))


def load(path: Path) -> list[Remembered]:
    """What `prepare` wrote, whatever code wrote it."""
    return [
        Remembered(row, posted, name, user, tuple(Hashtag(*tag) for tag in tags),
                   tuple(Hashtag(*tag) for tag in inline), body)
        for row, posted, name, user, tags, inline, body in pickle.loads(path.read_bytes())
    ]  # fmt: skip


def repeated(posts: Sequence[Remembered], count: int) -> Iterator[Remembered]:
    """So many posts, evenly spread over the time there is."""
    first = LAST - max(DAYS, count // A_DAY) * DAY
    times = np.sort(np.random.default_rng(0).integers(first, LAST, count)).tolist()
    for at, moment in enumerate(times):
        post = posts[at % len(posts)]
        yield post._replace(row=at + 1, posted=moment, id=str(ID + at))


def resident(kind: str) -> float:
    """Megabytes of this process: VmRSS now, RssAnon that are private, VmHWM at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(kind + ":"):
            return int(line.split()[1]) / 1024
    return 0.0


def queries(posts: Sequence[Remembered], count: int) -> list[Query]:
    """Posts of the memory asked again, each a little later than the one before, at its end."""
    asked = []
    for at in range(count):
        post = posts[-1 - at]
        ready = PreparedPost(id="q", user=post.user, body=post.body, entities=(), hashtags=())
        moment = LAST - (count - at) * 20_000_000
        asked.append(Query(PostWithNews(ready, moment, [], [])))
    return asked


def measure(prepared: Path, count: int, told: Path) -> dict[str, float]:
    """All figures of the code that runs this."""
    posts = load(prepared)
    asked = queries(posts, QUERIES)
    warm = Memory(repeated(posts, 500))
    for _ in range(2):
        warm.extend([posts[0]._replace(posted=LAST - DAY)])
    for query in asked[:20]:
        with_features(query, find(query, warm, Scratch(warm)))
    private = resident("RssAnon")
    began = time.process_time()
    memory = Memory(repeated(posts, count), DAYS)
    scratch = Scratch(memory)
    figures = {"start s": time.process_time() - began}
    for query in asked[:20]:
        find(query, memory, scratch)
    figures |= times_of(asked, memory, scratch)
    figures["private MB"] = resident("RssAnon") - private
    answers = [with_features(query, find(query, memory, scratch)) for query in asked[:COMPARED]]
    told.write_bytes(pickle.dumps([(one.keys, one.features) for one in answers]))
    taken, first = [], []
    for at in range(50):
        began = time.process_time()
        memory.extend([posts[at]._replace(row=count + at + 1, posted=LAST + at)])
        scratch = Scratch(memory)
        taken.append(time.process_time() - began)
        find(asked[at], memory, scratch)
        first.append(time.process_time() - began)
        if sum(taken) > 20:
            break
    figures["one more post ms, median"] = 1000 * median(taken)
    figures["one more post ms, longest"] = 1000 * max(taken)
    figures["answered from ms, median"] = 1000 * median(first)
    grown = times_of(asked, memory, scratch)
    return figures | {f"{name}, after growing": value for name, value in grown.items()}


def folder_of_posts(store: NewsStore) -> Path:
    """Where the files of a store's memory are."""
    return store.path.with_name(store.path.name + ".posts")


def build(prepared: Path, count: int, path: Path) -> dict[str, float]:
    """Fill a store and build the files of its memory."""
    with NewsStore(path, "write") as store:
        rows = (table.post_row(post) for post in repeated(load(prepared), count))
        while batch := list(islice(rows, 10_000)):
            with store.database.transaction():
                store.database.run_many(
                    INSERT,
                    batch,
                )
        began = time.process_time()
        Memory.open(store)
        taken = time.process_time() - began
    return {"first build s": taken, "peak MB": resident("VmHWM")}


def reopen(prepared: Path, path: Path) -> dict[str, float]:
    """A new process opens what was built; then posts come in, one at a time."""
    posts = load(prepared)[-1000:]
    asked = queries(posts, QUERIES)
    warm = Memory(repeated(posts, 500))
    for query in asked[:20]:
        find(query, warm, Scratch(warm))
    with NewsStore(path, "write") as store:
        began, there = time.process_time(), time.perf_counter()
        memory = Memory.open(store, DAYS)
        find(asked[0], memory, Scratch(memory))
        figures = {
            "open and first answer s": time.process_time() - began,
            "the same by the clock s": time.perf_counter() - there,
        }
        scratch = Scratch(memory)
        for query in asked[:20]:
            find(query, memory, scratch)
        figures |= times_of(asked, memory, scratch)
        taken = []
        for at in range(100):
            new = posts[at]._replace(id=f"new-{time.time_ns()}", posted=LAST + at)
            with store.database.transaction():
                store.database.run_many(
                    INSERT,
                    [table.post_row(new)],
                )
                store.database.raise_generation()
            began = time.process_time()
            memory.refresh(store)
            scratch = Scratch(memory)
            find(asked[at], memory, scratch)
            taken.append(1000 * (time.process_time() - began))
        figures["one more post, answered from ms, median"] = median(taken)
        figures["one more post, answered from ms, longest"] = max(taken)
        figures["segments"] = len(memory.parts)
        size = sum(file.stat().st_size for file in folder_of_posts(store).iterdir())
        figures["bytes a post"] = size / len(memory)
        grown = times_of(asked, memory, scratch)
    return figures | {f"{name}, after growing": value for name, value in grown.items()}


async def workers(prepared: Path, path: Path) -> dict[str, float]:
    """Memory of a process of the service that suggests, and what a second one adds."""
    when = datetime.fromtimestamp(LAST / 1e6, UTC)
    asked = [
        Ask(Post(id="q", user=post.user, text=post.body or "-", created_at=when))
        for post in load(prepared)[-200:]
    ]
    running: list[Process] = []
    shares = []
    for _ in range(2):
        running.append(Process(make_suggest_process, path, None))
        await running[-1].ready(600)
        for ask in asked:
            await running[-1].call("suggest", [ask], seconds=60)
        told = [rolled_up(process.pid or 0) for process in running]
        # All are forked from one process, whose pages they share.
        forked_from = int(
            Path(f"/proc/{running[0].pid}/stat").read_text().rsplit(")")[1].split()[1]
        )
        shares.append(sum(share["Pss"] for share in (*told, rolled_up(forked_from))))
    for process in running:
        await process.close()
    # Alone, pages of files would count as its own.
    figures = {"private MB of a suggester beside another": told[0]["Private"]}
    return figures | {"a second suggester adds MB": shares[1] - shares[0]}


def rolled_up(process: int) -> dict[str, float]:
    """Megabytes of a process: its own, and its share of what it has with others."""
    kept = {"Private": 0.0, "Pss": 0.0}
    for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]:
        name, size = line.split()[:2]
        if (kind := name.rstrip(":").split("_")[0]) in kept and name != "Private_Hugetlb:":
            kept[kind] += int(size) / 1024 if kind == "Private" or name == "Pss:" else 0.0
    return kept


def times_of(asked: Sequence[Query], memory: Memory, scratch: Scratch) -> dict[str, float]:
    """How long a look back takes: the best of three passes, so that other work counts less."""
    passes = np.zeros((3, len(asked)))
    for taken in passes:
        for at, query in enumerate(asked):
            began = time.process_time()
            find(query, memory, scratch)
            taken[at] = 1000 * (time.process_time() - began)
    best = passes.min(axis=0)
    mean, longest = float(np.mean(best)), float(np.quantile(best, 0.99))
    return {"look back ms, mean": mean, "look back ms, p99": longest}


def compare(old: Path, new: Path) -> dict[str, float]:
    """What two codes say of the same posts: candidates of both, and the largest difference."""
    plain = [at for at, name in enumerate(FEATURES) if not name.endswith(("_rank", "_of_best"))]
    shared = total = 0
    most = 0.0
    for one, other in zip(*(pickle.loads(p.read_bytes()) for p in (old, new)), strict=True):
        rows = dict(zip(other[0], other[1], strict=True))
        total += len({*one[0], *other[0]})
        for key, features in zip(one[0], one[1], strict=True):
            if key in rows:
                shared += 1
                difference = np.abs(features - rows[key])[plain]
                most = max(most, float((difference / (1 + np.abs(features[plain]))).max()))
    return {"candidates of both": shared / total, "largest difference": most}


def main() -> None:
    """Measure, in a process of its own for each code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="posts to repeat, as JSON lines")
    parser.add_argument("--posts", type=int, nargs="+", default=[100_000])
    parser.add_argument("--old", type=Path, help="the src/ of another checkout")
    parser.add_argument("--prepared", type=Path, help="where to keep the posts made ready")
    parser.add_argument("--store", action="store_true", help="posts in a store, memory in files")
    parser.add_argument("--out", type=Path, help="a JSON file for the figures of stores")
    parser.add_argument("--keep", type=Path, help="where stores are kept for another run")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--step", choices=("build", "reopen"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step == "build":
        print(json.dumps(build(given.data, given.posts[0], given.child)))
        return
    if given.step == "reopen":
        print(json.dumps(reopen(given.data, given.child)))
        return
    if given.child:
        print(json.dumps(measure(given.data, given.posts[0], given.child)))
        return
    with tempfile.TemporaryDirectory() as folder:
        prepared = given.prepared or Path(folder) / "posts.pickle"
        if not prepared.exists():
            prepare(given.data, prepared)
        codes = {"new": os.environ.get("PYTHONPATH", "")}
        if given.old:
            codes = {"old": str(given.old), **codes}
        for count in given.posts if given.store else ():
            path = (given.keep or Path(folder)) / f"{count}.db"
            print(f"\n{count:,} posts in a store")
            figures: dict[str, float] = {}
            for step in ("build", "reopen"):
                source = os.environ.get("PYTHONPATH", "")
                if step == "reopen" or not path.exists():
                    figures |= run(prepared, count, path, source, "--step", step)
            figures |= asyncio.run(workers(prepared, path))
            for name, value in figures.items():
                print(f"{name:42}{value:12.2f}", flush=True)
            if given.out:
                kept = json.loads(given.out.read_text()) if given.out.exists() else {}
                kept[str(count)] = kept.get(str(count), {}) | figures
                given.out.write_text(json.dumps(kept, indent=2) + "\n")
        if given.out:
            draw(json.loads(given.out.read_text()), given.out.with_suffix(".png"))
        for count in () if given.store else given.posts:
            told = {name: Path(folder) / name for name in codes}
            results = {name: run(prepared, count, told[name], codes[name]) for name in codes}
            print(f"\n{count:,} posts")
            for figure in next(iter(results.values())):
                values = [results[name][figure] for name in codes]
                ratio = f"   {values[0] / values[1]:8.1f} x" if len(values) > 1 else ""
                print(f"{figure:42}" + "".join(f"{value:12.2f}" for value in values) + ratio)
            if given.old:
                print(json.dumps(compare(told["old"], told["new"])), flush=True)


def draw(kept: dict[str, dict[str, float]], path: Path) -> None:
    """How a look back and opening grow with the posts remembered."""
    from matplotlib.figure import Figure  # the processes that are measured do not need it

    figure = Figure(figsize=(8, 3), layout="constrained")
    panels = {
        "a look back, ms": ("look back ms, mean", "look back ms, p99"),
        "open and first answer, s": ("open and first answer s",),
    }
    counts = sorted(map(int, kept))
    for panel, (title, names) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        for name in names:
            values = [kept[str(count)][name] for count in counts]
            panel.plot([count / 1e6 for count in counts], values, marker="o", label=name)
        panel.set(title=title, xlabel="million posts remembered", ylim=0)
        panel.legend(frameon=False)
    figure.savefig(path, dpi=110)


def run(prepared: Path, count: int, told: Path, source: str, *more: str) -> dict[str, float]:
    """The figures of one code."""
    command = [
        sys.executable,
        __file__,
        str(prepared),
        "--posts",
        str(count),
        "--child",
        str(told),
        *more,
    ]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": source}, check=True, stdout=subprocess.PIPE
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
