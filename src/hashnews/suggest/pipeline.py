"""HashNews: a post in, hashtags with their reasons out.

    with HashNews("news.db") as hashnews:
        answer = hashnews.suggest("Marching for George Floyd tonight")

The only place where the retriever, the generator and the other sources of hashtags meet.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from hashnews.errors import ModelError
from hashnews.generate.generator import Generator
from hashnews.index.folder import NewsIndex
from hashnews.news.store import NewsStore
from hashnews.posts.sample_store import sample_store
from hashnews.prepare.preparer import Preparer
from hashnews.records import Answer, Explained, FoundArticle, Post, PreparedPost, Suggestion
from hashnews.retrieve.all_words import AllWordsRetriever
from hashnews.sample import END as SAMPLE_END
from hashnews.suggest.candidates import Candidates, Search
from hashnews.suggest.families import are_family
from hashnews.suggest.filters import Filters, is_namesake, is_other_kind, is_said
from hashnews.suggest.judges import Judges
from hashnews.suggest.language_model import MOST_HEADLINES, LanguageModel
from hashnews.suggest.memory import Memory
from hashnews.suggest.model import Model, shipped_model
from hashnews.suggest.query import PostWithNews, Query, with_news
from hashnews.suggest.reasons import reasons
from hashnews.suggest.sources import optional_sources
from hashnews.suggest.world import NEAR, SURELY, World, world_of
from hashnews.suggest.writing import Writer
from hashnews.text.entities import load_finder, shipped_finder
from hashnews.text.hashtags import shipped_forms
from hashnews.text.segment import shipped_segmenter

AnyPost = str | Post | PreparedPost
NOTHING_FITS = "Nothing in the news or in your memory fits this post."
NOT_ENGLISH = (
    "This post does not seem to be in English: only what the post and your memory say is suggested."
)
IS_GIVEN, NO_HASHTAG = "the post has it already", "it has no letters"
MOST_EXPLAINED = 50  # hashtags beside which one that is explained must stand
VARIANTS = 3  # of a hashtag that are named
NEVER = 2.0  # a floor that nothing reaches
TOLD, SURE = 0.05, 0.9  # how likely an article tells the post's story
MOST_OF_THE_NEWS = 0.6  # the weight of the articles that make a name more than hearsay


class HashNews:
    """Suggests hashtags from one store; may be called from any thread."""

    def __init__(
        self,
        news: str | Path | None = None,
        model: str | Path | None = None,
        llm: str | LanguageModel | None = None,
    ):
        """Open a store (default: the shipped sample) and a model (default: the shipped one).

        `llm` is a language model that proposes hashtags, too, or its address (default: none).
        """
        self._llm = LanguageModel(llm) if isinstance(llm, str) else llm
        optional_sources()  # what is wrong with a plug-in is said now
        self.model = Model.load(shipped_model() if model is None else Path(model))
        self.store = NewsStore(sample_store() if news is None else news)
        self._end = SAMPLE_END if news is None else None  # what is asked of the sample is of then
        self.index = NewsIndex.open(self.store)
        self.retriever = AllWordsRetriever(self.index)
        self._segmenter = shipped_segmenter()
        finder = load_finder(self.store.state().finder or "fast")
        self.preparer = Preparer(self._segmenter, finder)
        self.memory = Memory.open(self.store, self.model.config.days)
        truecase = shipped_finder().truecase
        self._filters = Filters(self.model.blocked, self._segmenter.counts, truecase)
        self._forms = shipped_forms()
        self._writer = Writer(self._forms, truecase, self.model.prior.hashtags)
        named = self.model.generator
        self._generator = None if named is None else Generator.load(named)
        self._lock = threading.Lock()
        self._search = self._new_search()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the store back."""
        self.store.close()
        if self._llm is not None:
            self._llm.close()

    def refresh(self) -> None:
        """Take in the articles and posts added to the store since."""
        with self._lock:
            self.store.database.follow_name()
            self.index.refresh(self.store)
            if self.memory.refresh(self.store):
                self._search = self._new_search()

    def _new_search(self) -> Search:
        return Search(
            self.memory,
            self._generator,
            self.model.prior,
            self.model.config.beams,
            self.retriever.popularity,
        )

    def suggest(self, post: AnyPost, n: int = 5, min_score: float = 0.0) -> Answer:
        """The n best hashtags for a post, best first.

        Without a time it is written now; of the shipped sample that is the sample's end.
        """
        return self.suggest_all([post], n, min_score)[0]

    async def asuggest(self, post: AnyPost, n: int = 5, min_score: float = 0.0) -> Answer:
        """`suggest` without holding up the event loop."""
        import asyncio

        return await asyncio.to_thread(self.suggest, post, n, min_score)

    def suggest_all(
        self,
        posts: Sequence[AnyPost],
        n: int = 5,
        min_score: float = 0.0,
        proposed: Sequence[Sequence[str]] | None = None,
    ) -> list[Answer]:
        """The answers for many posts; the generator reads them together.

        Of a prepared post the trailing hashtags are the targets, so they count as unknown.
        `proposed` are hashtags for each post that somebody else thought of: they are judged, too,
        and the language model is not asked.
        """
        with self._lock:
            clock = _Clock(len(posts))
            asked = [self._read(post) for post in posts]
            clock.lap("read")
            read = with_news(self.retriever, self.store, [ready for _, ready in asked])
            clock.lap("retrieve")
        if proposed is None and self._llm is not None:  # nobody else has to wait for it
            proposed = self._llm.propose_all([(at.post.body, headlines(at)) for at in read])
            clock.lap("llm")
        with self._lock:
            if proposed is not None:
                read = [self._with(at, some) for at, some in zip(read, proposed, strict=True)]
            best = self._suggestions(read, n, min_score)
            clock.lap("suggest")
        return [
            _answer(post, at, said, clock.timings)
            for (post, _), at, said in zip(asked, read, best, strict=True)
        ]

    def headlines(self, posts: Sequence[AnyPost]) -> list[list[str]]:
        """The headlines of the news of each post, best first: what a language model reads."""
        with self._lock:
            ready = [self._read(post)[1] for post in posts]
            return [headlines(at) for at in with_news(self.retriever, self.store, ready)]

    def explain(self, post: AnyPost, hashtag: str) -> Explained:
        """What speaks for a hashtag, whoever thought of it, and what keeps it from being shown."""
        judges = self.model.judges
        if judges is None:
            raise ModelError(f"{self.model.directory} is a generator alone: it cannot explain")
        words = self._segmenter.segment(hashtag)
        with self._lock:
            _, ready = self._read(post)
            read = with_news(self.retriever, self.store, [ready])
            ((query, found),) = self._search.candidates(read, also=[[words]])
            key = "".join(words)
            if key not in found.keys:
                why = IS_GIVEN if key in query.given else NO_HASHTAG
                return Explained(hashtag=hashtag, words=words, why_not=why)
            place = found.keys.index(key)
            verdict = judges.judge(found.features, 0.0, found.vectors)
            shown = self._best(judges, query, found, MOST_EXPLAINED, 0.0)
            best = max((one.on_topic for one in shown), default=0.0)
            on_topic = float(verdict.on_topic[place])
            world = world_of(query, found.evidence.view)
            floor = self._floor(query, found, place, world, float(verdict.used[place]), best)
            why_not = None
            if floor == NEVER:
                why_not = "people use it, but not for posts like this one"
            elif on_topic < floor:
                why_not = f"on topic with {on_topic:.0%}: {floor:.0%} is needed"
            elif not is_said(query, found, place):
                why_not = "neither the post, nor the news before it, nor the memory says it"
            elif not self._filters.lets_pass(query, found, place, world):
                why_not = "it is blocked, misspelt, somebody's own, or no name that people use"
            return Explained(
                hashtag=self._writer.write(query, found, place),
                words=found.words[place],
                on_topic=round(on_topic, 4),
                score=round(float(verdict.used[place]), 4),
                because=reasons(query, found, judges, [place])[0],
                why_not=why_not,
            )

    def _read(self, post: AnyPost) -> tuple[Post, PreparedPost]:
        """A post as it is answered, and made ready."""
        if isinstance(post, str):
            post = Post.model_validate({"text": post})
        if post.created_at is None:
            post = post.model_copy(update={"created_at": self._end or datetime.now(UTC)})
        if isinstance(post, Post):
            return post, self.preparer.read(post)
        return post.as_post(), post.model_copy(update={"hashtags": ()})

    def _with(self, read: PostWithNews, proposed: Sequence[str]) -> PostWithNews:
        """A post with what was proposed for it, cut into words."""
        return read._replace(proposed=tuple(map(self._segmenter.segment, proposed)))

    def _suggestions(self, read: Sequence[PostWithNews], n: int, min_score: float) -> list[Said]:
        judges = self.model.judges
        if judges is None:
            generated = self._generated(read, n, min_score)
            return [Said(some, None if some else NOTHING_FITS) for some in generated]
        said = []
        for query, found in self._search.candidates(read):
            best = self._best(judges, query, found, n, min_score)
            note = None if best else NOTHING_FITS
            said.append(Said(best, note if query.is_english else NOT_ENGLISH))
        return said

    def _generated(
        self, read: Sequence[PostWithNews], n: int, min_score: float
    ) -> list[list[Suggestion]]:
        """What a generator alone writes, as it writes it."""
        if self._generator is None:
            return [[] for _ in read]
        posts, contexts = [at.post for at in read], [at.context for at in read]
        written = self._generator.suggest_posts(posts, contexts, self._forms, n)
        return [[one for one in tags if one.score >= min_score] for tags in written]

    def _floor(
        self,
        query: Query,
        found: Candidates,
        place: int,
        world: World,
        used: float,
        best: float,
    ) -> float:
        """How likely on topic a candidate must be to be shown beside the best so far."""
        own = found.feature("own")[place] + found.feature("own_inline")[place] > 0
        is_strange = found.tags[place] >= 0 and not (world.is_large or world.is_near(found, place))
        if is_strange and found.keys[place] not in query.in_post:
            return SURELY  # a small memory has it, and for other posts
        is_known = found.tags[place] >= 0 and world.is_large
        if own or (is_known and world.is_home(found, place, used)):
            return self.model.config.remembered
        is_about = found.keys[place] in query.in_post or found.feature("meaning")[place] >= NEAR
        if is_known and not is_about:
            return NEVER  # it is popular, and that is all
        if found.keys[place] in query.proposed:
            return self.model.config.proposed  # a language model that read the post says so, too
        key = found.keys[place]
        is_of_series = (
            key[-1:].isdecimal() and key in query.in_post and query.entry(key) is not None
        )
        named = is_of_series or found.feature("post_name")[place] > 0
        if named and found.feature("news_name")[place] >= MOST_OF_THE_NEWS:
            return self.model.config.remembered  # named by the post, and by most of its news, too
        if named or is_headlined(query, found, place):
            return self.model.config.floor  # named by the post, or by most of its headlines
        if not query.is_legible:
            return NEVER
        cues = found.feature("cues")[place] + found.feature("news_cues")[place]
        is_hearsay = set(found.words[place]).isdisjoint(query.words) and not cues
        least = self.model.config.hearsay if is_hearsay else self.model.config.floor
        return max(least, self.model.config.of_best * best)

    def _best(
        self, judges: Judges, query: Query, found: Candidates, n: int, min_score: float
    ) -> list[Suggestion]:
        """The best candidates that are on topic and good hashtags, with their reasons."""
        verdict = judges.judge(found.features, self.model.config.remembered, found.vectors)
        used, world = np.round(verdict.used, 4), world_of(query, found.evidence.view)
        shown: dict[int, list[int]] = {}  # place -> its variants
        best = 0.0
        for place in np.argsort(-verdict.used, kind="stable").tolist():
            if used[place] < min_score or (len(shown) == n and verdict.used[place] <= 0):
                break
            floor = self._floor(query, found, place, world, float(used[place]), best)
            if verdict.on_topic[place] < floor:
                continue
            words = found.words[place]
            head = next((at for at in shown if are_family(query, words, found.words[at])), None)
            is_wanted = len(shown) < n if head is None else len(shown[head]) < VARIANTS
            if not is_wanted or not self._filters.lets_pass(query, found, place, world):
                continue
            beside = [found.words[at] for at in shown]
            if is_namesake(query, words, beside) or is_other_kind(query, words, beside):
                continue
            best = max(best, float(verdict.on_topic[place]))
            if head is None:
                shown[place] = []
            else:
                shown[head].append(place)
        because = reasons(query, found, judges, list(shown)) if shown else []
        return [
            Suggestion(
                hashtag=self._writer.write(query, found, place),
                words=found.words[place],
                score=float(used[place]),
                because=why,
                on_topic=round(float(verdict.on_topic[place]), 4),
                variants=tuple(self._writer.write(query, found, other) for other in others),
            )
            for (place, others), why in zip(shown.items(), because, strict=True)
        ]


