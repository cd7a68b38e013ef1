"""The schema of a news store, as the numbered steps that lead to it.

A step, once released, never changes: stores out there have taken it. A new need is a new step.
The number of steps taken is the schema's number and stands in the file (`PRAGMA user_version`).
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable

MIGRATIONS: list[Callable[[sqlite3.Connection], None]] = []


def migration(step: Callable[[sqlite3.Connection], None]) -> Callable[[sqlite3.Connection], None]:
    """Register a step; its name carries its number."""
    number = len(MIGRATIONS) + 1
    if not step.__name__.startswith(f"m{number:03d}_"):
        raise RuntimeError(f"{step.__name__} should begin with m{number:03d}_")
    MIGRATIONS.append(step)
    return step


@migration
def m001_articles(db: sqlite3.Connection) -> None:
    """Articles, the keys they are known by, and facts about the store."""
    db.execute("CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    # Small columns first: counting per day and source then never touches the long texts.
    db.execute(
        """
        CREATE TABLE articles (
            row INTEGER PRIMARY KEY,   -- grows with each article added
            published INTEGER NOT NULL, -- microseconds since 1970, UTC
            zone INTEGER NOT NULL,      -- minutes east of UTC in which the time was given
            day INTEGER NOT NULL,       -- days since 1970, UTC
            given INTEGER NOT NULL,     -- 1: the entities came with the article
            id TEXT NOT NULL,
            source TEXT,
            url TEXT,
            title TEXT NOT NULL,
            entities TEXT NOT NULL,     -- a JSON list, one string per mention
            text TEXT NOT NULL
        )
        """
    )
    db.execute("CREATE INDEX articles_by_time ON articles (published)")
    db.execute("CREATE TABLE keys (key BLOB PRIMARY KEY, row INTEGER NOT NULL) WITHOUT ROWID")


@migration
def m002_search(db: sqlite3.Connection) -> None:
    """Full-text search; the texts themselves stay in `articles`."""
    db.execute(
        """
        CREATE VIRTUAL TABLE search USING fts5(
            title, text, content='articles', content_rowid='row',
            tokenize='unicode61 remove_diacritics 2'
        )
        """
    )
    db.execute("INSERT INTO search (search) VALUES ('rebuild')")


@migration
def m003_feeds(db: sqlite3.Connection) -> None:
    """What the last visit to each feed left behind."""
    db.execute(
        """
        CREATE TABLE feeds (
            url TEXT PRIMARY KEY,
            etag TEXT,
            last_modified TEXT,
            failures INTEGER NOT NULL,
            not_before INTEGER NOT NULL -- microseconds since 1970: leave it alone until then
        ) WITHOUT ROWID
        """
    )


@migration
def m004_reindexed(db: sqlite3.Connection) -> None:
    """Where a new finder's entities wait until they are complete."""
    db.execute("CREATE TABLE reindexed (row INTEGER PRIMARY KEY, entities TEXT NOT NULL)")


@migration
def m005_posts(db: sqlite3.Connection) -> None:
    """Earlier posts and their hashtags: the memory."""
    db.execute(
        """
        CREATE TABLE posts (
            row INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: readers read on from it
            posted INTEGER NOT NULL,    -- microseconds since 1970, UTC
            id TEXT NOT NULL UNIQUE,
            user TEXT,
            hashtags TEXT NOT NULL,     -- JSON: trailing ones, each written form and words
            inline TEXT NOT NULL,       -- likewise
            body TEXT NOT NULL
        )
        """
    )
    db.execute("CREATE INDEX posts_by_time ON posts (posted)")


@migration
def m006_lineage(db: sqlite3.Connection) -> None:
    """Who wrote here, and which days changed otherwise than by growing.

    `lineage` has a row for each program that wrote, with the generation it left behind; the first
    row's name is the store's id. A copy of the file that grows apart gets other writers, so
    somebody who knows a writer and a generation can tell whether they are this store's past.
    """
    db.execute(
        "CREATE TABLE lineage "
        "(number INTEGER PRIMARY KEY, writer TEXT NOT NULL UNIQUE, generation INTEGER NOT NULL)"
    )
    db.execute("INSERT INTO lineage VALUES (1, ?, 1)", (secrets.token_hex(16),))
    db.execute(
        """
        CREATE TABLE changes (
            kind TEXT NOT NULL,          -- articles or posts
            day INTEGER NOT NULL,        -- days since 1970, UTC
            generation INTEGER NOT NULL, -- the last that deleted or changed a row of the day
            PRIMARY KEY (kind, day)
        ) WITHOUT ROWID
        """
    )
    newest = "(SELECT max(number) FROM lineage)"
    raised = f"UPDATE lineage SET generation = generation + 1 WHERE number = {newest};"
    # A row that went is never given again: readers read on from the last one they know.
    given = (
        "INSERT INTO facts VALUES ('last_row', old.row) ON CONFLICT (name) DO UPDATE "
        "SET value = max(CAST(value AS INTEGER), excluded.value + 0);"
    )
    a_day = 86_400_000_000
    floor = f"({{0}}.posted - ({{0}}.posted % {a_day} + {a_day}) % {a_day}) / {a_day}"
    for kind, day, extra in [("articles", "{0}.day", given), ("posts", floor, "")]:
        note = (
            f"INSERT INTO changes SELECT '{kind}', {day}, generation FROM lineage "
            f"WHERE number = {newest} "
            "ON CONFLICT (kind, day) DO UPDATE SET generation = excluded.generation;"
        )
        old, new = note.format("old"), note.format("new")
        for event, then in [("DELETE", extra + old), ("UPDATE", old + new)]:
            db.execute(
                f"CREATE TRIGGER {kind}_{event.lower()} AFTER {event} ON {kind} "
                f"BEGIN {raised} {then} END"
            )
