"""Addresses, the store's side of following, the commands, and what keeps strangers out."""

import json
import re
import sys
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner
from following import QUICK, bodies, following, rows, stored, wait_for
from hostile_mastodon import MastodonServer, status
from hypothesis import given, settings
from hypothesis import strategies as st

from hashnews.cli import main
from hashnews.errors import DataError
from hashnews.news.arrivals import latest_arrivals
from hashnews.news.store import NewsStore
from hashnews.posts.networks.address import APP_VIEW, parse_source
from hashnews.posts.networks.authors import forget_author
from hashnews.posts.networks.events import (
    Arrival,
    AuthorGone,
    FollowSettings,
    Removed,
    Wrote,
    id_at,
    place_of,
)
from hashnews.posts.networks.follower import Follower
from hashnews.posts.networks.follows import Follows, Told
from hashnews.posts.networks.sources import (
    add_source,
    begin_source,
    forget_source,
    own_accounts,
    pause_source,
    source_states,
    sources_to_follow,
)
from hashnews.posts.table import add_posts
from hashnews.prepare.preparer import Preparer
from hashnews.records import DAY_END, Hashtag, PreparedPost
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter

NOW = datetime.now(UTC)


@pytest.fixture(scope="module")
def preparer():
    return Preparer(shipped_segmenter(), load_finder("fast"))


@pytest.fixture
def db(tmp_path):
    return tmp_path / "news.db"


def wrote(number, author="ann@a.example", place=None, days=0, text="Bread #sourdough"):
    created = (NOW - timedelta(days=days)).isoformat()
    place = place_of(number) if place is None else place
    return Wrote(f"https://a.example/{number}", place, author, f"{text} {number}", created)


def begun(store, preparer, *addresses, **how):
    """Sources that are followed, and what takes in what they tell."""
    settings = FollowSettings(**how)
    for address in addresses:
        add_source(store, address, settings)
    settings = FollowSettings(**{**how, "accounts": own_accounts(store)})
    sources = [begin_source(store, address, settings) for address in addresses]
    follows = Follows(store, preparer, sources, settings.accounts)
    return follows, *(source.number for source in sources)


ONE, TWO = "mastodon://a.example/public", "mastodon://b.example/public"


def settle(follows, source, *events, cursor=None):
    follows.settle([Told(source, Arrival(tuple(events), cursor))])


# ----- addresses -----


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mastodon://Mastodon.Social/tags/Bread", ("tags", "mastodon.social", "Bread", False, "")),
        ("mastodon://a.example/tags/%23bread", ("tags", "a.example", "bread", False, "")),
        ("mastodon://a.example/public", ("public", "a.example", "", False, "")),
        ("mastodon://a.example/public?local", ("public", "a.example", "", True, "")),
        ("mastodon://a.example/lists/12", ("lists", "a.example", "12", False, "")),
        ("mastodon://a.example/@ann@b.example",
         ("account", "a.example", "ann@b.example", False, "")),
        ("bluesky://jetstream",
         ("jetstream", "jetstream2.us-east.bsky.network", "", False, APP_VIEW)),
        ("bluesky://jetstream?host=j.example", ("jetstream", "j.example", "", False, APP_VIEW)),
        ("bluesky://firehose/pds.example", ("firehose", "pds.example", "", False, "pds.example")),
        ("bluesky://firehose/bsky.network", ("firehose", "bsky.network", "", False, APP_VIEW)),
        ("bluesky://bsky.social/@ann.bsky.social",
         ("account", "bsky.social", "ann.bsky.social", False, "")),
        ("bluesky://api.example/tags/brød", ("tags", "api.example", "brød", False, "")),
    ],
)  # fmt: skip
def test_addresses(text, expected):
    found = parse_source(text)
    assert (found.kind, found.host, found.name, found.local, found.profiles) == expected
    assert found.url() == f"https://{found.host}"


