"""Candidates for a post and what speaks for each: one row a hashtag, one column a feature."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array
from hashnews.generate.batch import Example
from hashnews.generate.generator import Generated, Generator
from hashnews.suggest.emoji import emoji_words
from hashnews.suggest.evidence import Evidence, Look, Scratch
from hashnews.suggest.memory import Memory, View
from hashnews.suggest.prior import NOTHING, Prior
from hashnews.suggest.query import Popularity, PostWithNews, Query, unknown
from hashnews.suggest.sources import FEATURES, PLACE, RANKED, SOURCES, optional_sources
from hashnews.suggest.sources.base import Proposal
from hashnews.text.meaning import Vectors

EMPTY: Array = np.zeros((0, len(FEATURES)), np.float32)
NO_VECTORS: Vectors = np.zeros((0, 1), np.float32)


class Candidates(NamedTuple):
    """Hashtags for a post: keys, words, numbers in the memory (-1: none), and what is known."""

    keys: list[str]
    words: list[tuple[str, ...]]
    tags: Array
    evidence: Evidence
    features: Array = EMPTY
    extra: int = 0  # the last so many were brought by optional sources alone
    vectors: Vectors = NO_VECTORS  # the meaning of each

    def feature(self, name: str) -> Array:
        """One feature of all candidates."""
        column: Array = self.features[:, PLACE[name]]
        return column

    def ordinary(self) -> Candidates:
        """The candidates without those that optional sources alone brought."""
        size = len(self.keys) - self.extra
        evidence = self.evidence.of(range(size))
        return Candidates(
            self.keys[:size],
            self.words[:size],
            self.tags[:size],
            evidence,
            vectors=self.vectors[:size],
        )


def find(
    query: Query,
    memory: Memory,
    scratch: Scratch,
    never: Collection[str] = (),
    until: int | None = None,
    also: Iterable[tuple[str, ...]] = (),
) -> Candidates:
    """All candidates for a post; `never` are keys left out, `until` closes the memory earlier.

    `also` are hashtags that are judged, too, whoever brings them.
    """
    view = View(memory, query.moment, query.user, until)
    proposed = [proposal for source in SOURCES for proposal in source.propose(query)]
    proposed += [Proposal(words) for words in also]
    proposed.sort(key=lambda proposal: not proposal.only_known)
    look = Look(view, scratch, query.body)
    kept = {memory.tags.names[tag]: (tag, memory.words[tag]) for tag in look.best().tolist()}
    _keep(kept, proposed, view)
    unwanted = {"", *query.given, *never}
    ordinary = len(kept.keys() - unwanted)
    _keep(kept, [one for source in optional_sources() for one in source.propose(query)], view)
    for key in unwanted:
        kept.pop(key, None)
    tags = np.array([tag for tag, _ in kept.values()], np.int64)
    words = [parts for _, parts in kept.values()]
    extra = len(kept) - ordinary
    return Candidates(list(kept), words, tags, look.evidence(tags), extra=extra)


def _keep(
    kept: dict[str, tuple[int, tuple[str, ...]]], proposed: Sequence[Proposal], view: View
) -> None:
    """Add what is proposed and new: its number in the memory, -1 if it has none, and its words."""
    if not proposed:
        return
    memory = view.memory
    keys = [proposal.key for proposal in proposed]
    numbers = np.array([memory.tags.get(key, -1) for key in keys], np.int64)
    known = view.is_known(numbers).tolist()
    for proposal, key, number, used in zip(proposed, keys, numbers.tolist(), known, strict=True):
        if used:
            kept.setdefault(key, (number, memory.words[number]))
        elif not proposal.only_known:
            kept.setdefault(key, (-1, proposal.words))


def with_features(query: Query, found: Candidates) -> Candidates:
    """Candidates with the columns of all sources.

    Some columns compare a candidate with the others. What optional sources bring is compared with
    all, but changes nothing for those that are there without them.
    """
    found = found._replace(vectors=query.vectors_of(found.words))
    table = _columns(query, found)
    if found.extra:
        table[: -found.extra] = _columns(query, found.ordinary())
    return found._replace(features=table)


def _columns(query: Query, found: Candidates) -> Array:
    table = np.zeros((len(found.keys), len(FEATURES)), np.float32)
    if found.keys:
        at = 0
        for source in SOURCES:
            table[:, at : at + len(source.columns)] = source.features(query, found)
            at += len(source.columns)
        ranked = table[:, [PLACE[name] for name in RANKED]]
        table[:, at : at + len(RANKED)] = ranks(ranked)
        at += len(RANKED)
        best = np.maximum(1e-9, ranked.max(axis=0))
        table[:, at : at + len(RANKED)] = ranked / best
    return table


def ranks(columns: Array) -> Array:
    """The rank of each value in its column, the highest 0, equal ones alike; nothing ranks last."""
    order = np.sort(-columns, axis=0)
    ranked = np.empty_like(columns)
    for at in range(columns.shape[1]):
        ranked[:, at] = np.searchsorted(order[:, at], -columns[:, at])
    ranked[columns <= 0] = len(columns)
    return ranked


class Search:
    """The way from posts with their news to candidates; teaching and serving go it alike."""

    def __init__(
        self,
        memory: Memory,
        generator: Generator | None = None,
        prior: Prior = NOTHING,
        beams: int = 10,
        popularity: Popularity = unknown,
    ):
        self.memory, self._scratch = memory, Scratch(memory)
        self._generator, self._prior, self._beams = generator, prior, beams
        self._popularity = popularity

    def candidates(
        self,
        posts: Sequence[PostWithNews],
        never: Sequence[Collection[str]] | None = None,
        until: Sequence[int | None] | None = None,
        also: Sequence[Iterable[tuple[str, ...]]] | None = None,
    ) -> list[tuple[Query, Candidates]]:
        """The candidates of posts; the generator reads the posts together.

        For each post: keys that are left out, when the memory is closed, if earlier, and hashtags
        that are judged besides.
        """
        asked = [
            Query(read, self._prior, beams, self._popularity, vector)
            for read, beams, vector in zip(
                posts, self.written(posts, self._beams), self.vectors(posts), strict=True
            )
        ]
        unwanted, closed = never or [()] * len(posts), until or [None] * len(posts)
        found = [
            find(query, self.memory, self._scratch, without, end, more)
            for query, without, end, more in zip(
                asked, unwanted, closed, also or [()] * len(posts), strict=True
            )
        ]
        return [(query, with_features(query, one)) for query, one in zip(asked, found, strict=True)]

    def vectors(self, posts: Sequence[PostWithNews]) -> Sequence[Vectors | None]:
        """The meaning of each post, where it can be told."""
        meaning = self._prior.meaning
        if meaning is None:
            return [None] * len(posts)
        bodies = (read.post.body for read in posts)
        return list(meaning.of_posts([" ".join([body, *emoji_words(body)]) for body in bodies]))

    def written(self, posts: Sequence[PostWithNews], n: int) -> list[list[Generated]]:
        """What the generator writes for each post, where there is one."""
        if self._generator is None:
            return [[] for _ in posts]
        return self._generator.suggest(self._examples(posts), n)

    def _examples(self, posts: Sequence[PostWithNews]) -> list[Example]:
        config = self._generator.config if self._generator else None
        return [Example.of(config, read.post.body, read.context) for read in posts if config]
