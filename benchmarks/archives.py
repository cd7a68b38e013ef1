"""Archives into the memory: posts a second, storing included, and the most memory it takes.

    python benchmarks/archives.py [--posts 100000] [--kinds repo.car tweets.js ...]
    python benchmarks/archives.py --steps --posts 5000

Makes an archive of each kind in the true format, with words and hashtags drawn at random, and adds
it with `posts add` in a process of its own. Beside its time stands the most memory it held, and
that of a tenth of the archive: what the second has more is what grows. Times are of the processor
and by the clock, of the whole command: start, reading, storing. With --steps, each step alone in
this process, the best of five.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from hashnews.news.store import NewsStore
from hashnews.posts.archives.open_file import open_posts
from hashnews.posts.table import add_posts
from hashnews.prepare.preparer import Preparer
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "posts"))
import makers  # noqa: E402

WORDS = (
    "the of to and in a is that for it on as with was at by this from or have an they which one "
    "you were all her she there would their we him been has when who will no more if out so up "
    "said what its about than into them can only other time new some could these two may first "
    "then do any like my now over such our man me even most made after also well before many "
    "bread oven dough river ferry harbour winter storm council budget vote school train ticket "
    "garden concert museum market island bridge station weather morning evening neighbour"
).split()
BEYOND_ASCII = (
    "café naïve señor Zürich it’s – 🚢 🍞".split()
)  # in two of five posts, as people write
TOPICS = "Bread Ferry Harbour Storm Vote School Train Garden Music Film City Snow Run".split()
START = datetime(2025, 11, 1, tzinfo=UTC)


# Linux counts the memory of the process that started another one as its own until it runs a
# program of its own; what it held itself only it knows.
CHILD = """
import sys
from hashnews.cli import main
try:
    main(sys.argv[1:], standalone_mode=False)
finally:
    sys.stdout.flush()
    print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


class Measured(NamedTuple):
    """What one run of `posts add` took."""

    added: int
    processor: float  # seconds
    clock: float
    memory: int  # bytes


def posts(count: int) -> Iterator[makers.Plain]:
    """Posts of a year: mostly own ones with hashtags, some replies, some of other people."""
    chance = random.Random(5)
    for number in range(1, count + 1):
        words = chance.choices(WORDS, k=chance.randint(8, 40))
        if chance.random() < 0.4:
            words[chance.randrange(8)] = chance.choice(BEYOND_ASCII)
        said = " ".join(words)
        tags = " ".join(f"#{chance.choice(TOPICS)}{chance.choice(TOPICS)}"
                        for _ in range(chance.randint(1, 3)))  # fmt: skip
        at = START + timedelta(seconds=300 * number if count <= 100_000 else 3 * number)
        yield makers.Plain(number, f"{said}.\n\n{tags}", at)


