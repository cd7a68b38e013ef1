"""Hostile files and frames of others: archives of posts, crawls, lists of feeds, streams, indexes.

Like those of fuzzers.py: from a seed, one input, what came of it.
"""

import json
import re
import shutil
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from pydantic import ValidationError

sys.path += [str(Path(__file__).parent / room) for room in ("index", "posts")]
import makers
from stores import add, assert_as_fresh, news
from texts_to_mangle import NOW, ROW, as_bytes, mangled, mangled_bytes

from hashnews.errors import DataError, ModelError, NotAFeed
from hashnews.files import PostFile, Skipped
from hashnews.index.folder import NewsIndex, folder_of
from hashnews.news.archives import WarcFile
from hashnews.news.discover import read_links
from hashnews.news.feed_lists import is_feed_url, read_list, write_opml
from hashnews.news.feeds import article_of
from hashnews.news.json_feed import read_any_feed, read_title
from hashnews.news.pages import page_article, read_page
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary
from hashnews.posts.archives.open_file import open_posts
from hashnews.posts.networks.events import FollowSettings
from hashnews.posts.networks.frames import read_firehose, read_jetstream
from hashnews.posts.networks.records import wrote
from hashnews.records import Post, PreparedPost
from hashnews.saved import new_directory
from hashnews.suggest.lexicon import Lexicon, LexiconEntry, Worth
from hashnews.suggest.topics import Topics, Turn

POSTS = [
    makers.Plain(n, f"Bread number {n} is baked in Paris #sourdough", datetime(2020, 6, 2, n,
                 tzinfo=UTC), ("bread",), reply=n == 2, repeats=n == 3)
    for n in range(5)
]  # fmt: skip
PAGE = """<html><head><title>Storm hits harbour of Paris</title>
<meta property="article:published_time" content="2020-06-02T10:00:00Z">
<script type="application/ld+json">{"@type":"NewsArticle","headline":"Storm hits harbour of Paris",
"datePublished":"2020-06-02T10:00:00Z","author":[{"name":"A"}]}</script></head><body><article>
<h1>Storm hits harbour of Paris</h1><p>A storm has hit the harbour of Paris, where Anna Ferrow said
that no one was hurt, though the ferry was late by many hours and the market was closed.</p>
</article></body></html>"""
JSON_FEED = json.dumps(
    {"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": [
        {"id": "1", "url": "https://example.org/1", "title": "One", "content_html": "<p>x</p>",
         "date_published": "2020-06-02T10:00:00Z"}, {"id": 2, "content_text": "two"}]}
)  # fmt: skip
OPML = """<?xml version="1.0"?><opml version="2.0"><head><title>T</title></head><body>
<outline text="World"><outline type="rss" text="One" xmlUrl="https://example.org/feed"/></outline>
<outline text="Two" xmlUrl="https://example.org/2" category="/a,/b"/></body></opml>"""


class InThisProcess:
    """Reads pages like the worker, without a process of its own."""

    def read(self, what, body, **about):
        assert what == "page"
        return read_page(body, **about)


def one_line_says(error, outcome):
    assert "\n" not in str(error), str(error)
    return outcome


def archives(chance, folder):
    """A damaged archive gives the posts that can be read, or one line."""
    makes = {
        "outbox.json": lambda: makers.outbox(map(makers.activity, POSTS)),
        "m.zip": lambda: makers.zipped(makers.mastodon_files(POSTS)),
        "m.tar.gz": lambda: makers.tarred(makers.mastodon_files(POSTS)),
        "x.zip": lambda: makers.zipped(makers.x_files(POSTS)),
        "tweets.js": lambda: makers.assigned("tweets", map(makers.tweet, POSTS)),
        "threads.json": lambda: makers.threads(POSTS),
        "i.zip": lambda: makers.zipped(makers.instagram_files(POSTS)),
        "repo.car": lambda: b"".join(_repository()),
        "records.json": lambda: makers.list_records(POSTS),
        "posts.csv": lambda: b"Content,Date,Who\nhello #a,2 June 2020 10:00,ann\n",
    }
    name = chance.choice(sorted(makes))
    content = makes[name]()
    if name.endswith((".json", ".js", ".csv")) and chance.random() < 0.5:
        content = as_bytes(chance, mangled(chance, content.decode()))
    elif chance.random() < 0.9:
        content = mangled_bytes(chance, content)
    path = folder / name
    path.write_bytes(content)
    columns = {"text": "Content", "created_at": "Date"} if name == "posts.csv" else None
    skipped = Skipped()
    try:
        found = list(open_posts(path, chance.choice(["skip", "stop"]), skipped, columns))
    except DataError as error:
        return one_line_says(error, "refused")
    for post in found:
        assert isinstance(post, Post | PreparedPost)
        assert post.created_at is None or 1900 <= post.created_at.year <= 2200
    return "posts" if found else "no posts"


