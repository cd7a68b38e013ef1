"""Mastodon: timelines of hashtags, servers, lists and accounts, and whatever speaks its API.

Pages are read forward from the cursor (`min_id`), so that none is missed; a stream (SSE), where the
server allows one, tells of posts and deletions at once; and in every round one page further back is
read again, for deletions and changes that no stream told, and for posts that reached the server
late. Read in Mastodon's documentation: https://docs.joinmastodon.org/methods/timelines/,
/methods/streaming/ and /entities/Status/.
"""

from __future__ import annotations

import json
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from hashnews.errors import DataError, FetchError
from hashnews.posts.archives.texts import dict_in, html_text, list_in, text_in, with_hashtags
from hashnews.posts.networks.address import SourceAddress
from hashnews.posts.networks.events import (
    LONGEST_TEXT,
    NO_BOTS,
    Arrival,
    FollowSettings,
    Places,
    Removed,
    Wrote,
    id_at,
    place_of,
)
from hashnews.posts.networks.rest import Rest, Signal, Stopped
from hashnews.records import parse_time
from hashnews.times import microseconds

PAGE = 40  # statuses; servers give no more
PAGES = 50  # read forward in one round
RECHECKED = timedelta(days=7)  # how far back deletions are looked for
CONFIRMED = 20  # statuses asked for one by one in a round
WAITING = 1000  # events of a stream that wait to be read
OPEN = frozenset({"public"})
ENDING = 5.0  # seconds for a stream to end
GONE = (404, 410)


