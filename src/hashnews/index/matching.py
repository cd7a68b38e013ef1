"""Which entities match (Appendix B), and the posting lists that follow from it, compiled.

Days stand one after the other in arrays that grow (`lists.py`); tokens, surfaces and slots are
numbered through over all of them, articles within their day.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array, compiled
from hashnews.index.packed import Asked, TextArrays, find_string
from hashnews.retrieve.equations import idf


class TermLists(NamedTuple):
    """Where the lists of terms lie in a pool, and how long they are: terms x days."""

    starts: Array
    sizes: Array  # -1: not looked up yet


class WordDays(NamedTuple):
    """The words of several days."""

    words: TextArrays
    days: Array  # the number of each day there
    firsts: Array  # where the lists of each day begin in `list_starts`
    list_starts: Array


class SurfaceDays(NamedTuple):
    """The surfaces of several days, by their tokens."""

    token_starts: Array
    token_surfaces: Array
    # Scratch, zeros at first, one a surface.
    hits: Array
    seen_for: Array
    found: Array


class SlotDays(NamedTuple):
    """The slots of several days, by their surfaces."""

    surface_starts: Array
    surface_slots: Array
    docs: Array
    counts: Array
    absorbed_starts: Array
    absorbed: Array
    doc_firsts: Array  # the first article of each day
    doc_lengths: Array
    sizes: Array  # articles of each day
    # Scratch, zeros at first.
    seen_in: Array  # one a slot: the number of the list it was last seen for
    mentions: Array  # one an article


class EntityDays(NamedTuple):
    """The entities of several days: apart, for what is handed on is counted array by array."""

    tokens: TextArrays
    surfaces: SurfaceDays
    slots: SlotDays


@compiled
def align_codes(x: Array, y: Array) -> float:
    """`hashnews.retrieve.alignment.align` over arrays of character codes."""
    if len(x) == len(y) and np.all(x == y):
        return 1.0
    longer = max(len(x), len(y))
    best = 0
    above = np.zeros(len(y) + 1, np.int32)
    for i in range(len(x)):
        diagonal, left = 0, 0
        for j in range(len(y)):
            cell = diagonal + (2 if x[i] == y[j] else -1)
            cell = max(0, cell, left - 1, above[j + 1] - 1)
            diagonal, above[j + 1], left = above[j + 1], cell, cell
            best = max(best, cell)
    return best / (2 * longer)


@compiled
def _same(x: int, y: int, t: float, codes: Array, code_starts: Array) -> bool:
    if x == y:
        return True
    if t == 1.0:
        return False
    a = codes[code_starts[x] : code_starts[x + 1]]
    b = codes[code_starts[y] : code_starts[y + 1]]
    longer = max(len(a), len(b))
    # Two tokens of very different length cannot align; nor do very long ones (match.LONGEST).
    if min(len(a), len(b)) < t * longer or longer > 100:
        return False
    return bool(align_codes(a, b) >= t)


@compiled
def absorbed_slots(
    doc_starts: Array,  # slots of each article, article by article
    surface: Array,  # of each slot
    token_starts: Array,  # tokens of each surface
    tokens: Array,
    codes: Array,  # letters of each token
    code_starts: Array,
    t: float,
    q: float,
) -> tuple[Array, Array]:
    """For each slot the other slots of its article that strictly match it: how many, and which."""
    sizes = np.zeros(len(surface), np.int64)
    found = np.empty(max(16, len(surface)), np.int64)
    signs = np.full(len(surface), ~np.uint64(0))  # at t = 1 slots without a common bit cannot match
    if t == 1.0 and q > 0:
        for slot in range(len(surface)):
            signs[slot] = 0
            for x in range(token_starts[surface[slot]], token_starts[surface[slot] + 1]):
                signs[slot] |= np.uint64(1) << np.uint64(tokens[x] & 63)
    size = 0
    for doc in range(len(doc_starts) - 1):
        for whole in range(doc_starts[doc], doc_starts[doc + 1]):
            w0, w1 = token_starts[surface[whole]], token_starts[surface[whole] + 1]
            for part in range(doc_starts[doc], doc_starts[doc + 1]):
                if part == whole or not signs[part] & signs[whole]:
                    continue
                p0, p1 = token_starts[surface[part]], token_starts[surface[part] + 1]
                matched = 0
                for x in range(p0, p1):
                    for y in range(w0, w1):
                        if _same(tokens[x], tokens[y], t, codes, code_starts):
                            matched += 1
                            break
                if matched / (p1 - p0) >= q:
                    if size == len(found):
                        found = np.concatenate((found, np.empty(size, np.int64)))
                    found[size] = part - doc_starts[doc]
                    size += 1
                    sizes[whole] += 1
    return sizes, found[:size].copy()


@compiled
def holding(doc_starts: Array, doc_words: Array, known: int) -> Array:
    """How many articles say each word."""
    counts, last = np.zeros(known, np.int64), np.full(known, -1, np.int32)
    for doc in range(len(doc_starts) - 1):
        for at in range(doc_starts[doc], doc_starts[doc + 1]):
            word = doc_words[at]
            counts[word] += last[word] != doc
            last[word] = doc
    return counts


@compiled
def inverted(doc_starts: Array, doc_words: Array, holding: Array) -> tuple[Array, Array, Array]:
    """Where the list of each word ends, the articles that say it, and how often each does."""
    ends = np.cumsum(holding)
    size = ends[-1] if len(ends) else 0
    docs, counts = np.empty(size, np.int32), np.zeros(size, np.int32)
    at_word, last = ends.copy(), np.full(len(ends), -1, np.int32)
    for doc in range(len(doc_starts) - 2, -1, -1):
        for at in range(doc_starts[doc], doc_starts[doc + 1]):
            word = doc_words[at]
            at_word[word] -= last[word] != doc
            last[word] = docs[at_word[word]] = doc
            counts[at_word[word]] += 1
    return ends, docs, counts


@compiled
def add_counts(numbers: Array, counts: Array, sums: Array) -> None:
    """Add a count to each of some numbers."""
    for k in range(len(numbers)):
        sums[numbers[k]] += counts[k]


@compiled
def word_lists(asked: Asked, days: Array, of: WordDays, row: int, lists: TermLists) -> None:
    """Look up words; their lists' places go into the rows from `row` on."""
    words, text_days, firsts, list_starts = of
    starts, sizes = lists
    for k in range(len(days)):
        day = text_days[days[k]]
        ahead = firsts[days[k]] - words.firsts[day]
        for term in range(len(asked.hashes)):
            place = find_string(asked, term, day, words)
            starts[row + term, k], sizes[row + term, k] = 0, 0
            if place >= 0:
                start, end = list_starts[place + ahead], list_starts[place + ahead + 1]
                starts[row + term, k], sizes[row + term, k] = start, end - start


