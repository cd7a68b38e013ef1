"""Context words: what the generator reads of the retrieved articles."""

from __future__ import annotations

from collections.abc import Iterable

from hashnews.records import ContextWord
from hashnews.retrieve.day import Day


def word_weights(articles: Iterable[tuple[Day, int, float]]) -> dict[str, float]:
    """Eq. 1: w_t = sum over i of s(p, h_i | D_i) freq(t, h_i), over all words but stop words.

    Each article is its day, its place there and its score.
    """
    weights: dict[str, float] = {}
    for day, place, score in articles:
        for word in day.words_of(place):
            weights[word] = weights.get(word, 0.0) + score
    return weights


def heaviest(weights: dict[str, float], most: int) -> list[ContextWord]:
    """The words with the highest weights, heaviest first; of equals the first in the alphabet."""
    ordered = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return [ContextWord(word, weight) for word, weight in ordered[:most]]
