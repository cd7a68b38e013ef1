"""Why a hashtag is suggested: each source by how much of the score is its doing.

    weight(source) = P(used) less what P(used) would be had the source said nothing, as a share
    P(used)        = P(on topic) · P(chosen | on topic)

A source that says nothing has no say: its columns hold what they hold where it knows nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hashnews.arrays import Array
from hashnews.records import Reason, SourceName
from hashnews.suggest.candidates import Candidates
from hashnews.suggest.judges import Judges
from hashnews.suggest.query import Query
from hashnews.suggest.sources import NAMES, PLACE, SOURCES, labels, optional_sources
from hashnews.suggest.sources.base import LAST, many
from hashnews.suggest.sources.generated import GENERATED


def without(features: Array, name: SourceName, size: int) -> Array:
    """Features as they would be had a source said nothing; `size` candidates were ranked."""
    changed = features.copy()
    for source in SOURCES:
        if source.name == name:
            for column, absent in source.columns.items():
                changed[:, PLACE[column]] = size if absent == LAST else absent
            for column in source.ranked:
                changed[:, PLACE[f"{column}_rank"]] = size
                changed[:, PLACE[f"{column}_of_best"]] = 0
    return changed


def reasons(
    query: Query, found: Candidates, judges: Judges, places: Sequence[int]
) -> list[tuple[Reason, ...]]:
    """The reasons for each of some candidates, the weightiest first."""
    rows = found.features[places]
    silenced = [without(rows, name, len(found.keys)) for name in NAMES]
    vectors = np.tile(found.vectors[places], (1 + len(silenced), 1))
    verdict = judges.judge(np.concatenate([rows, *silenced]), 0.0, vectors)
    full, *less = verdict.used.reshape(-1, len(rows))
    shares = {name: np.maximum(0, full - used) for name, used in zip(NAMES, less, strict=True)}
    return [
        _weighed(_given(query, found, place), {name: shares[name][at] for name in NAMES})
        for at, place in enumerate(places)
    ]


def _given(query: Query, found: Candidates, place: int) -> list[Reason]:
    """What every source that knows a candidate says, sources of one name once."""
    told = (source.reason(query, found, place) for source in (*SOURCES, *optional_sources()))
    given = {reason.source: reason for reason in told if reason is not None}
    if len(given) > 1 and GENERATED.name in given and not given[GENERATED.name].words:
        del given[GENERATED.name]  # that it fits is no reason where there is a better one
    if given:
        return list(given.values())
    # What else is known of it is that it was used at all.
    count = int(found.feature("uses")[place])
    return [Reason(source="memory", text=many(count, "earlier use"), count=count)]


def _weighed(given: list[Reason], shares: dict[SourceName, float]) -> tuple[Reason, ...]:
    """Reasons with their weights, which sum to one."""
    parts = [float(shares.get(reason.source, 0.0)) + 1e-6 for reason in given]
    weighed = [
        reason.model_copy(
            update={"label": labels()[reason.source], "weight": round(part / sum(parts), 4)}
        )
        for reason, part in zip(given, parts, strict=True)
    ]
    return tuple(sorted(weighed, key=lambda reason: -reason.weight))
