"""The steps on Ray beside the local ones: the same bytes, what it costs, how it grows.

    python benchmarks/scale.py same     DATA NEWS     a cluster of three nodes, one of them killed
    python benchmarks/scale.py overhead DATA NEWS     against `retrieve --workers 2`
    python benchmarks/scale.py posts    DATA NEWS     10,000 to 200,000 posts
    python benchmarks/scale.py articles DATA NEWS     0.2, 1 and 3 million articles
    python benchmarks/scale.py costs    DATA NEWS     what tools/sizing.py reckons with

DATA is a folder with posts.jsonl.gz and reference.jsonl.gz, NEWS a store made from its news.
Each writes its table to results/scale/ and exits with 1 where a promise was not kept.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import secrets
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ["RAY_AUTH_MODE"] = "token"  # before Ray is imported
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(16))

from hashnews.files import RecordFile, write_records
from hashnews.news.export import export_parquet
from hashnews.news.posts import add_posts
from hashnews.news.store import NewsStore
from hashnews.prepare import Preparer, write_prepared
from hashnews.records import Article, Post, PreparedPost
from hashnews.retrieve.batch import write_contexts
from hashnews.retrieve.best import BestConfig, BestRetriever
from hashnews.retrieve.day import Settings, build_day
from hashnews.retrieve.index import NewsIndex, entry_of
from hashnews.retrieve.opening import Source
from hashnews.retrieve.retriever import RetrieverConfig
from hashnews.scale.cut import cut_days
from hashnews.scale.days import Result
from hashnews.scale.engine import on_ray, one_by_one, this_worker
from hashnews.scale.news import index_days
from hashnews.scale.prepare import Readers, Rules, prepare_days
from hashnews.scale.steps import Suggest, find_days, retrieve_days, suggest_days
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter

RESULTS = Path(__file__).parent.parent / "results" / "scale"
SMALL = {"num_cpus": 1, "object_store_memory": 80 << 20}
SIZES = (10_000, 50_000, 100_000, 200_000)
TIMES = (1, 5, 15)  # the real articles: 0.2, 1 and 3 million
ASKED = 2_000


class Promises:
    """Figures beside what was promised, as a table."""

    def __init__(self, name: str):
        self.name = name
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
        head = f"# {about}\n\n`python benchmarks/scale.py {self.name} DATA NEWS`\n\n"
        path = RESULTS / f"{self.name}.md"
        path.write_text(head + "\n".join(self.lines) + "\n", encoding="utf-8")


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


def on_two_cores(
    source: Source, warming: tuple[Path, Path] | None, posts: Path, target: Path
) -> tuple[float, Result]:
    """Retrieve with Ray on two cores, in a process of its own; seconds without the start."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_on_two_cores, (source, warming, posts, target))


def _on_two_cores(
    source: Source, warming: tuple[Path, Path] | None, posts: Path, target: Path
) -> tuple[float, Result]:
    import ray

    ray.init("local", num_cpus=2, object_store_memory=80 << 20, include_dashboard=False,
             log_to_driver=False)  # fmt: skip
    try:
        with on_ray() as run:
            if warming:
                retrieve_days(source, *warming, run)
            began = time.perf_counter()
            done = retrieve_days(source, posts, target, run)
            return time.perf_counter() - began, done
    finally:
        ray.shutdown()


def best(news: Path) -> Source:
    """The better retriever."""
    return Source(news, None, Settings(), BestConfig())


def paper(news: Path, reference: Path) -> Source:
    """The paper's."""
    return Source(news, reference, Settings(), RetrieverConfig())


def prepared(data: Path, folder: Path) -> Path:
    """All prepared posts of a data set, by the local path, and by day beside them."""
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    raw = RecordFile(data / "posts.jsonl.gz", Post)
    write_prepared(folder / "posts.jsonl", preparer.prepare(raw), "chronological")
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
        return on_two_cores(source, warming, folder / "posts", folder / f"all-{round_}")[0]

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


def grow_posts(data: Path, news: Path, folder: Path) -> Promises:
    """Cost per post and memory per worker, from few posts to many."""
    promises = Promises("posts")
    posts = prepared(data, folder)
    source = best(news)
    source.open()
    promises.say(
        "| posts | wall, s | CPU per post, ms | most memory of a worker, MB |\n|---|---|---|---|"
    )
    rows = []
    for size in SIZES:
        repeated(posts, folder / f"{size}.jsonl", size)
        cut_days([str(folder / f"{size}.jsonl")], folder / str(size), 5_000)
        wall, done = on_two_cores(source, None, folder / str(size), folder / f"c{size}")
        cost, peak = 1000 * done.seconds / done.lines, max(one.peak for one in done.workers) / 1e6
        rows.append((size, cost, peak))
        promises.say(f"| {size:,} | {wall:.1f} | {cost:.3f} | {peak:,.0f} |")
        (folder / f"{size}.jsonl").unlink()
    promises.say("")
    growth = rows[-1][1] / rows[0][1]
    promises.check(
        f"cost per post flat: at 200,000 {growth:.2f} times that at 10,000", growth <= 1.1
    )
    more = rows[-1][2] / rows[0][2]
    promises.check(f"memory per worker flat: {more:.2f} times", more <= 1.1)
    promises.write("More posts: cost and memory")
    return promises