def _repository():
    blocks = makers.repository(POSTS)
    yield makers.car(makers.link_to(blocks[0]), blocks)


def crawls(chance, folder):
    """A page of a crawl that cannot be read costs that page, a broken archive what follows."""
    records = []
    for n in range(3):
        page = as_bytes(chance, mangled(chance, PAGE)) if chance.random() < 0.7 else PAGE.encode()
        http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page
        head = (
            f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.org/{n}\r\n"
            f"WARC-Date: 2020-06-03T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:{n}>\r\n"
            f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n"
        )
        records.append(head.encode() + b"\r\n" + http + b"\r\n\r\n")
    content = b"".join(records)
    content = mangled_bytes(chance, content) if chance.random() < 0.5 else content
    path = folder / "c.warc"
    path.write_bytes(content)
    refusals = Refusals(Summary())
    found = list(WarcFile(path, "skip", refusals, InThisProcess(), lambda url: False))
    assert all(article.published_at <= _crawled(content) for article in found)
    return f"{len(found)} of 3 pages"


def _crawled(content):
    """When the last page of an archive was crawled, by its heads, however they were damaged."""
    written = re.findall(rb"WARC-Date: ([0-9TZ:-]+)\r\n", content)
    if len(written) < content.count(b"WARC/1.0"):
        return datetime.max.replace(tzinfo=UTC)  # one has no date that can be read
    try:
        dates = [datetime.fromisoformat(one.decode()) for one in written]
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    if not all(date.tzinfo for date in dates):
        return datetime.max.replace(tzinfo=UTC)  # without a zone it may mean many moments
    return max(dates)


def pages(chance, folder):
    """A page is an article that can be stored, or none."""
    try:
        found = read_page(as_bytes(chance, mangled(chance, PAGE, most=12)), "https://example.org/1")
    except ValueError:  # lxml; the worker tells it
        return "unreadable"
    if found is None:
        return "no article"
    try:
        article = page_article(found, NOW)
    except (DataError, ValidationError):
        return "refused"
    assert article.published_at <= NOW
    return "an article"


def lists(chance, folder):
    """A list of feeds, a JSON Feed or the links of a page: what is in it, or one line."""
    kind = chance.choice(["opml", "json", "links"])
    if kind == "links":
        head = '<link rel="alternate" type="application/rss+xml" href="/feed" title="T">'
        found = read_links(as_bytes(chance, mangled(chance, head * 3)), "https://example.org/")
        assert all(is_feed_url(url) for url, _ in found)
        return "links"
    if kind == "opml":
        path = folder / "feeds.opml"
        path.write_bytes(as_bytes(chance, mangled(chance, OPML)))
        try:
            listed = read_list(str(path))
        except DataError as error:
            return one_line_says(error, "no list")
        write_opml([feed for feed in listed if is_feed_url(feed.url)])
        return "a list"
    body = as_bytes(chance, mangled(chance, JSON_FEED))
    try:
        entries = read_any_feed(body, "https://example.org/feed")
        read_title(body, "https://example.org/feed")
    except NotAFeed:
        return "no feed"
    for entry in entries:
        with suppress(DataError, ValidationError):
            assert article_of(entry, "https://example.org/feed", NOW).published_at <= NOW
    return "a feed"


def frames(chance, folder):
    """A frame of a stream is understood or refused."""
    record = makers.record(POSTS[1])
    if chance.random() < 0.5:
        event = {"did": makers.DID, "time_us": 1591092000000000, "kind": "commit", "commit": {
            "operation": "create", "collection": "app.bsky.feed.post", "rkey": "3k",
            "record": record}}  # fmt: skip
        frame = mangled(chance, json.dumps(event))
        read = read_jetstream
    else:
        block = makers.cbor(record)
        link = makers.link_to(block)
        op = {"action": "create", "path": "app.bsky.feed.post/3k", "cid": link}
        body = {"seq": 7, "repo": makers.DID, "time": "2020-06-02T10:00:00Z", "ops": [op],
                "blocks": makers.car(link, [block])}  # fmt: skip
        whole = makers.cbor({"op": 1, "t": "#commit"}) + makers.cbor(body)
        frame = mangled_bytes(chance, whole) if chance.random() < 0.9 else whole
        read = read_firehose
    try:
        message = read(frame)
        for change in message.changes:
            wrote(message.did, change.key, change.record, FollowSettings())
    except DataError:
        return "refused"
    return "a message"


