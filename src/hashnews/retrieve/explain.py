"""Why these articles: every number of the ranking for one post, computed the plain way."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from hashnews.index.windows import WindowTable
from hashnews.records import PreparedPost
from hashnews.retrieve.equations import idf, score_part, temporal_popularity, weight, window
from hashnews.retrieve.retriever import Retriever
from hashnews.retrieve.scoring import Weighting
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
    timeline, spans = table.timeline, retriever.windows.spans.tolist()
    until = int(retriever.ends(np.array([moment]))[0])
    windows, clip = [], 0
    for i in spans:
        begin, end = window(timeline.times, timeline.day, i, until)
        length = float(timeline.length_sums[end] - timeline.length_sums[begin])
        windows.append(WindowNumbers(end - begin, length / (end - begin) if length else 1.0))
        clip = end - int(timeline.day_starts[0])
    asked = retriever.terms(post)
    terms = []
    for term in asked:
        lists = [table.list_of(term, back)[0] for back in range(len(table.days))]
        held = [int((lists[0] < clip).sum()), *map(len, lists[1:])]
        idf_reference = table.reference_idf(term)
        rows = [
            _in_window(retriever.weighting, numbers.articles, sum(held[: i + 1]), idf_reference)
            for i, numbers in zip(spans, windows, strict=True)
        ]
        names = (name for day in table.days for name in retriever.postings.matches(day, term))
        terms.append(ExplainedTerm(term, idf_reference, rows, list(dict.fromkeys(names))))
    articles = [
        _article(retriever, table, row, terms, windows[row[-1] - 1])
        for row in retriever.find(asked, moment).rows()
    ]
    return Explanation(windows, terms, articles)


def _in_window(how: Weighting, articles: int, n: int, idf_reference: float) -> TermInWindow:
    idf_window = idf(articles, n)
    tp = temporal_popularity(idf_reference, idf_window, how.cap)
    return TermInWindow(n, idf_window, tp, weight(tp, idf_window, how.by_popularity, how.by_idf))


def _article(
    retriever: Retriever,
    table: WindowTable,
    row: tuple[int, int, float, int],
    terms: list[ExplainedTerm],
    numbers: WindowNumbers,
) -> ExplainedArticle:
    back, place, score, i = row
    day = table.days[back]
    length, parts = int(table.postings.lengths(day)[place]), {}
    for term in terms:
        docs, counts = table.list_of(term.term, back)
        at = int(np.searchsorted(docs, place))
        if at < len(docs) and docs[at] == place:
            part = score_part(
                term.windows[i - 1].weight, counts[at], length, numbers.mean_length,
                retriever.weighting.a, retriever.weighting.b,
            )  # fmt: skip
            parts[term.term] = (int(counts[at]), part)
    return ExplainedArticle(day.ids[place], i, score, length, parts)


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
