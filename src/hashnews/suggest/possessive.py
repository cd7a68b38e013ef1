"""Names that end in 's, and those of which it is no part: #McDonalds, but #Biden of Biden's speech.

A hashtag keeps the s of w's, or of w's v, where

    (times texts say w's) / (times they say w) >= MOSTLY         McDonald's, Sainsbury's
    (times texts say w's v) / (times they say v) >= MOSTLY       Schitt's Creek, The Queen's Gambit
    the lexicon has the hashtag with it, and none without        Mother's Day, Parkinson's
    the post writes v with a capital that it usually lacks       Clarkson's Farm

The texts are the post and its articles; w is said SEVERAL times, or none of them counts. After a
name that nobody knows any capital will do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Self

import regex

from hashnews.suggest.from_text import capitals_tell
from hashnews.text.entities import Truecase
from hashnews.text.stopwords import STOP_WORDS
from hashnews.text.tokens import words

OWNER = regex.compile(r"\b(\p{L}{2,})['’]s\b(?=\s+(\p{L}+)|)", regex.IGNORECASE)
WORD = regex.compile(r"\p{L}+")
MOSTLY, SEVERAL = 0.8, 4
# A title has capitals: `Schitt's Creek`, `RuPaul's Drag Race`.
TITLE = regex.compile(r"\b(\p{Lu}\w+)['’]s\s+(\p{Lu}\p{Ll}+)\b(?:\s+\p{Lu}\p{Ll}+\b){0,2}+")
SEEN, USUALLY = 4, 0.5  # how often running text has a word, and the share with a capital
STRANGE = 100  # times that running text has a name that few know
FAMOUS = 10  # people who use a hashtag: then it is known by itself
BEFORE, AFTER = 2, 3  # words of a hashtag that the lexicon may have, before w's and behind it
NEAR = 60  # letters that hold those words
MOST = 50  # of w's in a text that are looked at


class Possessives(NamedTuple):
    """The names whose s belongs to them, and pairs of which the first has one: in small letters."""

    names: frozenset[str] = frozenset()
    pairs: frozenset[tuple[str, str]] = frozenset()
    titles: tuple[str, ...] = ()  # of the post, as it writes them, with their s

    @classmethod
    def of(
        cls,
        said: Sequence[str],
        texts: Iterable[str],
        people: Callable[[Sequence[str]], int],
        usual: Truecase | None = None,
    ) -> Self:
        """What is told by a post and headlines, by longer texts, and by who uses a hashtag.

        `usual` says which words running text writes with a capital.
        """
        owners = {owner for text in said for owner in _owners(text)}
        if not owners:
            return cls()
        times, owned, pairs = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
        for text in {*said, *texts}:
            times.update(word.lower() for word in WORD.findall(text))
            found = _owners(text)
            owned.update(owner for owner, _ in found)
            pairs.update(found)
        bound = {
            pair for pair in owners
            if pairs[pair] >= SEVERAL and pairs[pair] >= MOSTLY * times[pair[1]]
        }  # fmt: skip
        for pair in bound:  # what it says tells nothing else of w
            times[pair[0]] -= pairs[pair]
            owned[pair[0]] -= pairs[pair]
        names = {
            owner for owner, _ in owners
            if owned[owner] >= SEVERAL and owned[owner] >= MOSTLY * times[owner]
        }  # fmt: skip
        known = [pair for text in said[:1] for pair in _in_lexicon(text, people)]
        titled = dict(_titled(said[0], usual, people)) if usual is not None else {}
        parts = bound | {pair for pair in known if pair[1]} | {*titled.values()}
        names |= {owner for owner, after in known if not after}
        return cls(frozenset(names), frozenset(parts), tuple(titled))

    def kept(self, text: str) -> str:
        """A text in which the s of such names is a part of them."""
        if not self.names and not self.pairs:
            return text
        return str(OWNER.sub(self._kept, text))

    def kept_name(self, name: str) -> str:
        """A name as it was found, which may lack its s."""
        return f"{name}s" if name.lower() in self.names else self.kept(name)

    def is_part(self, name: str) -> bool:
        """Whether a name as it was found is only a part of w's v."""
        small = name.lower()
        return small not in self.names and any(small == owner for owner, _ in self.pairs)

    def _kept(self, found: regex.Match[str]) -> str:
        owner, after = found[1].lower(), (found[2] or "").lower()
        if owner not in self.names and (owner, after) not in self.pairs:
            return str(found[0])
        return f"{found[1]}s"


def _owners(text: str) -> list[tuple[str, str]]:
    """Each w's of a text, with the word behind it."""
    if "'s" not in text and "’s" not in text:
        return []
    pairs = ((owner.lower(), after.lower()) for owner, after in OWNER.findall(text))
    return [pair for pair in pairs if pair[0] not in STOP_WORDS]


def _titled(
    text: str, usual: Truecase, people: Callable[[Sequence[str]], int]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each W's V of a post that is a title: V lacks its capital elsewhere, or few know W.

    The title as a whole, with its s, then w and v.
    """
    for found in islice(TITLE.finditer(text), MOST) if capitals_tell(TITLE.sub(" ", text)) else ():
        owner, after = found[1].lower(), found[2].lower()
        often, seen = usual.seen.get(after, 0.0), usual.seen.get(owner, 0.0)
        is_raised = often >= SEEN and usual.capital.get(after, 0.0) < USUALLY * often
        is_strange = seen < STRANGE and people([after]) < FAMOUS
        if (is_raised or is_strange) and owner not in STOP_WORDS:
            yield OWNER.sub(r"\1s", found[0]), (owner, after)


def _in_lexicon(text: str, people: Callable[[Sequence[str]], int]) -> Iterator[tuple[str, str]]:
    """Each w's of a post that is a hashtag only with its s, alone or with words around it."""
    for found in islice(OWNER.finditer(text), MOST):
        owner, after = found[1].lower(), (found[2] or "").lower()
        if owner in STOP_WORDS:
            continue
        if people([f"{owner}s"]) and not people([owner]):
            yield owner, ""
        start, end = found.span()
        first = words(text[max(0, start - NEAR) : start])[-BEFORE:]
        last = words(text[end : end + NEAR])[:AFTER]
        runs = (
            (first[start:], last[:end])
            for start in range(len(first) + 1)
            for end in range(len(last) + 1)
            if end or start < len(first)
        )
        for front, back in runs:
            whole = people([*front, f"{owner}s", *back])
            if whole > people([*front, owner, *back]):
                yield owner, after
