"""Named entities: what an `EntityFinder` is, and the fast one that needs no model.

The fast finder reads capital letters against truecase counts: how often a word stands with a
capital inside sentences. A capital that the writing explains (a sentence start, a Title, ALL
CAPS) is weak evidence, any other is strong; and a word that is nearly always capitalised is a name
even where a hurried author wrote it small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module, resources
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import numpy as np

from hashnews.errors import ConfigError
from hashnews.plugins import load_plugin, plugin_names
from hashnews.records import Entity
from hashnews.text.segment import packed, unpacked
from hashnews.text.tokens import Token, tokenise


class EntityFinder(Protocol):
    """Whatever finds the named entities of texts."""

    @property
    def name(self) -> str:
        """What it is called in commands and in a store's records."""

    def find(self, text: str) -> list[Entity]:
        """The entities of one text, in order, not overlapping."""

    def find_all(self, texts: Sequence[str]) -> list[list[Entity]]:
        """The entities of many texts; a model does them in batches."""


# Written with a capital, yet no name by themselves.
NOT_NAMES = frozenset(
    """i i'm i've i'd i'll im ive ok mr mrs ms dr rt via amp icymi
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december jan feb mar apr jun jul aug sep sept oct nov
    dec""".split()
)
LINKS = frozenset("of de la del der den van von al el bin ibn da dos di du le".split())
LONGEST_NAME = 16  # words and signs: a longer run of capitals is shouting, or meant to harm
SENTENCE_STARTS = frozenset('.!?:…"“”•|–—-*>([')


class Thresholds(NamedTuple):
    """Shares of capitals a word must have to be a name; `benchmarks/entities.py` shows them."""

    inside: float = 0.2  # with a capital inside a sentence
    weak: float = 0.5  # with a capital that the writing explains
    small: float = 0.97  # in small letters
    sightings: float = 20.0  # how often a word must have been seen for its share to count


class Truecase:
    """How often each word was seen inside sentences, and with a capital."""

    def __init__(self, seen: dict[str, float], capital: dict[str, float]):
        self.seen = seen
        self.capital = capital

    @classmethod
    def of(cls, texts: Iterable[str], rarest: int = 3) -> Self:
        """Count over running text; capitals at a sentence start or in a headline say nothing."""
        seen: Counter[str] = Counter()
        capital: Counter[str] = Counter()
        for text in texts:
            tokens = tokenise(text)
            if _is_headline(tokens):
                continue
            for token, starts in zip(tokens, _sentence_starts(text, tokens), strict=True):
                if token.kind == "word" and not starts:
                    word = _key(token.text)
                    seen[word] += 1
                    capital[word] += token.text[0].isupper()
        kept = {word: float(n) for word, n in seen.items() if n >= rarest}
        return cls(kept, {word: float(capital[word]) for word in kept})

    def joined(self, other: Truecase) -> Truecase:
        """Both counts together."""
        seen, capital = dict(self.seen), dict(self.capital)
        for word, n in other.seen.items():
            seen[word] = seen.get(word, 0.0) + n
            capital[word] = capital.get(word, 0.0) + other.capital[word]
        return Truecase(seen, capital)

    def save(self, path: Path) -> None:
        """Write the counts as one compressed file of arrays."""
        words = sorted(self.seen)
        np.savez_compressed(
            path,
            words=packed(words),
            seen=np.array([self.seen[word] for word in words], np.float32),
            capital=np.array([self.capital[word] for word in words], np.float32),
        )

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            words = unpacked(arrays["words"])
            seen, capital = arrays["seen"].tolist(), arrays["capital"].tolist()
        return cls(dict(zip(words, seen, strict=True)), dict(zip(words, capital, strict=True)))


