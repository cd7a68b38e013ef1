"""Tokens: hard cases by hand, and every emoji of the emoji package."""

import pytest

from hashnews.text.tokens import repair, split_word, tokenise, words


def texts(text, kind=None):
    return [token.text for token in tokenise(text) if kind in (None, token.kind)]


def test_a_sentence_with_everything():
    found = tokenise("The U.S. can’t stop @NASA’s #CrewDragon: $3.5bn, 9/11 — https://t.co/x.")
    assert [(token.text, token.kind) for token in found] == [
        ("The", "word"),
        ("U.S.", "word"),
        ("can’t", "word"),
        ("stop", "word"),
        ("@NASA", "mention"),
        ("’", "mark"),
        ("s", "word"),
        ("#CrewDragon", "hashtag"),
        (":", "mark"),
        ("$3.5bn", "number"),
        (",", "mark"),
        ("9/11", "number"),
        ("—", "mark"),
        ("https://t.co/x", "url"),
        (".", "mark"),
    ]


@pytest.mark.parametrize(
    "whole",
    [
        "U.S.",
        "U.S.A.",
        "e.g.",
        "can't",
        "can’t",
        "COVID-19",
        "AT&T",
        "O’Brien",
        "rock-n-roll",
        "naïve",
        "Москва",
        "हिन्दी",
        "東京",
        "café",
    ],
)
def test_words_stay_whole(whole):
    assert texts(f"so {whole} it") == ["so", whole, "it"]
    assert tokenise(whole)[0].kind == "word"


@pytest.mark.parametrize(
    "number", ["5", "1,000", "3.14", "50%", "$20", "£3.5bn", "10am", "21st", "10:30"]
)
def test_numbers_stay_whole(number):
    assert [(t.text, t.kind) for t in tokenise(f"({number})")][1] == (number, "number")


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("see https://example.org/a?b=c#frag.", "https://example.org/a?b=c#frag"),
        ("(http://example.org/x)", "http://example.org/x"),
        ("www.example.org, yes", "www.example.org"),
        ("at example.com/path now", "example.com/path"),
        ("HTTPS://EXAMPLE.ORG/A!", "HTTPS://EXAMPLE.ORG/A"),
    ],
)
def test_urls(text, url):
    assert texts(text, "url") == [url]
    assert texts(text, "hashtag") == []


@pytest.mark.parametrize("text", ["and/or", "end.Next", "a.m. or p.m.", "Mr. Smith", "1.5/2"])
def test_not_urls(text):
    assert texts(text, "url") == []


def test_every_emoji_is_one_token():
    emoji = pytest.importorskip("emoji", reason="the list of all emoji is not installed")
    wrong = [
        sign
        for sign, about in emoji.EMOJI_DATA.items()
        if about["status"] <= emoji.STATUS["fully_qualified"]
        and texts(f"a {sign} b") != ["a", sign, "b"]
    ]
    assert wrong == []


def test_emoji_in_a_row_are_parted():
    assert texts("👍🏽👨‍👩‍👧‍👦🇺🇸🇬🇧🏴󠁧󠁢󠁥󠁮󠁧󠁿3️⃣❤️") == ["👍🏽", "👨‍👩‍👧‍👦", "🇺🇸", "🇬🇧", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "3️⃣", "❤️"]


def test_marks_repeat():
    assert texts("no!!! ... wait--") == ["no", "!!!", "...", "wait", "--"]


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ("Q&amp;A &lt;3 &#39;yes&#39;", "Q&A <3 'yes'"),
        ("&amp;amp;", "&"),
        ("Iâ€™m here, cafÃ©", "I'm here, café"),
        ("a\u202eb\u200bc\ufeff", "abc"),
        ("half \ud83d pair", "half � pair"),
        ("\ud83d\ude00", "😀"),
        ("＃BLM ｆｕｌｌ", "#BLM full"),
        ("one\r\ntwo", "one\ntwo"),
        ("plain text stays", "plain text stays"),
    ],
)
def test_repair(broken, whole):
    assert repair(broken) == whole


def test_repair_is_done_once_and_for_all():
    text = "Iâ€™m &amp;amp; cafÃ© ＃BLM"
    assert repair(repair(text)) == repair(text)


def test_words_are_what_hashtags_are_made_of():
    assert words("The U.S. can't stop COVID-19, AT&T's 1,000 people! 👍 https://t.co/x") == (
        "the us cant stop covid 19 att 1000 people".split()
    )
    assert words("@NASA’s #Crew_Dragon") == ["nasa", "s", "crew", "dragon"]
    assert words("") == words("👍 — https://example.org") == []


@pytest.mark.parametrize(
    ("token", "plain"),
    [("Floyd’s", ["floyd"]), ("COVID-19", ["covid", "19"]), ("U.S.", ["us"]), ("$3.5bn", ["35bn"])],
)
def test_split_word(token, plain):
    assert split_word(token) == plain
