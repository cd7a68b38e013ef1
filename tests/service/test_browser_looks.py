"""How the page looks and loads: every width, light and dark, for everybody, and at once."""

import re
from pathlib import Path

import pytest
from browsing import PHONE, WIDE, expect, needs_chromium, pick_network, row, write

pytestmark = needs_chromium

AXE = "axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)"


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_every_width(visit, width):
    page = visit(viewport={"width": width, "height": 800}, has_touch=True)
    write(page)
    page.locator(".ask").first.tap()
    expect(page.locator(".why").first).to_be_in_viewport()
    page.locator(".groups summary").tap()
    page.locator("#time summary").tap()
    for network in ("Bluesky", "Mastodon"):
        pick_network(page, network)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#networks").evaluate("all => all.scrollWidth <= all.clientWidth")
    small = page.locator("button:visible, a.button:visible").evaluate_all(
        "all => all.filter(one => one.getBoundingClientRect().height < 24)"
        ".map(one => one.outerHTML.slice(0, 100))"
    )
    assert small == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_nothing_keeps_anybody_out(visit, scheme, viewport):
    axe = pytest.importorskip("axe_playwright_python")
    page = visit(viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
    script = (Path(axe.__file__).parent / "axe.min.js").read_text("utf-8")

    def violations():
        page.evaluate(script)
        return [(v["id"], v["impact"], v["nodes"][0]["html"]) for v in page.evaluate(AXE)]

    expect(page.locator("#rising li").first).to_be_visible()
    assert violations() == []
    write(page)
    page.locator(".tag.first").nth(1).click()
    page.locator(".ask").first.click()
    page.locator(".articles summary").first.click()
    expect(page.locator(".excerpt mark").first).to_be_visible()
    for fold in ("#server-fold summary", "#time summary", ".groups summary"):
        page.locator(fold).click()
    assert violations() == []
    pick_network(page, "Bluesky")
    page.get_by_label("Hashtags beside the text").check()
    assert violations() == []
    if viewport is WIDE:
        page.goto(page.url + "docs")
        expect(page.locator("section").first).to_be_visible()
        assert violations() == []


def test_a_screen_reader_hears_what_happens(visit):
    page = visit()
    write(page)
    expect(page.locator("#status")).to_have_text(re.compile(r"^\d hashtags suggested$"))
    floyd = row(page, "#GeorgeFloyd").locator(".tag.first")
    expect(floyd).to_have_accessible_name(re.compile(r"^#GeorgeFloyd \d+ % sure that it fits$"))
    expect(floyd).to_have_accessible_description(re.compile("this week .*George Floyd"))
    floyd.click()
    expect(page.locator("#status")).to_have_text("#GeorgeFloyd added")
    group = page.get_by_role("group", name="Where it will be posted")
    expect(group.get_by_role("radio")).to_have_count(6)


def test_the_page_is_small_and_asks_nobody_else(visit, sample):
    """Fast by what it is: a paint waits for one page and two style sheets, all from here."""
    page = visit()
    write(page)
    entries = page.evaluate(
        "performance.getEntriesByType('resource').map(one => [one.name, one.decodedBodySize])"
    )
    assert {name.startswith(sample.url) for name, _ in entries} == {True}
    files = [size for name, size in entries if "/page/" in name]
    assert sum(files) < 120_000
    blocking = page.evaluate(
        "performance.getEntriesByType('resource')"
        ".filter(one => one.renderBlockingStatus === 'blocking').map(one => one.name)"
    )
    assert {name.rpartition("/")[2] for name in blocking} == {"style.css", "parts.css"}
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    ready = page.evaluate("performance.getEntriesByType('navigation')[0].responseEnd")
    assert painted > 0 < ready


def test_the_api_can_be_tried(visit):
    page = visit(path="/docs")
    title = page.locator("h2", has_text=re.compile(r"^POST\s*(/v1)?/suggest$"))
    card = page.locator("section", has=title)
    card.locator("summary").click()
    card.locator("button").click()
    expect(card.locator("pre")).to_contain_text("#GeorgeFloyd")
    expect(card.locator("p code").first).to_have_text("created_at")
    assert "`" not in page.locator("main").inner_text()


def test_what_turns_words_stands_beside_its_hashtag(visit):
    page = visit()
    write(page)
    floyd = row(page, "#GeorgeFloyd")
    tag, turn = (floyd.locator(part).bounding_box() for part in (".tag.first", ".turn"))
    assert tag["y"] < turn["y"] + turn["height"] / 2 < tag["y"] + tag["height"]


def test_without_a_mouse_nothing_asks_to_be_dragged(visit):
    expect(visit().locator("#bookmarklet")).to_be_visible()
    phone = visit(viewport=PHONE, has_touch=True, is_mobile=True)
    expect(phone.locator("#bookmarklet")).to_be_hidden()
