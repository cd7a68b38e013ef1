"""HashNews: a post in, hashtags with their reasons out.

    with HashNews.load(news=Path("news.db")) as hashnews:
        answer = hashnews.suggest(Post.model_validate({"text": "..."}))

The only place where the retriever, the generator and the other sources of hashtags meet.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from hashnews.files import RecordFile
from hashnews.generate.batch import Example
from hashnews.generate.generator import Generated, Generator
from hashnews.index.folder import NewsIndex
from hashnews.news.ingest import add_files
from hashnews.news.migrations import MIGRATIONS
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary
from hashnews.posts.table import add_posts, read_posts
from hashnews.prepare.preparer import Preparer, rule_of
from hashnews.records import (
    Answer,
    Article,
    ContextWord,
    FoundArticle,
    Post,
    PreparedPost,
    Reason,
    Retrieved,
    Suggestion,
)
from hashnews.retrieve.all_words import AllWordsRetriever
from hashnews.sample import sample_file
from hashnews.suggest.because import reasons
from hashnews.suggest.evidence import Desk, Past
from hashnews.suggest.features import (
    LEAST,
    Candidates,
    Query,
    look_back,
    with_generator,
)
from hashnews.suggest.filters import is_private, is_said, is_slip, is_supported, said_by
from hashnews.suggest.from_text import Told
from hashnews.suggest.memory import Memory
from hashnews.suggest.model import Model, shipped_model
from hashnews.suggest.prior import Knowledge
from hashnews.text.entities import load_finder
from hashnews.text.hashtags import shipped_forms
from hashnews.text.segment import shipped_segmenter
from hashnews.text.tokens import words
from hashnews.times import microseconds


class Read(NamedTuple):
    """A post and what the news says about it."""

    post: PreparedPost
    moment: int
    context: list[ContextWord]
    articles: list[tuple[Retrieved, Article]]


class HashNews:
    """Suggests hashtags from one store; for one thread."""

    def __init__(self, store: NewsStore, model: Model):
        self.store = store
        self.model = model
        self.index = NewsIndex.open(store)
        self.retriever = AllWordsRetriever(self.index)
        self.memory = Memory(days=model.config.days)
        self._last_post = 0
        finder = load_finder(store.state().finder or "fast")
        self._segmenter = shipped_segmenter()
        self.preparer = Preparer(self._segmenter, finder)
        self._forms = shipped_forms()
        self._generator = None if model.generator is None else Generator.load(model.generator)
        self._remember()

    @classmethod
    def load(cls, news: Path | None = None, model: Path | None = None) -> Self:
        """Open a store (by default the shipped sample) and a model (by default the shipped one)."""
        opened = Model.load(shipped_model() if model is None else model)
        return cls(NewsStore(sample_store() if news is None else news), opened)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the store back."""
        self.store.close()

    def refresh(self) -> None:
        """Take in the articles and posts added to the store since."""
        self.index.refresh(self.store)
        self._remember()

    def _remember(self) -> None:
        new = list(read_posts(self.store, self._last_post))
        if new:
            self._last_post = new[-1].row
            self.memory.extend(new)
        if new or not hasattr(self, "_desk"):
            self._desk = Desk(self.memory)

    def suggest(self, post: Post, n: int = 10, min_score: float = 0.0) -> Answer:
        """The n best hashtags for a post, best first; without a time it is written now."""
        return self.suggest_all([post], n, min_score)[0]

    def suggest_all(
        self, posts: Sequence[Post], n: int = 10, min_score: float = 0.0
    ) -> list[Answer]:
        """The answers for many posts; the generator reads them together."""
        began = time.perf_counter()
        now = datetime.now(UTC)
        dated = [
            post if post.created_at else post.model_copy(update={"created_at": now})
            for post in posts
        ]
        ready = [self.preparer.read(post) for post in dated]
        spent = {"read": _share(began, len(posts))}
        return self._answers(dated, ready, n, min_score, spent)

    def suggest_again(self, posts: Sequence[PreparedPost], n: int = 10) -> list[Answer]:
        """What would have been suggested for prepared posts, their own targets unknown."""
        asked = [
            Post(id=post.id, text=post.body, created_at=post.created_at, user=post.user,
                 collection=post.collection)
            for post in posts
        ]  # fmt: skip
        ready = [post.model_copy(update={"hashtags": ()}) for post in posts]
        return self._answers(asked, ready, n, 0.0, {})

    def _answers(
        self,
        posts: Sequence[Post],
        ready: Sequence[PreparedPost],
        n: int,
        min_score: float,
        spent: dict[str, float],
    ) -> list[Answer]:
        began = time.perf_counter()
        read = look_up(self.retriever, self.store, ready)
        spent["retrieve"] = _share(began, len(posts))
        began = time.perf_counter()
        written = generate(self._generator, read, self.model.config.beams)
        spent["generate"] = _share(began, len(posts))
        began = time.perf_counter()
        known = self.model.knowledge
        asked = [query_of(at, known, beams) for at, beams in zip(read, written, strict=True)]
        pasts, found = [], []
        for post, query in zip(posts, asked, strict=True):
            never = rule_of(post).searched_for
            past, candidates = look_back(self.memory, self._desk, query, post.user, never)
            pasts.append(past)
            found.append(candidates)
        judged = judge(self._generator, read, found)
        suggestions = [
            self._best(query, past, candidates, n, min_score)
            for query, past, candidates in zip(asked, pasts, judged, strict=True)
        ]
        spent["rank"] = _share(began, len(posts))
        spent["total"] = sum(spent.values())
        return [
            answer_of(post, at, best, spent)
            for post, at, best in zip(posts, read, suggestions, strict=True)
        ]

    def _best(
        self, query: Query, past: Past, found: Candidates, n: int, min_score: float
    ) -> list[Suggestion]:
        """The best candidates that are good hashtags, with their reasons."""
        scores = self.model.ranker.scores(found.features)
        probabilities = np.round(self.model.ranker.calibration(scores), 4)
        said = said_by(query)
        places: list[int] = []
        for place in np.argsort(-scores, kind="stable").tolist():
            if len(places) == n or probabilities[place] < min_score:
                break
            if self._is_good(past, found, place) and is_said(found, place, said):
                places.append(place)
        because = reasons(query, past, found, self.model.ranker, places) if places else []
        return [
            Suggestion(
                hashtag=self._write(query, past, found, place),
                words=found.words[place],
                score=float(probabilities[place]),
                because=tuple(self._with_rise(reason, query.moment) for reason in why),
            )
            for place, why in zip(places, because, strict=True)
        ]

    def _with_rise(self, reason: Reason, moment: int) -> Reason:
        """A reason with how much the name that the news says is on the rise."""
        name = words(reason.entity or "") if reason.source == "news" else []
        if not name:
            return reason
        rise = round(self.retriever.popularity(name, moment), 3)
        return reason.model_copy(update={"rise": rise})

    def _is_good(self, past: Past, found: Candidates, place: int) -> bool:
        key, words, tag = found.keys[place], found.words[place], int(found.tags[place])
        if self.model.blocked.holds(key, words):
            return False
        if key in found.in_post or key in found.in_news:
            return True
        if is_slip(past, key, words, self._segmenter.counts):
            return False
        return tag < 0 or not is_private(past, tag)

    def _write(self, query: Query, past: Past, found: Candidates, place: int) -> str:
        """As most write it: in the memory, or else where the model learnt."""
        key, tag = found.keys[place], int(found.tags[place])
        season, known = query.season.get(key), self.model.knowledge.hashtags.get(key)
        elsewhere = known or (season.written if season else None)
        here = past.written(tag) if tag >= 0 else [elsewhere] if elsewhere else []
        return self._forms.write(found.words[place], here)


