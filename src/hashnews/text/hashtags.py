"""Hashtags in a post: find them, tell inline from trailing, and write words as a hashtag.

An inline hashtag is part of a sentence and stays in the post as its words; a trailing one stands
beside the text (mostly after it, sometimes before) and is a target. Whether a lone tag after
plain words is part of the sentence cannot be told from the text, so the rule is careful: it takes
a hashtag for a target only where something parts it from the words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import NamedTuple

import regex

from hashnews.text.segment import fold
from hashnews.text.tokens import INVISIBLE, Token, tokenise

RUN = frozenset({"hashtag", "url", "mention", "emoji"})  # what a run of hashtags is made of
PARTS_RUN = frozenset({"url", "emoji"})  # what parts a hashtag from the words before it
SEPARATORS = frozenset(
    {",", "|", "||", "•", "·", "/", "~", "-", "–", "—", "&", "+", "*", "→", "…", "..."}
)
SENTENCE_END = regex.compile(r"""[.!?…:;"”’')\]»‼⁉。！？]""")
AFTER_LEADING = regex.compile(r"[:!|–—…-]|\.\.")


def find_hashtags(text: str) -> list[Token]:
    """The hashtags of a text: with a letter in them, and not `&#39;`, `C#` or part of a URL."""
    return [token for token in tokenise(text) if token.kind == "hashtag"]


class Parted(NamedTuple):
    """The tokens of a post, and which of them are inline and trailing hashtags."""

    tokens: list[Token]
    inline: list[Token]
    trailing: list[Token]
    unsaid: list[Token]  # signs between trailing hashtags, and hashtags cut off by an ellipsis


def part_hashtags(text: str) -> Parted:
    """Tell inline from trailing hashtags.

    A trailing run of hashtags, URLs, mentions and emoji holds targets where it comes after a
    sentence end, a line break, a URL or an emoji, or where two or more hashtags stand together;
    a leading run likewise where one of these, or a colon or dash, comes after it.
    """
    tokens = tokenise(text)
    last = _run_length(reversed(tokens))
    first = _run_length(tokens) if last < len(tokens) else 0
    beside = {*_trailing(text, tokens, len(tokens) - last), *_leading(text, tokens, first)}
    parted = Parted(tokens, [], [], [])
    for position, token in enumerate(tokens):
        if token[1] == "hashtag":
            if position not in beside:
                parted.inline.append(token)
            elif text.startswith(("…", "..."), token.end):
                parted.unsaid.append(token)
            else:
                parted.trailing.append(token)
        elif position in beside and token.text in SEPARATORS:
            parted.unsaid.append(token)
    return parted


def _run_length(tokens: Iterable[Token]) -> int:
    """How many tokens at the front make a run; it begins and ends with no separator."""
    length = 0
    for position, token in enumerate(tokens):
        if token.kind in RUN:
            length = position + 1
        elif token.text not in SEPARATORS and not (position == 0 and token.text in (".", "!")):
            break
    return length


def _trailing(text: str, tokens: list[Token], start: int) -> range:
    """The part of the run from `start` on that is parted from the words before it."""
    end = len(tokens)
    if start == end:
        return range(0)
    before = tokens[start - 1] if start else None
    tags = 0
    for position in range(start, end):
        token = tokens[position]
        if _parted(text, before, token) or (position == start and _ends_sentence(before)):
            return range(position, end)
        if token.kind == "hashtag":
            tags += 1
            if tags == 2:
                return range(start, end)
        before = token
    return range(0)


def _leading(text: str, tokens: list[Token], end: int) -> range:
    """The part of the run up to `end` that is parted from the words after it."""
    tags = 0
    after = tokens[end] if end < len(tokens) else None
    for position in range(end - 1, -1, -1):
        token = tokens[position]
        if _parted(text, token, after) or (
            position == end - 1 and after is not None and AFTER_LEADING.match(after.text)
        ):
            return range(position + 1)
        if token.kind == "hashtag":
            tags += 1
            if tags == 2:
                return range(end)
        after = token
    return range(0)


def _parted(text: str, left: Token | None, right: Token | None) -> bool:
    if left is None or right is None:
        return True
    between = text[left.end : right.start]
    return "\n" in between or left.kind in PARTS_RUN or right.kind in PARTS_RUN


def _ends_sentence(token: Token | None) -> bool:
    return token is None or SENTENCE_END.fullmatch(token.text[-1]) is not None


def key_of(written: str) -> str:
    """What makes two hashtags the same: the letters, without case, `#` or underscores."""
    return fold(INVISIBLE.sub("", written.lstrip("#＃"))).replace("_", "")


class Forms:
    """How people write hashtags: `#COVID19`, `#BLM`, `#DCStatehood`.

    A form with capitals is kept before one without: screen readers need them, and so do eyes.
    `names` are words with a writing of their own wherever they stand (NBA, SpaceX).
    """

    def __init__(self, names: Iterable[str] = (), tags: Iterable[str] = ()):
        self.names = {fold(name): name for name in names}
        self._seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for tag in (*self.names.values(), *tags):
            self.see(tag)

    def see(self, written: str) -> None:
        """Take note of one more hashtag, as somebody wrote it."""
        self._seen[key_of(written)][written.lstrip("#＃")] += 1

    def knows(self, words: Sequence[str]) -> bool:
        """Whether a hashtag was seen written with capitals."""
        return any(form != fold(form) for form in self._seen.get("".join(words), ()))

    def write(self, words: Sequence[str], here: Iterable[str] = ()) -> str:
        """Words as a hashtag: as people write it where that is known, else in CamelCase.

        `here` are writings of this hashtag seen where it is going to be used.
        """
        seen = self._seen.get("".join(words), Counter()) + Counter(w.lstrip("#＃") for w in here)
        form = min(seen, key=lambda form: (form == fold(form), -seen[form], form), default=None)
        if form is None or (len(words) > 1 and form == fold(form)):
            form = "".join(self.names.get(word) or word[:1].upper() + word[1:] for word in words)
        return "#" + form


def shipped_forms() -> Forms:
    """Names, abbreviations and hashtags that everybody writes the same way."""
    listed = (resources.files("hashnews.text") / "data" / "forms.txt").read_text("utf-8").split()
    tags = [form for form in listed if form.startswith("#")]
    return Forms([form for form in listed if not form.startswith("#")], tags)
