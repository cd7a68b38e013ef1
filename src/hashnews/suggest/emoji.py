"""Emoji in words: a bee beside a post says more of its topic than many a word."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

import regex


@lru_cache(1)
def _table() -> tuple[regex.Pattern[str], dict[str, str]]:
    """What finds the emoji that say something, longest first, and what each says."""
    listed = (resources.files("hashnews.suggest") / "data" / "emoji.txt").read_text("utf-8")
    lines = (line.split(" ", 1) for line in listed.splitlines() if not line.startswith("#"))
    said = dict(lines)
    return regex.compile("|".join(map(regex.escape, sorted(said, key=len, reverse=True)))), said


def emoji_words(text: str) -> list[str]:
    """What the emoji of a text say, each once."""
    pattern, said = _table()
    found = dict.fromkeys(said[emoji] for emoji in pattern.findall(text))
    return [word for words in found for word in words.split()]