def answer_of(
    post: Post, read: Read, suggestions: Sequence[Suggestion], timings: dict[str, float]
) -> Answer:
    """What is said to a post."""
    return Answer(
        post=post,
        suggestions=tuple(suggestions),
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
    )


def _share(began: float, posts: int) -> float:
    """Milliseconds since then, a post."""
    return 1000 * (time.perf_counter() - began) / max(1, posts)


def look_up(
    retriever: AllWordsRetriever, store: NewsStore, posts: Sequence[PreparedPost]
) -> list[Read]:
    """What the news before each post says about it."""
    read = []
    for post, context in zip(posts, retriever.retrieve_all(posts), strict=True):
        articles = [(found, store.get(found.id)) for found in context.articles]
        told = [(found, article) for found, article in articles if article is not None]
        moment = microseconds(post.created_at or datetime.now(UTC))
        read.append(Read(post, moment, context.words, told))
    return read


def generate(
    generator: Generator | None, read: Sequence[Read], beams: int
) -> list[list[Generated]]:
    """What the generator writes for each post, where there is one."""
    if generator is None:
        return [[] for _ in read]
    return generator.suggest(_examples(generator, read), beams)


def judge(
    generator: Generator | None, read: Sequence[Read], found: Sequence[Candidates]
) -> list[Candidates]:
    """Candidates with the generator's opinion of them, where there is a generator."""
    if generator is None:
        return list(found)
    hashtags = [known.words for known in found]
    scores = generator.score(_examples(generator, read), hashtags, LEAST)
    return [with_generator(known, row) for known, row in zip(found, scores, strict=True)]


def _examples(generator: Generator, read: Sequence[Read]) -> list[Example]:
    return [Example.of(generator.config, at.post.body, at.context) for at in read]


def query_of(read: Read, knowledge: Knowledge, generated: Sequence[Generated] = ()) -> Query:
    """A post, its news and what was generated, as candidates are looked for."""
    post = read.post
    said = {*words(post.body), *(word.word for word in read.context)}
    known = knowledge.hashtags
    best = read.articles[0][0].score if read.articles else 1.0
    return Query(
        moment=read.moment,
        body=post.body,
        entities=post.entities,
        given=frozenset(tag.key for tag in (*post.hashtags, *post.inline)),
        context=read.context,
        articles=[
            Told(article.id, article.title, article.entities or (), found.score / best)
            for found, article in read.articles
        ],
        generated=[tag.words for tag in generated if is_supported(*tag, said, known)],
        season=knowledge.calendar.season(read.moment),
    )


def sample_store() -> Path:
    """The store of the shipped sample, news and posts; made once, in the user's cache folder."""
    with sample_file("news.jsonl") as news, sample_file("posts.jsonl") as posts:
        content = news.read_bytes() + posts.read_bytes() + bytes([len(MIGRATIONS)])
        name = f"sample-{hashlib.sha256(content).hexdigest()[:12]}.db"
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hashnews"
        try:
            home.mkdir(parents=True, exist_ok=True)
        except OSError:  # no home, or not ours
            home = Path(tempfile.gettempdir()) / f"hashnews-{os.getuid()}"
            home.mkdir(mode=0o700, exist_ok=True)
        if not (home / name).exists():
            with tempfile.TemporaryDirectory(dir=home) as scratch:
                finder = load_finder("fast")
                with NewsStore(Path(scratch) / name, "write") as store:
                    add_files(store, finder, [str(news)], Refusals(Summary()))
                    preparer = Preparer(shipped_segmenter(), finder)
                    add_posts(store, preparer.remember(RecordFile(posts, Post)))
                os.replace(Path(scratch) / name, home / name)
    return home / name
