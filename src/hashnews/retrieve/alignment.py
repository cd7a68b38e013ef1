"""Entity matching of the paper's Appendix B: `align`, strict match and soft match, exactly.

`TokenIndex` answers "which of these 500,000 tokens align with this one" without comparing all
pairs one by one, and gives the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

MATCH, MISMATCH, GAP = 2, -1, -1
LONGEST = 100  # a longer token names nothing: it aligns with itself alone, and time stays bounded
BLOCK = 1 << 15  # words compared at once; their scores stay in the processor's cache

Tokens = Sequence[str]


def align(x: str, y: str) -> float:
    """Character alignment of two tokens: Smith–Waterman over the longer one's best score.

    align(x, y) = SW(x, y) / (2 max(|x|, |y|)) with match +2, mismatch −1, gap −1: 1 for the same
    token, and `art` does not align with `party`.
    """
    if x == y:
        return 1.0
    longer = max(len(x), len(y))
    if longer > LONGEST:
        return 0.0
    best, above = 0, [0] * (len(y) + 1)
    for letter in x:
        left, row = 0, [0]
        for at, other in enumerate(y):
            diagonal = above[at] + (MATCH if letter == other else MISMATCH)
            left = max(0, diagonal, left + GAP, above[at + 1] + GAP)
            row.append(left)
        best, above = max(best, *row), row
    return best / (MATCH * longer)


def strict_match(post_entity: Tokens, article_entity: Tokens, t: float, q: float) -> bool:
    """Whether enough of the post's entity is in the article's (Definition 1).

    |{t^p in e^p : exists t^d in e^d with align(t^p, t^d) >= t}| / |e^p| >= q
    """
    if not post_entity:
        return False
    found = sum(any(align(x, y) >= t for y in article_entity) for x in post_entity)
    return found / len(post_entity) >= q


def soft_match(entity: Tokens, mentions: Sequence[Tokens], t: float, q: float) -> list[int]:
    """Which mentions of an article mean the post's entity (M^soft, with Definition 2).

    A mention matches softly if it strictly matches some e' of the article that the entity
    strictly matches: `Trump` means `Donald Trump` where the article says so in full.
    """
    full = [other for other in mentions if strict_match(entity, other, t, q)]
    return [
        at
        for at, mention in enumerate(mentions)
        if any(strict_match(mention, other, t, q) for other in full)
    ]


class TokenIndex:
    """A vocabulary of distinct tokens, packed by length, that finds all tokens aligning with one.

    Two exact bounds leave few to compare: SW <= 2 min(|x|, |y|), and SW <= 2 times the letters
    both hold. What is left is aligned many words at a time, one cell of the table per step.
    """

    def __init__(self, tokens: Sequence[str]):
        self.tokens = tokens
        alphabet = sorted({letter for token in tokens for letter in token[: LONGEST + 1]})
        self._code = {letter: code for code, letter in enumerate(alphabet, 1)}
        kind = np.min_scalar_type(len(alphabet))
        lengths: dict[int, list[int]] = {}
        for at, token in enumerate(tokens):
            lengths.setdefault(len(token), []).append(at)
        self._itself_only = {
            tokens[at]: at
            for length in lengths
            if not 0 < length <= LONGEST
            for at in lengths[length]
        }
        # For each length: the tokens' places, and their letters, one row a position.
        self._blocks: dict[int, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = {}
        for length, places in lengths.items():
            if 0 < length <= LONGEST:
                codes = np.array([[self._code[c] for c in tokens[at]] for at in places], kind)
                self._blocks[length] = (np.array(places), np.ascontiguousarray(codes.T))

    def aligned(self, token: str, t: float) -> list[int]:
        """Places of all tokens y with align(token, y) >= t, in order."""
        size = len(token)
        if not 0 < size <= LONGEST:
            return [self._itself_only[token]] if token in self._itself_only else []
        query = [self._code.get(letter, 0) for letter in token]
        found: list[np.ndarray[Any, Any]] = []
        for length, (places, codes) in self._blocks.items():
            longer = max(size, length)
            if min(size, length) >= t * longer:
                for start in range(0, len(places), BLOCK):
                    block = codes[:, start : start + BLOCK]
                    near = np.flatnonzero(_shared(query, block) >= t * longer)
                    scores = _smith_waterman(query, block[:, near])
                    hits = near[scores / (MATCH * longer) >= t]
                    found.append(places[start + hits])
        return sorted(np.concatenate(found).tolist()) if found else []


def _shared(query: list[int], codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How many letters each word shares with the query, order aside."""
    shared = np.zeros(codes.shape[1], np.uint8)
    for letter in set(query) - {0}:
        held = (codes == letter).sum(axis=0, dtype=np.uint8)
        shared += np.minimum(held, query.count(letter))
    return shared


def _smith_waterman(query: list[int], codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The Smith–Waterman score of the query with every word (a column of `codes`)."""
    length, words = codes.shape
    above = np.zeros((length + 1, words), np.int16)
    best = np.zeros(words, np.int16)
    for letter in query:
        row = np.empty_like(above)
        row[0] = 0
        gain = np.where(codes == letter, np.int16(MATCH), np.int16(MISMATCH))
        np.maximum(above[:-1] + gain, above[1:] + GAP, out=row[1:])
        for at in range(length):
            np.maximum(row[at + 1], row[at] + GAP, out=row[at + 1])
        np.maximum(row, 0, out=row)
        np.maximum(best, row.max(axis=0), out=best)
        above = row
    return best
