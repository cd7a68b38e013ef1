"""Posts into the memory and out of it, of a real server over a real socket."""

import json
import threading
import time

import httpx
import pytest
from servers import HTTP, KEY, Server
from test_http import is_error

from hashnews.news.store import NewsStore
from hashnews.posts.table import read_posts
from hashnews.service.settings import LARGEST_NEWS

BREAD = {"text": "Fed my starter, bread tomorrow", "created_at": "2020-06-07T08:00:00Z"}


def loaf(number, **changes):
    values = {
        "id": f"at://did:plc:baker/app.bsky.feed.post/{number}",
        "text": f"Bread number {number} out of the oven, the starter did well. #sourdough",
        "created_at": f"2020-06-0{number}T07:00:00Z",
        "user": "a baker",
    }
    return {**values, **changes}


def give(http, *posts):
    answer = http.post("/v1/posts", json={"posts": posts}, headers=HTTP)
    assert answer.status_code == 200, answer.text
    return answer.json()


def suggested(http):
    answer = http.post("/suggest", json={**BREAD, "user": "a baker"}).json()
    assert "suggestions" in answer, answer
    return {s["hashtag"] for s in answer["suggestions"]}


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_what_is_remembered_is_suggested_and_what_is_deleted_is_not(http, news):
    assert "#sourdough" not in suggested(http)
    loaves = [loaf(number) for number in range(1, 5)]
    told = give(http, *loaves)
    assert told == {
        "added": 4, "known": 0, "forgotten": 0, "refused": 0, "refused_because": {},
    }  # fmt: skip
    until(lambda: "#sourdough" in suggested(http))
    with NewsStore(news) as store:
        kept = {post.id: post.body for post in read_posts(store)}
    assert [kept[post["id"]] for post in loaves] == [
        post["text"].removesuffix(" #sourdough") for post in loaves
    ]
    again = give(http, *loaves, {**loaves[0], "text": "Another text #rye"})
    assert (again["added"], again["known"]) == (0, 5)  # by id: the first stays
    for post in loaves:
        path = f"/v1/posts/{post['id']}"
        assert http.delete(path, headers=HTTP).json() == {"deleted": 1}
        is_error(http.delete(path, headers=HTTP), 404, "not_found")
    until(lambda: "#sourdough" not in suggested(http))


def test_a_post_twice_in_a_batch_counts_once_also_without_an_id(http, news):
    one = {"text": "Only once. #once", "created_at": "2020-06-02T07:00:00Z"}
    assert give(http, one, one)["added"] == 1
    assert give(http, one)["known"] == 1
    with NewsStore(news) as store:
        (identifier,) = [post.id for post in read_posts(store) if post.body == "Only once."]
    assert http.delete(f"/v1/posts/{identifier}", headers=HTTP).status_code == 200


def test_what_the_memory_does_not_take_is_counted_and_harms_no_other(http):
    told = give(
        http,
        loaf(1, id="x1", created_at="2199-01-01T00:00:00Z"),
        loaf(1, id="x2", created_at=None),
        loaf(1, id="x3", text="no hashtag at all"),
        loaf(1, id="x4", text="RT @baker: the crumb #sourdough"),
        loaf(1, id="x5", text="#fine it is"),
    )
    assert (told["added"], told["refused"], told["forgotten"]) == (1, 4, 0)
    assert told["refused_because"] == {
        "no hashtag in its author's own words": 2,
        "posted in the future": 1,
        "no created_at": 1,
    }
    assert http.delete("/v1/posts/x5", headers=HTTP).status_code == 200
    for number in range(1, 5):
        is_error(http.delete(f"/v1/posts/x{number}", headers=HTTP), 404, "not_found")


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "x"}])
def test_all_of_it_needs_the_key(http, header):
    given = {"posts": [loaf(1, id="keyless")]}
    is_error(http.post("/v1/posts", json=given, headers=header), 401, "unauthorized")
    is_error(http.delete("/v1/posts/any", headers=header), 401, "unauthorized")
    is_error(http.get("/v1/feeds", headers=header), 401, "unauthorized")
    for path in ("/v1/posts/", "/v1/posts%0A", "//v1/posts", "/v1/%70osts", "/page/../v1/posts"):
        answer = http.post(path, json=given, headers=header, follow_redirects=True)
        assert answer.status_code in (401, 404, 405), path
    is_error(http.delete("/v1/posts/keyless", headers=HTTP), 404, "not_found")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"posts": []}, 422, "invalid"),
        ({"posts": [loaf(1)] * 1001}, 422, "invalid"),
        ({"posts": [loaf(1, text="")]}, 422, "invalid"),
        ({"posts": [loaf(1, text="x" * 10_001)]}, 422, "invalid"),
        ({"posts": [loaf(1, id="i" * 201)]}, 422, "invalid"),
        ({"posts": [loaf(1, created_at="yesterday")]}, 422, "invalid"),
        ({"posts": [loaf(1, text="half a pair \ud83d #x")]}, 422, "invalid"),
        ([loaf(1)], 422, "invalid"),
        ({"posts": [loaf(1, text="x" * (LARGEST_NEWS + 1))]}, 413, "too_large"),
    ],
    ids=range(9),
)
def test_limits(http, body, status, code):
    content = json.dumps(body)
    headers = {**HTTP, "Content-Type": "application/json"}
    is_error(http.post("/v1/posts", content=content, headers=headers), status, code)


@pytest.mark.parametrize(
    "path", ["/v1/posts/a/b/%00/%F0%9F", "/v1/posts/%ff", "/v1/posts/" + "x" * 5000]
)
def test_ids_that_nobody_has(http, path):
    is_error(http.delete(path, headers=HTTP), 404, "not_found")


def test_killed_it_loses_no_post_it_acknowledged_and_keeps_none_it_deleted(tmp_path):
    path = tmp_path / "new.db"
    server = Server("--news", path, key=KEY)
    server.ready()
    kept, gone = [], []

    def keep_writing():
        for number in range(10_000):
            posts = [loaf(1, id=f"{number}-{n}") for n in range(3)]
            try:
                server.client.post("/v1/posts", json={"posts": posts}, headers=HTTP)
                kept.extend(post["id"] for post in posts[1:])
                server.client.delete(f"/v1/posts/{number}-0", headers=HTTP)
                gone.append(f"{number}-0")
            except httpx.HTTPError:
                return

    writing = threading.Thread(target=keep_writing)
    writing.start()
    until(lambda: len(gone) > 5)
    server.process.kill()
    writing.join(60)
    server.stop()
    with NewsStore(path) as store:
        there = {post.id for post in read_posts(store)}
        assert store.check() == []
    assert set(kept) <= there
    assert not set(gone) & there


def test_read_only_it_takes_nothing(tmp_path):
    NewsStore(tmp_path / "n.db", "write").close()
    with Server("--news", tmp_path / "n.db") as server:
        answer = server.client.post("/v1/posts", json={"posts": [loaf(1)]}, headers=HTTP)
        assert "read only" in is_error(answer, 403, "forbidden")["message"]
        answer = server.client.delete("/v1/posts/x", headers=HTTP)
        is_error(answer, 403, "forbidden")
        told = server.client.get("/v1/feeds").json()  # no key, nothing to keep it from
        assert told == {"fetching": False, "every_seconds": 900.0, "feeds": []}
