"""What every step costs on one core, for tools/sizing.py.

    python benchmarks/scale_costs.py steps   DATA NEWS    prepare, retrieve, find entities, build
    python benchmarks/scale_costs.py suggest DATA NEWS    suggest, on Ray and beside the local one

DATA is a folder with posts.jsonl.gz, NEWS a store made from its news; for `suggest` also with posts
(`hashnews posts add`). Both write a table to results/scale/ and their figures into costs.json
there; `suggest` exits with 1 where Ray's answers are not the local ones.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from scale import RESULTS, Promises, best, joined, memory, on_two_cores

from hashnews.files import RecordFile, write_records
from hashnews.index.day import Settings, build_day
from hashnews.index.folder import entry_of
from hashnews.news.export import export_parquet
from hashnews.news.store import NewsStore
from hashnews.records import Article, Post
from hashnews.scale.cut import cut_days
from hashnews.scale.days import Done, FileJob, Result
from hashnews.scale.engine import Run, one_by_one, this_worker
from hashnews.scale.prepare import Readers, Rules, prepare_days
from hashnews.scale.steps import Suggest, find_days, retrieve_days, suggest_days
from hashnews.suggest.pipeline import HashNews
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter

ASKED = 400  # posts
COMMAND = "scale_costs.py {} DATA NEWS"


def keep(found: dict[str, float]) -> None:
    """Put costs beside those that other measurements found."""
    path = RESULTS / "costs.json"
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps(known | found, indent=2, sort_keys=True) + "\n", "utf-8")


class Loaded(NamedTuple):
    """What it takes to open everything that suggests."""

    posts: int
    seconds: float
    own_mb: float


def load(news: Path) -> Loaded:
    """Open a store with its memory of posts, in a process of its own."""
    began = time.process_time()
    with HashNews(news) as hashnews:
        hashnews.suggest(
            Post(id="x", text="We march.", created_at=datetime(2020, 6, 2, tzinfo=UTC))
        )
        return Loaded(len(hashnews.memory), time.process_time() - began, memory()[0])


def locally(news: Path, posts: Path) -> list[dict[str, Any]]:
    """What `hashnews suggest` answers to the posts of all days."""
    command = [sys.executable, "-m", "hashnews", "suggest", "-", "--news", str(news), "--json"]
    done = subprocess.run(command, input=joined(posts), capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def warm_suggest(run: Run[FileJob, Done], news: Path, posts: Path, folder: Path) -> Result:
    """Costs of `suggest`, after the workers have opened what they need."""
    step = Suggest.of(news, None)
    suggest_days(step, posts, folder / "answers", run)
    return suggest_days(step, posts, folder / "again", run)


def suggest(data: Path, news: Path, folder: Path) -> Promises:
    """`suggest --engine ray` against `suggest`, and what it costs, with few posts and many."""
    promises, found = Promises("suggest", COMMAND), dict[str, float]()
    with gzip.open(data / "posts.jsonl.gz", "rt", encoding="utf-8") as stream:
        raw = list(stream)
    week = raw[-7 * len(raw) // 52 :]
    some = week[:: max(1, len(week) // ASKED)][:ASKED]
    shutil.rmtree(folder / "asked", ignore_errors=True)
    (folder / "asked.jsonl").write_text("".join(some), encoding="utf-8")
    cut_days([str(folder / "asked.jsonl")], folder / "asked", 50)
    few = folder / "few.db"
    if not few.exists():
        with NewsStore(news) as store:
            store.backup(few)
        with NewsStore(few, "write") as store:
            store.database.run("DELETE FROM posts WHERE row % 10 > 0")
    loaded, costs = [], []
    for path in (few, news):
        HashNews(path).close()  # builds the index
        with get_context("spawn").Pool(1) as pool:
            loaded.append(pool.apply(load, (path,)))
        for name in ("answers", "again"):
            shutil.rmtree(folder / name, ignore_errors=True)
        done = on_two_cores(warm_suggest, path, folder / "asked", folder)
        costs.append(1000 * done.seconds / done.lines)
    local = locally(news, folder / "asked")
    spent = [answer.pop("timings_ms") for answer in local]
    answers = joined(folder / "answers")
    same = [json.loads(line) | {"timings_ms": {}} for line in answers.splitlines()] == [
        answer | {"timings_ms": {}} for answer in local
    ]
    promises.say("| posts remembered | CPU per post, ms | opening, CPU s | own memory, MB |")
    promises.say("|---|---|---|---|")
    for one, cost in zip(loaded, costs, strict=True):
        promises.say(f"| {one.posts:,} | {cost:.2f} | {one.seconds:.1f} | {one.own_mb:,.0f} |")
    steps = {name: statistics.fmean(times[name] for times in spent) for name in spent[0]}
    told = ", ".join(f"{name} {ms:.2f}" for name, ms in steps.items())
    promises.say(f"\n`hashnews suggest`, wall ms a post: {told}.\n")
    more = loaded[1].posts - loaded[0].posts
    found = {
        "suggest_ms": costs[1],
        "suggest_generate_ms": steps["generate"],
        "suggest_own_mb": loaded[1].own_mb,
        "remembered": loaded[1].posts,
        "remembered_bytes": (loaded[1].own_mb - loaded[0].own_mb) * 1e6 / more,
        "remembered_ms": (costs[1] - costs[0]) / more,
        "answer_bytes": len(answers) / len(local),
        "answer_bytes_packed": len(gzip.compress(answers, 6)) / len(local),
    }
    keep(found)
    promises.say(f"A remembered post takes {found['remembered_bytes']:,.0f} bytes of a worker.\n")
    promises.check(f"{len(local):,} answers on two workers of Ray: those of `suggest`", same)
    promises.write("Suggesting on Ray")
    return promises


def build_as_one_day(news: Path) -> tuple[int, float]:
    """All articles of a store as if they were of one day: how many, and the memory that takes."""
    with NewsStore(news) as store:
        day = build_day((entry_of(*row[:2]) for row in store.read()), Settings())
    return day.size, this_worker().peak


def steps(data: Path, news: Path, folder: Path) -> Promises:
    """Processor's time and bytes of every step, on one core."""
    promises, found = Promises("steps", COMMAND), dict[str, float]()
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
        articles = export_parquet(folder / "news.parquet", store.read(), store.state().finder)
    size = sum(path.stat().st_size for path in (folder / "news.parquet").rglob("*.parquet"))
    found["article_bytes"] = size / articles
    found["store_bytes"] = news.stat().st_size / articles
    days = sorted((folder / "news.parquet").iterdir())[20:23]
    for day in days:
        unread = (a.model_copy(update={"entities": None, "finder": None})
                  for file in day.iterdir() for a in RecordFile(file, Article))  # fmt: skip
        write_records(folder / "unread" / day.name / "part-0.jsonl", unread)
    done = find_days("fast", folder / "unread", folder / "found", one_by_one)
    found["finding_ms"] = 1000 * done.seconds / done.lines
    with get_context("spawn").Pool(1) as pool:
        built, peak = pool.apply(build_as_one_day, (news,))
    found["build_bytes"] = peak / built
    promises.say("| | measured |\n|---|---|")
    for name, value in found.items():
        promises.say(f"| {name} | {value:,.3f} |")
    keep(found)
    promises.write("What each step costs, on one core")
    return promises


STEPS = {"steps": steps, "suggest": suggest}


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
