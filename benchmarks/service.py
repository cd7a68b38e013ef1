"""Figures of the service under load, killed and restarted, with the client on the same machine.

    python benchmarks/service.py ../shared/data/2020 [--workers 1] [--store DIR] [--seconds 120]

Takes 100,000 articles and the posts of the same weeks, each asked for as of its own time. Prints
every figure beside what was promised, and exits with 1 where a promise was not kept.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from hashnews.news.store import NewsStore

ARTICLES = 100_000
KEY = "the key of this measurement"
CLIENTS = 32
OVERLOAD = 10


class Reply(NamedTuple):
    """What came back, and after how many seconds."""

    status: int
    seconds: float
    body: bytes


class Client:
    """One connection that stays open; as little of HTTP as is needed, so that it costs little."""

    def __init__(self, port: int):
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, value: object, key: str = "") -> Reply:
        """Send JSON, wait for the answer."""
        began = time.perf_counter()
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        body = json.dumps(value).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        head += f"Authorization: Bearer {key}\r\nContent-Length: {len(body)}\r\n\r\n"
        try:
            writer.write(head.encode() + body)
            headers = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(headers.split(b"content-length: ")[1].split(b"\r\n")[0])
            content = await reader.readexactly(length)
        except (OSError, asyncio.IncompleteReadError):
            self._streams = None
            return Reply(0, time.perf_counter() - began, b"")
        return Reply(int(headers[9:12]), time.perf_counter() - began, content)

    def close(self) -> None:
        """Hang up."""
        if self._streams is not None:
            self._streams[1].close()


class Server:
    """`hashnews serve` as a process."""

    def __init__(self, news: Path, arguments: list[str]):
        command = [sys.executable, "-m", "hashnews", "serve", "--port", "0", "--news", str(news)]
        began = time.perf_counter()
        self.process = subprocess.Popen(
            command + arguments, stderr=subprocess.PIPE, env={**os.environ, "HASHNEWS_KEY": KEY}
        )
        assert self.process.stderr is not None
        self.port = 0
        for line in self.process.stderr:
            event = json.loads(line) if line.startswith(b"{") else {"event": line.decode()}
            if event["event"] == "listening":
                self.port = int(event["address"].rsplit(":", 1)[1])
            if event["event"] == "ready":
                break
        else:
            raise SystemExit("the service did not start")
        self.started = time.perf_counter() - began
        # Its log must be read, or it would stop writing; nobody needs it here.
        self._sink = subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=subprocess.DEVNULL)

    def memory(self) -> float:
        """Megabytes of all its processes."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics") as response:
            lines = response.read().decode().splitlines()
        found = [line for line in lines if line.startswith("hashnews_memory_bytes{")]
        return sum(float(line.rsplit(" ", 1)[1]) for line in found) / 1e6

    def processor(self) -> float:
        """Seconds of processor time that all its processes have used."""
        pids = [self.process.pid]
        for pid in pids:  # children, and theirs
            pids += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        parts = [Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1] for pid in pids]
        ticks = sum(int(number) for part in parts for number in part.split()[11:13])
        return ticks / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """As a power cut does."""
        self.process.kill()
        self.process.wait()


failed: list[str] = []


def tell(what: str, figure: str, promise: str = "", kept: bool = True) -> None:
    """Print one figure."""
    mark = "" if not promise else "kept" if kept else "NOT KEPT"
    print(f"{what:44} {figure:>34}   {promise:28} {mark}", flush=True)
    if not kept:
        failed.append(what)


def quantile(values: list[float], share: float) -> float:
    """In milliseconds."""
    ordered = sorted(values)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def prepare(data: Path, folder: Path) -> Path:
    """A store with 100,000 articles; made once for a folder."""
    news = folder / "news.db"
    if not news.exists():
        part = folder / "news.jsonl"
        with gzip.open(data / "news.jsonl.gz", "rb") as source, part.open("wb") as target:
            # Every other one, so that all days are there.
            target.writelines(itertools.islice(source, 0, 2 * ARTICLES, 2))
        command = [sys.executable, "-m", "hashnews", "news", "add", str(part), "--news", str(news)]
        subprocess.run(command, check=True)
    return news


