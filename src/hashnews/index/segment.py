"""Remembered posts as arrays that never change: one *segment* of the memory.

The rows of a segment are posts in the order of time (of one moment in the order of arrival), so the
past of any moment is a prefix of every list here: the rows a term stands in, those a hashtag was
used in, those of an author. Segments are merged without reading a post again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np

from hashnews.arrays import Array, compiled, groups_of, joined, smallest, starts_of
from hashnews.index.packed import Strings, pack, unfolded
from hashnews.posts.table import Remembered
from hashnews.text.terms import terms

EITHER = np.array([0, 1], np.uint8)  # trailing, inline
LONGEST = 65_535  # terms of one post that count
STRINGS = ("id", "user", "tag", "words", "form")
Names = Sequence[str]
Packed = tuple[tuple[tuple[Array, Array], ...], Array]  # texts and sizes but of ids; signs of tags


class TermRows(NamedTuple):
    """The rows each term stands in; a term is found by its number in the vocabulary."""

    vocabulary: Array
    starts: Array
    low: Array  # of each row the last 16 bits
    high: Array  # ... and those before: three bytes, for lists are what takes most room

    @property
    def rows(self) -> Array:
        """All rows, list after list."""
        rows: Array = self.low | self.high.astype(np.int32) << 16
        return rows


class RowUses(NamedTuple):
    """The uses of hashtags, row after row."""

    starts: Array  # of each row
    tag: Array
    inline: Array


class TagUses(NamedTuple):
    """The uses of each hashtag, oldest first."""

    starts: Array  # of each hashtag
    rows: Array
    inline: Array
    user: Array


class Segment:
    """The arrays of some posts, in memory or mapped from a file."""

    def __init__(self, arrays: dict[str, Array]):
        for array in arrays.values():
            array.flags.writeable = False  # mapped ones are; one kind of array is compiled for
        self.arrays = arrays
        self.times, self.rows, self.sums = arrays["times"], arrays["rows"], arrays["sums"]
        self.user, self.lengths = arrays["user"], arrays["lengths"]
        self.term_rows = TermRows(
            *(arrays[name] for name in ("vocabulary", "list_starts", "list_low", "list_high"))
        )
        self.row_uses = RowUses(arrays["use_starts"], arrays["use_tag"], arrays["use_inline"])
        self.tag_uses = TagUses(
            *(arrays[f"tag_{name}"] for name in ("starts", "rows", "inline", "user"))
        )
        self.ids, self.forms = self.strings("id"), self.strings("form")

    def __len__(self) -> int:
        return len(self.times)

    def strings(self, kind: str) -> Strings:
        """Ids, users, keys of hashtags, their words or forms, each in order."""
        return Strings(self.arrays[f"{kind}_text"], self.arrays[f"{kind}_sizes"])

    def forms_of_uses(self) -> Array:
        """The form of each use, row after row."""
        tags = self.row_uses.tag
        uses = groups_of(tags, np.arange(len(tags)), len(self.tag_uses.starts) - 1)
        forms = np.empty_like(self.arrays["tag_form"])
        forms[uses.values] = self.arrays["tag_form"]
        return forms

    def rows_of_user(self, user: int) -> Array:
        """The rows of a user, oldest first."""
        first, last = self.arrays["user_starts"][user : user + 2]
        rows: Array = self.arrays["user_rows"][first:last]
        return rows


def build_segment(posts: Iterable[Remembered]) -> Segment:
    """The segment of some posts."""
    arrived = list(posts)
    words: dict[str, str] = {}  # of each hashtag, as it was first cut
    for post in arrived:
        for tag in (*post.hashtags, *post.inline):
            words.setdefault(tag.key, " ".join(tag.words))
    ordered = sorted(arrived, key=lambda post: (post.posted, post.row))
    used = [(*post.hashtags, *post.inline) for post in ordered]
    users, user_of = _numbers({post.user for post in ordered if post.user is not None})
    keys, tag_of = _numbers(words)
    forms, form_of = _numbers({tag.written for tags in used for tag in tags})
    within = [np.repeat(EITHER, (len(p.hashtags), len(p.inline))) for p in ordered]
    said = joined([terms(post.body) for post in ordered], np.uint32)
    vocabulary, numbers = np.unique(said.values, return_inverse=True)
    sizes = np.diff(said.starts)
    row_of_term = np.repeat(np.arange(len(ordered), dtype=np.int32), sizes)
    lists = groups_of(numbers, row_of_term, len(vocabulary))
    return _segment(
        {
            "times": np.array([post.posted for post in ordered], np.int64),
            "rows": np.array([post.row for post in ordered], np.int64),
            "sums": np.array([post.checksum for post in ordered], np.uint32),
            "user": _int32([-1 if p.user is None else user_of[p.user] for p in ordered]),
            "lengths": np.minimum(sizes, LONGEST).astype(np.uint16),
            "use_starts": _int32(starts_of(np.array([len(tags) for tags in used], np.int64))),
            "use_tag": _int32([tag_of[tag.key] for tags in used for tag in tags]),
            "use_inline": np.concatenate([np.zeros(0, np.uint8), *within]),
            "vocabulary": vocabulary,
            "list_starts": _int32(lists.starts),
        },
        lists.values,
        _int32([form_of[tag.written] for tags in used for tag in tags]),
        pack([post.id for post in ordered]),
        _packed(users, keys, [words[key] for key in keys], forms),
    )


def _numbers(names: Iterable[str]) -> tuple[list[str], dict[str, int]]:
    """Names in order, and the number of each."""
    ordered = sorted(names)
    return ordered, {name: number for number, name in enumerate(ordered)}


def _packed(users: Names, keys: Names, words: Names, forms: Names) -> Packed:
    """The names of a segment, and the checksum of each hashtag's key."""
    signs = np.array([crc32(key.encode()) for key in keys], np.uint32)
    return tuple(map(pack, (users, keys, words, forms))), signs


