"""Two questions about every candidate, each with a model of its own.

    P(used) = P(on topic) · P(chosen | on topic)

Relevance says whether a hashtag is about the post: it reads what post, news and memory literally
say, and how near the meanings are. How popular a hashtag is, who uses it and what is on the rise
it does not know. Which of the hashtags on topic would be chosen is the other question. The choice
of anyone answers it where there is no memory. Where there is one, the ranker says at once how
likely a hashtag is used, and reads both other answers among the rest: what is chosen of what is on
topic is then P(used) / P(on topic), at most 1. Nothing below the floor of the first is shown,
whatever the second says.

Relevance is asked twice where nobody has used the hashtag yet: trees, and a small network
(`suggest/network.py`); the mean of their log-odds counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array
from hashnews.suggest.memory import NOTHING_NEW
from hashnews.suggest.network import SecondOpinion, together
from hashnews.suggest.ranker import Ranker
from hashnews.suggest.sources import PLACE
from hashnews.text.meaning import Vectors

ON_TOPIC, CHOICE, NEWEST = PLACE["on_topic"], PLACE["choice"], PLACE["newest"]
USES = PLACE["uses"]
LEAST = 0.2  # what the trees find less likely on topic no second opinion can save
# What relevance reads: nothing of popularity, habit or trend.
READ = (
    "in_post", "post_share", "post_name", "post_phrase", "stem_share", "initials",
    "within_phrase",
    "context", "context_share", "context_rank", "news", "news_name", "news_articles",
    "news_title", "news_mentions", "news_covered", "story", "story_share", "story_title",
    "nearest", "centre", "nearest_three", "own_nearest",
    "lexicon_meaning", "lexicon_rank", "lexicon_margin", "worth", "word_said",
    "cues", "cues_of_best", "news_cues", "topic", "topic_lead", "small_talk", "news_topic",
    "meaning", "unsaid_meaning", "weakest", "news_meaning", "headline_meaning", "company",
    "rarest", "ending", "glued", "scrap",
    "fit", "fit_meaning", "fit_meaning_mean", "covered", "stories", "surest_story",
    "meaning_rank", "meaning_of_best",
    "words", "letters", "digits", "post_words", "articles",
)  # fmt: skip
CHOSEN_BY = (*READ, "lexicon_people", "lexicon_age")  # what the choice of anyone reads


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
    choice: Ranker  # P(chosen | on topic) where there is no memory
    ranker: Ranker  # the same where there is one
    network: SecondOpinion | None = None  # a second opinion on what nobody has used yet

    def told(self, features: Array) -> Array:
        """Features with what relevance and the choice of anyone say of them."""
        told = features.copy()
        told[:, ON_TOPIC] = self.relevance.probabilities(features)
        told[:, CHOICE] = self.choice.scores(features)
        return told

    def _heard(self, first: Array, features: Array, vectors: Vectors | None) -> Array:
        """P(on topic) of each row: what the trees say first, and the second opinion on it.

        Of what is remembered the trees know more: there is none of that.
        """
        if self.network is None or vectors is None or vectors.shape[1] != self.network.width:
            return first
        unsure = np.flatnonzero((first >= LEAST) & (features[:, USES] == 0))
        found = first.copy()
        second = self.network.log_odds(features[unsure], vectors[unsure])
        found[unsure] = together(first[unsure], second)
        return found

    def judge(self, features: Array, floor: float = 0.0, vectors: Vectors | None = None) -> Verdict:
        """Answer both for each row of features; what is below the floor is not chosen."""
        first = self.relevance.probabilities(features)
        on_topic = self._heard(first, features, vectors)
        above = np.flatnonzero(on_topic >= floor)
        some, chosen = features[above], np.zeros(len(features))
        some[:, CHOICE] = self.choice.scores(some)
        chosen[above] = self.choice.calibration(some[:, CHOICE])
        remembers = some[:, NEWEST] < NOTHING_NEW
        if remembers.any():
            some[:, ON_TOPIC] = first[above]  # as the ranker was taught
            used = self.ranker.probabilities(some[remembers])
            chosen[above[remembers]] = np.minimum(1, used / on_topic[above[remembers]])
        return Verdict(on_topic, chosen)