@pytest.mark.parametrize(
    "text",
    [
        "", "bread", "https://mastodon.social/tags/bread", "mastodon://", "mastodon://a.example",
        "mastodon://a.example/tags", "mastodon://a.example/tags/", "mastodon://a.example/@",
        "mastodon://a.example/home", "mastodon://a.example/tags/../../admin",
        "mastodon://a b/tags/x", "mastodon://ann:pass@a.example/tags/x", "bluesky://firehose",
        "bluesky://firehose/a.example/b", "bluesky://jetstream/x", "bluesky://x.example/public",
        "mastodon://a.example/tags/x?local", "mastodon://a.example/tags/x?y=1",
        "bluesky://jetstream?host=a/b", "mastodon://a.example/tags/a%0d%0aHost:%20b",
        "mastodon://[::1/tags/x", "mastodon://a.example/tags/x#y", "bluesky://x.example/lists/1",
    ],
)  # fmt: skip
def test_what_is_no_address_gets_one_line(text, db):
    with pytest.raises(DataError):
        parse_source(text)
    told = CliRunner().invoke(main, ["posts", "follow", text, "--news", str(db)])
    assert told.exit_code in (1, 2)
    assert told.output.count("\n") == 1
    assert not db.exists()


@given(st.text())
def test_any_text_is_an_address_or_refused(text):
    for start in ("", "mastodon://", "bluesky://", "mastodon://a.example/"):
        try:
            found = parse_source(start + text)
        except DataError:
            continue
        assert re.fullmatch(r"[\w.:@\[\]-]*", found.host + found.name)


def test_http_is_for_ones_own_servers():
    with pytest.raises(DataError, match="--allow-private"):
        parse_source("mastodon://127.0.0.1:3000/public?insecure")


@given(st.lists(st.integers(0, 10**25)))
def test_places_sort_as_ids_do(ids):
    assert [int(id_at(place)) for place in sorted(map(place_of, ids))] == sorted(ids)


@pytest.mark.parametrize(
    "source",
    [
        "mastodon://localhost/public", "mastodon://10.0.0.1/public", "mastodon://[::1]/public",
        "bluesky://firehose/192.168.1.1", "bluesky://127.0.0.1/@ann.test",
        "mastodon://169.254.169.254/public", "mastodon://a.example:22/public",
    ],
)  # fmt: skip
def test_private_places_are_not_asked(source, db):
    follower = Follower(db, [source], FollowSettings())
    follower.start()
    assert follower.wait(60)
    follower.stop()
    ((state, error),) = rows(db, "SELECT state, error FROM followed")
    assert (state, "--allow-private" in error) == ("failed", True)


# ----- the store -----


def test_a_cursor_comes_with_its_posts_or_not_at_all(db, preparer, monkeypatch):
    with NewsStore(db, "write") as store:
        follows, number = begun(store, preparer, ONE)
        assert begin_source(store, ONE, FollowSettings()).cursor is None
        settle(follows, number, wrote(1), cursor="1")
        with monkeypatch.context() as patch:
            patch.setattr(store.database, "run_many", _breaks)
            with pytest.raises(RuntimeError):
                settle(follows, number, wrote(2), cursor="2")
        again = begin_source(store, ONE, FollowSettings())
        assert (again.number, again.cursor) == (number, "1")
    assert bodies(db) == ["Bread sourdough 1"]


def test_a_day_without_an_hour_is_no_earlier_than_its_end(db, preparer):
    """Else a suggestion for a post of that day would know it already."""
    days = [(NOW - timedelta(days=days)).date() for days in (5, 0)]
    with NewsStore(db, "write") as store:
        follows, source = begun(store, preparer, ONE)
        began = datetime.now(UTC)
        bare = [wrote(n)._replace(created_at=day.isoformat()) for n, day in enumerate(days)]
        old, new = (follows.prepared(event, source).created_at for event in bare)
        assert old == datetime.combine(days[0], DAY_END)
        assert began <= new <= datetime.now(UTC)  # no later than it was seen


def _breaks(*_):
    raise RuntimeError("killed")


EVENTS = st.lists(
    st.tuples(st.sampled_from("wWrg"), st.integers(0, 5), st.integers(0, 2)), max_size=25
)


