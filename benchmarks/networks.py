"""Following networks: nothing lost or doubled under kills, and how many posts a second.

    tools/pds/install.sh                        # a real Bluesky server, once
    python benchmarks/networks.py [--posts 5000] [--kills 20] [--seconds 60]

First a real Bluesky server on loopback: authors write, change and delete while `hashnews posts
follow` is killed with `kill -9` and the server is, too; then the memory is compared with what the
server lists. Then a real browser: somebody posts and deletes there, and sees it in the page of
`hashnews serve`. Then the speed of one follower that may use one core: the server's own frames of
single posts, sent as fast as they are read, and Jetstream's form at 500 posts a second.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1] / "tests" / "posts"
sys.path[:0] = [str(TESTS), str(TESTS.parent), str(TESTS.parent / "service")]
import bluesky_server  # noqa: E402
import browsing  # noqa: E402
import jetstream_server  # noqa: E402
import network_world  # noqa: E402
import own_posts  # noqa: E402
import servers  # noqa: E402
import ways_page  # noqa: E402
from following import rows  # noqa: E402
from websockets.exceptions import ConnectionClosed  # noqa: E402
from websockets.sync.client import connect  # noqa: E402
from websockets.sync.server import serve  # noqa: E402

from hashnews.news.store import NewsStore  # noqa: E402
from hashnews.suggest.memory import Memory  # noqa: E402

RATE = 500
AUTHORS = 200
failed: list[str] = []


def tell(what: str, figure: str, wanted: str = "", good: bool = True) -> None:
    """A line of the table."""
    print(f"| {what} | {figure} | {wanted} |", flush=True)
    if not good:
        failed.append(what)


def kills(server: bluesky_server.BlueskyServer, folder: Path, posts: int, count: int) -> None:
    """The memory holds what the network holds, however often the follower is killed."""
    names = [f"author{number}" for number in range(5)]
    for name in names:
        server.join(name)
    db, life = folder / "kills.db", network_world.Life(server, names)
    began = time.monotonic()
    follower = network_world.live_and_kill(
        server, life, db, server.source, count, posts, restarts=3, at_once=15
    )
    expected = life.expected(db)
    with contextlib.suppress(AssertionError):
        network_world.wait_for(lambda: network_world.held(db) == expected)
    follower.stop()
    held = network_world.held(db)
    tell("posts written, changed, deleted",
         f"{life.written:,}, {life.changed:,}, {life.deleted:,}", f"{posts:,} written")  # fmt: skip
    tell("kills of the follower, of the server", f"{count + 1}, 3", f"{count}")
    tell("with a hashtag, by the server's own list", f"{len(expected):,}")
    lost, extra = len(expected.keys() - held.keys()), len(held.keys() - expected.keys())
    tell("lost, left behind", f"{lost}, {extra}", "0, 0", not lost and not extra)
    wrong = sum(held.get(one) != expected[one] for one in expected)
    tell("with another text or author", f"{wrong}", "0", not wrong)
    with NewsStore(db) as store:
        there = len(Memory.open(store))
    tell("posts the memory has", f"{there:,}", "all", there == len(expected))
    tell("it took", f"{time.monotonic() - began:.0f} s")


def in_the_page(bluesky: bluesky_server.BlueskyServer, folder: Path, rounds: int) -> None:
    """From a post or a deletion there until somebody sees it in the page, in Chromium."""
    arguments = ("--news", folder / "page.db", "--fetch", "--allow-private")
    with (
        servers.Server(*arguments, key=servers.KEY) as service,
        browsing.playwright_api().sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=browsing.CHROMIUM, args=browsing.FLAGS)
        page = browser.new_page()
        page.goto(service.url)
        page.locator("#user").fill("ann")
        ways_page.open_ways(page)
        ways_page.drop(page, "outbox.json", own_posts.outbox(*own_posts.LOAVES))
        told = browsing.expect(page.locator("#archives li", has_text="outbox.json"))
        told.to_contain_text("4 posts with hashtags remembered", timeout=120_000)
        page.locator("#close-ways").click()
        page.locator("#post").fill(ways_page.BREAD)
        ways_page.see_own_hashtag(page, 4)
        ways_page.follow_oneself(page, bluesky, "ann")
        seen = [ways_page.post_and_delete(page, bluesky, "ann", 4) for _ in range(rounds)]
        browser.close()
    for what, times in zip(("posted there, seen in the page", "deleted there, gone from the page"),
                           map(sorted, zip(*seen, strict=True)), strict=True):  # fmt: skip
        figure = f"{times[rounds // 2]:.1f} / {times[-1]:.1f} s of {rounds}"
        tell(f"{what} after, p50 / longest", figure, "5 s", times[-1] <= 5)


def recorded(server: bluesky_server.BlueskyServer, count: int) -> list[bytes]:
    """The frames of the server itself for so many single posts."""
    server.join("writer")
    url = f"{server.url.replace('http', 'ws')}/xrpc/com.atproto.sync.subscribeRepos"
    frames: list[bytes] = []
    with connect(url, compression=None, max_size=None) as stream:
        for number in range(count):
            server.post("writer", f"Loaf {number} is out of the oven, come and see it. #sourdough")
            while f"{bluesky_server.POST}/".encode() not in (frame := bytes(stream.recv())):
                pass
            frames.append(frame)
    return frames


def serve_frames(path: Path) -> None:
    """A firehose of recorded frames, as fast as somebody reads them; all profiles are empty."""
    frames = json.loads(path.read_text())

    def send(client: Any) -> None:
        with contextlib.suppress(ConnectionClosed):
            for frame in frames:
                client.send(bytes.fromhex(frame))
            time.sleep(3600)

    def answer(connection: Any, request: Any) -> Any:
        streamed = "subscribeRepos" in request.path
        return None if streamed else jetstream_server._response(404, {})

    with serve(send, "127.0.0.1", 0, process_request=answer, compression=None) as made:
        print(made.socket.getsockname()[1], flush=True)
        made.serve_forever()


def serve_jetstream(seconds: float) -> None:
    """Jetstream at so many posts a second, as soon as somebody listens."""
    server = jetstream_server.JetstreamServer()
    print(server.source, flush=True)
    while not server.subscribed:
        time.sleep(0.01)
    began, number = time.monotonic(), 0
    while (passed := time.monotonic() - began) < seconds:
        while number < passed * RATE:
            text = f"Loaf {number} is out of the oven, come and see it. #sourdough #{number % 997}x"
            record = {**jetstream_server.BREAD, "text": text}
            server.commit(f"a{number % AUTHORS}", f"k{number}", record=record)
            number += 1
        time.sleep(0.005)
    print(number, flush=True)
    time.sleep(3600)


def started(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    """Start a server of ours; returns it and what it prints first."""
    process = subprocess.Popen(
        [sys.executable, __file__, *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


class OneCore:
    """A follower that may use one core, and what it uses of it."""

    def __init__(self, db: Path, source: str):
        os.sched_setaffinity(0, {0})
        self.follower = network_world.FollowerProcess(db, source)
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
        network_world.wait_for(lambda: network_world.is_following(db))

    def used(self) -> float:
        """The seconds of the processor that it used so far."""
        stat = Path(f"/proc/{self.follower.process.pid}/stat").read_text().rpartition(")")[2]
        return sum(map(int, stat.split()[11:13])) / os.sysconf("SC_CLK_TCK")


def as_fast_as_it_can(folder: Path, frames: list[bytes]) -> None:
    """The firehose's own frames, as fast as they are read."""
    path, db = folder / "frames.json", folder / "fast.db"
    path.write_text(json.dumps([frame.hex() for frame in frames]))
    server, port = started("--serve-frames", str(path))
    one = OneCore(db, f"bluesky://firehose/127.0.0.1:{port}?insecure")
    began, before = time.monotonic(), one.used()
    network_world.wait_for(
        lambda: rows(db, "SELECT posts FROM followed")[0][0] == len(frames), 120.0
    )
    took, used = time.monotonic() - began, one.used() - before
    one.follower.stop()
    server.kill()
    server.communicate()
    rate = len(frames) / took
    tell(f"the firehose, {len(frames):,} single posts, one core", f"{rate:,.0f} posts a second",
         f"{RATE}", rate >= RATE)  # fmt: skip
    tell("the same by the processor's time", f"{len(frames) / used:,.0f} posts a second")


