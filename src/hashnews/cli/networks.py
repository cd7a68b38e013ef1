"""A post as a network counts it and people there write it: with hashtags at its end that fit.

The limits are those of the networks; how many hashtags people use there is custom.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

URL = r"https?://\S+"
# What X counts once; everything else, an emoji included, counts twice (its `weightedCharacters`).
LIGHT = r"[\u0000-\u10ff\u2000-\u200d\u2010-\u201f\u2032-\u2037]"


class PostingPlace(NamedTuple):
    """Where a post goes."""

    hashtags: int  # as many as people use there
    limit: int
    count: Callable[[str], int]


def graphemes(text: str) -> int:
    """Signs as a reader sees them."""
    import regex

    return len(regex.findall(r"\X", text))


def mastodon(text: str) -> int:
    """A link counts 23, of an account on another server only its name."""
    import regex

    text = regex.sub(URL, "x" * 23, text)
    return graphemes(regex.sub(r"(@\w+)@[\w.-]+\w", r"\1", text))


def weighted(text: str) -> int:
    """As X counts: a link 23, Latin and other alphabets 1, the rest and emoji 2."""
    import regex

    text = regex.sub(URL, "x" * 23, text)
    return sum(1 if regex.fullmatch(LIGHT, sign) else 2 for sign in regex.findall(r"\X", text))


NETWORKS = {
    "mastodon": PostingPlace(4, 500, mastodon),
    "bluesky": PostingPlace(3, 300, graphemes),
    "x": PostingPlace(2, 280, weighted),
    "threads": PostingPlace(1, 500, graphemes),
    "linkedin": PostingPlace(3, 3000, graphemes),
    "instagram": PostingPlace(5, 2200, graphemes),
}


def ready_to_post(text: str, hashtags: Sequence[str], name: str) -> str:
    """The post with as many of the hashtags at its end as fit, and without those it has."""
    network = NETWORKS[name]
    said = text.casefold()
    written, parted = text.rstrip(), "\n\n"
    for hashtag in hashtags[: network.hashtags]:
        longer = f"{written}{parted}{hashtag}"
        if hashtag.casefold() not in said and network.count(longer) <= network.limit:
            written, parted = longer, " "
    return written
