"""Mastodon against `mastodon_mock`, which others wrote after Mastodon's documentation."""

import os
import sqlite3
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from bluesky_server import free_port
from following import bodies, following, name_in, rows, stored, wait_for

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "hashnews"
FOLDER = Path(os.environ.get("HASHNEWS_MASTODON_MOCK", CACHE / "mastodon_mock"))
PROGRAM = FOLDER / "bin" / "mastodon_mock"
pytestmark = pytest.mark.skipif(
    not PROGRAM.exists(), reason="needs a stand-in for Mastodon: run tools/mastodon_mock.sh"
)
SETTINGS = """
[database]
path = "{path}"
[[seed.accounts]]
username = "ann"
access_token = "ann"
[[seed.accounts]]
username = "bob"
access_token = "bob"
[[seed.accounts]]
username = "shy"
access_token = "shy"
"""


class MockServer:
    """The server in a process of its own; ann and bob want to be found, shy does not."""

    def __init__(self, folder):
        port, path = free_port(), folder / "mastodon.db"
        (folder / "settings.toml").write_text(SETTINGS.format(path=path))
        command = [PROGRAM, "serve", "--config", folder / "settings.toml", "--port", str(port)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.host = f"localhost:{port}"
        self.client = httpx.Client(base_url=f"http://{self.host}/api/v1/", trust_env=False)
        wait_for(self._is_up)
        with sqlite3.connect(path) as db:
            db.execute("UPDATE accounts SET indexable = 1 WHERE username != 'shy'")
        db.close()

    def _is_up(self):
        try:
            return self.client.get("timelines/public").status_code == 200
        except httpx.HTTPError:
            return False

    def close(self):
        self.client.close()
        self._process.kill()
        self._process.wait()

    def ask(self, method, path, user, **data):
        answer = self.client.request(
            method, path, data=data, headers={"Authorization": f"Bearer {user}"}
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, user, text, **data):
        return self.ask("POST", "statuses", user, status=text, **data)["id"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = MockServer(tmp_path_factory.mktemp("mock"))
    yield made
    made.close()


@pytest.fixture
def db(tmp_path):
    return tmp_path / "news.db"


@pytest.mark.parametrize("every", [0.3, 3600.0], ids=["pages", "stream"])
def test_a_hashtag(server, db, every):
    """By pages alone, and by a stream alone: posts come, change and go."""
    tag = f"bread{int(every)}"
    source = f"mastodon://{server.host}/tags/{tag}?insecure"
    with following(db, source, every=every):
        wait_for(lambda: rows(db, "SELECT 1 FROM followed WHERE cursor IS NOT NULL"))
        ids = []
        while not bodies(db):  # until the stream is open
            ids.append(server.post("ann", f"First #{tag}"))
            time.sleep(0.2)
        ids += [server.post("ann", f"Loaf {n} #{tag}") for n in range(4)]
        server.post("shy", f"Hidden #{tag}")
        server.post("bob", f"Private #{tag}", visibility="private")
        server.post("bob", "No hashtag")
        wait_for(lambda: f"Loaf 3 {_said(tag)}" in bodies(db))
        server.ask("DELETE", f"statuses/{ids[-1]}", "ann")
        last = 2
        if every < 1:  # the stand-in's stream calls a change by a name that Mastodon does not use
            last = "changed"
            server.ask("PUT", f"statuses/{ids[-2]}", "ann", status=f"Loaf changed #{tag}")
        loaves = [f"Loaf {n} {_said(tag)}" for n in (0, 1, last)]
        wait_for(lambda: [body for body in bodies(db) if "Loaf" in body] == sorted(loaves))
    assert not [body for body in bodies(db) if "Hidden" in body or "Private" in body]
    assert {post.user for post in stored(db).values()} == {name_in(db, f"ann@{server.host}")}


def _said(tag):
    return f"bread {tag.removeprefix('bread')}"


def test_public_list_and_account_timelines(server, db):
    number = server.ask("POST", "lists", "ann", title="Bakers")["id"]
    bob = server.ask("GET", "accounts/verify_credentials", "bob")["id"]
    server.ask("POST", f"accounts/{bob}/follow", "ann")
    server.ask("POST", f"lists/{number}/accounts", "ann", **{"account_ids[]": [bob]})
    names = {
        "public": f"mastodon://{server.host}/public?insecure",
        "local": f"mastodon://{server.host}/public?local&insecure",
        "list": f"mastodon://{server.host}/lists/{number}?insecure",
        "account": f"mastodon://{server.host}/@bob?insecure",
    }
    tokens, me = {server.host: "ann"}, {f"ann@{server.host}": "Ann"}
    with following(db, *names.values(), tokens=tokens, accounts=me):
        server.post("bob", "From a list #rye")
        mine = server.post("ann", "My own #rye")
        wait_for(lambda: {"From a list rye", "My own rye"} <= set(bodies(db)))
        count = "SELECT count(*) FROM sightings JOIN posts ON id = post WHERE body LIKE 'From%'"
        wait_for(lambda: rows(db, count) == [(4,)])
        assert len([body for body in bodies(db) if body == "From a list rye"]) == 1
        assert "Ann" in {post.user for post in stored(db).values()}
        server.ask("DELETE", f"statuses/{mine}", "ann")
        wait_for(lambda: "My own rye" not in bodies(db))
