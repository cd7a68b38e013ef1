"""The HTTP interface."""

from __future__ import annotations

import hmac
from functools import partial
from importlib import resources
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from hashnews import __version__
from hashnews.records import Answer, Article, parse_time
from hashnews.service.middleware import Middleware
from hashnews.service.pool import Pool
from hashnews.service.problems import (
    FULL,
    STARTING,
    ErrorAnswer,
    answer_problems,
    not_now,
    refusal,
)
from hashnews.service.queue import Ask
from hashnews.service.schemas import (
    AddedArticles,
    Answers,
    AskedPost,
    AskedPosts,
    Context,
    GivenArticles,
    Health,
    Ready,
    Trends,
)
from hashnews.service.settings import (
    LARGEST_BATCH,
    LARGEST_NEWS,
    MOST_SUGGESTIONS,
    ServiceSettings,
)

Most = Annotated[int, Query(ge=1, le=MOST_SUGGESTIONS, description="How many suggestions at most.")]
Least = Annotated[float, Query(ge=0, le=1, description="Only suggestions of this score or more.")]
KEY = HTTPBearer(auto_error=False, description="The key the service was started with.")
WORK = ("/suggest", "/retrieve", "/trends", "/articles/", "/news")
QUEUED = {"/suggest", "/suggest/batch", "/retrieve"}
PAGE = resources.files("hashnews.service") / "page"


def create_app(pool: Pool) -> ASGIApp:
    """The service: its endpoints and its page, behind the middleware."""
    app = FastAPI(
        title="HashNews",
        version=__version__,
        summary="Hashtags for microblog posts, suggested from the news published before them.",
        docs_url=None,  # the usual ones load scripts from elsewhere
        redoc_url=None,
    )
    answer_problems(app)
    _work(app, pool)
    _writing(app, pool)
    _state(app, pool)
    _page(app)
    largest = {"/suggest/batch": LARGEST_BATCH, "/news": LARGEST_NEWS}
    return Middleware(
        app, pool.metrics, pool.settings.seconds, largest, partial(_turned_away, pool)
    )


def _turned_away(pool: Pool, path: str, headers: Headers) -> HTTPException | None:
    """Why a request need not even be read: no key, still starting, too much at once."""
    if path == "/news" and (no := _may_not_write(pool.settings, headers)) is not None:
        return no
    if not pool.ready and path.startswith(WORK):
        return not_now(STARTING)
    if path in QUEUED and len(pool.queue) >= pool.queue.limit:
        return not_now(FULL)
    return None


def _may_not_write(settings: ServiceSettings, headers: Headers) -> HTTPException | None:
    """The comparison takes the same time for every wrong key."""
    if settings.key is None or settings.news is None:
        return refusal(403, "this service is read only: start it with --news and a key")
    scheme, _, key = headers.get("authorization", "").partition(" ")
    right = hmac.compare_digest(key.encode("utf-8", "surrogateescape"), settings.key.encode())
    if scheme.lower() == "bearer" and right:
        return None
    challenge = {"WWW-Authenticate": "Bearer"}
    return refusal(401, "send the key: Authorization: Bearer ...", challenge)


def _errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": ErrorAnswer} for status in statuses}


ASKING = _errors(400, 408, 413, 422, 503, 504)
LOOKING_UP = _errors(422, 503, 504)


def _json(content: bytes) -> Response:
    """JSON as the process that made it wrote it."""
    return Response(content, media_type="application/json")


def _work(app: FastAPI, pool: Pool) -> None:
    @app.post("/suggest", response_model=Answer, responses=ASKING)
    async def suggest(post: AskedPost, n: Most = 5, min_score: Least = 0.0) -> Response:
        """Suggest hashtags for a post; one without `created_at` counts as written now."""
        (answer,) = await pool.ask("suggest", [Ask(post, n, min_score)])
        return _json(answer)

    @app.post("/suggest/batch", response_model=Answers, responses=ASKING)
    async def suggest_batch(asked: AskedPosts, n: Most = 5, min_score: Least = 0.0) -> Response:
        """Suggest hashtags for several posts."""
        answers = await pool.ask("suggest", [Ask(post, n, min_score) for post in asked.posts])
        return _json(b'{"answers":[' + b",".join(answers) + b"]}")

    @app.post("/retrieve", response_model=Context, responses=ASKING)
    async def retrieve(post: AskedPost) -> Response:
        """Find the news before a post, and the context words drawn from it."""
        (context,) = await pool.ask("retrieve", [Ask(post)])
        return _json(context)

    @app.get("/trends", response_model=Trends, responses=LOOKING_UP)
    async def trends(
        at: Annotated[str | None, Query(description="A time or a day; now, if left out.")] = None,
        n: Annotated[int, Query(ge=1, le=100, description="How many entities at most.")] = 20,
    ) -> Response:
        """List the entities on the rise, with the articles a day that name them."""
        try:
            moment = None if at is None else parse_time(at, bare_day="start")
        except ValueError as error:
            problem = {"loc": ("query", "at"), "msg": str(error)}
            raise RequestValidationError([problem]) from None
        return _json(await pool.ask_news("trends", moment, n))

    @app.get(
        "/articles/{identifier:path}",
        response_model=Article,
        responses=_errors(404) | LOOKING_UP,
    )
    async def article(identifier: str) -> Response:
        """Give an article."""
        found = await pool.ask_news("article", identifier)
        if found is None:
            raise refusal(404, "there is no article of this id")
        return _json(found)


def _writing(app: FastAPI, pool: Pool) -> None:
    def key(request: Request, _: Annotated[object, Depends(KEY)]) -> None:
        # The middleware checks by path; this also catches other paths that lead here.
        if (no := _may_not_write(pool.settings, request.headers)) is not None:
            raise no

    @app.post(
        "/news",
        response_model=AddedArticles,
        responses=_errors(401, 403) | ASKING,
        dependencies=[Depends(key)],
    )
    async def add_news(given: GivenArticles) -> AddedArticles:
        """Add articles: when this answers they are on the disk, a second later searchable."""
        return AddedArticles.model_validate(await pool.ask_news("add", given.articles))


def _state(app: FastAPI, pool: Pool) -> None:
    @app.get("/health", responses=_errors(504))
    async def health() -> Health:
        """Say that the service runs."""
        return Health(status="ok", version=__version__)

    @app.get("/ready", responses=_errors(503, 504))
    async def ready() -> Ready:
        """Say that the service can answer, and from which news."""
        if not pool.ready or not any(slot.process for slot in pool.slots):
            raise not_now(STARTING)
        return Ready(
            status="ready", version=__version__, **pool.news._asdict(),
            sample=pool.settings.news is None,
        )  # fmt: skip

    @app.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """Figures, in the text format of Prometheus."""
        return Response(pool.metrics.text(), media_type="text/plain; version=0.0.4")


def _page(app: FastAPI) -> None:
    def html(name: str) -> Response:
        return Response((PAGE / name).read_bytes(), media_type="text/html; charset=utf-8")

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return html("index.html")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return html("docs.html")

    app.mount("/page", StaticFiles(packages=[("hashnews.service", "page")]), name="page")
