"""The memory of earlier posts: segments in the order of arrival, each in the order of time.

In each segment the past of a moment is a range of rows, so one memory answers for every moment
honestly, with the statistics of that moment, however its posts came in. Nothing depends on how
posts are spread over segments: posts go by time and arrival, hashtags by their `signs`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array, Numbering, compiled, lower_bound, starts_of
from hashnews.index.post_segments import PostSegments, folder_of_posts
from hashnews.index.segment import RowUses, Segment, TagUses
from hashnews.news.store import NewsStore
from hashnews.posts.table import Remembered
from hashnews.times import A_DAY

NOBODY = -1
DELAY = A_DAY // 288  # five minutes: sooner a post of somebody else has not come and been read
NOTHING_NEW = 1000.0  # days: as old as the newest post is where there is none
WRITTEN = 200  # uses that say how a hashtag is written


class Numbers(NamedTuple):
    """The memory's numbers for the hashtags or users of a segment, and the way back."""

    all: Array  # by the segment's own number
    ordered: Array  # the same in order
    places: Array  # and the segment's own number of each

    @classmethod
    def of(cls, numbers: Sequence[int]) -> Numbers:
        """Of the memory's numbers, in the order of the segment's own."""
        known = np.array(numbers, np.int32)
        places = np.argsort(known).astype(np.int32)
        return cls(known, known[places], places)

    def local(self, wanted: int) -> int:
        """The segment's own number; -1 where it has none."""
        return local_number(wanted, self)


class Part:
    """A segment of a memory, with the memory's numbers for its hashtags and users."""

    def __init__(self, segment: Segment, tags: Numbers, users: Numbers):
        self.segment, self.tags, self.users = segment, tags, users
        self._user_of = np.append(users.all, np.int32(NOBODY))

    def authors(self, rows: Array) -> Array:
        """Who wrote rows, by the memory's numbers."""
        numbers: Array = self._user_of[self.segment.user[rows]]
        return numbers


class Posts(NamedTuple):
    """Some posts: where they are, and when they were written."""

    part: Array
    row: Array  # in the part
    time: Array

    def pick(self, places: Array) -> Posts:
        """Some of them."""
        return Posts(*(column[places] for column in self))

    def in_parts(self) -> list[int]:
        """The parts they are in."""
        return [int(part) for part in np.flatnonzero(np.bincount(self.part))]

    def in_order(self) -> Posts:
        """By time; of one moment in the order of arrival."""
        return self.pick(np.lexsort((self.row, self.part, self.time)))

    def __len__(self) -> int:
        return len(self.row)


class Uses(NamedTuple):
    """The uses of hashtags in some posts, post by post."""

    post: Array  # which of the posts
    tag: Array
    inline: Array


