"""Bytes that nobody should send, and a store that goes away for a while: the service goes on."""

import os
import random
import shutil
import sys
import time
from pathlib import Path

import pytest
from servers import HTTP, KEY, Server, article

sys.path.append(str(Path(__file__).parent.parent))
from fuzz_http import http as hostile


def test_no_request_ends_otherwise_than_it_may(server):
    port = int(server.url.rpartition(":")[2])
    outcomes = set()
    for seed in range(150):
        try:
            outcomes.add(hostile(random.Random(seed), port))
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
    assert {"200", "400", "422"} <= outcomes
    assert server.client.get("/ready").status_code == 200
    assert not [event for event in server.events if event["event"] in ("failed", "replacing")]


def test_whoever_asks_for_a_websocket_gets_an_answer_as_any_other(server):
    """It was an internal error, and a line in the log."""
    asked = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
             "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}  # fmt: skip
    assert server.client.get("/health", headers=asked).status_code == 200
    assert server.client.get("/nowhere", headers=asked).status_code == 404


def added(server, number):
    answer = server.client.post("/news", json={"articles": [article(number)]}, headers=HTTP)
    return answer.status_code, answer.json().get("added")


def seen(server, number):
    return server.client.get(f"/articles/new-{number}").status_code == 200


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.2)
    return condition()


@pytest.mark.parametrize("how", ["moved away and back", "replaced by a copy"])
def test_a_store_that_moved_and_came_back_is_picked_up(sample_news, tmp_path, how):
    """Such a store was called read-only, and stayed so when it was back."""
    path = tmp_path / "news.db"
    shutil.copyfile(sample_news, path)
    with Server("--news", path, key=KEY) as server:
        assert added(server, 1) == (200, 1)
        away = path.with_name("away.db")
        os.rename(path, away)
        status, _ = added(server, 2)
        assert status == 503  # what cannot be kept is not acknowledged
        if how == "replaced by a copy":
            shutil.copyfile(away, path)
            away.unlink()
        else:
            os.rename(away, path)
        assert until(lambda: added(server, 3)[0] == 200)
        assert until(lambda: seen(server, 3))
        assert seen(server, 1)
        assert server.client.get("/ready").status_code == 200
        post = {"text": "zebra of Utopia", "created_at": "2020-06-01T20:00:00Z"}

        def found():
            answer = server.client.post("/retrieve", json=post)
            return answer.status_code == 200 and {"new-1", "new-3"} <= {
                article["id"] for article in answer.json()["articles"]
            }

        assert until(found)
