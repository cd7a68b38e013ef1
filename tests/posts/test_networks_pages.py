"""Bluesky asked page by page: hashtags that a search finds, and accounts behind a gate."""

import json
import threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from following import bodies, dump, following, name_in, rows, stored, wait_for

from hashnews.posts.archives.bluesky import POST

NO = {"labels": [{"val": "!no-unauthenticated"}]}


@pytest.fixture
def db(tmp_path):
    return tmp_path / "news.db"


def did(name):
    return f"did:plc:{name:a<24}"


def said(*numbers):
    return sorted(f"Bread {number} sourdough" for number in numbers)


def errors(db):
    return rows(db, "SELECT error FROM followed")


# ----- a hashtag, as a search finds it -----


class View:
    """A view of the network: a search in pages, the newest first."""

    def __init__(self):
        self.posts, self.profiles = {}, {}  # by uri: a view, by DID: a profile
        self.further = None  # the answer to whoever asks for a second page, where that is refused
        view = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                parts = urlsplit(self.path)
                query = parse_qs(parts.query)
                found = view.answer(parts.path.rpartition("/")[2], query)
                self.send_response(found if isinstance(found, int) else 200)
                self.end_headers()
                self.wfile.write(json.dumps(found).encode())

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.source = f"bluesky://{self.host}/tags/bread?insecure"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def add(self, name, number):
        moment = datetime.fromtimestamp(1_793_000_000 + number, UTC)
        uri = f"at://{did(name)}/app.bsky.feed.post/k{number}"
        text = f"Bread {number} #sourdough"
        record = {"$type": POST, "text": text, "createdAt": moment.isoformat()}
        self.posts[uri] = {"uri": uri, "author": {"did": did(name)}, "record": record}

    def answer(self, method, query):
        if method == "app.bsky.actor.getProfiles":
            return {"profiles": [{"did": one, **self.profiles.get(one, {})}
                                 for one in query["actors"]]}  # fmt: skip
        if method != "app.bsky.feed.searchPosts":
            return 404
        assert query["tag"] == ["bread"]
        if self.further and "cursor" in query:
            return self.further
        ordered = sorted(self.posts.values(), key=lambda one: one["record"]["createdAt"])[::-1]
        start, most = int(query.get("cursor", ["0"])[0]), int(query["limit"][0])
        more = {"cursor": str(start + most)} if start + most < len(ordered) else {}
        return {"posts": ordered[start : start + most], **more}


def test_a_hashtag_as_a_search_finds_it(db):
    view = View()
    for number in range(250):
        view.add("ann" if number % 2 else "bob", number)
    view.profiles[did("bob")] = NO
    odd = set(range(1, 250, 2))
    with following(db, view.source):
        wait_for(lambda: bodies(db) == said(*odd))
    for number in range(251, 400, 2):
        view.add("ann", number)
    for number in (1, 151, 249):
        del view.posts[f"at://{did('ann')}/app.bsky.feed.post/k{number}"]
    with following(db, view.source):
        expected = {*odd, *range(251, 400, 2)} - {1, 151, 249}
        # What is older than all that is listed, a search cannot tell.
        wait_for(lambda: set(bodies(db)) - set(said(1)) == set(said(*expected)))
    assert {post.user for post in stored(db).values()} == {name_in(db, did("ann"))}
    assert "did:plc" not in dump(db)
    view.close()


@pytest.mark.parametrize("refusal", [401, 403])
def test_a_search_that_shows_strangers_one_page_only(db, refusal):
    """As Bluesky's own servers do."""
    view = View()
    view.further = refusal
    for number in range(150):
        view.add("ann", number)
    with following(db, view.source):
        wait_for(lambda: bodies(db) == said(*range(50, 150)))
        view.add("ann", 200)
        wait_for(lambda: bodies(db) == said(*range(50, 150), 200))
    assert errors(db) == [(None,)]
    for number in range(300, 420):
        view.add("ann", number)
    with following(db, view.source):
        wait_for(lambda: set(said(*range(320, 420))) <= set(bodies(db)))
        wait_for(lambda: "more was posted than a search shows" in str(errors(db)))
    view.close()


# ----- an account, by a server that holds nothing itself -----


class Gate(View):
    """The gate to servers behind it: it lists the posts of those, and knows nothing of the rest."""

    def __init__(self, status):
        super().__init__()
        self.status, self.source = status, f"bluesky://{self.host}/@ann.example?insecure"

    def answer(self, method, query):
        if method == "com.atproto.identity.resolveHandle":
            return {"did": did("ann")}
        if method == "com.atproto.sync.getRepoStatus":
            return self.status
        if method != "com.atproto.repo.listRecords" or not self.posts:
            return 400
        listed = [{"uri": uri, "value": post["record"]} for uri, post in self.posts.items()]
        return {"records": [] if "cursor" in query else listed}


@pytest.mark.parametrize("status", [400, 302, 501])
def test_an_account_behind_a_gate(db, status):
    gate = Gate(status)
    gate.add("ann", 1)
    with following(db, gate.source):
        wait_for(lambda: bodies(db) == said(1))
        gate.posts.clear()  # the account is gone
        wait_for(lambda: bodies(db) == [])
    gate.close()


def test_an_account_that_another_server_holds_is_told(db):
    gate = Gate(400)
    with following(db, gate.source):
        wait_for(lambda: "name the server that does" in str(errors(db)))
    gate.close()
