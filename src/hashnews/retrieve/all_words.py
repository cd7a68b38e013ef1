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

from collections.abc import Iterator, Sequence

import numpy as np

from hashnews.arrays import Array, decay
from hashnews.config import Config
from hashnews.index.day import Day
from hashnews.index.folder import NewsIndex
from hashnews.index.windows import WindowTable
from hashnews.index.word_postings import WordPostings
from hashnews.records import ContextWord, PreparedPost
from hashnews.retrieve.base import BaseRetriever, FoundArticles, TermQuery
from hashnews.retrieve.context import Shares, count_words
from hashnews.retrieve.equations import burst, idf, temporal_popularity, window, word_share
from hashnews.retrieve.scoring import Weighting
from hashnews.text.stopwords import GENERIC_WORDS, STOP_WORDS
from hashnews.text.tokens import words
from hashnews.times import A_DAY

HOUR = A_DAY // 24
MOST_HOURS = 48
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
        share = self.config.rising
        said, weights = self.sums.weights(self._shares(found))
        bursts, most = self._bursts(query.moment // HOUR * HOUR)
        total = weights.sum() or 1.0
        # A word that came up after that hour has no burst.
        counted = said < len(bursts)
        mixed = (1 - share) / total * weights
        mixed[counted] += share * bursts[said[counted]]
        more = most[~np.isin(most, said, assume_unique=True)]
        numbers = np.concatenate([said, more])
        mixed = np.concatenate([mixed, share * bursts[more]])
        unwanted = GENERIC_WORDS.union(query.terms)
        return self.sums.heaviest(numbers, mixed, self.config.context, unwanted)

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

    def _shares(self, found: FoundArticles) -> Iterator[Shares]:
        """What a word of each article counts, day by day."""
        best = found.scores.max(initial=0.0)
        for back in np.unique(found.back).tolist():
            day, which = found.days[back], np.flatnonzero(found.back == back)
            places, scores = found.places[which], found.scores[which]
            lengths = day.arrays["doc_sizes"][places].astype(np.float64)
            yield day, places, word_share(scores, best, lengths, self.config.sharpness)

    def _bursts(self, hour: int) -> tuple[Array, Array]:
        """B(t) of all words as of a whole hour, and the words with most of it."""
        kept = self._hours.get(hour)
        if kept is None:
            whole = self._frequencies((hour // A_DAY - self.config.window) * A_DAY, hour)
            last_day = self._frequencies(hour - A_DAY, hour)
            said = np.flatnonzero(last_day)
            heights = burst(last_day[said], whole[said], self.config.floor)
            few = min(3 * self.config.context, len(said))
            most = said[np.argpartition(-heights, few - 1)[:few]] if few else said
            bursts = np.zeros(len(last_day))
            bursts[said] = heights
            kept = self._hours[hour] = (bursts, np.sort(most))
            if len(self._hours) > MOST_HOURS:
                del self._hours[next(iter(self._hours))]
        return kept

    def _frequencies(self, start: int, end: int) -> Array:
        """P(t) over the articles from one moment up to another."""
        days = [self.index.day(n) for n in range(start // A_DAY, (end - 1) // A_DAY + 1)]
        numbers = [self.words.numbers(day) for day in days]
        counts = np.zeros(self.words.size)
        for day, number in zip(days, numbers, strict=True):
            first, last = np.searchsorted(day.times, (start, end)).tolist()
            if first == 0 and last == day.size:
                counts[number] += day.word_counts
            else:
                begin, stop = int(day.doc_starts[first]), int(day.doc_starts[last])
                count_words(begin, stop, day.arrays["doc_words"], number, counts)
        shares: Array = counts / max(1.0, counts.sum())
        return shares

    def _new_postings(self) -> WordPostings:
        return WordPostings(self.words)

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
        self._hours: dict[int, tuple[Array, Array]] = {}
