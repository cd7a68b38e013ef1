"""Articles into the store: from any source, in batches, each safe on the disk before the next.

Adding is idempotent, so there is nothing to resume: after a kill the same command runs again,
and what is known costs only the look-up of its keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice

from hashnews.errors import DataError
from hashnews.files import OnError
from hashnews.news.entities import with_entities
from hashnews.news.keys import keys_of
from hashnews.news.sources import ArticleStream, open_news
from hashnews.news.store import New, NewsStore
from hashnews.news.summary import Refusals, Summary
from hashnews.news.worker import Worker
from hashnews.records import Article
from hashnews.text.entities import EntityFinder
from hashnews.times import FUTURE, is_future

BATCH = 1000  # articles a commit
NO_WORDS = "neither title nor text"
# Characters: the time and memory that an article costs grow with them.
LONGEST = {"id": 2_000, "title": 2_000, "text": 1_000_000, "url": 2_000, "source": 200}
MOST_ENTITIES, LONGEST_ENTITY = 10_000, 1_000  # that come with an article


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
    source: str | None = None,
) -> None:
    """Add articles in batches; the summary grows, and `committed` hears of it, with each commit.

    `source` is what theirs is to be called; what makes two articles the same stays their own.
    """
    for batch in _batches(articles):
        _add_batch(store, finder, batch, refusals, now or datetime.now(UTC), source)
        if committed is not None:
            committed(refusals.summary)


def _add_batch(
    store: NewsStore,
    finder: EntityFinder,
    batch: Sequence[Article],
    refusals: Refusals,
    now: datetime,
    source: str | None,
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
    called = {"source": source} if source else {}
    ready = with_entities(finder, [fit[at].model_copy(update=called) for at in unknown])
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
    for name, longest in LONGEST.items():
        if len(getattr(article, name) or "") > longest:
            return f"its {name} has more than {longest:,} characters"
    given = article.entities or ()
    if len(given) > MOST_ENTITIES or any(len(entity) > LONGEST_ENTITY for entity in given):
        return "its entities are too many or too long"
    return None


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
