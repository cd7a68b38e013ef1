"""What anybody can send to the service without a key: odd text, foreign names, half requests."""

import asyncio
import socket
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime

import httpx
import pytest
from servers import HTTP, article
from starlette.datastructures import Headers

from hashnews.service import connection
from hashnews.service.connection import BoundedProtocol
from hashnews.service.names import not_for_us
from hashnews.service.schemas import Ready

HALF = "\\ud800"
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("field", ["id", "user", "text", "collection"])
def test_half_a_surrogate_pair_is_refused_at_the_border(http, field):
    """One request with half a pair as user or id: 500, and new news stayed unseen."""
    fields = {"id": '"1"', "text": '"x"', "user": '"u"', "collection": '"c"', field: f'"a{HALF}"'}
    body = "{" + ",".join(f'"{name}":{value}' for name, value in fields.items()) + "}"
    for path in ("/suggest", "/retrieve"):
        answer = http.post(path, content=body, headers=JSON)
        assert answer.status_code == 422, (path, answer.text)
        assert "not valid Unicode" in answer.text
    answer = http.post("/suggest", content=f'{{"text":"x","entities":["{HALF}"]}}', headers=JSON)
    assert answer.status_code == 422


@pytest.mark.parametrize("field", ["id", "title", "text", "url", "source"])
def test_so_it_is_in_articles(http, field):
    body = str(article(1) | {field: "@"}).replace("'", '"').replace("@", f"a{HALF}")
    answer = http.post("/news", content='{"articles":[' + body + "]}", headers={**HTTP, **JSON})
    assert (answer.status_code, "not valid Unicode" in answer.text) == (422, True), answer.text


@pytest.mark.parametrize(
    "changes",
    [{"url": "https://e.org/" + "x" * 2000}, {"source": "x" * 201},
     {"published_at": "0002-01-01T00:00:00+23:59"}, {"published_at": "2201-01-01T00:00:00Z"}],
    ids=str,
)  # fmt: skip
def test_articles_that_would_harm_are_refused_and_ready_stays_well(http, changes):
    """One article of the year 2, which is the year 1 in UTC, made `/ready` answer 500 for good."""
    answer = http.post("/news", json={"articles": [article(1, **changes)]}, headers=HTTP)
    assert answer.status_code == 422
    assert http.get("/ready").status_code == 200


def test_ready_tells_of_old_stores_whatever_years_they_hold():
    old = datetime(1, 1, 1, tzinfo=UTC)
    told = Ready(
        status="ready", version="1", articles=1, posts=0, oldest=old, newest=old, sample=False,
        llm=False,
    )  # fmt: skip
    assert '"0001-01-01T00:00:00Z"' in told.model_dump_json()


def test_a_batch_is_bounded_by_its_characters(http):
    posts = [{"text": "x " * 4_000} for _ in range(9)]
    answer = http.post("/suggest/batch", json={"posts": posts})
    assert (answer.status_code, "64,000 characters" in answer.text) == (422, True)
    posts = [{"text": "x " * 5_000, "id": str(n)} for n in range(101)]
    answer = http.post("/v1/posts", json={"posts": posts}, headers=HTTP)
    assert (answer.status_code, "1,000,000 characters" in answer.text) == (422, True)
    articles = [article(n, text="x " * 500_000) for n in range(5)]
    answer = http.post("/news", json={"articles": articles}, headers=HTTP)
    assert (answer.status_code, "4,000,000 characters" in answer.text) == (422, True)


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("127.0.0.1:8000", True), ("[::1]:8000", True), ("localhost", True), ("LOCALHOST:1", True),
        ("hashnews:8000", True), ("a.localhost", True), ("192.168.1.5", True),
        ("news.example.org", True), ("News.Example.org.:443", True),
        ("evil.attacker.example", False), ("evil.example:8000", False), ("", False),
        ("127.0.0.1.evil.example", False), ("localhost.evil.example", False), ("[::1", False),
        ("evil.example@127.0.0.1", True), ("127.0.0.1@evil.example", False),
    ],
)  # fmt: skip
def test_only_our_own_names_are_answered(host, allowed):
    """Any name in `Host` got full answers: a page whose name is rebound could read them."""
    refused = not_for_us(Headers({"host": host}), "GET", {"127.0.0.1", "news.example.org"})
    assert (refused is None) is allowed
    assert not_for_us(Headers({"host": host}), "GET", {"*"}) is None


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True), ({"sec-fetch-site": "same-origin"}, True), ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "cross-site"}, False), ({"sec-fetch-site": "same-site"}, False),
        ({"origin": "http://127.0.0.1:8000"}, True), ({"origin": "https://evil.example"}, False),
        ({"origin": "null"}, False),
        ({"origin": "https://a.example", "sec-fetch-site": "same-origin"}, True),  # by a proxy
    ],
)  # fmt: skip
def test_a_page_of_another_site_may_not_post_or_delete(headers, allowed):
    given = Headers({"host": "127.0.0.1:8000", **headers})
    for method in ("POST", "DELETE"):
        assert (not_for_us(given, method, {"127.0.0.1"}) is None) is allowed
    assert not_for_us(given, "GET", {"127.0.0.1"}) is None


