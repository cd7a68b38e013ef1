"""No text makes any function here raise, lose a letter, or take more than linear time."""

import gc
import time
from pathlib import Path

import ftfy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashnews.prepare.preparer import Preparer
from hashnews.records import Post
from hashnews.text.entities import shipped_finder
from hashnews.text.hashtags import find_hashtags, key_of, part_hashtags, shipped_forms
from hashnews.text.segment import fold, shipped_segmenter
from hashnews.text.tokens import FTFY, INVISIBLE, KINDS, PIECE, TOKEN, repair, tokenise, words

SPICE = [
    "#",
    "＃",
    "@",
    "_",
    "\n",
    " ",
    ".",
    "…",
    "http://",
    "www.",
    "&amp;",
    "&#39;",
    "'s",
    "’s",
    "-",
]
SPICE += [
    "👍🏽",
    "👨‍👩‍👧",
    "🇺🇸",
    "\u200d",
    "\ufe0f",
    "\u202e",
    "\u0301",
    "\ud83d",
    "İ",
    "ß",
    "ー",
    "·",
    "1",
    "A",
    "b",
]
text = st.one_of(
    st.text(st.characters(codec=None, exclude_categories=()), max_size=60),
    st.lists(st.sampled_from(SPICE), max_size=40).map("".join),
)


def a_preparer():
    return Preparer(shipped_segmenter(), shipped_finder())


@settings(max_examples=400, deadline=None)
@given(text)
def test_tokens_join_back(source):
    tokens, end = tokenise(source), 0
    for token in tokens:
        assert source[end : token.start].strip() == ""
        assert source[token.start : token.end] == token.text != ""
        end = token.end
    assert source[end:].strip() == ""


@settings(max_examples=400, deadline=None)
@given(text)
def test_segments_join_back(source):
    segmenter = shipped_segmenter()
    for token in find_hashtags(source):
        cut = segmenter.segment(token.text)
        letters = key_of(token.text)
        assert "".join(cut).replace("ー", "") == letters.replace("ー", "")
        assert all(cut)
        assert fold(segmenter.spell(token.text)).replace(" ", "") == "".join(cut)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.text("abcdeéж0189", min_size=1, max_size=8), min_size=1, max_size=5))
def test_words_written_as_a_hashtag_are_found_again(said):
    written = shipped_forms().write(said)
    assert fold(written[1:]).replace("_", "") == "".join(said)
    if any(letter.isalpha() for letter in written):
        assert [token.text for token in find_hashtags(f"so {written} it")] == [written]


@settings(max_examples=300, deadline=None)
@given(text)
def test_nothing_raises(source):
    whole = repair(source)
    whole.encode()  # no half characters are left
    for entity in shipped_finder().find(source):
        assert source[entity.start : entity.end] == entity.text
    part_hashtags(source)
    words(source)
    for ready in a_preparer().prepare([Post(id="1", text=source)]):
        assert ready.hashtags
        assert words(ready.body)
        ready.to_json().encode()


@settings(max_examples=200, deadline=None)
@given(text)
def test_repair_settles(source):
    assert repair(repair(source)) == repair(source)


HOSTILE = {
    "hashes": "#",
    "tags": "#a ",
    "joined tags": "#a",
    "dotted tag": "#a·",
    "emoji": "👍🏽",
    "joiners": "👨\u200d",
    "flags": "🇺🇸",
    "mentions": "@",
    "initials": "a.",
    "apostrophes": "a'",
    "hyphens": "a-",
    "numbers": "1,",
    "urls": "http://",
    "domains": "a-b.",
    "entities": "&amp;",
    "nested entities": "amp;",
    "mojibake": "Ã©â€™",
    "surrogates": "\ud83d",
    "marks": "\u0301",
    "right to left": "\u202e",
    "capitals": "Aa ",
    "links": "Of of ",
    "one word": "a",
    "shouting": "A",
    "spaces": " ",
    "lines": "\n",
    "brackets": "(",
    "underscores": "_",
}
FUNCTIONS = {
    "repair": repair,
    "tokenise": tokenise,
    "words": words,
    "hashtags": part_hashtags,
    "segment": lambda source: shipped_segmenter().segment("#" + source),
    "entities": lambda source: shipped_finder().find(source),
    "prepare": lambda source: list(a_preparer().prepare([Post(id="1", text=source)])),
}


