"""Mastodon: a good server, then a hostile one; each with its outcome."""

import itertools
import json
import time
from datetime import UTC, datetime, timedelta

import pytest
from following import bodies, dump, following, name_in, rows, stored, wait_for
from hostile_mastodon import ACCOUNT, MastodonServer, status

from hashnews.posts.networks import rest

TAG = "/api/v1/timelines/tag/bread"


@pytest.fixture
def server():
    made = MastodonServer()
    yield made
    made.close()


@pytest.fixture
def db(tmp_path):
    return tmp_path / "news.db"


def said(*numbers):
    return sorted(f"Bread sourdough {number}" for number in numbers)


def test_posts_come_once_and_go_on_after_a_restart(server, db):
    server.statuses = {n: status(n) for n in range(1, 31)}
    with following(db, server.source):
        wait_for(lambda: bodies(db) == said(*range(1, 31)))
    server.statuses |= {n: status(n) for n in range(31, 201)}  # while nobody looks: five pages
    with following(db, server.source):
        wait_for(lambda: bodies(db) == said(*range(1, 201)))
        server.statuses[201] = status(201)
        wait_for(lambda: bodies(db) == said(*range(1, 202)))
    assert rows(db, "SELECT cursor, posts, removed FROM followed") == [("201", 201, 0)]


def test_of_a_timeline_that_was_empty_nothing_is_missed(server, db):
    with following(db, server.source):
        wait_for(lambda: server.asked(TAG))
        wait_for(lambda: rows(db, "SELECT cursor FROM followed") == [("0",)])
    server.statuses = {n: status(n) for n in range(1, 101)}
    with following(db, server.source):
        wait_for(lambda: bodies(db) == said(*range(1, 101)))


def test_what_is_deleted_changed_or_late_is_found_again(server, db):
    server.statuses = {n: status(n, created_at=_lately()) for n in range(10, 130)}
    with following(db, server.source):
        wait_for(lambda: "Bread sourdough 129" in bodies(db))
        for gone in (10, 55, 129):
            del server.statuses[gone]
        server.statuses[20] = status(20, "Cake #cake", created_at=_lately())
        server.statuses[30] = status(30, "No hashtag left", created_at=_lately())
        server.statuses[5] = status(5, created_at=_lately())  # it reached the server late
        expected = {5, *range(10, 129)} - {10, 55, 20, 30}
        wait_for(lambda: bodies(db) == sorted([*said(*expected), "Cake cake 20"]))
    assert rows(db, "SELECT count(*) FROM sightings") == [(len(expected) + 1,)]


def _lately():
    return (datetime.now(UTC) - timedelta(hours=1)).isoformat()


def test_a_page_that_leaves_something_out_deletes_nothing(server, db):
    server.statuses = {n: status(n) for n in range(1, 11)}
    with following(db, server.source):
        wait_for(lambda: len(bodies(db)) == 10)
        server.answers[TAG] = lambda query: []  # but each status is still there
        asked = len(server.asked("/api/v1/statuses/3"))
        wait_for(lambda: len(server.asked("/api/v1/statuses/3")) > asked)
    assert bodies(db) == said(*range(1, 11))


