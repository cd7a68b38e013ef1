"""Serving while following: posts flow into the store from one process while another answers.

    python benchmarks/following.py DATA/history/posts.jsonl.gz --store DIR [--seconds 120]

DIR/news.db is a store with news (`benchmarks/service.py` makes one); it is copied and gets a
memory of a million posts or so. Then 200 posts a second are added by a process of its own, 20
requests a second are asked of `hashnews serve`, and now and then a post of somebody new is added
and asked for until its hashtag is suggested. With `--deleted 4` as many posts that came a few
seconds ago are deleted every second. At the end all is killed with `kill -9` and counted.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import memory as bench
from service import Client, Server, failed, quantile, tell

from hashnews.index.post_segments import PostSegments
from hashnews.news.store import NewsStore
from hashnews.posts import table
from hashnews.posts.table import Remembered, add_posts, delete_posts, read_posts
from hashnews.records import Hashtag, PreparedPost
from hashnews.suggest.memory import Memory

POSTS, ASKED = 200, 20  # a second
STEP = 0.25  # seconds between two batches of posts
NOW = 1_591_000_000_000_000  # the moment at which following begins: June 2020


def written(post: Remembered, number: int, moment: int) -> PreparedPost:
    """A post that comes in."""
    when = datetime.fromtimestamp(moment / 1e6, UTC)
    return PreparedPost(
        id=f"new-{number}", user=post.user, body=post.body, entities=(), hashtags=post.hashtags,
        inline=post.inline, created_at=when,
    )  # fmt: skip


def add(prepared: Path, path: Path, deleted: int) -> None:
    """Add posts, so many a second, and delete some; say which are acknowledged."""
    posts, began = itertools.cycle(bench.load(prepared)[-20_000:]), time.perf_counter()
    with NewsStore(path, "write") as store:
        for number in itertools.count():
            batch = int(POSTS * STEP)
            new = [
                written(next(posts), number * batch + at, NOW + int(number * STEP * 1e6) + at)
                for at in range(batch)
            ]
            name = f"probe{number}x"
            told = PreparedPost(
                id=name, user=name, body="nobody else says this", entities=(),
                hashtags=(Hashtag((name,), f"#{name}"),), created_at=new[-1].created_at,
            )  # fmt: skip
            add_posts(store, [*new, told])
            gone = [f"new-{(number - 20) * batch + at}" for at in range(round(deleted * STEP))]
            delete_posts(store, gone := gone if number >= 20 else [])
            print(len(new), name, time.time(), *gone, flush=True)
            time.sleep(max(0.0, began + (number + 1) * STEP - time.perf_counter()))


def prepare(prepared: Path, news: Path, count: int) -> None:
    """Fill the memory of a store."""
    shift = NOW - bench.LAST
    with NewsStore(news, "write") as store:
        rows = (
            table.post_row(post._replace(posted=post.posted + shift))
            for post in bench.repeated(bench.load(prepared), count)
        )
        while batch := list(itertools.islice(rows, 10_000)):
            with store.database.transaction():
                store.database.run_many(bench.INSERT, batch)
                store.database.raise_generation()
        Memory.open(store)


async def follow(
    news: Path, prepared: Path, seconds: float, workers: int, deleted: int = 0
) -> None:
    """All figures."""
    server = Server(news, ["--workers", str(workers)])
    tell("load at the start, workers", f"{os.getloadavg()[0]:.1f}, {workers}")
    tell("ready after", f"{server.started:.1f} s")
    adder = await asyncio.create_subprocess_exec(
        sys.executable, __file__, str(prepared), "--add", str(news), "--deleted", str(deleted),
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert adder.stdout is not None
    bodies = [post.body for post in bench.load(prepared)[-2000:] if post.body.strip()]
    added, probes, times, waits, wrong = 0, [], [], [], 0
    gone: set[str] = set()
    began = time.perf_counter()

    async def count() -> None:
        nonlocal added
        assert adder.stdout is not None
        while line := (await adder.stdout.readline()).decode().split():
            added += int(line[0])
            probes.append((line[1], float(line[2])))
            gone.update(line[3:])

    async def ask(number: int, client: Client) -> None:
        nonlocal wrong
        post = {"text": bodies[number % len(bodies)][:500], "created_at": "2020-06-02T10:00:00Z"}
        reply = await client.post("/suggest", post)
        times.append(reply.seconds)
        wrong += reply.status != 200
        free.append(client)

    async def probe() -> None:
        client = Client(server.port)
        while time.perf_counter() - began < seconds:
            if probes:
                name, told = probes[-1]
                post = {"text": "nobody else says this", "user": name,
                        "created_at": "2020-06-02T10:00:00Z"}  # fmt: skip
                while name.encode() not in (await client.post("/suggest?n=30", post)).body:
                    await asyncio.sleep(0.05)
                    if time.time() - told > 20:
                        break
                waits.append(time.time() - told)
            await asyncio.sleep(2)

    counting = asyncio.create_task(count())
    while not probes:  # it has begun
        await asyncio.sleep(0.1)
    began, before = time.perf_counter(), added
    probing = asyncio.create_task(probe())
    free: list[Client] = []
    asked = []
    while (passed := time.perf_counter() - began) < seconds:
        while len(asked) < passed * ASKED:
            client = free.pop() if free else Client(server.port)
            asked.append(asyncio.create_task(ask(len(asked), client)))
        await asyncio.sleep(0.005)
    rate = (added - before) / (time.perf_counter() - began)
    await asyncio.gather(*asked, probing)
    adder.kill()
    server.kill()
    await counting
    p50, p99 = quantile(times, 0.5), quantile(times, 0.99)
    tell(f"posts added in {seconds:.0f} s", f"{rate:.0f} a second", "200", rate >= 0.98 * POSTS)
    tell("requests answered", f"{len(times):,}, {wrong} wrong", "0 wrong", wrong == 0)
    tell("answer, p50 / p99", f"{p50:.0f} / {p99:.0f} ms", "p99 at most 150 ms", p99 <= 150)
    tell("suggested from after, p50 / longest",
         f"{quantile(waits, 0.5):.0f} / {quantile(waits, 1):.0f} ms of {len(waits)}",
         "within 2 s", max(waits) <= 2)  # fmt: skip
    lost(news, added, [name for name, _ in probes], gone)


def lost(news: Path, added: int, probes: list[str], deleted: set[str]) -> None:
    """Count after the kill: all that was acknowledged is there, and the memory has it."""
    with NewsStore(news) as store:
        there = {post.id for post in read_posts(store)}
        expected = {*(f"new-{number}" for number in range(added)), *probes} - deleted
        gone, figure = len(expected - there), f"{added + len(probes):,}"
        tell("acknowledged and lost at kill -9", f"{gone} of {figure}", "0", gone == 0)
        if deleted:
            left = len(deleted & there)
            tell("deleted and still there", f"{left} of {len(deleted):,}", "0", left == 0)
        wrong = PostSegments.check(store)
        tell("memory beside the store", wrong or "good", "good", wrong is None)
        here = len(Memory.open(store))
        figure = f"{here:,} of {len(there):,}"
        tell("posts the memory has, started again", figure, "all", here == len(there))


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="posts to repeat, as JSON lines")
    parser.add_argument("--store", type=Path, help="a folder with a news.db")
    parser.add_argument("--posts", type=int, default=1_200_000, help="in the memory at first")
    parser.add_argument("--prepared", type=Path, help="where to keep the posts made ready")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--workers", type=int, default=1, help="processes that suggest")
    parser.add_argument("--deleted", type=int, default=0, help="posts deleted a second")
    parser.add_argument("--add", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.add:
        add(given.data, given.add, given.deleted)
        return
    with tempfile.TemporaryDirectory() as scratch:
        prepared = given.prepared or Path(scratch) / "posts.pickle"
        if not prepared.exists():
            bench.prepare(given.data, prepared)
        news = Path(scratch) / "news.db"
        shutil.copy(given.store / "news.db", news)
        if (given.store / "news.db.index").exists():
            shutil.copytree(given.store / "news.db.index", Path(scratch) / "news.db.index")
        prepare(prepared, news, given.posts)
        asyncio.run(follow(news, prepared, given.seconds, given.workers, given.deleted))
    if failed:
        sys.exit(f"not kept: {json.dumps(failed)}")


if __name__ == "__main__":
    main()
