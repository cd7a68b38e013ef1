"""The better retriever: all words of the post, many articles, and what is rising in the news.

Chosen on validation posts (docs/decisions/022-best.md):

    score      s(p, d) = 2^(-age / half-life) sum over words w of p of IDF(w, M)^1.5 tf(w, d),
               M the month before the post's day; IDF(w, M) is TP(w, D) IDF(w, D) with M as R
    articles   the best by s of the six days up to the post
    Q(t)       the share of word t in what they say, each counting (s / s_max)^2 / sqrt|d|
    B(t)       burst: the share of t in the last day's news, times how much it grew
    weight     0.9 Q(t) + 0.1 B(t), of words that are not in the post and not generic
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hashnews.arrays import Array, compiled, decay
from hashnews.config import Config
from hashnews.index.day import Day
from hashnews.index.folder import NewsIndex
from hashnews.index.windows import WindowTable
from hashnews.index.word_postings import WordPostings
from hashnews.records import ContextWord, PreparedPost
from hashnews.retrieve.base import BaseRetriever, FoundArticles, TermQuery
from hashnews.retrieve.context import NONE
from hashnews.retrieve.equations import idf, temporal_popularity, window, word_share
from hashnews.retrieve.rising import HOUR, Bursts
from hashnews.retrieve.scoring import Weighting
from hashnews.text.stopwords import GENERIC_WORDS, STOP_WORDS
from hashnews.text.tokens import words
from hashnews.times import A_DAY

GENERIC = sorted(GENERIC_WORDS)
MOST_POPULAR = 10.0  # as the paper's preset is capped


class AllWordsConfig(Config):
    """The values chosen on validation posts."""

    a: float = 1.2
    b: float = 0.9
    by_idf: float = 1.5
    """How much a rare word counts: the exponent of its IDF."""
    half_life: float = 120.0
    """Hours after which an article counts half."""
    window: int = 5
    """Days before the post's own whose articles are looked at."""
    month: int = 28
    """Days before those that also say how rare a word is."""
    articles: int = 150
    """Articles whose words are read; the news of a day is short texts, mostly."""
    shown: int = 20
    """Articles that are named."""
    sharpness: float = 2.0
    """How much more the best articles count than the others: the exponent of their score."""
    rising: float = 0.1
    """The share of what is on the rise in the context."""
    floor: float = 1e-5
    """Below that share of the news a word's rise is noise."""
    context: int = 100


class AllWordsRetriever(BaseRetriever):
    """Finds articles by all words of a post, and draws the context from them and from the day."""

    _generic_of: tuple[int, Array]  # their numbers, and of how many words

    def __init__(self, index: NewsIndex, config: AllWordsConfig | None = None):
        self.config = config = config or AllWordsConfig()
        self.shown = config.shown
        # TP^x IDF^x = IDF(w, M)^x: IDF(w, D) cancels.
        weighting = Weighting(config.by_idf, config.by_idf, np.inf, config.a, config.b)
        super().__init__(index, np.array([config.window]), np.array([config.articles]), weighting)

    def terms(self, post: PreparedPost) -> list[str]:
        """The distinct words of a post, stop words aside."""
        return [word for word in dict.fromkeys(words(post.body)) if word not in STOP_WORDS]

    def _as_of(self, scores: Array, moments: Array) -> Array:
        # Ages were counted from the end of the post's day, for all its posts: to its time.
        ahead = (A_DAY - moments % A_DAY) / HOUR
        rescaled: Array = scores / decay(ahead, self.config.half_life)[:, np.newaxis]
        return rescaled

    def context(self, found: FoundArticles, query: TermQuery) -> list[ContextWord]:
        """weight(t) = (1 - r) Q(t) + r B(t), the heaviest, without the post's own words."""
        c = self.config
        rising = self._bursts.at(query.moment)
        articles, lengths = self.words.articles(found.days, found.back, found.places)
        shares = word_shares(found.scores, lengths, c.sharpness, 1 - c.rising)
        generic, own = self._generic(), set(query.terms)
        return self.sums.heaviest(articles, shares, c.context, rising, generic, own)

    def popularity(self, name: Sequence[str], moment: int) -> float:
        """Temporal popularity of a name's rarest word: the last day against the month before."""
        table = self.table(moment // A_DAY)
        rarest = max(name, key=table.reference_idf)
        times, day_starts = table.timeline.times, table.timeline.day_starts
        begin, end = window(times, moment // A_DAY, 1, moment)
        today, yesterday = (table.list_of(rarest, back)[0] for back in (0, 1))
        n = int((today < end - day_starts[0]).sum()) + len(yesterday)
        idf_window = idf(end - begin, n)
        return temporal_popularity(table.reference_idf(rarest), idf_window, MOST_POPULAR)

    def _generic(self) -> Array:
        """The numbers of generic words; they are looked up again where there are more words."""
        size, numbers = self._generic_of
        if size != self.words.size:
            numbers = self.words.find(GENERIC)
            self._generic_of = self.words.size, numbers
        return numbers

    def _new_postings(self) -> WordPostings:
        return WordPostings()

    def _new_table(self, number: int, days: list[Day]) -> WindowTable:
        config = self.config
        # M ends before the post's day, so it is the same for all its posts.
        month = self.days(number, range(1, config.window + config.month + 1))

        def freshness(times: Array) -> Array:
            fresh: Array = decay(((number + 1) * A_DAY - times) / HOUR, config.half_life)
            return fresh

        return WindowTable(number, days, self.postings, month, 0, freshness)

    def forget(self) -> None:
        """Drop what was looked up."""
        super().forget()
        c = self.config
        self._bursts = Bursts(self.index, self.words, c.window, c.floor, c.rising, 3 * c.context)
        self._generic_of = -1, NONE


@compiled
def word_shares(scores: Array, lengths: Array, sharpness: float, total: float) -> Array:
    """How much each word of articles counts, best first, so that all their words add up to this."""
    shares, held = np.empty(len(scores)), 0.0
    for k in range(len(scores)):
        shares[k] = word_share(scores[k], scores[0], lengths[k], sharpness)
        held += shares[k] * lengths[k]
    for k in range(len(scores)):
        shares[k] *= total / held
    return shares
