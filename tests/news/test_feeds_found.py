"""Discovery of feeds, lists of feeds and JSON Feed, each against what should never be sent."""

import json
import time
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from newsstand import newsstand, page, rss

from hashnews.cli import main
from hashnews.errors import BlockedAddress, DataError, FetchError, NotAFeed, TooSlow
from hashnews.news import discover as module
from hashnews.news import guard, json_feed
from hashnews.news.discover import MOST_TRIED, discover, read_links
from hashnews.news.feed_lists import (
    ListedFeed,
    as_title,
    feeds_in,
    is_feed_url,
    read_list,
    read_opml,
    write_opml,
)
from hashnews.news.feeds import article_of
from hashnews.news.fetch import Fetcher
from hashnews.news.json_feed import read_any_feed, read_title
from hashnews.news.worker import Worker

ATOM = b'<feed xmlns="http://www.w3.org/2005/Atom"><title>An Atom</title></feed>'
JSON = {"version": "https://jsonfeed.org/version/1.1", "title": "A JSON Feed", "items": []}
NOTHING = page(body="Nothing here")


@pytest.fixture(scope="module")
def worker():
    with Worker(120) as started:
        yield started


@pytest.fixture
def stand():
    with newsstand() as opened:
        yield opened


@pytest.fixture
def find(stand, worker):
    """The paths that discovery finds, the main one first, and its title."""

    def go(path="/", reader=worker):
        with Fetcher(allow_private=True, seconds=60, delay=0) as fetcher:
            found = discover(stand.url + path, fetcher, reader)
        return [feed.url.removeprefix(stand.url) for feed in found], found[0].title

    return go


FEEDS = {"/a": rss(1, title="A"), "/b": rss(2, title="B"), "/atom": ATOM,
         "/json": json.dumps(JSON).encode()}  # fmt: skip
RELATIVE = b'<base href="/deep/er/"><link rel=alternate type=application/rss+xml href="../../a">'
UPPER = b"<LINK REL='Alternate stylesheet' TYPE='Application/RSS+XML; charset=utf-8' HREF=/a />"
WORDPRESS = (
    b'<link rel="alternate" type="application/json" href="/wp-json/wp/v2/pages/5">'
    b'<link rel="stylesheet" type="text/xml" href="/style.xml">'
    b'<link rel="alternate" hreflang="de" href="/de">'
    b'<link rel="alternate" type="application/rss+xml" href="/comments/feed" title="Comments">'
    b'<link rel="alternate" type="application/rss+xml" href="/a">'
)


@pytest.mark.parametrize(
    ("front", "found", "title"),
    [
        (FEEDS["/a"], ["/"], "A"),
        (ATOM, ["/"], "An Atom"),
        (FEEDS["/json"], ["/"], "A JSON Feed"),
        (page(("/a", "x")), ["/a"], "A"),
        (page(("/a", "x"), ("/b", "y")), ["/a", "/b"], "A"),
        (page(("/comments", ""), ("/b", "Comments on B"), ("/a", "")),
         ["/a", "/comments", "/b"], "A"),
        (page(("/gone", ""), ("/", "itself"), ("/b", "")), ["/b", "/gone"], "B"),
        (page(("/json", "")), ["/json"], "A JSON Feed"),
        (page(("/atom", ""), ("/atom", "twice")), ["/atom"], "An Atom"),
        (RELATIVE, ["/a"], "A"),
        (UPPER, ["/a"], "A"),
        (WORDPRESS, ["/a", "/comments/feed"], "A"),
        (b"<![x[ <!y <?z " + page(("/a", "")), ["/a"], "A"),
        (page(("javascript:alert(1)", ""), ("data:text/xml,x", ""), ("file:///etc/passwd", ""),
              ("http://[x", ""), ("", ""), ("//", ""), ("/a b", ""), ("/a", "")), ["/a"], "A"),
        (page(("/a", "")).replace(b"Nothing", b"\0").decode().encode("utf-8"), ["/a"], "A"),
        (b"<div>" * 20_000 + page(("/a", "")), ["/a"], "A"),
    ],
)  # fmt: skip
def test_what_a_front_page_leads_to(stand, find, front, found, title):
    stand.laid_out |= {**FEEDS, "/": front}
    assert find() == (found, title)


