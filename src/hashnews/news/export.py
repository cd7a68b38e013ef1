"""The store's articles as files: JSON lines, Parquet by day, and the reference corpus R."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from hashlib import blake2b
from heapq import nsmallest
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from hashnews.errors import DataError, needs_extra
from hashnews.files import new_folder, write_records
from hashnews.news.store import NewsStore, Stored
from hashnews.records import Article, write_time
from hashnews.times import A_DAY, date_of, microseconds

ROWS_A_FILE = 50_000


def export_lines(path: str, articles: Iterable[Stored], finder: str | None = None) -> int:
    """Articles as JSON lines, whole or not at all; with the entities that a finder found.

    Without a finder the file is what came in: added to another store it gives the same articles.
    """
    return write_records(path, (_shown(stored, finder) for stored in articles))


def _shown(stored: Stored, finder: str | None) -> Article:
    if stored.given:
        return stored.article
    found = {"finder": finder} if finder else {"entities": None}
    return stored.article.model_copy(update=found)


def export_parquet(target: Path, articles: Iterable[Stored], finder: str | None) -> int:
    """Articles in time order as `day=2020-06-02/part-0.parquet`, in a new directory."""
    with needs_extra("writing Parquet", "parquet"):
        import pyarrow
        from pyarrow import parquet
    text, when = pyarrow.string(), pyarrow.timestamp("us", tz="UTC")
    columns = {"id": text, "published_at": when, "source": text, "url": text, "title": text}
    columns |= {"text": text, "entities": pyarrow.list_(text), "finder": text}
    schema = pyarrow.schema(list(columns.items()))
    count = 0
    with new_folder(target) as scratch:
        for day, part, rows in _parts(articles):
            folder = scratch / f"day={day}"
            folder.mkdir(exist_ok=True)
            table = pyarrow.Table.from_pylist([_as_columns(row, finder) for row in rows], schema)
            parquet.write_table(table, folder / f"part-{part}.parquet", compression="zstd")
            count += len(rows)
    return count


def _parts(articles: Iterable[Stored]) -> Iterator[tuple[date, int, list[Stored]]]:
    """The articles of each day, in pieces that fit into memory."""
    for day, group in groupby(articles, key=lambda stored: stored.published // A_DAY):
        rows: list[Stored] = []
        part = 0
        for stored in group:
            rows.append(stored)
            if len(rows) == ROWS_A_FILE:
                yield date_of(day), part, rows
                rows, part = [], part + 1
        if rows:
            yield date_of(day), part, rows


def _as_columns(stored: Stored, finder: str | None) -> dict[str, Any]:
    article = stored.article
    return {
        "id": article.id,
        "published_at": stored.published,
        "source": article.source,
        "url": article.url,
        "title": article.title,
        "text": article.text,
        "entities": list(article.entities or ()),
        "finder": None if stored.given else finder,
    }


class Reference(NamedTuple):
    """From what a reference corpus was drawn."""

    size: int
    drawn_from: int
    before: datetime
    seed: int
    first: datetime
    last: datetime
    sources: int
    finder: str | None

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        times = {name: write_time(getattr(self, name)) for name in ("before", "first", "last")}
        return {**self._asdict(), **times}


def draw_reference(
    store: NewsStore, path: str, size: int, before: datetime, seed: int
) -> Reference:
    """Write the corpus R: `size` articles published before a time, each as likely as any other.

    Each article draws a number from the seed and its id, and the smallest win. So the sample does
    not depend on the order in which the articles came, and those published later leave it alone.
    Entities go with it: they are what R is for.
    """
    rows = store.database.rows(
        "SELECT row, id FROM articles WHERE published < ?", (microseconds(before),)
    )
    if len(rows) < size:
        raise DataError(
            f"{store.path} holds {len(rows):,} articles before {write_time(before)}, "
            f"fewer than the {size:,} asked for"
        )
    drawn = nsmallest(size, ((_lot(seed, identifier), row) for row, identifier in rows))
    kept = sorted(
        store.rows([row for _, row in drawn]), key=lambda one: (one.published, one.article.id)
    )
    write_records(path, (stored.article for stored in kept))
    return Reference(
        size=len(kept),
        drawn_from=len(rows),
        before=before,
        seed=seed,
        first=kept[0].article.published_at,
        last=kept[-1].article.published_at,
        sources=len({stored.article.source for stored in kept}),
        finder=store.state().finder,
    )


def _lot(seed: int, identifier: str) -> bytes:
    return blake2b(f"{seed}\x1f{identifier}".encode(), digest_size=16).digest()
