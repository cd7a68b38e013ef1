"""A post as hashtags are looked for: what it says, what the news says, what a model proposes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from itertools import chain, pairwise, repeat
from typing import NamedTuple

import numpy as np
import regex

from hashnews.generate.generator import Generated
from hashnews.news.store import NewsStore
from hashnews.records import Article, ContextWord, PreparedPost, Retrieved
from hashnews.retrieve.all_words import AllWordsRetriever
from hashnews.suggest.calendar import Season
from hashnews.suggest.emoji import emoji_words
from hashnews.suggest.from_text import (
    LONGEST,
    LONGEST_NAME,
    LONGEST_WHOLE,
    FromText,
    NewsArticle,
    clauses,
    fits,
    in_news,
    in_post,
    keys_of,
    named,
    spelled,
    spoken,
    words_of_name,
)
from hashnews.suggest.lexicon import Lexicon, LexiconEntry
from hashnews.suggest.possessive import Possessives
from hashnews.suggest.prior import NOTHING, Prior
from hashnews.suggest.standing import Concordance, Standing
from hashnews.suggest.topics import UNLIKELY
from hashnews.suggest.wholes import (
    ArticleText,
    titles_in,
    whole_names,
    whole_names_of_post,
)
from hashnews.text.entities import shipped_finder
from hashnews.text.language import is_english
from hashnews.text.meaning import Vectors, similarity, unit
from hashnews.text.stopwords import STOP_WORDS
from hashnews.text.tokens import words
from hashnews.times import A_DAY, microseconds

WORD = regex.compile(r"\w+")
MENTION = regex.compile(r"[@＠][\w.@-]+")
SHOUTING = 4  # words in capitals, one after the other
TOPICS = 60  # of the lexicon that may be candidates
TOLD_BY = 0.05  # how likely an article tells the post's story whose headline is searched for cues
# How much nearer a cue brings a topic, one of the post and one of the news; more than three do not.
CUE, NEWS_CUE, ENOUGH = 0.2, 0.4, 3.0
# How much nearer what was learnt brings a topic, if it is likelier than so much (log P).
LEARNT, UNLIKELY_ENOUGH = 0.6, -7.0
READ_FOR_COVER, COVER_LETTERS = 8, 2500  # articles, and how much of each, that may cover the post
COMPANY = 8  # the nearest topics: what is about the post is about what they are about
NAMED_BY = 2  # headlines that write a run of the post with capitals: then it is a name
LONGEST_SAID, SHORTEST_SAID, WIDE = 5, 8, 10  # words and letters of a hashtag said, its people
COMMON = 50  # people who say a plain word
EVERYBODY = 20_000  # people: a word that all of them say covers nothing
# Names of an article that are read, and letters of one: one article must not hold up a post.
MOST_NAMES, LONGEST_NAME_READ = 300, 200
LONGEST_RUN = 8  # words
UNSAID = -3.0  # log-probability, at least, of a known hashtag that neither post nor news says


class PostWithNews(NamedTuple):
    """A prepared post and what the news before it says about it."""

    post: PreparedPost
    moment: int
    context: list[ContextWord]
    articles: list[tuple[Retrieved, Article]]
    proposed: tuple[tuple[str, ...], ...] = ()  # by the user's language model, as words

    def unanswered(self) -> PostWithNews:
        """The post as it was before its author chose hashtags."""
        return self._replace(post=self.post.model_copy(update={"hashtags": ()}))


def with_news(
    retriever: AllWordsRetriever, store: NewsStore, posts: Sequence[PreparedPost]
) -> list[PostWithNews]:
    """Posts with the articles and context words that are found for them."""
    read = []
    for post, context in zip(posts, retriever.retrieve_all(posts), strict=True):
        stored = store.get_all([found.id for found in context.articles])
        articles = [(found, stored[found.id]) for found in context.articles if found.id in stored]
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
        self.user, self.moment, self.lexicon = read.post.user, read.moment, prior.lexicon
        titles = [article.title for _, article in read.articles]
        texts = [article.text[:COVER_LETTERS] for _, article in read.articles[:READ_FOR_COVER]]
        names = Possessives.of(
            [read.post.body, *titles], texts, self._people, shipped_finder().truecase
        )
        self.body = names.kept(read.post.body)
        self.printed = {article.id: article.title for _, article in read.articles}
        found = [
            names.kept_name(name)
            for name in read.post.entities
            if len(name) <= LONGEST_NAME_READ and not names.is_part(name)
        ]
        self.entities = [*whole_names_of_post(self.body, found), *names.titles]
        self.proposed = {"".join(parts): parts for parts in read.proposed}
        self.context: Sequence[ContextWord] = read.context
        self.words = spoken(self.body)
        self._handles = ["".join(words(name.replace("_", " "))) for name in read.post.mentions]
        self.shown = emoji_words(self.body)
        self.given = frozenset(tag.key for tag in (*read.post.hashtags, *read.post.inline))
        self.fit = read.articles[0][0].score if read.articles else 0.0
        best = self.fit or 1.0
        self._meaning, self._vector = prior.meaning, vector
        bodies = [names.kept(text) for text in texts]
        self._bodies = [spoken(text) for text in bodies]
        told = [
            ArticleText(
                names.kept(article.title), body, tuple(map(names.kept_name, _names_of(article)))
            )
            for (_, article), body in zip(read.articles, chain(bodies, repeat("")), strict=False)
        ]
        self.articles = [
            NewsArticle(
                article.id,
                one.title,
                whole,
                found.score / best,
                self._covered(one.title, self._bodies[at]) if at < READ_FOR_COVER else 0.0,
            )
            for at, ((found, article), one, whole) in enumerate(
                zip(read.articles, told, whole_names(told), strict=True)
            )
        ]
        said = {*self.words, *(word.word for word in self.context)}
        self.generated = {
            tag.words: tag.score for tag in generated if _is_supported(tag, said, prior)
        }
        self._popularity, self._story = popularity, prior.story
        self.season: Mapping[str, Season] = prior.calendar.season(self.moment)

    def _people(self, parts: Sequence[str]) -> int:
        """How many people used a hashtag, as the lexicon knew then."""
        entry = self.lexicon.get("".join(parts), self.moment)
        return entry.people if entry is not None else 0

    def popularity(self, name: str) -> float:
        """TP of a name of the news: above 1, it is on the rise."""
        return round(self._popularity(words(name), self.moment), 3)

    @cached_property
    def is_english(self) -> bool:
        """Whether the post is in the language that everything here knows."""
        return is_english(words(MENTION.sub(" ", self.body)), self.lexicon.worth)

    @cached_property
    def is_legible(self) -> bool:
        """Whether the post says a word, or shows a sign, that anybody else does."""
        known = (*self.words, *self.shown)
        return any(word in STOP_WORDS or word in self.lexicon.worth for word in known)

    @cached_property
    def in_post(self) -> dict[str, FromText]:
        """Names and phrases of the post, and longer runs that are a hashtag, by key."""
        thoughts = clauses(self.body)
        found = in_post(thoughts, self.entities)
        for said in thoughts:
            for start in range(len(said)):  # `say her name` begins with a word that says nothing
                for end in range(start + 2, min(len(said), start + LONGEST_SAID) + 1):
                    run = tuple(said[start:end])
                    key = "".join(run)
                    if key not in found and len(key) >= SHORTEST_SAID and self._is_wide(run):
                        found[key] = FromText(run, 1.0, None)
        titled = {run: name for run, name in titles_in(self.body).items() if self._is_known(run)}
        for run, name in (*titled.items(), *self._headlined.items()):
            found["".join(run)] = FromText(run, 1.0, name)
        return found

    def _is_known(self, run: tuple[str, ...]) -> bool:
        """Whether people use it as a hashtag."""
        return self.entry("".join(run)) is not None

    @cached_property
    def _headlined(self) -> dict[tuple[str, ...], str]:
        """Runs of the post that headlines write as a name, and how: `Go First`, of plain words."""
        times = Counter(
            told for title in {one.title for one in self.articles} for told in named(title)
        )
        said = f" {' '.join(self.words)} "
        return {
            run: name
            for (run, name), titles in times.items()
            if titles >= NAMED_BY and 1 < len(run) <= LONGEST_WHOLE
            if f" {' '.join(run)} " in said
        }

    def _is_wide(self, run: tuple[str, ...]) -> bool:
        """Whether many use it, and it is no plain word: the office is no #TheOffice."""
        is_plain = run[0] == "the" and len(run) == 2
        if is_plain and self.lexicon.worth_of(run[1]).said >= COMMON:
            return False
        entry = self.entry("".join(run))
        return entry is not None and entry.people >= WIDE

    @cached_property
    def _places(self) -> defaultdict[str, list[int]]:
        """Where the post says each of its words."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for at, word in enumerate(self.words):
            found[word].append(at)
        return found

    @cached_property
    def _phrases(self) -> defaultdict[int, list[int]]:
        """Where names and hashtags of several words begin in the post, and where they end."""
        found: defaultdict[int, list[int]] = defaultdict(list)
        for start in range(len(self.words)):
            for end in range(start + 2, min(len(self.words), start + LONGEST_NAME) + 1):
                run = tuple(self.words[start:end])
                spelled = self.in_post.get("".join(run))
                if run in self._names or (spelled and self.entry("".join(run))):
                    found[start].append(end)
        return found

    def is_within(self, parts: tuple[str, ...]) -> bool:
        """Whether the post says words only as a part of a longer name or hashtag."""
        size = len(parts)
        begins = self._places.get(parts[0], []) if parts else []
        places = [at for at in begins if tuple(self.words[at : at + size]) == parts]
        return bool(places) and all(
            any(at + size <= end and end - start > size
                for start in range(at + size - LONGEST_NAME, at + 1)
                for end in self._phrases.get(start, ()))
            for at in places
        )  # fmt: skip

    @cached_property
    def in_news(self) -> dict[str, FromText]:
        """Names and phrases of the retrieved articles, and what they are parts of, by key."""
        found = in_news(self.articles)
        shared = [one.words for one in found.values() if len(one.articles) > 1]
        parts = [one for one in shared if len(one) > 1 and self.standing(one).is_part]
        for whole in {self._texts.whole(one) for one in parts}:
            told = spelled(whole, self.articles)
            if told is not None and fits(whole, LONGEST_WHOLE):
                found.setdefault("".join(whole), told)
        for run, name in self._headlined.items():
            told, key = spelled(run, self.articles), "".join(run)
            if told is not None and (key not in found or found[key].name is None):
                found[key] = told._replace(name=name)
        return found

    @cached_property
    def kickers(self) -> frozenset[tuple[str, ...]]:
        """What headlines name before a colon, in two or three words: `Tube strike: what ...`."""
        before = (title.partition(": ") for title in {one.title for one in self.articles})
        named = {words_of_name(kicker) for kicker, colon, _ in before if colon and len(kicker) < 40}
        return frozenset(parts for parts in named if len(parts) > 1 and fits(parts, LONGEST))

    @cached_property
    def _texts(self) -> Concordance:
        """The post, and the articles as far as they are read; what was copied is read once."""
        titles = {tuple(spoken(one.title)): at for at, one in enumerate(self.articles[::-1])}
        last = len(self.articles) - 1
        bodies = (self._bodies[last - at] for at in titles.values() if last - at < READ_FOR_COVER)
        return Concordance([self.words, *titles, *bodies])

    def standing(self, parts: tuple[str, ...]) -> Standing:
        """How words stand in the post and its articles: by themselves, or as a part."""
        return self._texts.standing(parts)

    @cached_property
    def weights(self) -> dict[str, float]:
        """What each word of the post weighs: r(w) = log(everybody / people who say it)."""
        weights = {word: self.weight(word) for word in self.words}
        return {word: weight for word, weight in weights.items() if weight > 0}

    def weight(self, word: str) -> float:
        """What a word tells: r(w), and nothing where it says nothing."""
        return 0.0 if word in STOP_WORDS else max(0.0, math.log(EVERYBODY) + self.rarity(word))

    def _covered(self, title: str, body: Sequence[str]) -> float:
        """c(d) = sum of r(w) over the post's words that an article says / sum over all of them."""
        said = {*spoken(title), *body}
        total = sum(self.weights.values())
        return sum(r for word, r in self.weights.items() if word in said) / total if total else 0.0

    @cached_property
    def news_read(self) -> dict[str, tuple[NewsArticle, str, Counter[str], int]]:
        """Each article by id, with the words of its headline and how often it says which names."""
        read = {}
        for article in self.articles:
            names = Counter(keys_of(article))
            title = f" {' '.join(spoken(article.title))} "
            read[article.id] = (article, title, names, max(1, names.total()))
        return read

    @cached_property
    def news_weight(self) -> float:
        """What all articles weigh: sum of s(d)^2."""
        return sum(article.score**2 for article in self.articles)

    def vectors_of(self, phrases: Sequence[Sequence[str]]) -> Vectors:
        """The vectors of phrases; zeros where there is no telling."""
        if self._meaning is None or self._vector is None or not phrases:
            return np.zeros((len(phrases), 1), np.float32)
        return self._meaning.of_phrases(phrases)

    def meaning_of(self, vectors: Vectors) -> Vectors:
        """How near each vector is to the post in meaning; 0 where there is no telling."""
        if self._vector is None or vectors.shape[1] != len(self._vector):
            return np.zeros(len(vectors), np.float32)
        return similarity(vectors, self._vector)

    @cached_property
    def _names(self) -> set[tuple[str, ...]]:
        """The names in the post and in its articles, as words."""
        told = (name for article in self.articles for name in article.entities)
        return {words_of_name(name) for name in (*self.entities, *told)} | {*self._headlined}

    @cached_property
    def _parts(self) -> set[tuple[str, ...]]:
        """All that is part of a longer name."""
        return {part for name in self._names for part in runs(name)}

    def is_name(self, parts: tuple[str, ...]) -> bool:
        """Whether words are a name in the post or in its articles."""
        return parts in self._names

    def is_glued(self, parts: tuple[str, ...]) -> bool:
        """Whether words are a name with something stuck to it: #TysonDies, #ActressCicelyTyson.

        A long name that two shorter ones make together, Aung San Suu and Suu Kyi, is one.
        """
        is_name = parts in self._names
        within = [run for run in runs(parts) if run in self._names and len(run) > is_name]
        return bool(within) and not (is_name and _overlap(parts, within))

    def is_scrap(self, parts: tuple[str, ...]) -> bool:
        """Whether words are no name but a part of one: #LeagueBaseball."""
        return parts not in self._names and parts in self._parts

    @cached_property
    def title_vectors(self) -> Vectors:
        """The vectors of the articles' headlines."""
        return self.vectors_of([spoken(article.title) for article in self.articles])

    @cached_property
    def title_meanings(self) -> Vectors:
        """How near each article's headline is to the post."""
        return self.meaning_of(self.title_vectors)

    @cached_property
    def stories(self) -> Vectors:
        """How likely each article is about what the post is about; 0 where there is no telling."""
        if self._story is None or self._vector is None:
            return np.zeros(len(self.articles), np.float32)
        return self._story.probabilities(self).astype(np.float32)

    @cached_property
    def story_of(self) -> dict[str, float]:
        """The same by the article's id."""
        ids = (article.id for article in self.articles)
        return dict(zip(ids, self.stories.tolist(), strict=True))

    @cached_property
    def tellers(self) -> float:
        """How many articles are to be expected to tell the post's story."""
        return float(self.stories.sum())

    def tells(self, said: Collection[str]) -> float:
        """Of what tells the post's story, the share whose headlines say one of some words."""
        likely = zip(self.articles, self.stories.tolist(), strict=True)
        telling = (
            one for article, one in likely if not set(spoken(article.title)).isdisjoint(said)
        )
        return float(sum(telling)) / max(1.0, self.tellers)

    @cached_property
    def story_shares(self) -> dict[str, float]:
        """Of what tells the post's story, the share that says each hashtag of the news."""
        likely, total = self.story_of, self.tellers or 1.0
        return {
            key: sum([likely[one] for one in told.articles]) / total
            for key, told in self.in_news.items()
        }

    @cached_property
    def headlines(self) -> Vectors:
        """The direction of the headlines, each as far as it tells the post's story."""
        return unit(self.stories @ self.title_vectors)

    @cached_property
    def company(self) -> Vectors:
        """The vectors of the nearest topics of the lexicon, a row each."""
        rows = [entry.row for entry in self.near_topics[:COMPANY]]
        return self.lexicon.vectors[rows]

    @cached_property
    def topic_meanings(self) -> Vectors:
        """How near each topic of the lexicon is to the post."""
        if self._vector is None:
            return np.zeros(0, np.float32)
        return self.lexicon.similar(self._vector)

    @cached_property
    def topics(self) -> tuple[float, Vectors]:
        """Log P(none) and log P(topic) of each topic of the lexicon, as it was learnt."""
        if self._vector is None:
            return UNLIKELY, np.zeros(0, np.float32)
        return self.lexicon.likely(self._vector)

    @cached_property
    def news_topics(self) -> Vectors:
        """The same for the direction of the headlines; nothing where there is none."""
        if self._vector is None or not self.headlines.any():
            return np.full(len(self.lexicon.vectors), UNLIKELY, np.float32)
        return self.lexicon.likely(self.headlines)[1]

    @cached_property
    def told(self) -> dict[int, float]:
        """How much the words and emoji of the post speak for topics of the lexicon, by row."""
        return self.lexicon.told([*self.words, *self.shown])

    @cached_property
    def told_by_news(self) -> dict[int, float]:
        """How much the headlines do that tell the post's story: the mean over them."""
        total = max(1.0, self.tellers)
        found: defaultdict[int, float] = defaultdict(float)
        for article, likely in zip(self.articles, self.stories.tolist(), strict=True):
            if likely >= TOLD_BY:
                for row, weight in _told(self.lexicon, article.title).items():
                    found[row] += likely / total * min(ENOUGH, weight)
        return found

    @cached_property
    def near_topics(self) -> list[LexiconEntry]:
        """The topics of the lexicon that are nearest to the post, by meaning and by cues."""
        near = self.topic_meanings.copy()
        if len(near):
            near += LEARNT * np.maximum(0, 1 - self.topics[1] / UNLIKELY_ENOUGH)
            surest = self.stories.max(initial=0.0)
            near += LEARNT * surest * np.maximum(0, 1 - self.news_topics / UNLIKELY_ENOUGH)
        for told, weight in ((self.told, CUE), (self.told_by_news, NEWS_CUE)):
            for row, much in told.items():
                near[row] += weight * min(ENOUGH, much)
        return self.lexicon.nearest(near, self.moment, TOPICS)

    @cached_property
    def near_keys(self) -> frozenset[str]:
        """What makes those topics hashtags of their own."""
        return frozenset(entry.key for entry in self.near_topics)

    def entry(self, key: str) -> LexiconEntry | None:
        """What the lexicon knew of a hashtag at the post's time, or of the last of its series."""
        known = self.lexicon.get(key, self.moment)
        if known is None and key[-1:].isdecimal() and (key in self.words or key in self.in_news):
            return self.lexicon.earlier(key, self.moment)
        return known

    def age(self, entry: LexiconEntry) -> float:
        """Years since the last use of a hashtag that the lexicon knows; 0 if it goes on."""
        return max(0.0, (self.moment / A_DAY - entry.last) / 365) if entry.last > 0 else 5.0

    def rarity(self, word: str) -> float:
        """How rare a word is in what people say: -log of how many say it."""
        return -math.log1p(self.lexicon.worth_of(word).said)

    def is_mention(self, key: str) -> bool:
        """Whether a hashtag would only repeat what somebody is called on the network, @Astro_Doug.

        What the news says, too, or the post says elsewhere, is more than that.
        """
        called = sum(handle.count(key) for handle in self._handles)
        return called >= "".join(self.words).count(key) > 0 and key not in self.in_news

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
        return set(spoken(" ".join((self.body, *told))))