def packed(path: Path, files: dict[str, bytes], media: int) -> None:
    """A zip with as many bytes of media beside the posts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        noise = os.urandom(1 << 20)
        for number in range(media >> 20):
            archive.writestr(f"data/tweets_media/{number}.jpg", noise, zipfile.ZIP_STORED)


def blocks_of(count: int) -> bytes:
    """A repository of Bluesky."""
    commit, *blocks = makers.repository(posts(count))
    return makers.car(makers.link_to(commit), [commit, *blocks])


def instagram(count: int) -> bytes:
    """Posts of Instagram, every other one with several pictures."""
    return makers.meta_json([makers.picture(post, post.number % 2 == 0) for post in posts(count)])


def table(count: int) -> bytes:
    """The JSON of some other tool."""
    rows = [
        {"Content": post.text, "Date": f"{post.at:%b %d, %Y %I:%M %p}"} for post in posts(count)
    ]
    return json.dumps(rows).encode()


def tweets(count: int) -> bytes:
    """The posts of X."""
    return makers.assigned("window.YTD.tweets.part0", map(makers.tweet, posts(count)))


def outbox(count: int) -> bytes:
    """The outbox of Mastodon."""
    return makers.outbox(map(makers.activity, posts(count)))


def months(count: int) -> bytes:
    """The posts of X as they were packed at first."""
    listed = map(makers.first_archive, posts(count))
    return makers.assigned("Grailbird.data.tweets_2026_01", listed)


def our_own(count: int) -> bytes:
    """The same posts in our own form: what adding them costs without an archive."""
    listed = ({"id": f"p{post.number}", "text": post.text, "created_at": post.at.isoformat()}
              for post in posts(count))  # fmt: skip
    return "\n".join(map(json.dumps, listed)).encode()


KINDS: dict[str, Callable[[int], bytes]] = {
    "posts.jsonl": our_own,
    "outbox.json": outbox,
    "mastodon.tar.gz": lambda count: makers.tarred({"outbox.json": outbox(count)}),
    "tweets.js": tweets,
    "2026_01.js": months,
    "twitter.zip": tweets,
    "repo.car": blocks_of,
    "records.json": lambda count: makers.list_records(posts(count)),
    "threads_and_replies.json": lambda count: makers.threads(posts(count)),
    "posts_1.json": instagram,
    "tool.json": table,
}


def measure(path: Path, folder: Path) -> Measured:
    """One run of `posts add` into a new store."""
    store = folder / "news.db"
    for left in folder.glob("news.db*"):
        left.unlink()
    command = [sys.executable, "-c", CHILD, "posts", "add", str(path), "--news", str(store),
               "--json", "--user", "me"]  # fmt: skip
    if path.name == "tool.json":
        command += ["--columns", "text=Content,created_at=Date"]
    began = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert child.stdout is not None
    answer, held = child.stdout.read().splitlines()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    clock = time.monotonic() - began
    added = json.loads(answer)["added"]
    return Measured(added, used.ru_utime + used.ru_stime, clock, int(held) << 10)


def steps(path: Path, folder: Path) -> list[float]:
    """Processor time in seconds of reading, preparing and storing, each the best of five."""
    columns = {"text": "Content", "created_at": "Date"} if path.name == "tool.json" else None
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    best = [float("inf")] * 3
    for _ in range(5):
        for left in folder.glob("news.db*"):
            left.unlink()
        with NewsStore(folder / "news.db", "write") as store:
            times = [time.process_time()]
            read = list(open_posts(path, columns=columns))
            times.append(time.process_time())
            ready = list(preparer.remember(read))
            times.append(time.process_time())
            add_posts(store, ready)
            times.append(time.process_time())
        best = [
            min(old, end - start) for old, (start, end) in zip(best, pairwise(times), strict=True)
        ]
    return best


def print_steps(kinds: list[str], count: int) -> None:
    """A table of microseconds per post."""
    print("| archive | read | prepare | store | posts/s |")
    print("|---|---|---|---|---|")
    for name in kinds:
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / name
            content = KINDS[name](count)
            if name.endswith(".zip"):
                packed(path, {"data/tweets.js": content}, 0)
            else:
                path.write_bytes(content)
            took = [seconds / count for seconds in steps(path, Path(scratch))]
        each = " | ".join(f"{1e6 * seconds:.0f}" for seconds in took)
        print(f"| {name} | {each} | {1 / sum(took):,.0f} |", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--posts", type=int, default=100_000)
    parser.add_argument("--kinds", nargs="+", default=[*KINDS], choices=[*KINDS])
    parser.add_argument("--media", type=int, default=2 << 30, help="bytes beside the posts in .zip")
    parser.add_argument("--steps", action="store_true", help="each step alone")
    options = parser.parse_args()
    if options.steps:
        print_steps(options.kinds, options.posts)
        return
    print("| archive | MB | posts | posts/s | by the clock | MB held | of a tenth |")
    print("|---|---|---|---|---|---|---|")
    for name in options.kinds:
        with tempfile.TemporaryDirectory() as scratch:
            path, runs, size = Path(scratch) / name, [], 0
            for count in (options.posts // 10, options.posts):
                content = KINDS[name](count)
                if name.endswith(".zip"):
                    share = count * options.media // options.posts
                    packed(path, {"data/tweets.js": content}, share)
                else:
                    path.write_bytes(content)
                del content
                size = path.stat().st_size
                runs.append(measure(path, Path(scratch)))
            small, large = runs
            assert large.added == options.posts, large
            print(
                f"| {name} | {size / 1e6:,.0f} | {large.added:,} "
                f"| {large.added / large.processor:,.0f} | {large.added / large.clock:,.0f} "
                f"| {large.memory / 1e6:,.0f} | {small.memory / 1e6:,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