class Memory:
    """Earlier posts, their words, authors and hashtags; `extend` takes in more at any time.

    A post sees those of the last `days`.
    """

    def __init__(self, posts: Iterable[Remembered] = (), days: float | None = None):
        self.days = days
        self.tags = Numbering()  # keys of hashtags
        self.users = Numbering()
        self.words: list[tuple[str, ...]] = []  # of each hashtag, as it was first cut
        self.signs: Array = np.zeros(0, np.uint32)  # checksums of keys: they break ties
        self.parts: list[Part] = []
        self._keys: list[str] = []
        self._segments = PostSegments()
        self.extend(posts)

    @classmethod
    def open(cls, store: NewsStore, days: float | None = None) -> Memory:
        """The memory of a store's posts; it stands in a folder beside the store."""
        memory = cls((), days)
        memory._segments = PostSegments(folder_of_posts(store))
        memory.refresh(store)
        return memory

    def refresh(self, store: NewsStore) -> bool:
        """Take in what happened to the store's posts since; says whether there was anything."""
        changed = self._segments.refresh(store)
        if changed:
            self._number()
        return changed

    def extend(self, posts: Iterable[Remembered]) -> None:
        """Take in posts, in any order of time; the work grows with what is new."""
        self._segments.extend(posts)
        self._number()

    @property
    def since(self) -> int:
        """When the oldest post was written; nothing older counts."""
        return self._segments.since

    def _number(self) -> None:
        known = {id(part.segment): part for part in self.parts}
        self.parts = [known.get(id(one)) or self._open(one) for one in self._segments.all]

    def __len__(self) -> int:
        times = [part.segment.times for part in self.parts]
        return sum(len(some) - int(some.searchsorted(self.since)) for some in times)

    def _open(self, segment: Segment) -> Part:
        known = len(self.tags)
        tags, users = (
            Numbers.of([numbering[name] for name in segment.strings(kind).all()])
            for kind, numbering in (("tag", self.tags), ("user", self.users))
        )
        fresh = np.flatnonzero(tags.all >= known).tolist()  # their numbers are in order, too
        self.words += [tuple(words.split(" ")) for words in segment.strings("words").pick(fresh)]
        self.signs = np.concatenate([self.signs, segment.arrays["tag_sign"][fresh]])
        return Part(segment, tags, users)

    @property
    def keys(self) -> list[str]:
        """The keys of all hashtags in order; new ones are put in their places."""
        if len(self._keys) < len(self.tags):
            self._keys = sorted([*self._keys, *self.tags.names[len(self._keys) :]])
        return self._keys

    def ids(self, posts: Posts) -> tuple[str, ...]:
        """The ids of posts."""
        places = zip(posts.part.tolist(), posts.row.tolist(), strict=True)
        return tuple(self.parts[part].segment.ids[row] for part, row in places)

    def first(self) -> int:
        """When the oldest post was written; 0 where there is none."""
        oldest = min((int(part.segment.times[0]) for part in self.parts), default=0)
        return max(oldest, self.since)

    def posts(self, rows: Sequence[Array]) -> Posts:
        """Rows of each part as posts, in order."""
        columns = [
            (np.full(len(some), at), some, part.segment.times[some])
            for at, (part, some) in enumerate(zip(self.parts, rows, strict=True))
        ]
        nothing = [np.zeros(0, np.int64)]
        together = [np.concatenate([*parts]) for parts in zip(*columns, strict=True)]
        return Posts(*(together or nothing * 3)).in_order()

    def authors(self, posts: Posts) -> Array:
        """Who wrote posts."""
        found = np.full(len(posts), NOBODY, np.int32)
        for at in posts.in_parts():
            mine = posts.part == at
            found[mine] = self.parts[at].authors(posts.row[mine])
        return found

    def uses(self, posts: Posts) -> Uses:
        """The uses of hashtags in posts."""
        sizes = np.zeros(len(posts), np.int64)
        for at in posts.in_parts():
            count_uses(at, posts, self.parts[at].segment.row_uses.starts, sizes)
        starts = starts_of(sizes)
        post = np.repeat(np.arange(len(posts)), sizes)
        found = Uses(post, np.empty(len(post), np.int32), np.empty(len(post), np.uint8))
        for at in posts.in_parts():
            part = self.parts[at]
            fill_uses(at, posts, part.segment.row_uses, part.tags.all, starts, found)
        return found


class Visible(NamedTuple):
    """The rows of one part that a post may see."""

    low: int
    limit: int  # the first row that is not past for everybody
    limit_own: int  # ... for the author


