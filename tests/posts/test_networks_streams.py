"""Bluesky's streams and frames, told by servers of our own: each with its outcome."""

import json
import time
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

import cbor2
import pytest
from following import bodies, dump, following, rows, stored, wait_for
from hypothesis import given
from hypothesis import strategies as st

from hashnews.errors import DataError
from hashnews.posts.networks.frames import read_firehose, read_jetstream

pytest.importorskip("websockets", reason="needs hashnews[networks]")
from jetstream_server import BREAD, PROFILE, JetstreamServer, did

NO = {"labels": [{"val": "!no-unauthenticated"}]}


@pytest.fixture
def server():
    made = JetstreamServer()
    yield made
    made.close()


@pytest.fixture
def db(tmp_path):
    return tmp_path / "news.db"


def bread(number, **changes):
    return {**BREAD, "text": f"Bread {number} #sourdough", **changes}


def said(*numbers):
    return sorted(f"Bread {number} sourdough" for number in numbers)


def connected(server, times=1):
    wait_for(lambda: len(server.subscribed) >= times)


def test_posts_edits_deletions_and_accounts(server, db):
    with following(db, server.source):
        connected(server)
        for number in range(6):
            server.commit("ann" if number % 2 else "bob", f"k{number}", record=bread(number))
        wait_for(lambda: bodies(db) == said(*range(6)))
        server.commit("bob", "k0", "delete")
        server.commit("bob", "k2", "update", bread("two"))
        server.commit("bob", "k4", "update", {**BREAD, "text": "no hashtag any more"})
        wait_for(lambda: bodies(db) == said(1, 3, 5, "two"))
        server.account("ann", True)
        server.account("ann", False, status="deleted")
        wait_for(lambda: bodies(db) == said("two"))
    assert server.subscribed[0]["wantedCollections"] == ["app.bsky.feed.post", PROFILE]
    assert rows(db, "SELECT posts, removed FROM followed") == [(6, 5)]
    assert "did:plc" not in dump(db)


def test_hashtags_beside_the_text_and_marked_in_it(server, db):
    facet = {"index": {"byteStart": 0, "byteEnd": 5}, "features": [
        {"$type": "app.bsky.richtext.facet#tag", "tag": "Rye"}
    ]}  # fmt: skip
    with following(db, server.source):
        connected(server)
        server.commit("ann", "k1", record={**BREAD, "text": "Crust", "tags": ["sourdough"],
                                           "facets": [facet]})  # fmt: skip
        wait_for(lambda: bodies(db) == ["Crust"])
    (post,) = stored(db).values()
    assert {tag.key for tag in post.hashtags} == {"rye", "sourdough"}


def test_nothing_is_lost_or_doubled_when_the_connection_breaks(server, db):
    with following(db, server.source) as follower:
        connected(server)
        for number in range(60):
            server.commit("ann", f"k{number}", record=bread(number))
            if number % 20 == 10:
                wait_for(lambda: follower.state()[0].posts)
                server.hang_up()
        wait_for(lambda: bodies(db) == said(*range(60)))
    for number in range(60, 80):  # while nobody listens
        server.commit("ann", f"k{number}", record=bread(number))
    server.commit("ann", "k5", "delete")
    with following(db, server.source):
        wait_for(lambda: bodies(db) == said(*{*range(80)} - {5}))


def test_from_the_first_moment_a_restart_leaves_no_gap(server, db):
    with following(db, server.source):
        connected(server)
        wait_for(lambda: rows(db, "SELECT cursor FROM followed")[0][0])
    server.commit("ann", "k1", record=bread(1))  # nothing was ever brought before
    with following(db, server.source):
        wait_for(lambda: bodies(db) == said(1))


