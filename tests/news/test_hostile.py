"""A real HTTP server on loopback that serves what feeds should never be; each has its outcome."""

import gzip
import os
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from newsroom import Capitals

from hashnews.errors import BlockedAddress, FetchError
from hashnews.news import guard, rounds
from hashnews.news.fetch import Fetcher
from hashnews.news.rounds import Round, Rounds
from hashnews.news.store import NewsStore
from hashnews.news.worker import Worker
from hashnews.records import write_time

DEADLINE = 2.0  # seconds, for servers that never end
PATIENT = 120.0  # seconds, for all others: a busy machine is slow
PROCESSOR = 8.0  # seconds of the processor that one feed may cost
MEGABYTES = 50


def item(number, date="Tue, 02 Jun 2020 10:00:00 GMT", extra=""):
    link = f"<link>https://example.org/{number}</link>"
    when = f"<pubDate>{date}</pubDate>" if date else ""
    return (
        f"<item><title>Title {number}</title>{link}{when}"
        f"<description>About Number {number}</description>{extra}</item>"
    )


def rss(*items, head='<?xml version="1.0" encoding="utf-8"?>'):
    inside = "".join(items)
    return f'{head}<rss version="2.0"><channel><title>T</title>{inside}</channel></rss>'.encode()


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">'
    + "".join(
        f'<!ENTITY lol{n} "' + f"&lol{n - 1 if n > 1 else ''};" * 10 + '">' for n in range(1, 10)
    )
    + "]>"
)
SOON = format_datetime(datetime.now(UTC) + timedelta(days=2))
NESTED = "<div>" * 50_000 + "deep" + "</div>" * 50_000
HALF_BAD = rss(
    item(1),
    "<item><title></title><description> </description></item>",
    item(2, SOON),
    "<item><title>Broken & <b>markup</title><link>https://example.org/3</link>"
    "<pubDate>Tue, 02 Jun 2020 11:00:00 GMT</pubDate></item>",
    item(4, "the day before yesterday"),
    item(5),
)
BODIES = {
    "/good": rss(item(1), item(2)),
    "/empty-feed": rss(),
    "/html": b"<html><body><h1>Not found, but with status 200</h1></body></html>",
    "/nothing": b"",
    "/noise": bytes(range(256)) * 50,
    "/billion-laughs": rss(item("&lol9;"), head=LAUGHS),
    "/laughs-in-utf-16": rss(item("&lol9;"), head=LAUGHS).decode().encode("utf-16"),
    "/laughs-behind-a-comment": rss(item("&lol9;"), head=LAUGHS.replace("?>", "?><!--<r>-->", 1)),
    "/laughs-behind-padding": rss(item("&lol9;"), head=f"<!--{'x' * 70_000}-->" + LAUGHS[21:]),
    "/external-entity": rss(
        item("&x;"), head='<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    ),
    "/plain-doctype": rss(
        item(1),
        head='<?xml version="1.0"?><!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" '
        '"http://my.netscape.com/publish/formats/rss-0.91.dtd">',
    ),
    "/entity-in-text": rss(item(1, extra="<category><![CDATA[<!ENTITY a 'b'>]]></category>")),
    "/no-dates": rss(item(1, None), item(2, None)),
    "/odd-dates": rss(item(1, "soon"), item(2, "0000-00-00"), item(3, "Tue, 02 Jun 2020")),
    "/future-dates": rss(item(1, SOON), item(2)),
    "/nested": rss(item(1, extra=f"<category>{NESTED}</category>"), item(2)),
    "/nested-text": rss(item(1), item(2, extra=f"<summary><![CDATA[{NESTED}]]></summary>")),
    "/relative-links": rss("<item><title>R</title><link>../x/7</link></item>", item(1)),
    "/script-links": rss("<item><title>S</title><link>javascript:alert(1)</link></item>", item(1)),
    "/broken-links": rss("<item><title>S</title><link>http://[x</link></item>", item(1)),
    "/broken-html": rss(
        "<item><title>S</title><description>&lt;![x[ &lt;!y &lt;?z</description></item>", item(1)
    ),
    "/same-guids": rss(
        *(item(n, extra='<guid isPermaLink="false">same</guid>') for n in range(1, 4))
    ),
    "/half-bad": HALF_BAD,
    "/cut-short": rss(item(1), item(2), item(3))[:-60],
    "/latin-as-utf-8": rss(item("Z\xfcrich"), item(2)).decode().encode("latin-1"),
    "/koi8": rss(item("Москва"), head='<?xml version="1.0" encoding="koi8-r"?>')
    .decode()
    .encode("koi8-r"),
    "/lies-about-encoding": rss(item("日本"), head='<?xml version="1.0" encoding="ascii"?>'),
    "/no-such-encoding": rss(item("Zürich"), head='<?xml version="1.0" encoding="x-klingon"?>'),
    "/atom": b'<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><title>A</title>'
    b'<id>tag:example.org,2020:1</id><link href="https://example.org/1"/>'
    b"<updated>2020-06-02T10:00:00+02:00</updated><content>About A</content></entry></feed>",
    "/many-items": rss(*(item(n) for n in range(5000))),
}
BOMB = gzip.compress(bytes(100 << 20))


class Hostile(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked: ClassVar[list] = []

    def do_GET(self):
        self.asked.append((self.path, dict(self.headers)))
        act = getattr(self, "serve_" + self.path[1:].split("?")[0].replace("-", "_"), None)
        try:
            if act:
                act()
            elif self.path in BODIES:
                self.answer(BODIES[self.path])
            else:
                self.answer(b"", 404)
        except OSError:
            pass  # the client had enough

    def answer(self, body, status=200, **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def serve_gzip_bomb(self):
        self.answer(BOMB, Content_Encoding="gzip")

    def serve_broken_gzip(self):
        self.answer(b"\x1f\x8b\x08" + b"no" * 99, Content_Encoding="gzip")

    def serve_brotli(self):
        self.answer(b"\x0b\x02\x80", Content_Encoding="br")

    def serve_gzip(self):
        self.answer(gzip.compress(BODIES["/good"]), Content_Encoding="gzip")

    def serve_declared_huge(self):
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 40))
        self.end_headers()

    def serve_endless(self):
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        while True:
            self.wfile.write(b"<item>" * 10_000)

    def serve_drip(self):
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.drip()

    def serve_drip_of_headers(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        self.drip()

    def drip(self):
        for _ in range(200):
            self.wfile.write(b"x")
            self.wfile.flush()
            time.sleep(0.1)

    def serve_silence(self):
        time.sleep(DEADLINE + 2)

    def serve_hang_up(self):
        self.close_connection = True

    def serve_huge_headers(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500_000 + b"\r\n")

    def serve_loop(self):
        self.answer(b"", 302, Location="/loop?" + self.path[-300:] + "x")

    def serve_to_metadata(self):
        self.answer(b"", 302, Location="http://169.254.169.254/latest/")

    def serve_to_loopback(self):
        self.answer(b"", 302, Location="http://127.0.0.2:80/")

    def serve_to_file(self):
        self.answer(b"", 302, Location="file:///etc/passwd")

    def serve_hop(self):
        left = int(self.path.partition("?")[2])
        self.answer(b"", 302, Location=f"/hop?{left - 1}" if left > 1 else "/good")

    def serve_busy(self):
        self.answer(b"", 429, Retry_After="3600")

    def serve_marked(self):
        if self.headers.get("If-None-Match") == '"v1"':
            self.send_response(304)
            self.end_headers()
        else:
            self.answer(BODIES["/good"], ETag='"v1"', Last_Modified="Tue, 02 Jun 2020 10:00:00 GMT")

    def serve_links(self):
        link = f"http://127.0.0.1:{self.server.server_address[1]}/page"
        self.answer(rss(item(1).replace("https://example.org/1", link)))

    def serve_page(self):
        long = "<p>The whole story is much longer than the summary in the feed, by far.</p>" * 9
        self.answer(f"<html><body><article><h1>Story</h1>{long}</article></body></html>".encode())

    def log_message(self, *_):
        pass


class Quiet(ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # a client that hangs up is what is tested


@pytest.fixture(scope="module")
def server():
    with Quiet(("127.0.0.1", 0), Hostile) as http:
        http.daemon_threads = True
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_address[1]}"
        http.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def worker():
    with Worker(PATIENT) as started:
        yield started


@pytest.fixture
def visit(server, worker, tmp_path):
    with (
        NewsStore(tmp_path / "n.db", "write") as store,
        Fetcher(allow_private=True, seconds=DEADLINE, delay=0) as hurried,
        Fetcher(allow_private=True, seconds=PATIENT, delay=0) as patient,
    ):

        def go(path, full_text=False):
            result = Round()
            fetcher = hurried if path in NEVER_ENDING else patient
            (seen,) = Rounds(store, Capitals(), fetcher, worker, full_text).visit_all(
                [server + path], result
            )
            return seen, result, store

        yield go


NEVER_ENDING = {"/drip", "/drip-of-headers", "/silence"}
# What is served, what becomes of the feed, what the note says, and how many articles are kept.
TABLE = [
    ("/good", "fetched", "", 2),
    ("/gzip", "fetched", "", 2),
    ("/atom", "fetched", "", 1),
    ("/many-items", "fetched", "", 2000),
    ("/gzip-bomb", "failed", "larger than 10 MiB", 0),
    ("/declared-huge", "failed", "larger than 10 MiB", 0),
    ("/endless", "failed", "larger than 10 MiB", 0),
    ("/broken-gzip", "failed", "its gzip is broken", 0),
    ("/brotli", "failed", "packed as 'br'", 0),
    ("/billion-laughs", "failed", "declares entities", 0),
    ("/laughs-in-utf-16", "failed", "declares entities", 0),
    ("/laughs-behind-a-comment", "failed", "declares entities", 0),
    ("/laughs-behind-padding", "failed", "declares entities", 0),
    ("/external-entity", "failed", "declares entities", 0),
    ("/plain-doctype", "fetched", "", 1),
    ("/entity-in-text", "fetched", "", 1),
    ("/drip", "failed", "more than 2 s", 0),
    ("/drip-of-headers", "failed", "more than 2 s", 0),
    ("/silence", "failed", "more than 2 s", 0),
    ("/hang-up", "failed", "cannot be fetched", 0),
    ("/huge-headers", "failed", "cannot be fetched", 0),
    ("/loop", "failed", "redirects more than 5 times", 0),
    ("/hop?6", "failed", "redirects more than 5 times", 0),
    ("/hop?5", "fetched", "", 2),
    ("/to-file", "failed", "not http or https", 0),
    ("/missing", "failed", "the server answered 404", 0),
    ("/busy", "failed", "the server answered 429", 0),
    ("/html", "failed", "neither RSS nor Atom", 0),
    ("/nothing", "failed", "neither RSS nor Atom", 0),
    ("/noise", "failed", "neither RSS nor Atom", 0),
    ("/empty-feed", "fetched", "", 0),
    ("/no-dates", "fetched", "", 2),
    ("/odd-dates", "fetched", "", 3),
    ("/future-dates", "fetched", "", 1),
    ("/nested", "fetched", "", 2),
    ("/nested-text", "fetched", "", 2),
    ("/relative-links", "fetched", "", 2),
    ("/script-links", "fetched", "", 2),
    ("/broken-links", "fetched", "", 2),
    ("/broken-html", "fetched", "", 2),
    ("/same-guids", "fetched", "", 1),
    ("/half-bad", "fetched", "", 4),
    ("/cut-short", "fetched", "", 3),
    ("/latin-as-utf-8", "fetched", "", 2),
    ("/koi8", "fetched", "", 1),
    ("/lies-about-encoding", "fetched", "", 1),
    ("/no-such-encoding", "fetched", "", 1),
]


def memory_of(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return int(fields["VmRSS"].split()[0]) / 1024, int(fields["VmHWM"].split()[0]) / 1024


def processor_time_of(pid):
    """Seconds of the processor a process has had, by itself and in the system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(("path", "outcome", "note", "kept"), TABLE)
def test_every_feed_gets_its_outcome_in_time_and_memory(visit, worker, path, outcome, note, kept):
    worker.read("feed", BODIES["/good"])  # so that it runs, and its imports are not counted
    pids, before = ("self", worker.pid), 0.0
    for pid in pids:
        Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak begins anew
        before += memory_of(pid)[0]
    began = sum(map(processor_time_of, pids))
    seen, result, store = visit(path)
    assert worker.pid == pids[1], "it was killed"
    took = sum(map(processor_time_of, pids)) - began
    assert (seen.outcome, result.summary.added, len(store)) == (outcome, kept, kept), seen
    assert note in seen.note
    assert took < PROCESSOR
    assert sum(memory_of(pid)[1] for pid in pids) - before < MEGABYTES


def test_the_good_items_of_a_half_bad_feed_are_kept(visit):
    _, result, store = visit("/half-bad")
    titles = {one.article.title for one in store.read()}
    assert {"Title 1", "Title 4", "Title 5"} < titles
    assert result.summary.refused == {"published in the future": 1, "neither title nor text": 1}


def test_items_without_a_date_count_from_when_they_were_fetched(visit):
    before = datetime.now(UTC)
    _, result, store = visit("/no-dates")
    assert result.undated == 2
    assert all(before <= one.article.published_at <= datetime.now(UTC) for one in store.read())


def test_a_day_without_an_hour_counts_as_its_end(visit):
    _, _, store = visit("/odd-dates")
    (dated,) = [one.article for one in store.read() if one.article.title == "Title 3"]
    assert write_time(dated.published_at) == "2020-06-03T11:59:59.999999Z"


def test_links_are_made_whole_or_dropped(visit, server):
    _, _, store = visit("/relative-links")
    assert {one.article.url for one in store.read()} == {f"{server}/x/7", "https://example.org/1"}
    _, _, store = visit("/script-links")
    assert None in {one.article.url for one in store.read()}


@pytest.mark.parametrize(
    ("path", "title"),
    [("/latin-as-utf-8", "Title Zürich"), ("/koi8", "Title Москва"),
     ("/lies-about-encoding", "Title 日本"), ("/no-such-encoding", "Title Zürich")],
)  # fmt: skip
def test_wrong_encodings_are_seen_through(visit, path, title):
    _, _, store = visit(path)
    assert title in {one.article.title for one in store.read()}


def test_atom_ids_and_times(visit):
    _, _, store = visit("/atom")
    (article,) = [one.article for one in store.read()]
    assert write_time(article.published_at) == "2020-06-02T08:00:00Z"
    assert (article.url, article.source) == ("https://example.org/1", "127.0.0.1")


def test_what_did_not_change_is_not_sent_again(visit):
    assert visit("/marked")[0].outcome == "fetched"
    Hostile.asked.clear()
    seen, result, store = visit("/marked")
    assert (seen.outcome, result.summary.added, len(store)) == ("unchanged", 0, 2)
    headers = Hostile.asked[0][1]
    assert headers["If-None-Match"] == '"v1"'
    assert headers["If-Modified-Since"] == "Tue, 02 Jun 2020 10:00:00 GMT"
    assert headers["Accept-Encoding"] == "gzip"


def test_a_feed_that_fails_is_left_alone_for_longer_each_time(visit, server):
    waits = []
    for _ in range(3):
        assert visit("/missing")[0].outcome == "failed"
        seen, _, store = visit("/missing")
        assert (seen.outcome, seen.note[:5]) == ("waiting", "until")
        ((until,),) = store.database.rows("SELECT not_before FROM feeds")
        waits.append(until / 1e6 - time.time())
        store.database.run("UPDATE feeds SET not_before = 0")
    assert [round(wait / 60) for wait in waits] == [5, 10, 20]


@pytest.mark.parametrize(
    ("asked", "minutes"),
    [("3600", 60), ("1", 5), ("99999999999", 1440), ("nonsense", 5), (None, 5),
     ("Wed, 03 Jun 2020 12:30:00 GMT", 30), ("Wed, 03 Jun 1999 12:30:00 GMT", 5)],
)  # fmt: skip
def test_a_server_may_ask_for_a_longer_wait(asked, minutes):
    now = datetime(2020, 6, 3, 12, tzinfo=UTC)
    marks = rounds._after_failure(rounds.FeedMarks(), FetchError("busy", retry_after=asked), now)
    assert rounds.moment_of(marks.not_before) - now == timedelta(minutes=minutes)


def test_the_full_text_comes_from_the_linked_page(visit):
    _, result, store = visit("/links", full_text=True)
    (stored,) = store.read()
    assert result.full_texts == 1
    assert "much longer than the summary" in stored.article.text
    Hostile.asked.clear()
    visit("/links", full_text=True)
    assert [path for path, _ in Hostile.asked] == ["/links"]  # the page is known


def test_full_text_that_cannot_be_had_leaves_the_feeds_own(visit):
    _, result, store = visit("/good", full_text=True)  # example.org is out of reach here
    assert (result.full_texts, len(store)) == (0, 2)


def test_requests_to_one_host_keep_their_distance(server):
    with Fetcher(allow_private=True, delay=0.2) as fetcher:
        began = time.monotonic()
        for _ in range(3):
            fetcher.get(server + "/good", 1 << 20)
        assert time.monotonic() - began >= 0.4


@pytest.fixture
def public_loopback(monkeypatch, server):
    """For a moment 127.0.0.1 is the public Internet, and nothing else."""
    monkeypatch.setattr(guard, "is_public", lambda address: address == "127.0.0.1")
    port = int(server.rpartition(":")[2])
    monkeypatch.setattr(guard, "WEB_PORTS", (80, port))
    return port


@pytest.mark.parametrize("path", ["/to-metadata", "/to-loopback", "/to-file"])
def test_a_redirect_to_a_private_address_is_blocked(server, public_loopback, path):
    with Fetcher(seconds=DEADLINE, delay=0) as fetcher:
        assert fetcher.get(server + "/good", 1 << 20).body
        with pytest.raises(BlockedAddress):
            fetcher.get(server + path, 1 << 20)


def test_a_name_that_changes_its_address_is_checked_where_it_connects(public_loopback):
    answers = iter([["127.0.0.1"], ["127.0.0.2"], ["10.0.0.1", "::1"]])
    url = f"http://rebind.test:{public_loopback}/hang-up"
    with Fetcher(seconds=DEADLINE, delay=0, resolver=lambda *_: next(answers)) as fetcher:
        with pytest.raises(FetchError, match="cannot be fetched"):
            fetcher.get(url, 1 << 20)  # reached, and hung up on
        for _ in range(2):
            with pytest.raises(BlockedAddress, match="not public"):
                fetcher.get(url, 1 << 20)


def test_loopback_is_refused_unless_allowed(server):
    with Fetcher(delay=0) as fetcher, pytest.raises(BlockedAddress, match="--allow-private"):
        fetcher.get(server + "/good", 1 << 20)
