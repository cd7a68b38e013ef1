"""The memory of earlier posts as arrays in the order of time.

A row is a post. Because rows are in the order of time, the past of any moment is a prefix of every
list here: the rows a word stands in, those a hashtag was used in, those of an author. So one
memory answers for every moment honestly, with the statistics of that moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hashnews.news.posts import Remembered
from hashnews.news.times import A_DAY
from hashnews.text.terms import terms

Array = np.ndarray[Any, Any]
NOBODY = -1


class Groups(NamedTuple):
    """Lists one after the other: list `i` is `values[starts[i]:starts[i + 1]]`."""

    starts: Array
    values: Array

    def of(self, number: int) -> Array:
        """One of the lists."""
        listed: Array = self.values[self.starts[number] : self.starts[number + 1]]
        return listed

    def in_order(self, order: Array) -> Groups:
        """The same lists in another order."""
        sizes = np.diff(self.starts)[order]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        places = np.repeat(self.starts[:-1][order] - starts[:-1], sizes) + np.arange(starts[-1])
        return Groups(starts, self.values[places])


def grouped(numbers: Array, values: Array, count: int) -> Groups:
    """Values by their number, each list in the order the values came in."""
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], np.arange(count + 1))
    return Groups(starts, values[order])


def joined(lists: Sequence[Sequence[int] | Array], kind: type[np.generic]) -> Groups:
    """Lists put one after the other."""
    sizes = [len(listed) for listed in lists]
    values = np.concatenate([np.asarray(listed, kind) for listed in lists] or [np.zeros(0, kind)])
    return Groups(np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]), values.astype(kind))


class Numbers:
    """Numbers for things, in the order they were first seen."""

    def __init__(self) -> None:
        self.names: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self.names)

    def give(self, name: Any) -> int:
        """The number of a thing, a new one where it has none."""
        number = self._numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number

    def get(self, name: Any) -> int | None:
        """The number of a thing, if it has one."""
        return self._numbers.get(name)


class Memory:
    """Earlier posts, their words, authors and hashtags; `extend` takes in more at any time."""

    def __init__(self, posts: Iterable[Remembered] = (), days: float | None = None):
        self.days = days
        self.tags = Numbers()  # keys of hashtags
        self.words: list[tuple[str, ...]] = []  # of each hashtag, as it was first cut
        self.forms = Numbers()  # hashtags as they were written
        self.users = Numbers()
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
        forms = [[self.forms.give(tag.written) for tag in listed] for listed in tags]
        inline = [[0] * len(post.hashtags) + [1] * len(post.inline) for post in new]
        users = [NOBODY if post.user is None else self.users.give(post.user) for post in new]
        times = np.concatenate([self.times, np.array([p.posted for p in new], np.int64)])
        order = np.argsort(times, kind="stable")
        if self.days is not None and len(order):
            order = order[times[order] >= times[order[-1]] - int(self.days * A_DAY)]
        ids = [*self.ids, *(post.id for post in new)]
        self.ids = [ids[place] for place in order.tolist()]
        self.times = times[order]
        self.user = np.concatenate([self.user, np.array(users, np.int64)])[order]
        said = joined([terms(post.body) for post in new], np.uint32)
        self.terms = _appended(self.terms, said).in_order(order)
        self.row_tags = _appended(self.row_tags, joined(numbers, np.int64)).in_order(order)
        self.row_forms = _appended(self.row_forms, joined(forms, np.int64)).in_order(order)
        self.row_inline = _appended(self.row_inline, joined(inline, np.uint8)).in_order(order)
        self._index()

    def _number(self, key: str, words: tuple[str, ...]) -> int:
        number = self.tags.give(key)
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
        self.uses = grouped(self.row_tags.values, places, len(self.tags))
        self.use_row = row_of_use[self.uses.values]
        self.use_inline = self.row_inline.values[self.uses.values]
        self.use_form = self.row_forms.values[self.uses.values]
        self.use_user = self.user[self.use_row]
        known = self.user != NOBODY
        self.by_user = grouped(self.user[known], rows[known], len(self.users))

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


def _appended(groups: Groups, more: Groups) -> Groups:
    starts = np.concatenate([groups.starts, groups.starts[-1] + more.starts[1:]])
    return Groups(starts, np.concatenate([groups.values, more.values]))
