"""Articles made ready for the store: text repaired, entities found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hashnews.records import Article
from hashnews.text.entities import EntityFinder
from hashnews.text.tokens import PIECE, repair

# Text of which `repair` would only uncurl the quotation marks: ASCII, the signs of English
# typesetting, and letters and signs of Latin-1 that stand alone. Mojibake takes two signs beyond
# ASCII side by side, so none can hide here. Most news is like that, and ftfy, which is slow over
# long texts, would take a fifth of the whole time, or more, to find out.
TYPESET = re.compile(
    r"(?: [\t\n\x20-%'-~“”‘’–—…]++ | &(?! \#?[0-9A-Za-z]{1,24}; )"
    r" | (?<= [\x20-~] ) [£€©®°•½ß-öø-ÿ] (?= [\x20-~] ) )*+",
    re.VERBOSE,
)
MOST_NAMES = 1_000  # of an article: what it is about stands before that
LINE = re.compile(r"[^\n]*\n|[^\n]+")


def with_entities(finder: EntityFinder, articles: Sequence[Article]) -> list[Article]:
    """Articles with their text repaired and their entities complete.

    Entities that came with an article stay, those that another finder found do not.
    """
    texts = [(tidy(article.title), tidy(article.text)) for article in articles]
    wanted = [
        at
        for at, article in enumerate(articles)
        if article.entities is None or article.finder not in (None, finder.name)
    ]
    found = dict(zip(wanted, entities_of(finder, [texts[at] for at in wanted]), strict=True))
    return [
        article.model_copy(
            update={
                "title": title,
                "text": text,
                "entities": tuple(found[at]) if at in found else article.entities,
                "finder": finder.name if at in found else article.finder,
            }
        )
        for at, (article, (title, text)) in enumerate(zip(articles, texts, strict=True))
    ]


def entities_of(finder: EntityFinder, texts: list[tuple[str, str]]) -> list[list[str]]:
    """The entities of titles and texts, one string a mention; a title is read by itself.

    Of a text without end only the first ones are kept: every post that it fits would pay for them.
    """
    found = finder.find_all([part for pair in texts for part in pair])
    return [
        [entity.text for part in (found[at], found[at + 1]) for entity in part][:MOST_NAMES]
        for at in range(0, len(found), 2)
    ]


def tidy(text: str) -> str:
    """`repair`, faster: it works on pieces, and on lines within them, and most need no repair."""
    if TYPESET.fullmatch(text):
        return _uncurled(text)
    return "".join(
        _uncurled(line) if TYPESET.fullmatch(line) else repair(line)
        for piece in PIECE.findall(text)
        for line in LINE.findall(piece)
    )


def _uncurled(text: str) -> str:
    if text.isascii():
        return text
    return text.replace("“", '"').replace("”", '"').replace("‘", "'").replace("’", "'")
