"""Porter's stemmer (1980, with its author's later amendments): what ROUGE compares words by."""

from __future__ import annotations

import re
from functools import lru_cache

CONSONANTS, VOWELS = "[^aeiou][^aeiouy]*", "[aeiouy][aeiou]*"
SOME = re.compile(f"({CONSONANTS})?{VOWELS}{CONSONANTS}")  # m > 0
ONE = re.compile(f"({CONSONANTS})?{VOWELS}{CONSONANTS}({VOWELS})?$")  # m = 1
MORE = re.compile(f"({CONSONANTS})?{VOWELS}{CONSONANTS}{VOWELS}{CONSONANTS}")  # m > 1
HAS_VOWEL = re.compile(f"({CONSONANTS})?[aeiouy]")
SHORT = re.compile(f"{CONSONANTS}[aeiouy][^aeiouwxy]$")  # as in hop: it takes an e
DOUBLE = re.compile(r"([^aeiouylsz])\1$")
STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "bli": "ble", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize",
    "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful",
    "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
STEP_4 = tuple("al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize".split())


@lru_cache(100_000)
def stem(word: str) -> str:
    """The stem of a word in small letters."""
    if len(word) < 3:
        return word
    if word.startswith("y"):
        word = "Y" + word[1:]  # a consonant there
    word = _step_1(word)
    for endings in (STEP_2, STEP_3):
        ending = _ending(word, tuple(endings))
        if ending and SOME.match(word[: -len(ending)]):
            word = word[: -len(ending)] + endings[ending]
    word = _step_5(_step_4(word))
    return "y" + word[1:] if word.startswith("Y") else word


def _step_1(word: str) -> str:
    """Plurals, -ed and -ing, and y after a vowel."""
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss") and len(word) > 2:
        word = word[:-1]
    if word.endswith("eed"):
        word = word[:-1] if SOME.match(word[:-3]) else word
    else:
        ending = _ending(word, ("ed", "ing"))
        if ending and HAS_VOWEL.match(word[: -len(ending)]):
            word = word[: -len(ending)]
            if word.endswith(("at", "bl", "iz")):
                word += "e"
            elif DOUBLE.search(word):
                word = word[:-1]
            elif SHORT.match(word):
                word += "e"
    if word.endswith("y") and HAS_VOWEL.match(word[:-1]):
        word = word[:-1] + "i"
    return word


def _step_4(word: str) -> str:
    """One more ending, if enough is left."""
    ending = _ending(word, STEP_4)
    if not ending and word.endswith(("sion", "tion")):
        ending = "ion"
    return word[: -len(ending)] if ending and MORE.match(word[: -len(ending)]) else word


def _step_5(word: str) -> str:
    """A last e, and ll."""
    if word.endswith("e"):
        rest = word[:-1]
        if MORE.match(rest) or (ONE.match(rest) and not SHORT.match(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and MORE.match(word) else word


def _ending(word: str, endings: tuple[str, ...]) -> str:
    """The longest of the endings that a word has, with something before it."""
    fits = (e for e in endings if word.endswith(e) and len(word) > len(e))
    return max(fits, key=len, default="")
