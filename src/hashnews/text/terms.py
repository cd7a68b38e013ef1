"""Texts as sets of numbered terms: words and pairs of words, for finding similar posts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np

from hashnews.text.stopwords import STOP_WORDS
from hashnews.text.tokens import words


def terms(text: str) -> np.ndarray[Any, Any]:
    """The distinct words and neighbouring pairs of words of a text as sorted numbers."""
    said = [word for word in words(text) if word not in STOP_WORDS]
    found = {term_of(word) for word in said}
    found.update(term_of(f"{a} {b}") for a, b in pairwise(said))
    return np.array(sorted(found), np.uint32)


def term_of(word: str) -> int:
    """The number of a word: its checksum.

    It is the same for everybody, now and later, without a list of all words. Of a million words
    some hundred share a number, which nobody notices.
    """
    return crc32(word.encode())