def test_who_asks_to_be_left_out_is(server, db):
    server.profiles = {did("shy"): NO, did("bio"): {"description": "Baker. #nobot"}}
    with following(db, server.source):
        connected(server)
        for name in ("ann", "shy", "bio"):
            server.commit(name, "k1", record=bread(name))
        wait_for(lambda: bodies(db) == said("ann"))
        labels = {"$type": "com.atproto.label.defs#selfLabels", "values": NO["labels"]}
        server.commit("ann", "self", "update", {"labels": labels}, PROFILE)
        wait_for(lambda: bodies(db) == [])
        server.commit("ann", "k2", record=bread(2))
        server.commit("ann", "self", "update", {"description": "Welcome"}, PROFILE)
        server.commit("ann", "k3", record=bread(3))
        wait_for(lambda: "Bread 3 sourdough" in bodies(db))
        server.commit("cat", "k1", record=bread("cat"))
        wait_for(lambda: "Bread cat sourdough" in bodies(db))
    server.profiles[did("cat")] = NO  # said while nobody listened
    with following(db, server.source):
        server.commit("cat", "k2", record=bread(2))
        wait_for(lambda: "Bread cat sourdough" not in bodies(db))


def test_authors_are_asked_about_many_at_once_and_once(server, db):
    with following(db, server.source):
        connected(server)
        for number in range(120):
            server.commit(f"a{number % 60}", f"k{number}", record=bread(number))
        wait_for(lambda: len(bodies(db)) == 120)
    asked = [
        one for path in server.asked for one in parse_qs(urlsplit(path).query).get("actors", ())
    ]
    assert sorted(asked) == sorted({did(f"a{number}") for number in range(60)})


def test_oneself_by_did(server, db):
    server.profiles = {did("me"): NO}
    with following(db, server.source, accounts={did("me"): "Me"}):
        connected(server)
        server.commit("me", "k1", record=bread(1))
        wait_for(lambda: bodies(db) == said(1))
        server.commit("me", "k2", record=bread(2))
        server.commit("me", "k1", "delete")
        wait_for(lambda: bodies(db) == said(2))
    (post,) = stored(db).values()
    assert (post.user, post.id) == ("Me", f"at://{did('me')}/app.bsky.feed.post/k2")


def test_filters_and_times(server, db):
    with following(db, server.source, languages=frozenset({"en"})):
        connected(server)
        for number, changes in enumerate([
            {"langs": ["en"]}, {"langs": ["de"]}, {}, {"langs": ["pt-BR", "en-US"]},
            {"langs": ["en"], "createdAt": "2199-01-01T00:00:00Z"},
            {"langs": ["en"], "createdAt": "2001-01-01T00:00:00Z"},
            {"langs": ["en"], "createdAt": "soon"}, {"langs": ["en"], "text": "plain"},
        ]):  # fmt: skip
            server.commit("ann", f"k{number}", record=bread(number, **changes))
        server.commit("ann", "last", record=bread("last", langs=["en"]))
        wait_for(lambda: "Bread last sourdough" in bodies(db))
    assert bodies(db) == said(0, 3, "last")
    assert rows(db, "SELECT refused FROM followed") == [(2,)]


HOSTILE = [
    "", "{", "[" * 200_000, "[]", "null", b"\x00\xff", json.dumps({"did": 5, "time_us": 7}),
    json.dumps({"did": did("x"), "time_us": "now"}), json.dumps({"did": did("x"), "time_us": -1}),
    {"did": did("x"), "kind": "commit", "commit": 5},
    {"did": did("x"), "kind": "commit", "commit": {
        "collection": "app.bsky.feed.post", "operation": "explode", "rkey": "k"}},
    {"did": did("x"), "kind": "commit", "commit": {"collection": "app.bsky.feed.post",
        "operation": "create", "rkey": "../k", "record": BREAD}},
    {"did": did("x"), "kind": "commit", "commit": {"collection": "app.bsky.feed.post",
        "operation": "create", "rkey": "k", "record": {**BREAD, "text": "#x" * 50_000}}},
    {"did": did("x"), "kind": "commit", "commit": {"collection": "app.bsky.feed.post",
        "operation": "create", "rkey": "k", "record": {**BREAD, "tags": [5, None], "facets": 7}}},
    {"did": did("x"), "kind": "account", "account": []}, {"did": did("x"), "kind": "new"},
]  # fmt: skip


