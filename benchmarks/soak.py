"""A day of a service, in minutes: news, posts and questions flow while parts of it are killed.

    python benchmarks/soak.py --minutes 60 [--seed 1]

`hashnews serve --fetch` with two suggesters follows feeds and a network that publish all the time,
gets articles and posts over HTTP, answers questions, takes over a new model every few minutes and
loses a process every minute (kill -9), now and then all of them. Nothing that was acknowledged,
published in a feed or written on the network may be missing at the end, nothing deleted may be
left, and nobody may hear of it but by 503 and 504 while what was killed is replaced.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/service"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/posts"))

from jetstream_server import BREAD, JetstreamServer
from newsstand import Newsstand, newsstand, rss
from servers import HTTP, KEY, Server, article

from hashnews.index.folder import NewsIndex
from hashnews.index.post_segments import PostSegments
from hashnews.news.feed_lists import ListedFeed
from hashnews.news.own_feeds import add_feeds
from hashnews.news.store import NewsStore
from hashnews.posts.networks.events import FollowSettings
from hashnews.posts.networks.sources import add_source
from hashnews.posts.table import read_posts
from hashnews.saved import seal
from hashnews.suggest.model import shipped_model
from hashnews.suggest.pipeline import sample_store

FEEDS, SHOWN, SETTLE = 5, 500, 300.0  # feeds, items in all; seconds after the last one
KILLS, MODELS = 60.0, 240.0  # seconds between two of them
WHOLE = 7  # every so many kills it is the whole service
AFTER = 60.0  # seconds after a kill in which 503 and 504 are promised
PROMISED = {503, 504}
QUESTIONS = ("Marching for George Floyd tonight", "Bread {n} is out of the oven",
             "The zebra {n} of Utopia", "The Bundesliga again", "Rain, nothing else")  # fmt: skip


class Soak:
    """One service and all that happens to it."""

    def __init__(self, folder: Path, minutes: float, seed: int):
        self.chance = random.Random(seed)
        self.db, self.model = folder / "news.db", folder / "model"
        self.end = time.monotonic() + 60 * minutes
        self.statuses: Counter[str] = Counter()
        self.beyond: list[str] = []  # answers that were not promised
        self.kills: Counter[str] = Counter()
        self.articles: set[str] = set()  # acknowledged
        self.posts: set[str] = set()
        self.published, self.written, self.deleted = 0, 0, set[int]()
        self.memory: list[tuple[float, float]] = []
        self.models, self.taken = 0, 0  # put in place, taken over
        self.failed: list[dict[str, object]] = []
        self._harmed = time.monotonic()
        self._lock = threading.Lock()
        shutil.copyfile(sample_store(), self.db)
        shutil.copytree(shipped_model(), self.model)
        generator = shipped_model().parent / "generator"
        if generator.is_dir():
            shutil.copytree(generator, folder / "generator")

    # ----- the service -----

    def start(self) -> None:
        """Start the service, or start it again."""
        port = int(self.server.url.rpartition(":")[2]) if hasattr(self, "server") else 0
        self.server = Server(
            "--news", self.db, "--model", self.model, "--fetch", "--every", "5s",
            "--allow-private", "--workers", "2", key=KEY, port=port,
        )  # fmt: skip
        self.server.ready()
        self._harmed = time.monotonic()

    def stop(self) -> None:
        """Stop the service, and note what its log tells."""
        self.server.stop()
        self.taken += sum(event["event"] == "model taken over" for event in self.server.events)
        self.failed += [event for event in self.server.events if event["event"] == "failed"]

    def processes(self) -> dict[str, int]:
        """The living processes by name."""
        told = [event for event in self.server.events if event["event"] == "started"]
        return {event["process"]: event["pid"] for event in told if _is_alive(event["pid"])}

    def kill(self) -> None:
        """Kill one process, or all of them."""
        if (self.kills.total() + 1) % WHOLE == 0:
            self.kills["the service"] += 1
            self._harmed = time.monotonic() + 1e6  # until it is back
            self.server.process.kill()
            self.stop()
            self.start()
            return
        name, pid = self.chance.choice(sorted(self.processes().items()))
        self.kills[name] += 1
        self._harmed = time.monotonic()
        os.kill(pid, signal.SIGKILL)

    def new_model(self) -> None:
        """Put another model in place of the old one, sealed."""
        card = self.model / "README.md"
        card.write_text(f"{card.read_text()}\nSealed again, {self.models}.\n")
        seal(self.model)
        self.models += 1
        self._harmed = max(self._harmed, time.monotonic())

    def weigh(self) -> None:
        """Note the memory of all processes, shared pages counted once."""
        pids = [self.server.process.pid, *self.processes().values()]
        self.memory.append((time.monotonic(), sum(map(_memory, pids))))

    # ----- those around it -----

    def client(self, number: int) -> None:
        """Ask and tell, one request after the other."""
        chance = random.Random(number)
        told = 0
        while time.monotonic() < self.end:
            kind = chance.choice(["suggest"] * 6 + ["news", "posts", "trends", "ready"])
            told += 1
            name = f"{number}-{told}"
            if kind == "suggest":
                text = chance.choice(QUESTIONS).format(n=told)
                asked = ("POST", "/suggest", {"text": text, "created_at": "2020-06-05T20:00:00Z"})
            elif kind == "news":
                asked = ("POST", "/news", {"articles": [article(name)]})
            elif kind == "posts":
                post = {"id": f"soak-{name}", "text": f"Bread {name} #sourdough", "user": "ann",
                        "created_at": _now()}  # fmt: skip
                asked = ("POST", "/v1/posts", {"posts": [post]})
            else:
                asked = ("GET", f"/{kind}", None)
            if self._ask(*asked) == 200:
                with self._lock:
                    if kind == "news":
                        self.articles.add(f"new-{name}")
                    elif kind == "posts":
                        self.posts.add(f"soak-{name}")
            time.sleep(chance.random() * 0.5)

    def _ask(self, method: str, path: str, body: object) -> int | None:
        began = time.monotonic()
        try:
            answer = httpx.request(
                method, self.server.url + path, json=body, headers=HTTP, timeout=60
            )
            status = answer.status_code
        except httpx.HTTPError as error:
            status, answer = None, error
        harmed = self._harmed
        within = began < harmed + AFTER
        with self._lock:
            self.statuses[str(status or "no connection")] += 1
            unexpected = status is None or status in PROMISED
            if status not in (200, *PROMISED, None) or (unexpected and not within):
                said = answer.text if isinstance(answer, httpx.Response) else repr(answer)
                self.beyond.append(f"{path}: {status}, {began - harmed:.0f} s after: {said[:200]}")
        return status

    def publish(self, stand: Newsstand, network: JetstreamServer) -> None:
        """Items in feeds, posts on the network, some of them deleted later."""
        while time.monotonic() < self.end:
            self.published += 1
            n = self.published
            first = max(1, n - SHOWN)
            stand[f"/{n % FEEDS}"] = rss(
                *(i for i in range(first, n + 1) if i % FEEDS == n % FEEDS)
            )
            self.written += 1
            text = f"Loaf {n} is out of the oven. #sourdough"
            network.commit("ann", f"k{n}", record={**BREAD, "text": text, "createdAt": _now()})
            if n > 20 and n % 5 == 0:
                network.commit("ann", f"k{n - 10}", "delete")
                self.deleted.add(n - 10)
            time.sleep(2)

    # ----- at the end -----

    def missing(self) -> dict[str, int]:
        """What should be there and is not, or is there and should not be."""
        with NewsStore(self.db) as store:
            articles = {stored.article.id for stored in store.read()}
            titles = {stored.article.title for stored in store.read()}
            posts = list(read_posts(store))
        ids, bodies = {post.id for post in posts}, {post.body for post in posts}
        loaves = {n for n in range(1, self.written + 1)
                  if f"Loaf {n} is out of the oven." in bodies}  # fmt: skip
        expected = set(range(1, self.written + 1)) - self.deleted
        feeds = {f"Title {n}" for n in range(1, self.published + 1)}
        return {
            "articles acknowledged": len(self.articles - articles),
            "posts acknowledged": len(self.posts - ids),
            "items of feeds": len(feeds - titles),
            "posts of the network": len(expected - loaves),
            "deleted posts still there": len(self.deleted & loaves),
        }

    def problems(self) -> list[str]:
        """What is wrong with the store, its index or its memory."""
        with NewsStore(self.db) as store:
            return [
                *store.check(),
                *filter(None, (NewsIndex.check(store), PostSegments.check(store))),
            ]

    def drift(self) -> tuple[float, float]:
        """Median memory of the second and of the last quarter of the time, in megabytes."""
        size = len(self.memory) // 4
        weights = [weight / 1024 for _, weight in self.memory]
        return median(weights[size : 2 * size] or [0]), median(weights[-size:] or [0])


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def _memory(pid: int) -> float:
    """Kilobytes of a process, its part of what is shared; 0 where it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(float(line.split()[1]) for line in lines if line.startswith("Pss:"))


