"""The words of a post as an archive has them: HTML undone, hashtags kept beside the text added."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from hashnews.errors import DataError
from hashnews.records import Post
from hashnews.text.hashtags import find_hashtags, key_of

LONGEST = 100_000  # characters; no network takes longer posts
LONGEST_NAME = 1000
QUOTED = '<p class="quote-inline">'
# Every expression is linear: none gives back more than up to the next `<`.
LINE = re.compile(r"<br\b[^<>]*>|</(?:li|div|blockquote|pre|h[1-6]|tr)>", re.IGNORECASE)
PARAGRAPH = re.compile(r"</p>\s*(?=<p[\s>])", re.IGNORECASE)
TAG = re.compile(r"</?[A-Za-z!][^<>]*>")
IN_TEXT = re.compile(r"[#＃](\w+)")


class Written(NamedTuple):
    """A post as an archive has it."""

    id: str
    text: str
    created_at: Any  # as `records.parse_time` takes it
    user: str | None = None
    tags: tuple[str, ...] = ()  # beside the text, or in it

    def as_post(self, user: str | None) -> Post | None:
        """As a record, by `user` where it does not say by whom; None where it says nothing."""
        said = with_hashtags(whole(self.text), [whole(tag) for tag in self.tags])
        if not said.strip():
            return None
        if len(said) > LONGEST or len(self.id) > LONGEST_NAME:
            raise DataError(f"a post of more than {LONGEST:,} characters, or with a huge id")
        if self.created_at is None:
            raise DataError("a post without a time")
        name = whole(self.user or user or "")[:LONGEST_NAME].strip()
        return Post(
            id=whole(self.id), text=said, created_at=self.created_at, user=name or None
        )  # fmt: skip


def whole(text: str) -> str:
    """The text without halves of characters, which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def html_text(markup: str) -> str:
    """The words of a post in HTML: lines kept, tags out, hashtags and addresses whole.

    A quotation's address, which Mastodon puts before the text, is left out.
    """
    if "<" not in markup:
        return html.unescape(markup)
    if markup.startswith(QUOTED):
        markup = markup.partition("</p>")[2]
    lines = LINE.sub("\n", PARAGRAPH.sub("\n\n", markup))
    return html.unescape(TAG.sub("", lines)).strip()


def with_hashtags(text: str, tags: Iterable[str]) -> str:
    """The text with the hashtags it does not hold behind it, on a line of their own."""
    listed = list(dict.fromkeys(tags))
    if not listed:
        return text
    there = IN_TEXT.findall(text)
    if {tag.lstrip("#＃").lower() for tag in listed} <= {tag.lower() for tag in there}:
        return text  # nearly always
    known = {key_of(tag) for tag in there}
    added = dict[str, str]()
    for tag in listed:
        if key_of(tag) not in known and (written := as_hashtag(tag)):
            added.setdefault(key_of(written), written)
    fresh = [written for key, written in added.items() if key not in known]
    return f"{text}\n{' '.join(fresh)}" if fresh else text


def as_hashtag(tag: str) -> str | None:
    """A tag as a hashtag: `san francisco` is #SanFrancisco; None where it cannot be one."""
    words = tag.lstrip("#＃").split()
    name = words[0] if len(words) == 1 else "".join(word[:1].upper() + word[1:] for word in words)
    found = find_hashtags(f"#{name}")
    return found[0].text if found and found[0].text == f"#{name}" else None


def text_in(value: Any) -> str:
    """A text of JSON; anything else is none."""
    return value if isinstance(value, str) else ""


def dict_in(value: Any) -> dict[str, Any]:
    """An object of JSON; anything else is empty."""
    return value if isinstance(value, dict) else {}


def list_in(value: Any) -> list[Any]:
    """A list of JSON; anything else is empty."""
    return value if isinstance(value, list) else []
