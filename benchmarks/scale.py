"""The steps on Ray beside the local ones: the same bytes, as fast, and flat.

    python benchmarks/scale.py same     DATA NEWS     a cluster of three nodes, one of them killed
    python benchmarks/scale.py overhead DATA NEWS     against `retrieve --workers 2`
    python benchmarks/scale.py flat     DATA NEWS     10,000 to 200,000 posts

DATA is a folder with posts.jsonl.gz and reference.jsonl.gz, NEWS a store made from its news.
Each writes its table to results/scale/ and exits with 1 where a promise was not kept. What every
step costs and how the index grows: scale_costs.py and scale_growth.py.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

os.environ["RAY_AUTH_MODE"] = "token"  # before Ray is imported
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(16))
os.environ.update({"RAY_worker_niceness": "0"})  # as the processes it is compared with

from hashnews.files import RecordFile
from hashnews.index.day import Settings
from hashnews.index.folder import NewsIndex
from hashnews.news.export import export_parquet
from hashnews.news.store import NewsStore
from hashnews.prepare.datasets import rules_for
from hashnews.prepare.preparer import Preparer
from hashnews.prepare.splits import write_prepared
from hashnews.records import Post
from hashnews.retrieve.all_words import AllWordsConfig
from hashnews.retrieve.batch import write_contexts
from hashnews.retrieve.retriever import RetrieverConfig
from hashnews.retrieve.source import RetrieverSource
from hashnews.scale.cut import cut_days
from hashnews.scale.days import Done, FileJob, Result
from hashnews.scale.engine import Run, on_ray
from hashnews.scale.news import index_days
from hashnews.scale.prepare import Readers, Rules, prepare_days
from hashnews.scale.steps import retrieve_days
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter

RESULTS = Path(__file__).parent.parent / "results" / "scale"
SMALL = {"num_cpus": 1, "object_store_memory": 80 << 20}
SIZES = (10_000, 50_000, 100_000, 200_000)

T = TypeVar("T")


class Promises:
    """Figures beside what was promised, as a table."""

    def __init__(self, name: str, command: str = "scale.py {} DATA NEWS"):
        self.name = name
        self.command = "python benchmarks/" + command.format(name)
        self.kept = True
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        """One line of the table, also to the screen."""
        self.lines.append(text)
        print(text, flush=True)

    def check(self, what: str, kept: bool) -> None:
        """One promise."""
        self.kept &= kept
        self.say(f"- {what}: {'yes' if kept else 'NO'}")

    def write(self, about: str) -> None:
        """The table as a file."""
        RESULTS.mkdir(parents=True, exist_ok=True)
        head = f"# {about}\n\n`{self.command}`\n\n"
        path = RESULTS / f"{self.name}.md"
        path.write_text(head + "\n".join(self.lines) + "\n", encoding="utf-8")


def memory() -> tuple[float, float]:
    """What this process holds: its own, and mapped from files; in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    known = dict(line.split(":", 1) for line in lines)
    own, mapped = (int(known[name].split()[0]) / 1e3 for name in ("RssAnon", "RssFile"))
    return own, mapped


def joined(folder: Path) -> bytes:
    """The files of all days, one after the other."""
    files = sorted(folder.glob("day=*/part-*.jsonl"), key=lambda p: (p.parent, len(p.name), p.name))
    return b"".join(path.read_bytes() for path in files)


@contextmanager
def three_nodes() -> Iterator[Any]:
    """A cluster of three raylets with one core each."""
    import ray
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={**SMALL, "include_dashboard": False})
    try:
        for _ in range(2):
            nodes.add_node(**SMALL)
        ray.init(nodes.address, log_to_driver=False)
        yield nodes
    finally:
        ray.shutdown()
        nodes.shutdown()


def on_two_cores(work: Callable[..., T], *arguments: object) -> T:
    """Do work that takes an engine with Ray on two cores, in a process of its own."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_on_two_cores, (work, arguments))


def _on_two_cores(work: Callable[..., T], arguments: tuple[object, ...]) -> T:
    import ray

    ray.init("local", num_cpus=2, object_store_memory=80 << 20, include_dashboard=False,
             log_to_driver=False)  # fmt: skip
    try:
        with on_ray() as run:
            return work(run, *arguments)
    finally:
        ray.shutdown()


def warm_retrieve(
    run: Run[FileJob, Done],
    source: RetrieverSource,
    warming: tuple[Path, Path],
    posts: Path,
    target: Path,
) -> tuple[float, Result]:
    """Seconds and costs of `retrieve`, after the workers have opened what they need."""
    retrieve_days(source, *warming, run)
    began = time.perf_counter()
    done = retrieve_days(source, posts, target, run)
    return time.perf_counter() - began, done


def best(news: Path) -> RetrieverSource:
    """The better retriever."""
    return RetrieverSource(news, None, Settings(), AllWordsConfig())


def paper(news: Path, reference: Path) -> RetrieverSource:
    """The paper's."""
    return RetrieverSource(news, reference, Settings(), RetrieverConfig())