def seconds(function, source):
    gc.disable()  # its pauses grow with all that other tests left in memory
    try:
        start = time.process_time()
        function(source)
        return time.process_time() - start
    finally:
        gc.enable()


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_time_is_linear(function):
    """100 kB of anything: twice the text takes twice the time, or nearly; squares take four.

    What outgrows a cache of the processor may take three, but not twice in a row.
    """
    for name, piece in HOSTILE.items():
        for prefix in ("", "&", "#", "http://"):
            source = prefix + piece * (100_000 // len(piece.encode("utf-8", "surrogatepass")))
            whole = half = quarter = float("inf")
            for _ in range(8):  # the best of each: a busy machine only ever adds
                whole = min(whole, seconds(function, source))
                if whole <= 0.25:  # shorter is beyond doubt, whatever the law
                    break
                half = min(half, seconds(function, source[: len(source) // 2]))
                if whole < 3 * half:
                    break
                quarter = min(quarter, seconds(function, source[: len(source) // 4]))
                if half < 3 * quarter:
                    break
            else:
                pytest.fail(f"{name}: {quarter:.3f} s, {half:.3f} s, then {whole:.3f} s")
            assert whole < 5, name


def test_the_data_of_the_text_layer_is_small():
    folder = Path(__file__).parents[2] / "src" / "hashnews" / "text" / "data"
    assert sum(path.stat().st_size for path in folder.iterdir()) < 6_000_000


# What ftfy changes or may take for mojibake, side by side with what it does not touch.
NEAR_MOJIBAKE = st.one_of(
    st.lists(
        st.sampled_from(
            [*"aZ 1.\n&;Â Ã Œ œ é É ü ß £ € © ™ ° · « » ½ × ñ ’ ‘ “ ” „ – — … • 😀 ❤ â ¬ ƒ † √ ².",
             "\ufe0f", "\u200d", "&amp;", "&eacute;", "&#10;", "&rsquo;", "&Acirc;", "&copy;",
             "\xa0", "\xad", "\x85", "\u0301", "ﬁ", "Ĳ", "ŉ", "ſ", "ж", "日", "ｆ", "cafÃ©", "â€™"]
        ),
        max_size=12,
    ).map("".join),
    st.text(st.characters(min_codepoint=32, max_codepoint=0x24F), max_size=20),
    text,
)  # fmt: skip


@settings(max_examples=2000, deadline=None)
@given(NEAR_MOJIBAKE)
def test_repair_does_what_ftfy_does(source):
    """However soon it knows that there is little to repair."""
    fixed = "".join(ftfy.fix_text(piece, **FTFY) for piece in PIECE.findall(source))
    assert repair(source) == INVISIBLE.sub("", fixed)


def test_of_each_sign_beside_each_other_repair_makes_what_ftfy_makes():
    signs = [chr(n) for n in (*range(0xA0, 0x180), *range(0x2010, 0x2040), 0x20AC, 0x2122, 0x2764)]
    for sign in signs:
        for before, after in [
            ("a", "b"),
            (" ", " "),
            ("", " "),
            ("a", " "),
            (" ", "b"),
            ("é", "!"),
        ]:
            said = f"{before}{sign}{after}"
            assert repair(said) == INVISIBLE.sub("", ftfy.fix_text(said, **FTFY)), said


@settings(max_examples=1000, deadline=None)
@given(text, st.lists(st.sampled_from([*" \n\t\x1c\x85\xa0", "word", "#tag", ",", "..", "a.b/c"])))
def test_what_stands_between_white_space_is_read_by_itself(source, more):
    source += "".join(more)
    whole = [
        (match.group(), KINDS.get(match.lastgroup, match.lastgroup), match.start())
        for match in TOKEN.finditer(source)
    ]
    assert tokenise(source) == whole
