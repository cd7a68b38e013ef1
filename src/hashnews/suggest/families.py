"""Families of hashtags: of those that say the same, one is shown and the others are its variants.

#Flood, #Floods and #Flooding are one family, so are #Tyson and #CicelyTyson where that is the name,
#Rainbow and #RainbowBridge where the post says no other rainbow (but a name stands on its own),
#SuperBowl and #SuperBowlLVI, #Bear and #TheBear, #NewZealand and #Zealand, which nobody uses, #UAE
and #UnitedArabEmirates, runs of words nobody uses that share two of them, #ParishCouncilMeeting and
#HandforthParishCouncil, and topics that mean the same, #Grandma and #Grandmother. #Mars and
#MarsRover are two.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import regex

from hashnews.porter import stem
from hashnews.suggest.query import Query

Words = tuple[str, ...]
ACCENT = regex.compile(r"\p{Mn}")
SHARED = 2  # words of two runs that nobody uses
YEAR = regex.compile(r"(19|20)?\d\d|[ivxl]{2,}")  # 2022, 22, lvi


@lru_cache(20_000)
def stems(words: Words) -> Words:
    """Words as they are compared: stemmed, no accents, no year at the end, no article before."""
    if len(words) > 1 and YEAR.fullmatch(words[-1]):
        words = words[:-1]
    if len(words) > 1 and words[0] == "the":
        words = words[1:]
    return tuple(stem(ACCENT.sub("", unicodedata.normalize("NFKD", word))) for word in words)


def are_family(query: Query, one: Words, other: Words) -> bool:
    """Whether two hashtags say the same of a post."""
    first, second = stems(one), stems(other)
    if "".join(first) == "".join(second):
        return True
    if query.lexicon.are_alike("".join(one), "".join(other)):
        return True
    if are_initials(one, other) or are_initials(other, one):
        return True
    new = query.entry("".join(one)) is None and query.entry("".join(other)) is None
    if new and len(set(one) & set(other)) >= SHARED:
        return True
    shorter, longer = sorted((first, second), key=len)
    whole, part = (one, other) if longer == first else (other, one)
    if not _within(shorter, longer):
        return False
    if query.entry("".join(part)) is None:
        return True
    return query.is_name(whole) or (query.is_within(part) and not query.is_name(part))


def are_initials(one: Words, other: Words) -> bool:
    """Whether one word is made of the first letters of some others."""
    return len(one) == 1 < len(other) and one[0] == "".join(word[0] for word in other)


def _within(shorter: Words, longer: Words) -> bool:
    """Whether words stand side by side among others."""
    size = len(shorter)
    return any(longer[at : at + size] == shorter for at in range(len(longer) - size + 1))
