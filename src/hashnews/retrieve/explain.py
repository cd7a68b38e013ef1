"""Why these articles: every number of the ranking for one post, computed the plain way."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from hashnews.index.day import Day
from hashnews.index.windows import WindowTable
from hashnews.records import PreparedPost
from hashnews.retrieve.equations import idf, temporal_popularity, term_frequency, weight
from hashnews.retrieve.retriever import Retriever
from hashnews.times import A_DAY, microseconds


class WindowNumbers(NamedTuple):
    """A window: how many articles it holds, and their mean length."""

    articles: int
    mean_length: float


class TermInWindow(NamedTuple):
    """A term in a window: how many articles hold it, and what follows from that."""

    matching: int
    idf: float
    temporal_popularity: float
    weight: float


class ExplainedTerm(NamedTuple):
    """A term of the post: in the reference corpus, in each window, and what it matched."""

    term: str
    idf_reference: float
    windows: list[TermInWindow]
    matches: list[str]


class ExplainedArticle(NamedTuple):
    """A retrieved article: its score, and what each term of the post gave to it."""

    id: str
    window: int
    score: float
    length: int
    parts: dict[str, tuple[int, float]]  # frequency in the article, part of the score


class Explanation(NamedTuple):
    """The whole of it."""

    windows: list[WindowNumbers]
    terms: list[ExplainedTerm]
    articles: list[ExplainedArticle]


def explain(retriever: Retriever, post: PreparedPost) -> Explanation:
    """Each term's statistics in every window, and each article's score in its parts."""
    moment = microseconds(post.created_at or datetime.now(UTC))
    table = retriever.table(moment // A_DAY)
    clip = retriever.clip(table.days[0], moment)
    sizes, lengths = table.day_sizes.copy(), table.day_lengths.copy()
    sizes[0], lengths[0] = clip, table.length_sums[clip]
    windows = []
    for span in retriever.spans.tolist():
        held, total = int(sizes[: span + 1].sum()), float(lengths[: span + 1].sum())
        windows.append(WindowNumbers(held, total / held if held and total else 1.0))
    asked = retriever.terms(post)
    terms = [_term(retriever, table, term, clip, windows) for term in asked]
    articles = [
        _article(retriever, table, day, place, score, window, terms, windows[window - 1])
        for day, place, score, window in retriever.find(asked, moment)
    ]
    return Explanation(windows, terms, articles)


def _term(
    retriever: Retriever, table: WindowTable, term: str, clip: int, windows: list[WindowNumbers]
) -> ExplainedTerm:
    lists = [table.postings(term, back)[0] for back in range(len(table.days))]
    lists[0] = lists[0][lists[0] < clip]
    idf_reference, config = table.usual_rarity(term), retriever.config
    rows = []
    for span, window in zip(retriever.spans.tolist(), windows, strict=True):
        n = sum(len(docs) for docs in lists[: span + 1])
        rarity = idf(window.articles, n)
        popularity = temporal_popularity(idf_reference, rarity, config.cap)
        rows.append(
            TermInWindow(n, rarity, popularity, weight(popularity, rarity, *retriever.exponents))
        )
    matches = [name for day in table.days for name in retriever.lists.matches(day, term)]
    return ExplainedTerm(term, idf_reference, rows, list(dict.fromkeys(matches)))


def _article(
    retriever: Retriever,
    table: WindowTable,
    day: Day,
    place: int,
    score: float,
    window: int,
    terms: list[ExplainedTerm],
    numbers: WindowNumbers,
) -> ExplainedArticle:
    length, config = int(retriever.lists.lengths(day)[place]), retriever.config
    parts = {}
    for term in terms:
        docs, counts = table.postings(term.term, table.days.index(day))
        found = np.flatnonzero(docs == place)
        if len(found):
            f = int(counts[found[0]])
            part = term_frequency(f, length, numbers.mean_length, config.a, config.b)
            parts[term.term] = (f, term.windows[window - 1].weight * part)
    return ExplainedArticle(day.id(place), window, score, length, parts)


def as_json(explanation: Explanation) -> dict[str, Any]:
    """An explanation as nested dictionaries, for `--json`."""
    return {
        "windows": [window._asdict() for window in explanation.windows],
        "terms": [
            {**term._asdict(), "windows": [row._asdict() for row in term.windows]}
            for term in explanation.terms
        ],
        "articles": [article._asdict() for article in explanation.articles],
    }
