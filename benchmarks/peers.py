"""Other retrievers on the retriever's own task, for benchmarks/retrieval.py; a class each.

The task: of nested windows that end at the post's time, each gives its best articles that no
window before it gave. A peer gets the same articles, in order of time, as lists of tokens, and the
same query terms as strings; its index is built beforehand and only `find` is timed. Each is driven
in the fastest way we found for it: windows of articles in order of time are slices, not filters,
wherever the peer lets us see its scores.

None of them knows soft match or temporal popularity, and their N, n and mean length are those of
all news, of the future too: they do less than what they are compared with.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import bm25s
import numpy as np
import rank_bm25
import tantivy

DAY = 86_400_000_000  # microseconds
Query = tuple[list[str], int]  # terms and the post's time
A, B = 1.2, 0.75


class Windows:
    """Where the windows of a post lie among articles in order of time, and what each gives."""

    def __init__(self, times: Sequence[int], spans: Sequence[int], takes: Sequence[int]):
        self.times = np.array(times, np.int64)
        self.spans, self.takes = list(map(int, spans)), list(map(int, takes))
        first, last = int(self.times[0]) // DAY, int(self.times[-1]) // DAY + 1
        days = np.arange(first - max(self.spans), last + 1)
        # Looked up once a day, as the retriever does.
        starts = np.searchsorted(self.times, days * DAY).tolist()
        self._starts = dict(zip(days.tolist(), starts, strict=True))

    def of(self, moment: int) -> tuple[list[int], int]:
        """Where each window begins, and where all of them end."""
        today = moment // DAY
        return [self._starts[today - span] for span in self.spans], int(
            np.searchsorted(self.times, moment)
        )

    def best(self, scores: np.ndarray[Any, Any], moment: int) -> list[int]:
        """The articles the windows give, by scores of all articles."""
        starts, end = self.of(moment)
        first, found = starts[-1], []
        inside = scores[first:end]  # the largest window: it may be changed
        for start, take in zip(starts, self.takes, strict=True):
            window = inside[start - first :]
            if not len(window):
                continue
            if take == 1:
                best = window.argmax(keepdims=True)
            elif take < len(window):
                best = np.argpartition(window, -take)[-take:]
            else:
                best = np.arange(len(window))
            best = best[window[best] > 0]
            found += (start + best).tolist()
            window[best] = 0
        return found


class Peer(Protocol):
    """Something that answers queries."""

    def find(self, terms: list[str], moment: int) -> list[int]:
        """The articles found."""


class Bm25s:
    """bm25s, numba: one index of all articles, one pass over a query's lists, then the windows."""

    def __init__(self, articles: Sequence[list[str]], windows: Windows):
        self._windows = windows
        self._index = bm25s.BM25(k1=A, b=B, backend="numba")
        self._index.index(articles, show_progress=False)
        self._known = self._index.vocab_dict

    def find(self, terms: list[str], moment: int) -> list[int]:
        """Score all articles, then look at the windows."""
        known = self._known
        tokens = [known[token] for term in terms for token in term.split() if token in known]
        if not tokens:
            return []
        return self._windows.best(self._index.get_scores_from_ids(tokens), moment)


