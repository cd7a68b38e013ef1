"""What ways in take and give."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from hashnews.service.examples import shown
from hashnews.service.schemas import FeedState
from hashnews.service.settings import LONGEST_NAME, LONGEST_URL
from hashnews.service.uploads import LARGEST_ARCHIVE

Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
Address = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_URL)]


class GivenArchive(BaseModel):
    """An archive that will be sent in parts."""

    model_config = shown({"name": "outbox.json", "size": 20480, "user": "ann", "replies": False})

    name: Name
    """What the file is called."""
    size: int = Field(ge=1, le=LARGEST_ARCHIVE)
    """Its bytes."""
    user: Name | None = None
    """Whose posts they are; as the archive says, if left out."""
    replies: bool = False
    """Whether replies are taken, too."""


class BegunUpload(BaseModel):
    """Where the parts of an archive go."""

    model_config = shown({"upload": "00f1e2d3c4b5a697"})

    upload: str
    """The id to send its parts with."""


class ArchiveState(BaseModel):
    """How far an archive is."""

    model_config = shown(
        {
            "upload": "00f1e2d3c4b5a697",
            "name": "outbox.json",
            "state": "done",
            "done": 1.0,
            "read": 120,
            "added": 80,
            "known": 0,
            "forgotten": 0,
            "skipped": 0,
            "is_named": True,
            "note": "",
        }
    )

    upload: str
    """Its id."""
    name: str
    """What the file is called."""
    state: str
    """adding, done or failed."""
    done: float
    """The share of it that was read."""
    read: int
    """Posts read so far."""
    added: int
    """Posts remembered."""
    known: int
    """Posts that were there already."""
    forgotten: int
    """Posts too old to be remembered."""
    skipped: int
    """What could not be read."""
    is_named: bool
    """Whether somebody says whose posts they are."""
    note: str
    """What went wrong, if something did."""


class GivenWay(BaseModel):
    """A feed or a source to follow."""

    model_config = shown({"address": "https://example.org/news", "user": "ann"})

    address: Address
    """A site, the address of a feed, or a source such as mastodon://mastodon.social/tags/sourdough."""
    user: Name | None = None
    """Of one's own account: the name its posts are remembered under."""


class AddedWay(BaseModel):
    """What is followed now."""

    model_config = shown(
        {
            "address": "https://example.org/feed.xml",
            "title": "Example News",
            "added": True,
            "searching": False,
        }
    )

    address: str
    """Its address."""
    title: str
    """What a feed is called."""
    added: bool
    """Whether it is new."""
    searching: bool = False
    """Whether the feed of a slow site is still looked for."""


class FeedSearch(BaseModel):
    """A site whose feed is looked for, or was not found."""

    model_config = shown({"address": "https://example.org", "note": None})

    address: str
    """The site."""
    note: str | None
    """Why no feed was found; none while it is looked for."""


class PausedWay(BaseModel):
    """A feed or source, and whether it rests."""

    model_config = shown({"address": "https://example.org/feed.xml", "paused": True})

    address: Address
    """Its address."""
    paused: bool
    """Whether it is to rest."""


class RemovedWay(BaseModel):
    """A feed or source that is followed no more."""

    model_config = shown({"address": "https://example.org/feed.xml", "forgotten": 0})

    address: str
    """Its address."""
    forgotten: int
    """Posts that only it had brought, and that went with it."""


class GivenAuthor(BaseModel):
    """Somebody of whom nothing shall be known."""

    model_config = shown({"author": "ann@mastodon.social"})

    author: Name
    """ann@mastodon.social, a DID, or the name posts are remembered under."""


class ForgottenAuthor(BaseModel):
    """How much was known."""

    model_config = shown({"forgotten": 12})

    forgotten: int
    """Posts that went."""


class NetworkSource(BaseModel):
    """A source on a network and how it fares."""

    model_config = shown(
        {
            "address": "mastodon://mastodon.social/tags/sourdough",
            "state": "following",
            "paused": False,
            "posts": 210,
            "removed": 3,
            "rate": 0.2,
            "error": None,
            "seen": "2026-11-17T18:00:00Z",
        }
    )

    address: str
    """Its address."""
    state: str
    """connecting, following, waiting, failed, stopped or paused."""
    paused: bool
    """Whether it rests."""
    posts: int
    """Posts it brought."""
    removed: int
    """Posts deleted there, and so here."""
    rate: float
    """Posts a second, of late."""
    error: str | None
    """What went wrong last."""
    seen: str | None
    """The last sign of life."""


class Arrived(BaseModel):
    """What one source brought within a minute."""

    model_config = shown(
        {
            "at": "2026-11-17T18:00:00Z",
            "source": "outbox.json",
            "kind": "posts",
            "came": 80,
            "went": 0,
            "refused": 0,
        }
    )

    at: str
    """The minute."""
    source: str
    """A feed, a network or a file."""
    kind: str
    """articles or posts."""
    came: int
    """How many came."""
    went: int
    """How many went."""
    refused: int
    """How many could not be used."""


class WaysState(BaseModel):
    """All ways in, and what came by them."""

    model_config = shown(
        {
            "fetching": True,
            "posts": 290,
            "authors": 41,
            "feeds": [],
            "searches": [],
            "sources": [],
            "archives": [],
            "arrivals": [],
        }
    )

    fetching: bool
    """Whether feeds and networks are visited at all."""
    posts: int
    """Posts that are remembered."""
    authors: int
    """Of how many authors."""
    feeds: list[FeedState]
    """The feeds."""
    searches: list[FeedSearch]
    """Sites whose feeds are looked for."""
    sources: list[NetworkSource]
    """The sources on networks."""
    archives: list[ArchiveState]
    """Archives that were sent of late."""
    arrivals: list[Arrived]
    """What arrived, the newest first."""
