"""The page in a real browser, against a real server."""

import os
import re
import shutil
from pathlib import Path

import pytest
from servers import HTTP, Server, article

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")
sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
expect = sync_api.expect
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
IMAGES = os.environ.get("HASHNEWS_IMAGES")  # where the pictures of the docs go, when they are made
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
POST = "Marching tonight in Minneapolis. Say his name: George Floyd."


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def sample():
    """The server as somebody starts it first: with no arguments."""
    with Server() as running:
        yield running


@pytest.fixture
def visit(browser, sample):
    """Open the page; at the end nothing may have gone wrong in it that was not meant to."""
    contexts, errors = [], []

    def open_page(url=sample.url, path="/", viewport=WIDE, **options):
        context = browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.errors = errors
        page.goto(url + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


def write(page, text=POST, at="2020-05-29T20:00"):
    expect(page.locator("#holdings")).to_contain_text("articles")
    page.locator("#as-of").fill(at)
    page.locator("#as-of").dispatch_event("change")
    page.locator("#post").fill(text)
    expect(page.locator("#chips li").first).to_be_visible()
    expect(page.locator("#suggestions")).to_have_attribute("aria-busy", "false")


def shown(page):
    return page.locator("#chips .name").all_inner_texts()


def picture(page, name):
    if IMAGES:
        Path(IMAGES).mkdir(parents=True, exist_ok=True)
        page.evaluate("scrollTo(0, 0); document.activeElement.blur()")
        page.mouse.move(0, 0)
        page.screenshot(path=Path(IMAGES) / f"{name}.png", full_page=True)


def test_the_first_look(visit):
    """The sample is of 2020: the page looks from its end, so something is rising already."""
    page = visit()
    expect(page.locator("#post")).to_be_focused()
    expect(page.locator("#holdings")).to_contain_text("230 articles")
    assert page.locator("#as-of").input_value() == "2020-06-08T23:59"
    expect(page.locator("#rising li").first).to_be_visible()
    page.locator("#examples button").first.click()
    expect(page.locator("#chips")).to_contain_text("#GeorgeFloyd")
    expect(page.locator("#empty")).to_be_hidden()


def test_typing_shows_hashtags_with_reasons(visit):
    page = visit()
    expect(page.locator("#holdings")).to_contain_text("articles")
    page.locator("#as-of").fill("2020-05-29T20:00")
    page.locator("#as-of").dispatch_event("change")
    page.locator("#post").press_sequentially(POST, delay=5)
    chip = page.locator(".chip", has_text="#GeorgeFloyd").first
    expect(chip.locator(".score")).to_contain_text(re.compile(r"\d+ %"))
    chip.locator(".ask").click()
    expect(page.locator("#why-name")).to_have_text("Why #GeorgeFloyd")
    expect(page.locator("#reasons li").first).to_be_visible()
    first = page.locator("#articles li").first
    expect(first.locator("a")).to_have_attribute("href", re.compile("https://example.org/"))
    expect(first.locator(".about")).to_contain_text(re.compile(r"Sample .* · 2\d May, .* before"))
    assert "George Floyd" in page.locator("#articles mark").all_inner_texts()
    first.locator("summary").click()
    expect(first.locator(".excerpt mark").first).to_be_visible()
    expect(page.locator("#words li").first).to_contain_text("100 %")
    assert page.locator("#post").input_value() == POST  # looking is not adding


def test_a_hashtag_of_the_season_says_when_it_was_used(visit):
    page = visit()
    write(page, "Happy Memorial Day. Remembering those who gave all.", "2020-05-25T15:00")
    page.locator(".chip", has_text="#MemorialDay").first.locator(".ask").click()
    expect(page.locator("#reasons")).to_contain_text("around this time in 2019")


def test_only_the_last_question_counts(visit):
    """An answer that comes late, to a question that is no longer asked, is dropped."""
    page = visit()
    expect(page.locator("#holdings")).to_contain_text("articles")
    held = []

    def hold_the_first(route):
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route("**/suggest*", hold_the_first)
    page.locator("#as-of").fill("2020-05-29T20:00")
    page.locator("#as-of").dispatch_event("change")
    page.locator("#post").fill("Hong Kong and Beijing")
    page.wait_for_timeout(600)
    assert held
    page.locator("#post").fill(POST)
    expect(page.locator("#chips")).to_contain_text("#Minneapolis")
    held[0].fulfill(json={"post": {}, "suggestions": [], "articles": [], "context": []})
    page.wait_for_timeout(200)
    expect(page.locator("#chips")).to_contain_text("#Minneapolis")


def test_adding_removing_and_copying(visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    write(page)
    first, second = shown(page)[:2]
    page.locator(".tag").nth(0).click()
    page.locator(".tag").nth(1).click()
    assert page.locator("#post").input_value() == f"{POST} {first} {second}"
    expect(page.locator(".tag").nth(0)).to_have_attribute("aria-pressed", "true")
    length = len(f"{POST} {first} {second}")
    expect(page.locator("#count")).to_have_text(f"{length} / 280")
    page.locator(".tag").nth(0).click()
    assert page.locator("#post").input_value() == f"{POST} {second}"
    page.locator("#copy").click()
    expect(page.locator("#copy")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"{POST} {second}"
    page.locator("#post").fill("x" * 281)
    expect(page.locator("#count")).to_have_class("over")


def test_a_chosen_hashtag_stays_though_the_words_change(visit):
    page = visit()
    write(page)
    chosen = shown(page)[0]
    page.locator(".tag").first.click()
    page.locator("#post").fill(f"Astronauts of NASA fly with SpaceX {chosen}")
    expect(page.locator("#chips")).to_contain_text("#SpaceX")
    pressed = page.locator('.tag[aria-pressed="true"]')
    expect(pressed).to_have_count(1)
    expect(pressed).to_contain_text(chosen)


def test_travelling_through_the_news(visit):
    page = visit()
    write(page, "Astronauts of NASA wait for the launch in Florida", "2020-05-31T12:00")
    late = page.locator("#articles time").all_inner_texts()
    page.locator("#as-of").fill("2020-05-24T00:00")
    page.locator("#as-of").dispatch_event("change")
    expect(page.locator("#rising-when")).to_have_text("until 24 May, 00:00")
    expect(page.locator("#articles")).not_to_contain_text("launches two NASA astronauts")
    times = page.locator("#articles time").evaluate_all("all => all.map(one => one.dateTime)")
    assert times
    assert max(times) < "2020-05-24"
    assert page.locator("#articles time").all_inner_texts() != late
    page.locator("#day-on").click()
    assert page.locator("#as-of").input_value() == "2020-05-25T00:00"
    page.locator("#travel").fill("0")
    assert page.locator("#as-of").input_value() == "2020-05-20T07:15"
    expect(page.locator("#empty-text")).to_contain_text("says nothing about it")
    page.locator("#latest").click()
    assert page.locator("#as-of").input_value() == "2020-06-08T23:59"


def test_where_no_hashtag_fits_the_news_is_shown(visit):
    page = visit()

    def without_suggestions(route):
        answer = route.fetch().json()
        route.fulfill(json={**answer, "suggestions": []})

    page.route("**/suggest*", without_suggestions)
    expect(page.locator("#holdings")).to_contain_text("articles")
    page.locator("#post").fill(POST)
    expect(page.locator("#empty-text")).to_contain_text("No hashtag fits")
    expect(page.locator("#why-name")).to_have_text("The news before this post")
    expect(page.locator("#articles li").first).to_be_visible()
    expect(page.locator("#reasons li")).to_have_count(0)


def test_what_is_rising(visit):
    page = visit()
    write(page)
    row = page.locator("#rising li", has_text="George Floyd").first
    expect(row).to_be_visible()
    assert row.locator("svg rect").count() == 8
    label = row.locator("svg").get_attribute("aria-label")
    assert re.fullmatch(r"Articles a day since 2020-05-22: (\d+, ){7}\d+", label)
    page.locator("#post").fill("")
    row.locator("button").click()
    assert page.locator("#post").input_value() == "George Floyd "
    expect(page.locator("#post")).to_be_focused()
    expect(page.locator("#chips")).to_contain_text("#GeorgeFloyd")


def test_when_the_service_is_gone_or_busy(visit):
    page = visit()
    write(page)
    before = shown(page)
    page.route("**/suggest*", lambda route: route.abort())
    page.locator("#post").fill("Hong Kong and Beijing")
    expect(page.locator("#problem")).to_be_visible()
    expect(page.locator("#problem-text")).to_contain_text("cannot be reached")
    assert shown(page) == before  # what was there stays readable
    page.unroute("**/suggest*")
    busy = {"error": {"code": "busy", "message": "too many requests", "request_id": "1"}}
    answers = iter([True])

    def busy_once(route):
        if next(answers, False):
            route.fulfill(status=503, headers={"Retry-After": "1"}, json=busy)
        else:
            route.continue_()

    page.route("**/suggest*", busy_once)
    page.locator("#retry").click()
    expect(page.locator("#problem-text")).to_have_text("Too many requests.")
    expect(page.locator("#chips")).to_contain_text("#HongKong")  # it tried again by itself
    expect(page.locator("#problem")).to_be_hidden()
    page.locator("#post").fill("x" * 10_001)
    expect(page.locator("#problem-text")).to_contain_text("at most 10000 characters")
    # The browser itself tells of failed requests; nothing else may have gone wrong.
    page.errors[:] = [error for error in page.errors if "Failed to load resource" not in error]


def test_with_the_keyboard_alone(visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    expect(page.locator("#holdings")).to_contain_text("articles")
    expect(page.locator("#post")).to_be_focused()
    page.keyboard.type("Hong Kong will not be silent, Beijing. ")
    expect(page.locator("#chips")).to_contain_text("#HongKong")
    expect(page.locator("#suggestions")).to_have_attribute("aria-busy", "false")
    tags = shown(page)
    page.keyboard.press("Alt+Digit1")
    assert page.locator("#post").input_value().endswith(tags[0])
    for _ in range(3):  # past author and copy button
        page.keyboard.press("Tab")
    expect(page.locator(".tag").first).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tag").nth(1)).to_be_focused()
    expect(page.locator("#why-name")).to_have_text(f"Why {tags[1]}")
    page.keyboard.press("Space")
    assert page.locator("#post").input_value().endswith(f"{tags[0]} {tags[1]}")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert page.locator("#post").input_value().endswith(f"Beijing. {tags[1]}")
    page.keyboard.press("Escape")
    expect(page.locator("#post")).to_be_focused()
    page.keyboard.press("Control+Enter")
    assert page.evaluate("navigator.clipboard.readText()").endswith(tags[1])
    expect(page.locator("#status")).to_have_text("Copied")


@pytest.mark.parametrize("width", [320, 390, 768])
def test_narrow_screens(visit, width):
    page = visit(viewport={"width": width, "height": 800}, has_touch=True)
    write(page)
    page.locator(".ask").first.tap()
    expect(page.locator("#why")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = page.locator("button:visible").evaluate_all(
        "all => all.filter(one => one.getBoundingClientRect().height < 24).map(one => one.id)"
    )
    assert small == []


AXE = "axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)"


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
    page.locator(".tag").first.click()
    page.locator(".ask").nth(1).click()
    page.locator("#articles summary").first.click()
    expect(page.locator(".excerpt mark").first).to_be_visible()
    assert violations() == []
    if viewport is WIDE or scheme == "light":
        picture(page, "phone" if viewport is PHONE else scheme)
    if viewport is WIDE:
        page.goto(page.url + "docs")
        expect(page.locator("section").first).to_be_visible()
        assert violations() == []


def test_the_api_can_be_tried(visit):
    page = visit(path="/docs")
    title = page.locator("h2", has_text=re.compile(r"^POST\s*/suggest$"))
    card = page.locator("section", has=title)
    card.locator("summary").click()
    card.locator("button").click()
    expect(card.locator("pre")).to_contain_text("#GeorgeFloyd")


def test_hostile_news_is_shown_as_text(visit, server):
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    hostile = article(
        "evil",
        title=f"Quokka {evil} of Atlantis",
        text=f"Quokka Atlantis {evil} \u202e\u0000\ufeff",
        source=evil,
        url="javascript:alert(3)",
        entities=["Quokka", evil, "Atlantis"],
        published_at="2020-06-05T10:00:00Z",
    )
    added = server.client.post("/news", json={"articles": [hostile]}, headers=HTTP)
    assert added.json()["added"] == 1
    server.client.get("/ready")
    page = visit(url=server.url)
    alerts = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    page.wait_for_timeout(1000)  # until it is searchable
    write(page, "A quokka from Atlantis " + evil, "2020-06-05T12:00")
    page.locator("#chips li", has_text="Script").first.locator(".ask").click()
    expect(page.locator("#articles h4").first).to_contain_text("<script>alert(2)</script>")
    item = page.locator("#articles li").first
    expect(item.locator(".about")).to_contain_text("<img src=x")
    assert item.locator("a").count() == 0
    item.locator("summary").click()
    expect(item.locator(".excerpt")).to_contain_text("onerror=alert(1)")
    assert page.locator("main img, main script").count() == 0
    assert alerts == []


def test_a_very_long_post_is_refused_in_words(visit):
    page = visit()
    expect(page.locator("#holdings")).to_contain_text("articles")
    page.locator("#post").fill("word " * 20_000)
    expect(page.locator("#problem-text")).to_contain_text("at most 10000 characters")
    page.errors[:] = [error for error in page.errors if "Failed to load resource" not in error]