def prepared(data: Path, folder: Path) -> Path:
    """All prepared posts of a data set, by the local path, and by day beside them."""
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    raw = data / "posts.jsonl.gz"
    ready = preparer.prepare(RecordFile(raw, Post), rules_for(raw))
    write_prepared(folder / "posts.jsonl", ready, "chronological")
    cut_days([str(folder / "posts.jsonl")], folder / "posts")
    return folder / "posts.jsonl"


def kill_at_work(nodes: Any, killed: list[int]) -> None:
    """Kill a node, not the head, as soon as a process of it is at work on a file of ours."""
    while not killed:
        for node in list(nodes.worker_nodes):
            (raylet,) = node.all_processes["raylet"]
            pid = raylet.process.pid
            for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                with suppress(OSError):
                    if "ray::_told" in Path(f"/proc/{child}/cmdline").read_text():
                        os.kill(pid, signal.SIGKILL)
                        killed.append(pid)
                        return
        time.sleep(0.01)


def same(data: Path, news: Path, folder: Path) -> Promises:
    """Every step on three nodes against one process."""
    promises = Promises("same")
    posts = prepared(data, folder)
    local = {"best": best(news), "paper": paper(news, data / "reference.jsonl.gz")}
    for name, source in local.items():
        write_contexts(posts, folder / f"{name}.jsonl", source.open, name)
    cut_days([str(data / "posts.jsonl.gz")], folder / "raw")
    with NewsStore(news) as store:
        articles = export_parquet(folder / "news.parquet", store.read(), store.state().finder)
        theirs = NewsIndex.open(store)
    count = len(posts.read_bytes().splitlines())
    promises.say(
        f"{count:,} prepared posts, {articles:,} articles, three nodes with one core each\n"
    )
    with three_nodes() as nodes, on_ray() as run:
        rules = Rules(folder / "made" / ".work", Readers("fast"))
        prepare_days(folder / "raw", folder / "made", rules, "chronological", 1, run)
        promises.check("prepare: the same bytes", joined(folder / "made") == posts.read_bytes())
        index_days(folder / "news.parquet", folder / "index", run)
        mine = NewsIndex.read(folder / "index")
        promises.check("index: the same bytes", mine.numbers() == theirs.numbers() and all(
            mine.day(n).arrays[name].tobytes() == array.tobytes()
            for n in mine.numbers() for name, array in theirs.day(n).arrays.items()
        ))  # fmt: skip
        for name, source in local.items():
            moved = source._replace(news=folder / "index")
            done = retrieve_days(moved, folder / "posts", folder / name, run)
            kept = joined(folder / name) == (folder / f"{name}.jsonl").read_bytes()
            promises.check(f"retrieve --preset {name}: the same bytes ({done.lines:,} lines)", kept)
            again = retrieve_days(moved, folder / "posts", folder / name, run)
            promises.check("  again: every day is skipped", again.skipped == done.days)
        killed: list[int] = []
        threading.Thread(target=kill_at_work, args=(nodes, killed), daemon=True).start()
        retrieve_days(best(folder / "index"), folder / "posts", folder / "killed", run)
        promises.check("a node was killed at work, by its process id", len(killed) == 1)
        kept = joined(folder / "killed") == (folder / "best.jsonl").read_bytes()
        promises.check("the job finished with the same bytes", kept)
    promises.write("The same bytes on three nodes, one of them killed")
    return promises