def _uint8(numbers: Array) -> Array:
    return numbers.astype(np.uint8)


def _int32(numbers: Sequence[int] | Array) -> Array:
    return np.asarray(numbers, np.int32)


def _segment(
    arrays: dict[str, Array],
    listed: Array,
    forms: Array,
    ids: tuple[Array, Array],
    names: Packed,
) -> Segment:
    """A segment with what follows; `listed`: the rows of all terms, `forms`: of the uses."""
    packed, arrays["tag_sign"] = names
    (_, users), (_, keys), *_ = packed
    arrays["list_low"], arrays["list_high"] = listed.astype(np.uint16), _uint8(listed >> 16)
    arrays["rows"] = smallest(arrays["rows"])
    for kind, (text, sizes) in zip(STRINGS, (ids, *packed), strict=True):
        arrays[f"{kind}_text"], arrays[f"{kind}_sizes"] = text, smallest(sizes)
    count, tags = len(arrays["times"]), arrays["use_tag"]
    use_row = np.repeat(np.arange(count, dtype=np.int32), np.diff(arrays["use_starts"]))
    uses = groups_of(tags, np.arange(len(tags), dtype=np.int32), len(keys))
    arrays["tag_starts"], arrays["tag_rows"] = _int32(uses.starts), use_row[uses.values]
    arrays["tag_inline"], arrays["tag_form"] = arrays["use_inline"][uses.values], forms[uses.values]
    arrays["tag_user"] = arrays["user"][arrays["tag_rows"]]
    known = np.flatnonzero(arrays["user"] >= 0).astype(np.int32)
    own = groups_of(arrays["user"][known], known, len(users))
    arrays["user_starts"], arrays["user_rows"] = _int32(own.starts), own.values
    return Segment(arrays)


def merged(first: Segment, second: Segment) -> Segment:
    """The segment of the posts of two; what `first` calls a hashtag's words stays."""
    both = (first, second)
    order = np.lexsort((_both(both, "rows"), _both(both, "times")))
    places = np.empty(len(order), np.int32)  # of each old row among the new ones
    places[order] = np.arange(len(order), dtype=np.int32)
    names, maps = {}, {}
    for kind in ("user", "tag", "form"):
        old = [part.strings(kind).all() for part in both]
        names[kind], number = _numbers({*old[0], *old[1]})
        maps[kind] = [_int32([number[name] for name in some]) for some in old]
    words: dict[str, str] = {}
    for part in (second, first):
        words.update(zip(part.strings("tag").all(), part.strings("words").all(), strict=True))
    users = [
        np.append(new, _int32([-1]))[part.user]
        for part, new in zip(both, maps["user"], strict=True)
    ]
    sizes = np.concatenate([np.diff(part.arrays["use_starts"]) for part in both])
    starts = starts_of(sizes)
    vocabulary, list_sizes, rows = _merged_lists(both, (places[: len(first)], places[len(first) :]))

    def of_uses(kind: str, old: Sequence[Array]) -> Array:
        new = [numbers[used] for numbers, used in zip(maps[kind], old, strict=True)]
        return unfolded(order, starts, np.concatenate(new))

    id_sizes = _both(both, "id_sizes")
    return _segment(
        {
            "times": _both(both, "times")[order],
            "rows": _both(both, "rows")[order],
            "sums": _both(both, "sums")[order],
            "user": np.concatenate(users)[order],
            "lengths": _both(both, "lengths")[order],
            "use_starts": _int32(starts_of(sizes[order])),
            "use_tag": of_uses("tag", [part.row_uses.tag for part in both]),
            "use_inline": unfolded(order, starts, _both(both, "use_inline")),
            "vocabulary": vocabulary,
            "list_starts": _int32(starts_of(list_sizes)),
        },
        rows,
        of_uses("form", [part.forms_of_uses() for part in both]),
        (unfolded(order, starts_of(id_sizes), _both(both, "id_text")), id_sizes[order]),
        _packed(names["user"], names["tag"], [words[key] for key in names["tag"]], names["form"]),
    )