class View:
    """What one post may see of a memory: nothing at or after its own time.

    Posts of other people count when they are five minutes old (they have to come, and whoever
    writes has to read them), the author's own up to the post. `until` closes the memory at an
    earlier time. The days that a memory looks back begin with the newest post it may see, and with
    the newest of the author's own: an archive that ended years ago still tells.
    """

    def __init__(self, memory: Memory, moment: int, user: str | None, until: int | None = None):
        self.memory, self.moment = memory, moment
        self.parts = memory.parts
        closed = moment if until is None else min(moment, until)
        number = None if user is None else memory.users.get(user)
        self.author = NOBODY if number is None else number
        past = min(moment - DELAY + 1, closed)
        # Nobody known has no posts of their own: those of other unknowns wait their hour, too.
        own = past if number is None else max(past, closed)
        since = memory.since
        if memory.days is not None:
            since = max(since, self._newest_of(past, own) - int(memory.days * A_DAY))
        ends = np.array([min(since, past), past, own], np.int64)
        self.spans = [
            Visible(*part.segment.times.searchsorted(ends).tolist()) for part in self.parts
        ]
        self.size = sum(span.limit - span.low for span in self.spans)
        self.own = self._own()

    def _newest_of(self, past: int, own: int) -> int:
        """When the newest post of anyone was written, or of the author, whichever is earlier."""
        all_newest, own_newest = [], []
        for part in self.parts:
            times = part.segment.times
            if end := int(times.searchsorted(past)):
                all_newest.append(int(times[end - 1]))
            local = part.users.local(self.author) if self.author != NOBODY else NOBODY
            if local >= 0:
                rows = part.segment.rows_of_user(local)
                if end := int(rows.searchsorted(times.searchsorted(own))):
                    own_newest.append(int(times[rows[end - 1]]))
        newest = [max(times) for times in (all_newest, own_newest) if times]
        return min([self.moment, *newest])

    def _own(self) -> Posts:
        found = [np.zeros(0, np.int32)] * len(self.parts)
        if self.author != NOBODY:
            for at, (part, span) in enumerate(zip(self.parts, self.spans, strict=True)):
                local = part.users.local(self.author)
                if local >= 0:
                    rows = part.segment.rows_of_user(local)
                    first, last = rows.searchsorted((span.low, span.limit_own))
                    found[at] = rows[first:last]
        return self.memory.posts(found)

    @cached_property
    def own_uses(self) -> Uses:
        """The hashtags of the author's own posts."""
        return self.memory.uses(self.own)

    @cached_property
    def is_late(self) -> Array:
        """Which of the author's own posts others may not see yet."""
        limits = np.array([span.limit for span in self.spans], np.int64)
        late: Array = self.own.row >= limits[self.own.part]
        return late

    def ages(self, times: Array) -> Array:
        """How many days before the post moments are."""
        ages: Array = (self.moment - times) / A_DAY
        return ages

    def newest_first(self) -> list[int]:
        """The parts in which there is something to see, by their newest post."""
        seen = zip(self.parts, self.spans, strict=True)
        last = [
            (-int(part.segment.times[span.limit - 1]), at)
            for at, (part, span) in enumerate(seen)
            if span.limit > span.low
        ]
        return [at for _, at in sorted(last)]

    def newest(self) -> float:
        """How many days before the post the newest post it can see was written."""
        seen = zip(self.parts, self.spans, strict=True)
        last = [int(part.segment.times[s.limit - 1]) for part, s in seen if s.limit > s.low]
        return float((self.moment - max(last)) / A_DAY) if last else NOTHING_NEW

    def is_known(self, tags: Array) -> Array:
        """Whether somebody used hashtags before the post."""
        known = np.isin(tags, self.memory.uses(self.own.pick(self.is_late)).tag)
        for part, span in zip(self.parts, self.spans, strict=True):
            first, last = used_within(tags, part.tags, *span[:2], part.segment.tag_uses)
            known |= last > first
        return known

    def times_used(self, key: str) -> int:
        """How often everybody used a hashtag before the post."""
        number = self.memory.tags.get(key)
        return 0 if number is None else sum(last - first for _, first, last in self._uses(number))

    def _uses(self, tag: int) -> list[tuple[Part, int, int]]:
        """The past uses of a hashtag in each part that has it."""
        found, wanted = [], np.array([tag])
        for part, span in zip(self.parts, self.spans, strict=True):
            first, last = used_within(wanted, part.tags, *span[:2], part.segment.tag_uses)
            if last[0] > first[0]:
                found.append((part, int(first[0]), int(last[0])))
        return found

    def days_used(self, tag: int, days: int) -> list[int]:
        """How often a hashtag was used on each of the last days, oldest first."""
        counts = np.zeros(days, np.int64)
        for part, first, last in self._uses(tag):
            times = part.segment.times[part.segment.tag_uses.rows[first:last]]
            ago = (self.moment - times) // A_DAY
            counts += np.bincount(ago[ago < days], minlength=days)
        return [int(count) for count in counts[::-1]]

    def users(self, tag: int) -> Array:
        """Who used a hashtag before the post, use by use."""
        found = [np.zeros(0, np.int32)]
        for part, first, last in self._uses(tag):
            found.append(part.authors(part.segment.tag_uses.rows[first:last]))
        return np.concatenate(found)

    def written(self, tag: int) -> list[str]:
        """How a hashtag was written lately."""
        uses = self._uses(tag)
        if not uses:
            return []
        columns = []
        for at, (part, first, last) in enumerate(uses):
            some = slice(max(first, last - WRITTEN), last)
            times = part.segment.times[part.segment.tag_uses.rows[some]]
            columns.append((times, np.full(len(times), at), part.segment.arrays["tag_form"][some]))
        times, where, forms = (np.concatenate(column) for column in zip(*columns, strict=True))
        last_ones = np.argsort(times, kind="stable")[-WRITTEN:]
        named = zip(where[last_ones].tolist(), forms[last_ones].tolist(), strict=True)
        return [uses[at][0].segment.forms[form] for at, form in named]

    def words(self, key: str) -> tuple[str, ...]:
        """The words of a hashtag of the memory."""
        number = self.memory.tags.get(key)
        return () if number is None else self.memory.words[number]

    def longer(self, key: str) -> list[str]:
        """Hashtags that begin like this one and go on."""
        keys = self.memory.keys
        return keys[bisect_right(keys, key) : bisect_right(keys, key + "\U0010ffff")]


