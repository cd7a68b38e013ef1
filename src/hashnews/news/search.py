"""Full-text search, for people."""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from hashnews.news.store import NewsStore
from hashnews.records import Article
from hashnews.times import microseconds

PIECE = re.compile(r'"([^"]+)"|(\S+)')
OPEN, CLOSE = "\x02", "\x03"  # around what matched; no text holds these
MARKS = re.compile(f"[{OPEN}{CLOSE}]")


class Found(NamedTuple):
    """An article that matches, best first by BM25, and the part of it that does."""

    article: Article
    excerpt: str


def search(
    store: NewsStore,
    words: str,
    most: int = 10,
    start: datetime | None = None,
    before: datetime | None = None,
    source: str | None = None,
) -> list[Found]:
    """Articles with all these words, "phrases" and beginnings*, published in [start, before)."""
    query = as_query(words)
    if not query:
        return []
    hits = store.database.rows(
        "SELECT articles.row, snippet(search, -1, ?, ?, '…', 24) FROM search "
        "JOIN articles ON articles.row = search.rowid "
        "WHERE search MATCH ? AND published >= ? AND published < ? "
        "AND (? IS NULL OR source = ? COLLATE NOCASE) "
        "ORDER BY bm25(search, 2.0, 1.0), published DESC LIMIT ?",
        (
            OPEN,
            CLOSE,
            query,
            -(1 << 62) if start is None else microseconds(start),
            1 << 62 if before is None else microseconds(before),
            source,
            source,
            most,
        ),
    )
    articles = store.rows([row for row, _ in hits])
    return [Found(one.article, text) for one, (_, text) in zip(articles, hits, strict=True)]


def as_query(words: str) -> str:
    """What a person typed, as FTS5 reads it: nothing in it is syntax but quotes and a last `*`."""
    pieces = []
    for phrase, word in PIECE.findall(words):
        text = phrase or word.rstrip("*")
        if any(letter.isalnum() for letter in text):
            quoted = text.replace('"', '""').replace("\x00", "")
            pieces.append(f'"{quoted}"' + ("*" if not phrase and word.endswith("*") else ""))
    return " ".join(pieces)
