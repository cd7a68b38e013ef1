"""A post as hashtags are looked for: what it says, what the news says, what a model proposes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

import numpy as np
import regex

from hashnews.generate.generator import Generated
from hashnews.news.store import NewsStore
from hashnews.records import Article, ContextWord, PreparedPost, Retrieved
from hashnews.retrieve.all_words import AllWordsRetriever
from hashnews.suggest.calendar import Season
from hashnews.suggest.from_text import FromText, NewsArticle, in_news, in_post
from hashnews.suggest.lexicon import LexiconEntry
from hashnews.suggest.prior import NOTHING, Prior
from hashnews.text.language import is_english
from hashnews.text.meaning import Vectors
from hashnews.text.tokens import words
from hashnews.times import A_DAY, microseconds

WORD = regex.compile(r"\w+")
SHOUTING = 4  # words in capitals
TOPICS = 60  # of the lexicon that may be candidates
UNSAID = -3.0  # log-probability, at least, of a known hashtag that neither post nor news says


class PostWithNews(NamedTuple):
    """A prepared post and what the news before it says about it."""

    post: PreparedPost
    moment: int
    context: list[ContextWord]
    articles: list[tuple[Retrieved, Article]]

    def unanswered(self) -> PostWithNews:
        """The post as it was before its author chose hashtags."""
        return self._replace(post=self.post.model_copy(update={"hashtags": ()}))


def with_news(
    retriever: AllWordsRetriever, store: NewsStore, posts: Sequence[PreparedPost]
) -> list[PostWithNews]:
    """Posts with the articles and context words that are found for them."""
    read = []
    for post, context in zip(posts, retriever.retrieve_all(posts), strict=True):
        stored = ((found, store.get(found.id)) for found in context.articles)
        articles = [(found, article) for found, article in stored if article is not None]
        moment = microseconds(post.created_at or datetime.now(UTC))
        read.append(PostWithNews(post, moment, context.words, articles))
    return read


Popularity = Callable[[Sequence[str], int], float]


def unknown(name: Sequence[str], moment: int) -> float:
    """The temporal popularity of a name where there is no news to ask."""
    return 1.0


class Query:
    """A post, its news and what was generated, each read once."""

    def __init__(
        self,
        read: PostWithNews,
        prior: Prior = NOTHING,
        generated: Sequence[Generated] = (),
        popularity: Popularity = unknown,
        vector: Vectors | None = None,
    ):
        self.user, self.body, self.entities = read.post.user, read.post.body, read.post.entities
        self.moment = read.moment
        self.context: Sequence[ContextWord] = read.context
        self.words = words(self.body)
        self.given = frozenset(tag.key for tag in (*read.post.hashtags, *read.post.inline))
        self.fit = read.articles[0][0].score if read.articles else 0.0
        best = self.fit or 1.0
        self.articles = [
            NewsArticle(article.id, article.title, article.entities or (), found.score / best)
            for found, article in read.articles
        ]
        said = {*self.words, *(word.word for word in self.context)}
        self.generated = {
            tag.words: tag.score for tag in generated if _is_supported(tag, said, prior)
        }
        self._popularity = popularity
        self.season: Mapping[str, Season] = prior.calendar.season(self.moment)
        self.lexicon, self._meaning, self._vector = prior.lexicon, prior.meaning, vector

    def popularity(self, name: str) -> float:
        """TP of a name of the news: above 1, it is on the rise."""
        return round(self._popularity(words(name), self.moment), 3)

    @cached_property
    def is_english(self) -> bool:
        """Whether the post is in the language that everything here knows."""
        return is_english(self.words, self.lexicon.worth)

    @cached_property
    def in_post(self) -> dict[str, FromText]:
        """Names and phrases of the post, by key."""
        return in_post(self.words, self.entities)

    @cached_property
    def in_news(self) -> dict[str, FromText]:
        """Names and phrases of the retrieved articles, by key."""
        return in_news(self.articles)

    def meaning_of(self, phrases: Sequence[Sequence[str]]) -> Vectors:
        """How near each phrase is to the post in meaning; 0 where there is no telling."""
        if self._meaning is None or self._vector is None or not phrases:
            return np.zeros(len(phrases), np.float32)
        found: Vectors = self._meaning.of_phrases(phrases) @ self._vector
        return found

    @cached_property
    def _names(self) -> set[tuple[str, ...]]:
        """The names in the post and in its articles, as words."""
        told = (name for article in self.articles for name in article.entities)
        return {tuple(words(name)) for name in (*self.entities, *told)}

    @cached_property
    def _parts(self) -> set[tuple[str, ...]]:
        """All that is part of a longer name."""
        return {part for name in self._names for part in runs(name)}

    def is_name(self, parts: tuple[str, ...]) -> bool:
        """Whether words are a name in the post or in its articles."""
        return parts in self._names

    def is_glued(self, parts: tuple[str, ...]) -> bool:
        """Whether words are a name with something stuck to it: #TysonDies, #ActressCicelyTyson."""
        shortest = 2 if parts in self._names else 1
        return any(len(run) >= shortest and run in self._names for run in runs(parts))

    def is_scrap(self, parts: tuple[str, ...]) -> bool:
        """Whether words are no name but a part of one: #LeagueBaseball."""
        return parts not in self._names and parts in self._parts

    @cached_property
    def title_meanings(self) -> Vectors:
        """How near each article's headline is to the post."""
        return self.meaning_of([words(article.title) for article in self.articles])

    @cached_property
    def topic_meanings(self) -> Vectors:
        """How near each topic of the lexicon is to the post."""
        if self._vector is None:
            return np.zeros(0, np.float32)
        return self.lexicon.similar(self._vector)

    @cached_property
    def near_topics(self) -> list[LexiconEntry]:
        """The topics of the lexicon that are nearest to the post."""
        return self.lexicon.nearest(self.topic_meanings, self.moment, TOPICS)

    def entry(self, key: str) -> LexiconEntry | None:
        """What the lexicon knew of a hashtag at the post's time."""
        return self.lexicon.get(key, self.moment)

    def age(self, entry: LexiconEntry) -> float:
        """Years since the last use of a hashtag that the lexicon knows; 0 if it goes on."""
        return max(0.0, (self.moment / A_DAY - entry.last) / 365) if entry.last > 0 else 5.0

    def rarity(self, word: str) -> float:
        """How rare a word is in what people say: -log of how many say it."""
        return -math.log1p(self.lexicon.worth_of(word).said)

    @cached_property
    def small(self) -> set[str]:
        """The words that the post writes without any capital."""
        return {form for form in WORD.findall(self.body) if form == form.lower()}

    @cached_property
    def writings(self) -> defaultdict[str, Counter[str]]:
        """How post, headlines and names write each word; what shouts says nothing."""
        found: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for article in self.articles:
            for text in (article.title, *article.entities):
                _note(text, found)
        _note(self.body, found)
        return found

    @cached_property
    def said(self) -> set[str]:
        """The words of the post, and of the headlines and names of its articles."""
        told = (f"{article.title} {' '.join(article.entities)}" for article in self.articles)
        return set(words(" ".join((self.body, *told))))


def runs(parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """All runs of words within some, but not all of them."""
    for start in range(len(parts)):
        for end in range(start + 1, len(parts) + 1):
            if end - start < len(parts):
                yield parts[start:end]


def _note(text: str, found: defaultdict[str, Counter[str]]) -> None:
    """Count the writings of a text; a text in capitals, if longer than a name, has none."""
    forms = WORD.findall(text)
    if len(forms) < SHOUTING or text != text.upper():
        for form in forms:
            found[form.lower()][form] += 1


def _is_supported(tag: Generated, said: set[str], prior: Prior) -> bool:
    """Whether post and news say all words of a hashtag, or it is known and likely enough.

    The rest of what a generator writes is invented, was one author's own, or is beside the point;
    so is a word said twice.
    """
    if len(set(tag.words)) < len(tag.words):
        return False
    known = tag.score > UNSAID and "".join(tag.words) in prior.hashtags
    return known or said.issuperset(tag.words)
