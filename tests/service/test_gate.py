"""Who may ask, and how often: keys for reading and writing, rates, pages of other sites."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers import KEY, Server, article

from hashnews.news.store import NewsStore
from hashnews.service import gate
from hashnews.service.gate import Rates
from hashnews.service.middleware import FIRST, current

READ, OTHER = "a key that may only read", "a second key that may read"
SITE = {"Origin": "https://blog.example"}
POST = {"text": "Marching tonight for George Floyd", "created_at": "2020-05-29T20:00:00Z"}


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture(scope="module")
def guarded(sample_news, tmp_path_factory):
    """A service that asks for keys, counts, and lets one other site ask."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "reading").write_text(f"{READ}\n\n{OTHER}\n")
    (folder / "hashnews.toml").write_text('cors = ["https://blog.example"]\nrate = 1\n')
    with NewsStore(sample_news) as store:
        store.backup(folder / "news.db")
    with Server(
        "--news", folder / "news.db", "--read-key-file", folder / "reading",
        "--config", folder / "hashnews.toml", "--rate", 30, key=KEY,
    ) as server:  # fmt: skip
        yield server.client


def test_reading_needs_a_key_that_reads(guarded):
    for path in ("/v1/trends", "/trends", "/v1/articles/s001", "/articles/s001", "/v1/feeds"):
        assert guarded.get(path).status_code == 401, path
        assert guarded.get(path, headers=bearer("wrong" * 5)).status_code == 401, path
    assert guarded.post("/v1/suggest", json=POST).status_code == 401
    for key in (READ, OTHER, KEY):
        assert guarded.post("/v1/suggest", json=POST, headers=bearer(key)).status_code == 200
    for path in ("/", "/docs", "/health", "/ready", "/openapi.json"):
        assert guarded.get(path).status_code == 200, path


def test_a_key_that_reads_does_not_write(guarded):
    for path in ("/v1/news", "/news"):
        answer = guarded.post(path, json={"articles": [article(1)]}, headers=bearer(READ))
        assert answer.status_code == 401
    assert guarded.get("/v1/feeds", headers=bearer(READ)).status_code == 401
    assert guarded.get("/v1/feeds", headers=bearer(KEY)).status_code == 200


def test_each_key_has_its_own_rate(guarded):
    statuses = [guarded.get("/v1/trends", headers=bearer(OTHER)).status_code for _ in range(40)]
    assert set(statuses) == {200, 429}
    refused = guarded.get("/v1/trends", headers=bearer(OTHER))
    assert refused.json()["error"]["code"] == "too_often"
    assert 1 <= int(refused.headers["retry-after"]) <= 2
    assert guarded.get("/v1/trends", headers=bearer(KEY)).status_code == 200
    assert guarded.get("/health").status_code == 200


def test_pages_of_a_site_that_was_named_may_ask(guarded):
    ask = {**SITE, "Access-Control-Request-Method": "POST", "Sec-Fetch-Site": "cross-site"}
    before = guarded.options("/v1/suggest", headers=ask)
    assert (before.status_code, before.content) == (204, b"")
    assert before.headers["access-control-allow-origin"] == SITE["Origin"]
    assert "Authorization" in before.headers["access-control-allow-headers"]
    assert {"GET", "POST", "DELETE"} <= set(
        before.headers["access-control-allow-methods"].split(", ")
    )
    headers = {**SITE, **bearer(KEY), "Sec-Fetch-Site": "cross-site"}
    answer = guarded.post("/v1/suggest", json=POST, headers=headers)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == SITE["Origin"]
    assert "access-control-allow-credentials" not in answer.headers
    assert "Origin" in answer.headers["vary"]
    assert guarded.post("/v1/suggest", json=POST, headers=SITE).headers[
        "access-control-allow-origin"
    ]  # a refusal can be read, too


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "https://blog.example.evil.example", "http://blog.example", "null",
     "https://blog.example:444", "*"],
)  # fmt: skip
def test_pages_of_other_sites_may_not(guarded, origin):
    headers = {"Origin": origin, **bearer(KEY)}
    assert guarded.post("/v1/suggest", json=POST, headers=headers).status_code == 403
    asked = guarded.options(
        "/v1/suggest", headers={**headers, "Access-Control-Request-Method": "POST"}
    )
    assert asked.status_code == 403
    seen = guarded.get("/v1/trends", headers=headers)
    assert "access-control-allow-origin" not in seen.headers


def test_without_the_setting_no_site_may(http):
    answer = http.get("/health", headers=SITE)
    assert "access-control-allow-origin" not in answer.headers


@given(st.lists(st.floats(0, 50), max_size=200), st.integers(1, 20))
def test_never_more_than_the_rate_and_never_longer_than_said(pauses, a_minute):
    rates, now, taken = Rates(a_minute), 0.0, []
    for pause in pauses:
        now += pause
        wait = rates.wait("somebody", now)
        if wait == 0:
            taken.append(now)
            # A full bucket and what flows in within a minute: never more in any minute.
            assert sum(now - 60 < at for at in taken) <= 2 * a_minute
        else:
            assert rates.wait("somebody", now + wait) == 0
            taken.append(now + wait)
            now += wait


def test_clients_are_forgotten_at_last(monkeypatch):
    monkeypatch.setattr(gate, "MOST_CLIENTS", 10)
    rates = Rates(1)
    for number in range(1000):
        assert rates.wait(str(number), float(number)) == 0
    assert len(rates._left) == 10


def test_the_first_paths_are_aliases(http):
    assert {current(path) for path in FIRST} == {f"/v1{path}" for path in FIRST}
    for path in ("/trends", "/articles/s001"):
        assert http.get(path).text == http.get(f"/v1{path}").text
    old, new = (http.post(path, json=POST).json() for path in ("/suggest", "/v1/suggest"))
    assert old["suggestions"] == new["suggestions"]
