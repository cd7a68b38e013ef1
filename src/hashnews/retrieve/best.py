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
from datetime import UTC, datetime

import numpy as np

from hashnews.config import Config
from hashnews.news.times import A_DAY, microseconds
from hashnews.records import ContextWord, PostContext, PreparedPost, Retrieved
from hashnews.retrieve.day import Day
from hashnews.retrieve.index import NewsIndex
from hashnews.retrieve.kernels import add_words, count_words, score_windows
from hashnews.retrieve.lists import Array, Lists, WindowTable, Words
from hashnews.retrieve.rank import freshness, idf, rise, telling
from hashnews.text.stopwords import GENERIC_WORDS, STOP_WORDS
from hashnews.text.tokens import words

Found = tuple[Day, int, float]  # day, place there, score
HOUR = A_DAY // 24
MOST_TABLES, MOST_HOURS = 40, 48
MOST_POSTINGS = 1 << 26


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


class Vocabulary:
    """Numbers for the words of all days, so that their weights can be added up."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._numbers: dict[str, int] = {}
        self._of_day: dict[int, tuple[Day, Array]] = {}

    def numbers(self, day: Day) -> Array:
        """The number of each word of a day."""
        held = self._of_day.get(id(day))
        if held is None:
            known = self._numbers
            numbers = [known.setdefault(word, len(known)) for word in day.word_list]
            self.words += list(known)[len(self.words) :]
            held = self._of_day[id(day)] = (day, np.array(numbers, np.int64))
        return held[1]

    def number(self, word: str) -> int | None:
        """The number of a word, if any day has it."""
        return self._numbers.get(word)


class BestRetriever:
    """Finds articles by all words of a post, and draws the context from them and from the day."""

    def __init__(self, index: NewsIndex, config: BestConfig | None = None):
        self.index = index
        self.config = config or BestConfig()
        self._spans = np.array([self.config.window])
        self._takes = np.array([self.config.articles])
        self._scores: Array = np.zeros((0, 1))
        self._weights: Array = np.zeros(0)
        self._touched: Array = np.empty(0, np.int64)
        self._forget()

    def retrieve(self, post: PreparedPost) -> PostContext:
        """The articles for a post and the context words; without a time it is now."""
        moment = microseconds(post.created_at or datetime.now(UTC))
        terms = self.terms(post)
        found = self.find(terms, moment)
        return PostContext(
            [Retrieved(day.id(place), s, 1) for day, place, s in found[: self.config.shown]],
            self.context(found, terms, moment),
        )

    def terms(self, post: PreparedPost) -> list[str]:
        """The distinct words of a post, stop words aside."""
        return [word for word in dict.fromkeys(words(post.body)) if word not in STOP_WORDS]

    def find(self, terms: list[str], moment: int) -> list[Found]:
        """The best articles before a moment, best first."""
        table = self._table(moment // A_DAY)
        rows = table.rows(terms)
        if not len(rows):
            return []
        if len(self._scores) < table.largest:
            self._scores = np.zeros((table.largest, 1))
        config = self.config
        clip = int(np.searchsorted(table.days[0].times, moment))
        size, days, places, scores, _ = score_windows(
            rows, table.starts, table.sizes, table.idf_reference,
            self._lists.pool.docs, self._lists.pool.counts,
            *table.clipped(clip), table.length_starts, table.lengths, table.freshness,
            self._spans, self._takes, config.rarity, config.rarity, np.inf,
            config.a, config.b, self._scores,
        )  # fmt: skip
        # Ages were counted from the end of the post's day, for all its posts: to the post's time.
        ahead = (moment // A_DAY + 1) * A_DAY - moment
        younger = 1 / freshness(ahead / HOUR, config.half_life)
        kept = zip(
            days[:size].tolist(), places[:size].tolist(), (scores[:size] * younger).tolist(),
            strict=True,
        )  # fmt: skip
        return [(table.days[day], place, score) for day, place, score in kept]

    def context(self, found: list[Found], terms: list[str], moment: int) -> list[ContextWord]:
        """weight(t) = (1 - r) Q(t) + r B(t), the heaviest, without the post's own words."""
        for day, _, _ in found:
            self._vocabulary.numbers(day)  # now, so that all arrays below are of one length
        rise_of, risen = self._rise(moment // HOUR * HOUR)
        self._grow()
        weights, touched, total = self._said(found)
        share = self.config.rising
        candidates = np.union1d(touched, risen)
        rising = np.zeros(len(candidates))  # a word that came up after that hour has not risen
        known = candidates < len(rise_of)
        rising[known] = rise_of[candidates[known]]
        mixed = (1 - share) * weights[candidates] / total + share * rising
        weights[touched] = 0
        unwanted = GENERIC_WORDS.union(terms)
        enough = self.config.context + len(unwanted)
        if len(mixed) > enough:
            heavy = mixed >= np.partition(mixed, -enough)[-enough]
            candidates, mixed = candidates[heavy], mixed[heavy]
        named = zip(candidates.tolist(), mixed.tolist(), strict=True)
        words_of = self._vocabulary.words
        # By word where weights are equal: the numbers also depend on news that came later.
        ordered = sorted((-weight, words_of[number]) for number, weight in named if weight > 0)
        kept = [ContextWord(word, -weight) for weight, word in ordered if word not in unwanted]
        return kept[: self.config.context]

    def _said(self, found: list[Found]) -> tuple[Array, Array, float]:
        """What the articles say, each word by its weight; which words those are; and the sum."""
        by_day: dict[int, tuple[Day, list[int], list[float]]] = {}
        best = found[0][2] if found else 1.0
        total = 0.0
        for day, place, score in found:
            _, places, shares = by_day.setdefault(id(day), (day, [], []))
            places.append(place)
            length = float(day.word_lengths[place])
            shares.append(telling(score, best, length, self.config.sharpness))
            total += shares[-1] * length
        size = 0
        for day, places, shares in by_day.values():
            size = add_words(
                np.array(places), np.array(shares), day.arrays["doc_starts"],
                day.arrays["doc_words"], self._vocabulary.numbers(day),
                self._weights, self._touched, size,
            )  # fmt: skip
        return self._weights, np.sort(self._touched[:size]), total or 1.0

    def _rise(self, hour: int) -> tuple[Array, Array]:
        """B(t) as of a whole hour, and the words with most of it."""
        known = self._hours.get(hour)
        if known is None:
            last_day = self._shares(hour - A_DAY, hour)
            window = self._shares((hour // A_DAY - self.config.window) * A_DAY, hour)
            last_day = np.pad(last_day, (0, len(window) - len(last_day)))
            risen: Array = rise(last_day, window, self.config.floor)
            few = min(3 * self.config.context, len(risen) - 1)
            most = np.argpartition(-risen, few)[:few] if few > 0 else np.arange(len(risen))
            known = self._hours[hour] = (risen, np.sort(most[risen[most] > 0]))
            if len(self._hours) > MOST_HOURS:
                self._hours.popitem(last=False)
        return known

    def _shares(self, start: int, end: int) -> Array:
        """P(t) over the articles from one moment up to another."""
        days = [self.index.day(n) for n in range(start // A_DAY, (end - 1) // A_DAY + 1)]
        numbers = [self._vocabulary.numbers(day) for day in days]
        counts = np.zeros(len(self._vocabulary.words))
        for day, number in zip(days, numbers, strict=True):
            first, last = np.searchsorted(day.times, (start, end))
            starts = day.arrays["doc_starts"]
            words_of_day = day.arrays["doc_words"]
            count_words(int(starts[first]), int(starts[last]), words_of_day, number, counts)
        shares: Array = counts / max(1.0, counts.sum())
        return shares

    def _grow(self) -> None:
        size = len(self._vocabulary.words)
        if len(self._weights) < size:
            self._weights = np.zeros(size)
            self._touched = np.empty(size, np.int64)

    def _table(self, number: int) -> WindowTable:
        if self._version != self.index.version or self._lists.pool.size > MOST_POSTINGS:
            self._forget()
        table = self._tables.get(number)
        if table is None:
            table = self._tables[number] = self._new_table(number)
            if len(self._tables) > MOST_TABLES:
                self._tables.popitem(last=False)
        return table

    def _new_table(self, number: int) -> WindowTable:
        config = self.config
        days = [self.index.day(number - back) for back in range(config.window + 1)]
        month = [self.index.day(number - b) for b in range(1, config.window + config.month + 1)]
        size = sum(day.size for day in month)

        def rarity(word: str) -> float:
            """IDF(w, M): M ends before the post's day, so it is the same for all its posts."""
            said = sum(int(d.word_articles[d.words[word]]) for d in month if word in d.words)
            return float(idf(size, said))

        def fresh(times: Array) -> Array:
            fresh: Array = freshness(((number + 1) * A_DAY - times) / HOUR, config.half_life)
            return fresh

        return WindowTable(days, self._lists, rarity, fresh)

    def _forget(self) -> None:
        self._lists = Lists(Words())
        self._tables: OrderedDict[int, WindowTable] = OrderedDict()
        self._hours: OrderedDict[int, tuple[Array, Array]] = OrderedDict()
        self._vocabulary = Vocabulary()
        self._weights, self._touched = np.zeros(0), np.empty(0, np.int64)
        self._version = self.index.version
