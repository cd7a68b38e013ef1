"""Findings about feeds, pages, files and the command line, each as one question."""

from __future__ import annotations

import importlib
import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from findings_parts import HOUR, added, article, lines, run, run_apart, trending
from newsstand import newsstand, rss

from hashnews.news.feeds import article_of, read_feed
from hashnews.news.fetch import Fetcher
from hashnews.news.rounds import Round, Rounds
from hashnews.news.store import NewsStore
from hashnews.news.worker import Worker
from hashnews.text.entities import shipped_finder

SEEN = datetime(2026, 1, 1, tzinfo=UTC)


def c1(folder: Path) -> bool:
    """A post of the future deletes no other."""
    store = added(folder)
    old = [{"id": f"p{n}", "text": f"x {n} #soon", "created_at": HOUR} for n in range(5)]
    new = {"id": "t", "text": "x #soon", "created_at": "2202-06-01T10:00:00Z"}
    run("posts", "add", lines(folder / "old.jsonl", *old), "--news", store)
    with suppress(Exception):
        run("posts", "add", lines(folder / "new.jsonl", new), "--news", store)
    told = json.loads(run("posts", "stats", "--news", store, "--json").stdout)
    return bool(told["posts"] == 5)


def c2(folder: Path) -> bool:
    """An index is that of its store."""
    store = added(folder, count=12, entities=["Angela Merkel"])
    before = trending(store)
    store.unlink()
    added(folder, count=8, entities=["Olaf Scholz"])
    after = trending(store).lower()
    return "angela merkel" in before.lower() and "merkel" not in after and "olaf scholz" in after


def h1(folder: Path) -> bool:
    """An item dated 0001 costs nothing but its date."""
    with newsstand() as stand:
        stand["/a"], stand["/b"] = rss(2, date="Mon, 01 Jan 0001 00:00:00 +0000"), rss(3)
        place = folder / "news.db"
        run("news", "fetch", f"{stand.url}/a", f"{stand.url}/b", "--allow-private", "--news", place)
    with NewsStore(folder / "news.db") as store:
        return len(store) == 2


def page(number: int, head: str) -> str:
    """A page with an article."""
    story = "<p>The council met on Tuesday and decided to keep the old bridge.</p>" * 5
    return (
        f"<html><head><title>Story {number}</title>{head}"
        f'<link rel="canonical" href="https://example.org/{number}"></head>'
        f"<body><article><h1>Story {number}</h1>{story}</article></body></html>"
    )


def h1_pages(folder: Path) -> bool:
    """A page dated 0001 costs its date, in a file and in an archive of a crawl."""
    zero = '<meta property="article:published_time" content="0001-01-01T00:00:00Z">'
    (folder / "p.html").write_text(page(0, zero))
    run("news", "add", folder / "p.html", "--news", folder / "p.db", "--on-error", "skip")
    with (folder / "a.warc").open("wb") as archive:
        for number in (1, 2, 3):
            body = page(number, zero if number == 2 else "").encode()
            http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
            archive.write(
                b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
                b"WARC-Date: 2020-06-02T12:00:00Z\r\n"
                b"WARC-Target-URI: https://example.org/%d\r\n"
                b"Content-Type: application/http; msgtype=response\r\n"
                b"Content-Length: %d\r\n\r\n%s\r\n\r\n" % (number, len(http), http)
            )
    run("news", "add", folder / "a.warc", "--news", folder / "a.db", "--on-error", "skip")
    with NewsStore(folder / "a.db") as store:
        return len(store) == 3


def h2(folder: Path) -> bool:
    """A Retry-After of 5,000 digits ends only its feed."""

    def busy(handler: Any) -> None:
        handler.send_response(429)
        handler.send_header("Retry-After", "9" * 5000)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    with newsstand() as stand:
        stand["/a"], stand["/b"] = busy, rss(3)
        place = folder / "news.db"
        run("news", "fetch", f"{stand.url}/a", f"{stand.url}/b", "--allow-private", "--news", place)
    with NewsStore(folder / "news.db") as store:
        return len(store) == 1


