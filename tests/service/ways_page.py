"""What somebody does in the page with the ways in: drop an archive, follow, see their hashtags."""

import time

from browsing import expect, row
from servers import KEY

BREAD = "Shaping the next loaf of bread, flour everywhere"


def open_ways(page, key=KEY):
    page.locator("#open-ways").click()
    if key:
        page.locator("#key").fill(key)
        page.keyboard.press("Enter")
    expect(page.locator("#drop")).to_be_visible()


def drop(page, name, content):
    """Drop a file anywhere on the page, as somebody does with the mouse."""
    page.evaluate(
        """([name, content]) => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([content], name));
            for (const kind of ["dragover", "drop"])
                document.body.dispatchEvent(new DragEvent(kind, {dataTransfer, bubbles: true}));
        }""",
        [name, content],
    )


def see_own_hashtag(page, times):
    mine = row(page, "#sourdough").or_(row(page, "#Sourdough"))
    expect(mine.locator(".by-you")).to_have_text(f"You used it {times} times", timeout=30_000)


def follow_oneself(page, bluesky, name):
    """Follow one's own account, and all that is posted on the server, as it is posted."""
    did = bluesky.join(name)
    page.locator("#open-ways").click()
    for address in (f"bluesky://localhost:{bluesky.port}/@{did}?insecure", bluesky.source):
        page.locator("#follow").fill(address)
        if "@" in address:
            page.get_by_label("that is me").check()
        page.locator("#follow-add").click()
        expect(page.locator("#follow-told")).to_contain_text("Added", timeout=60_000)
    stream = page.locator("#followed li", has_text="firehose")
    expect(stream).to_contain_text("following", timeout=120_000)
    page.locator("#close-ways").click()


def post_and_delete(page, bluesky, name, times):
    """Post on Bluesky and delete it; the seconds until the page shows the one and the other."""
    began = time.monotonic()
    uri = bluesky.post(name, "Bread with seeds #sourdough")
    see_own_hashtag(page, times + 1)
    there = time.monotonic()
    bluesky.delete(name, uri)
    see_own_hashtag(page, times)
    return there - began, time.monotonic() - there
