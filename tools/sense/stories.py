"""The story of a post: headlines that a reader judged, and the trees that learn from them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import lightgbm
import numpy as np

from hashnews.arrays import Array
from hashnews.prepare.preparer import Preparer
from hashnews.records import Post
from hashnews.saved import new_directory
from hashnews.suggest.candidates import Search
from hashnews.suggest.memory import Memory
from hashnews.suggest.prior import Prior
from hashnews.suggest.query import PostWithNews, Query
from hashnews.suggest.ranker import Calibration, Ranker, trees_of
from hashnews.suggest.story import COLUMNS, KIND, SameStory, columns
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter
from sense.beside import DAYS, SPANS, TOGETHER, Asked, beside_news, untold
from sense.collections import json_lines
from sense.work import Work

SUBJECT = 0.5  # what another story of the same subject counts
LOGISTIC = Calibration(np.linspace(-8, 8, 161), 1 / (1 + np.exp(-np.linspace(-8, 8, 161))))
TREES: dict[str, Any] = {
    "objective": "binary",
    "learning_rate": 0.05,
    "extra_trees": True,
    "num_leaves": 8,
    "min_data_in_leaf": 80,
    "feature_fraction": 0.8,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "num_threads": 1,
    "verbose": -1,
    "seed": 1,
}
ROUNDS = 200  # so few that they know the posts that taught no better than others


class Judged(NamedTuple):
    """Articles found for one post: how they fit together, and which tell its story."""

    columns: Array
    tells: Array  # 1, SUBJECT or 0


def story(work: Work) -> Path:
    """The directory that `SameStory.load` reads."""
    target = work.folder / "story"
    if not target.exists():
        print("story", flush=True)
        with new_directory(target, KIND, {}) as scratch:
            same_story([one for few in (False, True) for one in judged(work, few)]).save(scratch)
    return target


def prior_of(work: Work, left_out: str | None) -> Prior:
    """What is known without any memory, stories too; of the lexicon without a set."""
    return untold(work, left_out)._replace(story=_loaded(story(work)))


@lru_cache(1)
def _loaded(directory: Path) -> SameStory:
    return SameStory.load(directory)


def same_story(lessons: list[Judged]) -> SameStory:
    """The trees taught on some posts; one of the same subject is half a yes and half a no."""
    read = np.concatenate([one.columns for one in lessons])
    tells = np.concatenate([one.tells for one in lessons])
    answers = np.repeat([1, 0], len(read))
    weights = np.concatenate([tells, 1 - tells])
    data = lightgbm.Dataset(
        np.concatenate([read, read])[weights > 0], answers[weights > 0], weight=weights[weights > 0]
    )
    text = lightgbm.train(TREES, data, ROUNDS).model_to_string()
    return SameStory(Ranker(trees_of(text), LOGISTIC))


def judged(work: Work, few: bool) -> Iterator[Judged]:
    """The posts whose headlines a reader judged, beside all the news, or beside a few articles."""
    posts = {row["id"]: row for row in json_lines("school.jsonl")}
    read = work.limited(json_lines("stories.jsonl"))
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    given, asked = {}, []
    for row in read:
        fields = {key: posts[row["id"]][key] for key in ("id", "created_at", "text")}
        post = preparer.read(Post(**fields))
        if post.created_at is not None and (year := str(post.created_at.year)) in SPANS:
            asked.append(Asked(post, year, post.created_at))
            given[post.id] = {
                **dict.fromkeys(row["other"], 0.0),
                **dict.fromkeys(row["subject"], SUBJECT),
                **dict.fromkeys(row["story"], 1.0),
            }
    search = Search(Memory([], DAYS), None, untold(work))
    reads = beside_news(work, asked, few)
    for start in range(0, len(reads), TOGETHER):
        part = reads[start : start + TOGETHER]
        for one, vector in zip(part, search.vectors(part), strict=True):
            yield _judged(Query(one, untold(work), vector=vector), one, given[one.post.id])


def _judged(query: Query, read: PostWithNews, given: dict[str, float]) -> Judged:
    at = [row for row, article in enumerate(query.articles) if article.id in given]
    tells = np.array([given[query.articles[row].id] for row in at])
    return Judged(columns(query)[at] if at else np.zeros((0, len(COLUMNS))), tells)
