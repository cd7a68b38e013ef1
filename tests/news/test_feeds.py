"""`hashnews feeds ...` and `news fetch` of the store's feeds, against real servers on loopback."""

import gzip
import json
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from newsroom import Capitals
from newsstand import newsstand, page, rss

from hashnews.cli import main
from hashnews.news import fetch
from hashnews.news.feed_lists import ListedFeed, is_feed_url
from hashnews.news.fetch import Fetcher
from hashnews.news.own_feeds import add_feeds, due_feeds, list_feeds, note_visit
from hashnews.news.rounds import Round, Rounds
from hashnews.news.starter import starter_feeds
from hashnews.news.store import NewsStore
from hashnews.news.worker import Worker
from hashnews.times import microseconds

OLD = Path(__file__).with_name("version_0_1_0.db.gz")


@pytest.fixture
def stand(monkeypatch):
    monkeypatch.setattr(Fetcher, "_wait_for", lambda *_: None)  # one host stands for many here
    with newsstand() as opened:
        yield opened


@pytest.fixture
def db(tmp_path):
    return tmp_path / "n.db"


@pytest.fixture
def run(db):
    def go(*arguments, code=0):
        done = CliRunner().invoke(main, [*map(str, arguments), "--news", str(db)])
        assert done.exit_code == code, done.output
        assert "Traceback" not in done.output
        return done

    return go


def followed(db):
    with NewsStore(db) as store:
        return list_feeds(store)


def sources(db):
    with NewsStore(db) as store:
        return {stored.article.title: stored.article.source for stored in store.read()}


def test_from_a_site_to_its_articles(run, db, stand):
    stand["/"] = page(("/main.xml", "Main"), ("/sport.xml", "Sport"))
    stand["/main.xml"] = rss(1, 2)
    added = run("feeds", "add", stand.url, "--allow-private")
    assert added.stdout == f"added: The Daily Test  {stand.url}/main.xml\n"
    also, following = added.stderr.splitlines()
    assert also == f"  also there: Sport  {stand.url}/sport.xml"
    assert following.endswith("hashnews news fetch")
    again = json.loads(run("feeds", "add", stand.url, "--allow-private", "--json").stdout)
    assert again == {
        "added": False,
        "url": f"{stand.url}/main.xml",
        "title": "The Daily Test",
        "others": [{"url": f"{stand.url}/sport.xml", "title": "Sport"}],
    }
    assert run("feeds", "list").stdout.startswith("new        never")
    told = json.loads(run("news", "fetch", "--allow-private", "--json").stdout)
    assert (told["added"], told["feeds"][0]["outcome"]) == (2, "fetched")
    assert sources(db) == {"Title 1": "The Daily Test", "Title 2": "The Daily Test"}
    feed = json.loads(run("feeds", "list", "--json").stdout)
    assert (feed["state"], feed["articles"], feed["note"]) == ("fetched", 2, None)
    assert feed["added_at"] < feed["visited_at"]
    assert run("feeds", "remove", "The Daily Test").stdout == "1 removed\n"
    assert followed(db) == []
    assert len(sources(db)) == 2  # what it brought stays
    assert "has no feeds" in run("news", "fetch", code=1).stderr
    assert "no feeds yet" in run("feeds", "list").stderr
    assert "has no feed 'x'" in run("feeds", "remove", "x", code=1).stderr


def test_ones_own_refusal_starts_no_wait(run, db, stand):
    stand["/f"] = rss(1)
    run("feeds", "add", f"{stand.url}/f", "--allow-private")
    stand.asked.clear()
    for _ in range(3):
        assert "--allow-private allows it" in run("news", "fetch", code=1).stderr
    assert stand.asked == []
    (feed,) = followed(db)
    assert (feed.outcome, feed.not_before) == ("failed", 0)
    assert json.loads(run("news", "fetch", "--allow-private", "--json").stdout)["added"] == 1
    # Likewise of an address that is named.
    run("news", "fetch", f"{stand.url}/g", code=1)
    stand["/g"] = rss(2)
    told = run("news", "fetch", f"{stand.url}/g", "--allow-private", "--json").stdout
    assert json.loads(told)["added"] == 1


