"""Files of every kind: feeds, pages, archives, lists of feeds; and the process that reads them."""

import gzip
import json
import os
import signal
import threading
from contextlib import suppress
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st
from newsroom import Capitals

from hashnews.errors import DataError, FetchError, NotAFeed, TooSlow
from hashnews.news import feeds
from hashnews.news.feed_lists import feeds_in
from hashnews.news.feeds import read_feed, refuse_declarations
from hashnews.news.ingest import add_files
from hashnews.news.pages import plain_text
from hashnews.news.summary import Refusals, Summary
from hashnews.news.worker import Worker
from hashnews.records import write_time

RSS = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>T</title>
<item><title>One</title><link>https://example.org/1</link>
<pubDate>Tue, 02 Jun 2020 10:00:00 +0200</pubDate>
<description>&lt;p&gt;First&lt;/p&gt;</description></item>
<item><title>Two</title><link>https://example.org/2</link></item></channel></rss>"""
STORY = "<p>The council met on Tuesday and decided to keep the old bridge for another year.</p>"


def page(url="", head="", title="Bridge stays"):
    link = f'<link rel="canonical" href="{url}">' if url else ""
    return (
        f"<html><head><title>{title}</title>{link}{head}</head>"
        f"<body><article><h1>{title}</h1>{STORY * 4}</article></body></html>"
    ).encode()


PUBLISHED = '<meta property="article:published_time" content="2020-06-02T10:00:00+02:00">'

PUBLISHED_AFTER = '<meta content="2020-06-02T10:00Z" property="article:published_time">'


def warc(url, body, date="2020-06-02T12:00:00Z", kind="text/html", extra="", status="200 OK"):
    http = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{extra}\r\n".encode() + body
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        f"WARC-Date: {date}\r\nWARC-Target-URI: {url}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
    )
    return head.encode() + http + b"\r\n\r\n"


@pytest.fixture
def add_file(store, tmp_path):
    def go(name, content, on_error="stop"):
        path = tmp_path / name
        path.write_bytes(content)
        summary = Summary()
        add_files(store, Capitals(), [str(path)], Refusals(summary), on_error)
        return summary

    return go


@pytest.mark.parametrize("pack", [lambda content: content, gzip.compress])
def test_a_feed_in_a_file_keeps_what_has_a_date(store, add_file, pack):
    name = "feed.xml" if pack is not gzip.compress else "feed.rss.gz"
    summary = add_file(name, pack(RSS))
    assert (summary.added, summary.refused) == (1, {"no time of publication": 1})
    (stored,) = store.read()
    assert (stored.article.title, stored.article.text) == ("One", "First")
    assert write_time(stored.article.published_at) == "2020-06-02T08:00:00Z"
    assert add_file(name, pack(RSS)).known == {"id": 1}


def test_a_file_that_is_no_feed_stops_or_is_refused(add_file):
    with pytest.raises(DataError, match=r"x.xml: it is neither RSS nor Atom"):
        add_file("x.xml", b"<html></html>")
    assert add_file("x.xml", b"<html></html>", "skip").refused.total() == 1
    with pytest.raises(DataError, match="its name should end in one of"):
        add_file("x.docx", b"")


def test_a_page_gives_its_article(store, add_file):
    summary = add_file("story.html", page("https://example.org/bridge", PUBLISHED))
    assert summary.added == 1
    (stored,) = store.read()
    article = stored.article
    assert (article.title, article.source) == ("Bridge stays", "example.org")
    assert article.url == "https://example.org/bridge"
    assert "old bridge" in article.text
    assert write_time(article.published_at) == "2020-06-02T10:00:00+02:00"


def test_a_page_without_a_date_or_an_article_is_refused(add_file):
    assert add_file("a.html", page("https://example.org/x")).refused == {
        "no time of publication": 1
    }
    with pytest.raises(DataError, match="no article on the page"):
        add_file("b.html", b"<html><body></body></html>")


def ld(**fields):
    content = json.dumps({"@type": "NewsArticle", **fields})
    return f'<script type="application/ld+json">{content}</script>'