def _names_of(article: Article) -> list[str]:
    names = (article.entities or ())[:MOST_NAMES]
    return [name for name in names if len(name) <= LONGEST_NAME_READ]


@lru_cache(100_000)
def runs(parts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """All runs of up to eight words within some, but not all of them."""
    return tuple(
        parts[start:end]
        for start in range(len(parts))
        for end in range(start + 1, min(len(parts), start + LONGEST_RUN) + 1)
        if end - start < len(parts)
    )


def _overlap(parts: tuple[str, ...], within: Sequence[tuple[str, ...]]) -> bool:
    """Whether a beginning and an end of some words share a word and make all of them."""
    first = max((len(run) for run in within if run == parts[: len(run)]), default=0)
    last = max((len(run) for run in within if run == parts[-len(run) :]), default=0)
    return first > 0 and last > 0 and first + last > len(parts)


@lru_cache(2_000)
def _told(lexicon: Lexicon, title: str) -> Mapping[int, float]:
    """How much a headline speaks for topics: posts of a day share headlines."""
    return lexicon.told(spoken(title))


def _note(text: str, found: defaultdict[str, Counter[str]]) -> None:
    """Count the writings of a text; words that shout together have none, unlike a name of a few."""
    forms = WORD.findall(text)
    loud = [form.isupper() for form in forms]
    for start, end in _runs_of(loud):
        if not loud[start] or end - start < SHOUTING:
            for form in forms[start:end]:
                found[form.lower()][form] += 1


def _runs_of(signs: Sequence[bool]) -> list[tuple[int, int]]:
    """Where runs of equal signs begin and end."""
    ends = [at for at in range(1, len(signs)) if signs[at] != signs[at - 1]]
    return list(pairwise([0, *ends, len(signs)])) if signs else []


def _is_supported(tag: Generated, said: set[str], prior: Prior) -> bool:
    """Whether post and news say all words of a hashtag, or it is known and likely enough.

    The rest of what a generator writes is invented, was one author's own, or is beside the point;
    so is a word said twice.
    """
    if len(set(tag.words)) < len(tag.words):
        return False
    known = tag.score > UNSAID and "".join(tag.words) in prior.hashtags
    return known or said.issuperset(tag.words)
