"""The page in a real browser, against a real server: writing, and hashtags with their reasons."""

import re

from browsing import POST, expect, needs_chromium, row, settled, shown, text_of, travel, write
from servers import HTTP, article

pytestmark = needs_chromium


def test_the_first_look(visit):
    """The composer comes first, time is folded; an old store is looked at from its end."""
    page = visit()
    expect(page.locator("#post")).to_be_focused()
    expect(page.locator("#holdings")).to_contain_text("230 articles")
    first = page.locator("main section").first
    expect(first).to_have_attribute("aria-label", "Composer")
    expect(page.locator("#as-of")).to_be_hidden()
    expect(page.locator("#when")).to_have_text("As of 8 Jun 2020, 23:59 UTC")
    expect(page.locator("#rising li").first).to_be_visible()
    expect(page.locator("footer")).to_contain_text("Nothing leaves its machine but requests")
    page.locator("#examples button").first.click()
    expect(page.locator("#chips")).to_contain_text("#GeorgeFloyd")
    expect(page.locator("#empty")).to_be_hidden()


def test_typing_shows_hashtags_with_why_at_a_glance_and_all_of_it_on_demand(visit):
    page = visit()
    travel(page, "2020-05-29T20:00")
    page.locator("#post").press_sequentially(POST, delay=5)
    first = row(page, "#GeorgeFloyd")
    expect(first.locator(".by-news q")).to_contain_text("George Floyd")
    expect(first.locator(".by-news")).to_contain_text("Sample Wire, 1 h before")
    expect(first.locator(".by-people")).to_contain_text("Used 2 times this week")
    label = first.locator(".curve").get_attribute("aria-label")
    days = [int(count) for count in label.removeprefix("Uses on the last 7 days: ").split(", ")]
    assert (len(days), sum(days)) == (7, 2)
    expect(first.locator(".why")).to_be_hidden()
    ask = first.locator(".ask")
    ask.click()
    expect(ask).to_have_attribute("aria-expanded", "true")
    expect(first.locator(".reasons li").first).to_be_visible()
    expect(first.locator(".sure")).to_have_text(re.compile(r"About \d+ in 100 hashtags like this"))
    headline = first.locator(".articles li").first
    expect(headline.locator("a")).to_have_attribute("href", re.compile("https://example.org/"))
    expect(headline.locator(".about")).to_contain_text(
        re.compile(r"Sample .* · 2\d May, .* before")
    )
    assert "George Floyd" in first.locator(".articles mark").all_inner_texts()
    headline.locator("summary").click()
    expect(headline.locator(".excerpt mark").first).to_be_visible()
    expect(first.locator(".words li").first).to_be_visible()
    assert text_of(page) == POST  # looking is not adding
    ask.click()
    expect(first.locator(".why")).to_be_hidden()


def test_nothing_speaks_in_jargon(visit):
    page = visit()
    write(page)
    for ask in page.locator(".ask").all():
        ask.click()
    told = page.locator("body").inner_text()
    assert not re.search(r"×\d|context word|heaviest|temporal popularity|weight|score", told, re.I)


def test_a_hashtag_of_the_season_says_when_it_was_used(visit):
    page = visit()
    write(page, "Happy Memorial Day. Remembering those who gave all.", "2020-05-25T15:00")
    first = row(page, "#MemorialDay")
    first.locator(".ask").click()
    expect(first.locator(".reasons")).to_contain_text("around this time in 2019")


