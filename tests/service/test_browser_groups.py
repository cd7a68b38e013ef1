"""Groups of hashtags: saved in the browser, used with a click, taken elsewhere as a file."""

import json

from browsing import POST, expect, needs_chromium, shown, text_of, write

pytestmark = needs_chromium


def open_groups(page):
    page.locator(".groups summary").click()


def test_groups_are_saved_used_and_deleted(visit):
    page = visit()
    write(page)
    open_groups(page)
    page.locator("#group-form button").first.click()
    expect(page.locator("#group-told")).to_contain_text("Add hashtags to the post first")
    first, second = shown(page)[:2]
    page.locator(".tag.first").nth(0).click()
    page.locator(".tag.first").nth(1).click()
    page.locator("#group-form button").first.click()
    expect(page.locator("#group-told")).to_contain_text("Give the group a name")
    page.locator("#group-name").fill("Marches")
    page.keyboard.press("Enter")
    expect(page.locator("#group-told")).to_contain_text("Saved: 2 hashtags as Marches")
    page.reload()
    open_groups(page)
    page.locator("#post").fill(f"Another day. {second}")
    page.locator(".group", has_text="Marches").click()
    assert text_of(page) == f"Another day. {second} {first}"  # what is there is not added again
    page.get_by_role("button", name="Delete the group Marches").click()
    expect(page.locator("#group-list li")).to_have_count(0)
    page.reload()
    open_groups(page)
    expect(page.locator("#group-list li")).to_have_count(0)
    expect(page.locator("#group-none")).to_be_visible()


def test_groups_go_out_and_come_in_as_a_file(visit, tmp_path):
    page = visit()
    write(page, f"{POST} #OneTag #TwoTags")
    open_groups(page)
    page.locator("#group-name").fill("Mine")
    page.keyboard.press("Enter")
    with page.expect_download() as download:
        page.locator("#group-export").click()
    file = tmp_path / "groups.json"
    download.value.save_as(file)
    saved = {"name": "Mine", "hashtags": ["#OneTag", "#TwoTags"]}
    assert json.loads(file.read_text()) == {"groups": [saved]}

    other = visit()  # another browser
    open_groups(other)
    more = {"name": "<b>evil</b>", "hashtags": ["#Fine", "not a tag", 7, "#<script>"]}
    unfit = [{"name": "", "hashtags": ["#A"]}, {"name": "none", "hashtags": []}, 3]
    file.write_text(json.dumps({"groups": [saved, more, *unfit]}))
    other.locator("#group-import").set_input_files(file)
    expect(other.locator("#group-told")).to_contain_text("2 groups read from groups.json")
    rows = other.locator("#group-list .group")
    assert [row.inner_text().split("\n")[0] for row in rows.all()] == ["Mine", "<b>evil</b>"]
    assert json.loads(other.evaluate("localStorage['hashnews.groups']"))[1]["hashtags"] == ["#Fine"]
    for content in ("{", "[]", '{"groups": 3}', "\u0000"):
        file.write_text(content)
        other.locator("#group-import").set_input_files(file)
        expect(other.locator("#group-told")).to_have_text("groups.json holds no groups.")
    expect(rows).to_have_count(2)
