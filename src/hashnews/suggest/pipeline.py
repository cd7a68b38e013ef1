"""HashNews: a post in, hashtags with their reasons out.

    with HashNews("news.db") as hashnews:
        answer = hashnews.suggest("Marching for George Floyd tonight")

The only place where the retriever, the generator and the other sources of hashtags meet.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from hashnews.files import RecordFile
from hashnews.generate.generator import Generator
from hashnews.index.folder import NewsIndex
from hashnews.news.ingest import add_files
from hashnews.news.migrations import MIGRATIONS
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary
from hashnews.posts.table import add_posts
from hashnews.prepare.preparer import Preparer
from hashnews.records import Answer, FoundArticle, Post, PreparedPost, Suggestion
from hashnews.retrieve.all_words import AllWordsRetriever
from hashnews.sample import sample_file
from hashnews.suggest.candidates import Candidates, Search
from hashnews.suggest.families import are_family
from hashnews.suggest.filters import MANY, Filters
from hashnews.suggest.judges import Judges
from hashnews.suggest.memory import Memory
from hashnews.suggest.model import Model, shipped_model
from hashnews.suggest.query import PostWithNews, Query, with_news
from hashnews.suggest.reasons import reasons
from hashnews.suggest.writing import Writer
from hashnews.text.entities import load_finder, shipped_finder
from hashnews.text.hashtags import shipped_forms
from hashnews.text.segment import shipped_segmenter

AnyPost = str | Post | PreparedPost
NOTHING_FITS = "Nothing in the news or in your memory fits this post."
NOT_ENGLISH = (
    "This post does not seem to be in English: only what the post and your memory say is suggested."
)
VARIANTS = 3  # of a hashtag that are named


class HashNews:
    """Suggests hashtags from one store; may be called from any thread."""

    def __init__(self, news: str | Path | None = None, model: str | Path | None = None):
        """Open a store (default: the shipped sample) and a model (default: the shipped one)."""
        self.model = Model.load(shipped_model() if model is None else Path(model))
        self.store = NewsStore(sample_store() if news is None else news)
        self.index = NewsIndex.open(self.store)
        self.retriever = AllWordsRetriever(self.index)
        segmenter = shipped_segmenter()
        self.preparer = Preparer(segmenter, load_finder(self.store.state().finder or "fast"))
        self.memory = Memory.open(self.store, self.model.config.days)
        self._filters = Filters(self.model.blocked, segmenter.counts)
        self._forms = shipped_forms()
        self._writer = Writer(self._forms, shipped_finder().truecase, self.model.prior.hashtags)
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

    def refresh(self) -> None:
        """Take in the articles and posts added to the store since."""
        with self._lock:
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
        """The n best hashtags for a post, best first; without a time it is written now."""
        return self.suggest_all([post], n, min_score)[0]

    async def asuggest(self, post: AnyPost, n: int = 5, min_score: float = 0.0) -> Answer:
        """`suggest` without holding up the event loop."""
        return await asyncio.to_thread(self.suggest, post, n, min_score)

    def suggest_all(
        self, posts: Sequence[AnyPost], n: int = 5, min_score: float = 0.0
    ) -> list[Answer]:
        """The answers for many posts; the generator reads them together.

        Of a prepared post the trailing hashtags are the targets, so they count as unknown.
        """
        with self._lock:
            clock = _Clock(len(posts))
            asked = [self._read(post) for post in posts]
            clock.lap("read")
            read = with_news(self.retriever, self.store, [ready for _, ready in asked])
            clock.lap("retrieve")
            best = self._suggestions(read, n, min_score)
            clock.lap("suggest")
        return [
            _answer(post, at, said, clock.timings)
            for (post, _), at, said in zip(asked, read, best, strict=True)
        ]

    def _read(self, post: AnyPost) -> tuple[Post, PreparedPost]:
        """A post as it is answered, and made ready."""
        if isinstance(post, str):
            post = Post.model_validate({"text": post})
        if post.created_at is None:
            post = post.model_copy(update={"created_at": datetime.now(UTC)})
        if isinstance(post, Post):
            return post, self.preparer.read(post)
        return post.as_post(), post.model_copy(update={"hashtags": ()})

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

    def _floor(self, query: Query, found: Candidates, place: int) -> float:
        """How likely on topic a candidate must be to be shown."""
        remembered = found.tags[place] >= 0 and found.evidence.view.size >= MANY
        said = remembered or found.keys[place] in query.in_post
        return self.model.config.floor if said else self.model.config.unsaid

    def _best(
        self, judges: Judges, query: Query, found: Candidates, n: int, min_score: float
    ) -> list[Suggestion]:
        """The best candidates that are on topic and good hashtags, with their reasons."""
        verdict = judges.judge(found.features)
        used = np.round(verdict.used, 4)
        shown: dict[int, list[int]] = {}  # place -> its variants
        for place in np.argsort(-verdict.used, kind="stable").tolist():
            if used[place] < min_score or (len(shown) == n and verdict.used[place] <= 0):
                break
            if verdict.on_topic[place] < self._floor(query, found, place):
                continue
            if not self._filters.lets_pass(query, found, place):
                continue
            words = found.words[place]
            head = next((at for at in shown if are_family(query, words, found.words[at])), None)
            if head is not None:
                shown[head].append(place)
            elif len(shown) < n:
                shown[place] = []
        because = reasons(query, found, judges, list(shown)) if shown else []
        return [
            Suggestion(
                hashtag=self._writer.write(query, found, place),
                words=found.words[place],
                score=float(used[place]),
                because=why,
                on_topic=round(float(verdict.on_topic[place]), 4),
                variants=tuple(
                    self._writer.write(query, found, other) for other in others[:VARIANTS]
                ),
            )
            for (place, others), why in zip(shown.items(), because, strict=True)
        ]


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
