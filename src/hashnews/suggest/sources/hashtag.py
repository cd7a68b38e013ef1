"""The hashtag itself: its shape, its past uses by anybody, and what the post is like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hashnews.arrays import Array, compiled
from hashnews.suggest.sources.base import Source

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.query import Query

# The statistics of a hashtag, in the order in which `describe` writes them.
STATISTICS = (
    "uses", "trailing_share", "users", "users_share", "last_use", "first_use", "weekly",
    "weeks_ago", "centre", "nearest_three", "own_share",
)  # fmt: skip
UNUSED = {"last_use": 1000.0, "first_use": 1000.0}  # days ago, of a hashtag nobody used


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
        own_newest = view.ages(view.own[-1:])
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


@compiled
def before(values: Array, first: int, last: int, limit: int) -> int:
    """Where a list in `values[first:last]` reaches `limit`."""
    return int(first + np.searchsorted(values[first:last], limit))


@compiled
def describe(
    chosen: Array, limit: int, moment: int, day: int, times: Array, similar: Array,
    use_starts: Array, use_row: Array, use_user: Array, use_inline: Array, author: int, out: Array,
) -> None:  # fmt: skip
    """What is known of each chosen hashtag: its past uses by anybody (`STATISTICS` names them)."""
    week = 7 * day
    for n in range(len(chosen)):
        if chosen[n] < 0:
            continue
        first = use_starts[chosen[n]]
        last = before(use_row, first, use_starts[chosen[n] + 1], limit)
        if last == first:
            continue
        start = max(first, last - 200)
        users, trailing, same_day, weekly, summed = 0, 0, 0, 0, 0.0
        best, second, third = 0.0, 0.0, 0.0
        mine = 0
        for use in range(start, last):
            row = use_row[use]
            trailing += 1 - use_inline[use]
            new = True
            for earlier in range(max(start, use - 30), use):
                if use_user[earlier] == use_user[use]:
                    new = False
                    break
            users += new
            if author >= 0 and use_user[use] == author:
                mine += 1
            age = moment - times[row]
            if abs((age + week // 2) % week - week // 2) < day // 2:
                weekly += 1
                same_day += age > day
            likeness = similar[row]
            summed += likeness
            if likeness > best:
                best, second, third = likeness, best, second
            elif likeness > second:
                second, third = likeness, second
            elif likeness > third:
                third = likeness
        read = last - start
        out[n, 0] = last - first
        out[n, 1] = trailing / read
        out[n, 2] = users
        out[n, 3] = users / read
        out[n, 4] = (moment - times[use_row[last - 1]]) / day
        out[n, 5] = (moment - times[use_row[first]]) / day
        out[n, 6] = weekly / read
        out[n, 7] = same_day
        out[n, 8] = summed / read
        out[n, 9] = (best + second + third) / 3
        out[n, 10] = mine / read
