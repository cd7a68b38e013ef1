"""Beginning and ending: asked to stop, killed, started wrongly."""

import signal
import socket
import subprocess
import sys
import threading
import time

import httpx
import pytest
from servers import HTTP, KEY, Server, article
from test_process import is_alive

from hashnews.news.store import NewsStore

POST = {"text": "Marching in Minneapolis.", "created_at": "2020-05-29T20:00:00Z"}


def started(server):
    return [event["pid"] for event in server.events if event["event"] == "started"]


@pytest.fixture
def store(sample_news, tmp_path):
    path = tmp_path / "news.db"
    with NewsStore(sample_news) as original:
        original.backup(path)
    return path


def test_asked_to_stop_it_answers_what_it_has_begun(store):
    server = Server("--news", store)
    server.ready()
    answers = []

    def keep_asking():
        with httpx.Client(base_url=server.url, timeout=30) as client:
            while True:
                try:
                    answers.append(client.post("/suggest", json=POST).status_code)
                except httpx.TransportError:
                    return  # it listens no more

    asking = [threading.Thread(target=keep_asking) for _ in range(4)]
    for thread in asking:
        thread.start()
    time.sleep(0.5)
    began = time.monotonic()
    assert server.stop(signal.SIGTERM) == 0
    assert time.monotonic() - began < 60
    for thread in asking:
        thread.join(30)
    assert set(answers) == {200}
    heard = [event["status"] for event in server.events if event["event"] == "request"]
    assert heard == answers  # what it heard it answered
    assert server.events[-1]["event"] == "stopped"
    assert not any(is_alive(pid) for pid in started(server))


def test_killed_it_loses_nothing_it_acknowledged(store):
    server = Server("--news", store, key=KEY)
    server.ready()
    acknowledged = []

    def keep_adding():
        number = 0
        while True:
            given = [article(f"{number}-{n}") for n in range(3)]
            try:
                response = server.client.post("/news", json={"articles": given}, headers=HTTP)
            except httpx.HTTPError:
                return
            assert response.status_code == 200
            acknowledged.extend(new["id"] for new in given)
            number += 1

    adding = threading.Thread(target=keep_adding)
    adding.start()
    time.sleep(1.5)
    server.process.kill()
    adding.join(30)
    server.stop()
    assert len(acknowledged) > 10
    until = time.monotonic() + 60
    while any(is_alive(pid) for pid in started(server)):
        assert time.monotonic() < until
        time.sleep(0.05)
    with Server("--news", store) as again:
        for identifier in acknowledged:
            assert again.client.get(f"/articles/{identifier}").status_code == 200
        found = {"text": "A zebra in Utopia", "created_at": "2020-06-02T00:00:00Z"}
        shown = again.client.post("/suggest", json=found).json()["articles"]
        assert shown[0]["id"].startswith("new-")
        # Started without a key, nobody may write.
        response = again.client.post("/news", json={"articles": [article(1)]}, headers=HTTP)
        assert response.status_code == 403
        assert "read only" in response.json()["error"]["message"]
    with NewsStore(store) as kept:
        assert kept.check() == []


def test_a_store_that_is_not_there_is_made_and_fills(tmp_path):
    with Server("--news", tmp_path / "new.db", key=KEY) as server:
        told = server.client.get("/ready").json()
        assert (told["articles"], told["newest"]) == (0, None)
        zebra = {"text": "A zebra in Utopia", "created_at": "2020-06-02T00:00:00Z"}
        assert server.client.post("/suggest", json=zebra).json()["articles"] == []
        server.client.post("/news", json={"articles": [article(1)]}, headers=HTTP)
        until = time.monotonic() + 60
        while not (found := server.client.post("/suggest", json=zebra).json()["articles"]):
            assert time.monotonic() < until
        assert found[0]["id"] == "new-1"


def refused(*arguments, **environment):
    command = [sys.executable, "-m", "hashnews", "serve", *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env={**environment, "PATH": ""}
    )
    told = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert len(told) == 1, done.stderr
    return done.returncode, told[0]


def test_mistakes_are_one_clear_line(tmp_path):
    code, told = refused("--port", 0, "--news", tmp_path / "none.db")
    assert code == 1
    assert "there is no such news store" in told
    code, told = refused("--port", 0, HASHNEWS_KEY="short")
    assert code == 1
    assert "at least 16 characters" in told
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, told = refused("--port", taken.getsockname()[1])
    assert code == 1
    assert "take another --port" in told
