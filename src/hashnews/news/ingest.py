"""Articles into the store: from any source, in batches, each safe on the disk before the next.

Adding is idempotent, so there is nothing to resume: after a kill the same command runs again,
and what is known costs only the look-up of its keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice

from hashnews.errors import DataError
from hashnews.files import OnError
from hashnews.news.keys import keys_of
from hashnews.news.reindex import entities_of
from hashnews.news.sources import ArticleStream, open_news
from hashnews.news.store import New, NewsStore
from hashnews.news.summary import Refusals, Summary
from hashnews.news.worker import Worker
from hashnews.records import Article
from hashnews.text.entities import EntityFinder
from hashnews.text.tokens import PIECE, repair
from hashnews.times import FUTURE, is_future

BATCH = 1000  # articles a commit
NO_WORDS = "neither title nor text"
# Text of which `repair` would only uncurl the quotation marks: ASCII, the signs of English
# typesetting, and letters and signs of Latin-1 that stand alone. Mojibake takes two signs beyond
# ASCII side by side, so none can hide here. Most news is like that, and ftfy, which is slow over
# long texts, would take a fifth of the whole time, or more, to find out.
TYPESET = re.compile(
    r"(?: [\t\n\x20-%'-~“”‘’–—…]++ | &(?! \#?[0-9A-Za-z]{1,24}; )"
    r" | (?<= [\x20-~] ) [£€©®°•½ß-öø-ÿ] (?= [\x20-~] ) )*+",
    re.VERBOSE,
)
LINE = re.compile(r"[^\n]*\n|[^\n]+")


def add_files(
    store: NewsStore,
    finder: EntityFinder,
    paths: Sequence[str],
    refusals: Refusals,
    on_error: OnError = "stop",
    watch: Callable[[ArticleStream, str], Iterable[Article]] = lambda source, path: source,
    committed: Callable[[Summary], None] | None = None,
) -> None:
    """Add the articles of files of any kind; `watch` sees them pass, for showing progress."""
    with Worker() as worker:
        sources = [open_news(path, on_error, refusals, worker, store.knows_url) for path in paths]
        for source, path in zip(sources, paths, strict=True):
            add_articles(store, finder, watch(source, path), refusals, committed)


def add_articles(
    store: NewsStore,
    finder: EntityFinder,
    articles: Iterable[Article],
    refusals: Refusals,
    committed: Callable[[Summary], None] | None = None,
    now: datetime | None = None,
) -> None:
    """Add articles in batches; the summary grows, and `committed` hears of it, with each commit."""
    for batch in _batches(articles):
        _add_batch(store, finder, batch, refusals, now or datetime.now(UTC))
        if committed is not None:
            committed(refusals.summary)


def _add_batch(
    store: NewsStore,
    finder: EntityFinder,
    batch: Sequence[Article],
    refusals: Refusals,
    now: datetime,
) -> None:
    fit = []
    for article in batch:
        if (reason := unfit(article, now)) is not None:
            refusals.add(DataError(reason), article.to_json())
        else:
            fit.append(article)
    keyed = [keys_of(article) for article in fit]
    answers = store.known(keyed)  # before finding entities, which takes most of the time
    unknown = [at for at, why in enumerate(answers) if why is None]
    ready = with_entities(finder, [fit[at] for at in unknown])
    new = [
        New(article, keyed[at], given=article.finder is None)
        for at, article in zip(unknown, ready, strict=True)
    ]
    if new:
        for at, why in zip(unknown, store.add(new, finder.name), strict=True):
            answers[at] = why
    summary = refusals.summary
    summary.added += answers.count(None)
    summary.known.update(why for why in answers if why is not None)


def unfit(article: Article, now: datetime) -> str | None:
    """Why an article cannot be news, if it cannot."""
    if is_future(article.published_at, now):
        return FUTURE
    if not (article.title.strip() or article.text.strip()):
        return NO_WORDS
    return None


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


def _batches(articles: Iterable[Article]) -> Iterator[list[Article]]:
    """Lists of articles; an error of the source comes after what was read before it."""
    source = iter(articles)
    while True:
        batch: list[Article] = []
        try:
            batch.extend(islice(source, BATCH))
        except Exception:
            if batch:
                yield batch
            raise
        if not batch:
            return
        yield batch
