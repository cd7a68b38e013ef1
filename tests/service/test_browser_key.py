"""A service that asks for a key before it is read: the page asks for it once."""

from pathlib import Path

import pytest
from browsing import PHONE, WIDE, expect, needs_chromium, settled, shown, write
from servers import KEY, Server
from test_browser_looks import AXE

from hashnews.news.store import NewsStore

pytestmark = needs_chromium
READ_KEY = "a key for reading, long enough"


@pytest.fixture(scope="module")
def locked(sample_news, tmp_path_factory):
    """It is read with one key and written to with another; its store is its own."""
    folder = tmp_path_factory.mktemp("locked")
    file, news = folder / "read", folder / "news.db"
    file.write_text(READ_KEY, "utf-8")
    with NewsStore(sample_news) as store:
        store.backup(news)
    with Server("--news", news, "--read-key-file", file, key=KEY) as running:
        yield running


def give(page, key):
    page.locator("#read-key").fill(key)
    page.keyboard.press("Enter")


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["desktop", "phone"])
def test_the_key_is_asked_for_once_and_stays(visit, locked, viewport):
    page = visit(url=locked.url, viewport=viewport)
    form = page.locator("#read-form")
    expect(form).to_contain_text("This service asks for a key.")
    expect(page.locator("#read-key")).to_be_focused()
    expect(page.locator("#rising-empty")).to_have_text("It needs the key.")
    axe = pytest.importorskip("axe_playwright_python")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    assert page.evaluate(AXE) == []
    give(page, "not the key at all")
    expect(form).to_contain_text("The service does not know this key.")
    give(page, READ_KEY)
    expect(form).to_be_hidden()
    expect(page.locator("#post")).to_be_focused()
    expect(page.locator("#rising li").first).to_be_visible()
    write(page)
    expected = shown(page)
    assert "#GeorgeFloyd" in expected
    page.errors[:] = [error for error in page.errors if "401" not in error]  # before the key
    another = visit(url=locked.url, context=page.context)  # another tab, another visit
    write(another)
    assert shown(another) == expected
    expect(another.locator("#read-form")).to_be_hidden()
    # It may only read: what writes asks for its own key, and a wrong one locks nobody out.
    another.locator("#open-ways").click()
    expect(another.locator("#ways-problem")).to_contain_text("asks for its key")
    expect(another.locator("#key")).to_be_focused()
    another.keyboard.type("neither is this the key")
    another.keyboard.press("Enter")
    expect(another.locator("#ways-problem")).to_contain_text("does not know this key")
    another.locator("#key").fill(KEY)
    another.keyboard.press("Enter")
    expect(another.locator("#drop")).to_be_visible()
    another.keyboard.press("Escape")
    another.locator("#post").fill("Hong Kong will not be silent")
    settled(another)
    expect(another.locator("#chips li.suggestion").first).to_be_visible()
    expect(another.locator("#read-form")).to_be_hidden()
    page.errors[:] = [error for error in page.errors if "401" not in error]


def test_somebody_who_writes_meanwhile_loses_nothing(visit, locked):
    page = visit(url=locked.url)
    page.locator("#post").fill("Hong Kong will not be silent, Beijing")
    expect(page.locator("#read-form")).to_be_visible()
    give(page, READ_KEY)
    expect(page.locator("#chips li.suggestion").first).to_be_visible()
    expect(page.locator("#post")).to_have_value("Hong Kong will not be silent, Beijing")
    page.errors[:] = [error for error in page.errors if "401" not in error]


def test_a_key_that_writes_reads_too(visit, locked):
    page = visit(url=locked.url + "/", path=f"#key={KEY}")
    expect(page.locator("#rising li").first).to_be_visible()
    expect(page.locator("#read-form")).to_be_hidden()
