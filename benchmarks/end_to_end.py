"""One post end to end, and many: entities, retrieval, generation, fusion.

    hashnews news add DATA/2020/news.jsonl.gz --news big.db
    hashnews posts add DATA/2020/posts.jsonl.gz --news big.db
    python benchmarks/end_to_end.py big.db WORK/congress20/posts.jsonl

Each post is asked about without its own hashtags, at its own time, after a warm-up: wall and
processor time of one post at a time, then posts a second in batches with several processes.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from hashnews.files import RecordFile
from hashnews.records import PreparedPost
from hashnews.suggest.pipeline import HashNews

WARM_UP, TOGETHER = 40, 32


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("news", type=Path)
    parser.add_argument("posts", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("-n", type=int, default=300, help="posts asked one by one")
    parser.add_argument("--batch", type=int, default=640, help="posts a process in batches")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    posts = list(RecordFile(options.posts, PreparedPost))
    with HashNews(options.news, options.model) as hashnews:
        sizes = {"articles": len(hashnews.store), "remembered": len(hashnews.memory)}
        single = one_by_one(hashnews, posts[-options.n - WARM_UP :])
    shares = [(options.news, options.model, posts[-options.batch :])] * options.workers
    with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
        done = list(pool.map(in_batches, *zip(*shares, strict=True)))
    wall = max(end for _, end, _ in done) - min(start for start, _, _ in done)
    batch = {
        "posts_per_s": options.workers * options.batch / wall,
        "posts_per_cpu_s": options.workers * options.batch / sum(cpu for _, _, cpu in done),
    }
    print(json.dumps({**sizes, "one_ms": single, "batch": batch}, indent=1))


def one_by_one(hashnews: HashNews, posts: list[PreparedPost]) -> dict[str, object]:
    """Quantiles of the time of one post, and where it goes."""
    hashnews.suggest_all(posts[:WARM_UP])
    walls, processor, parts = [], [], []
    for post in posts[WARM_UP:]:
        wall, cpu = time.perf_counter(), time.process_time()
        (answer,) = hashnews.suggest_all([post])
        walls.append(1000 * (time.perf_counter() - wall))
        processor.append(1000 * (time.process_time() - cpu))
        parts.append(answer.timings_ms)
    return {
        "wall_p50": round(float(np.median(walls)), 1),
        "wall_p95": round(float(np.quantile(walls, 0.95)), 1),
        "cpu_p50": round(float(np.median(processor)), 1),
        "parts_p50": {k: round(float(np.median([p[k] for p in parts])), 1) for k in parts[0]},
    }


def in_batches(news: Path, model: Path | None, posts: list[PreparedPost]) -> tuple[float, ...]:
    """Start, end and processor time of one process that answers all posts."""
    with HashNews(news, model) as hashnews:
        hashnews.suggest_all(posts[:TOGETHER])
        start, cpu = time.time(), time.process_time()
        for first in range(0, len(posts), TOGETHER):
            hashnews.suggest_all(posts[first : first + TOGETHER])
        return start, time.time(), time.process_time() - cpu


if __name__ == "__main__":
    main()
