"""Hashtags: finding, inline or trailing, and writing."""

import pytest

from hashnews.text.hashtags import Forms, find_hashtags, key_of, part_hashtags, shipped_forms
from hashnews.text.segment import shipped_segmenter
from hashnews.text.tokens import repair


def found(text):
    return [token.text for token in find_hashtags(text)]


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#BLM", ["#BLM"]),
        ("Great day.#MAGA", ["#MAGA"]),
        ("#a,#b;#c", ["#a", "#b", "#c"]),
        ("#COVID19’s", ["#COVID19"]),
        ("#1stDay #2020Vision", ["#1stDay", "#2020Vision"]),
        ("#Москва #東京 #हिन्दी #café", ["#Москва", "#東京", "#हिन्दी", "#café"]),
        ("＃BLM", ["＃BLM"]),
        ("#snake_case_tag", ["#snake_case_tag"]),
        ("(#inBrackets)", ["#inBrackets"]),
        ("&#39; it&#8217;s", []),
        ("C# and F# and #1 and ##", []),
        ("https://example.org/#frag /#x", []),
        ("mail#tag", []),
        ("#", []),
    ],
)
def test_finding(text, tags):
    assert found(text) == tags


@pytest.mark.parametrize(
    ("text", "trailing"),
    [
        # after a sentence end, a line break, a URL or an emoji
        ("Vote today! #MAGA", ["#MAGA"]),
        ("Vote today\n#MAGA", ["#MAGA"]),
        ("Vote https://t.co/x #MAGA", ["#MAGA"]),
        ("Vote 🎉 #maga", ["#maga"]),
        ('He said "go". #a', ["#a"]),
        ("Read this: #a", ["#a"]),
        # two or more together
        ("Vote today #MAGA #KAG", ["#MAGA", "#KAG"]),
        ("Vote today #a, #b | #c", ["#a", "#b", "#c"]),
        # other things of a run stand between
        ("Good. #a @user https://t.co/x #b", ["#a", "#b"]),
        ("Thanks! @user #a", ["#a"]),
        ("Good. #a.", ["#a"]),
        # nothing else
        ("#only #tags", ["#only", "#tags"]),
        ("#one", ["#one"]),
        # a leading run
        ("#BREAKING: it rains", ["#BREAKING"]),
        ("#a #b it rains", ["#a", "#b"]),
        ("#a\nit rains", ["#a"]),
        ("#a 🎉 it rains", ["#a"]),
        ("#a - it rains", ["#a"]),
        # part of the sentence
        ("Vote today #MAGA", []),
        ("Vote in #Ohio today!", []),
        ("#GeorgeFloyd was here.", []),
        ("We love #Ohio.", []),
        ("Thanks @user #a", []),
        ("It is #hot and #dry here", []),
        # an inline tag before a trailing run stays inline
        ("We love #Ohio\n#a #b", ["#a", "#b"]),
        ("We love #Ohio https://t.co/x #a", ["#a"]),
        ("We love #Ohio! #a", ["#a"]),
        # cut off by the network: nobody's hashtag
        ("Good. #a #Barcelon… https://t.co/x", ["#a"]),
        ("no tag at all", []),
        ("", []),
    ],
)
def test_inline_or_trailing(text, trailing):
    parted = part_hashtags(text)
    assert [token.text for token in parted.trailing] == trailing
    told = {*parted.inline, *parted.trailing, *parted.unsaid}
    assert told >= {token for token in parted.tokens if token.kind == "hashtag"}
    assert not {*parted.inline} & {*parted.trailing}


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("black lives matter", "#BlackLivesMatter"),
        ("covid 19", "#COVID19"),
        ("blm", "#BLM"),
        ("dc statehood", "#DCStatehood"),
        ("dc protests", "#DCProtests"),
        ("nba finals 2020", "#NBAFinals2020"),
        ("do it", "#DoIt"),
        ("who", "#WHO"),
        ("who knew", "#WhoKnew"),
        ("minneapolis", "#Minneapolis"),
        ("été", "#Été"),
    ],
)
def test_writing(words, written):
    assert shipped_forms().write(words.split()) == written


def test_the_form_people_use_is_kept():
    forms = Forms(tags=["#StayHomeMN", "#StayHomeMN", "#STAYHOMEMN", "#mtpol", "#gopackgo"])
    assert forms.write(["stay", "home", "mn"]) == "#StayHomeMN"
    assert forms.write(["mtpol"]) == "#mtpol"  # one word: as people write it
    assert forms.write(["go", "pack", "go"]) == "#GoPackGo"  # several: readable before all
    for _ in range(5):
        forms.see("#STAYHOMEMN")
    assert forms.write(["stay", "home", "mn"]) == "#STAYHOMEMN"


def test_underscores_are_one_more_form():
    forms = Forms(tags=["#Covid_19"])
    assert forms.write(["covid", "19"]) == "#Covid_19"


@pytest.mark.parametrize(
    "tag", ["#StandWithUkraine\ufe0f", "#StandWith\u200bUkraine", "#stand_withukraine"]
)
def test_what_nobody_sees_makes_no_other_hashtag(tag):
    assert key_of(tag) == "standwithukraine"
    assert "".join(shipped_segmenter().segment(tag)) == "standwithukraine"
    (found,) = find_hashtags(repair(f"we {tag} today"))
    assert key_of(found.text) == "standwithukraine"


def test_an_emoji_keeps_its_variation():
    assert repair("love \u2764\ufe0f and 1\ufe0f\u20e3") == "love \u2764\ufe0f and 1\ufe0f\u20e3"
