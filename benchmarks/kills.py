"""Kill whatever builds, extends and merges the memory of a store, then compare it with a new one.

    python benchmarks/kills.py [--rounds 100]

Each round adds posts to a store, deletes and changes some, and kills a process that opens the
memory after a random time. Segments are kept small, so that there is much to write and to merge.
What a memory that is opened afterwards says must be what one says that is made anew.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hashnews.index import post_segments
from hashnews.index.post_segments import PostSegments, folder_of_posts
from hashnews.news.store import NewsStore
from hashnews.posts.table import add_posts, delete_posts, read_posts
from hashnews.records import Hashtag, PreparedPost
from hashnews.suggest.candidates import find, with_features
from hashnews.suggest.evidence import Scratch
from hashnews.suggest.memory import Memory
from hashnews.suggest.query import PostWithNews, Query
from hashnews.times import microseconds

WORDS = "budget vote council ferry harbour rain late tickets night good pass today".split()
START = datetime(2020, 5, 1, tzinfo=UTC)


def some_posts(chance: random.Random, first: int, many: int) -> list[PreparedPost]:
    """Posts of made-up times, late ones among them."""
    return [
        PreparedPost(
            id=f"p{first + at}", user=chance.choice(["ann", "bob", None]), entities=(),
            body=" ".join(chance.sample(WORDS, 5)),
            created_at=START + timedelta(hours=chance.uniform(0, 900)),
            hashtags=(Hashtag((f"tag{chance.randint(0, 40)}",), "#Tag"),),
        )
        for at in range(many)
    ]  # fmt: skip


def change(store: NewsStore, chance: random.Random) -> None:
    """Delete some posts, and write another text into some."""
    ids = [post.id for post in read_posts(store)]
    delete_posts(store, chance.sample(ids, 5))
    for one in chance.sample(ids, 3):
        text = " ".join(chance.sample(WORDS, 3))
        store.database.run("UPDATE posts SET body = ? WHERE id = ?", (text, one))


def told(memory: Memory) -> list[tuple[list[str], bytes]]:
    """What a memory says to some posts."""
    found = []
    for hours, user in ((901, "ann"), (500, "bob"), (200, None)):
        ready = PreparedPost(
            id="q", user=user, body="ferry and budget vote", entities=(), hashtags=()
        )
        query = Query(PostWithNews(ready, microseconds(START + timedelta(hours=hours)), [], []))
        one = with_features(query, find(query, memory, Scratch(memory)))
        order = sorted(range(len(one.keys)), key=one.keys.__getitem__)
        found.append(([one.keys[at] for at in order], one.features[order].tobytes()))
    return found


def state(path: Path) -> str:
    """What there was to do."""
    with NewsStore(path) as store:
        if not any(folder_of_posts(store).glob("*.posts")):
            return "first build"
        return "refresh, append, compaction"


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100, help="processes that are killed")
    rounds = parser.parse_args().rounds
    post_segments.FULL, post_segments.BATCH, post_segments.SAVED = 4000, 250, 60
    chance, kills, wrong, added = random.Random(1), Counter[str](), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        lives = 0
        while kills.total() < rounds:
            path = Path(folder) / f"{lives}.db"
            with NewsStore(path, "write") as store:
                add_posts(store, some_posts(chance, added, 300))
                change(store, chance)
            added, before = added + 300, state(path)
            child = os.fork()
            if child == 0:
                with NewsStore(path) as store:
                    Memory.open(store)
                os._exit(0)
            time.sleep(chance.uniform(0, 0.15))
            os.kill(child, signal.SIGKILL)
            if os.WIFSIGNALED(os.waitpid(child, 0)[1]):
                kills[before] += 1
                with NewsStore(path) as store:
                    wrong += PostSegments.check(store) is not None
                    if kills.total() % 2:  # else the next one finds what the kill left
                        wrong += told(Memory.open(store)) != told(Memory(read_posts(store)))
            lives += chance.random() < 0.1  # a new store
    print(f"{rounds} kills ({dict(kills)}), {added:,} posts: {wrong} times another answer")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