@pytest.fixture(scope="module")
def worker():
    with Worker(120) as started:
        yield started


URL = "https://example.org/bridge"
MODIFIED = '<meta property="article:modified_time" content="2020-06-05T10:00:00Z">'


@pytest.mark.parametrize(
    ("head", "times"),
    [
        (PUBLISHED, ["2020-06-02T10:00:00+02:00"]),
        (PUBLISHED_AFTER, ["2020-06-02T10:00Z"]),
        (ld(datePublished="2020-06-02T10:00:00.000Z"), ["2020-06-02T10:00:00.000Z"]),
        (ld(datePublished="2020-06-02"), ["2020-06-02"]),
        ('<meta name="date" content="2020-06-02">', ["2020-06-02"]),
        ('<i itemprop="datePublished" content="2020-06-02T10:00-05:00"></i>',
         ["2020-06-02T10:00-05:00"]),
        ('<time pubdate datetime="2020-06-02"></time>', ["2020-06-02"]),
        (MODIFIED + ld(dateModified="2020-06-02T10:00:00Z"), []),
        (ld(datePublished="2020-99-02T10:00:00Z"), []),
        ("published 2020-06-02T10:00:00Z", []),
        # Dates that stand on the page, or in its address, are not declared.
        ('<time datetime="2001-09-11">11 September</time>', []),
        ('<span class="date">11/9/2001</span>', []),
        # An older, related article, first: by its headline, by its address, or by nothing.
        (ld(datePublished="2016-01-01", headline="Another story altogether")
         + ld(datePublished="2020-06-02", headline="Bridge stays"), ["2020-06-02"]),
        (ld(datePublished="2016-01-01", url="https://example.org/old")
         + ld(datePublished="2020-06-02", mainEntityOfPage={"@id": URL}), ["2020-06-02"]),
        (ld(datePublished="2016-01-01") + ld(datePublished="2020-06-02"),
         ["2016-01-01", "2020-06-02"]),
        # A later one on the page is not the article's.
        (ld(datePublished="2020-06-02", url=URL)
         + ld(datePublished="2020-07-02", headline="Another story altogether"), ["2020-06-02"]),
        # None is its own: the latest.
        (ld(datePublished="2016-01-01", headline="Another story altogether")
         + ld(datePublished="2020-07-02", headline="A third story, about ships"), ["2020-07-02"]),
        (ld(**{"@type": "ItemList", "itemListElement": [
            {"@type": "NewsArticle", "datePublished": "2016-01-01", "headline": "Old one"}]})
         + PUBLISHED, ["2020-06-02T10:00:00+02:00"]),
        ('<script type="application/ld+json">{"datePublished": "2020-06-02", broken</script>',
         ["2020-06-02"]),
        ('<script type="application/ld+json">' + "[" * 100_000 + "</script>" + PUBLISHED,
         ["2020-06-02T10:00:00+02:00"]),
    ],
)  # fmt: skip
def test_only_what_a_page_declares_of_its_own_article_is_believed(worker, head, times):
    found = worker.read("page", page(head=head), url=URL)
    assert sorted(found.get("times", [])) == times


@pytest.mark.parametrize(
    ("head", "url", "published"),
    [
        ('<time datetime="2001-09-11">', "https://example.org/bridge", None),
        ('<meta name="date" content="2020-07-06">', "https://example.org/2019/01/02/bridge",
         "2020-07-07T11:59:59.999999Z"),
        (ld(datePublished="2016-01-01") + ld(datePublished="2020-07-06T10:00:00Z"), URL,
         "2020-07-06T10:00:00Z"),
        ('<meta name="date" content="07/06/2020">', URL, "2020-07-07T11:59:59.999999Z"),
        ('<meta name="date" content="2020-07">', URL, "2020-08-01T11:59:59.999999Z"),
        ('<meta name="date" content="0001-01-01T00:00:00Z">', URL, None),
    ],
)  # fmt: skip
def test_dates_of_pages_that_were_read_too_early(store, add_file, head, url, published):
    """The body's dates, the address, an older article's date, day and month, a month alone."""
    summary = add_file("story.html", page(url, head))
    times = [write_time(one.article.published_at.astimezone(UTC)) for one in store.read()]
    assert times == ([published] if published else [])
    assert summary.refused == ({} if published else {"no time of publication": 1})


