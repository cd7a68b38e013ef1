"""The news store: every article once, found by id, by time and by its words.

One SQLite file, one writer at a time, any number of readers. A reader sees an article as soon as
`add` returns. Whoever keeps something built from the store (an index) asks `state()`, whether it
`descends` from what they know, then for the rows after the last one they know and for the days that
had `changes_since`: rows deleted or changed. `reindex` changes all rows and raises the edition.

The texts are kept as `ingest` hands them over, the times as they were given; a store is for one
thread, so a service opens one in each.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from hashnews.errors import StoreError
from hashnews.news.database import PATIENCE, Database, Mode
from hashnews.news.keys import Key, Why, claims_on, id_key, url_key
from hashnews.records import Article
from hashnews.saved import sync
from hashnews.times import A_DAY, MINUTE, microseconds, moment_of

PAGE = 2000  # rows read at a time: the writer may commit between two pages
KEYS_A_QUERY = 30_000  # SQLite binds at most 32,766 values
Kind = Literal["articles", "posts"]
COLUMNS = "row, published, zone, given, id, source, url, title, entities, text"


class New(NamedTuple):
    """An article ready for the store: its entities are complete, `given` or found."""

    article: Article
    keys: list[Key]
    given: bool


class Stored(NamedTuple):
    """An article as it stands in the store; `published` in microseconds since 1970, UTC."""

    row: int
    published: int
    given: bool
    article: Article


class StoreState(NamedTuple):
    """What a reader needs to know before it reads on."""

    last_row: int  # of articles
    edition: int  # raised when entities of old rows change
    finder: str | None  # what found the entities; None in an empty store
    id: str  # drawn once; copies share it
    writer: str  # who wrote last; drawn by each program that writes
    generation: int  # raised by each commit that adds, changes or deletes articles or posts


class NewsStore:
    """The articles of one store file, for reading or, created where missing, for writing."""

    def __init__(self, path: str | Path, mode: Mode = "read", patience: float = PATIENCE):
        self.path = Path(path)
        self.database = Database(path, mode, patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back."""
        self.database.close()

    def __len__(self) -> int:
        return self._number("SELECT count(*) FROM articles")

    # ----- adding -----

    def known(self, keyed: Sequence[list[Key]]) -> list[Why | None]:
        """For each article's keys the first that the store knows, or that came earlier here."""
        every = sorted({key.digest for keys in keyed for key in keys})
        seen: set[object] = set()
        for start in range(0, len(every), KEYS_A_QUERY):
            part = tuple(every[start : start + KEYS_A_QUERY])
            marks = ",".join("?" * len(part))
            found = self.database.rows(f"SELECT key FROM keys WHERE key IN ({marks})", part)
            seen.update(key for (key,) in found)
        answers: list[Why | None] = [None] * len(keyed)
        # Those who only claim an address come after its owner.
        owners_first = sorted(
            range(len(keyed)), key=lambda at: any(not key.is_kept for key in keyed[at])
        )
        for at in owners_first:
            answers[at] = next((key.why for key in keyed[at] if key.digest in seen), None)
            if answers[at] is None:
                seen.update(key.digest for key in keyed[at] if key.is_kept)
        return answers

    def knows_url(self, url: str) -> bool:
        """Whether an article of this address is here already."""
        key = url_key(url)
        return key is not None and self.known([[key]]) != [None]

    def add(self, articles: Sequence[New], finder: str) -> list[Why | None]:
        """Store what is new, durably; say for each by which key it was known already."""
        with self.database.transaction():
            self._agree_on(finder)
            answers = self.known([new.keys for new in articles])  # again: now nobody else can add
            fresh = [new for new, why in zip(articles, answers, strict=True) if why is None]
            if fresh:
                self.database.raise_generation()
                self._delete(self._claims_on([key for new in fresh for key in new.keys]))
            first = self.last_row() + 1
            self.database.run_many(
                f"INSERT INTO articles ({COLUMNS}, day) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                [_as_row(row, new) for row, new in enumerate(fresh, first)],
            )
            self.database.run_many(
                "INSERT INTO search (rowid, title, text) VALUES (?,?,?)",
                [(n, new.article.title, new.article.text) for n, new in enumerate(fresh, first)],
            )
            # Sorted, so that neighbours in the tree are written together.
            keys = [
                (key.digest, row)
                for row, new in enumerate(fresh, first)
                for key in new.keys
                if key.is_kept
            ]
            self.database.run_many("INSERT INTO keys (key, row) VALUES (?,?)", sorted(keys))
        return answers

    def withdraw(self, names: Sequence[str]) -> int:
        """Delete articles by id or address; says how many there were. They may be added again."""
        with self.database.transaction():
            rows = {row for name in names for row in self._rows_named(name)}
            if rows:
                self.database.raise_generation()
                self._delete(sorted(rows))
        return len(rows)

    def _rows_named(self, name: str) -> list[int]:
        """The articles with this id, those at this address, and those that claim it."""
        keys = [id_key(name), *filter(None, [url_key(name)])]
        own = "SELECT row FROM keys WHERE key = ?"
        rows = [row for key in keys for (row,) in self.database.rows(own, (key.digest,))]
        return rows + self._claims_on(keys)

    def _claims_on(self, keys: Sequence[Key]) -> list[int]:
        """The rows of other sources that claim these addresses."""
        own = [key for key in keys if key.why == "url" and key.is_kept]
        between = "SELECT row FROM keys WHERE key BETWEEN ? AND ?"
        return [row for key in own for (row,) in self.database.rows(between, claims_on(key))]

    def _delete(self, rows: Sequence[int]) -> None:
        if not rows:
            return
        gone, which = json.dumps(rows), "row IN (SELECT value FROM json_each(?))"
        texts = self.database.rows(f"SELECT row, title, text FROM articles WHERE {which}", (gone,))
        self.database.run_many(
            "INSERT INTO search (search, rowid, title, text) VALUES ('delete',?,?,?)", texts
        )
        for table in ("keys", "articles"):
            self.database.run(f"DELETE FROM {table} WHERE {which}", (gone,))

    def _agree_on(self, finder: str) -> None:
        known = self.state().finder
        if known is None:
            self.keep_fact("finder", finder)
        elif known != finder:
            raise StoreError(
                f"{self.path} holds entities of the finder {known!r}, not {finder!r}: "
                f"leave out --finder, or run: hashnews news reindex --finder {finder}"
            )

    def keep_fact(self, name: str, value: str) -> None:
        """Remember something about the store; part of the transaction that is open."""
        self.database.run("INSERT OR REPLACE INTO facts (name, value) VALUES (?,?)", (name, value))

    # ----- reading -----

    def state(self) -> StoreState:
        """How far the store has grown."""
        facts = dict(self.database.rows("SELECT name, value FROM facts"))
        ((identifier, writer, generation),) = self.database.rows(
            "SELECT (SELECT writer FROM lineage WHERE number = 1), writer, generation "
            "FROM lineage ORDER BY number DESC LIMIT 1"
        )
        edition, finder = int(facts.get("edition", 1)), facts.get("finder")
        return StoreState(self.last_row(), edition, finder, identifier, writer, generation)

    def descends(self, writer: str, generation: int) -> bool:
        """Whether that state is this store's past or present; no: another store, a backup."""
        left = self.database.rows("SELECT generation FROM lineage WHERE writer = ?", (writer,))
        return bool(left) and left[0][0] >= generation

    def changes_since(self, generation: int, kind: Kind) -> list[int]:
        """The days, counted from 1970, of which rows were deleted or changed after a generation."""
        days = self.database.rows(
            "SELECT day FROM changes WHERE kind = ? AND generation > ? ORDER BY day",
            (kind, generation),
        )
        return [day for (day,) in days]

    def last_change(self, kind: Kind) -> int:
        """The generation in which rows were last deleted or changed; 0 where none ever was."""
        sql = "SELECT coalesce(max(generation), 0) FROM changes WHERE kind = ?"
        return int(self.database.rows(sql, (kind,))[0][0])

    def last_row(self) -> int:
        """The newest row ever given to an article; 0 in an empty store."""
        return self._number(
            "SELECT max(coalesce((SELECT max(row) FROM articles), 0), "
            "coalesce((SELECT CAST(value AS INTEGER) FROM facts WHERE name = 'last_row'), 0))"
        )

    def count_up_to(self, row: int) -> int:
        """How many articles there are of rows up to this one."""
        after = f"SELECT count(*) FROM articles WHERE row > {int(row)}"
        return self._number(f"SELECT (SELECT count(*) FROM articles) - ({after})")

    def days_after(self, row: int) -> list[int]:
        """The days, counted from 1970, whose articles are not all of rows up to this one."""
        days = self.database.rows("SELECT DISTINCT day FROM articles WHERE row > ?", (row,))
        return sorted(day for (day,) in days)

    def get(self, identifier: str) -> Article | None:
        """The article with this id."""
        return self.get_all([identifier]).get(identifier)

    def get_all(self, identifiers: Sequence[str]) -> dict[str, Article]:
        """The articles with these ids, by id; what is not there is left out."""
        found = self.database.rows(
            f"SELECT {COLUMNS} FROM articles WHERE row IN (SELECT row FROM keys WHERE key IN "
            f"({','.join('?' * len(identifiers))}))",
            tuple(id_key(identifier).digest for identifier in identifiers),
        )
        articles = (self._stored(row).article for row in found)
        return {article.id: article for article in articles}

    def read(
        self, after: int = 0, start: datetime | None = None, before: datetime | None = None
    ) -> Iterator[Stored]:
        """Articles by time of publication, then id: those of rows past `after`, in [start, before).

        The order is settled at the first one; what is added during the reading is not part of it.
        """
        earliest = -(1 << 62) if start is None else microseconds(start)
        latest = 1 << 62 if before is None else microseconds(before)
        ordered = self.database.rows(
            "SELECT row FROM articles WHERE row > ? AND published >= ? AND published < ? "
            "ORDER BY published, id",
            (after, earliest, latest),
        )
        rows = array("q", (row for (row,) in ordered))
        del ordered
        for begin in range(0, len(rows), PAGE):
            yield from self.rows(rows[begin : begin + PAGE].tolist())

    def rows(self, numbers: Sequence[int]) -> Iterator[Stored]:
        """The articles of these rows, in this order; a row that does not exist is left out."""
        found = self.database.rows(
            f"SELECT {COLUMNS} FROM articles WHERE row IN (SELECT value FROM json_each(?))",
            (json.dumps(numbers),),
        )
        by_row = {row[0]: row for row in found}
        yield from (self._stored(by_row[number]) for number in numbers if number in by_row)

    def _stored(self, row: tuple[Any, ...]) -> Stored:
        number, published, zone, given, identifier, source, url, title, entities, text = row
        try:
            article = Article.model_construct(
                id=identifier, title=title, text=text, published_at=moment_of(published, zone),
                url=url, source=source, entities=tuple(json.loads(entities)),
            )  # fmt: skip
        except (TypeError, ValueError, OverflowError):
            raise StoreError(f"{self.path} is damaged in row {number}: restore a backup") from None
        return Stored(number, published, bool(given), article)

    def _number(self, sql: str) -> int:
        return int(self.database.rows(sql)[0][0])

    # ----- the file as a whole -----

    def check(self) -> list[str]:
        """What is wrong with the file; nothing, mostly."""
        try:
            found = [str(row[0]) for row in self.database.rows("PRAGMA integrity_check(5)")]
            problems = [] if found == ["ok"] else found
            astray = "SELECT count(*) FROM keys WHERE row NOT IN (SELECT row FROM articles)"
            if count := self._number(astray):
                problems.append(f"{count} keys without an article")
            lost, total = len(self) - self._number("SELECT count(*) FROM search_docsize"), len(self)
            if lost:
                problems.append(f"{lost} of {total} articles are missing from the full-text index")
        except StoreError as error:
            return [str(error)]
        return problems

    def backup(self, target: str | Path) -> None:
        """Write a copy of the store as it is at one moment; it appears whole or not at all."""
        path = Path(target)
        if path.exists():
            raise StoreError(f"{path} exists already: give a new name")
        scratch = path.with_name(f".{path.name}.tmp-{os.getpid()}")
        try:
            scratch.touch()
            self.database.copy_to(scratch)
            with NewsStore(scratch) as copy:
                problems = copy.check()
            if problems:
                raise StoreError(f"{self.path} is damaged ({problems[0]}): the backup was not kept")
            sync(scratch)
            os.replace(scratch, path)
            sync(path.parent)
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror}") from None
        finally:
            scratch.unlink(missing_ok=True)


def _as_row(row: int, new: New) -> tuple[object, ...]:
    article = new.article
    published = microseconds(article.published_at)
    offset = article.published_at.utcoffset()
    zone = 0 if not offset else offset // MINUTE
    return (
        row, published, zone, int(new.given), article.id, article.source, article.url,
        article.title, as_json(article.entities or ()), article.text, published // A_DAY,
    )  # fmt: skip


def as_json(entities: Sequence[str]) -> str:
    """A list of entities as the store writes it."""
    return json.dumps(entities, ensure_ascii=False, separators=(",", ":"))
