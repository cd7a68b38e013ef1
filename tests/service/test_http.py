"""The endpoints, of a real server over a real socket."""

import re
import socket
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from servers import HTTP, article

from hashnews.index.folder import NewsIndex
from hashnews.news.store import NewsStore
from hashnews.records import Post, parse_time
from hashnews.retrieve.trends import trends
from hashnews.suggest.pipeline import HashNews

FLOYD = {
    "text": "Marching tonight in Minneapolis for George Floyd.",
    "created_at": "2020-05-29T20:00:00Z",
}
ZEBRA = {"text": "Did you see the zebra in Utopia?", "created_at": "2020-06-02T00:00:00Z"}


@pytest.fixture(scope="module")
def pipeline(sample_news):
    with HashNews(sample_news) as made:
        yield made


def is_error(response, status, code):
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert set(error) <= {"code", "message", "request_id", "details"}
    assert error["code"] == code
    assert error["request_id"] == response.headers["x-request-id"]
    return error


def test_suggest_is_what_the_pipeline_says(http, pipeline):
    answer = http.post("/suggest", json=FLOYD).json()
    expected = pipeline.suggest(Post.model_validate(FLOYD)).model_dump(mode="json")
    assert [s["hashtag"] for s in answer["suggestions"]] == [
        s["hashtag"] for s in expected["suggestions"]
    ]
    assert answer["suggestions"]
    assert [a["id"] for a in answer["articles"]] == [a["id"] for a in expected["articles"]]
    assert answer["post"]["text"] == FLOYD["text"]
    assert set(answer) == {"post_id", "post", "suggestions", "articles", "context", "timings_ms"}


def test_how_many_and_how_good(http):
    every = http.post("/suggest", json=FLOYD, params={"n": 50}).json()["suggestions"]
    few = http.post("/suggest", json=FLOYD, params={"n": 2}).json()["suggestions"]
    assert [s["hashtag"] for s in few] == [s["hashtag"] for s in every[:2]]
    least = every[1]["score"] - 0.0005  # scores are shown rounded
    good = http.post("/suggest", json=FLOYD, params={"n": 50, "min_score": least}).json()
    assert [s["hashtag"] for s in good["suggestions"]] == [
        s["hashtag"] for s in every if s["score"] >= least
    ]


def test_a_batch_is_its_posts_one_by_one(http):
    posts = [FLOYD, ZEBRA, {**FLOYD, "created_at": "2020-05-21"}]
    batch = http.post("/suggest/batch", json={"posts": posts}).json()["answers"]
    for answer, post in zip(batch, posts, strict=True):
        alone = http.post("/suggest", json=post).json()
        for part in ("post", "articles", "context"):
            assert answer[part] == alone[part]
        shown = [(s["hashtag"], round(s["score"], 4)) for s in answer["suggestions"]]
        assert shown == [(s["hashtag"], round(s["score"], 4)) for s in alone["suggestions"]]


def test_retrieve_is_what_the_retriever_says(http, pipeline):
    found = http.post("/retrieve", json=FLOYD).json()
    answer = pipeline.suggest(Post.model_validate(FLOYD))
    assert [a["id"] for a in found["articles"]] == [a.id for a in answer.articles]
    assert [word for word, _ in found["context"]] == [word for word, _ in answer.context]
    assert found["post_id"] == answer.post.id


def test_nothing_of_the_future(http, sample_news):
    with NewsStore(sample_news) as store:
        times = {stored.article.id: stored.article.published_at for stored in store.read()}
    for day in range(21, 32):
        post = {**FLOYD, "created_at": f"2020-05-{day}T12:00:00Z"}
        found = http.post("/retrieve", json=post).json()["articles"]
        now = parse_time(post["created_at"], "start")
        assert all(times[a["id"]] < now for a in found)


def test_trends_are_what_the_index_says(http, sample_news):
    at = "2020-05-29T20:00:00Z"
    told = http.get("/trends", params={"at": at, "n": 5}).json()
    with NewsStore(sample_news) as store:
        expected = trends(NewsIndex.open(store), parse_time(at, "start"), 5)
    assert [(t["entity"].lower(), t["counts"]) for t in told["trends"]] == [
        (trend.entity, trend.counts) for trend in expected
    ]
    assert told["trends"][0]["entity"] == "George Floyd"
    assert told["days"][0] == "2020-05-22"
    assert told["days"][-1] == "2020-05-29"
    assert http.get("/trends").json()["trends"] == []  # now is years later