class FastFinder:
    """Runs of words whose capitals the truecase counts cannot explain away."""

    name = "fast"

    def __init__(self, truecase: Truecase, thresholds: Thresholds | None = None):
        self.truecase = truecase
        self.thresholds = thresholds or Thresholds()

    def learn(self, texts: Iterable[str]) -> FastFinder:
        """A finder that also knows how these texts write their words."""
        return FastFinder(self.truecase.joined(Truecase.of(texts)), self.thresholds)

    def find(self, text: str) -> list[Entity]:
        """The entities of one text, in order, not overlapping."""
        tokens = tokenise(text)
        named = self._named(text, tokens)
        runs = _runs(text, tokens, named)
        return [_entity(tokens[at : end + 1]) for at, end in runs if end - at < LONGEST_NAME]

    def find_all(self, texts: Sequence[str]) -> list[list[Entity]]:
        """The entities of many texts."""
        return [self.find(text) for text in texts]

    def _named(self, text: str, tokens: list[Token]) -> list[bool]:
        """Which tokens are (part of) a name."""
        seen, capital = self.truecase.seen, self.truecase.capital
        inside, weak, small, sightings = self.thresholds
        headline = _is_headline(tokens)
        named = []
        for at, (token, starts) in enumerate(
            zip(tokens, _sentence_starts(text, tokens), strict=True)
        ):
            written = token.text
            if token.kind != "word" or len(written) < 2 or (word := _key(written)) in NOT_NAMES:
                named.append(False)
                continue
            n = seen.get(word, 0.0)
            share = capital[word] / n if n else 1.0
            if not written[0].isupper():
                named.append(len(word) > 2 and n >= sightings and share >= small)
            elif headline or not starts:
                named.append(share >= (weak if headline else inside))
            else:
                # A word never seen before that begins a sentence is as often `Lol` as a name;
                # a second capital decides.
                followed = at + 1 < len(tokens) and tokens[at + 1].text[0].isupper()
                named.append(share >= weak if n else followed)
        return named


def _key(written: str) -> str:
    lower = written.lower()
    return lower[:-2] if lower.endswith(("'s", "’s")) else lower


def _is_headline(tokens: list[Token]) -> bool:
    """Whether capitals are the rule here: a title, or somebody shouting."""
    firsts = [token.text[0] for token in tokens if token.kind == "word"]
    return len(firsts) >= 4 and sum(map(str.isupper, firsts)) > 0.7 * len(firsts)


def _sentence_starts(text: str, tokens: list[Token]) -> Iterator[bool]:
    """For each token whether it begins a sentence, a quotation or a line."""
    start, end = True, 0
    for token in tokens:
        if token.kind == "mark":
            start = start or token.text[-1] in SENTENCE_STARTS
            yield False
        elif token.kind in ("url", "emoji", "mention", "hashtag"):
            start = True
            yield False
        else:
            yield start or "\n" in text[end : token.start]
            start = False
        end = token.end


def _runs(text: str, tokens: list[Token], named: list[bool]) -> Iterator[tuple[int, int]]:
    """First and last token of each name: Bank of America, George W. Bush, COVID-19."""
    position, size = 0, len(tokens)
    while position < size:
        if not named[position]:
            position += 1
            continue
        last = position
        while (after := _continued(text, tokens, named, last)) is not None:
            last = after
        yield position, last
        position = last + 1


def _continued(text: str, tokens: list[Token], named: list[bool], last: int) -> int | None:
    """The next token of the same name, past a link or the point of an initial."""
    if tokens[last].text.endswith(("'s", "’s")):
        return None
    for after in range(last + 1, min(last + 4, len(tokens))):
        before, token = tokens[after - 1], tokens[after]
        if text[before.end : token.start] not in ("", " "):
            return None
        if named[after]:
            return after
        is_link = token.text in LINKS and after == last + 1
        is_initial = len(token.text) == 1 and token.text.isupper()
        is_point = token.text == "." and len(before.text) == 1
        if not (is_link or is_initial or is_point):
            return None
    return None


def _entity(tokens: list[Token]) -> Entity:
    text = "".join(
        token.text if at == 0 else " " * (token.start > tokens[at - 1].end) + token.text
        for at, token in enumerate(tokens)
    )
    if text.endswith(("'s", "’s")):
        text = text[:-2]
    return Entity(text, tokens[0].start, tokens[0].start + len(text))


@lru_cache(1)
def shipped_finder() -> FastFinder:
    """The fast finder with the counts that come with the package."""
    with resources.as_file(resources.files("hashnews.text") / "data" / "truecase.npz") as path:
        return FastFinder(Truecase.load(path))


# By name: where each is made. Only the one that is asked for is imported.
FINDERS = {
    "fast": "hashnews.text.entities:shipped_finder",
    "tagger": "hashnews.tagger.finder:shipped_tagger",
}


def finder_names() -> tuple[str, ...]:
    """The entity finders there are: those that ship, and those of plug-ins."""
    return (*FINDERS, *(name for name in plugin_names("finders") if name not in FINDERS))


def load_finder(name: str) -> EntityFinder:
    """The entity finder of that name, as it ships or from a plug-in."""
    finder: EntityFinder
    if name in FINDERS:
        module, maker = FINDERS[name].split(":")
        finder = getattr(import_module(module), maker)()
    elif name in finder_names():
        finder = load_plugin("finders", name)
        if finder.name != name:  # stores keep it, and look for it by this name
            raise ConfigError(f"the finder of the plug-in {name!r} calls itself {finder.name!r}")
    else:
        raise ConfigError(f"there is no entity finder {name!r}: take {' or '.join(finder_names())}")
    return finder
