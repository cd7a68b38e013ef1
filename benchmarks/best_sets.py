"""What the suggester is measured on: three sets of posts, each beside its news and its past."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from hashnews.files import RecordFile
from hashnews.generate.generator import Generator
from hashnews.news.store import NewsStore
from hashnews.posts.table import KEPT, Remembered, remembered
from hashnews.prepare.datasets import rules_for
from hashnews.prepare.preparer import Preparer
from hashnews.records import Article, ContextWord, Post, PreparedPost, Retrieved
from hashnews.suggest.calendar import calendar_of
from hashnews.suggest.candidates import Search
from hashnews.suggest.lexicon import Lexicon, shipped_lexicon
from hashnews.suggest.memory import Memory
from hashnews.suggest.prior import Prior, known_hashtags
from hashnews.suggest.query import PostWithNews
from hashnews.suggest.story import shipped_story
from hashnews.text.entities import load_finder
from hashnews.text.meaning import shipped_meaning
from hashnews.text.segment import shipped_segmenter
from hashnews.times import MICROSECOND, microseconds

SETS = {
    "congress20": ("2020", "congress"), "blm20": ("2020", "blm"), "congress19": ("2019", "congress")
}  # fmt: skip
LESSONS = {  # whose training parts teach the ranker of a set: none is newer than its test part
    "congress20": ("congress20", "blm20", "congress19"),
    "blm20": ("congress20", "blm20", "congress19"),
    "congress19": ("congress19",),
}


class Choice(NamedTuple):
    """What is asked for."""

    data: Path
    work: Path
    part: str = "test"
    history: bool = False
    generators: Path | None = None
    most: int = 4000  # posts of a set that teach
    first: float = 0.2  # the share of the oldest that do not, where no generator learnt from half
    lexicon: Path | None = None  # one that was counted without these sets


class Loaded(NamedTuple):
    """One set: its posts read beside their news, and its memory."""

    train: list[PostWithNews]
    scored: list[PostWithNews]
    memory: Memory
    closed: int  # when the memory of the frozen situation ends
    seen: frozenset[str]  # hashtags of its posts until then
    search: Search
    kept: list[Remembered]  # the posts of the memory
    searching: Callable[[Memory], Search]  # the same with another memory
    never: dict[str, frozenset[str]]  # what the posts were searched for, by their ids


def load(name: str, choice: Choice) -> Loaded:
    """The posts of a set beside their news, and every post with a hashtag as memory."""
    year, collection = SETS[name]
    posts = list(RecordFile(choice.work / name / "posts.jsonl", PreparedPost))
    train = [post for post in posts if post.split == "train"]
    # Where a generator learnt from the first half, its scores are honest only after it.
    first = len(posts) // 2 if choice.generators else int(choice.first * len(train))
    some = train[first:]
    if len(some) > choice.most:
        some = random.Random(1).sample(some, choice.most)
        some.sort(key=lambda post: (post.created_at, post.id))
    scored = [post for post in posts if post.split == choice.part]
    wanted = {post.id: post for post in (*some, *scored)}
    read = read_contexts(wanted, choice.work / name / "contexts-best.jsonl",
                         choice.work / year / "news.db")  # fmt: skip
    generator = None
    if choice.generators is not None:
        generator = Generator.load(choice.generators / f"{name}-half")
    ends = microseconds(min(p.created_at for p in posts if p.split != "train" and p.created_at))
    of_year = choice.data / year / "posts.jsonl.gz"
    kept = list(all_posts(of_year, collection))
    seen = {tag.key for p in kept if p.posted < ends for tag in (*p.hashtags, *p.inline)}
    half = remembered(posts[len(posts) // 2]).posted
    known = known_hashtags(post for post in kept if post.posted < half)
    lexicon = shipped_lexicon() if choice.lexicon is None else Lexicon.load(choice.lexicon)
    prior = Prior(known, lexicon=lexicon, meaning=shipped_meaning(), story=shipped_story())
    if choice.history:
        began = min(post.posted for post in kept)
        older = older_posts(choice.data, year, began)
        prior = prior._replace(calendar=calendar_of(older))
        since = began - KEPT // MICROSECOND
        of_others = [] if collection == "congress" else all_posts(of_year, "congress")
        kept = [post for post in (*older, *of_others, *kept) if post.posted >= since]
    memory = Memory(kept)

    def searching(memory: Memory) -> Search:
        return Search(memory, generator, prior)

    return Loaded(
        [read[post.id] for post in some],
        [read[post.id] for post in scored],
        memory,
        ends,
        frozenset(seen),
        searching(memory),
        kept,
        searching,
        dict.fromkeys(wanted, rules_for(of_year).of(collection).keys),
    )


def read_contexts(
    posts: dict[str, PreparedPost], contexts: Path, news: Path
) -> dict[str, PostWithNews]:
    """Posts with the articles and words that `hashnews retrieve` found for them."""
    lines = {}
    with contexts.open(encoding="utf-8") as stream:
        for line in stream:
            found = json.loads(line)
            if found["post_id"] in posts:
                lines[found["post_id"]] = found
    named = {article["id"] for found in lines.values() for article in found["articles"]}
    with NewsStore(news) as store:
        articles = {
            stored.article.id: Article.model_construct(
                id=stored.article.id, title=stored.article.title, text="",
                published_at=stored.article.published_at,
                entities=tuple(dict.fromkeys(stored.article.entities or ())),
            )
            for stored in store.read()
            if stored.article.id in named
        }  # fmt: skip
    return {
        key: PostWithNews(
            post,
            microseconds(post.created_at or datetime.now(UTC)),
            [ContextWord(*word) for word in lines[key]["context"]],
            [(Retrieved(**a), articles[a["id"]]) for a in lines[key]["articles"]],
        )
        for key, post in posts.items()
    }


def older_posts(data: Path, year: str, before: int) -> list[Remembered]:
    """Every post of another time that is older than a set."""
    files = [data / "history" / "posts.jsonl.gz"]
    files += [data / "2019" / "posts.jsonl.gz"] if year == "2020" else []
    return [post for path in files for post in all_posts(path) if post.posted < before]


def all_posts(path: Path, collection: str | None = None) -> Iterator[Remembered]:
    """The posts of a file with a hashtag, as a memory keeps them."""
    for post, among in _all_posts(path):
        if collection in (None, among):
            yield post


@lru_cache(4)
def _all_posts(path: Path) -> list[tuple[Remembered, str | None]]:
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    prepared = preparer.remember(RecordFile(path, Post), rules_for(path))
    return [(remembered(post), post.collection) for post in prepared]
