"""What a set of prepared posts looks like: the paper's Table 1 and its Appendix A."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hashnews.errors import needs_extra
from hashnews.records import Hashtag, PreparedPost
from hashnews.text.entities import EntityFinder
from hashnews.text.tokens import words


class Statistics:
    """Sums over prepared posts; memory grows with distinct hashtags only."""

    def __init__(self) -> None:
        self.posts = 0
        self._uses: Counter[str] = Counter()
        self._first: dict[str, Hashtag] = {}
        self._entities = 0
        self._words = 0
        self._words_in_post = 0

    def add(self, post: PreparedPost) -> None:
        """Count one post."""
        self.posts += 1
        self._entities += len(post.entities)
        said = set(words(post.body))
        for hashtag in post.hashtags:
            self._uses[hashtag.key] += 1
            self._first.setdefault(hashtag.key, hashtag)
            self._words += len(hashtag.words)
            self._words_in_post += sum(word in said for word in hashtag.words)

    def join(self, later: Statistics) -> None:
        """Add the sums over posts that come after these."""
        self.posts += later.posts
        self._uses.update(later._uses)
        self._first = later._first | self._first
        self._entities += later._entities
        self._words += later._words
        self._words_in_post += later._words_in_post

    def table(self, finder: EntityFinder) -> dict[str, float]:
        """The columns of Table 1; whether a hashtag holds entities is the finder's word."""
        some, only = self._entity_hashtags(finder)
        return {
            "posts": self.posts,
            "distinct_hashtags": len(self._uses),
            "hashtags_per_post": _share(self._uses.total(), self.posts),
            "entities_per_post": _share(self._entities, self.posts),
            "percent_entity_hashtags": 100 * _share(some, self._uses.total()),
            "percent_all_entity_hashtags": 100 * _share(only, self._uses.total()),
            "percent_words_in_post": 100 * _share(self._words_in_post, self._words),
        }

    def _entity_hashtags(self, finder: EntityFinder) -> tuple[int, int]:
        """How many hashtags hold an entity, and how many hold nothing else."""
        tags = list(self._first.values())
        some = only = 0
        for tag, named in zip(tags, named_letters(tags, finder), strict=True):
            some += self._uses[tag.key] * (named > 0)
            only += self._uses[tag.key] * (named == len(tag.key))
        return some, only

    def frequencies(self) -> dict[int, int]:
        """How many hashtags were used once, twice, ... (the figure of Appendix A)."""
        return dict(sorted(Counter(self._uses.values()).items()))

    def report(self, finder: EntityFinder, dropped: Counter[str]) -> dict[str, Any]:
        """Everything above, for a JSON file."""
        frequencies = self.frequencies()
        rare = sum(tags for uses, tags in frequencies.items() if uses <= 5)
        return {
            "table": {key: round(value, 2) for key, value in self.table(finder).items()},
            "finder": finder.name,
            "dropped": dict(sorted(dropped.items(), key=lambda item: (-item[1], item[0]))),
            "hashtag_frequencies": frequencies,
            "percent_hashtags_used_at_most_5_times": round(100 * _share(rare, len(self._uses)), 2),
        }


def named_letters(tags: Sequence[Hashtag], finder: EntityFinder) -> list[int]:
    """How many letters of each hashtag belong to entities."""
    found = finder.find_all([" ".join(tag.words) for tag in tags])
    return [sum(len(e.text.replace(" ", "")) for e in entities) for entities in found]


def plot_frequencies(frequencies: dict[int, int], path: Path) -> None:
    """The frequency distribution of hashtags as a picture."""
    with needs_extra("drawing a picture", "plots"):
        from matplotlib.figure import Figure
    figure = Figure(figsize=(5, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.loglog(list(frequencies), list(frequencies.values()), ".", color="#1b6ca8")
    axes.set(xlabel="times a hashtag was used", ylabel="hashtags", title="Hashtag frequencies")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=150)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