def test_hostile_frames_cost_only_themselves(server, db):
    with following(db, server.source):
        connected(server)
        for frame in HOSTILE:
            server.send(frame)
        server.commit("ann", "half", record=bread("half \ud83d"))
        server.commit("ann", "k1", record=bread(1))
        wait_for(lambda: "Bread 1 sourdough" in bodies(db))
    assert len(bodies(db)) == 3  # the one with odd tags has a hashtag in its text, too


def test_a_frame_too_large_ends_the_connection_and_following_goes_on(server, db):
    with following(db, server.source):
        connected(server)
        wait_for(lambda: rows(db, "SELECT cursor FROM followed")[0][0])
        server.send("x" * (6 << 20))
        wait_for(lambda: rows(db, "SELECT error FROM followed")[0][0])
        server.commit("ann", "k1", record=bread(1))
        wait_for(lambda: bodies(db) == said(1))


def test_a_time_of_the_future_is_no_cursor(server, db):
    with following(db, server.source):
        connected(server)
        server.commit("ann", "k1", record=bread(1), time_us=(1 << 60))
        wait_for(lambda: bodies(db) == said(1))
    ((cursor,),) = rows(db, "SELECT cursor FROM followed")
    assert int(cursor) <= time.time_ns() // 1000


# ----- frames -----


def frame(head, body):
    return cbor2.dumps(head, canonical=True) + cbor2.dumps(body, canonical=True)


def test_frames_of_the_firehose():
    gone = {"seq": 7, "did": did("ann"), "time": "2026-11-01T10:00:00Z", "active": False}
    told = read_firehose(frame({"op": 1, "t": "#account"}, gone))
    assert (told.cursor, told.did, told.gone, told.anew) == ("7", did("ann"), True, False)
    told = read_firehose(frame({"op": 1, "t": "#account"}, {**gone, "active": True}))
    assert (told.gone, told.anew) == (False, True)
    assert read_firehose(frame({"op": 1, "t": "#tombstone"}, gone)).gone
    assert read_firehose(frame({"op": -1}, {"error": "FutureCursor", "message": ""})).lost
    assert (
        "missing" in read_firehose(frame({"op": 1, "t": "#info"}, {"name": "OutdatedCursor"})).note
    )
    assert read_firehose(frame({"op": 1, "t": "#unheard"}, {**gone})).cursor == "7"
    delete = {"seq": 8, "repo": did("ann"), "blocks": b"", "ops": [
        {"action": "delete", "path": "app.bsky.feed.post/k1", "cid": None},
        {"action": "delete", "path": "app.bsky.feed.like/k2", "cid": None},
    ]}  # fmt: skip
    told = read_firehose(frame({"op": 1, "t": "#commit"}, delete))
    assert [(one.key, one.record) for one in told.changes] == [("k1", None)]


@pytest.mark.parametrize(
    "change",
    [
        {"seq": None}, {"seq": True}, {"seq": "8"}, {"blocks": "text"},
        {"ops": [{"action": "create", "path": "app.bsky.feed.post/k", "cid": None}]},
        {"ops": [{"action": "burn", "path": "app.bsky.feed.post/k", "cid": None}]},
    ],
)  # fmt: skip
def test_frames_that_are_none(change):
    body = {"seq": 8, "repo": did("ann"), "blocks": b"", "ops": [
        {"action": "delete", "path": "app.bsky.feed.post/k1", "cid": None}
    ]}  # fmt: skip
    with pytest.raises(DataError):
        read_firehose(frame({"op": 1, "t": "#commit"}, {**body, **change}))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=8) | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=12,
)
FIELDS = st.dictionaries(
    st.sampled_from(["seq", "repo", "did", "blocks", "ops", "time", "active", "name", "error"]),
    JSON,
)


@given(
    st.sampled_from([1, -1, 2]), st.sampled_from(["#commit", "#account", "#sync", "#info"]), FIELDS
)
def test_any_frame_is_read_or_refused(op, kind, body):
    for content in (frame({"op": op, "t": kind}, body), cbor2.dumps(body, canonical=True)):
        with suppress(DataError):
            read_firehose(content)


@given(st.binary() | st.text() | JSON.map(lambda value: json.dumps(value, default=repr)))
def test_any_bytes_are_read_or_refused(content):
    for read in (read_firehose, read_jetstream):
        with suppress(DataError):
            read(content)
