"""The memory of earlier posts as arrays in the order of time.

A row is a post. Because rows are in the order of time, the past of any moment is a prefix of every
list here: the rows a word stands in, those a hashtag was used in, those of an author. So one
memory answers for every moment honestly, with the statistics of that moment.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hashnews.arrays import Array, Groups, Numbering, groups_of, joined
from hashnews.posts.table import Remembered
from hashnews.text.terms import terms
from hashnews.times import A_DAY

NOBODY = -1


class Memory:
    """Earlier posts, their words, authors and hashtags; `extend` takes in more at any time."""

    def __init__(self, posts: Iterable[Remembered] = (), days: float | None = None):
        self.days = days
        self.tags = Numbering()  # keys of hashtags
        self.words: list[tuple[str, ...]] = []  # of each hashtag, as it was first cut
        self.forms = Numbering()  # hashtags as they were written
        self.users = Numbering()
        self.ids: list[str] = []
        self.times: Array = np.zeros(0, np.int64)
        self.user: Array = np.zeros(0, np.int64)
        self.terms = joined([], np.uint32)
        self.row_tags = joined([], np.int64)
        self.row_forms = joined([], np.int64)
        self.row_inline = joined([], np.uint8)
        self.extend(posts)

    def __len__(self) -> int:
        return len(self.times)

    def extend(self, posts: Iterable[Remembered]) -> None:
        """Take in posts, in any order of time."""
        new = list(posts)
        tags = [(*post.hashtags, *post.inline) for post in new]
        numbers = [[self._number(tag.key, tag.words) for tag in listed] for listed in tags]
        forms = [[self.forms[tag.written] for tag in listed] for listed in tags]
        inline = [[0] * len(post.hashtags) + [1] * len(post.inline) for post in new]
        users = [NOBODY if post.user is None else self.users[post.user] for post in new]
        times = np.concatenate([self.times, np.array([p.posted for p in new], np.int64)])
        order = np.argsort(times, kind="stable")
        if self.days is not None and len(order):
            order = order[times[order] >= times[order[-1]] - int(self.days * A_DAY)]
        ids = [*self.ids, *(post.id for post in new)]
        self.ids = [ids[place] for place in order.tolist()]
        self.times = times[order]
        self.user = np.concatenate([self.user, np.array(users, np.int64)])[order]
        said = joined([terms(post.body) for post in new], np.uint32)
        self.terms = self.terms.followed_by(said).in_order(order)
        self.row_tags = self.row_tags.followed_by(joined(numbers, np.int64)).in_order(order)
        self.row_forms = self.row_forms.followed_by(joined(forms, np.int64)).in_order(order)
        self.row_inline = self.row_inline.followed_by(joined(inline, np.uint8)).in_order(order)
        self._index()

    def _number(self, key: str, words: tuple[str, ...]) -> int:
        number = self.tags[key]
        if number == len(self.words):
            self.words.append(words)
        return number

    def _index(self) -> None:
        """What is looked up: rows by term, by hashtag and by author."""
        rows = np.arange(len(self.times))
        row_of_term = np.repeat(rows, np.diff(self.terms.starts)).astype(np.int32)
        order = np.argsort(self.terms.values, kind="stable")
        self.vocabulary, starts = np.unique(self.terms.values[order], return_index=True)
        self.postings = Groups(np.append(starts, len(order)), row_of_term[order])
        row_of_use = np.repeat(rows, np.diff(self.row_tags.starts))
        places = np.arange(len(row_of_use))
        self.uses = groups_of(self.row_tags.values, places, len(self.tags))
        self.use_row = row_of_use[self.uses.values]
        self.use_inline = self.row_inline.values[self.uses.values]
        self.use_form = self.row_forms.values[self.uses.values]
        self.use_user = self.user[self.use_row]
        known = self.user != NOBODY
        self.by_user = groups_of(self.user[known], rows[known], len(self.users))

    def before(self, moment: int) -> int:
        """How many rows are older than a moment."""
        return int(np.searchsorted(self.times, moment))

    def numbers_of(self, found: Array) -> Array:
        """The numbers of terms in the vocabulary; terms never seen are left out."""
        if not len(self.vocabulary):
            return np.zeros(0, np.int64)
        at = np.minimum(np.searchsorted(self.vocabulary, found), len(self.vocabulary) - 1)
        numbers: Array = at[self.vocabulary[at] == found]
        return numbers
