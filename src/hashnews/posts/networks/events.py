"""What a source tells: posts written and removed, authors gone, and the cursor after them."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple

from hashnews.errors import DataError
from hashnews.text.hashtags import find_hashtags, key_of

ID = re.compile(r"[A-Za-z0-9._~:-]{1,200}")
LONGEST_TEXT = 30_000  # characters of one post, markup included; most networks allow 500
Places = Callable[[str, str], list[str]]  # what is stored of a source, between two places
NO_BOTS = re.compile(r"#\W{0,4}no(?:bot|index)\b", re.IGNORECASE)  # in what somebody says of itself


class Wrote(NamedTuple):
    """A post was written or changed."""

    uri: str  # its name in the whole network
    place: str  # its id at this source, in the order of ids; "": the id it gets here will do
    author: str  # ann@mastodon.social, or a DID
    text: str
    created_at: str


class Removed(NamedTuple):
    """A post is no more: its uri is known, or its place at this source."""

    uri: str = ""
    place: str = ""


class AuthorGone(NamedTuple):
    """An account is no more, or asks to be left out: none of its posts stays."""

    author: str


class Arrival(NamedTuple):
    """What came at once, and where to resume once it is stored."""

    events: tuple[Wrote | Removed | AuthorGone, ...] = ()
    cursor: str | None = None
    note: str = ""  # something went wrong, and following goes on
    refused: int = 0  # what could not be read
    latest: int = 0  # when the newest of it happened: microseconds since 1970
    again: bool = False  # it came before: what is refused of it was counted


@dataclass(frozen=True)
class FollowSettings:
    """How to follow."""

    languages: frozenset[str] = frozenset()
    """Only posts that say they are in one of these (en, de); empty: all."""
    hashtags: frozenset[str] = frozenset()
    """Only posts with one of these, by their letters; empty: with any."""
    accounts: dict[str, str] = field(default_factory=dict)
    """One's own accounts, each with the name its posts are stored under; DIDs are added to them."""
    tokens: dict[str, str] = field(default_factory=dict)
    """Access tokens by host."""
    keep: timedelta = timedelta(days=90)
    most: int = 1_000_000
    every: float = 60.0
    """Seconds between two looks at a source that cannot stream."""
    pause: float = 1.0
    """Seconds between two requests to one server."""
    first_wait: float = 1.0
    longest_wait: float = 300.0
    """Seconds to wait after a failure: after the first, and at most."""
    allow_private: bool = False

    def kept(self) -> dict[str, Any]:
        """What is kept in the store with a source; accounts are kept apart, tokens never."""
        return {
            "languages": sorted(self.languages), "hashtags": sorted(self.hashtags),
            "keep": self.keep.total_seconds(), "most": self.most, "every": self.every,
        }  # fmt: skip

    def wants(self, text: str, languages: Collection[str]) -> bool:
        """Whether a post is of use: it has a hashtag, and is in a language that was asked for."""
        if not ("#" in text or "＃" in text):
            return False
        if self.languages and not self.languages.intersection(
            language.partition("-")[0].lower() for language in languages
        ):
            return False
        keys = {key_of(tag.text) for tag in find_hashtags(text)}
        return bool(keys & self.hashtags if self.hashtags else keys)


def place_of(identifier: object) -> str:
    """An id so that texts sort as ids do: a longer one is later."""
    is_id = isinstance(identifier, str | int) and not isinstance(identifier, bool)
    text = str(identifier) if is_id else ""
    if not ID.fullmatch(text):
        raise DataError(f"{identifier!r:.40} is not the id of a post")
    return f"{len(text):03d}{text}"


def id_at(place: str) -> str:
    """The id again."""
    return place[3:]


def pauses(stop: threading.Event, seconds: float) -> Iterator[Arrival]:
    """Signs of life for so long, or until somebody says stop."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not stop.wait(min(left, 0.5)):
        yield Arrival()