def test_articles(http, sample_news):
    with NewsStore(sample_news) as store:
        expected = store.get("s001")
    assert http.get("/articles/s001").text == expected.to_json()
    is_error(http.get("/articles/none"), 404, "not_found")
    is_error(http.get("/articles/a/b/%00/%F0%9F"), 404, "not_found")


def test_new_articles_are_found_soon(http):  # within a second: benchmarks/service.py
    assert all(a["id"] != "new-1" for a in http.post("/retrieve", json=ZEBRA).json()["articles"])
    added = http.post("/news", json={"articles": [article(1)]}, headers=HTTP)
    assert added.json() == {
        "added": 1, "known": 0, "known_by": {}, "refused": 0, "refused_because": {},
    }  # fmt: skip
    until = time.monotonic() + 60
    while "new-1" not in {a["id"] for a in http.post("/suggest", json=ZEBRA).json()["articles"]}:
        assert time.monotonic() < until
        time.sleep(0.02)
    before = {**ZEBRA, "created_at": "2020-06-01T10:00:00Z"}
    assert all(a["id"] != "new-1" for a in http.post("/suggest", json=before).json()["articles"])
    again = http.post("/news", json={"articles": [article(1)]}, headers=HTTP)
    assert (again.json()["added"], again.json()["known"]) == (0, 1)


def test_what_another_program_adds_is_found_too(http, news):
    from hashnews.news.ingest import add_articles
    from hashnews.news.summary import Refusals, Summary
    from hashnews.records import Article
    from hashnews.text.entities import shipped_finder

    with NewsStore(news, "write") as store:
        new = Article.model_validate(article("elsewhere"))
        add_articles(store, shipped_finder(), [new], Refusals(Summary()))
    until = time.monotonic() + 60
    while "new-elsewhere" not in http.post("/retrieve", json=ZEBRA).text:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_articles_that_are_none_are_counted(http):
    given = [article(2, published_at="2199-01-01"), article(3, title="", text=" ")]
    told = http.post("/news", json={"articles": given}, headers=HTTP).json()
    assert told["refused"] == 2
    assert told["refused_because"] == {"published in the future": 1, "neither title nor text": 1}


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "x"}])
def test_writing_needs_the_key(http, header):
    response = http.post("/news", json={"articles": [article(4)]}, headers=header)
    is_error(response, 401, "unauthorized")
    assert response.headers["www-authenticate"] == "Bearer"
    assert http.get("/articles/new-4").status_code == 404


@pytest.mark.parametrize("path", ["/news%0A", "/news/", "//news", "/%6eews", "/page/../news"])
def test_no_way_around_the_key(http, path):
    given = {"articles": [article("around")]}
    response = http.post(path, json=given, follow_redirects=True)
    assert response.status_code in (401, 404, 405)
    assert http.get("/articles/new-around").status_code == 404


def test_without_the_key_nothing_is_even_read(server):
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        head = "POST /news HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: 30000000\r\n\r\n".encode())  # and no body
        assert connection.recv(100).startswith(b"HTTP/1.1 401 ")


def test_a_form_of_another_site_cannot_write(http):
    body = '{"articles": [{"text": "x", "published_at": "2020-06-01"}]}'
    plain = {**HTTP, "Content-Type": "text/plain"}
    is_error(http.post("/news", content=body, headers=plain), 422, "invalid")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 422, "invalid"),
        (b"{", 422, "invalid"),
        (b"[]", 422, "invalid"),
        (b'{"text": ""}', 422, "invalid"),
        (b'{"text": 5}', 422, "invalid"),
        (b'{"text": "x", "created_at": "yesterday"}', 422, "invalid"),
        (b'{"text": "x", "created_at": "2020-06-01T00:00:00"}', 422, "invalid"),
        (b'{"text": "\\ud800"}', 422, "invalid"),
        (b'{"text": "\xff\xfe"}', 400, "bad_request"),
        (b"[" * 100_000, 400, "bad_request"),
        (b'{"text": "' + b"x" * 100_000 + b'"}', 422, "invalid"),
        (b'{"text": "' + b"x" * 300_000 + b'"}', 413, "too_large"),
    ],
)  # fmt: skip
def test_what_is_refused(http, body, status, code):
    response = http.post("/suggest", content=body, headers={"Content-Type": "application/json"})
    error = is_error(response, status, code)
    assert len(error["message"]) < 1000


