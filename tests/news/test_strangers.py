"""What one feed, one of its items or one of its headers can do to all the others: nothing."""

import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from newsroom import Capitals, add, make

from hashnews.errors import StoreError
from hashnews.news import feeds, rounds
from hashnews.news.fetch import Fetcher
from hashnews.news.keys import is_claimed, same_site
from hashnews.news.rounds import LONGEST_ASKED, Round, Rounds
from hashnews.news.worker import Worker
from hashnews.times import moment_of

GOOD = "Tue, 02 Jun 2020 10:00:00 GMT"


def item(number, date=GOOD, link=None):
    link = link or f"https://example.org/{number}"
    return (
        f"<item><title>Title {number}</title><link>{link}</link><pubDate>{date}</pubDate>"
        f"<description>About Number {number}</description></item>"
    )


def rss(*items):
    return f'<rss version="2.0"><channel>{"".join(items)}</channel></rss>'.encode()


@contextmanager
def serving(answers):
    """A server; `answers` has for each path the body, or a function of the request."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            answer = answers[self.path.partition("?")[0]]
            if callable(answer):
                answer(self)
            else:
                self.give(answer)

        def give(self, body, status=200, **headers):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def worker():
    with Worker(120) as started:
        yield started


@pytest.fixture
def visit(store, worker):
    """Visit feeds of answers; gives the outcomes, what became of them, and the marks."""

    def go(answers, *paths, full_text=False, seconds=60):
        result = Round()
        with serving(answers) as server, Fetcher(True, seconds=seconds, delay=0) as fetcher:
            visiting = Rounds(store, Capitals(), fetcher, worker, full_text)
            visits = list(visiting.visit_all([server + path for path in paths], result))
        return [one.outcome for one in visits], result

    return go


def waits(store):
    found = store.database.rows("SELECT failures, not_before FROM feeds ORDER BY url")
    return [(failures, moment_of(until) - datetime.now(UTC)) for failures, until in found]


@pytest.mark.parametrize("date", ["Mon, 01 Jan 0001 00:00:00 +0000", "9999-12-31T23:59:59Z",
                                  "Mon, 01 Jun 2020 20:00:00 +99999999999999999999",
                                  "1" * 5000])  # fmt: skip
def test_a_date_that_cannot_be_ends_neither_its_item_nor_its_feed_nor_the_round(visit, store, date):
    """One item dated 0001 or 9999 ended `news fetch` for all feeds."""
    answers = {"/bad": rss(item(1), item(2, date), item(3)), "/good": rss(item(4))}
    outcomes, result = visit(answers, "/bad", "/good")
    assert outcomes == ["fetched", "fetched"]
    assert (result.summary.added, result.undated, len(store)) == (4, 1, 4)


@pytest.mark.parametrize(
    ("asked", "least", "most"),
    [
        ("9" * 5000, LONGEST_ASKED, LONGEST_ASKED),
        ("Mon, 01 Jun 2020 20:00:00 +99999999999999999999", None, None),
        ("Fri, 31 Dec 9999 23:59:59 GMT", None, None),
        ("Tue, 31 Dec 2199 23:59:59 GMT", LONGEST_ASKED, LONGEST_ASKED),
        ("-5", None, None),
        ("1e9", None, None),
        ("٣٦٠٠", None, None),
        ("7200", timedelta(hours=2), timedelta(hours=2)),
        ("Mon, 01 Jun 2020 20:00:00 GMT", None, None),
    ],
)
def test_a_retry_after_is_bounded_and_ends_only_its_feed(visit, store, asked, least, most):
    """5,000 digits, or a zone of twenty, ended `news fetch` for all feeds; no back-off was kept."""
    header = asked.encode().decode("latin-1")
    answers = {
        "/a-busy": lambda handler: handler.give(b"", 429, Retry_After=header),
        "/good": rss(item(1)),
    }
    assert visit(answers, "/a-busy", "/good")[0] == ["failed", "fetched"]
    (failures, wait), _ = waits(store)
    assert failures == 1
    assert (least or rounds.FIRST_WAIT) - timedelta(minutes=2) < wait <= (most or rounds.FIRST_WAIT)


def test_whatever_goes_wrong_with_a_feed_its_wait_is_kept_and_the_next_one_visited(
    visit, store, monkeypatch
):
    honest = feeds.article_of

    def failing(entry, *rest):
        if entry["title"] == "Title 1":
            raise KeyError("nobody foresaw this")
        return honest(entry, *rest)

    monkeypatch.setattr(feeds, "article_of", failing)
    outcomes, result = visit({"/a": rss(item(1), item(2))}, "/a")
    assert (outcomes, len(store)) == (["fetched"], 1)
    assert result.summary.refused == {"could not be read (KeyError)": 1}

    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(Rounds, "_articles", broken)
    outcomes, _ = visit({"/a": rss(item(1)), "/b": rss(item(2))}, "/a", "/b")
    assert outcomes == ["failed", "failed"]
    assert [wait > timedelta() for failures, wait in waits(store) if failures == 1] == [True] * 2

    def no_disk(*_):
        raise StoreError("the disk is full")

    monkeypatch.setattr(Rounds, "_articles", no_disk)  # this is not the feed's fault
    with pytest.raises(StoreError, match="the disk is full"):
        visit({"/c": rss(item(1))}, "/c")


@pytest.mark.parametrize("mark", ["\xe4\xf6", "x" * 5000])
def test_a_mark_that_cannot_be_sent_back_is_not_kept(visit, mark):
    answers = {"/a": lambda handler: handler.give(rss(item(1)), ETag=mark, Last_Modified=mark)}
    for _ in range(2):
        assert visit(answers, "/a")[0] == ["fetched"]


def test_a_feed_that_floods_brings_so_many_items_a_visit(visit, store, monkeypatch):
    """350,000 items fit into the ten megabytes of a feed."""
    monkeypatch.setattr(rounds, "ITEMS", 3)
    assert visit({"/a": rss(*map(item, range(9)))}, "/a")[0] == ["fetched"]
    assert sorted(one.article.title for one in store.read()) == ["Title 0", "Title 1", "Title 2"]


# ----- full texts -----

STORY = b"<html><article><h1>T</h1>" + b"<p>A longer story than the feed has.</p>" * 20


def linked(count, path):
    def answer(handler):
        base = f"http://{handler.headers['Host']}"
        handler.give(rss(*(item(n, link=f"{base}{path}?{n}") for n in range(count))))

    return answer


def test_full_texts_of_a_visit_are_bounded_in_number(visit, store, monkeypatch):
    """A feed with 20,000 links was followed link by link."""
    monkeypatch.setattr(rounds, "PAGES", 5)
    asked = []
    page = lambda handler: (asked.append(1), handler.give(STORY))  # noqa: E731
    outcomes, result = visit({"/a": linked(12, "/p"), "/p": page}, "/a", full_text=True)
    assert (outcomes, len(asked), result.full_texts, len(store)) == (["fetched"], 5, 5, 12)
    assert result.summary.known == {}
    lengths = [len(one.article.text) for one in store.read()]
    assert sum(length > 200 for length in lengths) == 5


def test_full_texts_of_a_visit_are_bounded_in_time_and_stored_step_by_step(
    visit, store, monkeypatch
):
    """Six silent links held a round six times as long as one, and nothing was stored before."""
    monkeypatch.setattr(rounds, "PAGES_A_STEP", 2)
    monkeypatch.setattr(rounds, "PAGE_SECONDS", 1.0)
    stored, asked = [], []

    def silent(handler):
        asked.append(1)
        stored.append(len(store))
        time.sleep(2)

    answers = {"/a": linked(8, "/p"), "/p": silent}
    outcomes, result = visit(answers, "/a", full_text=True, seconds=0.4)
    assert (outcomes, result.full_texts, len(store)) == (["fetched"], 0, 8)
    assert len(asked) < 8
    assert stored[2:3] in ([], [2])


# ----- who speaks -----


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://feeds.bbci.co.uk/x", "https://news.bbci.co.uk/y", True),
        ("https://evil.co.uk/", "https://bbc.co.uk/", False),
        ("https://bbc.co.uk.evil.org/", "https://bbc.co.uk/", False),
        ("https://a.github.io/", "https://b.github.io/", False),
        ("http://127.0.0.1:8000/x", "http://127.0.0.1/y", True),
        ("http://10.0.0.1/", "http://10.0.0.2/", False),
        ("https://www.Example.org", "http://example.org:8080/x", True),
        ("nonsense", "nonsense", False),
        ("http://[broken", "http://[broken", False),
    ],
)
def test_what_belongs_to_one_owner(one, other, same):
    assert same_site(one, other) is same


FEED, BBC = "https://evil.example.net/feed", "https://bbc.co.uk/feed"


def entry(link="https://www.bbc.co.uk/news/1", guid=None, title="Real or not", **more):
    return {"link": link, "guid": guid or link, "title": title, "text": "It is said.", **more}


def test_a_feed_speaks_for_its_own_site_only(store):
    """A hostile feed planted articles of another site, dated back, and kept the real ones out."""
    seen = datetime(2020, 6, 10, tzinfo=UTC)
    planted = feeds.article_of(entry(time="2020-01-01T00:00:00Z"), FEED, seen)
    real = feeds.article_of(entry(time="2020-06-02T10:00:00Z"), BBC, seen)
    assert (planted.source, planted.url) == ("evil.example.net", real.url)
    assert (real.source, real.id) == ("bbc.co.uk", "https://www.bbc.co.uk/news/1")
    assert (is_claimed(planted), is_claimed(real)) == (True, False)
    assert planted.id != real.id
    add(store, [planted])
    assert add(store, [planted]).known == {"id": 1}
    assert add(store, [real]).added == 1  # it corrects what was planted
    assert [one.article.source for one in store.read()] == ["bbc.co.uk"]
    assert add(store, [planted]).known == {"url": 1}
    assert store.check() == []


@pytest.mark.parametrize("guid", ["https://www.bbc.co.uk/news/1", "tag:bbc.co.uk,2020:1"])
def test_a_feed_cannot_take_the_ids_of_another_site(store, guid):
    seen = datetime(2020, 6, 10, tzinfo=UTC)
    own_link = feeds.article_of(entry("https://evil.example.net/1", guid), FEED, seen)
    without = feeds.article_of({"guid": guid, "title": "T", "text": "x"}, FEED, seen)
    real = feeds.article_of(entry(guid=guid), BBC, seen)
    assert real.id == guid
    assert guid not in (own_link.id, without.id)
    assert add(store, [own_link, real]).added == 2


def test_of_one_batch_the_owner_stays_whatever_the_order(store):
    real = make(1, id="real", url="https://bbc.co.uk/1", source="bbc.co.uk")
    claims = [
        make(n, id=f"c{n}", url="https://bbc.co.uk/1", source=f"site{n}.example.net", title=f"{n}")
        for n in (2, 3)
    ]
    assert add(store, [*claims, real]).known == {"url": 2}
    assert [one.article.id for one in store.read()] == ["real"]


def test_two_that_claim_one_address_do_not_keep_each_other_out(store):
    claims = [
        make(n, id=f"c{n}", url="https://bbc.co.uk/1", source=f"site{n}.example.net", title=f"{n}")
        for n in (2, 3)
    ]
    assert add(store, claims).added == 2
    generation = store.state().generation
    assert add(store, [make(1, url="https://bbc.co.uk/1", source="BBC News")]).added == 1
    assert [one.article.source for one in store.read()] == ["BBC News"]
    assert store.changes_since(generation, "articles")  # an index learns that they went
    assert store.check() == []


def test_a_feed_that_moved_speaks_for_where_it_is_found():
    seen = datetime(2020, 6, 10, tzinfo=UTC)
    moved = feeds.article_of(entry(), "https://old.example.net/feed", seen, BBC)
    assert moved.source == "bbc.co.uk"
