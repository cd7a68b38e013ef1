"""Bluesky, asked page by page: an author's posts where they are kept, and the posts of a hashtag.

Read in the lexicons com.atproto.repo.listRecords, com.atproto.sync.getRepoStatus and
app.bsky.feed.searchPosts.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any

from hashnews.errors import DataError, FetchError
from hashnews.posts.archives.bluesky import POST
from hashnews.posts.archives.texts import dict_in, list_in, text_in
from hashnews.posts.networks.address import SourceAddress
from hashnews.posts.networks.events import (
    Arrival,
    FollowSettings,
    Places,
    Removed,
    Wrote,
    id_at,
    pauses,
    place_of,
)
from hashnews.posts.networks.records import (
    NoSuchAccount,
    Profiles,
    find_own,
    resolve,
    wrote,
)
from hashnews.posts.networks.rest import Rest, RestSource
from hashnews.records import parse_time
from hashnews.times import microseconds

PAGE = 100  # records
PAGES = 100  # read in one round
LIST = "/xrpc/com.atproto.repo.listRecords"
SEARCH = "/xrpc/app.bsky.feed.searchPosts"
SEARCHED = 10  # pages of a search, when all of them are read again
ALL_AGAIN = 10  # rounds between that
LAST = "~"  # after every place
FOR_MEMBERS = (401, 403)
NOT_TOLD = (301, 302, 307, 308, 400, 404, 501)  # whether a repository is there


def list_page(rest: Rest, did: str, **bounds: str) -> dict[str, object]:
    """A page of an author's posts, by their keys, in the order of keys."""
    answer = rest.get(LIST, repo=did, collection=POST, limit=PAGE, **bounds)
    found = {}
    for record in map(dict_in, list_in(dict_in(answer).get("records"))[: 2 * PAGE]):
        key = text_in(record.get("uri")).rpartition("/")[2]
        if key:
            found[key] = record.get("value")
    return {key: found[key] for key in sorted(found)}


def all_posts(rest: Rest, did: str, settings: FollowSettings) -> Iterator[Wrote]:
    """All posts of an author that are of use."""
    key = ""
    for _ in range(PAGES):
        page = list_page(rest, did, reverse="true", **({"cursor": key} if key else {}))
        fresh = {one: record for one, record in page.items() if one > key}
        for one, record in fresh.items():
            with suppress(DataError):
                if found := wrote(did, one, record, settings):
                    yield found
        if not fresh:
            return
        key = max(fresh)


class RepositorySource(RestSource):
    """What one server of Bluesky has of somebody or something."""

    def __init__(
        self,
        address: SourceAddress,
        settings: FollowSettings,
        stop: threading.Event,
        stored: Places,
    ):
        self._name = address.name
        self._settings = settings
        self._stop = stop
        self._stored = stored
        self._rest = Rest(address.url(), stop, settings.allow_private, pause=settings.pause)


class AuthorSource(RepositorySource):
    """The posts of one account, on the server that keeps them."""

    _back = ""  # the key up to which the recheck has come

    def arrivals(self, cursor: str | None) -> Iterator[Arrival]:
        """What happens from the cursor on; without end."""
        while not self._stop.is_set():
            try:
                find_own(self._rest, self._settings)
                did = resolve(self._rest, self._name)
                profiles = Profiles(self._rest, False, self._settings.accounts)
                silent = bool(profiles.left_out([did]))
                if not self._is_active(did):
                    what = f"it does not hold {self._name}: name the server that does"
                    raise NoSuchAccount(what, self._rest.root)
            except NoSuchAccount:
                if cursor is None:
                    raise
                silent = True
            if silent:
                yield Arrival(self._nothing(), cursor or "")
            else:
                for arrival in self._newer(did, cursor or ""):
                    cursor = arrival.cursor
                    yield arrival
                yield self._recheck(did)
            yield from pauses(self._stop, self._settings.every)

    def _is_active(self, did: str) -> bool:
        """Whether the account is there; a gate such as bsky.social may only list its posts."""
        try:
            answer = self._rest.get("/xrpc/com.atproto.sync.getRepoStatus", did=did)
            return dict_in(answer).get("active") is not False
        except FetchError as error:
            if error.status not in NOT_TOLD:
                raise
        try:
            list_page(self._rest, did)
        except FetchError as error:
            if error.status in (400, 404):
                return False
            raise
        return True

    def _nothing(self) -> tuple[Removed, ...]:
        return tuple(Removed(place=place) for place in self._stored("", LAST))

    def _newer(self, did: str, key: str) -> Iterator[Arrival]:
        """Pages from the key on."""
        for _ in range(PAGES):
            bounds = {"cursor": key} if key else {}
            page = list_page(self._rest, did, reverse="true", **bounds)
            fresh = {one: record for one, record in page.items() if one > key}
            if page and not fresh:
                raise FetchError("it repeats what is older than was asked for", self._rest.root)
            key = max(fresh, default=key)
            yield self._arrival(did, fresh)._replace(cursor=key)
            if not fresh:
                return

    def _recheck(self, did: str) -> Arrival:
        """One page further back: what changed and what is gone."""
        bounds = {"cursor": self._back} if self._back else {}
        page = list_page(self._rest, did, **bounds)
        page = {key: one for key, one in page.items() if not self._back or key < self._back}
        whole = len(page) < PAGE  # there is nothing behind it
        first = "" if whole else place_of(min(page))
        last = place_of(self._back) if self._back else LAST
        gone = [
            Removed(place=place)
            for place in self._stored(first, last)
            if id_at(place) not in page and id_at(place) != self._back
        ]
        self._back = "" if whole else min(page)
        arrival = self._arrival(did, page, again=True)
        return Arrival((*arrival.events, *gone), again=True)

    def _arrival(self, did: str, page: dict[str, object], again: bool = False) -> Arrival:
        events: list[Wrote | Removed] = []
        refused = latest = 0
        for key, record in page.items():
            try:
                found = wrote(did, key, record, self._settings)
            except DataError:
                refused += 1
                continue
            if found is not None:
                events.append(found._replace(place=place_of(key)))
                latest = max(latest, _created(found.created_at))
            elif again:
                events.append(Removed(place=place_of(key)))
        return Arrival(tuple(events), refused=refused, latest=latest)


