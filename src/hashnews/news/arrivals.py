"""What arrived, from where and when: a line a minute for each feed, network and file."""

from __future__ import annotations

import time
from typing import Literal, NamedTuple

from hashnews.news.store import NewsStore
from hashnews.records import write_time
from hashnews.times import moment_of

KEPT = 7 * 24 * 60  # minutes
A_MINUTE = 60_000_000  # microseconds

Kind = Literal["articles", "posts"]


class ArrivalLine(NamedTuple):
    """What one source brought within a minute."""

    minute: int  # since 1970
    source: str
    kind: Kind
    came: int
    went: int
    refused: int

    def as_dict(self) -> dict[str, object]:
        """For `--json` and over HTTP."""
        at = write_time(moment_of(self.minute * A_MINUTE))
        return {"at": at, **{name: value for name, value in self._asdict().items()
                             if name != "minute"}}  # fmt: skip


def note_arrival(
    store: NewsStore, source: str, kind: Kind, came: int, went: int = 0, refused: int = 0
) -> None:
    """Count what a source brought; nothing where it brought nothing."""
    if not (came or went or refused):
        return
    minute = int(time.time() // 60)
    store.database.run(
        "INSERT INTO arrivals VALUES (?,?,?,?,?,?) ON CONFLICT (minute, source, kind) DO UPDATE "
        "SET came = came + excluded.came, went = went + excluded.went, "
        "refused = refused + excluded.refused",
        (minute, source, kind, came, went, refused),
    )
    store.database.run("DELETE FROM arrivals WHERE minute < ?", (minute - KEPT,))


def latest_arrivals(store: NewsStore, most: int = 100) -> list[ArrivalLine]:
    """The last lines, the newest first."""
    found = store.database.rows(
        "SELECT * FROM arrivals ORDER BY minute DESC, source, kind LIMIT ?", (most,)
    )
    return [ArrivalLine(*row) for row in found]
