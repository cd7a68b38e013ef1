"""Two questions about every candidate, each with a model of its own.

    P(used) = P(on topic) · P(chosen | on topic)

Relevance says whether a hashtag is about the post: it reads what post, news and memory literally
say, and how near the meanings are. How popular a hashtag is, who uses it and what is on the rise
it does not know. That is the ranker's question: which of the hashtags on topic would be chosen.
Nothing below the floor of the first is shown, whatever the second says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array
from hashnews.suggest.memory import NOTHING_NEW
from hashnews.suggest.ranker import Ranker
from hashnews.suggest.sources import PLACE

ON_TOPIC, NEWEST = PLACE["on_topic"], PLACE["newest"]
# What relevance reads: nothing of popularity, habit or trend.
READ = (
    "in_post", "post_share", "post_name", "post_phrase", "stem_share", "initials",
    "context", "context_share", "context_rank", "news", "news_name", "news_articles",
    "nearest", "centre", "nearest_three", "own_nearest",
    "lexicon_meaning", "lexicon_rank", "lexicon_margin", "worth", "word_said",
    "meaning", "unsaid_meaning", "news_meaning", "rarest", "ending", "glued", "scrap",
    "fit", "fit_meaning", "fit_meaning_mean", "meaning_rank", "meaning_of_best",
    "words", "letters", "digits", "post_words", "articles",
)  # fmt: skip


class Verdict(NamedTuple):
    """What is thought of each candidate."""

    on_topic: Array
    chosen: Array  # if it is on topic

    @property
    def used(self) -> Array:
        """P(used) = P(on topic) · P(chosen | on topic)."""
        product: Array = self.on_topic * self.chosen
        return product


class Judges(NamedTuple):
    """The models behind both questions."""

    relevance: Ranker
    ranker: Ranker
    newcomer: float  # P(chosen | on topic) where there is no memory

    def judge(self, features: Array) -> Verdict:
        """Answer both for each row of features.

        Without a memory nobody's choices are known: then all that is on topic is as likely.
        """
        on_topic = self.relevance.probabilities(features)
        told = features.copy()
        told[:, ON_TOPIC] = on_topic
        remembers = features[:, NEWEST] < NOTHING_NEW
        return Verdict(
            on_topic, np.where(remembers, self.ranker.probabilities(told), self.newcomer)
        )