def h3(folder: Path) -> bool:
    """A store whose first index was interrupted can be used."""
    store = added(folder, count=12)
    trending(store)
    for manifest in folder.glob("news.db.index/manifest.json"):
        manifest.unlink()
    return run("trends", "--news", store, "--at", "2020-06-03T00:00:00Z").exit_code == 0


def h4(folder: Path) -> bool:
    """A date of an unknown zone, or of a month, is not read too early."""
    ends = {
        "Mon, 01 Jun 2020 20:00:00 HST": datetime(2020, 6, 2, 6, tzinfo=UTC),
        "Mon, 1 Jun 2020 8:00:00 PM EST": datetime(2020, 6, 2, 1, tzinfo=UTC),
        "2020-06-01T20:00:00": datetime(2020, 6, 2, 8, tzinfo=UTC),
        "2020-06": datetime(2020, 6, 30, tzinfo=UTC),
    }
    for written, earliest in ends.items():
        (entry,) = read_feed(rss(1, date=written))
        if article_of(entry, "https://example.org/feed", SEEN).published_at < earliest:
            return False
    return True


def h4_pages(folder: Path) -> bool:
    """The same of pages: only what they declare, and the latest moment it can mean."""
    earliest = {
        '<time datetime="2001-09-11">11 September</time>': None,
        '<meta name="date" content="07/06/2020">': datetime(2020, 7, 6, tzinfo=UTC),
        '<meta name="date" content="2020-07">': datetime(2020, 7, 31, tzinfo=UTC),
    }
    for number, (head, least) in enumerate(earliest.items()):
        (folder / f"{number}.html").write_text(page(number, head))
        run("news", "add", folder / f"{number}.html", "--news", folder / f"{number}.db")
        with NewsStore(folder / f"{number}.db") as store:
            times = [one.article.published_at for one in store.read()]
        if any(least is None or time < least for time in times):
            return False
    return True


def h5(folder: Path) -> bool:
    """What an article says does nothing to the terminal."""
    store = added(folder, url="https://e.org/\x1b]52;c;eA==\x07", source="e\x1b[2J")
    return "\x1b]" not in run("news", "search", "Ferrow", "--news", store).output


def m5(folder: Path) -> bool:
    """What is written to a link goes where it leads."""
    posts = lines(
        folder / "p.jsonl", {"id": "1", "text": "Storm in Paris #storm", "created_at": HOUR}
    )
    (folder / "there.jsonl").touch()
    (folder / "link.jsonl").symlink_to(folder / "there.jsonl")
    run("prepare", posts, "-o", folder / "link.jsonl")
    return (folder / "link.jsonl").is_symlink()


def m6(folder: Path) -> bool:
    """Not every link of a feed is followed for its full text."""
    with newsstand() as stand, NewsStore(folder / "n.db", "write") as store:
        stand["/feed"] = rss(*range(120)).replace(b"https://example.org", stand.url.encode())
        with Fetcher(True, delay=0) as fetcher, Worker() as worker:
            rounds = Rounds(store, shipped_finder(), fetcher, worker, True)
            list(rounds.visit_all([f"{stand.url}/feed"], Round()))
        return len(store) == 120 and len(stand.asked) < 120


def m7(folder: Path) -> bool:
    """A character that does not exist costs that character."""
    body = rss(1, 2).replace(b"Title 1", b"Title &#xD800; 1")
    return len(read_feed(body)) == 2


def m8(folder: Path) -> bool:
    """Addresses of the own network are not public, in any form."""
    is_public = importlib.import_module("hashnews.news.guard").is_public
    odd = ("192.0.0.192", "::127.0.0.1", "fec0::1", "5f00::1", "3fff::1", "192.88.99.1")
    return not any(map(is_public, odd))