def perturbed(article: Article, copy: int, others: list[str], draw: random.Random) -> Article:
    """An article like a real one: every seventh word is another article's, every tenth name."""
    if copy == 0:
        return article
    words = [draw.choice(others) if draw.random() < 1 / 7 else w for w in article.text.split()]
    names = tuple(draw.choice(others) if draw.random() < 0.1 else n for n in article.entities or ())
    changed = {"id": f"{article.id}~{copy}", "text": " ".join(words), "entities": names}
    return article.model_copy(update={**changed, "url": None, "title": f"{article.title} {copy}"})


def write_news(store: NewsStore, target: Path, times: int) -> int:
    """The articles of a store, each so many times, by day."""
    draw, count = random.Random(times), 0
    days: dict[date, list[Article]] = {}
    for stored in store.read():
        day = stored.article.published_at.date()
        days.setdefault(day, []).append(stored.article.model_copy(update={"finder": "fast"}))
    for day, articles in days.items():
        others = [word for article in articles[::20] for word in article.text.split()]
        for copy in range(times):
            made = [perturbed(article, copy, others, draw) for article in articles]
            write_records(target / f"day={day}" / f"part-{copy}.jsonl", made)
            count += len(made)
    return count


def memory() -> tuple[float, float]:
    """What this process holds: its own, and mapped from files; in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    known = dict(line.split(":", 1) for line in lines)
    own, mapped = (int(known[name].split()[0]) / 1e3 for name in ("RssAnon", "RssFile"))
    return own, mapped


def ask(index: Path, posts: list[PreparedPost]) -> dict[str, float]:
    """Retrieval in a process of its own: time per post, and memory."""
    before = memory()
    began = time.process_time()
    retriever = BestRetriever(NewsIndex.read(index))
    days: dict[Any, list[PreparedPost]] = {}
    for post in posts:
        days.setdefault(post.created_at and post.created_at.date(), []).append(post)
    for some in days.values():
        retriever.retrieve_all(some[:1])
    opening = time.process_time() - began
    began = time.process_time()
    for some in days.values():
        retriever.retrieve_all(some)
    cost = time.process_time() - began
    own, mapped = memory()
    return {"opening_s": opening, "ms": 1000 * cost / len(posts), "own_mb": own - before[0],
            "mapped_mb": mapped - before[1]}  # fmt: skip


def grow_articles(data: Path, news: Path, folder: Path) -> Promises:
    """Building and asking an index of more and more articles."""
    promises = Promises("articles")
    every = list(RecordFile(prepared(data, folder), PreparedPost))
    days = sorted({post.created_at.date() for post in every if post.created_at})[-4:]
    posts = [post for post in every if post.created_at and post.created_at.date() in days][:ASKED]
    rows = []
    with NewsStore(news) as store:
        one = folder / "one"
        write_news(store, folder / "news1", 1)
        few = dict(list(enumerate(sorted((folder / "news1").iterdir())))[20:23])
        for path in few.values():
            lines = [a.model_copy(update={"entities": None, "finder": None})
                     for file in path.iterdir() for a in RecordFile(file, Article)]  # fmt: skip
            write_records(one / path.name / "part-0.jsonl", lines)
        found = find_days("fast", one, folder / "found", one_by_one)
        finding = 1000 * found.seconds / found.lines
        for times in TIMES:
            target, index = folder / f"news{times}", folder / f"index{times}"
            count = write_news(store, target, times) if times > 1 else store.last_row()
            began = time.process_time()
            built = index_days(target, index, one_by_one)
            spent = time.process_time() - began
            with get_context("spawn").Pool(1) as pool:
                asked = pool.apply(ask, (index, posts))
            rows.append(
                {
                    "articles": count,
                    "days": built.days,
                    "build_s": spent,
                    "bytes": built.bytes,
                    **asked,
                }
            )
            print(rows[-1], file=sys.stderr, flush=True)
    promises.say(
        "| articles | a day | build, CPU s | per article, ms | index, MB | bytes per article | "
        "per post, ms | opening 34 days, CPU s | own memory, MB | mapped, MB |"
    )
    promises.say("|---|---|---|---|---|---|---|---|---|---|")
    span = len(list((folder / "news1").iterdir()))
    for row in rows:
        n, spent, size = row["articles"], row["build_s"], row["bytes"]
        promises.say(
            f"| {n:,} | {n / span:,.0f} | {spent:,.0f} | {1000 * spent / n:.3f} | "
            f"{size / 1e6:,.0f} | {size / n:,.0f} | {row['ms']:.3f} | {row['opening_s']:.1f} | "
            f"{row['own_mb']:,.0f} | {row['mapped_mb']:,.0f} |"
        )
    promises.say(
        f"\nFinding entities: {finding:.2f} ms of CPU an article ({found.lines:,} articles)."
    )
    RESULTS.mkdir(parents=True, exist_ok=True)
    told = {"rows": rows, "finding_ms": finding}
    (RESULTS / "articles.json").write_text(json.dumps(told, indent=2) + "\n", "utf-8")
    plot(rows)
    promises.write("More articles: the index and retrieval from it")
    return promises


def plot(rows: list[dict[str, float]]) -> None:
    """The growth as a picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 2.8), layout="constrained")
    millions = [row["articles"] / 1e6 for row in rows]
    shown = {
        "build, CPU s": [row["build_s"] for row in rows],
        "index, MB": [row["bytes"] / 1e6 for row in rows],
        "retrieve, ms per post": [row["ms"] for row in rows],
    }
    for axes, (label, values) in zip(figure.subplots(1, 3), shown.items(), strict=True):
        axes.plot(millions, values, "o-", color="#1b6ca8")
        axes.set(xlabel="million articles", ylabel=label, ylim=(0, None), xlim=(0, None))
        axes.grid(alpha=0.3)
    figure.savefig(RESULTS / "articles.png", dpi=150)