def test_usual_paths_below_the_page_then_of_the_site(stand, find):
    stand["/blog/"] = NOTHING
    stand["/atom.xml"] = ATOM
    assert find("/blog/") == (["/atom.xml"], "An Atom")
    stand["/blog/feed"] = rss(1)
    assert find("/blog/") == (["/blog/feed"], "The Daily Test")


def test_nothing_found_is_told_after_few_requests(stand, find):
    stand["/"] = page(*((f"/gone/{n}", "") for n in range(40)))
    with pytest.raises(FetchError, match="no feed was found there: give the address of the feed"):
        find()
    assert len(stand.asked) == 1 + MOST_TRIED + len(module.USUAL)
    stand["/"] = 503
    with pytest.raises(FetchError, match="answered 503"):
        find()


def test_a_site_without_a_scheme_is_asked_securely_first(stand, worker):
    stand["/"] = rss(1)
    host = stand.url.removeprefix("http://")
    with Fetcher(allow_private=True, delay=0) as fetcher:
        (found,) = discover(host, fetcher, worker)
        assert found.url == stand.url
        asked = []
        fetcher.get = lambda url, _: asked.append(url) or (_ for _ in ()).throw(FetchError("no"))
        with pytest.raises(FetchError, match="no"):
            discover(host, fetcher, worker)
    assert asked == [f"https://{host}", f"http://{host}"]


def test_a_public_page_cannot_send_us_into_our_own_network(stand, worker, monkeypatch):
    """For a moment 127.0.0.1 is the public Internet, and nothing else."""
    port = int(stand.url.rpartition(":")[2])
    monkeypatch.setattr(guard, "is_public", lambda address: address == "127.0.0.1")
    monkeypatch.setattr(guard, "WEB_PORTS", (80, port))
    reached = []
    connect = guard.httpcore.SyncBackend.connect_tcp

    def noted(self, host, *rest, **more):
        reached.append(host)
        return connect(self, host, *rest, **more)

    monkeypatch.setattr(guard.httpcore.SyncBackend, "connect_tcp", noted)
    inside = ["http://169.254.169.254/latest/", "http://127.0.0.2/feed", "http://10.0.0.1/"]
    stand["/"] = page(*((url, "") for url in inside), ("/a", ""))
    stand["/a"] = rss(1)
    with Fetcher(delay=0) as fetcher:
        main_feed, *_ = discover(stand.url, fetcher, worker)
        assert main_feed.url == f"{stand.url}/a"
        assert set(reached) == {"127.0.0.1"}
        with pytest.raises(BlockedAddress):
            discover(inside[1], fetcher, worker)


def drip(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    while True:
        handler.wfile.write(b"x")
        time.sleep(0.1)


def endless(handler):
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b"<link rel=alternate>" * 5000)


def to_itself(handler):
    handler.send_response(302)
    handler.send_header("Location", "/")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


@pytest.mark.parametrize(
    ("front", "line"),
    [(drip, "more than 2 s"), (endless, "larger than 10 MiB"), (to_itself, "more than 5 times")],
)
def test_hostile_front_pages_end(stand, worker, front, line):
    stand["/"] = front
    with (
        Fetcher(allow_private=True, seconds=2, delay=0) as fetcher,
        pytest.raises(FetchError, match=line),
    ):
        discover(stand.url, fetcher, worker)


def test_a_page_that_nobody_can_read_in_time_is_given_up(stand, find):
    class Stuck(Worker):
        def read(self, what, body, **about):
            raise TooSlow("took more than 10 s to read")

    stand["/"] = page(("/a", ""))
    with pytest.raises(TooSlow):
        find(reader=Stuck())


def test_many_links_are_cut_and_cheap():
    many = page(*((f"/{n}", "t" * 1000) for n in range(2000)))
    found = read_links(many, "https://example.org/")
    assert len(found) == module.MOST_LINKS
    assert all(len(title) <= 200 for _, title in found)


@given(st.binary(max_size=300) | st.text("<>=\"'/!-[]linkrelatshfyp &;#\0 ", max_size=200))
def test_no_page_harms_the_reader_of_links(body):
    content = body if isinstance(body, bytes) else body.encode()
    for url, title in read_links(content + page(("/x", "")), "https://example.org/"):
        assert is_feed_url(url)
        assert title == as_title(title)


