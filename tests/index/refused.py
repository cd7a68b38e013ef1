"""Each command once for every use it makes of the disk, that use failing: run below `refuse.c`.

    LD_PRELOAD=refuse.so python refused.py COMMAND FOLDER PLACES

Of all uses so many places are tried, spread evenly, each twice: the use fails once, or it and all
after it. After each the store passes its check, holds all that was acknowledged, and its index and
memory are what fresh ones would be. Prints how many uses there are and what became of them.
"""

import ctypes
import json
import os
import shutil
import sys
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from stores import add, assert_as_fresh, news, withdraw

from hashnews.errors import HashNewsError
from hashnews.index import post_segments
from hashnews.index.folder import NewsIndex
from hashnews.index.post_segments import PostSegments, folder_of_posts
from hashnews.news import ingest
from hashnews.news.ingest import add_files
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary
from hashnews.posts import table
from hashnews.posts.table import add_posts, read_posts
from hashnews.records import Hashtag, PreparedPost
from hashnews.text.entities import shipped_finder

DAYS = 4
DISK = ctypes.CDLL(None)
post_segments.SAVED = 20  # so that a few posts are a file
REFUSED, WHOLE, WRONG = 10, 11, 12


def posts(count, prefix):
    tags = (Hashtag(("storm",), "#storm"),)
    return [
        PreparedPost(
            id=f"{prefix}{n}", created_at=f"2020-06-0{1 + n % 6}T10:00:00Z", user=f"u{n}",
            body=f"at the harbour {n}", entities=(), hashtags=tags,
        )
        for n in range(count)
    ]  # fmt: skip


def add_news(path, acknowledge):
    """`news add`: every commit is acknowledged."""

    def committed(summary):
        acknowledge(*(f"n{n}" for n in range(summary.added)))

    with NewsStore(path, "write") as store:
        file = path.with_name("more.jsonl")
        add_files(store, shipped_finder(), [str(file)], Refusals(Summary()), committed=committed)


def add_memories(path, acknowledge):
    """`posts add`, twice."""
    with NewsStore(path, "write") as store:
        for prefix in "qr":
            add_posts(store, posts(25, prefix))
            acknowledge(*(f"{prefix}{n}" for n in range(25)))


def open_index(path, acknowledge):
    """The index, built or brought up to date."""
    with NewsStore(path) as store:
        NewsIndex.open(store)


def open_memory(path, acknowledge):
    """The segments of posts, built or brought up to date."""
    with NewsStore(path) as store:
        PostSegments(folder_of_posts(store)).refresh(store)


def prepare(path, built, grown):
    add(path, news(40, DAYS))
    with NewsStore(path, "write") as store:
        add_posts(store, posts(200, "p"))
    if built:
        open_index(path, None)
        open_memory(path, None)
    if grown:
        add(path, news(15, DAYS, prefix="b"))
        withdraw(path, [f"a{n}" for n in range(0, 40, 4)])
        with NewsStore(path, "write") as store:
            add_posts(store, posts(30, "q"))
            table.delete_posts(store, ["p1", "p7", "p8"])


# By name: what runs, whether index and memory are there before, whether the store grew since.
COMMANDS = {
    "news add": (add_news, True, False),
    "posts add": (add_memories, True, False),
    "index build": (open_index, False, False),
    "index refresh": (open_index, True, True),
    "memory build": (open_memory, False, False),
    "memory refresh": (open_memory, True, True),
}


def in_child(work, path, place, for_good):
    """Run work in a process whose disk refuses; gives outcome, uses and what was acknowledged."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        outcome = WRONG
        try:
            os.close(read)

            def acknowledge(*names):
                os.write(write, "".join(f"{name}\n" for name in names).encode())

            DISK.refuse(b"news.db", ctypes.c_long(place), ctypes.c_int(for_good))
            try:
                work(path, acknowledge)
                outcome = WHOLE
            except HashNewsError as error:
                outcome = REFUSED if "\n" not in str(error) else WRONG
            finally:
                uses = DISK.used()
                DISK.refuse(b"", ctypes.c_long(-1), ctypes.c_int(0))
            acknowledge(f"uses {uses}")
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(outcome)
    os.close(write)
    with os.fdopen(read) as told:
        lines = told.read().split("\n")[:-1]
    uses = max([int(line[5:]) for line in lines if line.startswith("uses ")], default=0)
    outcome = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return outcome, uses, {line for line in lines if " " not in line}


def check(path, acknowledged):
    with NewsStore(path) as store:
        assert store.check() == []
        there = {one.article.id for one in store.read()} | {one.id for one in read_posts(store)}
        assert acknowledged <= there, sorted(acknowledged - there)[:5]
        assert_as_fresh(NewsIndex.open(store), store, DAYS)
        PostSegments(folder_of_posts(store)).refresh(store)
        assert (NewsIndex.check(store), PostSegments.check(store)) == (None, None)


def main(command, folder, places):
    work, built, grown = COMMANDS[command]
    whole, place = Path(folder) / "whole", Path(folder) / "place"
    whole.mkdir()
    prepare(whole / "news.db", built, grown)
    ingest.BATCH = table.BATCH = 10  # so that there are several commits
    lines = (article.to_json() for article in news(30, DAYS, prefix="n"))
    (whole / "more.jsonl").write_text("\n".join(lines))

    def again():
        with suppress(FileNotFoundError):
            shutil.rmtree(place)
        shutil.copytree(whole, place)

    again()
    outcome, uses, acknowledged = in_child(work, place / "news.db", -1, 0)
    assert outcome == WHOLE
    check(place / "news.db", acknowledged)
    many = min(places, uses)
    tried = sorted({round(at * (uses - 1) / max(1, many - 1)) for at in range(many)})
    outcomes = Counter()
    for at in tried:
        for for_good in (0, 1):
            again()
            outcome, _, acknowledged = in_child(work, place / "news.db", at, for_good)
            assert outcome in (REFUSED, WHOLE), (command, at, for_good)
            check(place / "news.db", acknowledged)
            outcomes["refused" if outcome == REFUSED else "whole"] += 1
    told = {"command": command, "uses": uses, "places": len(tried), **outcomes}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
