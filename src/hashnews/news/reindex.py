"""Another finder's entities for a whole store.

They wait in a table of their own until there is one set for every article, and then replace the
old ones in one transaction: a reader sees the old finder's entities or the new one's, never a
mix, and a killed run goes on where it stopped. Entities that came with an article stay.
"""

from __future__ import annotations

from collections.abc import Iterator

from hashnews.news.entities import entities_of
from hashnews.news.store import NewsStore, as_json
from hashnews.text.entities import EntityFinder

BATCH = 1000
WAITING = "given = 0 AND row > coalesce((SELECT max(row) FROM reindexed), 0)"


class Reindexing:
    """Finds all entities again: iterate, and each article is counted; `done` is how far it is."""

    def __init__(self, store: NewsStore, finder: EntityFinder):
        self.done = 0.0
        self.found = 0  # articles that have the new finder's entities, known at the end
        self._store = store
        self._finder = finder

    def __iter__(self) -> Iterator[int]:
        store = self._store
        _begin(store, self._finder.name)
        while True:
            batch = store.database.rows(
                f"SELECT row, title, text FROM articles WHERE {WAITING} ORDER BY row LIMIT {BATCH}"
            )
            if batch:
                self._find(batch)
                yield from (row for row, _, _ in batch)
            elif (count := _finish(store, self._finder.name)) is not None:
                self.found = count
                return

    def _find(self, batch: list[tuple[int, str, str]]) -> None:
        found = entities_of(self._finder, [(title, text) for _, title, text in batch])
        rows = [(row, as_json(names)) for (row, _, _), names in zip(batch, found, strict=True)]
        with self._store.database.transaction():
            self._store.database.run_many("INSERT INTO reindexed VALUES (?,?)", rows)
        self.done = batch[-1][0] / self._store.last_row()


def _begin(store: NewsStore, finder: str) -> None:
    """Forget what a run with yet another finder left behind."""
    with store.database.transaction():
        if store.database.rows("SELECT value FROM facts WHERE name = 'reindexing'") != [(finder,)]:
            store.database.run("DELETE FROM reindexed")
            store.keep_fact("reindexing", finder)


def _finish(store: NewsStore, finder: str) -> int | None:
    """Put the waiting entities in place, unless somebody has added an article meanwhile."""
    with store.database.transaction():
        if store.database.rows(f"SELECT row FROM articles WHERE {WAITING} LIMIT 1"):
            return None
        ((count,),) = store.database.rows("SELECT count(*) FROM reindexed")
        store.database.raise_generation()
        store.database.run(
            "UPDATE articles SET entities = waiting.entities "
            "FROM reindexed AS waiting WHERE waiting.row = articles.row"
        )
        store.database.run("DELETE FROM reindexed")
        store.database.run("DELETE FROM facts WHERE name = 'reindexing'")
        store.keep_fact("edition", str(store.state().edition + 1))
        store.keep_fact("finder", finder)
    return int(count)
