"""A suggester from raw posts and a store of news, in one go.

    raw posts + news.db ──train best──▶ model/

The posts are the memory and the lessons: the oldest only fill the memory, the newest calibrate the
scores and give the figures of the model card, those between teach the ranker.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from hashnews.config import Config
from hashnews.errors import ConfigError, DataError
from hashnews.files import RecordFile
from hashnews.generate.generator import Generator
from hashnews.index.folder import NewsIndex
from hashnews.learn.examples import Examples, RankerConfig, fit, situations, suggested
from hashnews.news.store import NewsStore
from hashnews.posts.table import remembered
from hashnews.prepare.preparer import Preparer
from hashnews.records import Post, PreparedPost
from hashnews.retrieve.all_words import AllWordsRetriever
from hashnews.suggest.memory import Memory
from hashnews.suggest.model import ModelConfig, save_model
from hashnews.suggest.pipeline import look_up
from hashnews.suggest.prior import Knowledge, knowledge_of, known_hashtags, merged
from hashnews.suggest.ranker import Ranker
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter

Watch = Callable[[Iterable[PreparedPost], str], Iterable[PreparedPost]]


class PostSet(Config):
    """Posts, and the news of their time."""

    posts: tuple[Path, ...]
    news: Path
    collection: str | None = None
    """Only posts of this collection."""
    history: tuple[Path, ...] = ()
    """Older posts, of any collection, that only fill memory and calendar."""


class SuggesterConfig(Config):
    """What a suggester is trained on, and how."""

    sets: tuple[PostSet, ...]
    generator: Path | None = None
    """A trained generator, whose hashtags become candidates."""
    beams: int = 10
    warm_up: float = 0.2
    """The share of the oldest posts that only fill the memory."""
    held_out: float = 0.1
    """The share of the newest that calibrate and measure."""
    most: int = 6000
    """Posts of a set that teach, drawn at random where there are more."""
    ranker: RankerConfig = RankerConfig()


class Lessons(NamedTuple):
    """The examples of one set, and what there is to know from its posts."""

    taught: list[Examples]
    held_out: list[Examples]
    knowledge: Knowledge


def train(config: SuggesterConfig, out: Path, watch: Watch = lambda posts, _: posts) -> Ranker:
    """Train a suggester and write its directory."""
    if not config.sets:
        raise ConfigError("there are no posts to learn from: name --posts and --news")
    generator = None if config.generator is None else Generator.load(config.generator)
    lessons = [_lessons(config, chosen, generator, watch) for chosen in config.sets]
    taught = [part for lesson in lessons for part in lesson.taught]
    held_out = [part for lesson in lessons for part in lesson.held_out]
    ranker = fit(config.ranker, taught, held_out)
    figures = {
        situation: suggested(ranker, [lesson.held_out[at] for lesson in lessons])
        for at, situation in enumerate(("online", "frozen", "news only"))
    }
    about = {
        "features": "hashnews.suggest.features",
        "posts": sum(len(part.sizes) for part in taught),
        "held_out": figures,
    }
    named = None if config.generator is None else os.path.relpath(config.generator, out)
    settings = ModelConfig(generator=named, beams=config.beams)
    knowledge = merged([lesson.knowledge for lesson in lessons])
    save_model(out, ranker, settings, knowledge, _card(about), about)
    return ranker


def _lessons(
    config: SuggesterConfig, chosen: PostSet, generator: Generator | None, watch: Watch
) -> Lessons:
    with NewsStore(chosen.news) as store:
        finder = load_finder(store.state().finder or "fast")
        preparer = Preparer(shipped_segmenter(), finder)
        raw = chain(_raw(chosen.history, None), _raw(chosen.posts, chosen.collection))
        posts = [remembered(post) for post in preparer.remember(raw)]
        usable = sorted(
            preparer.prepare(_raw(chosen.posts, chosen.collection)), key=lambda post: _time(post)
        )
        first, last = int(config.warm_up * len(usable)), int((1 - config.held_out) * len(usable))
        if not first < last < len(usable):
            raise DataError(f"{len(usable)} posts with trailing hashtags are too few to learn from")
        some = usable[first:last]
        if len(some) > config.most:
            some = sorted(random.Random(1).sample(some, config.most), key=lambda post: _time(post))
        retriever = AllWordsRetriever(NewsIndex.open(store))
        memory = Memory(posts, ModelConfig().days)
        began = remembered(some[0]).posted
        knowledge = knowledge_of(posts)
        # What the calendar says of a post is a year older by itself.
        before = known_hashtags(post for post in posts if post.posted < began)
        older = knowledge._replace(hashtags=before)

        def lessons(posts: Sequence[PreparedPost], what: str) -> list[Examples]:
            read = [at for post in watch(posts, what) for at in look_up(retriever, store, [post])]
            return situations(read, memory, config.ranker, generator, older, config.beams)

        taught, held_out = lessons(some, "taught"), lessons(usable[last:], "held out")
        return Lessons(taught, held_out, knowledge)


def _raw(files: Iterable[Path], collection: str | None) -> Iterator[Post]:
    for path in files:
        for post in RecordFile(path, Post):
            if collection is None or post.collection in (None, collection):
                yield post


def _time(post: PreparedPost) -> tuple[Any, str]:
    if post.created_at is None:
        raise DataError(f"post {post.id} has no created_at: without it nothing can be its past")
    return post.created_at, post.id


def _card(about: dict[str, Any]) -> str:
    rows = "\n".join(
        f"| {situation} | {100 * f1[0]:.1f} | {100 * f1[1]:.1f} |"
        for situation, f1 in about["held_out"].items()
    )
    return f"""# A suggester of hashtags

Gradient-boosted trees over what the memory of posts, the author, the news and the generator say
of each candidate, taught on {about["posts"]:,} posts, each from its own past. The scores are
calibrated on newer posts, which also gave these figures:

| situation | F1@1 | F1@5 |
|---|---|---|
{rows}

It knows no hashtags and no people by itself: those come from the store it is used with.
"""
