"""Which of many tokens align with one, without comparing it with all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hashnews.arrays import Array, compiled
from hashnews.retrieve.equations import LONGEST, Letters, align, letters_of

BITS = 64  # of a token's mask


class TokenArrays(NamedTuple):
    """Distinct tokens, shorter ones first."""

    places: Array  # of each where it was given
    letters: Letters
    masks: Array


class TokenIndex:
    """Distinct tokens that finds those which align with a token.

    Two exact bounds leave few to align: SW <= 2 min(|x|, |y|), and SW <= 2 times the letters both
    have. A mask has a bit for each letter of a token, and for its second and third time; a bit that
    one mask has and the other lacks is a letter they do not share.
    """

    def __init__(self, tokens: Sequence[str]):
        places = np.argsort(np.array(list(map(len, tokens)), np.int64), kind="stable")
        letters = letters_of([tokens[place] for place in places.tolist()])
        sizes = np.diff(letters.starts)
        self._tokens = TokenArrays(places, letters, masks_of(letters))
        self._firsts = np.searchsorted(sizes, np.arange(sizes.max(initial=0) + 2))

    def aligned(self, token: str, t: float) -> list[int]:
        """Places of all tokens y with align(token, y) >= t, in order."""
        x = letters_of([token]).codes
        return sorted(aligned_tokens(x, self._tokens, self._firsts, t).tolist())


@compiled
def masks_of(letters: Letters) -> Array:
    """The mask of each token."""
    masks = np.zeros(len(letters.starts) - 1, np.uint64)
    for token in range(len(masks)):
        start = letters.starts[token]
        end = min(letters.starts[token + 1], start + LONGEST)  # longer ones are not aligned
        for at in range(start, end):
            times = 0
            for other in range(start, at):
                times += letters.codes[other] == letters.codes[at]
            bit = (letters.codes[at] + 23 * times) % BITS
            masks[token] |= np.uint64(1) << np.uint64(bit)
    return masks


@compiled
def ones(mask: Any) -> int:
    """How many bits are set: counted in pairs, fours, bytes, and then all bytes at once."""
    mask -= (mask >> np.uint64(1)) & np.uint64(0x5555555555555555)
    fours = np.uint64(0x3333333333333333)
    mask = (mask & fours) + ((mask >> np.uint64(2)) & fours)
    mask = (mask + (mask >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((mask * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def aligned_tokens(x: Array, tokens: TokenArrays, firsts: Array, t: float) -> Array:
    """The places of tokens that align with x; `firsts` is the first token of each length."""
    size, (places, letters, masks) = len(x), tokens
    mask = masks_of(Letters(x, np.array([0, size])))[0]
    found, hits = np.empty(len(places), np.int64), 0
    for length in range(len(firsts) - 1):
        shorter, longer = min(size, length), max(size, length)
        if longer > 0 and shorter / longer < t:
            continue
        for k in range(firsts[length], firsts[length + 1]):
            shared = min(size - ones(mask & ~masks[k]), length - ones(masks[k] & ~mask))
            if longer > 0 and shared / longer < t:
                continue
            if align(x, letters.codes[letters.starts[k] : letters.starts[k + 1]]) >= t:
                found[hits] = places[k]
                hits += 1
    return found[:hits]
