"""Ways in, for the page: archives, feeds, networks, what arrives, and an author forgotten.

All of it needs a key that may write. Nothing leaves the machine but requests to the feeds and
networks that somebody adds here, and those only where the service was started with `--fetch`.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request

from hashnews.errors import HashNewsError
from hashnews.service.api import ASKING, KEY, LOOKING_UP
from hashnews.service.gate import Gate
from hashnews.service.pool import Pool
from hashnews.service.problems import described, refusal
from hashnews.service.process import CallFailed, Process, ProcessDied
from hashnews.service.uploads import LARGEST_ARCHIVE, Uploads
from hashnews.service.ways_schemas import (
    AddedWay,
    Address,
    ArchiveState,
    BegunUpload,
    FeedSearch,
    ForgottenAuthor,
    GivenArchive,
    GivenAuthor,
    GivenWay,
    PausedWay,
    RemovedWay,
    WaysState,
)

WAYS = "/v1/ways"
PARTS = f"{WAYS}/parts"
FINDING = 120.0  # seconds to find the feed of a site
PATIENCE = 0.6  # of the time for a request: then the search goes on by itself
SEARCHES = 5  # that found nothing and are still told
MOST_SEARCHES = 4  # at once: each is a process
BYTES = {
    "requestBody": {
        "required": True,
        "content": {
            "application/octet-stream": {
                "schema": {"type": "string", "format": "binary"}, "example": "bytes",
            }
        },
    }
}  # fmt: skip
NETWORKS = ("mastodon://", "bluesky://")
NOT_FETCHING = "this service fetches nothing: start it with --fetch"

Upload = Annotated[str, Query(pattern="^[0-9a-f]{16}$", description="The id of the upload.",
                              examples=["00f1e2d3c4b5a697"])]  # fmt: skip
Begin = Annotated[int, Query(ge=0, le=LARGEST_ARCHIVE, description="Where the part begins.",
                             examples=[0])]  # fmt: skip


def add_ways(app: FastAPI, pool: Pool, gate: Gate) -> None:
    """All ways in."""
    route: dict[str, Any] = {
        "tags": ["ways in"],
        "dependencies": [Depends(gate.may_write), Depends(KEY)],
    }
    asking = {**route, "responses": ASKING | described(404, 409)}
    uploads = Uploads(pool.settings.news)
    searches: dict[str, str | None] = {}  # sites, and why no feed was found
    at_work: dict[str, asyncio.Task[Any]] = {}  # the search for each site

    async def ask(what: str, *arguments: Any) -> Any:
        told = await pool.ask_news("ways", what, *arguments)
        if "refused" in told:
            raise refusal(422, told["refused"])
        return told

    def archive_states() -> list[ArchiveState]:
        return [
            ArchiveState(upload=identifier, **state._asdict())
            for identifier, state in uploads.states().items()
        ]

    @app.get(WAYS, **route, responses=LOOKING_UP)
    async def ways() -> WaysState:
        """List the feeds, the sources, the archives sent of late, and what arrived."""
        told = await ask("state")
        looked = [FeedSearch(address=site, note=note) for site, note in searches.items()]
        return WaysState(
            fetching=pool.settings.fetch, archives=archive_states(), searches=looked, **told
        )

    @app.post(WAYS, **asking)
    async def add_way(given: GivenWay) -> AddedWay:
        """Follow a site, a feed or a source; the first articles and posts come within a minute."""
        if not pool.settings.fetch:
            raise refusal(409, NOT_FETCHING)
        address = given.address.strip()
        if address.startswith(NETWORKS):
            private = pool.settings.allow_private
            told = await ask("add_source", address, given.user, private)
        else:
            search = _search(address)
            await asyncio.wait([search], timeout=PATIENCE * pool.settings.seconds)
            if not search.done():
                return AddedWay(address=address, title="", added=False, searching=True)
            told = search.result()
            if "refused" in told:
                searches.pop(address, None)
                raise refusal(422, told["refused"])
        return AddedWay.model_validate(told)

    def _search(site: str) -> asyncio.Task[Any]:
        """Look for the feed of a site, once at a time; though the client may not wait for it."""
        if site not in at_work:
            if len(at_work) >= MOST_SEARCHES:
                raise refusal(409, f"{MOST_SEARCHES} sites are looked at: wait for one to end")
            at_work[site] = asyncio.create_task(_find_and_add(site))
            at_work[site].add_done_callback(lambda _: at_work.pop(site))
        return at_work[site]

    async def _find_and_add(site: str) -> Any:
        searches[site] = None
        try:
            found = await find_feed(site, pool.settings.allow_private)
        except (HashNewsError, ProcessDied, CallFailed):
            found = {"refused": "its feed could not be looked for: try again"}
        if "refused" in found:
            searches[site] = found["refused"]
            for old in list(searches)[:-SEARCHES]:
                del searches[old]
            return found
        searches.pop(site, None)
        return await pool.ask_news("ways", "add_feed", found["url"], found["title"])

    @app.post(f"{WAYS}/pause", **asking)
    async def pause_way(given: PausedWay) -> PausedWay:
        """Let a feed or a source rest, or go on: a source resumes where it was."""
        return PausedWay.model_validate(await ask("pause", given.address, given.paused))

    @app.delete(WAYS, **asking)
    async def remove_way(
        address: Annotated[Address, Query(description="The address of a feed or a source.",
                                          examples=["https://example.org/feed.xml"])],
    ) -> RemovedWay:  # fmt: skip
        """Follow it no more. Articles of a feed stay; posts that only a source brought go."""
        return RemovedWay.model_validate(await ask("remove", address))

    @app.post(f"{WAYS}/forget", **asking)
    async def forget_author(given: GivenAuthor) -> ForgottenAuthor:
        """Forget all posts of an author, and remember none of theirs any more."""
        return ForgottenAuthor.model_validate(await ask("forget", given.author))

    @app.post(f"{WAYS}/archives", **asking)
    async def begin_archive(given: GivenArchive) -> BegunUpload:
        """Announce what somebody downloaded of themselves: Mastodon, X, Bluesky and others."""
        begun = uploads.begin(given.name, given.size, given.user, given.replies)
        return BegunUpload(upload=begun)

    @app.put(PARTS, openapi_extra=BYTES, **asking)
    async def send_part(upload: Upload, at: Begin, request: Request) -> ArchiveState:
        """Send a part of an archive, as bytes; with the last one reading begins."""
        state = await uploads.take(upload, at, await request.body())
        return ArchiveState(upload=upload, **state._asdict())


def make_feed_finder(allow_private: bool) -> Any:
    """Made in a process of its own: a site may be slow, and its page may be anything."""
    from hashnews.service.feed_process import FeedFinder

    return FeedFinder(allow_private)


async def find_feed(site: str, allow_private: bool) -> dict[str, str]:
    """The feed of a site; `{"refused": why}` where none is found."""
    process = Process(make_feed_finder, allow_private)
    try:
        await process.ready(FINDING)
        found: dict[str, str] = await process.call("find", site, seconds=FINDING)
        return found
    finally:
        await process.close()
