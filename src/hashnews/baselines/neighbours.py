"""Hashtags of similar posts, of the same author, and of both."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from hashnews.baselines.base import Hashtags, Ranked, Scores, mixed
from hashnews.records import PreparedPost
from hashnews.text.stopwords import STOP_WORDS
from hashnews.text.tokens import words

NEIGHBOURS = 20  # of 5 to 200, and the weight of 0.25 to 2: the best F1@1 and F1@5 on validation
AUTHOR_WEIGHT = 1.0


class Neighbours:
    """Σ of the similarity over the nearest training posts that have a hashtag."""

    def __init__(self, neighbours: int = NEIGHBOURS):
        self._neighbours = neighbours

    def fit(self, train: Sequence[PreparedPost], validation: Sequence[PreparedPost]) -> None:
        """Index the words of the posts: unit vectors of ln(1 + f) ln(N / n)."""
        self.hashtags = Hashtags(train)
        self._tags = [self.hashtags.numbers(post) for post in train]
        said = [_counts(post) for post in train]
        holding = Counter(word for counts in said for word in counts)
        self._idf = {word: np.log(len(train) / n) for word, n in holding.items()}
        docs: dict[str, list[int]] = defaultdict(list)
        values: dict[str, list[float]] = defaultdict(list)
        for place, counts in enumerate(said):
            for word, value in self._vector(counts).items():
                docs[word].append(place)
                values[word].append(value)
        self._docs = {word: np.array(list_) for word, list_ in docs.items()}
        self._values = {word: np.array(list_) for word, list_ in values.items()}

    def suggest(self, posts: Sequence[PreparedPost], n: int) -> list[list[Ranked]]:
        """The hashtags of the nearest posts."""
        return [
            self.hashtags.best(mixed(self.scores(post), self.hashtags.uses), n) for post in posts
        ]

    def scores(self, post: PreparedPost) -> Scores:
        """Every hashtag's share of the similarity of the nearest posts."""
        similarity = np.zeros(len(self._tags))
        for word, value in self._vector(_counts(post)).items():
            if word in self._docs:
                similarity[self._docs[word]] += value * self._values[word]
        nearest = np.argsort(-similarity, kind="stable")[: self._neighbours]
        scores = np.zeros(len(self.hashtags))
        for place in nearest:
            scores[self._tags[place]] += similarity[place]
        return _share(scores)

    def _vector(self, counts: Counter[str]) -> dict[str, float]:
        found = {w: float(np.log1p(f) * self._idf[w]) for w, f in counts.items() if w in self._idf}
        norm = float(np.sqrt(sum(value * value for value in found.values()))) or 1.0
        return {word: value / norm for word, value in found.items()}


class AuthorHistory:
    """The hashtags an author used before, the most used first; then the most frequent of all."""

    def fit(self, train: Sequence[PreparedPost], validation: Sequence[PreparedPost]) -> None:
        """Count the hashtags of each author."""
        self.hashtags = Hashtags(train)
        self._used: dict[str, Counter[int]] = defaultdict(Counter)
        for post in train:
            if post.user:
                self._used[post.user].update(self.hashtags.numbers(post))

    def suggest(self, posts: Sequence[PreparedPost], n: int) -> list[list[Ranked]]:
        """The author's hashtags."""
        return [
            self.hashtags.best(mixed(self.scores(post), self.hashtags.uses), n) for post in posts
        ]

    def scores(self, post: PreparedPost) -> Scores:
        """Every hashtag's share of what the author used."""
        scores = np.zeros(len(self.hashtags))
        for number, uses in self._used.get(post.user or "", Counter()).items():
            scores[number] = uses
        return _share(scores)


class NeighboursAndAuthor:
    """The shares of both added up."""

    def __init__(self, neighbours: int = NEIGHBOURS, author_weight: float = AUTHOR_WEIGHT):
        self._neighbours = Neighbours(neighbours)
        self._author = AuthorHistory()
        self._weight = author_weight

    def fit(self, train: Sequence[PreparedPost], validation: Sequence[PreparedPost]) -> None:
        """Let both learn."""
        self._neighbours.fit(train, validation)
        self._author.fit(train, validation)

    def suggest(self, posts: Sequence[PreparedPost], n: int) -> list[list[Ranked]]:
        """Hashtags of similar posts and of the author."""
        hashtags = self._neighbours.hashtags
        answers = []
        for post in posts:
            both = self._neighbours.scores(post) + self._weight * self._author.scores(post)
            answers.append(hashtags.best(mixed(both, hashtags.uses), n))
        return answers


def _counts(post: PreparedPost) -> Counter[str]:
    return Counter(word for word in words(post.body) if word not in STOP_WORDS)


def _share(scores: Scores) -> Scores:
    total = scores.sum()
    return scores / total if total else scores