def paced(folder: Path, seconds: float) -> None:
    """Jetstream at 500 posts a second: whether it keeps up, and with how much of a core."""
    db = folder / "paced.db"
    server, source = started("--serve-jetstream", str(seconds))
    one = OneCore(db, source)
    began, lags, before = time.monotonic(), [], one.used()
    while time.monotonic() - began < seconds:
        time.sleep(1)
        ((lag,),) = rows(db, "SELECT lag FROM followed")
        lags.append(lag or 0.0)
    assert server.stdout is not None
    sent = int(server.stdout.readline())
    used = (one.used() - before) / (time.monotonic() - began)
    time.sleep(2)
    ((here,),) = rows(db, "SELECT posts FROM followed")
    one.follower.stop()
    server.kill()
    server.communicate()
    tell(f"Jetstream at {RATE} a second for {seconds:.0f} s", f"{here:,} of {sent:,} posts",
         "all", here == sent)  # fmt: skip
    lags.sort()
    p50, worst = lags[len(lags) // 2], lags[-1]
    tell("until a post is stored, p50 / longest", f"{p50:.1f} / {worst:.1f} s")
    tell("of one core it takes", f"{used:.0%}")


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--posts", type=int, default=5000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=20, help="posts deleted before a browser")
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--serve-frames", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--serve-jetstream", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve_frames:
        return serve_frames(given.serve_frames)
    if given.serve_jetstream:
        return serve_jetstream(given.serve_jetstream)
    if not bluesky_server.is_installed():
        sys.exit("there is no Bluesky server: run tools/pds/install.sh")
    print("| what | figure | wanted |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        server = bluesky_server.BlueskyServer(Path(scratch) / "pds")
        try:
            kills(server, Path(scratch), given.posts, given.kills)
            if browsing.CHROMIUM:
                in_the_page(server, Path(scratch), given.rounds)
            frames = recorded(server, given.frames)
        finally:
            server.close()
        as_fast_as_it_can(Path(scratch), frames)
        paced(Path(scratch), given.seconds)
    if failed:
        sys.exit(f"not kept: {json.dumps(failed)}")
    return None


if __name__ == "__main__":
    main()
