"""What authors with like hashtags used lately."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hashnews.arrays import Array, compiled, decay
from hashnews.retrieve.equations import idf
from hashnews.suggest.sources.base import MemorySource
from hashnews.suggest.sources.neighbours import see
from hashnews.times import A_DAY

if TYPE_CHECKING:
    from hashnews.suggest.evidence import Look

MOST = 40  # similar authors that are asked


class SimilarAuthors(MemorySource):
    """The hashtags of authors who used the author's hashtags; it speaks as part of the memory."""

    name = "memory"
    label = "Earlier posts"
    gathered = ("similar_authors",)
    columns = {"similar_authors": 0.0}
    ranked = ("similar_authors",)
    taken = {"similar_authors": 25}

    def gather(self, look: Look) -> None:
        """Find similar authors, then read what they used lately."""
        view, memory, scratch = look.view, look.view.memory, look.scratch
        users = (memory.by_user.starts, memory.by_user.values)
        found = find_similar(
            view.own, view.author, view.limit, *look.tags_of_rows[:2], memory.uses.starts,
            memory.use_row, memory.use_user, *users, scratch.alike, scratch.users,
        )  # fmt: skip
        others = scratch.users[:found].copy()
        alike = scratch.alike[others]
        scratch.alike[others] = 0
        kept = np.argsort(-alike, kind="stable")[:MOST]
        look.size = add_similar_authors(
            others[kept], alike[kept] / max(1e-9, float(alike[kept].sum())), view.limit,
            view.moment, A_DAY, memory.times, *users, *look.tags_of_rows, look.columns(self)[0],
            *look.table, look.size,
        )  # fmt: skip


SIMILAR_AUTHORS = SimilarAuthors()


@compiled
def before(values: Array, first: int, last: int, limit: int) -> int:
    """Where a list in `values[first:last]` reaches `limit`."""
    return int(first + np.searchsorted(values[first:last], limit))


@compiled
def find_similar(
    own: Array, author: int, limit: int, tag_starts: Array, tags: Array, use_starts: Array,
    use_row: Array, use_user: Array, user_starts: Array, user_rows: Array, alike: Array,
    touched: Array,
) -> int:  # fmt: skip
    """How much other authors are like this one: hashtags both used, rare ones counting more.

    alike(u, v) = sum over the uses by v of hashtags h of u of IDF(h) / sqrt(|posts of v| + 5)
    """
    size = 0
    for row in own[max(0, len(own) - 60) :]:
        for place in range(tag_starts[row], tag_starts[row + 1]):
            tag = tags[place]
            first = use_starts[tag]
            last = before(use_row, first, use_starts[tag + 1], limit)
            weight = idf(limit, last - first)
            if weight <= 0.0:  # used more than once a post
                continue
            for at in range(max(first, last - 100), last):
                other = use_user[at]
                if other >= 0 and other != author:
                    if alike[other] == 0.0:
                        touched[size] = other
                        size += 1
                    alike[other] += weight
    for at in range(size):
        other = touched[at]
        first = user_starts[other]
        posts = before(user_rows, first, user_starts[other + 1], limit) - first
        alike[other] /= np.sqrt(posts + 5.0)
    return size


@compiled
def add_similar_authors(
    others: Array, alike: Array, limit: int, moment: int, day: int, times: Array,
    user_starts: Array, user_rows: Array, tag_starts: Array, tags: Array, inline: Array,
    column: int, evidence: Array, seen: Array, size: int,
) -> int:  # fmt: skip
    """What similar authors used lately, each by how similar."""
    for at in range(len(others)):
        other = others[at]
        first = user_starts[other]
        last = before(user_rows, first, user_starts[other + 1], limit)
        for row in user_rows[max(first, last - 20) : last]:
            vote = alike[at] * decay((moment - times[row]) / day, 3.0)
            for place in range(tag_starts[row], tag_starts[row + 1]):
                tag = tags[place]
                size = see(tag, evidence, seen, size)
                evidence[tag, column] += vote * (0.5 if inline[place] else 1.0)
    return size
