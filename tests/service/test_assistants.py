"""`hashnews mcp`, asked by a real client over standard input and over HTTP."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx
import pytest

pytestmark = pytest.mark.extra("mcp")
mcp = pytest.importorskip("mcp", reason="needs hashnews[mcp]")
from mcp import Client, StdioServerParameters  # noqa: E402
from mcp.client.stdio import stdio_client  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402
from servers import article  # noqa: E402

from hashnews.news.ingest import add_articles  # noqa: E402
from hashnews.news.store import NewsStore  # noqa: E402
from hashnews.news.summary import Refusals, Summary  # noqa: E402
from hashnews.records import Article, Post  # noqa: E402
from hashnews.suggest.pipeline import HashNews  # noqa: E402
from hashnews.text.entities import shipped_finder  # noqa: E402

TOOLS = {"suggest_hashtags", "search_news", "rising", "explain"}
TEXT, AT = "Marching tonight in Minneapolis for George Floyd.", "2020-05-29T20:00:00Z"
KEY = "a key of the tests, long enough"


@pytest.fixture(scope="module")
def store(sample_news, tmp_path_factory):
    path = tmp_path_factory.mktemp("assistants") / "news.db"
    with NewsStore(sample_news) as kept:
        kept.backup(path)
    return path


@pytest.fixture(scope="module")
def expected(sample_news):
    with HashNews(sample_news) as hashnews:
        answer = hashnews.suggest(Post.model_validate({"text": TEXT, "created_at": AT}))
    return [one.hashtag for one in answer.suggestions]


def command(store, *more):
    return [sys.executable, "-m", "hashnews", "mcp", "--news", str(store), *map(str, more)]


def over_stdio(store, work):
    """Run `work(client)` with a server as an assistant starts it."""
    program, *arguments = command(store)

    async def session():
        started = StdioServerParameters(command=program, args=arguments, env={**os.environ})
        async with Client(stdio_client(started)) as client:
            return await work(client)

    return asyncio.run(session())


async def call(client, tool, **arguments):
    told = await client.call_tool(tool, arguments)
    assert not told.is_error, told
    assert json.loads(told.content[0].text) == told.structured_content
    return told.structured_content


async def conversation(client):
    """All tools, each once."""
    listed = (await client.list_tools()).tools
    assert {tool.name for tool in listed} == TOOLS
    for tool in listed:
        assert tool.description
        assert tool.output_schema
        assert tool.annotations.read_only_hint
        for about in tool.input_schema["properties"].values():
            assert about["description"], tool.name
    told = {
        "suggested": await call(client, "suggest_hashtags", text=TEXT, at=AT),
        "nothing": await call(client, "suggest_hashtags", text="qwrt zxcv", at=AT),
        "found": await call(client, "search_news", words='"George Floyd" murder', n=3),
        "early": await call(client, "search_news", words="George Floyd", before="2020-05-20"),
        "rising": await call(client, "rising", at=AT, n=3),
        "fits": await call(client, "explain", text=TEXT, at=AT, hashtag="#GeorgeFloyd"),
        "not": await call(client, "explain", text=TEXT, at=AT, hashtag="#Bundesliga"),
        "given": await call(client, "explain", text=f"{TEXT} #BLM now", at=AT, hashtag="#blm"),
    }
    wrong = await client.call_tool("suggest_hashtags", {"text": TEXT, "at": "yesterday"})
    assert wrong.is_error
    assert "is not a time" in wrong.content[0].text
    return told


def check(told, expected):
    assert [tag["hashtag"] for tag in told["suggested"]["hashtags"]] == expected
    assert all(tag["because"] for tag in told["suggested"]["hashtags"])
    assert all(one["published_at"] < AT for one in told["suggested"]["articles"])
    assert told["nothing"]["hashtags"] == []
    assert told["nothing"]["note"]
    assert any("murder" in one["title"] for one in told["found"]["articles"])
    assert told["early"]["articles"] == []
    assert told["rising"]["entities"][0]["entity"] == "george floyd"
    assert told["fits"]["why_not"] is None
    assert told["fits"]["because"]
    assert re.search(r"\d+ % is needed|says it", told["not"]["why_not"].replace("%", " %"))
    assert told["given"]["why_not"] == "the post has it already"


def test_over_standard_input(store, expected):
    check(over_stdio(store, conversation), expected)


def test_what_comes_in_is_found(store):
    async def work(client):
        before = await call(client, "search_news", words="zebra Utopia")
        with NewsStore(store, "write") as open_store:
            given = [Article.model_validate(article(1))]
            add_articles(open_store, shipped_finder(), given, Refusals(Summary()))
        asked = {"text": "A zebra in Utopia!", "at": "2020-06-02T00:00:00Z"}
        return before, await call(client, "suggest_hashtags", **asked)

    before, after = over_stdio(store, work)
    assert before["articles"] == []
    assert "new-1" in {one["id"] for one in after["articles"]}


@pytest.fixture(scope="module")
def address(store):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    environment = {**os.environ, "HASHNEWS_READ_KEY": KEY}
    process = subprocess.Popen(command(store, "--http", "--port", port), env=environment)
    url = f"http://127.0.0.1:{port}/mcp"
    until = time.monotonic() + 300
    while True:
        assert process.poll() is None
        assert time.monotonic() < until
        try:
            httpx.get(url, timeout=60)
            break
        except httpx.ConnectError:
            time.sleep(0.1)
    yield url
    process.terminate()
    process.wait(60)


def test_over_http(address, expected):
    import httpx2  # which the client of mcp is made with

    async def session():
        headers = {"Authorization": f"Bearer {KEY}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as carrier,
            Client(streamable_http_client(address, http_client=carrier)) as client,
        ):
            return await conversation(client)

    check(asyncio.run(session()), expected)


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    },
}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Host": "evil.attacker.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_who_may_ask_over_http(address, headers, status):
    kind = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {KEY}"}
    answer = httpx.post(address, json=HELLO, headers={**kind, **headers}, timeout=60)
    assert answer.status_code == status, answer.text


def test_half_a_request_over_http_is_given_up_in_time(address):
    """Half a head, and half a body, were waited for for ever."""
    parts = urlsplit(address)
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {KEY}\r\n"
    halves = (head, f"{head}Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{{")
    with ExitStack() as stack:
        clients = []
        for half in halves:
            there = socket.create_connection((parts.hostname, parts.port), 60)
            clients.append(stack.enter_context(there))
            clients[-1].sendall(half.encode())
        for client in clients:
            assert client.recv(9999).startswith(b"HTTP/1.1 408 ")


def test_a_request_over_http_is_bounded_and_never_a_websocket(address):
    headers = {"Authorization": f"Bearer {KEY}"}
    large = httpx.post(address, content=b" " * 300_000, headers=headers, timeout=60)
    assert large.status_code == 413
    asked = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
             "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}  # fmt: skip
    assert httpx.get(address, headers=asked, timeout=60).status_code == 401  # it asks for the key


def test_without_the_extra_one_line_says_so(monkeypatch):
    from click.testing import CliRunner

    from hashnews.cli import main

    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.delitem(sys.modules, "hashnews.service.assistants", raising=False)
    done = CliRunner().invoke(main, ["mcp"])
    assert done.exit_code == 1
    assert "pip install 'hashnews[mcp]'" in done.output
