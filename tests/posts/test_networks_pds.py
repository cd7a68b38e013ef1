"""A real Bluesky server on loopback: the memory holds exactly what the network holds."""

import json

import pytest

pytest.importorskip("websockets", reason="needs hashnews[networks]")
from bluesky_server import BlueskyServer, is_installed
from click.testing import CliRunner
from following import bodies, dump, following, rows, stored, wait_for
from jetstream_server import JetstreamServer
from network_world import Life, held, live_and_kill

from hashnews.cli import main
from hashnews.index.post_segments import PostSegments
from hashnews.news.store import NewsStore
from hashnews.suggest.memory import Memory

pytestmark = pytest.mark.skipif(
    not is_installed(), reason="needs a Bluesky server: run tools/pds/install.sh"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = BlueskyServer(tmp_path_factory.mktemp("pds"))
    yield made
    made.close()


@pytest.fixture
def db(tmp_path):
    return tmp_path / "news.db"


def test_the_memory_holds_what_the_network_holds(server, db):
    """250 posts, deletions and changes; the follower is killed 4 times, the server once."""
    for name in ("ann", "bob", "cat"):
        server.join(name)
    life = Life(server, ["ann", "bob", "cat"])
    follower = live_and_kill(server, life, db, server.source, kills=3, posts=250)
    expected = life.expected(db)
    assert len(expected) > 100
    assert life.deleted > 20
    wait_for(lambda: held(db) == expected)
    assert "resume" in follower.stop()
    assert held(db) == expected
    assert not any(did in dump(db) for did in server.dids.values())
    with NewsStore(db) as store:
        assert len(Memory.open(store)) == len(expected)
        assert PostSegments.check(store) is None
    told = CliRunner().invoke(main, ["posts", "sources", "--news", str(db), "--json"])
    state = json.loads(told.output)
    assert (state["address"], state["state"]) == (server.source, "stopped")
    assert state["lag"] >= 0


def test_accounts_that_go_and_come_back(server, db):
    """Closed by its owner, taken down by the server, each time opened again; then deleted."""
    server.join("dan")
    with following(db, server.source):
        wait_for(lambda: rows(db, "SELECT 1 FROM followed WHERE state = 'following'"))
        for number in range(3):
            server.post("dan", f"Loaf {number} #sourdough")
        wait_for(lambda: len(bodies(db)) == 3)
        for go, come in (
            (lambda: server.ask("POST", "com.atproto.server.deactivateAccount", "dan"),
             lambda: server.ask("POST", "com.atproto.server.activateAccount", "dan")),
            (lambda: server.judge("dan", True), lambda: server.judge("dan", False)),
        ):  # fmt: skip
            go()
            wait_for(lambda: bodies(db) == [])
            come()
            wait_for(lambda: len(bodies(db)) == 3)
        server.label("dan", "!no-unauthenticated")
        wait_for(lambda: bodies(db) == [])
        server.label("dan")
        server.post("dan", "Again #sourdough")
        wait_for(lambda: bodies(db) == ["Again sourdough"])
        server.delete_account("dan")
        wait_for(lambda: bodies(db) == [])


def test_jetstream_by_a_relay_of_the_server(server, db):
    """The same network in Jetstream's form."""
    relay = JetstreamServer()
    for name in ("eve", "fay"):
        server.join(name)
    life = Life(server, ["eve", "fay"], seed=2)
    with following(db, relay.source):
        wait_for(lambda: relay.subscribed)
        relay.relay(f"{server.url.replace('http', 'ws')}/xrpc/com.atproto.sync.subscribeRepos")
        for _ in range(10):
            life.act(8)
        relay.hang_up()
        life.act(8)
        expected = life.expected(db)
        wait_for(lambda: expected.items() <= held(db).items())
        ours = {user for user, _ in expected.values()}
        wait_for(lambda: {k: v for k, v in held(db).items() if v[0] in ours} == expected)
    relay.close()


def test_an_author_on_their_own_server(server, db):
    server.join("gil")
    uris = [server.post("gil", f"Loaf {number} #sourdough") for number in range(5)]
    source = f"bluesky://localhost:{server.port}/@gil.test?insecure"
    with following(db, source, accounts={"gil.test": "Gil"}):
        wait_for(lambda: len(bodies(db)) == 5)
        server.delete("gil", uris[2])
        uris.append(server.post("gil", "One more #rye"))
        wait_for(lambda: set(stored(db)) == {*uris} - {uris[2]})
        assert {post.user for post in stored(db).values()} == {"Gil"}
        server.ask("POST", "com.atproto.server.deactivateAccount", "gil")
        wait_for(lambda: bodies(db) == [])