def overhead(data: Path, news: Path, folder: Path) -> Promises:
    """`retrieve --engine ray` against `retrieve --workers 2`, both without their start."""
    promises = Promises("overhead")
    posts = prepared(data, folder)
    source = best(news)
    source.open()
    few = folder / "few.jsonl"
    lines = posts.read_text("utf-8").splitlines(keepends=True)
    few.write_text("".join(lines[:300]), encoding="utf-8")  # both workers get some
    cut_days([str(few)], folder / "few", 150)

    def by_processes(round_: int) -> float:
        times = []
        for name, path in (("few", few), ("all", posts)):
            began = time.perf_counter()
            write_contexts(path, folder / f"{name}-{round_}.jsonl", source.open, "", 2)
            times.append(time.perf_counter() - began)
        return times[1] - times[0]

    def by_ray(round_: int) -> float:
        warming = (folder / "few", folder / f"few-{round_}")
        every = folder / "posts", folder / f"all-{round_}"
        return on_two_cores(warm_retrieve, source, warming, *every)[0]

    rounds = [(by_processes(n), by_ray(n)) for n in range(3)]
    promises.say("| round | 2 processes, s | Ray on 2 cores, s |\n|---|---|---|")
    for number, (processes, ray) in enumerate(rounds, 1):
        promises.say(f"| {number} | {processes:.1f} | {ray:.1f} |")
    middle = [statistics.median(column) for column in zip(*rounds, strict=True)]
    ratio = middle[1] / middle[0]
    promises.say(f"| median | {middle[0]:.1f} | {middle[1]:.1f} |\n")
    promises.check(
        f"{len(lines):,} posts: {ratio:.2f} times the local run, at most 1.5", ratio <= 1.5
    )
    promises.write("What Ray adds to `retrieve`")
    return promises


def repeated(posts: Path, target: Path, size: int) -> None:
    """Posts again and again, in the order of their time, until there are so many."""
    lines = posts.read_text("utf-8").splitlines()
    rounds = -(-size // len(lines))
    many = (
        line.replace('{"id":"', f'{{"id":"{copy}-', 1) + "\n"
        for line in lines for copy in range(rounds)
    )  # fmt: skip
    step = rounds * len(lines) / size
    kept = {int(at * step) for at in range(size)}
    with target.open("w", encoding="utf-8") as stream:
        stream.writelines(line for at, line in enumerate(many) if at in kept)


def ready(data: Path, folder: Path, sizes: Sequence[int]) -> None:
    """Write what `flat` reads: so many posts by day, and few to warm up with."""
    if not (folder / "warm").exists():
        # Small files: both workers open every day.
        cut_days([str(prepared(data, folder))], folder / "warm", 50)
    for size in sizes:
        if not (folder / str(size)).exists():
            repeated(folder / "posts.jsonl", folder / f"{size}.jsonl", size)
            cut_days([str(folder / f"{size}.jsonl")], folder / str(size), 5_000)
            (folder / f"{size}.jsonl").unlink()


def flat(data: Path, news: Path, folder: Path, sizes: Sequence[int] = SIZES) -> Promises:
    """Cost per post and memory per worker, from few posts to many."""
    promises, path = Promises("flat"), RESULTS / "flat.json"
    rows = json.loads(path.read_text("utf-8")) if path.exists() else {}
    ready(data, folder, sizes)
    source = best(news)
    source.open()
    for size in sizes:
        shutil.rmtree(folder / "contexts", ignore_errors=True)
        warming = folder / "warm", folder / "contexts" / "warm"
        every = folder / str(size), folder / "contexts" / "all"
        _, done = on_two_cores(warm_retrieve, source, warming, *every)
        rows[str(size)] = {
            "posts": done.lines,
            "ms": 1000 * done.seconds / done.lines,
            "mb": max(one.peak for one in done.workers) / 1e6,
        }
        path.write_text(json.dumps(rows, indent=2) + "\n", "utf-8")
    ordered = sorted(rows.values(), key=lambda row: row["posts"])
    promises.say("| posts | CPU per post, ms | most memory of a worker, MB |\n|---|---|---|")
    for row in ordered:
        promises.say(f"| {row['posts']:,} | {row['ms']:.3f} | {row['mb']:,.0f} |")
    promises.say(
        "\nThe posts of the data set again and again, with other ids, in the order of time; Ray on "
        "two cores. Before\neach run both workers have opened every day, which is start-up.\n"
    )
    dearer, larger = (ordered[-1][name] / ordered[0][name] for name in ("ms", "mb"))
    promises.check(f"cost per post flat: {dearer:.2f} times, at most 1.1", dearer <= 1.1)
    promises.check(f"memory per worker flat: {larger:.2f} times, at most 1.1", larger <= 1.1)
    promises.write("More posts: cost and memory")
    return promises


STEPS: dict[str, Callable[..., Promises]] = {"same": same, "overhead": overhead, "flat": flat}


def main() -> int:
    """One measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("data", type=Path)
    parser.add_argument("news", type=Path)
    parser.add_argument("--work", type=Path, help="Where what is read stays, for the next time.")
    parser.add_argument("--posts", type=int, nargs="+", help="Not all sizes of `flat`.")
    asked = parser.parse_args()
    more = (asked.posts,) if asked.posts else ()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.work or Path(scratch)
        return 0 if STEPS[asked.step](asked.data, asked.news, folder, *more).kept else 1


if __name__ == "__main__":
    sys.exit(main())