# ----- lists -----

TITLES = st.text(max_size=30).map(as_title)
URLS = st.from_regex(r"https?://[a-z]{1,9}\.org/[^\s\x00-\x1f\x7f-\x9f]{0,20}", fullmatch=True)


LISTED = st.tuples(URLS.filter(is_feed_url), TITLES, TITLES).map(lambda named: ListedFeed(*named))


@given(st.lists(LISTED, max_size=9, unique_by=lambda feed: feed.url))
def test_what_is_written_as_opml_is_read_again(feeds):
    known = [f if f.title != as_title(f.url) else f._replace(title="") for f in feeds]
    by_topic = {topic: [f for f in known if f.topic == topic] for topic in {f.topic for f in feeds}}
    read = read_opml(write_opml(feeds).encode(), "x.opml")
    assert {topic: [f for f in read if f.topic == topic] for topic in by_topic} == by_topic
    assert len(read) == len(feeds)


def outlines(inside, head='<?xml version="1.0"?>'):
    return f"{head}<opml version='2.0'><body>{inside}</body></opml>".encode()


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
BOMB = f'<?xml version="1.0"?><!DOCTYPE o [<!ENTITY l0 "lol">{LAUGHS}]>'
FILE = '<?xml version="1.0"?><!DOCTYPE o [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
ONE = '<outline xmlUrl="https://example.org/feed" text="{}"/>'


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (outlines(ONE.format("&l9;"), BOMB), "cannot be read as OPML"),
        (outlines(ONE.format("&l9;"), BOMB).decode().encode("utf-16"), "cannot be read as OPML"),
        (outlines(ONE.format("&x;"), FILE), "cannot be read as OPML"),
        (outlines("", '<!DOCTYPE o SYSTEM "http://127.0.0.1/x.dtd">'), "cannot be read as OPML"),
        (outlines(ONE.format("x"), '<?xml version="1.0" encoding="x-klingon"?>'), "as OPML"),
        (outlines(ONE.format("x"))[:-20], "cannot be read as OPML"),
        (outlines("<outline text='empty'/>"), "it lists no feed"),
        (b"<html><body>Not a list</body></html>", "it lists no feed"),
        (b"<", "cannot be read as OPML"),
        (b"", "it lists no feed"),
        (b"x" * (10 << 20) + b"y", "larger than 10 MiB"),
    ],
    ids=range(11),
)
@pytest.mark.parametrize("command", [("feeds", "import"), ("news", "fetch")])
def test_hostile_lists_are_one_line(tmp_path, content, line, command):
    file, db = tmp_path / "l.opml", tmp_path / "n.db"
    file.write_bytes(content)
    done = CliRunner().invoke(main, [*command, str(file), "--news", str(db)])
    assert done.exit_code == 1
    assert line in done.stderr
    assert done.stderr.count("\n") == 1
    assert not db.exists()


def test_folders_as_deep_as_somebody_likes(tmp_path):
    deep = outlines("<outline text='d'>" * 20_000 + ONE.format("x") + "</outline>" * 20_000)
    assert read_opml(deep, "x") == [ListedFeed("https://example.org/feed", "x", "d")]


def test_what_is_no_address_is_refused_and_the_rest_is_kept(tmp_path):
    bad = ["javascript:alert(1)", "file:///etc/passwd", "feed://example.org/x", "http://a b/"]
    inside = "".join(f'<outline xmlUrl="{url}"/>' for url in bad)
    inside += "<outline text='Sport'><outline title='&lt;b&gt;T&lt;/b&gt;' xmlUrl='http://x.org/'/>"
    inside += "<outline text='again' xmlUrl='http://x.org/'/></outline>"
    (tmp_path / "l.opml").write_bytes(outlines(inside))
    target = [str(tmp_path / "l.opml"), "--news", str(tmp_path / "n.db"), "--json"]
    done = CliRunner().invoke(main, ["feeds", "import", *target])
    assert json.loads(done.stdout) == {"added": 1, "known": 0, "refused": 4}
    assert done.stderr.count("is not the URL of a feed") == 4
    listed = json.loads(CliRunner().invoke(main, ["feeds", "list", *target[1:]]).stdout)
    assert (listed["title"], listed["topic"], listed["url"]) == ("T", "Sport", "http://x.org/")
    with pytest.raises(DataError, match="is not the URL of a feed"):
        feeds_in(target[0])
    out = tmp_path / "out.opml"
    CliRunner().invoke(main, ["feeds", "export", "-o", str(out), *target[1:3]])
    assert read_list(str(out)) == [ListedFeed("http://x.org/", "T", "Sport")]


