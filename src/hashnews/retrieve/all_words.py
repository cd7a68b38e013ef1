"""The better retriever: all words of the post, many articles, and what is rising in the news.

Chosen on validation posts (docs/decisions/022-best.md):

    rarity     IDF(w, M), M the month before the post's day; it is TP(w, D) IDF(w, D) with M as R
    score      s(p, d) = 2^(-age / half-life) sum over words w of p of IDF(w, M)^1.5 tf(w, d)
    articles   the best by s of the six days up to the post
    Q(t)       the share of word t in what they say, each counting (s / s_max)^2 / sqrt|d|
    B(t)       rise: the share of t in the last day's news, times how much it grew
    weight     0.9 Q(t) + 0.1 B(t), of words that are not in the post and not generic
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array, decay
from hashnews.config import Config
from hashnews.index.day import Day
from hashnews.index.folder import NewsIndex
from hashnews.index.windows import WindowTable
from hashnews.index.words import KnownWords, Words
from hashnews.records import ContextWord, PostContext, PreparedPost, Retrieved
from hashnews.retrieve.context import Shares, WordSums, count_words
from hashnews.retrieve.equations import idf, rise, telling, temporal_popularity
from hashnews.retrieve.scoring import score_posts
from hashnews.text.stopwords import GENERIC_WORDS, STOP_WORDS
from hashnews.text.tokens import words
from hashnews.times import A_DAY, microseconds

Query = tuple[Sequence[str], int]  # words, and the post's time
HOUR = A_DAY // 24
MOST_TABLES, MOST_HOURS = 64, 48
MOST_POSTINGS = 1 << 26
MOST_POPULAR = 10.0  # as the paper's preset is capped


class BestConfig(Config):
    """The values chosen on validation posts."""

    a: float = 1.2
    b: float = 0.9
    rarity: float = 1.5
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


class Hits(NamedTuple):
    """Articles found for a post, best first: how many days back, place in that day, score."""

    days: list[Day]
    back: Array
    places: Array
    scores: Array

    def named(self, most: int) -> list[Retrieved]:
        """The first of them, by id."""
        rows = zip(*(array[:most].tolist() for array in self[1:]), strict=True)
        return [Retrieved(self.days[back].id(place), score, 1) for back, place, score in rows]

    def by_day(self) -> Iterator[tuple[Day, Array]]:
        """Each day with articles, and which of them are of it."""
        for back in np.unique(self.back).tolist():
            yield self.days[back], np.flatnonzero(self.back == back)


class BestRetriever:
    """Finds articles by all words of a post, and draws the context from them and from the day."""

    def __init__(self, index: NewsIndex, config: BestConfig | None = None):
        self.index = index
        self.config = config or BestConfig()
        self._spans = np.array([self.config.window])
        self._takes = np.array([self.config.articles])
        self._scores: Array = np.zeros((1, 0))
        self._forget()

    def retrieve(self, post: PreparedPost) -> PostContext:
        """The articles for a post and the context words; without a time it is now."""
        return self.retrieve_all([post])[0]

    def retrieve_all(self, posts: Sequence[PreparedPost]) -> list[PostContext]:
        """The same for many posts, which takes less time a post."""
        now = datetime.now(UTC)
        asked = [(self.terms(post), microseconds(post.created_at or now)) for post in posts]
        return [
            PostContext(found.named(self.config.shown), self.context(found, terms, moment))
            for found, (terms, moment) in zip(self.find_all(asked), asked, strict=True)
        ]

    def terms(self, post: PreparedPost) -> list[str]:
        """The distinct words of a post, stop words aside."""
        return [word for word in dict.fromkeys(words(post.body)) if word not in STOP_WORDS]

    def find(self, terms: Sequence[str], moment: int) -> Hits:
        """The best articles before a moment, best first."""
        return self.find_all([(terms, moment)])[0]

    def find_all(self, posts: Sequence[Query]) -> list[Hits]:
        """`find` for many posts; those of one day are looked up and scored together."""
        found: dict[int, Hits] = {}
        of_day: dict[int, list[int]] = {}
        for at, (_, moment) in enumerate(posts):
            of_day.setdefault(moment // A_DAY, []).append(at)
        for number, places in of_day.items():
            table = self._table(number)
            found.update(zip(places, self._score(table, [posts[at] for at in places]), strict=True))
        return [found[at] for at in range(len(posts))]

    def _score(self, table: WindowTable, posts: list[Query]) -> Iterator[Hits]:
        """The articles of posts of one day."""
        if self._scores.shape[1] < table.articles:
            self._scores = np.zeros((1, table.articles))
        config = self.config
        rows, starts = table.rows([terms for terms, _ in posts])
        moments = np.array([moment for _, moment in posts])
        given = np.zeros((len(posts), config.articles, 4))
        sizes = np.empty(len(posts), np.int64)
        score_posts(
            rows, starts, moments, given, sizes, *table.arrays, self._spans, self._takes,
            config.rarity, config.rarity, np.inf, config.a, config.b, self._scores,
        )  # fmt: skip
        # Ages were counted from the end of the post's day, for all its posts: to the post's time.
        ahead = (A_DAY - moments % A_DAY) / HOUR
        scores = given[:, :, 2] / decay(ahead, config.half_life)[:, np.newaxis]
        places = given[:, :, :2].astype(np.int64)
        for at, size in enumerate(sizes.tolist()):
            yield Hits(table.days, places[at, :size, 0], places[at, :size, 1], scores[at, :size])

    def context(self, found: Hits, terms: Sequence[str], moment: int) -> list[ContextWord]:
        """weight(t) = (1 - r) Q(t) + r B(t), the heaviest, without the post's own words."""
        share = self.config.rising
        said, weights = self._words.weights(self._shares(found))
        rise_of, risen = self._rise(moment // HOUR * HOUR)
        total = weights.sum() or 1.0
        # A word that came up after that hour has not risen.
        known = said < len(rise_of)
        mixed = (1 - share) / total * weights
        mixed[known] += share * rise_of[said[known]]
        more = risen[~np.isin(risen, said, assume_unique=True)]
        numbers = np.concatenate([said, more])
        mixed = np.concatenate([mixed, share * rise_of[more]])
        unwanted = GENERIC_WORDS.union(terms)
        return self._words.heaviest(numbers, mixed, self.config.context, unwanted)

    def popularity(self, name: Sequence[str], moment: int) -> float:
        """Temporal popularity of a name's rarest word: the last day against the month before."""
        table = self._table(moment // A_DAY)
        rarest = max(name, key=table.usual_rarity)
        clip = int(np.searchsorted(table.days[0].times, moment))
        today, _ = table.postings(rarest, 0)
        yesterday, _ = table.postings(rarest, 1)
        n = int((today < clip).sum()) + len(yesterday)
        now = idf(clip + table.days[1].size, n)
        return temporal_popularity(table.usual_rarity(rarest), now, MOST_POPULAR)

    def _shares(self, found: Hits) -> Iterator[Shares]:
        """What a word of each article counts: (s / s_max)^x / sqrt|d|."""
        best = found.scores.max(initial=0.0)
        for day, which in found.by_day():
            places, scores = found.places[which], found.scores[which]
            lengths = day.arrays["doc_sizes"][places].astype(np.float64)
            yield day, places, telling(scores, best, lengths, self.config.sharpness)

    def _rise(self, hour: int) -> tuple[Array, Array]:
        """B(t) as of a whole hour, and the words with most of it."""
        known = self._hours.get(hour)
        if known is None:
            window = self._frequencies((hour // A_DAY - self.config.window) * A_DAY, hour)
            last_day = self._frequencies(hour - A_DAY, hour)
            said = np.flatnonzero(last_day)
            rising = rise(last_day[said], window[said], self.config.floor)
            few = min(3 * self.config.context, len(said))
            most = said[np.argpartition(-rising, few - 1)[:few]] if few else said
            risen = np.zeros(len(last_day))
            risen[said] = rising
            known = self._hours[hour] = (risen, np.sort(most))
            if len(self._hours) > MOST_HOURS:
                self._hours.popitem(last=False)
        return known

    def _frequencies(self, start: int, end: int) -> Array:
        """P(t) over the articles from one moment up to another."""
        days = [self.index.day(n) for n in range(start // A_DAY, (end - 1) // A_DAY + 1)]
        numbers = [self._known.numbers(day) for day in days]
        counts = np.zeros(self._known.size)
        for day, number in zip(days, numbers, strict=True):
            first, last = np.searchsorted(day.times, (start, end)).tolist()
            if first == 0 and last == day.size:
                counts[number] += day.word_counts
            else:
                begin, stop = int(day.doc_starts[first]), int(day.doc_starts[last])
                count_words(begin, stop, day.arrays["doc_words"], number, counts)
        shares: Array = counts / max(1.0, counts.sum())
        return shares

    def _table(self, number: int) -> WindowTable:
        if self._version != self.index.version:
            self._forget()
        table = self._tables.get(number)
        if table is None:
            if self._lists.size > MOST_POSTINGS:  # one window stays, however much it holds
                self._forget()
            table = self._tables[number] = self._new_table(number)
            if len(self._tables) > MOST_TABLES:
                self._tables.popitem(last=False)
        return table

    def _new_table(self, number: int) -> WindowTable:
        config = self.config
        days = [self.index.day(number - back) for back in range(config.window + 1)]
        # M ends before the post's day, so it is the same for all its posts.
        month = [self.index.day(number - b) for b in range(1, config.window + config.month + 1)]

        def fresh(times: Array) -> Array:
            fresh: Array = decay(((number + 1) * A_DAY - times) / HOUR, config.half_life)
            return fresh

        return WindowTable(days, self._lists, month, 0, fresh)

    def _forget(self) -> None:
        self._known = KnownWords()
        self._lists, self._words = Words(self._known), WordSums(self._known)
        self._tables: OrderedDict[int, WindowTable] = OrderedDict()
        self._hours: OrderedDict[int, tuple[Array, Array]] = OrderedDict()
        self._version = self.index.version
