"""WebSub: a feed's hub tells what is new, and it is here long before the feed's next turn."""

import time

import pytest
from bluesky_server import free_port
from newsstand import rss
from servers import HTTP, KEY, Server
from websub_hub import hub_and_feeds

from hashnews.news.feed_lists import ListedFeed
from hashnews.news.own_feeds import add_feeds, remove_feeds
from hashnews.news.store import NewsStore


def linked(hub, feed, *numbers):
    links = f'<link xmlns="http://www.w3.org/2005/Atom" rel="hub" href="{hub}"/>'
    links += f'<link xmlns="http://www.w3.org/2005/Atom" rel="self" href="{feed}"/>'
    return rss(*numbers, extra=links)


def follow(db, *urls):
    with NewsStore(db, "write") as store:
        add_feeds(store, [ListedFeed(url) for url in urls])


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def visits(stand):
    return stand.paths().count("/feed")


def test_what_a_hub_tells_is_here_before_the_next_turn(tmp_path):
    """Asked for, confirmed, told, forged, removed: with a real hub, and a turn an hour away."""
    db, port = tmp_path / "n.db", free_port()
    public = f"http://127.0.0.1:{port}"
    with hub_and_feeds() as (hub, stand):
        feed = f"{stand.url}/feed"
        stand["/feed"] = linked(hub.url, feed, 1)
        follow(db, feed)
        arguments = ("--news", db, "--fetch", "--every", "1h", "--allow-private")
        with Server(*arguments, "--public-url", f"{public}/", key=KEY, port=port) as server:

            def articles():
                told = server.client.get("/v1/feeds", headers=HTTP).json()["feeds"]
                return [one["articles"] for one in told]

            hub.wait(lambda: hub.subscribers)
            (asked,) = hub.asked
            assert asked["hub.callback"].startswith(f"{public}/v1/websub?name=")
            assert (asked["hub.mode"], asked["hub.topic"]) == ("subscribe", feed)
            assert len(asked["hub.secret"]) == 64
            wait_for(lambda: articles() == [1])

            stand["/feed"] = new = linked(hub.url, feed, 1, 2)
            assert [answer.status_code for answer in hub.publish(feed, new)] == [202]
            wait_for(lambda: articles() == [2])
            assert visits(stand) == 2

            stand["/feed"] = new = linked(hub.url, feed, 1, 2, 3)
            hub.publish(feed, new, secret="not this one")  # taken, as the standard says; not heard
            for changes in ({"hub.topic": f"{stand.url}/other"}, {"hub.mode": "unsubscribe"}):
                assert hub.ask_back(asked, "x", **changes).status_code == 404
            elsewhere = {**asked, "hub.callback": f"{public}/v1/websub?name=nobody"}
            assert hub.ask_back(elsewhere, "x").status_code == 404
            time.sleep(5)  # feeds that are due are looked for every two seconds
            assert (articles(), visits(stand)) == ([2], 2)

            hub.publish(feed, new, method="sha1")  # as older hubs sign
            wait_for(lambda: articles() == [3])
            assert len(hub.asked) == 1  # who said yes is not asked again
            with NewsStore(db, "write") as store:
                remove_feeds(store, [feed])
            assert [answer.status_code for answer in hub.publish(feed, new)] == [410]
            (told, *_) = [event for event in server.events if event["event"] == "visited"]
            assert told["hub"] == "asked"
            assert asked["hub.secret"] not in "".join(server.lines)


def test_without_a_public_address_no_hub_is_asked(tmp_path):
    db = tmp_path / "n.db"
    with hub_and_feeds() as (hub, stand):
        stand["/feed"] = linked(hub.url, f"{stand.url}/feed", 1)
        follow(db, f"{stand.url}/feed")
        arguments = ("--news", db, "--fetch", "--every", "1s", "--allow-private")
        with Server(*arguments, key=KEY) as server:
            wait_for(lambda: visits(stand) > 2)
            assert hub.asked == []
            assert server.client.get("/v1/websub?name=x").status_code == 404


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--public-url", "https://example.org"), "--public-url is for the hubs of feeds"),
        (("--fetch", "--public-url", "example.org"), "public_url"),
    ],
)
def test_mistakes_are_told_in_one_line(tmp_path, arguments, line):
    from click.testing import CliRunner

    from hashnews.cli import main

    follow(tmp_path / "n.db")
    done = CliRunner().invoke(main, ["serve", "--news", str(tmp_path / "n.db"), *arguments])
    assert done.exit_code == 1
    assert line in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
