"""Whether words stand by themselves in texts, or only as a part of something longer.

    before(p) = max over words w of (times w stands before p) / (times the texts say p)
    after(p)  = the same behind it

A hashtag's words meet many neighbours: "malaria vaccine" is said before *gets*, *in* and *could*.
`Republic Bank` always has *First* before it, so it is a part; `Bezos steps` always has *down* after
it. (Accessor variety: Harris 1955, Feng et al. 2004.) Words like *the* and ends of a text are no
neighbours: they stand before and after anything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

Words = tuple[str, ...]
LITTLE = frozenset(
    """
    a after amid an and are as at because before but by during for from had has have he her his how
    if in into is it its may on or over says she since so that the their they this to was we were
    what when where which who why will with you
    """.split()
)
EDGE = ""
SEVERAL, TEXTS = 3, 2  # times and texts that say what stands though the post does not say it
FREE = 0.5  # the share of one neighbour up to which words stand by themselves
PART, ENOUGH = 0.9, 3  # the share that makes them a part, and how often they must be said for it
LONGEST = 5  # words of something whole


class Standing(NamedTuple):
    """How often texts say words, how many of them do, and the shares of their neighbours."""

    said: int
    texts: int
    before: float
    after: float

    @property
    def is_free(self) -> bool:
        """Whether no neighbour stands beside most of them."""
        return max(self.before, self.after) <= FREE

    @property
    def is_usual(self) -> bool:
        """Whether texts say them often and freely, so that they are a thing people speak of."""
        return self.said >= SEVERAL and self.texts >= TEXTS and self.is_free

    @property
    def is_part(self) -> bool:
        """Whether they hardly ever stand without one and the same neighbour."""
        return self.said >= ENOUGH and max(self.before, self.after) >= PART


class Concordance:
    """Where each word stands in some texts."""

    def __init__(self, texts: Iterable[Iterable[str]]):
        self._words: list[str] = [EDGE]
        self._text: list[int] = [-1]  # which text each word is of
        for number, text in enumerate(texts):
            self._words += [*text, EDGE]
            self._text += [number] * (len(self._words) - len(self._text))
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for at, word in enumerate(self._words):
            self._places[word].append(at)
        self._known: dict[Words, Standing] = {}

    def standing(self, parts: Words) -> Standing:
        """How some words stand in the texts."""
        known = self._known.get(parts)
        if known is None:
            before, after, texts = self._neighbours(parts)
            said = before.total()
            known = self._known[parts] = Standing(said, texts, _most(before), _most(after))
        return known

    def whole(self, parts: Words) -> Words:
        """What some words are a part of: them and the neighbours that they hardly stand without."""
        while len(parts) <= LONGEST:
            before, after, _ = self._neighbours(parts)
            said = before.total()
            if said < ENOUGH:
                break
            if _most(before) >= PART:
                parts = (_first(before), *parts)
            elif _most(after) >= PART:
                parts = (*parts, _first(after))
            else:
                break
        return parts

    def _neighbours(self, parts: Words) -> tuple[Counter[str], Counter[str], int]:
        """What stands before and after some words, and how many texts say them."""
        before, after, texts, size = Counter[str](), Counter[str](), set[int](), len(parts)
        rarest = min(range(size), key=lambda at: len(self._places.get(parts[at], ())))
        for at in self._places.get(parts[rarest], ()):
            start = at - rarest
            if start > 0 and tuple(self._words[start : start + size]) == parts:
                before[self._words[start - 1]] += 1
                after[self._words[start + size]] += 1
                texts.add(self._text[start])
        return before, after, len(texts)


def _most(neighbours: Counter[str]) -> float:
    """The share of the commonest neighbour."""
    most = max((n for word, n in neighbours.items() if _tells(word)), default=0)
    return most / max(1, neighbours.total())


def _first(neighbours: Counter[str]) -> str:
    """The commonest neighbour."""
    return max((word for word in neighbours if _tells(word)), key=neighbours.__getitem__)


def _tells(word: str) -> bool:
    """Whether a word counts as a neighbour."""
    return word != EDGE and word not in LITTLE