def is_headlined(query: Query, found: Candidates, place: int) -> bool:
    """Whether most headlines say a hashtag, or it is a name and most that tell the story do."""
    surest, told = query.stories.max(initial=0.0), query.in_news.get(found.keys[place])
    if surest >= TOLD and found.feature("news_title")[place] >= MOST_OF_THE_NEWS:
        return True
    is_name = told is not None and told.name is not None
    return surest >= SURE and is_name and found.feature("story_title")[place] >= MOST_OF_THE_NEWS


def headlines(read: PostWithNews) -> list[str]:
    """The headlines of the news of a post, best first: what a language model reads of it."""
    return [article.title for _, article in read.articles[:MOST_HEADLINES]]


class Said(NamedTuple):
    """What is suggested for a post, and what there is to say about it."""

    suggestions: Sequence[Suggestion]
    note: str | None


class _Clock:
    """Milliseconds of each step, per post."""

    def __init__(self, posts: int):
        self.timings: dict[str, float] = {"total": 0.0}
        self._posts, self._last = max(1, posts), time.perf_counter()

    def lap(self, step: str) -> None:
        """A step has ended."""
        now = time.perf_counter()
        self.timings[step] = 1000 * (now - self._last) / self._posts
        self.timings["total"] += self.timings[step]
        self._last = now


def _answer(post: Post, read: PostWithNews, said: Said, timings: dict[str, float]) -> Answer:
    return Answer(
        post=post,
        post_id=post.id,
        suggestions=tuple(said.suggestions),
        articles=tuple(
            FoundArticle(
                id=article.id,
                title=article.title,
                published_at=article.published_at,
                score=retrieved.score,
                window=retrieved.window,
                entities=tuple(dict.fromkeys(article.entities or ())),
                url=article.url,
                source=article.source,
            )
            for retrieved, article in read.articles
        ),
        context=tuple(read.context),
        timings_ms=timings,
        note=said.note,
    )
