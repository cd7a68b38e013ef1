"""The interface under /v1: what can be asked, added and looked up."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Path, Query, Response
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer

from hashnews import __version__
from hashnews.records import Answer, Article, Post, parse_time
from hashnews.service.examples import ANSWER, ARTICLE
from hashnews.service.gate import Gate
from hashnews.service.pool import Pool
from hashnews.service.problems import STARTING, described, not_now, refusal
from hashnews.service.queue import Ask
from hashnews.service.schemas import (
    AddedArticles,
    Answers,
    AskedPost,
    AskedPosts,
    Context,
    DeletedPosts,
    Feeds,
    GivenArticles,
    GivenPosts,
    Health,
    Ready,
    RememberedPosts,
    Trends,
)
from hashnews.service.settings import MOST_SUGGESTIONS

KEY = HTTPBearer(
    auto_error=False, scheme_name="key", description="A key that the service was started with."
)
Most = Annotated[
    int,
    Query(ge=1, le=MOST_SUGGESTIONS, description="How many suggestions at most.", examples=[5]),
]
Least = Annotated[
    float,
    Query(ge=0, le=1, description="Only suggestions of this score or more.", examples=[0.05]),
]
WithModel = Annotated[
    bool,
    Query(
        description="Ask the language model, too, if the service has one: the answer waits for it.",
        examples=[False],
    ),
]
Moment = Annotated[
    str | None,
    Query(description="A time or a day; now, if left out.", examples=["2020-05-29T20:00:00Z"]),
]
MostEntities = Annotated[
    int, Query(ge=1, le=100, description="How many entities at most.", examples=[12])
]
Identifier = Annotated[str, Path(description="Its id; it may hold slashes.", examples=["s001"])]
Tags = list[str | Enum]
SUGGEST: Tags = ["suggest"]
NEWS: Tags = ["news"]
POSTS: Tags = ["posts"]
SERVICE: Tags = ["service"]
LOOKING_UP = described(401, 403, 421, 422, 429, 503, 504)  # the gate and the pool may say these
ASKING = LOOKING_UP | described(400, 408, 413)
FIGURES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The figures",
        "content": {
            "text/plain": {"schema": {"type": "string"}, "example": "hashnews_articles 150.0"}
        },
    }
}


def _json(content: bytes) -> Response:
    """JSON as the process that made it wrote it."""
    return Response(content, media_type="application/json")


def example(shown: object) -> dict[int | str, dict[str, Any]]:
    """An answer of a record, which has no example of its own."""
    return {200: {"content": {"application/json": {"example": shown}}}}


def add_interface(app: FastAPI, pool: Pool, gate: Gate) -> None:
    """All of it; straight onto the app, whose routes then know their whole paths."""
    writing = [Depends(gate.may_write), Depends(KEY)]
    _asking(app, pool)
    _looking_up(app, pool)
    _adding(app, pool, writing)
    _remembering(app, pool, writing)
    _state(app, pool)


def _asking(app: FastAPI, pool: Pool) -> None:
    async def answers(posts: Sequence[Post], n: int, least: float, llm: bool) -> list[bytes]:
        proposed = await pool.proposed(posts) if llm else [() for _ in posts]
        asked = [Ask(post, n, least, some) for post, some in zip(posts, proposed, strict=True)]
        return await pool.ask("suggest", asked)

    @app.post(
        "/v1/suggest", response_model=Answer, tags=SUGGEST, responses=example(ANSWER) | ASKING
    )
    async def suggest(
        post: AskedPost, n: Most = 5, min_score: Least = 0.0, llm: WithModel = True
    ) -> Response:
        """Suggest hashtags for a post; one without `created_at` counts as written now."""
        (answer,) = await answers([post], n, min_score, llm)
        return _json(answer)

    @app.post("/v1/suggest/batch", response_model=Answers, tags=SUGGEST, responses=ASKING)
    async def suggest_batch(
        asked: AskedPosts, n: Most = 5, min_score: Least = 0.0, llm: WithModel = True
    ) -> Response:
        """Suggest hashtags for several posts; the answers come in the same order."""
        told = await answers(asked.posts, n, min_score, llm)
        return _json(b'{"answers":[' + b",".join(told) + b"]}")

    @app.post("/v1/retrieve", response_model=Context, tags=SUGGEST, responses=ASKING)
    async def retrieve(post: AskedPost) -> Response:
        """Find the news before a post, and the context words drawn from it."""
        (context,) = await pool.ask("retrieve", [Ask(post)])
        return _json(context)


def _looking_up(app: FastAPI, pool: Pool) -> None:
    @app.get("/v1/trends", response_model=Trends, tags=NEWS, responses=LOOKING_UP)
    async def trends(at: Moment = None, n: MostEntities = 20) -> Response:
        """List the entities on the rise, with the articles a day that name them."""
        try:
            moment = None if at is None else parse_time(at, bare_day="utc")
        except ValueError as error:
            problem = {"loc": ("query", "at"), "msg": str(error)}
            raise RequestValidationError([problem]) from None
        return _json(await pool.ask_news("trends", moment, n))

    @app.get(
        "/v1/articles/{identifier:path}",
        response_model=Article,
        tags=NEWS,
        responses=example(ARTICLE) | described(404) | LOOKING_UP,
    )
    async def article(identifier: Identifier) -> Response:
        """Give an article, whole."""
        found = await pool.ask_news("article", identifier)
        if found is None:
            raise refusal(404, "there is no article of this id")
        return _json(found)

    @app.get("/v1/feeds", tags=NEWS, responses=LOOKING_UP)
    async def feeds() -> Feeds:
        """List the feeds of the store and how they are; needs a key that may write, if any does."""
        found = await pool.ask_news("feeds")
        every = pool.settings.every
        return Feeds(fetching=pool.settings.fetch, every_seconds=every, feeds=found)


def _adding(app: FastAPI, pool: Pool, writing: list[Any]) -> None:
    @app.post("/v1/news", tags=NEWS, responses=ASKING, dependencies=writing)
    async def add_news(given: GivenArticles) -> AddedArticles:
        """Add articles: when this answers they are on the disk, a second later searchable."""
        return AddedArticles.model_validate(await pool.ask_news("add", given.articles))


def _remembering(app: FastAPI, pool: Pool, writing: list[Any]) -> None:
    @app.post("/v1/posts", tags=POSTS, responses=ASKING, dependencies=writing)
    async def add_posts(given: GivenPosts) -> RememberedPosts:
        """Remember posts with hashtags; one whose id is known changes nothing."""
        return RememberedPosts.model_validate(await pool.ask_news("add_posts", given.posts))

    @app.delete(
        "/v1/posts/{identifier:path}",
        tags=POSTS,
        responses=described(404) | LOOKING_UP,
        dependencies=writing,
    )
    async def delete_post(identifier: Identifier) -> DeletedPosts:
        """Forget a post, as when its author deleted it."""
        deleted = await pool.ask_news("delete_post", identifier)
        if not deleted:
            raise refusal(404, "there is no post of this id")
        return DeletedPosts(deleted=deleted)


def _state(app: FastAPI, pool: Pool) -> None:
    """How the service is: for machines that watch over it."""

    @app.get("/health", tags=SERVICE, responses=described(421, 504))
    async def health() -> Health:
        """Say that the service runs."""
        return Health(status="ok", version=__version__)

    @app.get("/ready", tags=SERVICE, responses=described(421, 503, 504))
    async def ready() -> Ready:
        """Say that the service can answer, and from which news."""
        if not pool.ready or not any(slot.process for slot in pool.slots):
            raise not_now(STARTING)
        return Ready(
            status="ready", version=__version__, **pool.news._asdict(),
            sample=pool.settings.news is None, llm=pool.llm is not None,
        )  # fmt: skip

    @app.get(
        "/metrics", tags=SERVICE, response_class=Response, responses=FIGURES | described(421, 504)
    )
    async def metrics() -> Response:
        """Figures, in the text format of Prometheus."""
        return Response(pool.metrics.text(), media_type="text/plain; version=0.0.4")