@settings(max_examples=40)  # each commits up to 25 times
@given(EVENTS, st.lists(st.integers(1, 5), min_size=1))
def test_any_batches_end_as_one_event_after_the_other(tmp_path_factory, events, sizes):
    """However events fall into batches, what is left is what a plain dictionary would hold."""
    db, oracle, listed = tmp_path_factory.mktemp("batch") / "news.db", {}, []
    for kind, number, author in events:
        name = f"{'abc'[author]}@a.example"
        uri = f"https://a.example/{number}-{author}"
        if kind in "wW":
            text = f"Bread #sourdough {number} {kind}"
            listed.append(Wrote(uri, place_of(f"{number}-{author}"), name, text, NOW.isoformat()))
            oracle[uri] = (name, text.replace("#", ""))
        elif kind == "r":
            by_uri = number % 2
            listed.append(Removed(uri) if by_uri else Removed(place=place_of(f"{number}-{author}")))
            oracle.pop(uri, None)
        else:
            listed.append(AuthorGone(name))
            oracle = {key: one for key, one in oracle.items() if one[0] != name}
    with NewsStore(db, "write") as store:
        follows, source = begun(store, PREPARER[0], ONE)
        while listed:
            size = sizes[len(listed) % len(sizes)]
            settle(follows, source, *listed[:size])
            listed = listed[size:]
        expected = {follows.post_id(uri): (follows.author(name), text)
                    for uri, (name, text) in oracle.items()}  # fmt: skip
        sighted = store.database.rows("SELECT post FROM sightings")
    assert {key: (post.user, post.body) for key, post in stored(db).items()} == expected
    assert {post for (post,) in sighted} == set(expected)


PREPARER = []


@pytest.fixture(autouse=True, scope="module")
def _shared_preparer(preparer):
    PREPARER.append(preparer)


def test_retention_by_age_and_number_spares_ones_own(db, preparer):
    own = {"me@a.example": "me"}
    with NewsStore(db, "write") as store:
        add_posts(store, [PreparedPost(
            id="archived", user="me", body="Old", entities=(), created_at=NOW - timedelta(days=300),
            hashtags=(Hashtag(("old",), "#old"),),
        )])  # fmt: skip
        follows, source, other = begun(
            store, preparer, ONE, TWO, keep=timedelta(days=10), most=4, accounts=own
        )
        settle(follows, source, wrote(0, days=11))  # too old to begin with
        settle(follows, source, *(wrote(n, days=n) for n in range(1, 9)))
        settle(follows, source, wrote(20, "me@a.example", days=200))
        settle(follows, other, wrote(30, days=9))  # of another source: it has its own bounds
        assert follows.forget_old() == 4
        assert follows.forget_old() == 0
    left = {f"Bread sourdough {number}" for number in (1, 2, 3, 4, 20, 30)}
    assert set(bodies(db)) == {"Old", *left}
    with NewsStore(db, "write") as store:
        shorter, _ = begun(store, preparer, ONE, keep=timedelta(days=3, hours=12), accounts=own)
        assert shorter.forget_old() == 1


def test_forgetting_a_source_and_an_author(db, preparer):
    with NewsStore(db, "write") as store:
        follows, one, two = begun(store, preparer, ONE, TWO)
        settle(follows, one, wrote(1), wrote(2), wrote(3, "Bob@b.example"))
        settle(follows, two, wrote(2, place=place_of(77)), wrote(4, "Bob@b.example"))
        assert forget_source(store, ONE) == 2
        assert [state.address for state in source_states(store)] == [TWO]
        with pytest.raises(DataError, match="never followed"):
            forget_source(store, ONE)
        settle(follows, one, wrote(9))  # somebody still follows it
        assert follows.ended == {one}
        assert forget_author(store, "bob@B.example") == 1
        settle(follows, two, wrote(5, "bob@b.example"), wrote(6))
    assert bodies(db) == ["Bread sourdough 2", "Bread sourdough 6"]


def test_an_own_post_of_an_archive_is_not_doubled_and_goes_with_the_network(db, preparer):
    with NewsStore(db, "write") as store:
        follows, source = begun(store, preparer, ONE, accounts={"me@a.example": "me"})
        for name in ("https://a.example/1", "of another network"):
            add_posts(store, [PreparedPost(
                id=name, user="me", body="Bread sourdough 1", entities=(), created_at=NOW,
                hashtags=(Hashtag(("sourdough",), "#sourdough"),),
            )])  # fmt: skip
        settle(follows, source, wrote(1, "me@a.example"))
        assert len(stored(db)) == 2
        settle(follows, source, AuthorGone("me@a.example"))
        assert set(stored(db)) == {"of another network"}


