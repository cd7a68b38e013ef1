"""What tests of the page share: how to open it, write in it, and read what it shows."""

import os
import shutil

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
POST = "Marching tonight in Minneapolis. Say his name: George Floyd."
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium: apt-get install chromium"
)


def playwright_api():
    return pytest.importorskip("playwright.sync_api", reason="needs playwright")


def expect(*arguments):
    return playwright_api().expect(*arguments)


def travel(page, at):
    """Look from another time; the page has to be ready."""
    expect(page.locator("#holdings")).to_contain_text("article")
    page.locator("#as-of").evaluate(
        "(field, at) => { field.value = at; field.dispatchEvent(new Event('change')); }", at
    )


def write(page, text=POST, at="2020-05-29T20:00"):
    travel(page, at)
    page.locator("#post").fill(text)
    expect(page.locator("#chips li.suggestion").first).to_be_visible()
    settled(page)


def settled(page):
    """Wait until the answer on the page is for what is asked now."""
    page.wait_for_timeout(250)
    expect(page.locator("#suggestions")).to_have_attribute("aria-busy", "false")


def shown(page):
    """The hashtags suggested, their variants left out."""
    return page.locator("#chips .tag.first .name").all_inner_texts()


def row(page, hashtag):
    name = page.locator(".tag.first .name").get_by_text(hashtag, exact=True)
    return page.locator("#chips li.suggestion", has=name)


def text_of(page):
    return page.locator("#post").input_value()


def pick_network(page, name):
    page.get_by_role("radio", name=name, exact=True).check(force=True)
