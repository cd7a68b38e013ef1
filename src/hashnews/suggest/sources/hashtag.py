"""The hashtag itself: its shape, its past uses by anybody, and what the post is like."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hashnews.arrays import Array, compiled, starts_of
from hashnews.index.segment import TagUses
from hashnews.suggest.memory import View, used_within
from hashnews.suggest.sources.base import Source
from hashnews.times import A_DAY

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.query import Query
    from hashnews.suggest.sources.neighbours import Similarity

# The statistics of a hashtag, in the order in which `describe` writes them.
STATISTICS = (
    "uses", "trailing_share", "users", "users_share", "last_use", "first_use", "weekly",
    "weeks_ago", "centre", "nearest_three", "own_share",
)  # fmt: skip
UNUSED = {"last_use": 1000.0, "first_use": 1000.0}  # days ago, of a hashtag nobody used
READ = 200  # uses of a hashtag, the last ones, that say what it is like


class HashtagItself(Source):
    """Speaks for no hashtag; helps to judge what the others say."""

    of_hashtag = ("words", "letters", "digits", "trailing_share", "users_share", "first_use")
    of_post = ("post_words", "own_posts", "own_newest", "newest", "given", "articles")
    columns = dict.fromkeys((*of_hashtag, "sources", *of_post), 0.0)

    def features(self, query: Query, found: Candidates) -> Array:
        """Its shape and uses, how many kinds of evidence there are, and what the post is like."""
        evidence, view = found.evidence, found.evidence.view
        shape = [
            (len(words), len(key), sum(map(str.isdecimal, key)))
            for key, words in zip(found.keys, found.words, strict=True)
        ]
        sources = evidence.columns(SPEAKING) > 0
        own_newest = view.ages(view.own.time[-1:])
        about = (
            len(query.words),
            len(view.own),
            float(own_newest[0]) if len(own_newest) else 1000.0,
            view.newest(),
            len(query.given),
            len(query.articles),
        )
        return np.column_stack(
            [
                np.array(shape),
                evidence.columns(self.of_hashtag[3:]),
                sources.sum(axis=1),
                np.tile(about, (len(shape), 1)),
            ]
        )


SPEAKING = ("neighbours", "own", "week")
HASHTAG = HashtagItself()


class LastUses(NamedTuple):
    """The last uses of some hashtags, part after part, hashtag after hashtag, oldest first."""

    starts: Array  # of each hashtag in each part
    time: Array
    user: Array
    inline: Array
    similar: Array


def statistics(tags: Array, view: View, similarity: Similarity) -> Array:
    """What is known of hashtags: their past uses by anybody (`STATISTICS` names the columns)."""
    out = np.zeros((len(tags), len(STATISTICS)))
    for name, value in UNUSED.items():
        out[:, STATISTICS.index(name)] = value
    counts, first_use = np.zeros(len(tags), np.int64), np.full(len(tags), view.moment, np.int64)
    have, oldest = np.zeros(len(tags), np.int64), first_use.copy()  # of the last uses read so far
    read = {}
    for at in view.newest_first():
        part, segment = view.parts[at], view.parts[at].segment
        first, last = used_within(tags, part.tags, *view.spans[at][:2], segment.tag_uses)
        sizes, rows, *about = last_uses(
            first, last, segment.tag_uses, segment.times, part.users.all, counts, first_use, have,
            oldest,
        )  # fmt: skip
        if len(rows):
            read[at] = (sizes, *about, similarity.of_rows(at, rows))
    columns = [read[at] for at in sorted(read)]
    if columns:
        sizes, *merged = (np.concatenate(column) for column in zip(*columns, strict=True))
        uses = LastUses(starts_of(sizes), *merged)
        users = len(view.memory.users)
        describe(counts, first_use, uses, view.moment, A_DAY, view.author, users, out)
    return out


@compiled
def last_uses(
    firsts: Array, lasts: Array, uses: TagUses, times: Array, users: Array, counts: Array,
    first_use: Array, have: Array, oldest: Array,
) -> tuple[Array, Array, Array, Array, Array]:  # fmt: skip
    """The last uses of each hashtag in a part: how many; row, time, author, whether inline.

    Adds to the counts of uses and notes the first one. What is older than all that was read of
    other parts is read only where that is not enough.
    """
    sizes = np.zeros(len(firsts), np.int64)
    for n in range(len(firsts)):
        first, last = firsts[n], lasts[n]
        if last > first:
            counts[n] += last - first
            first_use[n] = min(first_use[n], times[uses.rows[first]])
            is_older = times[uses.rows[last - 1]] < oldest[n]
            sizes[n] = min(last - first, max(0, READ - have[n]) if is_older else READ)
            if sizes[n]:
                have[n] += sizes[n]
                oldest[n] = min(oldest[n], times[uses.rows[last - sizes[n]]])
    size = sizes.sum()
    rows, time = np.empty(size, np.int32), np.empty(size, np.int64)
    author, within, at = np.empty(size, np.int32), np.empty(size, np.uint8), 0
    for n in range(len(firsts)):
        for use in range(lasts[n] - sizes[n], lasts[n]):
            rows[at], time[at] = uses.rows[use], times[uses.rows[use]]
            author[at] = users[uses.user[use]] if uses.user[use] >= 0 else -1
            within[at] = uses.inline[use]
            at += 1
    return sizes, rows, time, author, within


@compiled
def latest(tag: int, tags: int, of: LastUses, ends: Array, places: Array) -> int:
    """Fill `places` from its end with the last uses of a hashtag in all parts; returns how many."""
    parts, found = len(ends), 0
    for part in range(parts):
        ends[part] = of.starts[part * tags + tag + 1]
    while found < len(places):
        newest = -1  # the part with the latest use
        for part in range(parts):
            if ends[part] > of.starts[part * tags + tag]:
                use = ends[part] - 1
                if newest < 0 or of.time[use] >= of.time[ends[newest] - 1]:
                    newest = part
        if newest < 0:
            break
        ends[newest] -= 1
        found += 1
        places[len(places) - found] = ends[newest]
    return found


@compiled
def describe(
    counts: Array, first_use: Array, of: LastUses, moment: int, day: int, author: int,
    known_users: int, out: Array,
) -> None:  # fmt: skip
    """Fill the statistics of each hashtag from how often it was used and its last uses.

    A use is by a new user if none of the thirty before it was by the same.
    """
    week, tags, steps = 7 * day, len(counts), 0
    last_step = np.full(known_users + 1, -1, np.int64)  # of each user; nobody known is the last
    ends, places = np.zeros((len(of.starts) - 1) // tags, np.int64), np.zeros(READ, np.int64)
    for n in range(tags):
        if counts[n] == 0:
            continue
        read = latest(n, tags, of, ends, places)
        start, begin = READ - read, steps
        users, trailing, same_day, weekly, summed = 0, 0, 0, 0, 0.0
        best, second, third = 0.0, 0.0, 0.0
        mine = 0
        for at in range(start, READ):
            use = places[at]
            trailing += 1 - of.inline[use]
            users += last_step[of.user[use]] < max(steps - 30, begin)
            last_step[of.user[use]] = steps
            steps += 1
            if author >= 0 and of.user[use] == author:
                mine += 1
            age = moment - of.time[use]
            if abs((age + week // 2) % week - week // 2) < day // 2:
                weekly += 1
                same_day += age > day
            likeness = of.similar[use]
            summed += likeness
            if likeness > best:
                best, second, third = likeness, best, second
            elif likeness > second:
                second, third = likeness, second
            elif likeness > third:
                third = likeness
        out[n, 0] = counts[n]
        out[n, 1] = trailing / read
        out[n, 2] = users
        out[n, 3] = users / read
        out[n, 4] = (moment - of.time[places[READ - 1]]) / day
        out[n, 5] = (moment - first_use[n]) / day
        out[n, 6] = weekly / read
        out[n, 7] = same_day
        out[n, 8] = summed / read
        out[n, 9] = (best + second + third) / 3
        out[n, 10] = mine / read