@compiled
def exact_tokens(
    asked: Asked, first: int, last: int, day: int, of: TextArrays, matching: Array, groups: Array
) -> int:
    """Those of some tokens that a day holds; gives how many there are."""
    size = 0
    for token in range(first, last):
        place = find_string(asked, token, day, of)
        groups[token - first] = place >= 0
        if place >= 0:
            matching[size] = place
            size += 1
    return size


@compiled
def strict_surfaces(
    matching: Array,  # tokens of a day that align, those of one entity token together
    groups: Array,  # how many each entity token has
    tokens: int,  # of the entity
    q: float,
    of: SurfaceDays,
) -> Array:
    """The surfaces of a day that an entity strictly matches (Definition 1)."""
    count, at = 0, 0
    for token in range(tokens):
        for _ in range(groups[token]):
            place = matching[at]
            at += 1
            for k in range(of.token_starts[place], of.token_starts[place + 1]):
                surface = of.token_surfaces[k]
                if of.hits[surface] == 0:
                    of.found[count] = surface
                    count += 1
                elif of.seen_for[surface] == token:
                    continue
                of.seen_for[surface] = token
                of.hits[surface] += 1
    kept = 0
    for k in range(count):
        surface = of.found[k]
        if of.hits[surface] / tokens >= q:
            of.found[kept] = surface
            kept += 1
        of.hits[surface] = 0
    return of.found[:kept]


