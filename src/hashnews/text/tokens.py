"""Text as tokens: repair it once, then read it with a single expression.

`repair` undoes what happened to the text on its way (HTML entities, mojibake, broken Unicode).
`tokenise` cuts it into typed tokens that cover everything but white space, so that the text can
be put together again. `words` is what retrieval and generation read of it.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import regex

# ftfy's time grows faster than the text: it is fed in pieces, cut where a word ends.
PIECE = regex.compile(r".{1,4000}(?:(?=\s)|$)|.{1,4000}", regex.DOTALL)
# Most of what is written, of which ftfy only makes curly quotes straight: ASCII without controls,
# quotes, dashes and emoji in any order, and letters and signs of Latin script that stand alone
# between ASCII. Mojibake has two of the latter side by side, or one of `ÂÃŒœ`.
GENTLE = "\u2018-\u201f\u2013\u2014\u2022\u2026\u200d\ufe0f\u2600-\u27bf\U0001f000-\U0001faff"
ALONE = "\xa1-\xac\xae-\xc1\xc4-\u0131\u0134-\u0148\u014a-\u0151\u0154-\u017e\u20ac\u2122"
STRANGE = re.compile(rf"[^\t\n\x20-~{GENTLE}{ALONE}]")
TOGETHER = re.compile(rf"[^\x00-\x7f][{ALONE}]|[{ALONE}][^\x00-\x7f]")
STRAIGHT = [*((curly, "'") for curly in "‘’‚‛"), *((curly, '"') for curly in "“”„‟")]
ENTITY = re.compile(r"&#?[0-9A-Za-z]{1,24};")  # as in ftfy
FTFY: dict[str, Any] = {"unescape_html": True, "explain": False}
# Half characters, direction marks and the like: no reader sees them, so no token should hold them.
# A variation selector means something after an emoji, nothing after a letter.
UNSEEN = r"\p{Cs}\p{Bidi_Control}\u200B\u2060\uFEFF\uFFFE\uFFFF\x00"
INVISIBLE = regex.compile(rf"(?<=\p{{L}}\p{{M}}*)[{UNSEEN}\uFE00-\uFE0F]+|[{UNSEEN}]+")

EMOJI = r"""
    \p{RI}{2}                                       # a flag: two regional letters
  | [0-9*\#] \uFE0F? \u20E3                         # a keycap
  | (?: \p{Extended_Pictographic} (?<! [©®™] ) | \p{Emoji_Presentation} )
    \uFE0F? \p{Emoji_Modifier}?
    [\U000E0020-\U000E007F]*+                       # England, Scotland, Wales
    (?: \u200D \p{Extended_Pictographic} \uFE0F? \p{Emoji_Modifier}? )*+
  | [©®™] \uFE0F
"""
LETTER = r"[\w\p{M}]"
IN_URL = r"""[^\s<>"“”]"""
END_OF_URL = r"""[^\s<>"“”.,!?;:'’)\]…]"""
# Every part gives nothing back once matched (possessive `+`) or is bounded, so that the time is
# linear whatever the text. The first two alternatives are shortcuts for most of what is written.
TOKEN = regex.compile(
    rf"""
    (?P<plain>   [A-Za-z]++ (?= [ ,] ) )
  | (?P<stop>    [,.] (?= \s ) )
  | (?P<url>     (?: (?i:https?) :// | (?<! [\w.@/-] ) (?i:www) \. ) {IN_URL}* {END_OF_URL}
               | (?<! [\w.@/-] ) (?: [A-Za-z0-9-]{{1,40}}+ \. ){{1,3}} [A-Za-z]{{2,6}}
                 / {IN_URL}* {END_OF_URL} )
  | (?P<mention> (?<! [\w@＠] ) [@＠] [A-Za-z0-9_]++ )
  | (?P<hashtag> (?<! [\w&/\#＃] ) [\#＃] (?= [\d_]*+ [\p{{L}}\p{{M}}] )
                 {LETTER}++ (?: [\u200C\u200D·] {LETTER}++ )*+ )
  | (?P<emoji>   {EMOJI} )
  | (?P<number>  (?<! \w ) [$£€¥]? \d++ (?: [.,:/] \d++ )*+
                 (?: % | (?i:st|nd|rd|th|s|k|m|bn|tn|am|pm) (?! \w ) )?+ (?! {LETTER} ) )
  | (?P<word>    (?<! \w ) \p{{L}} (?: \. \p{{L}} ){{1,8}}+ (?! {LETTER} ) \.?
               | {LETTER}++ (?: [-'’&·\u200C] {LETTER}++ )*+ )
  | (?P<mark>    (?P<same> [^\w\s] ) (?P=same)*+ )
  | (?P<other>   \S )
    """,
    regex.VERBOSE,
)
KINDS = {"plain": "word", "stop": "mark", "same": "mark", "other": "mark"}


class Token(NamedTuple):
    """A piece of text: `source[start:end]` is `text`.

    `kind` is url, mention, hashtag, emoji, number, word or mark (punctuation and symbols).
    """

    text: str
    kind: str
    start: int

    @property
    def end(self) -> int:
        """Where the token ends."""
        return self.start + len(self.text)


def repair(text: str) -> str:
    """The text as its author saw it: HTML entities and mojibake undone, invisible signs out."""
    if (gentle := _gentle(text)) is not None:
        return gentle
    import ftfy  # most texts do without, and start sooner

    how = ftfy.TextFixerConfig(**FTFY)
    fixed = "".join(ftfy.fix_text(piece, how) for piece in PIECE.findall(text))
    return str(INVISIBLE.sub("", fixed))


def _gentle(text: str) -> str | None:
    """What ftfy would make of a text without mojibake, many times sooner; None: ask ftfy."""
    if "&" in text and ";" in text:
        from ftfy.fixes import unescape_html

        text = unescape_html(text)
        if ENTITY.search(text):
            return None
    if STRANGE.search(text):
        return None
    if text.isascii():
        return text
    if TOGETHER.search(text):
        return None
    for curly, straight in STRAIGHT:
        text = text.replace(curly, straight)
    return str(INVISIBLE.sub("", text)) if "\ufe0f" in text else text


def tokenise(text: str) -> list[Token]:
    """All tokens of a text, in order; only white space lies between them.

    No token reaches over white space, and none looks past it, so what stands between white space
    is cut once and remembered: texts repeat themselves.
    """
    found: list[Token] = []
    end = 0
    for chunk in text.split() if not ODD_SPACE.search(text) else CHUNK.findall(text):
        start = text.index(chunk, end)
        end = start + len(chunk)
        known = _CUT.get(chunk)
        if known is None:
            known = _cut(chunk)
            if len(chunk) <= LONGEST_KNOWN:
                if len(_CUT) >= MOST_KNOWN:
                    _CUT.clear()
                _CUT[chunk] = known
        for token, kind, offset in known:
            found.append(_TOKEN(Token, (token, kind, start + offset)))
    return found


def _cut(chunk: str) -> tuple[Token, ...]:
    """The tokens of what stands between white space."""
    return tuple(
        Token(match.group(), KINDS.get(match.lastgroup, match.lastgroup), match.start())
        for match in TOKEN.finditer(chunk)
    )


_TOKEN = tuple.__new__  # what `Token(...)` does, in half the time
ODD_SPACE = re.compile(r"[\x1c-\x1f]")  # white space for `str.split`, not for `TOKEN`
CHUNK = regex.compile(r"\S++")
_CUT: dict[str, tuple[Token, ...]] = {}


# What is joined or left out inside a word: U.S. -> us, can't -> cant, AT&T -> att, 1,000 -> 1000.
JOINED = str.maketrans("", "", ".,'’&·$£€¥%\u200c\u200d#＃@＠")


def words(text: str) -> list[str]:
    """The words of a text as hashtags are made of them: lower-case, without signs.

    Possessives lose their ’s, hyphens and slashes part words (COVID-19 gives covid, 19), and URLs
    and emoji say nothing. No token reaches over white space, so what stands between white space is
    read once and remembered: texts repeat themselves.
    """
    found: list[str] = []
    for chunk in text.split():
        known = _KNOWN.get(chunk)
        if known is None:
            known = tuple(_words_of_chunk(chunk))
            if len(chunk) <= LONGEST_KNOWN:
                if len(_KNOWN) >= MOST_KNOWN:
                    _KNOWN.clear()
                _KNOWN[chunk] = known
        found += known
    return found


LONGEST_KNOWN, MOST_KNOWN = 30, 300_000
_KNOWN: dict[str, tuple[str, ...]] = {}
EDGES = ",.;:!?()[]\"'“”‘’"  # around a word these say nothing of it
WORD_KINDS = frozenset({"plain", "word", "number", "hashtag", "mention"})


def _words_of_chunk(chunk: str) -> list[str]:
    bare = chunk.strip(EDGES)
    if bare.isascii():  # most of what is written: a word or a number, or some of them with hyphens
        if bare.isalnum():
            return [bare.lower()]
        parts = bare.split("-")
        if all(map(str.isalnum, parts)):
            return [part.lower() for part in parts]
    return [
        word
        for match in TOKEN.finditer(chunk)
        if match.lastgroup in WORD_KINDS
        for word in split_word(match.group())
    ]


def split_word(token: str) -> list[str]:
    """One token as plain words."""
    token = token.lower()
    if token.isalnum():
        return [token]
    if token.endswith(("'s", "’s")):
        token = token[:-2]
    for sign in "-/:_":
        token = token.replace(sign, " ")
    return token.translate(JOINED).split()
