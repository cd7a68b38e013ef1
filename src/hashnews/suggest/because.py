"""Why a hashtag is suggested: each source by how much of the score is its doing.

    weight(source) = P(used) less what P(used) would be had the source said nothing, as a share

A source that says nothing has no say: its features take the values of a hashtag it does not know.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from hashnews.arrays import Array
from hashnews.records import Reason
from hashnews.suggest.evidence import EVIDENCE, Past
from hashnews.suggest.features import (
    FEATURES,
    LEAST,
    OUT_OF_SEASON,
    RANKED,
    SEASON,
    Candidates,
    Query,
)
from hashnews.suggest.ranker import Ranker

SourceName = Literal[
    "post", "news", "memory", "author", "rising", "together", "season", "generator"
]
NAMED = 5  # articles and posts a reason names at most

_OF_MEMORY = (*EVIDENCE[1:7], "kindred", "uses", "users", "centre", "nearest_three")
FEATURES_OF: dict[SourceName, tuple[str, ...]] = {
    "memory": _OF_MEMORY,
    "author": (*EVIDENCE[7:16], "own_share"),
    "rising": (*EVIDENCE[16:22], "rise", "weekly", "weeks_ago", "last_use"),
    "together": ("together", "together_near"),
    "post": ("in_post", "post_share", "post_name", "post_phrase", "stem_share", "initials"),
    "news": (
        "context", "context_share", "context_rank", "news", "news_name", "news_articles",
    ),
    "season": SEASON,
    "generator": ("generator", "generator_rank"),
}  # fmt: skip
ABSENT = {
    "context_rank": 200.0, "last_use": 1000.0, "rise": 1.0, "generator": LEAST,
    **dict(zip(SEASON, OUT_OF_SEASON, strict=True)),
}  # fmt: skip
_PLACE = {name: at for at, name in enumerate(FEATURES)}


def without(features: Array, source: SourceName, size: int) -> Array:
    """Features as they would be had a source said nothing; `size` candidates were ranked."""
    changed = features.copy()
    for name in FEATURES_OF[source]:
        changed[:, _PLACE[name]] = ABSENT.get(name, 0.0)
        if name in RANKED:
            changed[:, _PLACE[f"{name}_rank"]] = size
            changed[:, _PLACE[f"{name}_of_best"]] = 0
    if source == "generator":
        changed[:, _PLACE["generator_rank"]] = size
    return changed


def reasons(
    query: Query, past: Past, found: Candidates, ranker: Ranker, places: list[int]
) -> list[tuple[Reason, ...]]:
    """The reasons for each of some candidates, the weightiest first."""
    rows = found.features[places]
    full = ranker.probabilities(rows)
    told = [
        {reason.source: reason for reason in _all(query, past, found, place)} for place in places
    ]
    weights = {
        source: np.maximum(0, full - ranker.probabilities(without(rows, source, len(found.keys))))
        for source in FEATURES_OF
    }
    answers = []
    for at, by_source in enumerate(told):
        parts = {source: float(weights[source][at]) + 1e-6 for source in by_source}
        total = sum(parts.values())
        shares = [
            reason.model_copy(update={"weight": round(parts[source] / total, 4)})
            for source, reason in by_source.items()
        ]
        answers.append(tuple(sorted(shares, key=lambda reason: -reason.weight)))
    return answers


def _all(query: Query, past: Past, found: Candidates, place: int) -> list[Reason]:
    """Every source that knows a candidate, and what it goes by."""
    key, words, tag = found.keys[place], found.words[place], int(found.tags[place])
    value = dict(zip(FEATURES, found.features[place].tolist(), strict=True))
    given: list[Reason] = []
    own, news = found.in_post.get(key), found.in_news.get(key)
    if own is not None or value["initials"] or value["post_share"] >= 0.5:
        given.append(Reason(source="post", weight=0, entity=own.name if own else None))
    said = tuple(word.word for word in query.context if word.word in words)
    if news is not None or said:
        articles = news.articles[:NAMED] if news else ()
        name = news.name if news else None
        given.append(Reason(source="news", weight=0, articles=articles, words=said, entity=name))
    if value["neighbour_rank"] or value["kindred"] or value["centre"]:
        near, count = past.near(tag)
        count = count if near else int(value["uses"])
        given.append(Reason(source="memory", weight=0, posts=near[:NAMED], count=count))
    if value["own"] + value["own_inline"]:
        mine = past.mine(tag)
        given.append(Reason(source="author", weight=0, posts=mine[:NAMED], count=len(mine)))
    if value["week"]:
        rise, count = round(value["rise"], 3), int(value["week"])
        given.append(Reason(source="rising", weight=0, count=count, rise=rise))
    if value["together"] or value["together_near"]:
        given.append(Reason(source="together", weight=0))
    if season := query.season.get(key):
        when, count = season.day, season.authors
        given.append(Reason(source="season", weight=0, count=count, day=when))
    if words in query.generated:
        given.append(Reason(source="generator", weight=0))
    # What else is known of it is that it was used at all.
    return given or [Reason(source="memory", weight=0, count=int(value["uses"]))]
