"""Names and phrases of the post and of the news, written as hashtags.

What nobody has used as a hashtag yet can only be spelled from what is being said: the names in the
post, the names in the retrieved articles, and phrases their headlines share.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

import regex

from hashnews.text.stopwords import GENERIC_WORDS, STOP_WORDS
from hashnews.text.tokens import words

Words = tuple[str, ...]
LONGEST = 3  # words of a phrase
LONGEST_NAME = 4  # words of a name
LONGEST_WHOLE = 5  # words of what a phrase is a part of
SHORTEST, LONGEST_KEY = 3, 40  # letters of a hashtag
# Capitals side by side, and the words that join them: `Bed Bath & Beyond`, `Go First`.
CAPITALS = regex.compile(r"\b(?!An? )\p{Lu}\w*+(?: (?:(?:of|of the|&) )?\p{Lu}\w*+)++")
# Where a thought ends: no hashtag reaches over it. An end of `St.` or `U.S.` is none.
BREAK = regex.compile(
    r"""(?<![,;:!?…)"”])[,;:!?…)"”]++(?=\s)|(?<=\w\p{Ll}{2})\.+(?=\s)|(?<=\s)[(“"–—|-]+|\n"""
)
LONG_WORD = regex.compile(r"\b\w{4,}")
PARTICLES = frozenset("off up on over out".split())  # that may end a name
SMALL = 0.4  # the share of small words in a headline whose capitals tell names


class NewsArticle(NamedTuple):
    """A retrieved article as far as hashtags are drawn from it; scores are of the best one."""

    id: str
    title: str
    entities: Sequence[str]
    score: float
    covered: float = 0.0  # how much of what the post says it says, too


class FromText(NamedTuple):
    """A hashtag spelled from a text: its words, and what speaks for it."""

    words: Words
    weight: float  # of the articles that say it; 1 in the post
    name: str | None  # the name it is, as it was written
    articles: tuple[str, ...] = ()


def spoken(text: str) -> list[str]:
    """The words of a text as people say them: `&` is `and`."""
    return words(text.replace(" & ", " and ")) if "&" in text else words(text)


def clauses(text: str) -> list[list[str]]:
    """The words of a text, by thoughts."""
    return [spoken(part) for part in BREAK.split(text)]


def in_post(said: Sequence[Sequence[str]], entities: Iterable[str]) -> dict[str, FromText]:
    """Names and phrases of the post itself, given by its thoughts, by key."""
    found: dict[str, FromText] = {}
    for name in entities:
        for key, parts in _name(name):
            found.setdefault(key, FromText(parts, 1.0, name))
    for key, parts in chain.from_iterable(map(phrases, said)):
        found.setdefault(key, FromText(parts, 1.0, None))
    return found


def initials(said: Sequence[str]) -> set[str]:
    """What runs of three to six words would be in short: `ppp`, `ndaa`."""
    firsts = "".join(word[0] for word in said)
    return {
        firsts[start:end]
        for start in range(len(firsts))
        for end in range(start + 3, min(len(firsts), start + 6) + 1)
    }


def in_news(articles: Sequence[NewsArticle]) -> dict[str, FromText]:
    """Names of the articles and phrases of their headlines, by key.

    weight(h) = sum of s(d)^2 over the articles d that say h / sum of s(d)^2 over all of them
    """
    total = sum(article.score**2 for article in articles) or 1.0
    found: dict[str, FromText] = {}
    for article in articles:
        share, by = article.score**2 / total, (article.id,)
        for key, parts, name in _said(article.title, tuple(article.entities)):
            known = found.get(key)
            if known is None:
                found[key] = FromText(parts, share, name, by)
            else:
                said, weight, named, told_by = known
                if named is None and name is not None:
                    said, named = parts, name
                found[key] = FromText(said, weight + share, named, told_by + by)
    return found


def spelled(parts: Words, articles: Sequence[NewsArticle]) -> FromText | None:
    """A run of words as a hashtag of the news, if it can be one and a headline says it."""
    said, total = f" {' '.join(parts)} ", sum(article.score**2 for article in articles) or 1.0
    telling = [one for one in articles if said in f" {' '.join(spoken(one.title))} "]
    if not telling:
        return None
    weight = sum(article.score**2 for article in telling) / total
    return FromText(parts, weight, None, tuple(one.id for one in telling))


@lru_cache(20_000)
def named(title: str) -> tuple[tuple[Words, str], ...]:
    """The names of several words that a headline tells by capitals, where most words are small."""
    names = CAPITALS.findall(title) if capitals_tell(title) else ()
    return tuple((words_of_name(name), name) for name in names)


def capitals_tell(text: str) -> bool:
    """Whether enough words are small, so that capitals say what is a name."""
    long = LONG_WORD.findall(text)
    return bool(sum(word[0].islower() for word in long) >= SMALL * len(long))


@lru_cache(20_000)
def _said(title: str, entities: tuple[str, ...]) -> list[tuple[str, Words, str | None]]:
    """The hashtags one article spells: its names, then other phrases of its headline."""
    found: dict[str, tuple[Words, str | None]] = {}
    for name in entities:
        for key, parts in _name(name):
            found.setdefault(key, (parts, name))
    for key, parts in chain.from_iterable(map(phrases, clauses(title))):
        found.setdefault(key, (parts, None))
    return [(key, parts, name) for key, (parts, name) in found.items()]


@lru_cache(100_000)
def words_of_name(name: str) -> Words:
    """The words of a name: names come again and again."""
    return tuple(spoken(name))


@lru_cache(100_000)
def _name(name: str) -> list[tuple[str, Words]]:
    """A name as a hashtag, if it can be one."""
    parts = words_of_name(name)
    first = parts[:-1] if len(parts) > 1 and parts[-1] in PARTICLES else parts  # Bake Off
    return [("".join(parts), parts)] if fits(first, LONGEST_NAME) else []


def keys_of(article: NewsArticle) -> list[str]:
    """The keys of an article's names, one per mention."""
    return [key for name in article.entities for key, _ in _name(name)]


def phrases(said: Sequence[str]) -> list[tuple[str, Words]]:
    """All runs of one to three words that neither begin nor end with a word that says nothing."""
    found = []
    telling = [word not in EMPTY for word in said]
    for start in range(len(said)):
        if telling[start]:
            for end in range(start + 1, min(len(said), start + LONGEST) + 1):
                parts = tuple(said[start:end])
                if telling[end - 1] and fits(parts, LONGEST):
                    found.append(("".join(parts), parts))
    return found


def fits(parts: Words, most: int) -> bool:
    """Whether words can be a hashtag: a letter in it, not too short, no empty words at its ends."""
    key = "".join(parts)
    return (
        0 < len(parts) <= most
        and SHORTEST <= len(key) <= LONGEST_KEY
        and not key.isdecimal()
        and parts[0] not in EMPTY
        and parts[-1] not in EMPTY
        and all(one != other for one, other in pairwise(parts))  # no #NikeNike
    )


EMPTY = STOP_WORDS | GENERIC_WORDS