def without(segment: Segment, gone: Array) -> Segment:
    """The segment without some rows, marked, and without the names that only they had."""
    arrays = segment.arrays
    kept = np.flatnonzero(~gone).astype(np.int32)
    places = np.full(len(segment), -1, np.int32)
    places[kept] = np.arange(len(kept), dtype=np.int32)
    starts, sizes = arrays["use_starts"], np.diff(arrays["use_starts"])[kept]
    users, user = _renumbered(segment.user[kept], len(segment.strings("user")))
    tags, tag = _renumbered(unfolded(kept, starts, segment.row_uses.tag), len(arrays["tag_sign"]))
    used_forms = unfolded(kept, starts, segment.forms_of_uses())
    forms, form = _renumbered(used_forms, len(segment.forms))
    lists = segment.term_rows
    rows = places[lists.rows]
    list_sizes = np.diff(starts_of(rows >= 0)[lists.starts])
    said = list_sizes > 0

    def picked(kind: str, numbers: Array) -> tuple[Array, Array]:
        sizes = arrays[f"{kind}_sizes"]
        return unfolded(numbers, starts_of(sizes), arrays[f"{kind}_text"]), sizes[numbers]

    names = zip(STRINGS[1:], (users, tags, tags, forms), strict=True)
    return _segment(
        {
            "times": segment.times[kept],
            "rows": segment.rows[kept],
            "sums": arrays["sums"][kept],
            "user": user,
            "lengths": segment.lengths[kept],
            "use_starts": _int32(starts_of(sizes)),
            "use_tag": tag,
            "use_inline": unfolded(kept, starts, segment.row_uses.inline),
            "vocabulary": lists.vocabulary[said],
            "list_starts": _int32(starts_of(list_sizes[said])),
        },
        rows[rows >= 0],
        form,
        picked("id", kept),
        (tuple(picked(kind, some) for kind, some in names), arrays["tag_sign"][tags]),
    )


def _renumbered(numbers: Array, count: int) -> tuple[Array, Array]:
    """Which of so many numbers there are, and each by its place among these; -1 stays."""
    there = np.zeros(count + 1, bool)
    there[numbers] = True  # -1 is the last one
    there[count] = False
    places = np.append(np.cumsum(there[:count], dtype=np.int32) - 1, -1).astype(np.int32)
    return np.flatnonzero(there), places[numbers]


def _both(both: Sequence[Segment], name: str) -> Array:
    return np.concatenate([part.arrays[name] for part in both])


def _merged_lists(both: Sequence[Segment], places: Sequence[Array]) -> tuple[Array, Array, Array]:
    """The terms of two segments, how many rows each has, and these rows, renumbered."""
    first, second = (part.term_rows for part in both)
    vocabulary = np.union1d(first.vocabulary, second.vocabulary)
    sizes = np.zeros(len(vocabulary), np.int64)
    rows = np.empty(len(first.low) + len(second.low), np.int32)
    merge_lists(vocabulary, first, places[0], second, places[1], sizes, rows)
    return vocabulary, sizes, rows


@compiled
def row_at(of: TermRows, at: int) -> int:
    """One of the rows of the lists."""
    row: int = of.low[at] | of.high[at] << 16
    return row


@compiled
def merge_lists(
    vocabulary: Array, ones: TermRows, places: Array, others: TermRows, other_places: Array,
    sizes: Array, out: Array,
) -> None:  # fmt: skip
    """Merge the sorted lists of each term; rows become the places of the rows."""
    one, two, size = 0, 0, 0
    for term in range(len(vocabulary)):
        a = b = a_end = b_end = 0
        if one < len(ones.vocabulary) and ones.vocabulary[one] == vocabulary[term]:
            a, a_end = ones.starts[one], ones.starts[one + 1]
            one += 1
        if two < len(others.vocabulary) and others.vocabulary[two] == vocabulary[term]:
            b, b_end = others.starts[two], others.starts[two + 1]
            two += 1
        begin = size
        while a < a_end or b < b_end:
            mine = places[row_at(ones, a)] if a < a_end else len(out)
            other = other_places[row_at(others, b)] if b < b_end else len(out)
            out[size] = min(mine, other)
            a, b, size = a + (mine < other), b + (other < mine), size + 1
        sizes[term] = size - begin
