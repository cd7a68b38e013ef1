"""Is a post in English? Lexicon, segmenter and finder know no other language.

English has its small words everywhere (the, of, to), other languages have theirs. A text of a few
words may go without, so it is asked whether its words are known at all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

FEWEST = 4  # words: of less there is no telling
SMALL = 0.08  # the share of small words from which on a text is English
KNOWN = 0.8  # the share of known words from which on it may be
# Small words that no other common language writes the same way.
ENGLISH = frozenset(
    """
    the and of to for with that this you my are have it at we not your from but they what just our
    is be been has had i'm it's i how who why when where their them she his her will would could
    should about there can get out up than then if or by
    """.split()
)


def is_english(said: Sequence[str], known: Collection[str]) -> bool:
    """Whether the words of a text are English; `known` are English words."""
    foreign = sum(not word.isascii() and any(map(str.isalpha, word)) for word in said)
    if 2 * foreign > len(said) > 0:  # another script
        return False
    letters = [word for word in said if word.isalpha()]
    if len(letters) < FEWEST:
        return True
    if sum(word in ENGLISH for word in letters) >= SMALL * len(letters):
        return True
    return sum(word in known for word in letters) >= KNOWN * len(letters)