def test_now_overrides_a_wait_and_success_ends_it(run, db, stand):
    stand["/f"] = rss(1)
    run("feeds", "add", f"{stand.url}/f", "--allow-private")
    stand["/f"] = 500
    run("news", "fetch", "--allow-private", code=1)
    assert followed(db)[0].state(datetime.now(UTC)) == "waiting"
    assert "waiting" in run("feeds", "list").stdout
    stand["/f"] = rss(1)
    stand.asked.clear()
    assert "1 waiting" in run("news", "fetch", "--allow-private").stdout
    assert stand.asked == []
    assert "1 fetched" in run("news", "fetch", "--allow-private", "--now").stdout
    (feed,) = followed(db)
    assert (feed.outcome, feed.note, feed.articles, feed.not_before) == ("fetched", "", 1, 0)


def test_a_feed_of_unknown_title_tells_it_at_the_first_visit(run, db, stand, tmp_path):
    stand["/named"] = rss(1, title="&lt;b&gt;Harbour&lt;/b&gt;\n  News")
    stand["/nameless"] = rss(2, title=None)
    (tmp_path / "l.txt").write_text(f"{stand.url}/named\n# not this\n{stand.url}/nameless\n")
    assert run("feeds", "import", tmp_path / "l.txt").stdout == "2 added, 0 known, 0 refused\n"
    run("news", "fetch", "--allow-private")
    assert sources(db) == {"Title 1": "Harbour News", "Title 2": "127.0.0.1"}
    assert sorted(feed.title for feed in followed(db)) == ["127.0.0.1", "Harbour News"]


def test_the_title_of_a_list_stays_and_named_feeds_keep_their_site(run, db, stand, tmp_path):
    opml = f'<opml><body><outline text="My name for it" xmlUrl="{stand.url}/a"/></body></opml>'
    (tmp_path / "l.opml").write_text(opml)
    own = stand.url.encode()
    stand["/a"], stand["/b"] = rss(1), rss(2).replace(b"https://example.org", own)
    run("feeds", "import", tmp_path / "l.opml")
    run("news", "fetch", "--allow-private")
    run("news", "fetch", f"{stand.url}/b", "--allow-private")
    assert sources(db) == {"Title 1": "My name for it", "Title 2": "127.0.0.1"}


def test_two_feeds_of_one_title_are_still_two_sources(run, db, stand, tmp_path):
    """A feed that calls itself like another one takes nothing from it."""
    headline = "<item><title>Morning briefing</title><link>{}/1</link></item>"
    other = stand.url.replace("127.0.0.1", "localhost")
    stand["/a"] = rss(title="News", extra=headline.format(stand.url))
    stand["/b"] = rss(title="News", extra=headline.format(other))
    (tmp_path / "l.txt").write_text(f"{stand.url}/a\n{other}/b")
    run("feeds", "import", tmp_path / "l.txt")
    assert json.loads(run("news", "fetch", "--allow-private", "--json").stdout)["added"] == 2
    # Named on the command line it is the same article: only what its source is called differs.
    named = json.loads(run("news", "fetch", f"{stand.url}/a?", "--allow-private", "--json").stdout)
    assert (named["added"], named["known"]) == (0, 1)


def test_check_looks_at_each_once_and_changes_nothing(run, db, stand):
    stand["/a"], stand["/b"] = rss(1, 2), rss(3, title="Other")
    run("feeds", "add", f"{stand.url}/a", f"{stand.url}/b", "--allow-private")
    stand["/b"] = 404
    before = db.read_bytes()
    stand.asked.clear()
    done = run("feeds", "check", "--allow-private", code=1)
    assert done.stdout.splitlines() == [
        f"failed  Other  {stand.url}/b  the server answered 404",
        f"ok      The Daily Test  {stand.url}/a  entries: 2, newest 2020-06-02T10:00:00Z",
    ]
    assert "1 of 2 feeds cannot be read" in done.stderr
    assert sorted(stand.paths()) == ["/a", "/b"]
    assert db.read_bytes() == before
    told = json.loads(run("feeds", "check", "The Daily Test", "--allow-private", "--json").stdout)
    assert (told["state"], told["entries"], told["problem"]) == ("ok", 2, None)


