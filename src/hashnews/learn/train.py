"""A suggester from raw posts and a store of news, in one go.

    raw posts + news.db ──train best──▶ model/

The posts are the memory and the lessons: the oldest only fill the memory, the newest calibrate the
scores and give the figures of the model card, those between teach the ranker.
"""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hashnews import __version__
from hashnews.config import Config
from hashnews.errors import ConfigError, DataError
from hashnews.files import RecordFile
from hashnews.generate.generator import Generator
from hashnews.index.folder import NewsIndex
from hashnews.learn.examples import (
    SITUATIONS,
    Examples,
    RankerConfig,
    as_often_as_used,
    fit,
    situations,
    suggested,
)
from hashnews.news.store import NewsStore
from hashnews.posts.table import remembered
from hashnews.prepare.datasets import of_collection, rules_for
from hashnews.prepare.preparer import Preparer
from hashnews.records import Post, PreparedPost
from hashnews.retrieve.all_words import AllWordsRetriever
from hashnews.suggest.candidates import Search
from hashnews.suggest.judges import Judges
from hashnews.suggest.lexicon import Lexicon, shipped_lexicon
from hashnews.suggest.memory import Memory
from hashnews.suggest.model import ModelConfig, load_judges, save_model, shipped_model
from hashnews.suggest.prior import Prior, known_hashtags, merged, prior_of
from hashnews.suggest.query import with_news
from hashnews.suggest.ranker import Ranker
from hashnews.suggest.story import shipped_story
from hashnews.text.entities import load_finder
from hashnews.text.meaning import load_encoder
from hashnews.text.segment import shipped_segmenter
from hashnews.times import time_of

Watch = Callable[[Iterable[PreparedPost], str], Iterable[PreparedPost]]


class PostSet(Config):
    """Posts, and the news of their time."""

    posts: tuple[Path, ...]
    news: Path
    collection: str | None = None
    """Only posts of this collection."""
    history: tuple[Path, ...] = ()
    """Older posts, of any collection, that only fill memory and calendar."""
    generator: Path | None = None
    """A generator that read no post that teaches or measures; default: the suggester's own."""
    lexicon: Path | None = None
    """A lexicon that was counted without these posts; default: the shipped one."""


class SuggesterConfig(Config):
    """What a suggester is trained on, and how."""

    sets: tuple[PostSet, ...]
    generator: Path | None = None
    """A trained generator to ship: its hashtags become candidates."""
    encoder: str | None = None
    """The plug-in that encodes meaning; default: the shipped one, which relevance knows."""
    beams: int = 10
    warm_up: float = 0.2
    """The share of the oldest posts that only fill the memory."""
    held_out: float = 0.1
    """The share of the newest that calibrate and measure."""
    most: int = 6000
    """Posts of a set that teach, drawn at random where there are more."""
    relevance: Path | None = None
    """A suggester whose relevance and choice of anyone are used; default: the shipped one."""
    ranker: RankerConfig = RankerConfig()


class Lessons(NamedTuple):
    """The examples of one set, and what there is to know from its posts."""

    taught: dict[str, Examples]  # by situation
    held_out: dict[str, Examples]
    prior: Prior