def test_who_is_forgotten_is_nowhere_in_the_file(db, preparer):
    """Neither under a hash nor under a name, and not in the pages that SQLite no longer uses."""
    with NewsStore(db, "write") as store:
        follows, source = begun(store, preparer, ONE, accounts={"me@a.example": "me"})
        settle(follows, source, *(wrote(n, text="Zanzibarbread #zz") for n in range(50)))
        settle(follows, source, wrote(99, "me@a.example", text="Mybread #mine"), wrote(77, "b@b.c"))
        assert forget_author(store, "@Ann@a.example") == 50
        assert forget_author(store, "me") == 1
        assert own_accounts(store) == {}
        with pytest.raises(DataError, match="give the DID"):
            forget_author(store, "ann.bsky.social")
    content = db.read_bytes()
    assert bodies(db) == ["Bread sourdough 77"]
    assert (b"Zanzibarbread" in content, b"Mybread" in content) == (False, False)
    with NewsStore(db, "write") as store:
        follows, source = begun(store, preparer, ONE)
        settle(follows, source, wrote(100), wrote(101, "b@b.c"))
        assert len(stored(db)) == 2  # ann stays out
        follows, source = begun(store, preparer, ONE, accounts={"me@a.example": "me"})
        settle(follows, source, wrote(102, "me@a.example"))  # oneself comes back when one says so
    assert len(stored(db)) == 3


def test_pausing_takes_hold_at_once_and_leaves_no_gap(db, preparer):
    with NewsStore(db, "write") as store:
        follows, one, two = begun(store, preparer, ONE, TWO)
        settle(follows, one, wrote(1), cursor="1")
        pause_source(store, ONE)
        assert sources_to_follow(store) == [TWO]
        assert [state.state for state in source_states(store)] == ["paused", "connecting"]
        settle(follows, one, wrote(2), cursor="2")  # was on its way
        settle(follows, two, wrote(3), cursor="3")
        pause_source(store, ONE, False)
        settle(follows, one, wrote(4), cursor="4")  # what came meanwhile would be missing
        assert follows.ended == {one}
        assert begin_source(store, ONE, FollowSettings()).cursor == "1"
        with pytest.raises(DataError, match="never followed"):
            pause_source(store, "mastodon://c.example/public")
    assert bodies(db) == ["Bread sourdough 1", "Bread sourdough 3"]


def test_a_source_keeps_how_it_is_followed(db, preparer):
    how = {"languages": frozenset({"de"}), "hashtags": frozenset({"brot"}), "most": 7,
           "keep": timedelta(days=3), "every": 9.0}  # fmt: skip
    with NewsStore(db, "write") as store:
        assert add_source(store, ONE, FollowSettings(**how, tokens={"a.example": "open sesame"}))
        assert not add_source(store, ONE, FollowSettings(**how))
        kept = begin_source(store, ONE, FollowSettings(pause=5.0)).settings
        assert {name: getattr(kept, name) for name in how} == how
        assert kept.pause == 5.0
        (state,) = source_states(store)
        assert state.as_dict()["settings"] == {
            "languages": ["de"], "hashtags": ["brot"], "most": 7, "keep": 259_200.0, "every": 9.0,
        }  # fmt: skip
        with pytest.raises(DataError, match="is not a source"):
            add_source(store, "mastodon://", FollowSettings())
    assert b"open sesame" not in db.read_bytes()


def test_what_arrived_is_told_by_minute_and_source(db, preparer):
    with NewsStore(db, "write") as store:
        follows, one, two = begun(store, preparer, ONE, TWO)
        settle(follows, one, wrote(1), wrote(2), wrote(3)._replace(created_at="never"))
        settle(follows, one, wrote(1), Removed(place=place_of(2)))
        settle(follows, two, wrote(4))
        found = latest_arrivals(store)
    sums = {line.source: (line.came, line.went, line.refused) for line in found}
    if len(found) == 2:  # else the minute turned over
        assert sums == {ONE: (2, 1, 1), TWO: (1, 0, 0)}
    assert sum(line.came for line in found) == 3
    assert all(line.kind == "posts" and line.as_dict()["at"].endswith("Z") for line in found)