def indexes(chance, folder):
    """Damage of an index is noticed or harmless: the answers are those of a fresh one."""
    whole = folder / "whole.db"
    if not whole.exists():
        add(whole, news(40, 4))
        with NewsStore(whole) as store:
            NewsIndex.open(store)
    place, damaged = folder_of(whole), folder_of(folder / "news.db")
    shutil.copyfile(whole, folder / "news.db")
    shutil.rmtree(damaged, ignore_errors=True)
    shutil.copytree(place, damaged)
    target = chance.choice(sorted(path for path in damaged.rglob("*") if path.is_file()))
    match chance.randrange(4):
        case 0:
            target.unlink()
        case 1:
            target.write_bytes(target.read_bytes()[: chance.randrange(target.stat().st_size + 1)])
        case _:
            target.write_bytes(mangled_bytes(chance, target.read_bytes()))
    with NewsStore(folder / "news.db") as store:
        assert_as_fresh(NewsIndex.open(store), store, 4)
    return target.suffix or target.name


def _change_arrays(chance, path):
    """Cut, empty or overwrite some arrays of a file, and now and then the file itself."""
    with np.load(path) as read:
        arrays = {name: read[name] for name in read.files}
    for name in chance.sample(sorted(arrays), chance.randrange(3)):
        value = chance.choice([-1, 0, 7, 1 << 20])
        arrays[name] = chance.choice(
            [arrays[name][:-1], arrays[name] * 0 + np.array(value).astype(arrays[name].dtype),
             arrays[name].astype(np.float64) * np.nan, arrays[name].reshape(-1)[:1]]
        )  # fmt: skip
    np.savez(path, **arrays)
    if chance.random() < 0.3:
        path.write_bytes(mangled_bytes(chance, path.read_bytes()))


def lexicons(chance, folder):
    """A lexicon whose arrays were changed is refused, or answers."""
    entries = [LexiconEntry(n, (word,), f"#{word}", 5, 18_000, 18_500) for n, word in
               enumerate(["rain", "storm", "ferry"])]  # fmt: skip
    vectors = np.eye(2, dtype=np.float32)
    place = folder / "lexicon"
    with new_directory(place, "lexicon", {}) as scratch:
        Lexicon(entries, vectors, {"rain": Worth(9, 3)}, {"wet": [0, 1]}).save(scratch)
        _change_arrays(chance, scratch / "entries.npz")
    try:
        lexicon = Lexicon.load(place)
    except ModelError as error:
        return one_line_says(error, "refused")
    lexicon.told(["wet"])
    lexicon.get("rain", 1 << 60)
    if lexicon.vectors.shape[1] == 2:
        lexicon.nearest(lexicon.similar(vectors[0]), 1 << 60, 2)
    return "loaded"


def topics(chance, folder):
    """Topics whose arrays were changed are refused, or answer."""
    place, two = folder / "topics", np.eye(2, dtype=np.float32)
    turn = Turn(two, two[0], two, two[1])
    with new_directory(place, "topics", {}) as scratch:
        Topics(("", "rain"), two, two[0], turn).save(scratch)
        _change_arrays(chance, scratch / "topics.npz")
    try:
        read = Topics.load(place)
    except ModelError as error:
        return one_line_says(error, "refused")
    assert len(read.of(two[0])) == len(read.keys)
    read.places(["rain", "nothing"])
    return "loaded"


def tables(chance, folder):
    """Parquet of any types: rows that are posts, or one line a row."""
    import pyarrow as pa
    from pyarrow import ArrowException, parquet

    kinds = [
        pa.string(), pa.large_string(), pa.binary(), pa.int64(), pa.float64(), pa.bool_(),
        pa.timestamp("ns"), pa.timestamp("us", tz="UTC"), pa.timestamp("s", tz="Nowhere/Else"),
        pa.date32(), pa.time64("ns"), pa.duration("ns"), pa.decimal128(38, 2),
        pa.list_(pa.string()), pa.struct([("a", pa.int64())]), pa.null(),
        pa.dictionary(pa.int32(), pa.string()),
    ]  # fmt: skip
    columns = {}
    for name in ("id", "text", "created_at", "user", "entities"):
        kind = chance.choice(kinds) if chance.random() < 0.5 else pa.string()
        values = chance.choice([[ROW.get(name, "x")] * 3, [1 << 62, -1, 0], [None] * 3,
                                [b"\xff"] * 3, [["a"], [], None], [{"a": 1}] * 3])  # fmt: skip
        try:
            columns[name] = pa.array(values).cast(kind, safe=False)
        except (ArrowException, TypeError, ValueError):
            columns[name] = pa.array([None] * 3, pa.string())
    path = folder / "t.parquet"
    try:
        parquet.write_table(pa.table(columns), path)
    except (ArrowException, OSError):
        return "cannot be written"
    if chance.random() < 0.3:
        path.write_bytes(mangled_bytes(chance, path.read_bytes()))
    try:
        found = list(PostFile(path, chance.choice(["skip", "stop"])))
    except DataError as error:
        return one_line_says(error, "refused")
    return f"{len(found)} posts"


FILES = (archives, crawls, pages, lists, frames, indexes, lexicons, topics, tables)
