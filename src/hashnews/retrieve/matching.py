"""Which entities match (Appendix B), and the posting lists that follow from it, compiled.

Days stand one after the other in arrays that grow (`lists.py`); tokens, surfaces and slots are
numbered through over all of them, articles within their day.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hashnews.retrieve.rank import compiled, idf
from hashnews.retrieve.strings import find_string

Array = np.ndarray[Any, Any]
SPACE, NEXT = 32, 10  # between the tokens of a term, and between terms


class TermLists(NamedTuple):
    """Where the lists of terms lie in a pool, and how long they are: terms x days."""

    starts: Array
    sizes: Array  # -1: not looked up yet


class WordDays(NamedTuple):
    """The words of several days."""

    firsts: Array  # the first word of each day
    text: Array
    text_starts: Array
    hashes: Array
    list_starts: Array


class EntityDays(NamedTuple):
    """The entities of several days."""

    firsts: Array  # the first token of each day
    text: Array
    text_starts: Array
    hashes: Array
    token_starts: Array
    token_surfaces: Array
    surface_starts: Array
    surface_slots: Array
    slot_docs: Array
    slot_counts: Array
    absorbed_starts: Array
    absorbed: Array
    doc_firsts: Array  # the first article of each day
    doc_lengths: Array
    sizes: Array  # articles of each day
    # Scratch, zeros at first.
    hits: Array  # one a surface
    seen_for: Array  # one a surface
    found: Array  # one a surface
    seen_in: Array  # one a slot: the number of the list it was last seen for
    mentions: Array  # one an article


@compiled
def align_codes(x: Array, y: Array) -> float:
    """`hashnews.text.match.align` over arrays of character codes."""
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
    size = 0
    for doc in range(len(doc_starts) - 1):
        for whole in range(doc_starts[doc], doc_starts[doc + 1]):
            w0, w1 = token_starts[surface[whole]], token_starts[surface[whole] + 1]
            for part in range(doc_starts[doc], doc_starts[doc + 1]):
                if part == whole:
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
def grouped(keys: Array, groups: int) -> tuple[Array, Array]:
    """Where the items of each group end, and the items in order of their group."""
    ends = np.zeros(groups, np.int64)
    for key in keys:
        ends[key] += 1
    ends = np.cumsum(ends)
    items, at = np.empty(len(keys), np.int32), ends.copy()
    for item in range(len(keys) - 1, -1, -1):
        at[keys[item]] -= 1
        items[at[keys[item]]] = item
    return ends, items


@compiled
def inverted(doc_starts: Array, doc_words: Array, known: int) -> tuple[Array, Array, Array]:
    """Where the list of each word ends, the articles that say it, and how often each does."""
    ends, last = np.zeros(known, np.int64), np.full(known, -1, np.int32)
    for doc in range(len(doc_starts) - 1):
        for at in range(doc_starts[doc], doc_starts[doc + 1]):
            word = doc_words[at]
            if last[word] != doc:
                last[word] = doc
                ends[word] += 1
    ends = np.cumsum(ends)
    size = ends[-1] if known else 0
    docs, counts = np.empty(size, np.int32), np.zeros(size, np.int32)
    at_word = ends.copy()
    for doc in range(len(doc_starts) - 2, -1, -1):
        for at in range(doc_starts[doc], doc_starts[doc + 1]):
            word = doc_words[at]
            if last[word] != -2 - doc:  # marks of this pass are negative
                last[word] = -2 - doc
                at_word[word] -= 1
                docs[at_word[word]] = doc
            counts[at_word[word]] += 1
    return ends, docs, counts


@compiled
def word_lists(asked: Array, days: Array, of: WordDays, row: int, lists: TermLists) -> None:
    """Look up words, one a line; their lists' places go into the rows from `row` on."""
    begin = 0
    for at in range(len(asked) + 1):
        if at == len(asked) or asked[at] == NEXT:
            for k in range(len(days)):
                place = find_string(
                    asked, begin, at, of.text, of.text_starts, of.hashes,
                    of.firsts[days[k]], of.firsts[days[k] + 1],
                )  # fmt: skip
                lists.starts[row, k], lists.sizes[row, k] = 0, 0
                if place >= 0:
                    lists.starts[row, k] = of.list_starts[place]
                    lists.sizes[row, k] = of.list_starts[place + 1] - of.list_starts[place]
            begin = at + 1
            row += 1


