"""Which articles are about what the post is about.

    P(same story | post, article) = sigmoid(sum of trees over how the two fit together)

A shared word makes an article a hit of the retriever; it does not make it the story of the post.
What tells is the score itself, how near the meanings are, how much each says of the other, and
whether other articles of the day tell the same. Readers said of headlines which are the story of
a post; `tools/sense/stories.py` teaches this on it.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from hashnews.arrays import Array
from hashnews.saved import check_directory
from hashnews.suggest.ranker import Ranker
from hashnews.text.tokens import words

if TYPE_CHECKING:
    from hashnews.suggest.query import Query

KIND = "story"
COLUMNS = (
    "score", "of_best", "covered", "post_said", "title_said", "meaning", "meaning_mean", "likeness",
    "alike", "told", "post_weight",
)  # fmt: skip
MOST_ALIKE = 3  # headlines that are compared
SHARED = 2  # telling words that make two headlines alike


class StoryFiles:
    """The files of a directory of `SameStory`."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.trees = directory / "story.npz"


class SameStory(NamedTuple):
    """Trees over `COLUMNS`."""

    trees: Ranker

    def probabilities(self, query: Query) -> Array:
        """P(same story) of each article of a post."""
        if not query.articles:
            return np.zeros(0)
        return self.trees.calibration(self.trees.scores(columns(query)))

    def save(self, directory: Path) -> None:
        """Write the trees into a directory that is being made."""
        self.trees.save(StoryFiles(directory).trees, COLUMNS)

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Read what `save` wrote, checked by the manifest."""
        check_directory(directory, KIND)
        return cls(Ranker.load(StoryFiles(directory).trees, COLUMNS))


@lru_cache(1)
def shipped_story() -> SameStory:
    """The one that comes with the package."""
    with resources.as_file(resources.files("hashnews") / "models" / "story") as path:
        return SameStory.load(path)


def columns(query: Query) -> Array:
    """How each article and the post fit together, a row for each article."""
    said = [_distinct(article.title) for article in query.articles]
    weigh = {word: query.weight(word) for word in set().union(*said)}
    titles = [{word: weigh[word] for word in title if weigh[word] > 0} for title in said]
    said_by = Counter(word for title in titles for word in title)
    post_weight = sum(query.weights.values())
    meanings, alike = query.title_meanings, likeness(query.title_vectors)
    rows = []
    for at, (article, title) in enumerate(zip(query.articles, titles, strict=True)):
        shared = sum(weight for word, weight in title.items() if word in query.weights)
        own = [word for word in title if word not in query.weights]
        rows.append(
            (
                query.fit * article.score,
                article.score,
                article.covered,
                shared / post_weight if post_weight else 0.0,
                shared / (sum(title.values()) or 1.0),
                meanings[at],
                meanings.mean(),
                alike[at],
                sum(len(title.keys() & other.keys()) >= SHARED for other in titles) - 1,
                sum(said_by[word] - 1 for word in own) / max(1, len(title)),
                post_weight,
            )
        )
    return np.array(rows, np.float32)


def likeness(vectors: Array) -> Array:
    """How like each headline is to the three most like it; itself counts nothing."""
    alike = vectors @ vectors.T
    np.fill_diagonal(alike, 0.0)
    found: Array = np.sort(alike, axis=1)[:, -MOST_ALIKE:].mean(axis=1)
    return found


@lru_cache(20_000)
def _distinct(title: str) -> tuple[str, ...]:
    """The words of a headline, each once: posts of a day share headlines."""
    return tuple(dict.fromkeys(words(title)))
