"""One SQLite file opened safely: the journal its version can be trusted with, clear errors.

Write-ahead logging lets readers and the writer pass each other, but SQLite before 3.51.3 can
corrupt a file in that mode (the WAL-reset bug), so older versions get a rollback journal. Either
way every commit is on the disk before it is acknowledged.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from hashnews.errors import SchemaTooNew, StoreError
from hashnews.news.migrations import MIGRATIONS

Mode = Literal["read", "write"]
APPLICATION = 0x486E7773  # "Hnws": tells our files from other SQLite files
PATIENCE = 20.0  # seconds to wait for another program's lock
CACHE_KIB = 32 << 10
RESTORE = "restore a backup"


def is_wal_safe(version: tuple[int, int, int]) -> bool:
    """Whether this SQLite has the fix of the WAL-reset bug."""
    return version >= (3, 51, 3) or any(
        version[:2] == fixed[:2] and version >= fixed for fixed in [(3, 50, 7), (3, 44, 6)]
    )


JOURNAL = "WAL" if is_wal_safe(sqlite3.sqlite_version_info) else "TRUNCATE"


class Database:
    """A connection to one store file; for one thread at a time."""

    def __init__(self, path: str | Path, mode: Mode, patience: float = PATIENCE):
        self.path = Path(path)
        self._patience = patience
        self._mode: Mode = mode
        self._left = -1  # the generation after our last change
        if mode == "read" and not self.path.exists():
            raise StoreError(f"{path}: there is no such news store; {self._how_to_make_one()}")
        self._open()

    def _open(self) -> None:
        with self.clear_errors():
            self._connection = self._connect(self._mode)
            try:
                self._prepare(self._mode)
                about = os.stat(self.path)
            except BaseException:
                self._connection.close()
                raise
        self._file = (about.st_dev, about.st_ino)

    def follow_name(self) -> bool:
        """Open the file that has our name now, if it is another one: a backup was restored.

        While there is none nothing happens: it may come back.
        """
        try:
            about = os.stat(self.path)
        except OSError:
            return False
        if self._file == (about.st_dev, about.st_ino):
            return False
        self._connection.close()
        self._open()
        return True

    def _connect(self, mode: Mode) -> sqlite3.Connection:
        # A reader, too, opens for writing (SQLite falls back where the file is protected): only
        # so can it roll back what a killed writer left half done. `query_only` keeps it a reader.
        access = "rwc" if mode == "write" else "rw"
        uri = f"file:{quote(os.path.abspath(self.path))}?mode={access}"
        return sqlite3.connect(
            uri, timeout=self._patience, isolation_level=None, uri=True, check_same_thread=False
        )

    def _prepare(self, mode: Mode) -> None:
        db = self._connection
        version = self._version()
        if version > len(MIGRATIONS):
            raise SchemaTooNew(self.path, version, len(MIGRATIONS))
        if version == 0 and mode == "read":
            raise StoreError(f"{self.path} holds no news yet; {self._how_to_make_one()}")
        if mode == "write":
            db.execute(f"PRAGMA journal_mode = {JOURNAL}")
        db.execute("PRAGMA synchronous = FULL")
        db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        if version < len(MIGRATIONS):
            with self.transaction():
                self._migrate()
        if mode == "read":
            db.execute("PRAGMA query_only = ON")

    def _version(self) -> int:
        """The schema's number; refuses a file that is not ours."""
        # In this order: where another process is just making the store, its name is there last.
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        if application != APPLICATION and (application or version or tables):
            raise StoreError(f"{self.path} is not a news store but another program's SQLite file")
        return int(version)

    def _how_to_make_one(self) -> str:
        return f"make one: hashnews news add FILE --news {self.path}"

    def _migrate(self) -> None:
        # The version is asked again under the lock: another process may have been first.
        for step in MIGRATIONS[self._version() :]:
            step(self._connection)
        self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
        self._connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    def close(self) -> None:
        """Give the file back."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of the block's changes or none; on the disk when it ends."""
        with self.clear_errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def rows(self, sql: str, values: tuple[object, ...] = ()) -> list[Any]:
        """All rows of a query at once, so that no read lock stays behind to hold up the writer."""
        with self.clear_errors():
            return self._connection.execute(sql, values).fetchall()

    def run(self, sql: str, values: tuple[object, ...] = ()) -> None:
        """Run one statement."""
        with self.clear_errors():
            self._connection.execute(sql, values)

    def run_many(self, sql: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Run one statement for each row."""
        with self.clear_errors():
            self._connection.executemany(sql, rows)

    def raise_generation(self) -> None:
        """Say, within a transaction, that articles or posts change.

        The first change is made under a new name: of two copies that grow apart each knows its
        own. So is one after a generation that we had left behind: the file was put back.
        """
        ((number, generation),) = self.rows(
            "SELECT number, generation FROM lineage ORDER BY number DESC LIMIT 1"
        )
        if not 0 <= self._left <= generation:
            number, writer = number + 1, secrets.token_hex(16)
            self.run("INSERT INTO lineage VALUES (?,?,?)", (number, writer, generation))
        self._left = generation + 1
        self.run("UPDATE lineage SET generation = ? WHERE number = ?", (self._left, number))

    @property
    def changed_rows(self) -> int:
        """How many rows this connection has inserted, changed or deleted."""
        return self._connection.total_changes

    def copy_to(self, target: Path) -> None:
        """Write the file as it is at this moment, compact, to a new one."""
        with self.clear_errors():
            ((reads_only,),) = self._connection.execute("PRAGMA query_only")
            self._connection.execute("PRAGMA query_only = OFF")  # it would forbid the new file, too
            try:
                self._connection.execute("VACUUM INTO ?", (str(target),))
            finally:
                self._connection.execute(f"PRAGMA query_only = {reads_only}")

    @contextmanager
    def clear_errors(self) -> Iterator[None]:
        """SQLite's errors as one line that says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(self._explain(error)) from None
        except UnicodeDecodeError:
            raise StoreError(f"{self.path} is damaged (text that is none): {RESTORE}") from None

    def _explain(self, error: sqlite3.Error) -> str:
        path, name = self.path, getattr(error, "sqlite_errorname", "")
        said = " ".join(str(error).split())  # it may quote a damaged schema, line breaks and all
        match name.removeprefix("SQLITE_").split("_")[0]:
            case "NOTADB":
                return f"{path} is not a news store: it is not an SQLite file"
            case "BUSY" | "LOCKED":
                waited = f"waited {self._patience:g} s"
                return f"{path} is in use by another program ({waited}): try again when it is done"
            case "FULL":
                return f"{path}: the disk is full; what was added before is safe; free some of it"
            case "READONLY" if name == "SQLITE_READONLY_DBMOVED":
                return f"{path} was moved or replaced while it was in use: nothing was written"
            case "READONLY" | "PERM":
                return f"{path} cannot be written: the file or its folder is read-only"
            case "CANTOPEN":
                return f"{path} cannot be opened: is there such a folder, and may you write to it?"
            case "CORRUPT":
                return f"{path} is damaged ({said}): {RESTORE}"
            case "IOERR":
                return f"{path}: the disk refused ({name}); what was added before is safe"
        return f"{path}: {said}"
