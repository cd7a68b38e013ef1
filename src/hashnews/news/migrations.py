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


@migration
def m007_own_feeds(db: sqlite3.Connection) -> None:
    """The feeds that the owner of the store follows; `feeds` keeps the marks of any visit."""
    db.execute(
        """
        CREATE TABLE own_feeds (
            url TEXT PRIMARY KEY,
            title TEXT NOT NULL,        -- the source of its articles; empty: not known yet
            topic TEXT NOT NULL,        -- the folder it stands in; empty: none
            added INTEGER NOT NULL,     -- microseconds since 1970
            visited INTEGER,            -- when the last visit began; NULL: never
            outcome TEXT NOT NULL,      -- of the last visit; empty before it
            note TEXT NOT NULL,         -- why it gave nothing
            articles INTEGER NOT NULL   -- how many it brought
        ) WITHOUT ROWID
        """
    )


@migration
def m008_followed(db: sqlite3.Connection) -> None:
    """Sources of posts that are followed, where each of them is, and what they brought."""
    db.execute(
        """
        CREATE TABLE followed (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            address TEXT NOT NULL UNIQUE,
            cursor TEXT,                     -- where to resume; NULL: from now on
            state TEXT NOT NULL,             -- connecting, following, waiting, failed or stopped
            posts INTEGER NOT NULL DEFAULT 0,   -- that it brought, and that it removed again
            removed INTEGER NOT NULL DEFAULT 0,
            refused INTEGER NOT NULL DEFAULT 0, -- what it told that could not be used
            rate REAL NOT NULL DEFAULT 0,    -- posts per second, in the last minute
            lag REAL,                        -- seconds from the last one's event until it was here
            seen INTEGER NOT NULL DEFAULT 0, -- microseconds since 1970: when this was written
            error TEXT,                      -- the last thing that went wrong
            failed INTEGER                   -- and when
        )
        """
    )
    db.execute(
        """
        CREATE TABLE sightings (
            source INTEGER NOT NULL, -- a number of `followed`
            place TEXT NOT NULL,     -- the id that the post has there, in the order of ids
            post TEXT NOT NULL,      -- the id of the post
            PRIMARY KEY (source, place)
        ) WITHOUT ROWID
        """
    )
    db.execute("CREATE INDEX sightings_by_post ON sightings (post)")
    db.execute("CREATE INDEX posts_by_user ON posts (user)")
    db.execute("CREATE TABLE left_out (author TEXT PRIMARY KEY) WITHOUT ROWID")
    db.execute(
        "CREATE TRIGGER posts_sighted AFTER DELETE ON posts "
        "BEGIN DELETE FROM sightings WHERE post = old.id; END"
    )


@migration
def m009_flow(db: sqlite3.Connection) -> None:
    """How each source is followed, one's own accounts, and what arrived from where and when."""
    db.execute("ALTER TABLE followed ADD COLUMN settings TEXT NOT NULL DEFAULT '{}'")  # JSON
    db.execute("ALTER TABLE followed ADD COLUMN paused INTEGER NOT NULL DEFAULT 0")
    db.execute(
        "CREATE TABLE own_accounts (account TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID"
    )
    db.execute(
        """
        CREATE TABLE arrivals (
            minute INTEGER NOT NULL,  -- since 1970
            source TEXT NOT NULL,     -- the address of a feed or a network, the name of a file
            kind TEXT NOT NULL,       -- articles or posts
            came INTEGER NOT NULL,
            went INTEGER NOT NULL,    -- deleted there, so deleted here
            refused INTEGER NOT NULL,
            PRIMARY KEY (minute, source, kind)
        ) WITHOUT ROWID
        """
    )


@migration
def m010_hubs(db: sqlite3.Connection) -> None:
    """The hubs of feeds, that tell when there is something new (WebSub)."""
    db.execute(
        """
        CREATE TABLE hubs (
            feed TEXT PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,  -- by which the hub calls us
            hub TEXT NOT NULL,
            topic TEXT NOT NULL,        -- what the hub calls the feed
            secret TEXT NOT NULL,       -- with which the hub signs
            ask_at INTEGER NOT NULL     -- microseconds since 1970: when to ask it, or ask again
        ) WITHOUT ROWID
        """
    )


@migration
def m011_own_names(db: sqlite3.Connection) -> None:
    """Names whose own posts somebody added: they stay, however old they are."""
    db.execute("CREATE TABLE own_names (name TEXT PRIMARY KEY) WITHOUT ROWID")
