"""`hashnews serve --fetch`: feeds flow, whatever dies, and nothing else leaves the machine."""

import os
import signal
import subprocess
import sys
import time

import pytest
from hostile_mastodon import MastodonServer, status
from newsstand import newsstand, rss
from servers import HTTP, KEY, Server
from test_process import is_alive
from test_stop import refused

from hashnews.news.feed_lists import ListedFeed
from hashnews.news.own_feeds import add_feeds
from hashnews.news.store import NewsStore
from hashnews.posts.networks.events import FollowSettings
from hashnews.posts.networks.sources import add_source, forget_source, pause_source
from hashnews.posts.table import read_posts

# Read by every Python of the process tree before anything else: notes where each one connects to.
WATCH = """
import os, sys

def note(event, values):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        if not isinstance(values[1], tuple):
            return  # a name in the file system, by which our processes meet, or connected before
        line = f"{event} {values[1]!r}\\n"
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        line = f"lookup {values[0]!r}\\n"
    else:
        return
    file = os.open(os.environ["HASHNEWS_WATCHED"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, line.encode())
    os.close(file)

sys.addaudithook(note)
"""
USUAL_HEADERS = {"Host", "Accept", "Accept-Encoding", "Connection", "User-Agent",
                 "If-None-Match", "If-Modified-Since"}  # fmt: skip


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """What the processes started from here connected to and looked up, line by line."""
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH)
    before = os.environ.get("PYTHONPATH")
    paths = [str(tmp_path / "watch"), *([before] if before else [])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    log = tmp_path / "watched"
    monkeypatch.setenv("HASHNEWS_WATCHED", str(log))
    elsewhere = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect"
    subprocess.run([sys.executable, "-c", f"{elsewhere}(('127.0.0.9', 9))"], check=True)
    assert log.read_text() == "socket.connect ('127.0.0.9', 9)\n"  # it does watch
    log.unlink()
    return log


def follow(db, *urls):
    with NewsStore(db, "write") as store:
        add_feeds(store, [ListedFeed(url) for url in urls])


def test_feeds_flow_whatever_dies_and_nothing_else_leaves_the_machine(tmp_path, watched):
    db = tmp_path / "n.db"
    with newsstand() as stand:
        stand["/a"], stand["/b"], stand["/c"] = rss(1), rss(2, title="B"), rss(3, title="C")
        follow(db, f"{stand.url}/a", f"{stand.url}/gone")
        server = Server("--news", db, "--fetch", "--every", "1s", "--allow-private", key=KEY)
        server.ready()

        def states():
            told = server.client.get("/v1/feeds", headers=HTTP).json()
            assert (told["fetching"], told["every_seconds"]) == (True, 1.0)
            return {feed["url"].removeprefix(stand.url): feed for feed in told["feeds"]}

        def until(condition):
            end = time.monotonic() + 90
            while not condition():
                assert time.monotonic() < end, states()
                time.sleep(0.1)

        def articles():
            return server.client.get("/ready").json()["articles"]

        until(lambda: articles() == 1)
        until(lambda: states()["/gone"]["state"] == "waiting")
        feeds = states()
        assert (feeds["/a"]["title"], feeds["/a"]["articles"]) == ("The Daily Test", 1)
        assert feeds["/gone"]["note"] == "the server answered 404"
        asked = {"text": "A secret about Number 1 in Paris", "created_at": "2020-06-03T00:00:00Z"}
        found = server.client.post("/suggest", json={**asked, "user": "a secret name"}).json()
        assert found["articles"][0]["source"] == "The Daily Test"

        stand["/a"] = rss(1, 4)  # news in a feed
        until(lambda: articles() == 2)
        follow(db, f"{stand.url}/b")  # a feed added by another program
        until(lambda: articles() == 3)

        (first,) = [e["pid"] for e in server.events if e.get("process") == "feeds" and "pid" in e]
        os.kill(first, signal.SIGKILL)  # the process that fetches
        follow(db, f"{stand.url}/c")
        until(lambda: articles() == 4)
        memory = server.client.get("/metrics").text
        assert 'hashnews_memory_bytes{process="feeds"}' in memory
        assert 'hashnews_process_restarts_total{process="feeds"} 1.0' in memory
        for event in server.events:
            assert "secret" not in str(event)
        pids = [event["pid"] for event in server.events if event["event"] == "started"]
        assert server.stop() == 0
        assert not any(is_alive(pid) for pid in pids)

        port = int(stand.url.rpartition(":")[2])
        assert set(watched.read_text().splitlines()) == {
            f"socket.connect ('127.0.0.1', {port})",
            "lookup '127.0.0.1'",
        }
        for request in stand.asked:
            assert (request.method, request.body) == ("GET", b"")
            assert request.path in {"/a", "/b", "/c", "/gone"}
            assert set(request.headers) <= USUAL_HEADERS
            assert "secret" not in str(request)
        assert stand.paths().count("/gone") == 1  # it waits after its failure
    with NewsStore(db) as store:
        assert store.check() == []
        titles = {stored.article.title: stored.article.source for stored in store.read()}
    assert titles == {
        "Title 1": "The Daily Test", "Title 4": "The Daily Test", "Title 2": "B", "Title 3": "C",
    }  # fmt: skip


def test_without_fetch_nothing_leaves_the_machine_at_all(tmp_path, watched):
    with newsstand() as stand:
        follow(tmp_path / "n.db", f"{stand.url}/a")
        with Server("--news", tmp_path / "n.db", key=KEY) as server:
            told = server.client.get("/v1/feeds", headers=HTTP).json()
            assert (told["fetching"], told["feeds"][0]["state"]) == (False, "new")
            server.client.post("/suggest", json={"text": "A secret"})
        assert stand.asked == []
    assert not watched.exists()


def test_fetching_needs_a_store(tmp_path):
    here = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    code, told = refused("--port", 0, "--fetch", **here)
    assert (code, "there is no news.db to fetch into" in told) == (1, True)
    code, told = refused("--port", 0, "--fetch", "--news", tmp_path / "no" / "n.db", **here)
    assert code == 1
    assert "cannot be opened" in told


def test_networks_flow_are_paused_and_survive_a_kill(tmp_path, watched):
    db = tmp_path / "n.db"
    network = MastodonServer()
    network.statuses = {1: status(1)}

    def change(what, *values):
        with NewsStore(db, "write") as store:
            return what(store, *values)

    def posts():
        with NewsStore(db) as store:
            return len(list(read_posts(store)))

    def until(condition):
        end = time.monotonic() + 90
        while not condition():
            assert time.monotonic() < end, server.lines
            time.sleep(0.1)

    server = Server("--news", db, "--fetch", "--allow-private", key=KEY)
    server.ready()
    quick = FollowSettings(every=0.3, allow_private=True)
    change(add_source, network.source, quick)  # by another program, as the page does
    until(lambda: posts() == 1)
    post = {"text": "Bread is out", "created_at": "2026-11-05T00:00:00Z"}
    until(lambda: "sourdough" in server.client.post("/suggest", json=post).text.lower())

    network.statuses[2] = status(2)
    until(lambda: posts() == 2)
    del network.statuses[2]  # deleted there
    until(lambda: posts() == 1)

    change(pause_source, network.source)
    time.sleep(3)
    asked = len(network.requests)
    network.statuses[3] = status(3)
    time.sleep(3)
    assert (len(network.requests), posts()) == (asked, 1)
    change(pause_source, network.source, False)
    until(lambda: posts() == 2)

    (pid,) = [e["pid"] for e in server.events if e.get("process") == "networks" and "pid" in e]
    os.kill(pid, signal.SIGKILL)
    network.statuses[4] = status(4)
    until(lambda: posts() == 3)
    assert change(forget_source, network.source) == 3
    until(lambda: posts() == 0)
    pids = [event["pid"] for event in server.events if event["event"] == "started"]
    assert server.stop() == 0
    assert not any(is_alive(pid) for pid in pids)
    network.close()
    port = int(network.host.rpartition(":")[2])
    assert set(watched.read_text().splitlines()) == {
        f"socket.connect ('127.0.0.1', {port})",
        "lookup '127.0.0.1'",
    }
    assert {method for method, _, _ in network.requests} <= {
        "/robots.txt", "/api/v1/timelines/tag/bread", "/api/v1/streaming/hashtag",
        "/api/v1/statuses/2",
    }  # fmt: skip