def read_posts(data: Path) -> list[dict[str, str]]:
    """Posts of the period that the news covers."""
    posts = []
    with gzip.open(data / "posts.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in itertools.islice(lines, 0, None, 7):
            post = json.loads(line)
            if "2020-05-01" <= post["created_at"] < "2020-06-15":
                posts.append({name: post[name] for name in ("text", "created_at", "user")})
    random.Random(1).shuffle(posts)  # so that every day is in use from the beginning
    return posts[:20_000]


async def one_client(port: int, posts: list[dict[str, str]]) -> None:
    """Latency of a client that has the service to itself."""
    client = Client(port)
    for post in posts[:50]:
        await client.post("/suggest", post)
    replies = [await client.post("/suggest", post) for post in posts[50:550]]
    client.close()
    seconds = [reply.seconds for reply in replies]
    middle, worst = quantile(seconds, 0.5), quantile(seconds, 0.99)
    tell("one client, p50", f"{middle:.1f} ms", "at most 60 ms", middle <= 60)
    tell("one client, p99", f"{worst:.1f} ms", "at most 200 ms", worst <= 200)
    server = [json.loads(reply.body)["timings_ms"]["total"] for reply in replies]
    tell("  of it in the pipeline, p50", f"{statistics.median(server):.1f} ms")


async def many_clients(server: Server, posts: list[dict[str, str]], seconds: float) -> float:
    """Throughput of 32 clients, each with its next question as soon as it has its answer."""
    statuses: Counter[int] = Counter()
    times: list[float] = []
    memories: list[float] = []
    source = itertools.cycle(posts)
    began, used = time.perf_counter(), server.processor()

    async def ask() -> None:
        client = Client(server.port)
        while time.perf_counter() - began < seconds:
            reply = await client.post("/suggest", next(source))
            statuses[reply.status] += 1
            times.append(reply.seconds)
        client.close()

    async def watch() -> None:
        while time.perf_counter() - began < seconds:
            memories.append(await asyncio.to_thread(server.memory))
            await asyncio.sleep(seconds / 40)

    await asyncio.gather(watch(), *(ask() for _ in range(CLIENTS)))
    rate = len(times) / (time.perf_counter() - began)
    errors = sum(n for status, n in statuses.items() if status != 200)
    tell(f"{CLIENTS} clients, {seconds:.0f} s", f"{rate:.1f} requests/s", "at least 40", rate >= 40)
    tell("  errors", f"{errors} of {len(times):,}", "0", errors == 0)
    tell("  p50 / p99", f"{quantile(times, 0.5):.0f} / {quantile(times, 0.99):.0f} ms")
    work = 1000 * (server.processor() - used) / len(times)
    tell("  processor time a request", f"{work:.1f} ms")
    quarter = len(memories) // 4
    early = statistics.median(memories[quarter : 2 * quarter])
    late = statistics.median(memories[-quarter:])
    drift = late / early - 1
    figure = f"{early:.0f} MB, then {late:.0f} MB: {drift:+.1%}"
    tell("  memory, second and last quarter", figure, "under 5 %", drift < 0.05)
    return rate


async def overload(port: int, posts: list[dict[str, str]], rate: float, seconds: float) -> None:
    """Ten times what it can do, sent whether or not answers come; then one client again."""
    free: list[Client] = []
    replies: list[Reply] = []
    source = itertools.cycle(posts)

    async def ask() -> None:
        client = free.pop() if free else Client(port)
        replies.append(await client.post("/suggest", next(source)))
        free.append(client)

    began, sent = time.perf_counter(), 0
    tasks = []
    while (passed := time.perf_counter() - began) < seconds:
        while sent < passed * rate * OVERLOAD:
            tasks.append(asyncio.create_task(ask()))
            sent += 1
        await asyncio.sleep(0.002)
    ended = time.perf_counter()
    await asyncio.gather(*tasks)
    client = Client(port)
    while True:
        reply = await client.post("/suggest", next(source))
        if reply.status == 200 and reply.seconds < 0.2:
            break
    recovered = time.perf_counter() - ended
    refused = [reply.seconds for reply in replies if reply.status == 503]
    done = [reply.seconds for reply in replies if reply.status == 200]
    other = len(replies) - len(refused) - len(done)
    tell(f"overload, {rate * OVERLOAD:.0f} requests/s for {seconds:.0f} s",
         f"{len(done):,} done, {len(refused):,} refused")  # fmt: skip
    worst = quantile(refused, 0.99)
    figure = f"p50 {quantile(refused, 0.5):.1f}, p99 {worst:.1f} ms"
    tell("  503 after", figure, "within 100 ms", worst <= 100)
    tell("  neither done nor refused", str(other), "0", other == 0)
    tell("  recovered after", f"{recovered:.2f} s", "within 5 s", recovered <= 5)


def new_article(number: int) -> dict[str, str]:
    """An article with a word nobody else wrote."""
    word = f"zyzzyva{number}x{time.time_ns()}"
    return {
        "id": word,
        "title": f"A {word} found in Quuxland",
        "text": "It was found in Quuxland by people who measure.",
        "published_at": "2020-06-01T10:00:00Z",
    }


async def searchable(port: int) -> None:
    """Seconds from the acknowledgement of an article until it is found."""
    client, waits, adding = Client(port), [], []
    for number in range(10):
        new = new_article(number)
        reply = await client.post("/news", {"articles": [new]}, KEY)
        assert reply.status == 200, reply
        adding.append(reply.seconds)
        began = time.perf_counter()
        post = {"text": f"A {new['id']} in Quuxland", "created_at": "2020-06-01T11:00:00Z"}
        while new["id"].encode() not in (await client.post("/retrieve", post)).body:
            await asyncio.sleep(0.01)
        waits.append(time.perf_counter() - began)
    client.close()
    tell("POST /news, p50 / longest", f"{quantile(adding, 0.5):.0f} / {quantile(adding, 1):.0f} ms")
    figure = f"p50 {quantile(waits, 0.5):.0f}, longest {quantile(waits, 1):.0f} ms"
    tell("searchable after", figure, "within 1 s", max(waits) <= 1)


async def killed(server: Server, news: Path, arguments: list[str]) -> Server:
    """Kill it while articles are added; start it again; look for all it acknowledged."""
    acknowledged: list[str] = []
    stop = asyncio.get_running_loop().time() + 3

    async def add() -> None:
        client = Client(server.port)
        for number in itertools.count():
            given = [new_article(number) for _ in range(5)]
            reply = await client.post("/news", {"articles": given}, KEY)
            if reply.status != 200:
                return
            acknowledged.extend(new["id"] for new in given)

    adding = asyncio.create_task(add())
    await asyncio.sleep(stop - asyncio.get_running_loop().time())
    server.kill()
    await adding
    again = await asyncio.to_thread(Server, news, arguments)
    lost = 0
    for identifier in acknowledged:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{again.port}/articles/{identifier}").close()
        except OSError:
            lost += 1
    tell(
        "kill -9 and restart: ready after",
        f"{again.started:.1f} s",
        "within 10 s",
        again.started <= 10,
    )
    tell("  acknowledged and lost", f"{lost} of {len(acknowledged):,}", "0", lost == 0)
    return again


async def measure(data: Path, folder: Path, arguments: list[str], seconds: float) -> None:
    """All figures."""
    news = await asyncio.to_thread(prepare, data, folder)
    posts = read_posts(data)
    first = Server(news, arguments)  # this one may still have to build the index
    first.kill()
    server = Server(news, arguments)
    try:
        with NewsStore(news) as store:
            tell("articles", f"{len(store):,}")
        tell("load of the machine before", f"{os.getloadavg()[0]:.1f}")
        tell("ready after", f"{server.started:.1f} s", "within 10 s", server.started <= 10)
        await one_client(server.port, posts)
        rate = await many_clients(server, posts, seconds)
        await overload(server.port, posts, rate, min(10.0, seconds))
        await searchable(server.port)
        server = await killed(server, news, arguments)
    finally:
        server.process.terminate()
        server.process.wait()


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="a folder with news.jsonl.gz and posts.jsonl.gz")
    parser.add_argument("--store", type=Path, help="where the store is kept for another run")
    parser.add_argument("--workers", default="1")
    parser.add_argument("--seconds", type=float, default=120.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.store or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        # What every request is checked for is on: the name, the rate, the key, whose page asks.
        checks = ["--rate", "10000000", "--cors", "https://example.org"]
        arguments = ["--workers", options.workers, *checks]
        asyncio.run(measure(options.data, folder, arguments, options.seconds))
    if failed:
        sys.exit(f"not kept: {', '.join(failed)}")


if __name__ == "__main__":
    main()
