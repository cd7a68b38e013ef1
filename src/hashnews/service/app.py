"""The service as one application: the interface and the page, behind the middleware."""

from __future__ import annotations

from importlib import resources
from typing import Any

from fastapi import FastAPI, Response
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp

from hashnews import __version__
from hashnews.service.api import add_interface
from hashnews.service.gate import WRITING, Gate
from hashnews.service.middleware import Middleware
from hashnews.service.pool import Pool
from hashnews.service.problems import answer_problems
from hashnews.service.settings import CALLBACK, LARGEST_BATCH, LARGEST_FEED, LARGEST_NEWS
from hashnews.service.ways_in import PARTS, add_ways
from hashnews.service.websub import add_websub

PAGE = resources.files("hashnews.service") / "page"
LARGEST = {
    "/v1/suggest/batch": LARGEST_BATCH,
    **dict.fromkeys((*WRITING, PARTS), LARGEST_NEWS),
    CALLBACK: LARGEST_FEED,
}
TAGS = [
    {"name": "suggest", "description": "Hashtags for posts, and the news they rest on."},
    {"name": "news", "description": "Look up news, see what is on the rise, add articles."},
    {"name": "posts", "description": "Remember posts and forget them."},
    {"name": "ways in", "description": "Archives, feeds and networks, and what came by them."},
    {"name": "service", "description": "How the service is."},
]


def create_app(pool: Pool) -> ASGIApp:
    """The service: its endpoints and its page, behind the middleware."""
    app = FastAPI(
        title="HashNews",
        version=__version__,
        summary="Hashtags for microblog posts, suggested from the news published before them.",
        description="Paths of the first release, without `/v1`, lead to the same.",
        openapi_tags=TAGS,
        generate_unique_id_function=_name,
        docs_url=None,  # the usual ones load scripts from elsewhere
        redoc_url=None,
    )
    answer_problems(app)
    gate = Gate(pool)
    add_interface(app, pool, gate)
    add_ways(app, pool, gate)
    add_websub(app, pool)
    _page(app)
    _describe_keys(app)
    return Middleware(app, pool.metrics, pool.settings, LARGEST, gate.turned_away)


def _name(route: APIRoute) -> str:
    """What programs made from the description call an endpoint."""
    return route.name


def _describe_keys(app: FastAPI) -> None:
    """In the description: what needs no key by itself may need one for reading."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        told = plain()
        for path, methods in told["paths"].items():
            for operation in methods.values():
                if path.startswith("/v1/"):
                    operation.setdefault("security", [{}, {"key": []}])
        return told

    app.openapi = described  # type: ignore[method-assign]


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
