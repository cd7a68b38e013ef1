"""Bluesky's records as posts, and whose authors ask to be left out.

Read in atproto's lexicons: app.bsky.feed.post (`langs`), app.bsky.actor.profile and
com.atproto.label.defs (`!no-unauthenticated`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Any

from hashnews.errors import DataError, FetchError
from hashnews.posts.archives.bluesky import POST, post_of
from hashnews.posts.archives.texts import dict_in, list_in, text_in, with_hashtags
from hashnews.posts.networks.events import LONGEST_TEXT, NO_BOTS, FollowSettings, Wrote
from hashnews.posts.networks.rest import Rest

PROFILE = "app.bsky.actor.profile"
DID = re.compile(r"did:[a-z]{1,20}:[A-Za-z0-9._:%-]{1,200}")
KEY = re.compile(r"[A-Za-z0-9._:~-]{1,200}")
LEFT_OUT = "!no-unauthenticated"
ASKED_AT_ONCE = 25
KNOWN = 200_000  # authors


def uri_of(did: object, key: object) -> str:
    """The name of a post in the whole network."""
    if not isinstance(did, str) or not DID.fullmatch(did):
        raise DataError(f"{str(did)[:40]!r} is not a DID")
    if not isinstance(key, str) or not KEY.fullmatch(key):
        raise DataError(f"{str(key)[:40]!r} is not the key of a record")
    return f"at://{did}/{POST}/{key}"


def wrote(did: object, key: object, record: object, settings: FollowSettings) -> Wrote | None:
    """A record as a post; None where it is no use."""
    found = post_of({"uri": uri_of(did, key), "value": dict_in(record)}, replies=True)
    if found is None:
        return None
    if len(found.text) > LONGEST_TEXT:
        raise DataError(f"a post of {len(found.text):,} characters")
    text = with_hashtags(found.text, [tag[:640] for tag in found.tags[:100]])
    languages = [text_in(one) for one in list_in(dict_in(record).get("langs"))]
    if not settings.wants(text, languages):
        return None
    return Wrote(found.id, "", str(did), text, text_in(found.created_at))


def asks_to_be_left_out(profile: dict[str, Any]) -> bool:
    """Whether a profile, as a record or as a view of it, says so: by a label, or in its words."""
    labels = profile.get("labels")
    listed = list_in(labels) or list_in(dict_in(labels).get("values"))
    return (
        any(dict_in(label).get("val") == LEFT_OUT for label in listed)
        or NO_BOTS.search(text_in(profile.get("description"))[:10_000]) is not None
    )


class Profiles:
    """Who asks to be left out, asked once per author: of the server that knows them."""

    def __init__(self, rest: Rest, is_view: bool, own: Collection[str]):
        self._rest = rest
        self._is_view = is_view  # a view of the whole network answers for 25 at once
        self._own = own
        self._known: dict[str, bool] = {}

    def note(self, did: str, profile: dict[str, Any]) -> bool:
        """Take note of what an author says now; returns whether they ask to be left out."""
        if len(self._known) >= KNOWN:
            self._known.clear()
        self._known[did] = asks_to_be_left_out(profile)
        return self._known[did] and did.lower() not in self._own

    def left_out(self, authors: Iterable[str]) -> set[str]:
        """Those of the authors who ask to be left out."""
        asked = {did for did in authors if did.lower() not in self._own}
        unknown = sorted(did for did in asked if did not in self._known)
        if self._is_view:
            for start in range(0, len(unknown), ASKED_AT_ONCE):
                self._ask_view(unknown[start : start + ASKED_AT_ONCE])
        else:
            for did in unknown:
                self._ask_server(did)
        return {did for did in asked if self._known.get(did)}

    def _ask_view(self, some: list[str]) -> None:
        found = self._rest.get("/xrpc/app.bsky.actor.getProfiles", actors=some)
        answers = {
            text_in(profile.get("did")): profile
            for profile in map(dict_in, list_in(dict_in(found).get("profiles")))
        }
        for did in some:
            self.note(did, answers.get(did, {}))

    def _ask_server(self, did: str) -> None:
        try:
            found = self._rest.get(
                "/xrpc/com.atproto.repo.getRecord", repo=did, collection=PROFILE, rkey="self"
            )
        except FetchError as error:
            if error.status not in (400, 404):  # there is no such record
                raise
            found = {}
        self.note(did, dict_in(dict_in(found).get("value")))


def find_own(rest: Rest, settings: FollowSettings) -> None:
    """Add the DIDs of one's own accounts, which were named by their handles."""
    for account, name in list(settings.accounts.items()):
        if not account.startswith("did:") and "@" not in account and "." in account:
            with suppress(NoSuchAccount):
                settings.accounts[resolve(rest, account).lower()] = name


class NoSuchAccount(FetchError):
    """Nobody has this name, as far as the server knows."""


def resolve(rest: Rest, account: str) -> str:
    """The DID of an account."""
    if account.startswith("did:"):
        return account
    try:
        answer = rest.get("/xrpc/com.atproto.identity.resolveHandle", handle=account)
    except FetchError as error:
        if error.status in (400, 404):
            raise NoSuchAccount(f"there is no {account} here", error.url, error.status) from None
        raise
    return uri_of(dict_in(answer).get("did"), "self").split("/")[2]