@compiled
def exact_tokens(
    asked: Array, begin: int, end: int, day: int, of: EntityDays, matching: Array, groups: Array
) -> int:
    """The tokens of a day that a term consists of; gives how many the term has."""
    tokens, size = 0, 0
    for at in range(begin, end + 1):
        if at == end or asked[at] == SPACE:
            place = find_string(
                asked, begin, at, of.text, of.text_starts, of.hashes,
                of.firsts[day], of.firsts[day + 1],
            )  # fmt: skip
            groups[tokens] = place >= 0
            if place >= 0:
                matching[size] = place
                size += 1
            tokens += 1
            begin = at + 1
    return tokens


@compiled
def strict_surfaces(
    matching: Array,  # tokens of a day that align, those of one entity token together
    groups: Array,  # how many each entity token has
    tokens: int,  # of the entity
    q: float,
    of: EntityDays,
) -> Array:
    """The surfaces of a day that an entity strictly matches (Definition 1)."""
    aligned = 0
    for token in range(tokens):
        aligned += groups[token] > 0
    if aligned / tokens < q:
        return of.found[:0]  # most entities in most days
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
    surfaces: Array, of: EntityDays, day: int, stamp: int,
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
            doc = of.slot_docs[slot]
            if of.mentions[doc] == 0:
                docs[size] = doc
                size += 1
                lowest, highest = min(lowest, doc), max(highest, doc)
            if of.seen_in[slot] != stamp:
                of.seen_in[slot] = stamp
                of.mentions[doc] += of.slot_counts[slot]
            for at in range(of.absorbed_starts[slot], of.absorbed_starts[slot + 1]):
                part = of.absorbed[at]
                if of.seen_in[part] != stamp:
                    of.seen_in[part] = stamp
                    of.mentions[doc] += of.slot_counts[part]
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
    asked: Array,  # entities, one a line
    terms: Array,  # their numbers
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
    begin, term = 0, 0
    matching, groups = np.empty(len(asked) + 1, np.int64), np.empty(len(asked) + 1, np.int64)
    for end in range(len(asked) + 1):
        if end == len(asked) or asked[end] == NEXT:
            number = terms[term]
            for k in range(len(days)):
                day = days[k]
                if known.sizes[number, day] < 0:
                    if pool + of.sizes[day] > len(docs):
                        return pool, False
                    tokens = exact_tokens(asked, begin, end, day, of, matching, groups)
                    surfaces = strict_surfaces(matching, groups, tokens, q, of)
                    stamp = stamp_of(number, day)
                    size = soft_postings(
                        surfaces, of, day, stamp, docs[pool:], counts[pool:], lengths[pool:]
                    )
                    known.starts[number, day], known.sizes[number, day] = pool, size
                    pool += size
                lists.starts[row, k] = known.starts[number, day]
                lists.sizes[row, k] = known.sizes[number, day]
            begin = end + 1
            term += 1
            row += 1
    return pool, True


@compiled
def usual_rarity(
    row: int, end: int, lists: TermLists, usual: Array, articles: int, fewest: int, rarity: Array
) -> None:
    """IDF over the days that say what is usual, for some rows; 1 where there are no such days."""
    for at in range(row, end):
        n = 0
        for column in usual:
            n += lists.sizes[at, column]
        rarity[at] = idf(articles, max(fewest, n)) if len(usual) else 1.0