class MastodonSource:
    """One timeline."""

    def __init__(
        self,
        address: SourceAddress,
        settings: FollowSettings,
        stop: threading.Event,
        stored: Places,
    ):
        self._address = address
        self._settings = settings
        self._stop = stop
        self._stored = stored
        token = settings.tokens.get(address.host, "")
        self._rest = Rest(address.url(), stop, settings.allow_private, token, settings.pause)
        self._stream = SseReader(
            lambda: Rest(address.url(), stop, settings.allow_private, token), *self._streaming()
        )
        self._back: str | None = None  # the place up to which the recheck has come
        self._path = ""
        self._known = False  # it was there once

    def interrupt(self) -> None:
        """End what is under way, from another thread."""
        self._stream.interrupt()
        self._rest.interrupt()

    def close(self) -> None:
        """Close all connections."""
        self._stream.close()
        self._rest.close()

    def arrivals(self, cursor: str | None) -> Iterator[Arrival]:
        """What happens from the cursor on; without end."""
        self._stream.start()
        self._known = cursor is not None
        while not self._stop.is_set():
            for arrival in self._newer(cursor):
                self._known = True
                cursor = arrival.cursor
                yield arrival
            yield self._recheck()
            end = time.monotonic() + self._settings.every
            while (left := end - time.monotonic()) > 0 and not self._stop.is_set():
                yield self._streamed(min(left, 0.5))

    # ----- where -----

    def _timeline(self) -> tuple[str, dict[str, str]]:
        """The path of the timeline and its parameters."""
        kind, name = self._address.kind, self._address.name
        if kind == "account":
            if not self._path:
                found = dict_in(self._rest.get("/api/v1/accounts/lookup", acct=name))
                self._path = f"/api/v1/accounts/{id_at(place_of(found.get('id')))}/statuses"
            return self._path, {"exclude_reblogs": "true"}
        path = {"tags": f"/api/v1/timelines/tag/{name}", "lists": f"/api/v1/timelines/list/{name}"}
        local = {"local": "true"} if self._address.local else {}
        return path.get(kind, "/api/v1/timelines/public"), local

    def _streaming(self) -> tuple[str, dict[str, str]]:
        """The path of the stream and its parameters; an account has none."""
        kind, name = self._address.kind, self._address.name
        if kind == "tags":
            return "/api/v1/streaming/hashtag", {"tag": name}
        if kind == "lists":
            return "/api/v1/streaming/list", {"list": name}
        if kind == "public":
            return "/api/v1/streaming/public" + ("/local" if self._address.local else ""), {}
        return "", {}

    def _page(self, **bounds: str) -> list[dict[str, Any]]:
        """A page of the timeline, in order of ids; of an account that is gone an empty one."""
        try:
            path, parameters = self._timeline()
            page = self._rest.get(path, limit=PAGE, **parameters, **bounds)
        except FetchError as error:
            if self._known and self._address.kind == "account" and error.status in GONE:
                return []
            raise
        if not isinstance(page, list):
            raise FetchError("the timeline is not a list", self._rest.root + path)
        found = {}
        for status in page[: 2 * PAGE]:
            with suppress(DataError):
                found[place_of(dict_in(status).get("id"))] = status
        return [found[place] for place in sorted(found)]

    # ----- what -----

    def _newer(self, cursor: str | None) -> Iterator[Arrival]:
        """Pages from the cursor on; without one, the newest page."""
        for _ in range(PAGES):
            bounds = {} if cursor is None else {"min_id": cursor}
            page = self._page(**bounds)
            fresh = [one for one in page if cursor is None or _place(one) > place_of(cursor)]
            if page and not fresh:
                raise FetchError(f"it repeats what is older than {cursor}", self._rest.root)
            first, cursor = cursor is None, id_at(_place(fresh[-1])) if fresh else cursor or "0"
            yield self._arrival(fresh, cursor)
            if first or not fresh:
                return

    def _recheck(self) -> Arrival:
        """One page further back: what changed, what is new after all, what is gone."""
        bounds = {"max_id": id_at(self._back)} if self._back else {}
        page = [one for one in self._page(**bounds) if not self._back or _place(one) < self._back]
        first = _place(page[0]) if page and len(page) >= PAGE // 2 else ""
        last = self._back or "~"
        there = {_place(one) for one in page} | {self._back}
        missing = [place for place in self._stored(first, last) if place not in there]
        asked = random.sample(missing, min(len(missing), CONFIRMED))
        gone = [Removed(place=place) for place in asked if self._is_gone(place)]
        self._back = None if not first or _is_old(page[0]) else first
        arrival = self._arrival(page, None, again=True)
        return Arrival((*arrival.events, *gone), again=True)

    def _is_gone(self, place: str) -> bool:
        """Whether the server says so: that a page leaves something out means little."""
        try:
            status = dict_in(self._rest.get(f"/api/v1/statuses/{id_at(place)}"))
        except FetchError as error:
            if error.status in GONE:
                return True
            raise
        return self._wrote(status) is None

    def _streamed(self, seconds: float) -> Arrival:
        """What the stream told within so many seconds."""
        events: list[Wrote | Removed] = []
        latest = refused = 0
        for signal in self._stream.take(seconds, self._stop):
            try:
                if signal.name in ("update", "status.update"):
                    status = dict_in(json.loads(signal.data))
                    part = self._arrival([status], None, again=signal.name != "update")
                    events += [one for one in part.events if isinstance(one, Wrote | Removed)]
                    latest, refused = max(latest, part.latest), refused + part.refused
                elif signal.name == "delete":
                    events.append(Removed(place=place_of(signal.data.strip())))
            except (ValueError, RecursionError, DataError):
                refused += 1
        return Arrival(tuple(events), None, refused=refused, latest=latest)

    def _arrival(
        self, statuses: list[dict[str, Any]], cursor: str | None, again: bool = False
    ) -> Arrival:
        """Statuses as events; those seen `again` may have become what nobody wants."""
        events: list[Wrote | Removed] = []
        refused = latest = 0
        for status in statuses:
            try:
                wrote = self._wrote(status)
                if wrote is not None:
                    events.append(wrote)
                    latest = max(latest, microseconds(_created(status)))
                elif again:
                    events.append(Removed(place=_place(status)))
            except DataError:
                refused += 1
        return Arrival(tuple(events), cursor, refused=refused, latest=latest)

    def _wrote(self, status: dict[str, Any]) -> Wrote | None:
        """A status as a post; None where it is no use, or its author asks to be left out."""
        account = dict_in(status.get("account"))
        author = self._author(account)
        own = author.lower() in self._settings.accounts
        if status.get("reblog") or status.get("visibility", "public") not in OPEN:
            return None
        if not own and asks_to_be_left_out(account):
            return None
        tags = [text_in(dict_in(tag).get("name")) for tag in list_in(status.get("tags"))]
        content = text_in(status.get("content"))
        if len(content) > LONGEST_TEXT:
            raise DataError(f"a status of {len(content):,} characters")
        text = with_hashtags(html_text(content), tags[:100])
        if not self._settings.wants(text, [text_in(status.get("language"))]):
            return None
        created = _created(status).isoformat()
        place = _place(status)
        uri = text_in(status.get("uri")) or f"{self._address.host}/{id_at(place)}"
        return Wrote(uri[:1000], place, author, text, created)

    def _author(self, account: dict[str, Any]) -> str:
        name = text_in(account.get("acct"))[:500]
        if not name:
            raise DataError("a status without an author")
        return name if "@" in name else f"{name}@{self._address.host}"


