"""Writing in the page: the cursor stays by its words, and a page loaded anew goes on."""

import re

from browsing import (
    POST,
    expect,
    needs_chromium,
    pick_network,
    row,
    settled,
    shown,
    text_of,
    travel,
    write,
)

pytestmark = needs_chromium


def test_the_cursor_stays_by_the_words_it_stood_at(visit):
    page = visit()
    write(page, "Hong Kong will not be silent, Beijing.")
    first = shown(page)[0]
    page.locator("#post").focus()
    page.keyboard.press("Control+End")
    page.keyboard.press("Alt+Digit1")
    page.keyboard.type(" Never.")  # one's own words go on before the hashtags
    assert text_of(page) == f"Hong Kong will not be silent, Beijing. Never. {first}"
    settled(page)
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+ArrowRight")
    page.keyboard.press("Control+ArrowRight")
    page.keyboard.press(f"Alt+Digit{shown(page).index(first) + 1}")  # and out
    page.keyboard.type(" really")
    assert text_of(page) == "Hong Kong really will not be silent, Beijing. Never."
    settled(page)
    page.keyboard.press(f"Alt+Shift+Digit{shown(page).index('#HongKong') + 1}")
    page.keyboard.type(" still")  # what stands behind a change moves with it
    assert text_of(page) == "#HongKong really still will not be silent, Beijing. Never."


def test_after_a_space_one_writes_on_behind_the_hashtag(visit):
    page = visit()
    write(page, f"{POST} ")
    page.locator("#post").focus()
    page.keyboard.press("Control+End")
    page.keyboard.press("Alt+Digit1")
    page.keyboard.type("Now.")
    assert text_of(page) == f"{POST} {shown(page)[0]} Now."


def test_a_page_loaded_anew_goes_on_with_the_draft(visit):
    page = visit()
    write(page)
    tags = shown(page)
    page.locator(".tag.first").nth(0).click()
    page.reload()
    assert text_of(page) == f"{POST} {tags[0]}"
    travel(page, "2020-05-29T20:00")  # from when one looks is no part of a draft
    settled(page)
    assert shown(page) == tags  # what was chosen is still no part of the question
    expect(page.locator(".tag.first").nth(0)).to_have_attribute("aria-pressed", "true")
    pick_network(page, "Bluesky")
    page.get_by_label("Hashtags beside the text").check()
    page.reload()
    assert text_of(page) == POST
    expect(page.locator("#beside-list li")).to_have_count(1)
    another = visit(context=page.context)
    expect(another.locator("#holdings")).to_contain_text("article")
    assert text_of(another) == ""  # another tab begins anew


def test_words_of_a_variant_become_the_variant(visit):
    page = visit()

    def with_variants(route):
        answer = route.fetch().json()
        answer["suggestions"][0] |= {
            "hashtag": "#GeorgeFloydProtests",
            "words": ["george", "floyd", "protests"],
            "variants": ["#FloydMN", "#GeorgeFloyd"],
        }
        route.fulfill(json=answer)

    page.route("**/v1/suggest*", with_variants)
    write(page)
    first = page.locator("#chips li.suggestion").first
    turn = first.locator(".turn")
    expect(turn).to_have_accessible_name("in the text #GeorgeFloyd")
    turn.click()
    assert text_of(page) == POST.replace("George Floyd", "#GeorgeFloyd")
    expect(turn).to_be_hidden()
    page.locator("#post").fill("The George Floyd protests go on")
    expect(turn).to_have_accessible_name("in the text #GeorgeFloydProtests")


def test_seen_from_now_no_time_is_told(visit):
    page = visit()
    expect(page.locator("#rising-when")).to_have_text(re.compile("^until "))

    def fresh(route):
        state = route.fetch().json()
        now = page.evaluate("new Date().toISOString()")
        route.fulfill(json=state | {"newest": now, "sample": False})

    page.route("**/ready", fresh)
    page.reload()
    expect(page.locator("#when")).to_have_text("Now")
    expect(page.locator("#rising-empty")).to_have_text("Nothing is on the rise.")
    expect(page.locator("#rising-when")).to_have_text("")


def test_a_new_answer_leaves_the_keyboard_where_it_is(visit):
    page = visit()
    write(page)
    for part in (".tag.first", ".turn", ".ask"):
        button = row(page, "#GeorgeFloyd").locator(part)
        button.focus()
        old = button.element_handle()
        hour = {".tag.first": 21, ".turn": 22, ".ask": 23}[part]
        travel(page, f"2020-05-29T{hour}:00")
        page.wait_for_function("old => !old.isConnected", arg=old)
        expect(row(page, "#GeorgeFloyd").locator(part)).to_be_focused()


def test_what_arrives_waits_until_why_has_been_read(visit):
    page = visit()
    write(page)
    asked, held = [], {"posts": 98}
    page.on("request", lambda one: asked.append(one.url) if "/suggest" in one.url else None)
    page.route("**/ready", lambda route: route.fulfill(json=route.fetch().json() | held))
    ask = page.locator(".ask").first
    ask.click()
    with page.expect_response("**/ready"):
        held["posts"] += 1
    with page.expect_response("**/ready"):
        pass
    page.wait_for_timeout(500)
    assert asked == []
    with page.expect_request("**/v1/suggest*"):
        ask.click()


def test_a_language_model_comes_after_the_answer(visit):
    """The page is quick without it, says that there is one, and a failure of it changes nothing."""
    page = visit()
    expect(page.locator("#with-model")).to_be_hidden()
    page.route("**/ready", lambda route: route.fulfill(json=route.fetch().json() | {"llm": True}))
    asked, told = [], {"status": 200}

    def suggest(route):
        asked.append(route.request.url.rpartition("llm=")[2])
        answer = route.fetch().json()
        if asked[-1] == "true":
            answer["suggestions"][-1]["hashtag"] = "#FromTheModel"
            route.fulfill(status=told["status"], json=answer)
        else:
            route.fulfill(json=answer)

    page.route("**/v1/suggest*", suggest)
    page.reload()
    expect(page.locator("#with-model")).to_be_visible()
    write(page)
    first = shown(page)
    assert asked == ["false"]
    expect(page.locator("#chips")).to_contain_text("#FromTheModel")
    assert asked == ["false", "true"]
    assert shown(page)[:-1] == first[:-1]
    told["status"] = 500
    page.locator("#post").fill("Hong Kong will not be silent, Beijing")
    expect(page.locator("#chips")).to_contain_text("#HongKong")
    with page.expect_response(lambda one: one.url.endswith("llm=true")):
        pass
    expect(page.locator("#problem")).to_be_hidden()
    expect(page.locator("#chips")).to_contain_text("#HongKong")
    page.errors[:] = [error for error in page.errors if "500" not in error]