def train(
    config: SuggesterConfig,
    out: Path,
    watch: Watch = lambda posts, _: posts,
    command: str | None = None,
) -> Ranker:
    """Train a suggester and write its directory; `command` is kept in its manifest."""
    if not config.sets:
        raise ConfigError("there are no posts to learn from: name --posts and --news")
    judges = load_judges(config.relevance or shipped_model())
    lessons = [_lessons(config, chosen, judges, watch) for chosen in config.sets]
    taught = [part for lesson in lessons for part in lesson.taught.values()]
    held_out = [part for lesson in lessons for part in lesson.held_out.values()]
    ranker = fit(config.ranker, taught, held_out)
    figures = {
        situation: suggested(ranker, parts)
        for situation in SITUATIONS
        if (parts := [one for lesson in lessons if len((one := lesson.held_out[situation]).ids)])
    }
    about = {
        "version": __version__,
        "command": command,
        "data": digests(path for one in config.sets for path in (*one.posts, *one.history)),
        "posts": sum(len(part.sizes) for part in taught),
        "held_out": figures,
    }
    named = None if config.generator is None else os.path.relpath(config.generator, out)
    settings = ModelConfig(generator=named, beams=config.beams, encoder=config.encoder)
    newcomers = [lesson.held_out["newcomer"] for lesson in lessons]
    choice = as_often_as_used(judges.choice, newcomers, settings.floor)
    prior = merged([lesson.prior for lesson in lessons])
    second = judges.network if config.encoder is None else None  # it knows one encoder's vectors
    judges = judges._replace(choice=choice, ranker=ranker, network=second)
    save_model(out, judges, settings, prior, _card(about), about)
    return ranker


def digests(files: Iterable[Path]) -> dict[str, str]:
    """What the data was: the SHA-256 of each file, by the names of its folder and its own."""
    known = {}
    for path in dict.fromkeys(files):
        with path.open("rb") as stream:
            sha = hashlib.file_digest(stream, "sha256").hexdigest()
        known["/".join(path.absolute().parts[-2:])] = sha
    return known


def _lessons(config: SuggesterConfig, chosen: PostSet, judges: Judges, watch: Watch) -> Lessons:
    named = chosen.generator or config.generator
    generator = None if named is None else Generator.load(named)
    with NewsStore(chosen.news) as store:
        finder = load_finder(store.state().finder or "fast")
        preparer = Preparer(shipped_segmenter(), finder)
        files: list[tuple[Path, str | None]] = [(path, None) for path in chosen.history]
        files += [(path, chosen.collection) for path in chosen.posts]
        posts = [
            remembered(post)
            for path, collection in files
            for post in preparer.remember(_raw(path, collection), rules_for(path))
        ]
        usable, never = [], {}
        for path in chosen.posts:
            rules = rules_for(path)
            for post in preparer.prepare(_raw(path, chosen.collection), rules):
                usable.append(post)
                never[post.id] = rules.of(post.collection).keys
        usable.sort(key=_order)
        first, last = int(config.warm_up * len(usable)), int((1 - config.held_out) * len(usable))
        if not first < last < len(usable):
            raise DataError(f"{len(usable)} posts with trailing hashtags are too few to learn from")
        some = usable[first:last]
        if len(some) > config.most:
            some = sorted(random.Random(1).sample(some, config.most), key=_order)
        retriever = AllWordsRetriever(NewsIndex.open(store))
        began = remembered(some[0]).posted
        prior = prior_of(posts)
        # What the calendar says of a post is a year older by itself.
        before = known_hashtags(post for post in posts if post.posted < began)
        lexicon = shipped_lexicon() if chosen.lexicon is None else Lexicon.load(chosen.lexicon)
        encoder = load_encoder(config.encoder)
        lexicon = lexicon if config.encoder is None else lexicon.encoded(encoder)
        knows = prior._replace(
            hashtags=before, lexicon=lexicon, meaning=encoder, story=shipped_story()
        )

        def searching(memory: Memory) -> Search:
            return Search(memory, generator, knows, config.beams)

        def lessons(some: Sequence[PreparedPost], what: str) -> dict[str, Examples]:
            read = [at for post in watch(some, what) for at in with_news(retriever, store, [post])]
            return situations(read, posts, searching, judges, config.ranker, never)

        taught, held_out = lessons(some, "taught"), lessons(usable[last:], "held out")
        return Lessons(taught, held_out, prior)


def _raw(path: Path, collection: str | None) -> Iterator[Post]:
    return of_collection(RecordFile(path, Post), collection)


def _order(post: PreparedPost) -> tuple[Any, str]:
    return time_of(post), post.id


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

By itself it knows `known.txt`, hashtags that several authors used, and `calendar.txt`, days on
which they did. It knows no author: habits come from the store it is used with.
"""