def asks_to_be_left_out(account: dict[str, Any]) -> bool:
    """Whether an account does not want to be found: by its settings, or `#nobot` in its bio."""
    says_no = account.get("discoverable") is False or account.get("indexable") is False
    return (
        says_no
        or account.get("noindex") is True
        or NO_BOTS.search(html_text(text_in(account.get("note"))[:10_000])) is not None
    )


def _place(status: dict[str, Any]) -> str:
    return place_of(status.get("id"))


def _created(status: dict[str, Any]) -> datetime:
    try:
        return parse_time(status.get("created_at"), "start")
    except ValueError as error:
        raise DataError(str(error)) from None


def _is_old(status: dict[str, Any]) -> bool:
    """Whether a status is so old that nothing behind it is looked at again."""
    try:
        return _created(status) < datetime.now(UTC) - RECHECKED
    except DataError:
        return True


class SseReader:
    """A stream read in a thread of its own, as long as the server allows one."""

    def __init__(self, connect: Callable[[], Rest], path: str, parameters: dict[str, str]):
        self._connect = connect
        self._rest: Rest | None = None
        self._path = path
        self._parameters = parameters
        self._waiting: queue.Queue[Signal] = queue.Queue(WAITING)
        self._thread: threading.Thread | None = None
        self._again = 0.0  # by time.monotonic(): when to try again
        self._closed = False
        self._wait = 5.0

    def start(self) -> None:
        """Begin to read, where that makes sense."""
        running = self._thread is not None and self._thread.is_alive()
        if not self._path or self._closed or running or time.monotonic() < self._again:
            return
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def interrupt(self) -> None:
        """End it, from another thread."""
        self._closed = True
        if self._rest is not None:
            self._rest.interrupt()

    def close(self) -> None:
        """End it, and wait until it is over."""
        self.interrupt()
        if self._thread is not None:
            self._thread.join(ENDING)

    def take(self, seconds: float, stop: threading.Event) -> list[Signal]:
        """What came, or comes within so many seconds."""
        self.start()
        taken: list[Signal] = []
        if (self._thread is None or not self._thread.is_alive()) and self._waiting.empty():
            stop.wait(seconds)
            return taken
        with suppress(queue.Empty):
            taken.append(self._waiting.get(timeout=seconds))
            while len(taken) < WAITING:
                taken.append(self._waiting.get_nowait())
        return taken

    def _read(self) -> None:
        """Read until it ends; what does not fit is left out: the pages bring it later."""
        self._rest = self._connect()
        try:
            for signal in self._rest.stream(self._path, **self._parameters):
                self._wait = 5.0
                if signal.name:
                    with suppress(queue.Full):
                        self._waiting.put_nowait(signal)
                if self._closed:
                    return
        except Stopped:
            return
        except (FetchError, OSError) as error:
            status = getattr(error, "status", None)
            never = status is not None and 400 <= status < 500 and status != 429
            self._wait = 3600.0 if never else min(2 * self._wait, 600.0)
        finally:
            self._rest.close()
        self._again = time.monotonic() + self._wait