def build_as_one_day(news: Path) -> tuple[int, float]:
    """All articles of a store as if they were of one day: how many, and the memory that takes."""
    with NewsStore(news) as store:
        day = build_day(map(entry_of, store.read()), Settings())
    return day.size, this_worker().peak


def costs(data: Path, news: Path, folder: Path) -> Promises:
    """Processor's time and bytes of every step, on one core."""
    promises, found = Promises("costs"), {}
    raw = folder / "some.jsonl"
    with gzip.open(data / "posts.jsonl.gz", "rt", encoding="utf-8") as stream:
        lines = list(stream)[-6000:-3000]
    raw.write_text("".join(lines), encoding="utf-8")
    cut_days([str(raw)], folder / "raw")
    rules = Rules(folder / "posts" / ".work", Readers("fast"))
    shipped_segmenter(), load_finder("fast")  # read once, not for each post
    began = time.process_time()
    made = prepare_days(folder / "raw", folder / "posts", rules, None, 1, one_by_one)
    spent = time.process_time() - began
    found["raw_bytes"] = raw.stat().st_size / len(lines)
    found["usable"] = made.statistics.posts / len(lines)
    found["prepare_ms"] = 1000 * spent / len(lines)
    found["prepared_bytes"] = len(joined(folder / "posts")) / made.statistics.posts
    retrieve_days(best(news), folder / "posts", folder / "warm", one_by_one)
    done = retrieve_days(best(news), folder / "posts", folder / "contexts", one_by_one)
    contexts = joined(folder / "contexts")
    found["retrieve_ms"] = 1000 * done.seconds / done.lines
    found["context_bytes"] = len(contexts) / done.lines
    found["context_bytes_packed"] = len(gzip.compress(contexts, 6)) / done.lines
    with NewsStore(news) as store:
        store.backup(folder / "news.db")
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    with NewsStore(folder / "news.db", "write") as store:
        add_posts(store, preparer.remember(RecordFile(data / "posts.jsonl.gz", Post)))
    step = Suggest.of(folder / "news.db", None)
    suggest_days(step, folder / "raw", folder / "warm2", one_by_one)
    done = suggest_days(step, folder / "raw", folder / "answers", one_by_one)
    answers = joined(folder / "answers")
    found["suggest_ms"] = 1000 * done.seconds / done.lines
    found["answer_bytes"] = len(answers) / done.lines
    found["answer_bytes_packed"] = len(gzip.compress(answers, 6)) / done.lines
    found["suggest_own_mb"], _ = memory()
    with NewsStore(news) as store:
        articles = export_parquet(folder / "news.parquet", store.read(), store.state().finder)
    size = sum(path.stat().st_size for path in (folder / "news.parquet").rglob("*.parquet"))
    found["article_bytes"] = size / articles
    with get_context("spawn").Pool(1) as pool:
        built, peak = pool.apply(build_as_one_day, (news,))
    found["build_bytes"] = peak / built
    promises.say("| | measured |\n|---|---|")
    for name, value in found.items():
        promises.say(f"| {name} | {value:,.3f} |")
    (RESULTS / "costs.json").write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    promises.write("What each step costs, on one core")
    return promises


STEPS = {
    "same": same,
    "overhead": overhead,
    "posts": grow_posts,
    "articles": grow_articles,
    "costs": costs,
}


def main() -> int:
    """One measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("data", type=Path)
    parser.add_argument("news", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return 0 if STEPS[asked.step](asked.data, asked.news, Path(folder)).kept else 1


if __name__ == "__main__":
    sys.exit(main())