def test_salts_differ_between_stores(tmp_path, preparer):
    names = set()
    for path in (tmp_path / "a.db", tmp_path / "b.db"):
        with NewsStore(path, "write") as store:
            names.add(begun(store, preparer, ONE)[0].author("ann@a.example"))
        with NewsStore(path, "write") as store:
            names.add(begun(store, preparer, ONE)[0].author("Ann@a.example"))
    assert len(names) == 2


# ----- the commands -----


def run(*arguments):
    return CliRunner().invoke(main, ["posts", *map(str, arguments)])


def test_sources_and_forget_on_the_command_line(db):
    server = MastodonServer()
    server.statuses = {1: status(1)}
    with following(db, server.source):
        wait_for(lambda: bodies(db))
        state = json.loads(run("sources", "--news", db, "--json").output)
        assert (state["state"], state["posts"], state["error"]) == ("following", 1, None)
    shown = run("sources", "--news", db).output
    assert "stopped: 1 posts" in shown
    assert run("forget", "--news", db).exit_code == 2
    assert "was never followed" in run("forget", "mastodon://x/public", "--news", db).output
    assert run("forget", server.source, "--news", db).output == "1 posts forgotten\n"
    assert "no source" in run("sources", "--news", db).output
    assert run("sources", "--news", db.with_name("none.db")).exit_code == 1
    server.close()


def test_following_fails_in_one_line(db):
    server = MastodonServer()
    server.answers["/api/v1/timelines/tag/bread"] = lambda query: (401, {}, {})
    told = run("follow", server.source, "--news", db, "--allow-private")
    assert told.exit_code == 1
    assert told.output.strip().splitlines()[-1].endswith("the server answered 401")
    server.close()


@pytest.mark.parametrize("user", ["ann", "@ann", "ann=", "=", "ann@home"])
def test_an_account_of_ones_own_has_to_be_whole(db, user):
    told = run("follow", "mastodon://a.example/public", "--user", user, "--news", db)
    assert told.exit_code == 2
    assert "ann@mastodon.social" in told.output


def test_tokens_are_read_or_refused(db, tmp_path):
    file = tmp_path / "tokens"
    file.write_text("a.example secret\nb.example\n")
    told = run("follow", "mastodon://10.0.0.1/public", "--tokens", file, "--news", db)
    assert f"{file}:2: should be a host" in told.output
    assert "secret" not in told.output


def test_without_the_extra_it_says_what_to_install(db, monkeypatch):
    monkeypatch.setitem(sys.modules, "websockets", None)
    monkeypatch.setitem(sys.modules, "websockets.exceptions", None)
    told = run("follow", "bluesky://firehose/localhost:9?insecure", "--news", db, "--allow-private")
    assert told.exit_code == 1
    assert "pip install 'hashnews[networks]'" in told.output


def test_pausing_ends_a_follower_that_runs_and_following_again_resumes(db):
    server = MastodonServer()
    server.statuses = {1: status(1)}
    with following(db, server.source) as follower:
        wait_for(lambda: bodies(db))
        assert run("pause", server.source, "--news", db).output == "1 paused\n"
        assert follower.wait(60)
    server.statuses[2] = status(2)
    assert "has no source to follow" in run("follow", "--news", db).output
    assert run("follow", "--language", "en", "--news", db).exit_code == 2
    with NewsStore(db, "write") as store:
        pause_source(store, server.source, False)
    follower = Follower(db, [server.source], FollowSettings(**QUICK), as_kept=True)
    follower.start()
    wait_for(lambda: len(bodies(db)) == 2)
    follower.stop()
    server.close()


def test_two_followers_share_a_store(db):
    server = MastodonServer()
    server.statuses = {n: status(n) for n in range(1, 5)}
    other = server.source.replace("tags/bread", "public")
    first = Follower(db, [server.source], FollowSettings(**QUICK))
    first.start()
    with following(db, other):
        wait_for(lambda: rows(db, "SELECT count(*) FROM sightings") == [(8,)])
    first.stop()
    assert len(bodies(db)) == 4
    server.close()