def test_only_the_last_question_counts(visit):
    """An answer that comes late, to a question that is no longer asked, is dropped."""
    page = visit()
    travel(page, "2020-05-29T20:00")
    held = []

    def hold_the_first(route):
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route("**/suggest*", hold_the_first)
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
    tags = page.locator(".tag.first")
    tags.nth(0).click()
    tags.nth(1).click()
    assert text_of(page) == f"{POST} {first} {second}"
    expect(tags.nth(0)).to_have_attribute("aria-pressed", "true")
    settled(page)
    assert shown(page)[:2] == [first, second]  # what was chosen is no part of the question
    tags.nth(0).click()
    assert text_of(page) == f"{POST} {second}"
    page.locator("#copy").click()
    expect(page.locator("#copy")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"{POST} {second}"


def test_words_of_the_text_become_the_hashtag_and_words_again(visit):
    page = visit()
    write(page)
    order, floyd = shown(page), row(page, "#GeorgeFloyd")
    floyd.get_by_text("in the text").click()
    assert text_of(page) == POST.replace("George Floyd", "#GeorgeFloyd")
    expect(floyd.locator(".tag.first")).to_have_attribute("aria-pressed", "true")
    expect(floyd.locator(".turn")).to_be_hidden()
    settled(page)
    assert (
        shown(page)[: order.index("#GeorgeFloyd") + 1] == order[: order.index("#GeorgeFloyd") + 1]
    )
    floyd.locator(".tag.first").click()
    assert text_of(page) == POST
    expect(floyd.locator(".turn")).to_be_visible()


def test_of_the_variants_of_a_hashtag_one_is_chosen(visit):
    page = visit()

    def with_variants(route):
        answer = route.fetch().json()
        answer["suggestions"][0]["variants"] = ["#GeorgeFloydProtests", "#Floyd"]
        route.fulfill(json=answer)

    page.route("**/suggest*", with_variants)
    write(page)
    first = page.locator("#chips li.suggestion").first
    main, protests, floyd = first.locator(".tag").all()
    protests.click()
    assert text_of(page) == f"{POST} #GeorgeFloydProtests"
    floyd.click()
    assert text_of(page) == f"{POST} #Floyd"
    expect(protests).to_have_attribute("aria-pressed", "false")
    main.click()
    assert text_of(page) == f"{POST} {shown(page)[0]}"


def test_a_chosen_hashtag_stays_though_the_words_change(visit):
    page = visit()
    write(page)
    chosen = shown(page)[0]
    page.locator(".tag.first").first.click()
    page.locator("#post").fill(f"Astronauts of NASA fly with SpaceX {chosen}")
    expect(page.locator("#chips")).to_contain_text("#SpaceX")
    pressed = page.locator('.tag[aria-pressed="true"]')
    expect(pressed).to_have_count(1)
    expect(pressed).to_contain_text(chosen)


def test_travelling_through_the_news(visit):
    page = visit()
    page.locator("#time summary").click()
    write(page, "Astronauts of NASA wait for the launch in Florida", "2020-05-31T12:00")
    assert page.locator("#as-of").input_value() == "2020-05-31T12:00"
    page.locator(".ask").first.click()
    late = page.locator(".articles time").all_inner_texts()
    travel(page, "2020-05-24T00:00")
    expect(page.locator("#rising-when")).to_have_text("until 24 May, 00:00")
    settled(page)
    if not page.locator(".articles").is_visible():
        page.locator(".ask").first.click()
    times = page.locator(".articles time").evaluate_all("all => all.map(one => one.dateTime)")
    assert times
    assert max(times) < "2020-05-24"
    assert page.locator(".articles time").all_inner_texts() != late
    page.locator("#day-on").click()
    assert page.locator("#as-of").input_value() == "2020-05-25T00:00"
    page.locator("#travel").fill("0")
    assert page.locator("#as-of").input_value() == "2020-05-20T07:15"
    page.locator("#latest").click()
    assert page.locator("#as-of").input_value() == "2020-06-08T23:59"


def test_nothing_fits_looks_like_nothing(visit):
    page = visit()
    expect(page.locator("#holdings")).to_contain_text("articles")
    page.locator("#post").fill("zxqv wvut")
    expect(page.locator("#empty-text")).to_have_text(re.compile("fits this post|not seem to be in"))
    expect(page.locator("#chips li")).to_have_count(0)
    expect(page.locator("#chips")).to_be_hidden()
    expect(page.locator(".why, .articles, #examples, #note")).to_have_count(2)
    for part in page.locator(".why, .articles, #examples, #note").all():
        expect(part).to_be_hidden()


def test_what_is_rising(visit):
    page = visit()
    write(page)
    rising = page.locator("#rising li", has_text="George Floyd")
    expect(rising).to_have_count(1)  # Floyd and George Floyd are one
    assert page.locator("#rising .name").all_inner_texts().count("Floyd") == 0
    assert rising.locator("svg rect").count() == 8
    label = rising.locator("svg").get_attribute("aria-label")
    assert re.fullmatch(r"Articles a day since 2020-05-22: (\d+, ){7}\d+", label)
    page.locator("#post").fill("")
    rising.locator("button").click()
    assert text_of(page) == "George Floyd "
    expect(page.locator("#post")).to_be_focused()
    expect(page.locator("#chips")).to_contain_text("#GeorgeFloyd")
    travel(page, "2020-06-03T20:00")
    hashtag = page.locator("#rising-tags li", has_text="#BlackLivesMatter")
    hashtag.locator("button").click()
    assert text_of(page) == "George Floyd #BlackLivesMatter "
    assert "Posts a day since" in hashtag.locator("svg").get_attribute("aria-label")


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
    answers = iter([503, 429])

    def busy_twice(route):
        if status := next(answers, 0):
            route.fulfill(status=status, headers={"Retry-After": "1"}, json=busy)
        else:
            route.continue_()

    page.route("**/suggest*", busy_twice)
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
    settled(page)
    tags = shown(page)
    place = tags.index("#HongKong") + 1
    page.keyboard.press(f"Alt+Shift+Digit{place}")
    assert text_of(page).startswith("#HongKong will not")
    page.keyboard.press(f"Alt+Digit{place}")  # it is there: so this takes it out
    assert text_of(page).startswith("Hong Kong will not")
    page.keyboard.press("Alt+Digit1")
    assert text_of(page).endswith(tags[0])
    expect(page.locator("#post")).to_be_focused()
    for _ in range(12):  # past the author, the copy button and what is folded
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.tag')"):
            break
    expect(page.locator(".tag.first").first).to_be_focused()
    every = page.locator("#chips .tag .name").all_inner_texts()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tag").nth(1)).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    assert text_of(page).endswith("Beijing.")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert text_of(page).endswith(f"Beijing. {every[-1]}")
    page.keyboard.press("Escape")
    expect(page.locator("#post")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#status")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").endswith(every[-1])


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
    page = visit(url=server.url)
    alerts = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    page.wait_for_timeout(1000)  # until it is searchable
    write(page, "A quokka from Atlantis " + evil, "2020-06-05T12:00")
    page.locator(".ask").first.click()
    item = page.locator(".articles li", has_text="Quokka").first
    expect(item.locator("h4")).to_contain_text("<script>alert(2)</script>")
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
