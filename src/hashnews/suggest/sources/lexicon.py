"""The lexicon: hashtags that people use anywhere, found by meaning."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hashnews.records import Reason
from hashnews.suggest.sources.base import LAST, Proposal, Source

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.query import Query

UNKNOWN_AGE = 10.0  # years


class LexiconSource(Source):
    """What people who write about such things use."""

    name = "lexicon"
    label = "Widely used"
    columns = {
        "lexicon_people": 0.0, "lexicon_meaning": -1.0, "lexicon_rank": LAST,
        "lexicon_margin": -1.0, "lexicon_age": UNKNOWN_AGE, "worth": -3.0, "word_said": 0.0,
    }  # fmt: skip

    def propose(self, query: Query) -> Iterator[Proposal]:
        """The topics nearest in meaning."""
        return (Proposal(entry.words) for entry in query.near_topics)

    def features(self, query: Query, found: Candidates) -> list[tuple[float, ...]]:
        """How widely it is used, how near it is, how lately; and which words are worth it."""
        ranks = {entry.row: at for at, entry in enumerate(query.near_topics)}
        last, similar = len(found.keys), query.topic_meanings
        rows: list[tuple[float, ...]] = []
        best = float(similar[query.near_topics[0].row]) if query.near_topics else 1.0
        for key, words in zip(found.keys, found.words, strict=True):
            entry = query.entry(key)
            near = -1.0
            if entry is not None and entry.row < len(similar):
                near = float(similar[entry.row])
            # A hashtag of one word is worth what the word is; of several what the least is.
            worth = min((query.lexicon.worth_of(word) for word in words), key=lambda one: one.odds)
            rows.append(
                (
                    math.log1p(entry.people) if entry else 0.0,
                    near,
                    ranks.get(entry.row, last) if entry else last,
                    near - best if near > -1.0 else -1.0,
                    query.age(entry) if entry else UNKNOWN_AGE,
                    worth.odds,
                    math.log1p(worth.said),
                )
            )
        return rows

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """That people use it for posts like this one."""
        entry = query.entry(found.keys[place])
        if entry is None or entry.row not in {one.row for one in query.near_topics}:
            return None
        return Reason(source=self.name, text="people use it for posts about this")


LEXICON = LexiconSource()
