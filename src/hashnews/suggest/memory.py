"""The memory of earlier posts as arrays in the order of time.

A row is a post. Because rows are in the order of time, the past of any moment is a prefix of every
list here: the rows a word stands in, those a hashtag was used in, those of an author. So one
memory answers for every moment honestly, with the statistics of that moment.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from hashnews.arrays import Array, Groups, Numbering, groups_of, joined
from hashnews.posts.table import Remembered
from hashnews.text.terms import terms
from hashnews.times import A_DAY

NOBODY = -1
DELAY = A_DAY // 24  # before a post of somebody else can be known


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
        self.__dict__.pop("sorted_keys", None)
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

    @cached_property
    def sorted_keys(self) -> list[str]:
        """All hashtags in the order of the alphabet."""
        return sorted(self.tags.names)


class View:
    """What one post may see of a memory: nothing at or after its own time.

    Posts of other people count when they are an hour old (whoever writes does not read faster than
    that), the author's own up to the post. `until` closes the memory at an earlier time.
    """

    def __init__(self, memory: Memory, moment: int, user: str | None, until: int | None = None):
        self.memory, self.moment = memory, moment
        closed = moment if until is None else min(moment, until)
        self.limit = memory.before(min(moment - DELAY + 1, closed))
        number = None if user is None else memory.users.get(user)
        self.author = NOBODY if number is None else number
        # Nobody known has no posts of their own: those of other unknowns wait their hour, too.
        self.limit_own = self.limit if number is None else max(self.limit, memory.before(closed))
        self.own: Array = np.zeros(0, np.int64)
        if number is not None:
            rows = memory.by_user.of(number)
            self.own = rows[: np.searchsorted(rows, self.limit_own)]

    def ages(self, rows: Array) -> Array:
        """How many days before the post rows are."""
        ages: Array = (self.moment - self.memory.times[rows]) / A_DAY
        return ages

    def newest(self) -> float:
        """How many days before the post the newest post it can see was written."""
        if self.limit == 0:
            return 1000.0
        return float((self.moment - self.memory.times[self.limit - 1]) / A_DAY)

    def number(self, key: str) -> int | None:
        """The number of a hashtag somebody used before the post, if anybody did."""
        number = self.memory.tags.get(key)
        if number is None:
            return None
        first = self.memory.use_row[self.memory.uses.starts[number]]
        own = first < self.limit_own and self.memory.user[first] == self.author != NOBODY
        return number if first < self.limit or own else None

    def uses(self, tag: int) -> Array:
        """Places of the past uses of a hashtag by anybody, oldest first."""
        memory = self.memory
        first, last = memory.uses.starts[tag], memory.uses.starts[tag + 1]
        return np.arange(first, first + np.searchsorted(memory.use_row[first:last], self.limit))

    def times_used(self, key: str) -> int:
        """How often everybody used a hashtag before the post."""
        number = self.memory.tags.get(key)
        return 0 if number is None else len(self.uses(number))

    def users(self, tag: int) -> Array:
        """Who used a hashtag before the post, use by use."""
        users: Array = self.memory.use_user[self.uses(tag)]
        return users

    def written(self, tag: int) -> list[str]:
        """How a hashtag was written lately."""
        names = self.memory.forms.names
        return [names[form] for form in self.memory.use_form[self.uses(tag)[-200:]].tolist()]

    def own_posts(self, tag: int) -> tuple[str, ...]:
        """The author's own posts with a hashtag, by id, the latest first."""
        held = self.own[np.isin(self.own, self.rows(tag))][::-1].tolist()
        return tuple(self.memory.ids[row] for row in held)

    def rows(self, tag: int) -> Array:
        """All posts with a hashtag, later ones too: to be looked up in what may be seen."""
        first, last = self.memory.uses.starts[tag : tag + 2]
        rows: Array = self.memory.use_row[first:last]
        return rows

    def words(self, key: str) -> tuple[str, ...]:
        """The words of a hashtag of the memory."""
        number = self.memory.tags.get(key)
        return () if number is None else self.memory.words[number]

    def longer(self, key: str) -> list[str]:
        """Hashtags that begin like this one and go on."""
        keys = self.memory.sorted_keys
        found = keys[bisect_right(keys, key) : bisect_right(keys, key + "\U0010ffff")]
        return [other for other in found if len(other) > len(key)]