@pytest.mark.parametrize("year", ["0001", "9999"])
def test_a_year_that_stands_for_no_date_ends_nothing(store, add_file, year):
    """One item of the year 1, as Go and .NET write no time, ended the whole run."""
    zero = f"Mon, 01 Jan {year} 00:00:00 +0000"
    assert (
        add_file("f.xml", RSS.replace(b"Tue, 02 Jun 2020 10:00:00 +0200", zero.encode())).added == 0
    )
    head = PUBLISHED.replace("2020", year)
    assert add_file("p.html", page(URL, head)).refused == {"no time of publication": 1}
    records = [
        warc(
            f"https://example.org/{n}", page(head=head if n == 2 else PUBLISHED, title=f"Story {n}")
        )
        for n in (1, 2, 3)
    ]
    summary = add_file("a.warc", b"".join(records))
    assert (summary.added, summary.refused) == (3, {})
    assert {one.article.title for one in store.read()} == {"Story 1", "Story 2", "Story 3"}


@pytest.mark.parametrize("reference", ["&#xD800;", "&#x110000;", "&#99999999999;", "&#0;", "&#x1b;",
                                       "&#" + "9" * 5000 + ";"])  # fmt: skip
@pytest.mark.parametrize("place", ["One", "https://example.org/1", "First", "10:00:00"])
@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_bad_character_reference_costs_the_character(reference, place, escaped, encoding):
    """One reference to a character that does not exist lost the whole feed."""
    written = reference.replace("&", "&amp;") if escaped else reference
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    text = RSS.decode().replace('<?xml version="1.0"?>', head).replace(place, place + written, 1)
    entries = read_feed(text.encode(encoding), "https://example.org/feed")
    assert [entry["title"][:3] for entry in entries] == ["One", "Two"]
    if place == "First":
        assert entries[0]["text"].startswith("First")
        assert len(entries[0]["text"]) <= len("First") + 1


def test_an_entry_that_cannot_be_read_ends_only_itself(monkeypatch):
    monkeypatch.setattr(feeds, "_time", lambda entry: 1 / (entry.title != "One") and None)
    first, second = read_feed(RSS)
    assert (first, second["title"]) == (
        {"unreadable": "could not be read (ZeroDivisionError)"},
        "Two",
    )
    with pytest.raises(DataError, match="ZeroDivisionError"):
        feeds.article_of(first, "https://example.org/feed", None)


def test_an_archive_gives_its_articles_once(store, add_file):
    records = [
        warc("https://example.org/1", page(head=PUBLISHED, title="First story")),
        warc("https://example.org/2", page(title="Undated story")),
        warc("https://example.org/3", gzip.compress(page(head=PUBLISHED, title="Packed story")),
             extra="Content-Encoding: gzip\r\n"),
        warc("https://example.org/4", b"{}", kind="application/json"),
        warc("https://example.org/5", b"gone", status="404 Not Found"),
        warc("https://example.org/6", b"<html></html>"),
        warc("https://example.org/7", page(title="Late", head=PUBLISHED.replace("2020", "2021"))),
        warc("https://example.org/8", gzip.compress(bytes(50 << 20)),
             extra="Content-Encoding: gzip\r\n"),
    ]  # fmt: skip
    packed = b"".join(map(gzip.compress, records))
    summary = add_file("crawl.warc.gz", packed)
    assert summary.added == 3
    assert summary.refused == {
        "no article on the page": 1, "published in the future": 1, "it is larger than 2 MiB": 1,
    }  # fmt: skip
    times = {one.article.title: write_time(one.article.published_at) for one in store.read()}
    assert times == {
        "First story": "2020-06-02T10:00:00+02:00",
        "Packed story": "2020-06-02T10:00:00+02:00",
        "Undated story": "2020-06-02T12:00:00Z",  # when it was crawled
    }
    again = add_file("crawl.warc", b"".join(records))
    assert (again.added, again.known) == (0, {"url": 3})


