"""Where the hubs of feeds call (WebSub): to ask whether we asked them, and to tell of news.

They have no key. They call an address that only they were told, and sign what they send.
"""

from __future__ import annotations

from fastapi import FastAPI, Query, Request, Response

from hashnews.service.pool import Pool
from hashnews.service.problems import refusal
from hashnews.service.settings import CALLBACK

LONGEST = 1000  # characters of a challenge


def add_websub(app: FastAPI, pool: Pool) -> None:
    """Both calls, where this service can be reached from outside."""
    if not pool.settings.public_url:
        return

    @app.get(CALLBACK, include_in_schema=False)
    async def confirm(
        name: str,
        mode: str = Query(alias="hub.mode"),
        topic: str = Query(alias="hub.topic"),
        challenge: str = Query("", alias="hub.challenge", max_length=LONGEST),
        lease: int = Query(0, alias="hub.lease_seconds", ge=0, le=1 << 31),
    ) -> Response:
        """Whether we want what a hub believes that we asked for."""
        if not await pool.ask_news("websub", "answered", name, mode, topic, lease):
            raise refusal(404, "nobody here asked for that")
        return Response(challenge, media_type="text/plain")

    @app.post(CALLBACK, include_in_schema=False)
    async def hear(name: str, request: Request) -> Response:
        """Something new; nothing of it is believed but who sent it."""
        if not await pool.ask_news("websub", "is_known", name):  # before anything is read
            raise refusal(410, "nobody here asked for that any more")
        signature = request.headers.get("x-hub-signature", "")
        await pool.ask_news("websub", "is_news", name, signature, await request.body())
        return Response(status_code=202)  # the standard's answer, also to what is not signed
