"""Bluesky's streams: the firehose of a server or relay, and Jetstream."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from urllib.parse import urlencode

from hashnews.errors import DataError, FetchError
from hashnews.posts.archives.bluesky import POST
from hashnews.posts.networks.address import SourceAddress
from hashnews.posts.networks.events import Arrival, AuthorGone, FollowSettings, Removed, Wrote
from hashnews.posts.networks.frames import (
    RecordChange,
    StreamMessage,
    read_firehose,
    read_jetstream,
)
from hashnews.posts.networks.records import PROFILE, Profiles, find_own, uri_of, wrote
from hashnews.posts.networks.repository import all_posts
from hashnews.posts.networks.rest import Rest, RestSource
from hashnews.posts.networks.sockets import LARGEST_FRAME, gathered, open_socket

OVERLAP = 5_000_000  # microseconds: another server of Jetstream has another clock
Event = Wrote | Removed | AuthorGone


class StreamSource(RestSource):
    """One stream; after a break it goes on from the cursor."""

    def __init__(self, address: SourceAddress, settings: FollowSettings, stop: threading.Event):
        self._address = address
        self._settings = settings
        self._stop = stop
        self._is_jetstream = address.kind == "jetstream"
        pause = settings.pause / 10  # 3,000 requests in five minutes are allowed
        root = address.url(address.profiles)
        self._rest = Rest(root, stop, settings.allow_private, pause=pause)
        self._is_view = address.profiles != address.host
        self._profiles = Profiles(self._rest, self._is_view, settings.accounts)
        self._dismissed: set[str] = set()

    def arrivals(self, cursor: str | None) -> Iterator[Arrival]:
        """What happens from the cursor on; without end."""
        find_own(self._rest, self._settings)
        if not cursor and self._is_jetstream:
            cursor = str(time.time_ns() // 1000)
        with open_socket(self._url(cursor), self._settings.allow_private) as opened:
            yield Arrival((), cursor)
            while not self._stop.is_set():
                yield self._arrival(gathered(opened))

    def _url(self, cursor: str | None) -> str:
        at = {"cursor": cursor} if cursor and cursor.isdecimal() else {}
        root = self._address.url(scheme="ws")
        if not self._is_jetstream:
            return f"{root}/xrpc/com.atproto.sync.subscribeRepos?{urlencode(at)}"
        if at:
            at = {"cursor": str(max(0, int(at["cursor"]) - OVERLAP))}
        wanted = {"wantedCollections": [POST, PROFILE], "maxMessageSizeBytes": LARGEST_FRAME, **at}
        return f"{root}/subscribe?{urlencode(wanted, doseq=True)}"

    def _arrival(self, frames: list[str | bytes]) -> Arrival:
        """Frames as events; what cannot be read is counted, and the stream goes on."""
        read = read_jetstream if self._is_jetstream else read_firehose
        events: list[Event] = []
        cursor, note, refused, latest = None, "", 0, 0
        for frame in frames:
            try:
                message = read(frame)
                events += self._events(message)
            except DataError:
                refused += 1
                continue
            cursor, latest = message.cursor or cursor, max(latest, message.when)
            note = message.note or note
            if message.lost:
                cursor = ""  # from now on
        if self._is_jetstream and cursor:
            cursor = str(min(int(cursor), time.time_ns() // 1000))
        return Arrival(tuple(self._respected(events)), cursor, note, refused, latest)

    def _events(self, message: StreamMessage) -> list[Event]:
        events: list[Event] = []
        if message.gone:
            events.append(AuthorGone(message.did))
        if message.anew and not self._is_view:
            events += self._anew(message.did)
        for change in message.changes:
            events += self._changed(message.did, change)
        return events

    def _changed(self, did: str, change: RecordChange) -> list[Event]:
        if change.collection == PROFILE:
            if self._profiles.note(did, change.record or {}):
                return [AuthorGone(did)]
            self._dismissed.discard(did)
            return []
        if change.record is not None:
            if found := wrote(did, change.key, change.record, self._settings):
                return [found]
            if change.is_new:
                return []
        return [Removed(uri=uri_of(did, change.key))]

    def _anew(self, did: str) -> list[Event]:
        """An author's posts as they are now: something happened that the stream does not tell."""
        try:
            posts = list(all_posts(self._rest, did, self._settings))
        except FetchError as error:
            if error.status not in (400, 404):
                raise
            posts = []
        return [AuthorGone(did), *posts]

    def _respected(self, events: list[Event]) -> Iterator[Event]:
        """The events without the posts of those who ask to be left out."""
        silent = self._profiles.left_out({one.author for one in events if isinstance(one, Wrote)})
        for did in sorted(silent - self._dismissed):
            self._dismissed.add(did)
            yield AuthorGone(did)
        for event in events:
            if not (isinstance(event, Wrote) and event.author in silent):
                yield event
