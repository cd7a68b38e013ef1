"""WebSub, piece by piece: which hub a feed names, what is agreed with it, who may speak for it."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from newsstand import newsstand, rss
from websub_hub import hub_and_feeds, signed

from hashnews.news.feed_lists import ListedFeed
from hashnews.news.fetch import Fetched, Fetcher
from hashnews.news.json_feed import read_hub
from hashnews.news.own_feeds import add_feeds, list_feeds, note_visit
from hashnews.news.store import NewsStore
from hashnews.news.websub import Subscriber, Subscriptions
from hashnews.news.worker import Worker
from hashnews.times import microseconds

FEED, HUB = "https://example.org/feed", "https://hub.example.net/"
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>
<link rel="self" href="https://example.org/atom"/><link rel="hub" href="https://hub.example.net/"/>
<link rel="hub" href="https://second.example.net/"/></feed>"""
JSON = {"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": []}


@pytest.fixture
def store(tmp_path):
    with NewsStore(tmp_path / "n.db", "write") as made:
        add_feeds(made, [ListedFeed(FEED)])
        yield made


def asked_in(store):
    """Seconds until the hub is to be asked."""
    known = Subscriptions(store).of_feed(FEED)
    return (known.ask_at - microseconds(datetime.now(UTC))) / 1e6


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (ATOM, (HUB, "https://example.org/atom")),
        (rss(1), ("", "")),
        (json.dumps({**JSON, "feed_url": FEED, "hubs": [{"type": "rssCloud", "url": "x"},
                     {"type": "WebSub", "url": HUB}]}).encode(), (HUB, FEED)),
        (json.dumps({**JSON, "hubs": ["odd", {"type": 3, "url": ["x"]}]}).encode(), ("", "")),
        (json.dumps({**JSON, "hubs": {"type": "WebSub"}}).encode(), ("", "")),
    ],
)  # fmt: skip
def test_the_hub_that_a_feed_names(body, found):
    assert read_hub(body, FEED) == found


@pytest.mark.parametrize(
    ("head", "body", "found"),
    [
        ({"hub": "/hub", "topic": FEED}, ATOM, ("https://example.org/hub", FEED)),  # the head wins
        ({"hub": "/hub"}, ATOM, ("https://example.org/hub", FEED)),
        ({}, ATOM, (HUB, "https://example.org/atom")),
        ({}, ATOM.replace(b"https://hub", b"file://hub").replace(b"https://sec", b"gopher://sec"),
         None),
        ({}, b"<html>", None),
    ],
)  # fmt: skip
def test_what_is_kept_of_it(store, head, body, found):
    subscriptions = Subscriptions(store)
    subscriptions.note(FEED, "https://old.example.net/", FEED)
    with Worker() as worker, Fetcher() as fetcher:
        asks = Subscriber(store, fetcher, worker, "https://me.example.org/v1/websub")
        asks.heard(FEED, Fetched(FEED, body, "", None, None, **head))
        known = subscriptions.of_feed(FEED)
        assert (known and (known.hub, known.topic)) == found
        asks.heard(FEED, Fetched(FEED, body, "", None, None, **head))
        assert subscriptions.of_feed(FEED) == known  # the same hub keeps name and secret


def test_the_head_of_an_answer_is_read():
    with newsstand() as stand, Fetcher(allow_private=True) as fetcher:

        def answer(handler):
            handler.send_response(200)
            handler.send_header("Link", f'<{HUB}>; rel="hub", <{FEED}>; rel="self"')
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        stand["/feed"] = answer
        fetched = fetcher.get(f"{stand.url}/feed", 100)
        assert (fetched.hub, fetched.topic) == (HUB, FEED)


def test_a_lease_is_renewed_before_it_ends(store):
    subscriptions = Subscriptions(store)
    subscriptions.note(FEED, HUB, FEED)
    name = subscriptions.of_feed(FEED).name
    assert asked_in(store) < 0
    for mode, topic, lease, wait in [
        ("subscribe", FEED, 1000, 750),
        ("subscribe", FEED, 10**9, 30 * 86_400 * 0.75),
        ("subscribe", FEED, 0, 10 * 86_400 * 0.75),  # it does not say how long
        ("denied", FEED, 0, 86_400),
    ]:
        assert subscriptions.answered(name, mode, topic, lease)
        assert asked_in(store) == pytest.approx(wait, abs=60)
    for other in [("unsubscribe", FEED), ("subscribe", HUB), ("", "")]:
        assert not subscriptions.answered(name, *other, 5)
    assert not subscriptions.answered("nobody", "subscribe", FEED, 5)
    assert asked_in(store) == pytest.approx(86_400, abs=60)


@pytest.mark.parametrize("method", ["sha1", "sha256", "sha384", "sha512"])
def test_only_who_knows_the_secret_is_heard(store, method):
    subscriptions = Subscriptions(store)
    subscriptions.note(FEED, HUB, FEED)
    known = subscriptions.of_feed(FEED)
    note_visit(store, FEED, "fetched", at=datetime.now(UTC))
    right = signed(known.secret, b"news", method)
    wrong = [signed("other", b"news", method), signed(known.secret, b"News", method), "", method,
             right[:-1], right.replace(method, "md5"), f"{method}=ü", right.partition("=")[2],
             signed(known.secret, b"news", "md5")]  # fmt: skip
    for signature in wrong:
        assert not subscriptions.is_news(known.name, signature, b"news")
    assert not subscriptions.is_news("nobody", right, b"news")
    assert list_feeds(store)[0].visited is not None
    assert subscriptions.is_news(known.name, right, b"news")
    assert list_feeds(store)[0].visited is None


def test_a_hub_is_behind_the_guard_and_is_left_alone_when_it_fails(store):
    with hub_and_feeds() as (hub, stand), Worker() as worker:
        for private, path, told in [
            (False, "/hub", "(--allow-private allows it)"),
            (True, "/gone", "the server answered 404"),
            (True, "/hub", "asked"),
        ]:
            Subscriptions(store).drop(FEED)
            Subscriptions(store).note(FEED, stand.url + path, FEED)
            with Fetcher(allow_private=private, delay=0) as fetcher:
                asks = Subscriber(store, fetcher, worker, "http://127.0.0.1:9/v1/websub")
                assert told in asks.ask(FEED)
                assert asks.ask(FEED) is None  # not again for a while
                assert asked_in(store) == pytest.approx(timedelta(hours=1).total_seconds(), abs=60)
        assert [one["hub.topic"] for one in hub.asked] == [FEED]
