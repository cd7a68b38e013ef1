"""The lexicon: hashtags that people use anywhere, found by meaning."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hashnews.records import Reason
from hashnews.suggest.sources.base import LAST, Proposal, Source
from hashnews.suggest.topics import UNLIKELY

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.query import Query

UNKNOWN_AGE = 10.0  # years
CUES_NAMED = 3  # in a reason


class LexiconSource(Source):
    """What people who write about such things use."""

    name = "lexicon"
    label = "Widely used"
    columns = {
        "lexicon_people": 0.0, "lexicon_meaning": -1.0, "lexicon_rank": LAST,
        "lexicon_margin": -1.0, "lexicon_age": UNKNOWN_AGE, "worth": -3.0, "word_said": 0.0,
        "cues": 0.0, "cues_of_best": 0.0, "news_cues": 0.0,
        "topic": UNLIKELY, "topic_lead": UNLIKELY, "small_talk": UNLIKELY, "news_topic": UNLIKELY,
    }  # fmt: skip

    def propose(self, query: Query) -> Iterator[Proposal]:
        """The topics nearest in meaning."""
        return (Proposal(entry.words) for entry in query.near_topics)

    def features(self, query: Query, found: Candidates) -> list[tuple[float, ...]]:
        """How widely it is used, how near it is, how lately; and which words are worth it."""
        ranks = {entry.row: at for at, entry in enumerate(query.near_topics)}
        last, similar = len(found.keys), query.topic_meanings
        rows: list[tuple[float, ...]] = []
        best = float(similar.max(initial=-1.0))
        told, news_told = query.told, query.told_by_news
        (none, likely), news_likely = query.topics, query.news_topics
        likeliest = float(likely.max(initial=UNLIKELY))
        most = max(told.values(), default=1.0)
        for key, words in zip(found.keys, found.words, strict=True):
            entry = query.entry(key)
            near, cues, news_cues = -1.0, 0.0, 0.0
            topic, news_topic = UNLIKELY, UNLIKELY
            if entry is not None and entry.row < len(similar):
                near = float(similar[entry.row])
                cues, news_cues = told.get(entry.row, 0.0), news_told.get(entry.row, 0.0)
                topic, news_topic = float(likely[entry.row]), float(news_likely[entry.row])
            worth = query.lexicon.worth_of_all(words)
            rows.append(
                (
                    math.log1p(entry.people) if entry else 0.0,
                    near,
                    ranks.get(entry.row, last) if entry else last,
                    near - best if near > -1.0 else -1.0,
                    query.age(entry) if entry else UNKNOWN_AGE,
                    worth.odds,
                    worth.said,
                    cues,
                    cues / most,
                    news_cues,
                    topic,
                    topic - likeliest,
                    none,
                    news_topic,
                )
            )
        return rows

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """That people use it for posts like this one, and which words say so."""
        entry = query.entry(found.keys[place])
        if entry is None or entry.row not in {one.row for one in query.near_topics}:
            return None
        told = [*query.words, *query.shown]
        said = query.lexicon.cues_of(entry.row, told)[:CUES_NAMED]
        about = f"about {', '.join(said)}" if said else "like this"
        return Reason(source=self.name, text=f"people use it for posts {about}", words=said)


LEXICON = LexiconSource()
