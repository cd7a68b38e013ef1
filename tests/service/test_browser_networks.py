"""The page and the networks: counted as each counts, its customs, and ways to take a post there."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import regex
from browsing import POST, expect, needs_chromium, pick_network, shown, text_of, write
from newsstand import newsstand

pytestmark = needs_chromium

# What twitter-text 3.1.0, the library of X itself, says: parseTweet(text).weightedLength.
X_LENGTHS = json.loads((Path(__file__).parent / "x_lengths.json").read_text("utf-8"))
URL = "https://example.com/a/very/long/path/that/goes/on?and=on#andon"
LENGTHS = {
    "mastodon": [  # characters as readers see them; an address is 23, @ann@host is @ann
        ("", 0), ("Hello", 5), (URL, 23), (f"See {URL}.", 28), ("example.com", 11),
        ("@ann@example.social hi", 7), ("@ann hi", 7), ("ann@example.com", 15),
        ("👨‍👩‍👧‍👦 🇩🇪", 3), ("e\u0301", 1), ("日本", 2), (f"{URL}\n{URL}", 47),
    ],
    "bluesky": [  # graphemes, of an address all
        ("Hello", 5), ("👨‍👩‍👧‍👦 🇩🇪", 3), ("e\u0301t\u00e9", 3), ("नमस्ते", 3),
        (URL, len(URL)), ("a\nb", 3),
    ],
    "threads": [  # of an emoji the bytes
        ("Hello", 5), ("日本", 2), ("👍", 4), ("I ❤️ it", 4 + 1 + 6), (URL, len(URL)),
    ],
    "linkedin": [("Hello", 5), ("👍", 1), (URL, len(URL))],
    "instagram": [("Hello", 5), ("👍", 1), ("#a #b", 5)],
    "x": X_LENGTHS,
}  # fmt: skip
COUNT = """async ([network, texts]) => {
    const { NETWORKS } = await import("/page/networks.js");
    return texts.map((text) => NETWORKS[network].length(text));
}"""


@pytest.mark.parametrize("network", LENGTHS)
def test_each_network_counts_in_its_own_way(visit, network):
    texts, expected = zip(*LENGTHS[network], strict=True)
    found = visit().evaluate(COUNT, [network, texts])
    wrong = [row for row in zip(texts, expected, found, strict=True) if row[1] != row[2]]
    assert wrong == []


def test_graphemes_are_those_of_unicode(visit):
    """Against another implementation, over marks, joiners, flags, and letters in many scripts."""
    pieces = ["a", "e", "\u0301", "\u0308", "é", "👨", "\u200d", "👩", "🇩", "🇪", "한",
              "ᄒ", "ᅡ", "ก", "ำ", "न", "\u094d", "त", "\ufe0f", "❤", "1", "\u20e3", "\n", " ",
              "#"]  # fmt: skip
    state, texts = 7, []
    for _ in range(2000):
        made = []
        for _ in range(1 + state % 9):
            state = (state * 48271) % 2147483647
            made.append(pieces[state % len(pieces)])
        texts.append("".join(made))
    found = visit().evaluate(COUNT, ["bluesky", texts])
    expected = [len(regex.findall(r"\X", text)) for text in texts]
    wrong = [row for row in zip(texts, expected, found, strict=True) if row[1] != row[2]]
    assert len(wrong) <= len(texts) // 100, wrong[:5]  # Unicode's own rules differ by version


def test_the_count_follows_the_network_and_the_server(visit):
    page = visit()
    write(page)
    count = page.locator("#count")
    expect(count).to_have_text(re.compile(r"^60 / 500"))
    page.locator("#server-fold summary").click()
    page.locator("#limit").fill("5000")
    expect(count).to_have_text(re.compile(r"^60 / 5,000"))
    for network, limit in {"Bluesky": "300", "X": "280", "Threads": "500", "LinkedIn": "3,000",
                           "Instagram": "2,200", "Mastodon": "5,000"}.items():  # fmt: skip
        pick_network(page, network)
        expect(count).to_have_text(re.compile(f"^60 / {limit}"))
        expect(page.locator("#custom")).to_contain_text("hashtag")
    pick_network(page, "X")
    page.locator("#post").fill("x" * 281)
    expect(count).to_have_class("over")
    expect(page.locator("#status")).to_have_text("Too long for X")
    page.locator("#post").fill("x" * 280)
    expect(count).not_to_have_class("over")


def test_more_hashtags_than_usual_are_told(visit):
    page = visit()
    write(page)
    pick_network(page, "Threads")
    custom = page.locator("#custom")
    expect(custom).not_to_have_class("dim many")
    page.locator(".tag.first").nth(0).click()
    expect(custom).not_to_have_class("dim many")
    page.locator(".tag.first").nth(1).click()
    expect(custom).to_have_text(re.compile("^2 hashtags are many for Threads. One hashtag"))


def test_on_bluesky_hashtags_can_stand_beside_the_text(visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    write(page)
    first, second = shown(page)[:2]
    pick_network(page, "Bluesky")
    page.locator(".tag.first").nth(0).click()
    assert text_of(page) == f"{POST} {first}"
    page.get_by_label("Hashtags beside the text").check()
    assert text_of(page) == POST
    page.locator(".tag.first").nth(1).click()
    assert text_of(page) == POST
    expect(page.locator("#count")).to_have_text(re.compile("^60 / 300"))
    items = page.locator("#beside-list li")
    expect(items).to_have_count(2)
    expect(page.locator(".tag.first").nth(1)).to_have_attribute("aria-pressed", "true")
    page.locator("#beside-copy").click()
    expect(page.locator("#beside-copy")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{first[1:]} {second[1:]}"
    items.nth(0).get_by_role("button").click()
    expect(items).to_have_count(1)
    pick_network(page, "Mastodon")  # it has no such place
    assert text_of(page) == f"{POST} {second}"
    expect(page.locator("#beside")).to_be_hidden()


@pytest.mark.parametrize(
    ("network", "address"),
    [
        ("Mastodon", "https://fosstodon.org/share"),
        ("Bluesky", "https://bsky.app/intent/compose"),
        ("X", "https://x.com/intent/post"),
        ("Threads", "https://www.threads.com/intent/post"),
    ],
)
def test_the_text_is_handed_to_the_network(visit, network, address):
    page = visit()
    write(page, f"{POST} 100 % & more #1")
    pick_network(page, network)
    if network == "Mastodon":
        page.locator("#server-fold summary").click()
        page.locator("#server").fill("https://fosstodon.org/@ann")
    share = page.locator("#share")
    expect(share).to_have_text(f"Open in {network}")
    expect(share).to_have_attribute("rel", "noopener noreferrer")
    to = urlsplit(share.get_attribute("href"))
    assert f"{to.scheme}://{to.netloc}{to.path}" == address
    assert parse_qs(to.query)["text"] == [f"{POST} 100 % & more #1"]
    page.locator("#post").fill("")
    expect(share).to_be_hidden()


def test_what_cannot_be_handed_over_can_be_copied(visit):
    page = visit()
    write(page)
    for network in ("LinkedIn", "Instagram"):
        pick_network(page, network)
        expect(page.locator("#share")).to_be_hidden()
        expect(page.locator("#copy")).to_be_enabled()


def test_author_network_and_server_are_remembered(visit):
    page = visit()
    write(page)
    page.locator("#user").fill("reader08")
    page.locator("#server-fold summary").click()
    page.locator("#server").fill("fosstodon.org")
    page.locator("#limit").fill("11000")
    pick_network(page, "X")
    page.reload()
    expect(page.locator("#user")).to_have_value("reader08")
    expect(page.get_by_role("radio", name="X", exact=True)).to_be_checked()
    pick_network(page, "Mastodon")
    expect(page.locator("#where")).to_have_text("fosstodon.org")
    expect(page.locator("#count")).to_have_text(re.compile("/ 11,000"))


def test_a_bookmarklet_opens_the_composer_with_the_selected_text(visit):
    """Clicked, as a bookmark is, on a page of another site."""
    page = visit()
    code = page.locator("#bookmarklet").get_attribute("href")
    assert code.startswith("javascript:")
    said = "Hong Kong will not be silent: 100 % & #more"
    with newsstand() as stand:
        escaped = said.replace("&", "&amp;")
        body = f"<title>T</title><p id=said>{escaped}</p><a id=mark href='{code}'>Find</a>"
        stand["/page"] = body.encode()
        other = page.context.new_page()
        other.goto(f"{stand.url}/page")
        other.evaluate("getSelection().selectAllChildren(document.getElementById('said'))")
        with page.context.expect_page() as opened:
            other.locator("#mark").click()
        composer = opened.value
        expect(composer.locator("#post")).to_have_value(said)
        expect(composer.locator("#chips")).to_contain_text("#HongKong")
        assert composer.url == page.url  # the text stays in no address
        assert set(stand.paths()) <= {"/page", "/favicon.ico"}