class Tantivy:
    """tantivy: a range on the time and the terms, names of several tokens as phrases."""

    def __init__(self, articles: Sequence[list[str]], windows: Windows):
        self._windows = windows
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("said", tokenizer_name="whitespace", index_option="position")
        builder.add_integer_field("time", indexed=True, fast=True)
        self._schema = builder.build()
        index = tantivy.Index(self._schema)
        writer = index.writer(heap_size=1 << 30, num_threads=1)
        for said, moment in zip(articles, windows.times.tolist(), strict=True):
            document = tantivy.Document()
            document.add_text("said", " ".join(said))
            document.add_integer("time", moment)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self._searcher = index.searcher()

    def find(self, terms: list[str], moment: int) -> list[int]:
        """One query a window; each asks for as many as the windows before it may have taken."""
        parts = [self._term(term.split()) for term in terms]
        wanted = tantivy.Query.boolean_query([(tantivy.Occur.Should, part) for part in parts])
        found: dict[tuple[int, int], int] = {}
        limit = 0
        for span, take in zip(self._windows.spans, self._windows.takes, strict=True):
            limit += take
            inside = tantivy.Query.range_query(
                self._schema, "time", tantivy.FieldType.Integer,
                (moment // DAY - span) * DAY, moment, include_upper=False,
            )  # fmt: skip
            query = tantivy.Query.boolean_query(
                [
                    (tantivy.Occur.Must, wanted),
                    (tantivy.Occur.Must, tantivy.Query.const_score_query(inside, 0.0)),
                ]
            )
            hits = self._searcher.search(query, limit, count=False).hits
            given = 0
            for _, address in hits:
                place = (address.segment_ord, address.doc)
                if place not in found and given < take:
                    found[place] = given
                    given += 1
        return [doc for _, doc in found]

    def _term(self, tokens: list[str]) -> tantivy.Query:
        if len(tokens) == 1:
            return tantivy.Query.term_query(self._schema, "said", tokens[0], "freq")
        return tantivy.Query.phrase_query(self._schema, "said", tokens)


class RankBm25:
    """rank_bm25: one index of all articles, all of them scored, then the windows."""

    def __init__(self, articles: Sequence[list[str]], windows: Windows):
        self._windows = windows
        self._index = rank_bm25.BM25Okapi(articles, k1=A, b=B)

    def find(self, terms: list[str], moment: int) -> list[int]:
        """Score all articles, then look at the windows."""
        tokens = [token for term in terms for token in term.split()]
        return self._windows.best(self._index.get_scores(tokens), moment)


class LengthTable:
    """Lengths of documents, and their mean, computed anew whenever it is asked for."""

    def __init__(self) -> None:
        self.table: dict[int, int] = {}

    def get_average_length(self) -> float:
        """The mean over all documents of the table."""
        total = 0
        for length in self.table.values():
            total += length
        return total / len(self.table)


class AuthorsIndex:
    """What the released code indexes: documents of some days that have entities."""

    def __init__(self, documents: dict[int, list[str]]):
        self.lengths = LengthTable()
        self.index: dict[str, dict[int, int]] = {}
        for number, names in documents.items():
            if names:
                self.lengths.table[number] = len(names)
                for name in names:
                    frequencies = self.index.setdefault(name, {})
                    frequencies[number] = frequencies.get(number, 0) + 1


class Authors:
    """The released query loop, written anew from its description, once for each of five windows.

    As released: whole calendar days, |d| in mentions, match map given, and the mean length computed
    again for every pair of entity and document. `hoisted` computes it once a window instead. The
    indexes of a day's windows are made before timing, as there.
    """

    def __init__(
        self,
        names: Sequence[list[str]],
        windows: Windows,
        reference: Sequence[list[str]],
        queries: Sequence[Query],
        hoisted: bool,
    ):
        self._windows = windows
        self._hoisted = hoisted
        self._reference = AuthorsIndex(dict(enumerate(reference)))
        self._indexes: dict[tuple[int, int], AuthorsIndex] = {}
        times = windows.times.tolist()
        for today in sorted({moment // DAY for _, moment in queries}):
            end = bisect_left(times, (today + 1) * DAY)
            for span in windows.spans:
                start = bisect_left(times, (today - span) * DAY)
                documents = {number: names[number] for number in range(start, end)}
                self._indexes[today, span] = AuthorsIndex(documents)
        asked = {term for terms, _ in queries for term in terms}
        known = {name for index in self._indexes.values() for name in index.index}
        self._map = match_map(asked, known)
        self._reference_map = match_map(asked, set(self._reference.index))

    def find(self, terms: list[str], moment: int) -> list[int]:
        """The best new document of each window."""
        found: list[int] = []
        for span, take in zip(self._windows.spans, self._windows.takes, strict=True):
            results = self._run_query(terms, self._indexes[moment // DAY, span])
            order = sorted(results.items(), key=lambda row: row[1], reverse=True)
            found += [number for number, _ in order if number not in found][:take]
        return found

    def _run_query(self, terms: list[str], index: AuthorsIndex) -> dict[int, float]:
        results: dict[int, float] = {}
        table = index.lengths
        size, reference_size = len(table.table), len(self._reference.lengths.table)
        mean = table.get_average_length() if self._hoisted else 0.0
        for term in terms:
            documents = gathered(self._map[term], index.index)
            if not documents:
                continue
            n = len(documents)
            n_reference = len(gathered(self._reference_map[term], self._reference.index)) or 1
            for number, frequency in documents.items():
                score = score_bm25(
                    n, frequency, size, table.table[number],
                    mean if self._hoisted else table.get_average_length(),
                    n_reference, reference_size,
                )  # fmt: skip
                results[number] = results.get(number, 0.0) + score
        return results


def gathered(names: Sequence[str], index: dict[str, dict[int, int]]) -> dict[int, int]:
    """Documents with any of these names, and how often they stand there together."""
    documents: dict[int, int] = defaultdict(int)
    for name in names:
        for number, frequency in index.get(name, {}).items():
            documents[number] += frequency
    return documents


def score_bm25(
    n: int, f: int, size: int, length: int, mean: float, n_reference: int, reference_size: int
) -> float:
    """One entity in one document; with a factor for the query's frequency, which is always 1."""
    k = A * ((1 - B) + B * (length / mean))
    idf_reference = math.log((reference_size + 1) / (n_reference + 0.5))
    idf_window = math.log((size + 1) / (n + 0.5))
    return idf_reference / idf_window * ((A + 1) * f / (k + f)) * ((100 + 1) * 1 / (100 + 1))


def match_map(asked: set[str], known: set[str]) -> dict[str, list[str]]:
    """For each name of a post the names of the news that hold 0.65 of its tokens."""
    holding: dict[str, list[str]] = defaultdict(list)
    for name in sorted(known):
        for token in set(name.split()):
            holding[token].append(name)
    matches = {}
    for name in asked:
        tokens = name.split()
        candidates = {other for token in tokens for other in holding[token]}
        enough = (
            other
            for other in candidates
            if sum(token in other.split() for token in tokens) / len(tokens) >= 0.65
        )
        matches[name] = sorted(enough)
    return matches


PEERS: dict[str, Callable[[Sequence[list[str]], Windows], Peer]] = {
    "bm25s (numba)": Bm25s,
    "tantivy": Tantivy,
    "rank_bm25": RankBm25,
}