def m10(folder: Path) -> bool:
    """JSON nested deeply is one line."""
    (folder / "deep.jsonl").write_text('{"id":' + "[" * 100_000 + "\n")
    for command in (("news", "add"), ("posts", "add")):
        done = run(*command, folder / "deep.jsonl", "--news", folder / "n.db")
        if done.exit_code != 1:
            return False
    return True


def m12(folder: Path) -> bool:
    """A feed speaks for its own site only."""
    entry = {"guid": "1", "link": "https://www.bbc.co.uk/news/1", "title": "T", "text": "x",
             "time": "2020-01-01T00:00:00Z"}  # fmt: skip
    if "published" in article_of.__code__.co_names:
        entry["published"] = entry["time"]
    return article_of(entry, "https://evil.example.net/feed", SEEN).source == "evil.example.net"


def low_export(folder: Path) -> bool:
    """A store is not overwritten by what is exported of it."""
    store = added(folder, name="store.jsonl")
    with suppress(Exception):
        run("news", "export", "-o", store, "--news", store)
    return store.read_bytes().startswith(b"SQLite")


def low_name(folder: Path) -> bool:
    """An error about a long name is a short line."""
    return len(run("news", "add", "x" * 5000 + ".jsonl", "--news", folder / "n.db").stderr) < 2500


def low_refused(folder: Path) -> bool:
    """The side file of the run before is kept."""
    for n in (1, 2):
        bad = lines(folder / f"bad{n}.jsonl", article(n, published_at="2199-01-01T00:00:00Z"))
        run("news", "add", bad, "--news", folder / "n.db")
    kept = [path.read_text() for path in folder.glob("n.refused.jsonl*")]
    return all(any(f"a{n}" in text for text in kept) for n in (1, 2))


def low_article(folder: Path) -> bool:
    """An article of many megabytes is refused before it costs anything."""
    big = lines(folder / "big.jsonl", article(1, text="Anna Berg met Bob. " * 120_000))
    return "0 added" in run("news", "add", big, "--news", folder / "n.db").output


def m10_parquet(folder: Path) -> bool:
    """Times of Parquet that Python cannot hold cost their rows."""
    pa, pq = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    fine = 1591106700 * 10**9
    times = {"ns": (fine + 1, "UTC"), "us": (9 * 10**17, "UTC"), "ms": (fine // 10**6, "No/Where")}
    for unit, (time, zone) in times.items():
        column = pa.array([fine // 10 ** {"ns": 0, "us": 3, "ms": 6}[unit], time],
                          pa.timestamp(unit, tz=zone))  # fmt: skip
        table = pa.table({"id": ["1", "2"], "text": ["x", "y"], "created_at": column})
        pq.write_table(table, folder / f"{unit}.parquet")
        words = ("prepare", folder / f"{unit}.parquet", "-o", folder / "o.jsonl")
        run(*words, "--on-error", "skip")
    return True


def low_interrupt(folder: Path) -> bool:
    """Ctrl-C while a command is imported is no traceback."""
    start = """
import os, signal, sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupts())
"""
    ended = run_apart("suggest", "Storm in Paris", start=start)
    return ended.code == 1 and "Traceback" not in ended.said


def low_cache(folder: Path) -> bool:
    """Without a home, a folder in which anybody may write is not used."""
    (folder / f"hashnews-{os.getuid()}").mkdir()
    (folder / f"hashnews-{os.getuid()}").chmod(0o777)
    places = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null", "TMPDIR": str(folder)}
    return run_apart("suggest", "Storm in Paris", **places).refused


QUESTIONS = (
    c1, c2, h1, h1_pages, h2, h3, h4, h4_pages, h5, m5, m6, m7, m8, m10, m10_parquet, m12,
    low_export, low_name, low_refused, low_article, low_interrupt, low_cache,
)  # fmt: skip
