"""Ways in over HTTP: archives in parts, feeds and sources, what arrived, an author forgotten."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from newsstand import newsstand, page, rss
from own_posts import LOAVES, outbox
from servers import HTTP, KEY, Server

from hashnews.news.store import NewsStore
from hashnews.posts.networks.events import FollowSettings
from hashnews.posts.networks.sources import add_source, pause_source, source_states
from hashnews.service.ways_in import MOST_SEARCHES
from hashnews.service.ways_store import WaysStore


@pytest.fixture(scope="module")
def stand():
    with newsstand() as running:
        running["/"] = page(("/feed.xml", "The Daily Test"))
        running["/feed.xml"] = rss(1, 2)
        yield running


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    return tmp_path_factory.mktemp("ways") / "news.db"


@pytest.fixture(scope="module")
def fetching(db, stand):
    arguments = ("--news", db, "--fetch", "--every", "1s", "--allow-private")
    with Server(*arguments, key=KEY) as running:
        running.client.headers.update(HTTP)
        yield running


def state(server):
    answer = server.client.get("/v1/ways")
    assert answer.status_code == 200, answer.text
    return answer.json()


def until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.1)
    return found


def send(server, name, content, part=7000, **given):
    asked = {"name": name, "size": len(content), **given}
    begun = server.client.post("/v1/ways/archives", json=asked)
    assert begun.status_code == 200, begun.text
    upload = begun.json()["upload"]
    for at in range(0, len(content), part):
        body, where = content[at : at + part], {"upload": upload, "at": at}
        answer = server.client.put("/v1/ways/parts", params=where, content=body)
        assert answer.status_code == 200, answer.text

    def told():
        (one,) = [one for one in state(server)["archives"] if one["upload"] == upload]
        return one if one["state"] != "adding" else None

    return until(told)


def test_an_archive_in_parts_teaches_and_can_be_forgotten(fetching, db):
    done = send(fetching, "outbox.json", outbox(*LOAVES).encode(), part=500, user="ann")
    assert (done["state"], done["added"], done["is_named"]) == ("done", 4, True)
    told = state(fetching)
    assert (told["posts"], told["authors"]) == (4, 1)
    assert (told["arrivals"][0]["source"], told["arrivals"][0]["came"]) == ("outbox.json", 4)
    asked = {"text": "Shaping the next loaf of bread, flour everywhere", "user": "ann"}

    def suggested():
        answer = fetching.client.post("/suggest", json=asked)
        if answer.status_code == 504:  # what was never needed before is compiled first
            return suggested()
        return {one["hashtag"].lower(): one for one in answer.json()["suggestions"]}

    mine = until(lambda: suggested().get("#sourdough"))
    assert [r["count"] for r in mine["because"] if r["source"] == "author"] == [4]
    assert send(fetching, "outbox.json", outbox(*LOAVES).encode(), user="ann")["known"] == 4
    gone = fetching.client.post("/v1/ways/forget", json={"author": "ann"})
    assert gone.json() == {"forgotten": 4}
    until(lambda: not any(
        reason["source"] == "author" for one in suggested().values() for reason in one["because"]
    ))  # fmt: skip
    assert list(db.parent.glob(".*upload*")) == []  # nothing is left of the files


def test_what_is_no_archive_gets_a_line(fetching):
    done = send(fetching, "holiday.zip", b"PK\x03\x04 but then nothing")
    assert done["state"] == "failed"
    assert done["note"]
    put = fetching.client.put
    missing = put("/v1/ways/parts", params={"upload": "0" * 16, "at": 0}, content=b"x")
    assert missing.status_code == 404
    begun = fetching.client.post("/v1/ways/archives", json={"name": "../../a.json", "size": 4})
    where = {"upload": begun.json()["upload"], "at": 2}
    assert put("/v1/ways/parts", params=where, content=b"xx").status_code == 409
    assert put("/v1/ways/parts", params=where | {"at": 0}, content=b"xxxxx").status_code == 409
    for bad in ({"name": "", "size": 1}, {"name": "a", "size": 0}, {"name": "a", "size": 1 << 40}):
        assert fetching.client.post("/v1/ways/archives", json=bad).status_code == 422


def test_a_site_is_followed_by_its_feed_paused_and_removed(fetching, stand):
    url = stand.url + "/feed.xml"
    added = fetching.client.post("/v1/ways", json={"address": stand.url + "/"}).json()
    if not added["searching"]:  # else this machine is slow today
        assert (added["address"], added["title"]) == (url, "The Daily Test")

    def feed():
        return next((one for one in state(fetching)["feeds"] if one["url"] == url), None)

    until(lambda: feed() and feed()["articles"] == 2)
    assert (feed()["title"], state(fetching)["searches"]) == ("The Daily Test", [])
    for paused in (True, False):
        asked = {"address": url, "paused": paused}
        assert fetching.client.post("/v1/ways/pause", json=asked).json() == asked
        if paused:
            assert feed()["state"] == "paused"
            time.sleep(4)  # whatever was under way ends; then nobody comes any more
            visits = stand.paths().count("/feed.xml")
            stand["/feed.xml"] = rss(1, 2, 3)
            time.sleep(4)
            assert stand.paths().count("/feed.xml") == visits
            assert (feed()["state"], feed()["articles"]) == ("paused", 2)
    until(lambda: feed()["articles"] == 3)
    gone = fetching.client.delete("/v1/ways", params={"address": url})
    assert gone.json() == {"address": url, "forgotten": 0}
    assert feed() is None
    assert any(line["source"] == url for line in state(fetching)["arrivals"])


def test_a_site_given_twice_at_once_is_looked_at_once_and_only_so_many_at_once(fetching, stand):
    """The second of two clicks was an internal error, and each one a process."""
    address, go_on = f"{stand.url}/twice.xml", threading.Event()

    def slow(handler):
        go_on.wait(60)
        content = rss(3)
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    def add(site):
        return fetching.client.post("/v1/ways", json={"address": site})

    stand["/twice.xml"] = slow
    others = [f"{stand.url}/{n}.xml" for n in range(MOST_SEARCHES - 1)]
    stand.laid_out |= {f"/{n}.xml": slow for n in range(MOST_SEARCHES - 1)}
    with ThreadPoolExecutor() as threads:
        try:
            asked = [threads.submit(add, site) for site in (address, address, *others)]
            looked = {address, *others}
            until(lambda: {one["address"] for one in state(fetching)["searches"]} >= looked)
            assert add(f"{stand.url}/one-more.xml").status_code == 409
        finally:
            go_on.set()
        assert [one.result().status_code for one in asked] == [200] * len(asked)

    def removed(site):
        return fetching.client.delete("/v1/ways", params={"address": site}).status_code == 200

    for site in looked:
        until(lambda site=site: removed(site))
    assert not {one["address"] for one in state(fetching)["searches"]} & looked


def test_a_source_is_followed_paused_and_removed(fetching):
    address = "mastodon://127.0.0.1:9/tags/sourdough?insecure"
    assert fetching.client.post("/v1/ways", json={"address": address}).json()["added"]

    def source():
        return next((one for one in state(fetching)["sources"] if one["address"] == address), None)

    until(lambda: source()["state"] in ("waiting", "failed"))
    assert source()["error"]
    fetching.client.post("/v1/ways/pause", json={"address": address, "paused": True})
    until(lambda: source()["state"] == "paused")
    assert fetching.client.delete("/v1/ways", params={"address": address}).status_code == 200
    assert source() is None


def test_what_cannot_be_followed_is_refused_in_words(fetching, stand):
    for address in ("mastodon://", "bluesky://jetstream?what"):
        answer = fetching.client.post("/v1/ways", json={"address": address})
        assert answer.status_code == 422, answer.text
        assert answer.json()["error"]["message"]
    for address in (stand.url + "/none", "::"):
        answer = fetching.client.post("/v1/ways", json={"address": address})
        if answer.status_code == 200:  # it is told later, where all is told
            until(lambda site=address: {one["address"]: one["note"] for one in
                                        state(fetching)["searches"]}.get(site))  # fmt: skip
        else:
            assert answer.status_code == 422, answer.text
    unknown = {"address": "https://example.org/nothing", "paused": True}
    assert fetching.client.post("/v1/ways/pause", json=unknown).status_code == 422
    assert fetching.client.delete("/v1/ways", params={"address": "x"}).status_code == 422


def test_without_fetch_nothing_is_followed_and_without_key_nothing_is_told(server, sample):
    asked = {"address": "https://example.org"}
    refused = server.client.post("/v1/ways", json=asked, headers=HTTP)
    assert (refused.status_code, "--fetch" in refused.text) == (409, True)
    assert server.client.get("/v1/ways", headers=HTTP).json()["fetching"] is False
    assert server.client.get("/v1/ways").status_code == 401
    assert server.client.post("/v1/ways/forget", json={"author": "ann"}).status_code == 401
    assert sample.client.get("/v1/ways").status_code == 403  # the sample is read only


def test_a_source_that_is_known_keeps_its_filters(tmp_path):
    address = "bluesky://jetstream"
    with NewsStore(tmp_path / "n.db", "write") as store:
        add_source(store, address, FollowSettings(languages=frozenset({"en"}), most=7))
        pause_source(store, address)
        told = WaysStore(store).do("add_source", address, None, False)
        assert told == {"address": address, "title": "", "added": False}
        (state,) = source_states(store)
    kept = state.as_dict()["settings"]
    assert (kept["languages"], kept["most"], state.paused) == (["en"], 7, 0)
