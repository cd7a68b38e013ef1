"""Ways in, in the page: an archive dropped, a feed and a network followed, an author forgotten."""

from pathlib import Path

import pytest
from bluesky_server import BlueskyServer, is_installed
from browsing import PHONE, WIDE, expect, needs_chromium
from newsstand import newsstand, rss
from newsstand import page as page_with
from own_posts import LOAVES, outbox
from servers import KEY, Server
from test_browser_looks import AXE
from ways_page import BREAD, drop, follow_oneself, open_ways, post_and_delete, see_own_hashtag

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def fetching(tmp_path_factory):
    db = tmp_path_factory.mktemp("ways") / "news.db"
    arguments = ("--news", db, "--fetch", "--every", "1s", "--allow-private")
    with Server(*arguments, key=KEY) as running:
        yield running


@pytest.mark.skipif(not is_installed(), reason="needs a Bluesky server: run tools/pds/install.sh")
def test_from_an_archive_and_a_network_to_ones_own_hashtag_and_back(visit, fetching, tmp_path):
    """Drop an outbox, write, see one's own hashtag; post and delete on Bluesky, and see that."""
    asked = []
    page = visit(url=fetching.url)
    page.context.on("request", lambda request: asked.append(request.url))
    page.locator("#user").fill("ann")
    open_ways(page)
    expect(page.locator("#archive-user")).to_have_value("ann")
    page.locator("#close-ways").click()
    drop(page, "outbox.json", outbox(*LOAVES))  # on the page: it opens what takes it
    archive = page.locator("#archives li", has_text="outbox.json")
    expect(archive).to_contain_text("4 posts with hashtags remembered", timeout=120_000)
    expect(page.locator("#arrived li").first).to_contain_text("outbox.json")
    page.locator("#close-ways").click()
    page.locator("#post").fill(BREAD)
    see_own_hashtag(page, 4)

    bluesky = BlueskyServer(tmp_path / "pds")
    try:
        follow_oneself(page, bluesky, "ann")
        post_and_delete(page, bluesky, "ann", 4)  # benchmarks/networks.py says how long it takes
        page.locator("#open-ways").click()
        deleted = "1 post deleted there and here"  # whichever of the two sources told it first
        expect(page.locator("#followed")).to_contain_text(deleted, timeout=60_000)
    finally:
        bluesky.close()

    page.locator("#forget").fill("ann")
    page.locator("#forget-go").click()
    expect(page.locator("#forget-told")).to_contain_text("Click once more")
    page.locator("#forget-go").click()
    expect(page.locator("#forget-told")).to_have_text("4 posts of ann forgotten.", timeout=60_000)
    page.locator("#close-ways").click()
    expect(page.locator(".by-you")).to_have_count(0, timeout=120_000)
    assert {url.startswith(fetching.url) for url in asked} == {True}  # the page asks nobody else
    page.errors[:] = [error for error in page.errors if "401" not in error]  # before the key


def test_a_feed_with_the_keyboard_alone(visit, fetching):
    with newsstand() as stand:
        stand["/"] = page_with(("/feed.xml", "The Daily Test"))
        stand["/feed.xml"] = rss(1, 2)
        page = visit(url=fetching.url + "/", path=f"#key={KEY}")
        assert KEY not in page.url
        page.locator("#open-ways").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#ways")).to_contain_text("Nothing leaves this machine but requests")
        page.locator("#follow").focus()
        page.keyboard.type(stand.url)
        page.keyboard.press("Enter")
        feed = page.locator("#followed li", has_text="The Daily Test")
        expect(feed).to_contain_text("2 articles", timeout=120_000)
        feed.get_by_role("button", name="Pause").focus()
        page.keyboard.press("Enter")
        expect(feed).to_contain_text("paused")
        expect(feed.get_by_role("button", name="Go on")).to_be_visible()
        feed.get_by_role("button", name="Remove").focus()
        page.keyboard.press("Enter")
        expect(feed).to_have_count(0)
        page.locator("#follow").fill(stand.url + "/none")
        page.keyboard.press("Enter")
        expect(page.locator("#ways")).to_contain_text("answered 404", timeout=120_000)
        page.keyboard.press("Escape")
        expect(page.locator("#ways")).to_be_hidden()
        expect(page.locator("#open-ways")).to_be_focused()
        page.errors[:] = [error for error in page.errors if "Failed to load resource" not in error]


def test_a_hashtag_is_followed_where_its_writer_chooses(visit, fetching):
    asked = []
    page = visit(url=fetching.url + "/", path=f"#key={KEY}")

    def take(route):
        if route.request.method != "POST":
            route.continue_()
            return
        asked.append(route.request.post_data_json)
        address = route.request.post_data_json["address"]
        route.fulfill(json={"address": address, "title": "", "added": True})

    page.route("**/v1/ways", take)
    open_ways(page, key=None)
    for text, on, told in [
        ("#Sourdough", "mastodon.social", "Added: #Sourdough on mastodon.social"),
        ("#Sourdough", "bluesky", "Added: #Sourdough on Bluesky"),
        ("@ann@fosstodon.org", None, "Added: @ann on fosstodon.org"),
        ("@ann.bsky.social", None, "Added: @ann.bsky.social on Bluesky"),
        ("example.org/news", None, "Added: example.org/news"),
    ]:
        page.locator("#follow").fill(text)
        if on:
            page.locator("#follow-on").select_option(on)
        page.locator("#follow-add").click()
        expect(page.locator("#follow-told")).to_have_text(told)
    assert [one["address"] for one in asked] == [
        "mastodon://mastodon.social/tags/Sourdough",
        "bluesky://api.bsky.app/tags/Sourdough",
        "mastodon://fosstodon.org/@ann",
        "bluesky://bsky.social/@ann.bsky.social",
        "example.org/news",
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_nothing_keeps_anybody_out_of_the_ways_in(visit, fetching, scheme, viewport):
    axe = pytest.importorskip("axe_playwright_python")
    page = visit(url=fetching.url, viewport=viewport, color_scheme=scheme)
    open_ways(page, key=None if page.locator("#ways-all").is_visible() else KEY)
    drop(page, "notes.zip", "PK but no archive")
    expect(page.locator("#archives li", has_text="notes.zip").first).to_be_visible()
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    found = [(v["id"], v["impact"], v["nodes"][0]["html"]) for v in page.evaluate(AXE)]
    assert found == []
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    page.errors[:] = [error for error in page.errors if "Failed to load resource" not in error]


def test_the_sample_says_how_to_begin(visit):
    page = visit()
    page.locator("#open-ways").click()
    expect(page.locator("#ways-problem")).to_contain_text("hashnews serve --news my.db")
    expect(page.locator("#ways-all")).to_be_hidden()
    page.errors[:] = [error for error in page.errors if "Failed to load resource" not in error]