def run(soak: Soak, stand: Newsstand, network: JetstreamServer) -> None:
    """All of it until the time is over, then until what was published is there."""
    threads = [threading.Thread(target=soak.client, args=(n,)) for n in range(3)]
    threads.append(threading.Thread(target=soak.publish, args=(stand, network)))
    for thread in threads:
        thread.start()
    next_kill, next_model = time.monotonic() + KILLS, time.monotonic() + MODELS
    while time.monotonic() < soak.end:
        time.sleep(1)
        now = time.monotonic()
        if now >= next_model:
            next_model = now + MODELS
            soak.new_model()
        elif now >= next_kill:
            soak.weigh()
            next_kill = now + KILLS
            soak.kill()
    for thread in threads:
        thread.join()
    settled = time.monotonic() + SETTLE
    while any(soak.missing().values()) and time.monotonic() < settled:
        time.sleep(2)
    soak.weigh()


def main() -> None:
    """Run, and tell; exits with 1 where anything was lost, or said that was not promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    network = JetstreamServer()
    with tempfile.TemporaryDirectory() as place, newsstand() as stand:
        soak = Soak(Path(place), options.minutes, options.seed)
        with NewsStore(soak.db, "write") as store:
            add_feeds(store, [ListedFeed(f"{stand.url}/{n}") for n in range(FEEDS)])
            add_source(store, network.source, FollowSettings(every=1, allow_private=True))
        soak.start()
        run(soak, stand, network)
        soak.stop()
        missing, problems = soak.missing(), soak.problems()
        before, after = soak.drift()
    network.close()
    print(f"{options.minutes:g} minutes, load {os.getloadavg()[1]:.1f}\n\n| | |\n|---|---|")
    rows: dict[str, object] = {
        "requests": f"{soak.statuses.total():,}",
        "answers": ", ".join(f"{n:,} × {status}" for status, n in soak.statuses.most_common()),
        "kills": ", ".join(f"{n} {name}" for name, n in soak.kills.most_common()),
        "models put in place, taken over": f"{soak.models}, {soak.taken}",
        "articles and posts acknowledged": f"{len(soak.articles):,} and {len(soak.posts):,}",
        "published in feeds, written on the network, deleted there":
            f"{soak.published:,}, {soak.written:,}, {len(soak.deleted):,}",
        "missing": ", ".join(f"{n} {what}" for what, n in missing.items()),
        "answers that were not promised": len(soak.beyond),
        "wrong with store, index or memory": len(problems),
        "memory, second and last quarter": f"{before:,.0f} and {after:,.0f} MB",
        "drift": f"{100 * (after / before - 1) if before else 0:+.1f} %",
    }  # fmt: skip
    for name, value in rows.items():
        print(f"| {name} | {value} |")
    for line in [*soak.beyond[:20], *problems, *map(str, soak.failed[:5])]:
        print(line, file=sys.stderr)
    sys.exit(1 if any(missing.values()) or soak.beyond or problems else 0)


if __name__ == "__main__":
    main()