@compiled
def stamp_of(term: int, day: int) -> int:
    """A number for a term in a day that no other has, and not 0."""
    return (term << 24) + day + 1


@compiled
def soft_postings(
    surfaces: Array, of: SlotDays, day: int, stamp: int,
    docs: Array, counts: Array, lengths: Array,
) -> int:  # fmt: skip
    """Articles with a strict match, in order, and |M^soft| in each; gives how many there are.

    A slot that a matching slot absorbs is of the same article, and counts once. `stamp` is another
    number for every list.
    """
    size, lowest, highest = 0, len(of.mentions), 0
    for surface in surfaces:
        for k in range(of.surface_starts[surface], of.surface_starts[surface + 1]):
            slot = of.surface_slots[k]
            doc = of.docs[slot]
            if of.mentions[doc] == 0:
                docs[size] = doc
                size += 1
                lowest, highest = min(lowest, doc), max(highest, doc)
            if of.seen_in[slot] != stamp:
                of.seen_in[slot] = stamp
                of.mentions[doc] += of.counts[slot]
            for at in range(of.absorbed_starts[slot], of.absorbed_starts[slot + 1]):
                part = of.absorbed[at]
                if of.seen_in[part] != stamp:
                    of.seen_in[part] = stamp
                    of.mentions[doc] += of.counts[part]
    if len(surfaces) > 1:  # else they are in order
        if 16 * size < highest - lowest:
            docs[:size].sort()
        else:
            size = 0
            for doc in range(lowest, highest + 1):
                if of.mentions[doc] > 0:
                    docs[size] = doc
                    size += 1
    for k in range(size):
        counts[k] = of.mentions[docs[k]]
        of.mentions[docs[k]] = 0
        lengths[k] = of.doc_lengths[of.doc_firsts[day] + docs[k]]
    return size


@compiled
def entity_lists(
    asked: Asked,  # tokens of entities
    firsts: Array,  # where those of each entity begin
    terms: Array,  # the entities' numbers
    days: Array,
    q: float,
    of: EntityDays,
    known: TermLists,  # all terms x all days
    docs: Array,  # the pool
    counts: Array,
    lengths: Array,
    pool: int,  # its size
    row: int,
    lists: TermLists,  # out, from `row` on
) -> tuple[int, bool]:
    """The lists of entities at t = 1, where a token aligns with itself alone.

    Gives the pool's new size, and whether there was room for everything.
    """
    tokens_of, surfaces_of, slots_of = of
    known_starts, known_sizes = known
    matching, groups = np.empty(len(asked.hashes), np.int64), np.empty(len(asked.hashes), np.int64)
    for k in range(len(days)):
        day = days[k]
        for term in range(len(terms)):
            number, tokens = terms[term], firsts[term + 1] - firsts[term]
            if known_sizes[number, day] < 0:
                if pool + slots_of.sizes[day] > len(docs):
                    return pool, False
                found = exact_tokens(
                    asked, firsts[term], firsts[term + 1], day, tokens_of, matching, groups
                )
                size = 0
                if found / tokens >= q:  # few entities in few days
                    surfaces = strict_surfaces(matching, groups, tokens, q, surfaces_of)
                    size = soft_postings(
                        surfaces, slots_of, day, stamp_of(number, day),
                        docs[pool:], counts[pool:], lengths[pool:],
                    )  # fmt: skip
                known_starts[number, day], known_sizes[number, day] = pool, size
                pool += size
            lists.starts[row + term, k] = known_starts[number, day]
            lists.sizes[row + term, k] = known_sizes[number, day]
    return pool, True


@compiled
def usual_rarity(counts: Array, articles: int, fewest: int) -> Array:
    """IDF over the articles that say what is usual, of terms that are in so many of them."""
    rarity = np.empty(len(counts))
    for term in range(len(counts)):
        rarity[term] = idf(articles, max(fewest, counts[term]))
    return rarity