def test_who_forgets_to_say_that_it_is_json_is_told(http):
    """As `curl -d` does, which calls everything a form."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = http.post("/v1/suggest", content=b'{"text": "Rain in Utopia"}', headers=form)
    told = "body: send a JSON object, with Content-Type: application/json"
    assert (answer.status_code, answer.json()["error"]["message"]) == (422, told)


def test_a_body_in_pieces_is_limited_too(http):
    pieces = (b'{"text": "' if n == 0 else b"x" * 65536 for n in range(10))
    json = {"Content-Type": "application/json"}
    is_error(http.post("/suggest", content=pieces, headers=json), 413, "too_large")


def test_endless_headers_are_refused(server):
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection, suppress(ConnectionError):
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n")
        for number in range(100):
            connection.sendall(b"X-%d: " % number + b"a" * 10_000 + b"\r\n")
        connection.sendall(b"\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")


def test_wrong_doors(http):
    is_error(http.get("/nowhere"), 404, "not_found")
    is_error(http.get("/suggest"), 405, "method_not_allowed")
    is_error(http.post("/suggest/batch", json={"posts": [FLOYD] * 33}), 422, "invalid")
    is_error(http.get("/trends", params={"at": "x"}), 422, "invalid")
    is_error(http.get("/page/../app.py"), 404, "not_found")
    is_error(http.get("/page/%2e%2e/app.py"), 404, "not_found")


SAME_SERVER = HealthCheck.function_scoped_fixture
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300)


@settings(max_examples=60, deadline=None, suppress_health_check=[SAME_SERVER])
@given(TEXTS | st.text("#@_\u200d🏽\u202e a1", min_size=1, max_size=300))
def test_any_text_is_answered(http, text):
    response = http.post("/suggest", json={"text": text, "created_at": "2020-06-01T00:00:00Z"})
    assert response.status_code == 200, response.text
    assert response.json()["post"]["text"] == text


def test_every_answer_is_safe_and_has_an_id(http):
    for response in (http.get("/"), http.get("/docs"), http.get("/nowhere"), http.get("/health")):
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
    assert http.get("/health", headers={"X-Request-ID": "my-1"}).headers["x-request-id"] == "my-1"
    told = http.get("/health", headers={"X-Request-ID": 'x" <b>'}).headers["x-request-id"]
    assert told.isalnum()


def test_the_page_asks_nobody_else(http):
    pages = [http.get("/").text, http.get("/docs").text]
    for page in pages:
        assert "//" not in page.replace("<!doctype", "").replace("http://www.w3.org", "")
        assert "<script>" not in page
        assert "style=" not in page


def test_logs_name_the_request(server):
    server.client.post("/suggest", json=FLOYD, headers={"X-Request-ID": "look-for-me"})
    until = time.monotonic() + 60
    while not (found := [e for e in server.events if e.get("request_id") == "look-for-me"]):
        assert time.monotonic() < until
        time.sleep(0.01)
    (event,) = found
    assert (event["method"], event["path"], event["status"]) == ("POST", "/v1/suggest", 200)
    assert event["ms"] > 0
    assert "Minneapolis" not in str(event)  # what people write is not kept


def test_metrics(http):
    http.post("/suggest", json=FLOYD)
    http.get("/invented/by/somebody")
    families = {f.name: f for f in text_string_to_metric_families(http.get("/metrics").text)}
    counted = {
        (s.labels["route"], s.labels["status"]): s.value
        for s in families["hashnews_requests"].samples
        if s.name.endswith("_total")
    }
    assert counted["/v1/suggest", "200"] >= 1
    assert counted["other", "404"] >= 1
    assert all("invented" not in route for route, _ in counted)
    assert families["hashnews_articles"].samples[0].value >= 230
    assert families["hashnews_suggesters_ready"].samples[0].value == 1
    memory = {s.labels["process"]: s.value for s in families["hashnews_memory_bytes"].samples}
    assert set(memory) == {"service", "news", "suggest-1"}


def test_the_process_that_answers_stays_light(server):
    server.client.post("/suggest", json=FLOYD)
    loaded = Path(f"/proc/{server.process.pid}/maps").read_text()
    assert "pydantic_core" in loaded
    assert not re.search("llvmlite|onnxruntime|numpy", loaded)


def test_ready_tells_which_news(http):
    told = http.get("/ready").json()
    assert told["articles"] >= 230
    assert told["oldest"] == "2020-05-20T07:15:00Z"
    assert told["newest"] == "2020-06-09T11:59:59.999999Z"
    assert told["sample"] is False
