"""Text as tokens: repair it once, then read it with a single expression.

`repair` undoes what happened to the text on its way (HTML entities, mojibake, broken Unicode).
`tokenise` cuts it into typed tokens that cover everything but white space, so that the text can
be put together again. `words` is what retrieval and generation read of it.
"""

from __future__ import annotations

from typing import NamedTuple

import ftfy
import regex

# ftfy's time grows faster than the text: it is fed in pieces, cut where a word ends.
PIECE = regex.compile(r".{1,4000}(?:(?=\s)|$)|.{1,4000}", regex.DOTALL)
PLAIN = regex.compile(r"[\t\n\x20-%'-~]*+")  # nothing to repair: ASCII without & and controls
FTFY = ftfy.TextFixerConfig(unescape_html=True, explain=False)
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
    if PLAIN.fullmatch(text):
        return text
    fixed = "".join(ftfy.fix_text(piece, FTFY) for piece in PIECE.findall(text))
    return str(INVISIBLE.sub("", fixed))


def tokenise(text: str) -> list[Token]:
    """All tokens of a text, in order; only white space lies between them."""
    return [
        Token(match.group(), KINDS.get(match.lastgroup, match.lastgroup), match.start())
        for match in TOKEN.finditer(text)
    ]


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