# ----- JSON Feed -----


def feed_of(*items, **more):
    return json.dumps({**JSON, "items": items, **more}).encode()


def test_one_item_that_cannot_be_read_says_nothing_about_the_next(monkeypatch):
    def breaks(text):
        if "bad" in text:
            raise RecursionError
        return text

    monkeypatch.setattr(json_feed, "plain_text", breaks)
    items = [{"id": "1", "content_html": "bad"}, {"id": "2", "title": "x" * 9_000}]
    bad, good = read_any_feed(feed_of(*items), "https://x.org/f")
    assert bad == {"unreadable": "could not be read (RecursionError)"}
    assert len(good["title"]) == 2_000


def test_json_feeds_may_write_dates_as_other_feeds_do():
    (entry,) = read_any_feed(
        feed_of({"id": "1", "date_published": "Mon, 01 Jun 2020 10:00:00 GMT"}), "https://x.org/f"
    )
    seen = datetime(2020, 6, 2, tzinfo=UTC)
    found = article_of({**entry, "title": "t"}, "https://x.org/f", seen)
    assert found.published_at == datetime(2020, 6, 1, 10, tzinfo=UTC)


def test_the_items_of_a_json_feed():
    items = [
        {"id": "tag:x.org,2020:1", "url": "/1", "title": " One\n line ", "summary": "short",
         "content_html": "<p>The <b>whole</b> story</p>",
         "date_published": "2020-06-02T10:00:00+02:00"},
        {"id": 2, "external_url": "https://other.org/2", "content_text": "Two",
         "date_published": "yesterday", "date_modified": "2020-06-03T10:00:00Z"},
        {"content_text": "undated and nameless", "date_published": 5, "url": "javascript:x"},
        "not an item", None, 7,
    ]  # fmt: skip
    first, second, third = read_any_feed(b"\xef\xbb\xbf \n" + feed_of(*items), "https://x.org/f")
    assert first == {
        "guid": "tag:x.org,2020:1",
        "link": "https://x.org/1",
        "title": "One line",
        "text": "The whole story",
        "time": "2020-06-02T10:00:00+02:00",
    }
    assert second == {
        "guid": "2",
        "link": "https://other.org/2",
        "text": "Two",
        "time": "2020-06-03T10:00:00Z",
    }
    assert third == {"text": "undated and nameless"}
    assert read_title(feed_of(title="<i>A</i>\n B")) == "A B"


@pytest.mark.parametrize(
    "body",
    [
        b"{", b"{}", b'{"version": 1, "items": []}', b'{"items": []}',
        b'{"version": "https://jsonfeed.org/version/1"}',
        b'{"version": "https://jsonfeed.org/version/1", "items": {}}',
        b'{"a":' * 100_000, b'{"a": ' + b"9" * 100_000 + b"}", b'{"a": "\xff"}',
    ],
)  # fmt: skip
def test_json_that_is_no_feed(body):
    with pytest.raises(NotAFeed):
        read_any_feed(body)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
NAMES = ["id", "url", "external_url", "title", "summary", "content_html", "content_text",
         "date_published", "date_modified"]  # fmt: skip
LONE = st.just("half a pair \ud83d, a \0 and <b>")
TIMES = st.sampled_from(["2020-06-02", "2020-06-02T10:00:00Z", "0001-01-01", "2020-06-02T10:00Z"])


@given(st.lists(st.dictionaries(st.sampled_from(NAMES), VALUES | LONE | TIMES), max_size=4))
def test_any_item_becomes_an_article_or_is_refused(items):
    for entry in read_any_feed(feed_of(*items), "https://x.org/feed"):
        try:
            article = article_of(entry, "https://x.org/feed", datetime.now(UTC))
        except DataError:
            continue
        article.to_json().encode()  # it can be written
        assert "\0" not in article.text