def test_a_foreign_name_is_refused_before_anything_is_read(http):
    answer = http.get("/ready", headers={"Host": "evil.attacker.example"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (421, "misdirected")
    answer = http.post("/suggest", json={"text": "x"}, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403


# ----- connections -----


async def app(scope, receive, send):
    if scope["path"] == "/body":
        while (await receive()).get("more_body"):
            pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


def served(work):
    """Run `work(port)` in a thread against uvicorn with our protocol."""
    import uvicorn

    async def run():
        listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(app, lifespan="off", http=BoundedProtocol, log_config=None)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server._serve([listener]))
        try:
            return await asyncio.to_thread(work, listener.getsockname()[1])
        finally:
            server.should_exit = True
            await serving

    return asyncio.run(run())


@pytest.mark.parametrize("sent", [b"", b"GET /", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "])
@pytest.mark.parametrize("earlier", [0, 2])
def test_half_a_head_is_given_up_in_time(monkeypatch, sent, earlier):
    """500 connections with half a head were open for ever."""
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.5)

    def work(port):
        with socket.create_connection(("127.0.0.1", port), 60) as client:
            for _ in range(earlier):
                client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                whole = b""
                while not whole.endswith(b"0\r\n\r\n"):
                    whole += client.recv(9999)
            client.sendall(sent)
            if earlier and not sent:
                return b"408"  # between two requests it may be silent for longer
            answer = b""
            while part := client.recv(9999):
                answer += part
            return answer

    assert b"408" in served(work)


def test_a_silent_pause_between_requests_is_no_half_head(monkeypatch):
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.3)

    def work(port):
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
            for _ in range(2):
                assert client.get("/").text == "ok"
                time.sleep(0.8)
            return client.get("/").text

    assert served(work) == "ok"


@pytest.mark.parametrize("path", ["/", "/body"])
@pytest.mark.parametrize("pause", [0, 0.5])
def test_a_body_that_is_no_http_ends_its_connection_and_nothing_else(caplog, path, pause):
    """Who answered such a request failed, with a traceback in the log for each."""

    def work(port):
        with socket.create_connection(("127.0.0.1", port), 60) as client, suppress(ConnectionError):
            head = f"POST {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            client.sendall(head.encode() + b"no number\r\n" * (not pause))
            time.sleep(pause)
            client.sendall(b"no number\r\n" * bool(pause))
            answer = b""
            while part := client.recv(9999):
                answer += part
            return answer
        return b""

    answer = served(work)
    if path == "/body" or not pause:
        assert answer.startswith(b"HTTP/1.1 400")
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_connections_leave_room_for_our_own_files():
    """With fewer files than connections a flood of them filled the log, 2,048 lines a second."""
    code = "import hashnews.service.connection as c; print(c.MOST_CONNECTIONS)"
    for limit, most in (("-n 200", 150), ("-n 1024", 768), ("-S -n 200", 800)):
        command = f"ulimit {limit}; exec {sys.executable} -c '{code}'"
        told = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
        assert int(told.stdout) == most


def test_more_connections_than_there_is_room_for_are_closed_at_once(monkeypatch):
    monkeypatch.setattr(connection, "MOST_CONNECTIONS", 5)

    def work(port):
        held = [socket.create_connection(("127.0.0.1", port), 60) for _ in range(5)]
        time.sleep(0.5)
        more = socket.create_connection(("127.0.0.1", port), 60)
        with more, suppress(ConnectionError):
            assert more.recv(1) == b""
        for one in held:
            one.close()
        time.sleep(0.5)
        return httpx.get(f"http://127.0.0.1:{port}/").text

    assert served(work) == "ok"