def test_a_feed_added_between_two_rounds_is_in_the_next(db, stand):
    stand["/a"], stand["/b"] = rss(1), rss(2)
    with NewsStore(db, "write") as store:
        add_feeds(store, [ListedFeed(f"{stand.url}/a")])
    command = [sys.executable, "-m", "hashnews", "news", "fetch", "--every", "1s", "--json"]
    process = subprocess.Popen(
        [*command, "--allow-private", "--news", str(db)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert json.loads(process.stdout.readline())["added"] == 1
        with NewsStore(db, "write") as store:
            add_feeds(store, [ListedFeed(f"{stand.url}/b")])
        while json.loads(process.stdout.readline())["added"] == 0:
            pass
    finally:
        process.terminate()
        process.communicate(timeout=120)
    assert set(sources(db)) == {"Title 1", "Title 2"}


def test_a_store_of_the_first_release_gets_feeds_and_keeps_its_marks(run, db, stand):
    db.write_bytes(gzip.decompress(OLD.read_bytes()))
    with closing(sqlite3.connect(db)) as old:
        marks = old.execute("SELECT * FROM feeds ORDER BY url").fetchall()
        assert "own_feeds" not in {
            name for (name,) in old.execute("SELECT name FROM sqlite_schema")
        }
    stand["/f"] = rss(1)
    run("feeds", "add", f"{stand.url}/f", "--allow-private")
    assert json.loads(run("news", "fetch", "--allow-private", "--json").stdout)["added"] == 1
    with closing(sqlite3.connect(db)) as new:
        now = new.execute("SELECT * FROM feeds ORDER BY url").fetchall()
    assert [row for row in now if not row[0].startswith(stand.url)] == marks
    with NewsStore(db) as store:
        assert store.check() == []
        assert len(store) == 7


VISITING = """
import sys
from newsroom import Capitals
from hashnews.news.fetch import Fetcher
from hashnews.news.rounds import Round, Rounds
from hashnews.news.store import NewsStore
from hashnews.news.worker import Worker

with NewsStore(sys.argv[1], "write") as store, Fetcher(True) as fetcher, Worker() as worker:
    Rounds(store, Capitals(), fetcher, worker).visit(sys.argv[2], Round())
"""


def test_killed_in_a_visit_the_feed_is_not_the_next_again(db, stand):
    """Else a feed that ends whoever reads it would keep all others from being read."""
    reached = threading.Event()

    def hang(_):
        reached.set()
        threading.Event().wait(60)

    stand["/a"], stand["/b"] = hang, rss(1)
    with NewsStore(db, "write") as store:
        add_feeds(store, [ListedFeed(f"{stand.url}/a"), ListedFeed(f"{stand.url}/b")])
        process = subprocess.Popen(
            [sys.executable, "-c", VISITING, str(db), f"{stand.url}/a"],
            cwd=Path(__file__).parent,
        )
        assert reached.wait(60)
        process.kill()
        process.wait()
        now, every = datetime.now(UTC), timedelta(minutes=15)
        assert due_feeds(store, every, now) == [f"{stand.url}/b"]
        assert {f.url[-2:]: f.state(now) for f in list_feeds(store)} == {
            "/a": "visiting",
            "/b": "new",
        }
        later = now + 2 * every
        assert due_feeds(store, every, later) == [f"{stand.url}/b", f"{stand.url}/a"]
        stand["/a"] = rss(2)
        with Fetcher(True) as fetcher, Worker() as worker:
            Rounds(store, Capitals(), fetcher, worker).visit(f"{stand.url}/a", Round())
        assert [f.outcome for f in list_feeds(store) if f.url.endswith("/a")] == ["fetched"]
        assert store.check() == []


IMPORTING = """
import sys
from hashnews.news.feed_lists import read_list
from hashnews.news.own_feeds import add_feeds
from hashnews.news.store import NewsStore

listed = read_list(sys.argv[2])
with NewsStore(sys.argv[1], "write") as store:
    run = store.database.run_many
    def slowly(sql, rows):
        for at, row in enumerate(rows):
            run(sql, [row])
            if at == len(rows) // 2:
                print("half", flush=True)
                sys.stdin.readline()
    store.database.run_many = slowly
    add_feeds(store, listed)
"""


def test_killed_in_the_middle_of_a_list_nothing_of_it_is_there(run, db, tmp_path):
    count = 5000
    urls = [f"https://example.org/{n}" for n in range(count)]
    (tmp_path / "l.txt").write_text("\n".join(urls))
    with NewsStore(db, "write") as store:
        add_feeds(store, [ListedFeed("https://example.org/first", "First")])
    process = subprocess.Popen(
        [sys.executable, "-c", IMPORTING, str(db), str(tmp_path / "l.txt")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "half\n"
    process.kill()
    process.communicate()
    assert [feed.title for feed in followed(db)] == ["First"]
    told = json.loads(run("feeds", "import", tmp_path / "l.txt", "--json").stdout)
    assert told == {"added": count, "known": 0, "refused": 0}
    again = json.loads(run("feeds", "import", tmp_path / "l.txt", "--json").stdout)
    assert again == {"added": 0, "known": count, "refused": 0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("due")


@settings(max_examples=50)
@given(
    feeds=st.lists(
        st.tuples(st.none() | st.integers(-90, 90), st.integers(-90, 90)), min_size=1, max_size=8
    ),
    minutes=st.integers(1, 60),
)
def test_what_is_due_is_what_somebody_with_a_watch_would_say(folder, feeds, minutes):
    """Visits and waits as minutes from now; visits of the future are those of a wrong clock."""
    now, every = datetime(2024, 6, 3, 12, tzinfo=UTC), timedelta(minutes=minutes)

    def moment(offset):
        return now + timedelta(minutes=offset)

    with NewsStore(folder / "n.db", "write") as store:
        for table in ("own_feeds", "feeds"):
            store.database.run(f"DELETE FROM {table}")
        for number, (visited, waits) in enumerate(feeds):
            url = f"https://example.org/{number}"
            add_feeds(store, [ListedFeed(url)])
            if visited is not None:
                note_visit(store, url, "fetched", at=moment(visited))
            store.database.run(
                "INSERT INTO feeds VALUES (?,NULL,NULL,1,?)", (url, microseconds(moment(waits)))
            )
        due = due_feeds(store, every, now)
    expected = [
        f"https://example.org/{number}"
        for number, (visited, waits) in sorted(
            enumerate(feeds), key=lambda one: (one[1][0] is not None, one[1][0] or 0, one[0])
        )
        if waits <= 0 and (visited is None or visited > 0 or visited <= -minutes)
    ]
    assert due == expected


def test_the_starter_list(run, db):
    every = starter_feeds()
    assert len({feed.url for feed in every}) == len(every) > 100
    assert all(is_feed_url(feed.url) and feed.title and feed.topic for feed in every)
    assert all(len(feed.labels) == 1 and len(feed.labels[0]) in (2, 3) for feed in every)
    assert {"world", "science", "sport", "technology"} < {feed.topic for feed in every}
    listed = run("feeds", "starter", "science")
    assert listed.stderr.endswith("hashnews feeds starter science --add\n")
    shown = listed.stdout
    assert "NASA" in shown
    assert "BBC Sport" not in shown
    assert not db.exists()
    told = json.loads(run("feeds", "starter", "AU", "--add", "--json").stdout)
    assert told["added"] == len(starter_feeds("au")) > 1
    assert {feed.topic for feed in followed(db)} == {"world"}
    told = run("feeds", "starter", "atlantis", code=1).stderr
    assert "has nothing for 'atlantis'" in told
    assert "science" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["add", "http://127.0.0.1/"], "not public (--allow-private allows it)"),
        (["add", "http://[x"], "only http and https"),
        (["add", "file:///etc/passwd"], "only http and https"),
        (["add", "ftp://example.org/feed"], "only http and https"),
        (["add", " "], ""),
        (["import", "nope.opml"], "neither a URL nor a readable file"),
        (["list"], "there is no such news store"),
        (["check"], "there is no such news store"),
        (["export"], "there is no such news store"),
    ],
)
def test_mistakes_are_one_line_and_make_no_store(run, db, monkeypatch, tmp_path, arguments, line):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fetch, "SECONDS", 5.0)
    done = run("feeds", *arguments, code=1)
    assert line in done.stderr
    assert done.stderr.count("\n") == 1
    assert not db.exists()