@compiled
def local_number(wanted: int, numbers: Numbers) -> int:
    """A segment's own number of a hashtag or user; -1 where it has none."""
    at = lower_bound(numbers.ordered, wanted)
    return numbers.places[at] if at < len(numbers.ordered) and numbers.ordered[at] == wanted else -1


@compiled
def used_within(
    tags: Array, numbers: Numbers, low: int, limit: int, uses: TagUses
) -> tuple[Array, Array]:
    """Which uses of each hashtag are those in rows from `low` up to `limit`: first and last."""
    firsts, lasts = np.zeros(len(tags), np.int64), np.zeros(len(tags), np.int64)
    for n in range(len(tags)):
        tag = local_number(tags[n], numbers)
        if tag >= 0 and limit > low:
            start, end = uses.starts[tag], uses.starts[tag + 1]
            firsts[n] = start
            if uses.rows[start] < low:  # mostly all of a part is within
                firsts[n] += lower_bound(uses.rows[start:end], low)
            lasts[n] = end
            if uses.rows[end - 1] >= limit:
                lasts[n] = start + lower_bound(uses.rows[start:end], limit)
    return firsts, lasts


@compiled
def count_uses(part: int, posts: Posts, starts: Array, sizes: Array) -> None:
    """How many uses the posts of one part have."""
    for post in range(len(sizes)):
        if posts.part[post] == part:
            sizes[post] = starts[posts.row[post] + 1] - starts[posts.row[post]]


@compiled
def fill_uses(
    part: int, posts: Posts, of: RowUses, numbers: Array, starts: Array, found: Uses
) -> None:
    """Write the uses of the posts of one part where they belong."""
    for post in range(len(starts) - 1):
        if posts.part[post] == part:
            at, row = starts[post], posts.row[post]
            for use in range(of.starts[row], of.starts[row + 1]):
                found.tag[at], found.inline[at] = numbers[of.tag[use]], of.inline[use]
                at += 1
