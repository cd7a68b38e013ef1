"""What a context holds of the hashtags wanted: the retriever's own figures.

A generator can use of the news only what the context says of the hashtag, so these figures say
beforehand what reading one ranking's contexts can bring over another's.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hashnews.files import RecordFile
from hashnews.generate.batch import ContextLine
from hashnews.records import PreparedPost


class ContextCoverage(NamedTuple):
    """Percentages over the test posts and the words of their hashtags."""

    posts_with_context: float
    words_in_context: float
    words_in_post_or_context: float
    new_words_in_context: float  # of words that no training hashtag holds: only copying writes them
    new_words: float


def context_coverage(posts: Path, contexts: Path, part: str = "test") -> ContextCoverage:
    """Shares of hashtag words, each counted once for each hashtag it stands in."""
    from hashnews.text.tokens import words

    known: set[str] = set()
    for post in RecordFile(posts, PreparedPost):
        if post.split == "train":
            known.update(word for tag in post.hashtags for word in tag.words)
    asked = filled = wanted = found = anywhere = new = new_found = 0
    both = zip(RecordFile(posts, PreparedPost), RecordFile(contexts, ContextLine), strict=True)
    for post, line in both:
        if post.split != part:
            continue
        context = {word for word, _ in line.context}
        said = context | set(words(post.body))
        asked += 1
        filled += bool(context)
        for word in (word for tag in post.hashtags for word in tag.words):
            wanted += 1
            found += word in context
            anywhere += word in said
            new += word not in known
            new_found += word not in known and word in context
    return ContextCoverage(
        _percent(filled, asked),
        _percent(found, wanted),
        _percent(anywhere, wanted),
        _percent(new_found, new),
        _percent(new, wanted),
    )


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
