"""Findings about a running service, each as one question."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
from findings_parts import added, article
from servers import KEY, Server

JSON = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}


def m1(url: str) -> bool:
    """Half a surrogate pair is refused."""
    body = '{"text":"x","user":"a\\ud800"}'
    return httpx.post(f"{url}/suggest", content=body, headers=JSON, timeout=60).status_code == 422


def m2(url: str) -> bool:
    """Another name in `Host` gets no answer."""
    answer = httpx.get(f"{url}/ready", headers={"Host": "evil.attacker.example"}, timeout=60)
    return answer.status_code == 421


def m3(url: str) -> bool:
    """Half a head is given up in time."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 25) as client, suppress(TimeoutError):
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        client.recv(100)
        return True
    return False


def m9(url: str) -> bool:
    """A batch of dear posts is refused before work begins."""
    posts = [{"text": " ".join("#" + "abcdefghij"[n % 10] * 139 for n in range(70))}] * 32
    answer = httpx.post(f"{url}/suggest/batch", json={"posts": posts}, headers=JSON, timeout=120)
    return answer.status_code == 422


def m4(url: str) -> bool:
    """An article of the year 2 is refused, and `/ready` stays well."""
    bad = {"articles": [article(1, published_at="0002-01-01T00:00:00+23:59")]}
    first = httpx.post(f"{url}/news", json=bad, headers=JSON, timeout=60).status_code
    time.sleep(3)
    ready = httpx.get(f"{url}/ready", timeout=60).status_code
    return (first, ready) == (422, 200)


def low_url(url: str) -> bool:
    """The length of an address is bounded."""
    bad = {"articles": [article(1, url="https://e.org/" + "x" * 100_000)]}
    return httpx.post(f"{url}/news", json=bad, headers=JSON, timeout=60).status_code == 422


def m9_others(url: str) -> bool:
    """A batch that is allowed does not hold up the others."""
    posts = [{"text": " ".join(f"#{chr(97 + m % 26) * 20}{n}" for m in range(70))}
             for n in range(32)]  # fmt: skip
    done: dict[str, float] = {}

    def ask(name: str, path: str, body: object) -> None:
        httpx.post(f"{url}/{path}", json=body, headers=JSON, timeout=120)
        done[name] = time.monotonic()

    batch = threading.Thread(target=ask, args=("batch", "suggest/batch", {"posts": posts}))
    batch.start()
    time.sleep(0.3)
    ask("one", "suggest", {"text": "Storm in Paris"})
    batch.join()
    return done["one"] < done["batch"]


SERVED = (m1, m2, m3, low_url, m9, m9_others, m4)


# ----- each with a service of its own -----


def m11(folder: Path) -> bool:
    """After a suggester's death the other one answers, at once."""
    with Server("--news", added(folder), "--workers", "2", key=KEY) as server:
        started = [event for event in server.events if event["event"] == "started"]
        pids = [event["pid"] for event in started if event["process"].startswith("suggest")]
        os.kill(pids[0], signal.SIGKILL)
        posts = [{"text": f"Storm {n} in Paris"} for n in range(10)]
        asked = [server.client.post("/suggest", json=post) for post in posts]
    return all(answer.status_code == 200 for answer in asked)


def low_moved(folder: Path) -> bool:
    """A store that moved, and was put back as a copy, is picked up."""
    store = added(folder)
    away = folder / "away.db"

    def tell(server: Server, number: int) -> int:
        body = {"articles": [article(number, title=f"News {number}")]}
        return server.client.post("/news", json=body, headers=JSON).status_code

    with Server("--news", store, key=KEY) as server:
        store.rename(away)
        while_away = tell(server, 11)
        shutil.copyfile(away, store)
        end = time.monotonic() + 30
        while (back := tell(server, 12)) != 200 and time.monotonic() < end:
            time.sleep(1)
        return while_away != 200 and back == 200


APART = (m11, low_moved)