def test_a_broken_archive_says_so(add_file):
    with pytest.raises(DataError, match="cannot be read on as WARC"):
        add_file("x.warc", b"no archive at all" * 100)
    assert add_file("x.warc", b"no archive at all" * 100, "skip").refused.total() == 1


def test_lists_of_feeds(tmp_path):
    def listed(name, content):
        (tmp_path / name).write_bytes(content)
        return feeds_in(str(tmp_path / name))

    both = ["https://a.org/rss", "https://b.org/atom"]
    assert feeds_in(both[0]) == both[:1]
    assert listed("l.txt", b"# mine\nhttps://a.org/rss\n\n https://b.org/atom \n" * 2) == both
    opml = (
        b'<?xml version="1.0"?><opml><body><outline text="News">'
        b'<outline type="rss" xmlUrl="https://a.org/rss"/></outline>'
        b'<outline xmlUrl="https://b.org/atom"/></body></opml>'
    )
    assert listed("l.opml", opml) == both
    for bad, why in [
        (b"", "lists no feed"),
        (b"ftp://a.org/", "is not the URL of a feed"),
        (b"<opml><body>", "cannot be read as OPML"),
        (b'<!DOCTYPE o [<!ENTITY x "y">]><opml>&x;</opml>', "cannot be read as OPML"),
        (b"<opml><body/></opml>", "lists no feed"),
    ]:
        with pytest.raises(DataError, match=why):
            listed("bad", bad)
    with pytest.raises(DataError, match="neither a URL nor a readable file"):
        feeds_in(str(tmp_path / "nope"))


@given(st.binary(max_size=300))
def test_no_bytes_make_the_feed_reader_fail_otherwise_than_it_may(body):
    for content in (body, RSS[:80] + body, RSS.replace(b"First", body)):
        with suppress(NotAFeed):
            read_feed(content, "https://example.org/feed")


@given(st.text(alphabet=st.sampled_from("<>!?[]-/&;#xp 'd\"=a\n") | st.characters()))
def test_any_html_has_a_plain_text(html):
    plain_text(html)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("plain &amp; simple", "plain & simple"),
        ("<p>One <b>bold</b></p><p>Two</p>", "One bold\nTwo"),
        ("a<script>x()</script>b<style>y</style>c", "abc"),
        ("a<br/>b", "a\nb"),
        ("1 < 2", "1 < 2"),
    ],
)
def test_plain_text(html, text):
    assert plain_text(html) == text


def test_declarations_are_found_wherever_a_prolog_may_hold_them():
    for fine in (
        b"<rss/>",
        b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- <!ENTITY --><rss/>",
        b"",
        b"x",
    ):
        refuse_declarations(fine)
    for bad in (
        b"<!DOCTYPE a [<!ENTITY b 'c'>]><a/>",
        b"<?xml?><!-- - --><!DOCTYPE a [ ]>",
        b"<!ENTITY",
    ):
        with pytest.raises(NotAFeed, match="declares entities"):
            refuse_declarations(bad)


def test_a_page_that_takes_too_long_is_given_up_and_the_next_one_read():
    slow = b"<html><body><article>" + b"<p>word word.</p>" * 240_000 + b"</article></body></html>"
    with Worker(seconds=3.0) as worker:
        worker.read("page", page())
        with pytest.raises(TooSlow, match="more than 3 s"):
            worker.read("page", slow)
        assert worker.read("page", page())["title"] == "Bridge stays"


def test_a_reader_that_dies_is_replaced():
    with Worker() as worker:
        worker.read("page", page())
        # Stopped, it takes the request; killed in the middle of it, it never answers.
        os.kill(worker.pid, signal.SIGSTOP)
        threading.Timer(0.5, os.kill, (worker.pid, signal.SIGKILL)).start()
        with pytest.raises(FetchError, match="its reader died"):
            worker.read("page", page())
        assert worker.read("page", page())["title"] == "Bridge stays"
