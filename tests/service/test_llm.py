"""A service with a language model: it is asked, judged, and never in the way of others."""

import sys
import threading
import time
from pathlib import Path

import pytest
from servers import Server

sys.path.insert(0, str(Path(__file__).parents[1] / "suggest"))
from endpoints import endpoint, said

POST = {
    "text": "Marching tonight in Minneapolis for George Floyd.",
    "created_at": "2020-05-29T20:00:00Z",
}


@pytest.fixture(scope="module")
def model():
    """What the language model says, and whether it hangs."""
    state = {"says": '["#GeorgeFloyd", "#Bitcoin", "#InventedByAMachine"]', "hangs": 0.0}

    def answer(*_):
        time.sleep(state["hangs"])
        return said(state["says"])

    with endpoint(answer) as (url, asked):
        yield url, asked, state


@pytest.fixture(scope="module")
def client(model, sample_news):
    with Server(
        "--news", sample_news, "--llm", model[0], "--llm-seconds", 60, "--seconds", 120
    ) as one:
        yield one.client


def hashtags(answer):
    return [one["hashtag"] for one in answer["suggestions"]]


def named(answer):
    return [
        one["hashtag"]
        for one in answer["suggestions"]
        if "llm" in [reason["source"] for reason in one["because"]]
    ]


def test_it_is_asked_and_judged(client, model):
    _, asked, _ = model
    plain = client.post("/v1/suggest", json=POST, params={"llm": False}).json()
    assert asked == []
    assert named(plain) == []
    answer = client.post("/v1/suggest", json=POST).json()
    assert len(asked) == 1
    assert hashtags(answer) == hashtags(plain)  # what it invented is not there
    assert named(answer) == ["#GeorgeFloyd"]
    assert answer["articles"][0]["title"] in asked[0][2]["messages"][-1]["content"]
    both = client.post("/v1/suggest/batch", json={"posts": [POST, POST]}).json()["answers"]
    assert [named(one) for one in both] == [["#GeorgeFloyd"]] * 2


def test_nobody_else_waits_for_it(client, model):
    """While one request waits for a model that hangs, others are answered."""
    _, asked, state = model
    state["hangs"] = 20.0
    before = len(asked)
    waiting = threading.Thread(target=client.post, args=("/v1/suggest",), kwargs={"json": POST})
    waiting.start()
    while len(asked) == before:
        time.sleep(0.02)
    for _ in range(3):
        answer = client.post("/v1/suggest", json=POST, params={"llm": False})
        assert hashtags(answer.json())
    assert waiting.is_alive()
    state["hangs"] = 0.0
    waiting.join(120)
