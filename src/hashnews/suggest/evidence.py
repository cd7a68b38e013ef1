"""What the memory says to one post: for each hashtag a row of evidence, as of the post's time.

The sources that read the memory each gather their columns; what comes out is a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array
from hashnews.suggest.memory import Memory, Posts, Uses, View
from hashnews.suggest.sources import MEMORY_SOURCES
from hashnews.suggest.sources.hashtag import STATISTICS, statistics
from hashnews.suggest.sources.neighbours import Similarity
from hashnews.suggest.sources.recent import RecentCounts

COLUMN = {
    name: at
    for at, name in enumerate(
        (*(name for source in MEMORY_SOURCES for name in source.gathered), *STATISTICS)
    )
}


class Scratch:
    """Room to work in, as large as a memory, and counts that move from post to post."""

    def __init__(self, memory: Memory):
        self.rooms = [np.zeros(len(part.segment)) for part in memory.parts]
        self.recent = RecentCounts(memory)


class Look:
    """A look back at the memory: what the sources read, and what they gathered."""

    def __init__(self, view: View, scratch: Scratch, body: str):
        self.view, self.scratch = view, scratch
        self.similarity = Similarity(view, body, scratch.rooms)
        self.own_likeness = self.similarity.of_posts(view.own)
        self.near = self.similarity.nearest(self.own_likeness)
        self.near_uses = view.memory.uses(self.near.posts)
        self._gathered = [(source, source.gather(self)) for source in MEMORY_SOURCES]

    def best(self) -> Array:
        """The hashtags that the sources take for candidates, in the order of their signs.

        So no tie is broken by what came after the post.
        """
        signs, chosen = self.view.memory.signs, [np.zeros(0, np.int64)]
        for source, gathered in self._gathered:
            for name, most in source.taken.items():
                chosen.append(gathered.best(source.gathered.index(name), most, signs))
        tags = np.unique(np.concatenate(chosen))
        return tags[np.argsort(signs[tags], kind="stable")]

    def evidence(self, tags: Array) -> Evidence:
        """All that is known of some hashtags; a number below zero is of one nobody used."""
        columns = [gathered.of(tags) for _, gathered in self._gathered]
        columns.append(statistics(tags, self.view, self.similarity))
        return Evidence(self.view, self.near.posts, self.near_uses, np.hstack(columns))


class Evidence(NamedTuple):
    """What the memory knows of some hashtags, a row each, and the posts nearest to this one."""

    view: View
    near: Posts
    near_uses: Uses
    table: Array

    def column(self, name: str) -> Array:
        """One kind of evidence for all hashtags."""
        found: Array = self.table[:, COLUMN[name]]
        return found

    def columns(self, names: Iterable[str]) -> Array:
        """Several kinds of evidence."""
        found: Array = self.table[:, [COLUMN[name] for name in names]]
        return found

    def near_posts(self, tag: int) -> tuple[str, ...]:
        """The most similar posts with a hashtag, by id."""
        held = np.unique(self.near_uses.post[self.near_uses.tag == tag])
        return self.view.memory.ids(self.near.pick(held))

    def own_posts(self, tag: int) -> tuple[str, ...]:
        """The author's own posts with a hashtag, by id, the latest first."""
        held = np.unique(self.view.own_uses.post[self.view.own_uses.tag == tag])[::-1]
        return self.view.memory.ids(self.view.own.pick(held))

    def of(self, places: Sequence[int]) -> Evidence:
        """The same for some of the hashtags."""
        return self._replace(table=self.table[places])