def test_a_stream_tells_at_once(server, db):
    """What streams bring needs no page; a deletion neither."""
    events = iter([
        "event: update\ndata: " + json.dumps(status(7)) + "\n\n",
        ":thump\n\n",
        "event: update\ndata: " + json.dumps(status(8)) + "\n\n",
        "event: delete\ndata: 7\n\n",
        "event: status.update\ndata: " + json.dumps(status(8, "Cake #cake")) + "\n\n",
        "event: update\ndata: {broken\n\n" + "event: unheard\ndata: of\n\n",
    ])  # fmt: skip
    held = []

    def stream(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        for event in events:
            handler.wfile.write(event.encode())
            handler.wfile.flush()
        held.append(handler)
        time.sleep(PATIENCE)

    server.answers["/api/v1/streaming/hashtag"] = lambda query: stream
    with following(db, server.source, every=3600.0):
        wait_for(lambda: bodies(db) == ["Cake cake 8"])
        wait_for(lambda: rows(db, "SELECT refused FROM followed") == [(1,)])
    assert server.asked("/api/v1/streaming/hashtag") == [{"tag": "bread"}]


PATIENCE = 300.0


@pytest.mark.parametrize(
    "asks",
    [
        {"indexable": False}, {"discoverable": False}, {"noindex": True},
        {"note": "<p>Baker. #<span>nobot</span></p>"}, {"note": "<p>#NoIndex please</p>"},
    ],
)  # fmt: skip
def test_who_asks_to_be_left_out_is(server, db, asks):
    shy = {**ACCOUNT, "acct": "shy", **asks}
    server.statuses = {1: status(1), 2: status(2, account=shy), 3: status(3)}
    with following(db, server.source):
        wait_for(lambda: len(bodies(db)) == 2)
        server.statuses[3] = status(3, account=shy)  # who asks later is forgotten
        wait_for(lambda: bodies(db) == said(1))
    with following(db, server.source, accounts={f"shy@{server.host}": "me"}):  # it is oneself
        wait_for(lambda: bodies(db) == said(1, 2, 3))
    assert {post.user for post in stored(db).values()} == {"me", name_in(db, f"ann@{server.host}")}


def test_others_are_kept_under_hashes_and_oneself_under_ones_name(server, db):
    other = {**ACCOUNT, "acct": "Bob.Baker@far.example"}
    server.statuses = {
        1: status(1), 2: status(2, account=other, uri="https://far.example/@Bob.Baker/2")
    }  # fmt: skip
    with following(db, server.source, accounts={f"ann@{server.host}": "Ann"}):
        wait_for(lambda: len(bodies(db)) == 2)
    found = {post.user: post.id for post in stored(db).values()}
    assert found["Ann"] == "https://example.social/1"
    assert "far.example" not in dump(db)
    assert "Bob" not in dump(db)
    assert set(found) == {"Ann", name_in(db, "bob.baker@far.example")}


def test_filters(server, db):
    many = {
        1: status(1), 2: status(2, language="de"), 3: status(3, language=None),
        4: status(4, language="en-GB"), 5: status(5, "nothing"), 6: status(6, visibility="private"),
        7: status(7, reblog={"id": "1"}), 8: status(8, visibility="unlisted"),
        9: status(9, "Other #cake"), 10: status(10, "Beside", tags=[{"name": "sourdough"}]),
    }  # fmt: skip
    server.statuses = many
    with following(db, server.source, languages=frozenset({"en"}),
                   hashtags=frozenset({"sourdough"})):  # fmt: skip
        wait_for(lambda: rows(db, "SELECT cursor FROM followed") == [("10",)])
        wait_for(lambda: len(bodies(db)) == 3)
    assert bodies(db) == sorted([*said(1, 4), "Beside 10"])


def test_one_post_seen_on_two_servers_is_one_post(server, db):
    other = MastodonServer()
    server.statuses = {1: status(1), 2: status(2)}
    other.statuses = {77: status(77, "Bread #sourdough", uri="https://example.social/1")}
    with following(db, server.source, other.source):
        wait_for(lambda: rows(db, "SELECT count(*) FROM sightings") == [(3,)])
        assert len(bodies(db)) == 2
        del other.statuses[77]
        wait_for(lambda: len(bodies(db)) == 1)
    other.close()


# ----- a hostile one -----


def test_endless_pages(server, db):
    """Every page leads to another: rounds stay bounded, and what counts is kept bounded."""
    count = itertools.count(1)
    server.answers[TAG] = lambda query: [status(next(count)) for _ in range(40)][::-1]
    with following(db, server.source, most=100):
        wait_for(lambda: len(server.asked(TAG)) > 60)
        wait_for(lambda: rows(db, "SELECT posts FROM followed")[0][0] > 500)
    assert rows(db, "SELECT state FROM followed") == [("stopped",)]
    with following(db, server.source, most=100):
        wait_for(lambda: len(bodies(db)) < 5000)


def test_cursors_that_lie(server, db):
    """It repeats an old page for ever: that is an error and a wait, not a loop."""
    server.statuses = {n: status(n) for n in range(1, 11)}
    with following(db, server.source):
        wait_for(lambda: len(bodies(db)) == 10)
        server.answers[TAG] = lambda query: [status(n) for n in range(10, 0, -1)]
        wait_for(lambda: "repeats" in (rows(db, "SELECT error FROM followed")[0][0] or ""))
        before = len(server.requests)
        time.sleep(1)
        assert len(server.requests) - before < 60  # it waits between its attempts
        del server.answers[TAG]
        server.statuses[11] = status(11)
        wait_for(lambda: bodies(db) == said(*range(1, 12)))


def test_an_id_from_far_away_loses_nothing(server, db):
    """After an id beyond all others, later ones are smaller: the recheck brings them."""
    server.statuses = {10**30: status(10**30)}
    with following(db, server.source):
        wait_for(lambda: len(bodies(db)) == 1)
        server.statuses |= {n: status(n) for n in range(1, 20)}
        wait_for(lambda: len(bodies(db)) == 20)


def test_a_storm_of_429(server, db):
    """Retry-After is honoured, and bounded."""
    server.statuses = {1: status(1)}
    codes = iter([429, 503, 429])

    def stormy(query):
        code = next(codes, None)
        return server.page(query) if code is None else (code, {"Retry-After": "1"}, {})

    server.answers[TAG] = stormy
    began = time.monotonic()
    with following(db, server.source):
        wait_for(lambda: bodies(db) == said(1))
    assert time.monotonic() - began >= 3  # a second each
    assert rest.seconds_until("99999999") == rest.LONGEST_WAIT
    soon = (datetime.now(UTC) + timedelta(seconds=100)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    assert 95 < rest.seconds_until(soon) <= 100
    for nonsense in ("", "soon", "-5", "1e400", "9" * 5000, "Mon, 99 Foo 2026"):
        assert rest.seconds_until(nonsense) in (None, rest.LONGEST_WAIT)


def test_a_limit_that_is_reached_is_waited_for(server, db):
    reset = datetime.now(UTC) + timedelta(seconds=2)
    server.statuses = {1: status(1)}
    server.headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset.isoformat()}
    with following(db, server.source):
        wait_for(lambda: server.asked(TAG))
        assert datetime.now(UTC) >= reset  # robots.txt was the last request within the limit
        server.headers = {}
        wait_for(lambda: bodies(db) == said(1))


@pytest.mark.parametrize(
    "answer",
    [
        {"error": "a dictionary"}, [1, None, "x", []], b"<html>", b"[" * 100_000, b'"\xff\xfe"',
        [{"id": True}, {"id": ""}, {"id": "7" * 300}, {"id": "\ud800"}, {"id": {}}],
        (200, {"Content-Encoding": "br"}, b"x"), (302, {"Location": "http://10.0.0.1/"}, {}),
        b"[" + b" " * (9 << 20) + b"]",
    ],
)  # fmt: skip
def test_answers_that_are_none(server, db, answer):
    server.answers[TAG] = lambda query: answer
    with following(db, server.source):
        wait_for(lambda: len(server.asked(TAG)) > 1)
        del server.answers[TAG]
        server.statuses = {1: status(1)}
        wait_for(lambda: bodies(db) == said(1))


def test_statuses_that_are_none_cost_only_themselves(server, db):
    server.statuses = {
        1: status(1), 2: status(2, "#x" * 40_000), 3: status(3, created_at="yesterday"),
        4: status(4, account=None), 5: status(5, content=5), 6: status(6, tags=[{"name": 5}, 7]),
        7: status(7, created_at="2199-01-01T00:00:00Z"), 8: status(8, "half a \ud83d #sourdough"),
        9: status(9, created_at="0001-01-01T00:00:00Z"), 10: status(10),
    }  # fmt: skip
    with following(db, server.source):
        wait_for(lambda: len(bodies(db)) == 4)
        looked = len(server.asked(TAG))
        wait_for(lambda: len(server.asked(TAG)) > looked + 4)
    assert set(said(1, 6, 10)) < set(bodies(db))
    assert rows(db, "SELECT refused FROM followed") == [(5,)]  # counted once


def test_a_server_that_drips(server, db, monkeypatch):
    monkeypatch.setattr(rest, "SECONDS", 1.0)

    def drip(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        for _ in range(1000):
            handler.wfile.write(b" ")
            time.sleep(0.05)

    server.answers[TAG] = lambda query: drip
    with following(db, server.source):
        wait_for(lambda: "more than 1 s" in (rows(db, "SELECT error FROM followed")[0][0] or ""))
        began = time.monotonic()
    assert time.monotonic() - began < 30  # stopping does not wait for it either


def test_robots_are_obeyed(server, db):
    server.answers["/robots.txt"] = lambda query: b"User-agent: *\nDisallow: /api/"
    with following(db, server.source) as follower:
        assert follower.wait(60)  # nothing is left to follow
    ((state, error),) = rows(db, "SELECT state, error FROM followed")
    assert (state, "robots.txt" in error) == ("failed", True)
    assert not server.asked(TAG)


@pytest.mark.parametrize("code", [401, 403, 404, 422])
def test_a_refusal_is_told_and_not_repeated(server, db, code):
    server.answers[TAG] = lambda query: (code, {}, {"error": "This API requires a token"})
    with following(db, server.source) as follower:
        assert follower.wait(60)
    assert rows(db, "SELECT state FROM followed") == [("failed",)]
    assert len(server.asked(TAG)) == 1


def test_a_token_goes_to_its_own_server_only(server, db):
    other = MastodonServer()
    with following(db, server.source, other.source, tokens={server.host: "secret"}):
        wait_for(lambda: server.asked(TAG) and other.asked(TAG))
    named = [headers.get("Authorization") for path, _, headers in server.requests if path == TAG]
    assert set(named) == {"Bearer secret"}
    assert not [1 for _, _, headers in other.requests if "Authorization" in headers]
    assert "secret" not in dump(db)
    other.close()


def test_accounts_and_their_end(server, db):
    server.statuses = {n: status(n) for n in range(1, 8)}
    server.answers["/api/v1/accounts/lookup"] = lambda query: {"id": "42"}
    timeline = "/api/v1/accounts/42/statuses"
    server.answers[timeline] = lambda query: server.page(query)
    with following(db, f"mastodon://{server.host}/@ann?insecure"):
        wait_for(lambda: bodies(db) == said(*range(1, 8)))
        assert server.asked("/api/v1/accounts/lookup")[0] == {"acct": "ann"}
        server.statuses = {}
        server.answers[timeline] = lambda query: (410, {}, {"error": "Gone"})
        wait_for(lambda: bodies(db) == [])
