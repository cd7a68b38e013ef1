"""The sources of the store: which are followed, how, where each resumes, and how they fare."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

from hashnews.errors import DataError
from hashnews.news.store import NewsStore
from hashnews.posts.networks.address import parse_source
from hashnews.posts.networks.events import FollowSettings
from hashnews.records import write_time
from hashnews.times import moment_of

QUIET = 60.0  # seconds after which nobody seems to follow any more
SHOWN = "address, state, posts, removed, refused, rate, lag, error, failed, seen, paused, settings"


class SourceState(NamedTuple):
    """How one source fares."""

    address: str
    state: str  # connecting, following, waiting, failed, stopped or paused
    posts: int
    removed: int
    refused: int
    rate: float  # posts per second
    lag: float | None  # seconds between the last post and its being here
    error: str | None
    failed: int | None  # when that was: microseconds since 1970
    seen: int  # the last sign of life
    paused: int  # 1 where nobody is to follow it now
    settings: str  # JSON: how it is followed

    def as_dict(self) -> dict[str, object]:
        """For `--json` and over HTTP."""
        return {
            **self._asdict(),
            "paused": bool(self.paused),
            "settings": _read(self.settings),
            "failed": None if self.failed is None else write_time(moment_of(self.failed)),
            "seen": write_time(moment_of(self.seen)) if self.seen else None,
        }


class FollowedSource(NamedTuple):
    """A source to follow: its number, where it resumes, and how it is followed."""

    number: int
    address: str
    cursor: str | None
    settings: FollowSettings


def now() -> int:
    """The present moment in microseconds since 1970."""
    return time.time_ns() // 1000


def add_source(store: NewsStore, address: str, settings: FollowSettings) -> bool:
    """Add a source, or follow a known one in this way from now on; says whether it is new."""
    text = parse_source(address, settings.allow_private).text
    with store.database.transaction():
        known = bool(_number(store, text))
        store.database.run(
            "INSERT INTO followed (address, state, settings) VALUES (?, 'stopped', ?) "
            "ON CONFLICT (address) DO UPDATE SET settings = excluded.settings, paused = 0",
            (text, json.dumps(settings.kept())),
        )
        store.database.run_many(
            "INSERT OR REPLACE INTO own_accounts VALUES (?,?)", list(settings.accounts.items())
        )
        store.database.run_many(  # who names themselves wants to be remembered
            "DELETE FROM left_out WHERE author = ?",
            [(name,) for name in settings.accounts.values()],
        )
    return not known


def begin_source(store: NewsStore, address: str, settings: FollowSettings) -> FollowedSource:
    """A source of the store, from now on connecting; `settings` say what it does not keep."""
    with store.database.transaction():
        store.database.run(
            "UPDATE followed SET state = 'connecting', seen = ? WHERE address = ?", (now(), address)
        )
        found = store.database.rows(
            "SELECT number, cursor, settings FROM followed WHERE address = ?", (address,)
        )
    if not found:
        raise _unknown(address)
    ((number, cursor, kept),) = found
    return FollowedSource(number, address, cursor, with_kept(settings, _read(kept)))


def with_kept(settings: FollowSettings, kept: Mapping[str, Any]) -> FollowSettings:
    """The settings with those that a source keeps."""
    return replace(
        settings,
        languages=frozenset(map(str, kept.get("languages", settings.languages))),
        hashtags=frozenset(map(str, kept.get("hashtags", settings.hashtags))),
        keep=timedelta(seconds=kept.get("keep", settings.keep.total_seconds())),
        most=kept.get("most", settings.most),
        every=kept.get("every", settings.every),
    )


def own_accounts(store: NewsStore) -> dict[str, str]:
    """One's own accounts, each with the name its posts are stored under."""
    return dict(store.database.rows("SELECT account, name FROM own_accounts"))


def sources_to_follow(store: NewsStore) -> list[str]:
    """The addresses of all sources that are not paused."""
    found = store.database.rows("SELECT address FROM followed WHERE NOT paused ORDER BY number")
    return [address for (address,) in found]


def pause_source(store: NewsStore, address: str, paused: bool = True) -> None:
    """Follow a source no more, until it is followed again: it resumes where it was."""
    with store.database.transaction():
        if not _number(store, address):
            raise _unknown(address)
        store.database.run(
            "UPDATE followed SET paused = ?, rate = 0 WHERE address = ?", (int(paused), address)
        )


def source_states(store: NewsStore) -> list[SourceState]:
    """All sources, and how they fare."""
    found = store.database.rows(f"SELECT {SHOWN} FROM followed ORDER BY number")
    return [_honest(SourceState(*row)) for row in found]


def _honest(state: SourceState) -> SourceState:
    """A follower that was killed could not say so."""
    if state.paused:
        return state._replace(state="paused", rate=0.0)
    if state.state != "failed" and now() - state.seen > QUIET * 1e6:
        return state._replace(state="stopped", rate=0.0)
    return state


def forget_source(store: NewsStore, address: str) -> int:
    """Forget a source, its cursor, and the posts that no other source brought."""
    if not (found := _number(store, address)):
        raise _unknown(address)
    ((number,),) = found
    alone = (
        "id IN (SELECT post FROM sightings WHERE source = ? AND post NOT IN "
        "(SELECT post FROM sightings WHERE source != ?))"
    )
    with store.database.transaction():
        # First: from here on nobody who still follows it can store more.
        store.database.run("DELETE FROM followed WHERE number = ?", (number,))
    gone = delete_where(store, alone, (number, number))
    with store.database.transaction():
        store.database.run("DELETE FROM sightings WHERE source = ?", (number,))
    return gone


def delete_where(store: NewsStore, which: str, values: tuple[Any, ...]) -> int:
    """Delete posts, in a transaction of its own; says how many."""
    with store.database.transaction():
        found = store.database.rows(f"SELECT count(*) FROM posts WHERE {which}", values)
        if count := int(found[0][0]):
            store.database.raise_generation()
            store.database.run(f"DELETE FROM posts WHERE {which}", values)
    return count


def _number(store: NewsStore, address: str) -> list[Any]:
    return store.database.rows("SELECT number FROM followed WHERE address = ?", (address,))


def _read(settings: str) -> dict[str, Any]:
    found = json.loads(settings)
    return found if isinstance(found, dict) else {}


def _unknown(address: str) -> DataError:
    return DataError("was never followed; see hashnews posts sources", address)
