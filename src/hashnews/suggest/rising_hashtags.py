"""Hashtags on the rise: used by more people in the last two days than in the weeks before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array
from hashnews.retrieve.trends import FEWEST, RECENT, REFERENCE, SHOWN
from hashnews.suggest.filters import shipped_blocked
from hashnews.suggest.memory import Memory, View
from hashnews.text.hashtags import Forms
from hashnews.times import A_DAY


class RisingHashtag(NamedTuple):
    """A hashtag as it is written, and its uses a day, oldest first."""

    hashtag: str
    people: int  # who used it in the last two days
    counts: list[int]


def rising_hashtags(memory: Memory, moment: int, forms: Forms, most: int) -> list[RisingHashtag]:
    """The hashtags whose uses rose most at a moment; nothing at or after it is seen."""
    uses = _uses(memory, moment)
    tags, numbers = np.unique(uses.tag, return_inverse=True)
    days = np.zeros((len(tags), RECENT + REFERENCE + 1), np.int64)
    np.add.at(days, (numbers, uses.back), 1)
    is_recent = uses.back <= RECENT
    pairs = np.unique(np.column_stack([numbers, uses.user])[is_recent], axis=0)
    people = np.bincount(pairs[:, 0], minlength=len(tags))
    recent = days[:, : RECENT + 1].sum(1)
    usual = days[:, RECENT + 1 :].sum(1) * (RECENT + 1) / REFERENCE
    rise = (recent - usual) / np.sqrt(usual + 1)  # in deviations of what comes by chance
    order = np.lexsort((memory.signs[tags], -rise))
    view = View(memory, moment, None)
    found: list[RisingHashtag] = []
    for at in order.tolist():
        if len(found) == most or rise[at] <= 0:
            break
        key, words = memory.tags.names[tags[at]], memory.words[tags[at]]
        if people[at] >= FEWEST and not shipped_blocked().holds(key, words):
            written = forms.write(words, view.written(int(tags[at])))
            counts = days[at, SHOWN::-1].tolist()
            found.append(RisingHashtag(written, int(people[at]), counts))
    return found


class _DatedUses(NamedTuple):
    """Uses of hashtags: of which, by whom, how many days back."""

    tag: Array
    user: Array
    back: Array


def _uses(memory: Memory, moment: int) -> _DatedUses:
    """The uses of the last weeks, by calendar days as the news is counted."""
    today = moment // A_DAY
    since = max(memory.since, (today - RECENT - REFERENCE) * A_DAY)
    columns = [[np.zeros(0, np.int64)] * 3]
    for part in memory.parts:
        segment = part.segment
        low, high = segment.times.searchsorted((since, moment)).tolist()
        starts = segment.row_uses.starts
        rows = np.repeat(np.arange(low, high), np.diff(starts[low : high + 1]))
        tags = part.tags.all[segment.row_uses.tag[starts[low] : starts[max(low, high)]]]
        columns.append([tags, part.authors(rows), today - segment.times[rows] // A_DAY])
    return _DatedUses(*(np.concatenate(column) for column in zip(*columns, strict=True)))