class TagSource(RepositorySource):
    """The posts of a hashtag, as a view of the whole network finds them, the newest first."""

    @cached_property
    def _profiles(self) -> Profiles:
        return Profiles(self._rest, True, self._settings.accounts)

    def arrivals(self, cursor: str | None) -> Iterator[Arrival]:
        """What happens from the cursor on; without end."""
        find_own(self._rest, self._settings)
        rounds = 0
        while not self._stop.is_set():
            arrival = self._round(cursor or "", rounds % ALL_AGAIN == 0)
            cursor = arrival.cursor
            yield arrival
            rounds += 1
            yield from pauses(self._stop, self._settings.every)

    def _round(self, cursor: str, all_again: bool) -> Arrival:
        """The newest pages, down to what is known; what they leave out is gone."""
        views: dict[str, dict[str, Any]] = {}
        order: list[str] = []
        bounds, reached, refused = dict[str, str](), False, 0
        for _ in range(SEARCHED):
            try:
                answer = dict_in(self._rest.get(
                    SEARCH, q=f"#{self._name}", tag=self._name, sort="latest", limit=PAGE, **bounds
                ))  # fmt: skip
            except FetchError as error:
                if bounds and error.status in FOR_MEMBERS:
                    break  # strangers see the first page only, as on Bluesky's own servers
                raise
            before = len(views)
            for view in map(dict_in, list_in(answer.get("posts"))[: 2 * PAGE]):
                try:
                    place = _search_place(view)
                except DataError:
                    refused += 1
                    continue
                order.append(place)
                views[place] = view
            token = text_in(answer.get("cursor"))[:1000]
            reached = reached or not token or bool(cursor and order and order[-1] <= cursor)
            if len(views) == before or not token or (reached and not all_again):
                break
            bounds = {"cursor": token}
        found = self._arrival(views, cursor)
        gone = []
        if order and order == sorted(order, reverse=True):  # else nobody knows what is left out
            listed = self._stored(order[-1], order[0])
            gone = [Removed(place=place) for place in listed if place not in views]
        missed = "more was posted than a search shows: some posts are missing"
        return found._replace(
            events=(*found.events, *gone), refused=found.refused + refused,
            note=missed if cursor and not reached else "", again=bool(cursor),
        )  # fmt: skip

    def _arrival(self, views: dict[str, dict[str, Any]], cursor: str) -> Arrival:
        events: list[Wrote | Removed] = []
        refused = latest = 0
        for place, view in sorted(views.items()):
            did = dict_in(view.get("author")).get("did")
            key = text_in(view.get("uri")).rpartition("/")[2]
            try:
                found = wrote(did, key, view.get("record"), self._settings)
            except DataError:
                refused += 1
                continue
            events.append(found._replace(place=place) if found else Removed(place=place))
            if found and place > cursor:
                latest = max(latest, _created(found.created_at))
        silent = self._profiles.left_out(
            {event.author for event in events if isinstance(event, Wrote)}
        )
        kept = tuple(
            Removed(place=one.place) if isinstance(one, Wrote) and one.author in silent else one
            for one in events
        )
        newest = max([cursor, *views]) or "0"
        return Arrival(kept, newest, refused=refused, latest=latest)


def _search_place(view: dict[str, Any]) -> str:
    """Where a post stands in a search: by its time. It does not name its author."""
    uri = text_in(view.get("uri"))
    digest = hashlib.blake2b(uri.encode("utf-8", "replace"), digest_size=8).hexdigest()
    moment = _created(text_in(dict_in(view.get("record")).get("createdAt")))
    if not uri or moment <= 0:
        raise DataError("a post without a uri or a time")
    return f"{moment:020d}{digest}"


def _created(text: str) -> int:
    try:
        return microseconds(parse_time(text, "start"))
    except ValueError:
        return 0
