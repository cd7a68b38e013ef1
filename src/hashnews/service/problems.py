"""Errors as the service reports them: one shape for all, with a code for programs.

An error is `{"error": {"code": "busy", "message": ..., "request_id": ..., "details": [...]}}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from hashnews.errors import HashNewsError
from hashnews.service.logs import log
from hashnews.service.process import CallFailed, ProcessDied
from hashnews.service.queue import QueueFull

CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
    422: "invalid",
    500: "internal",
    503: "busy",
    504: "too_slow",
}


class Detail(BaseModel):
    """What is wrong with one part of a request."""

    where: str
    message: str


class Problem(BaseModel):
    """Why a request was not done."""

    code: str
    message: str
    request_id: str
    details: list[Detail] = []


class ErrorAnswer(BaseModel):
    """The shape of every error."""

    error: Problem


def refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> HTTPException:
    """What an endpoint raises to refuse a request."""
    return HTTPException(status, message, headers)


def not_now(why: str) -> HTTPException:
    """A refusal that need not last."""
    return refusal(503, f"{why}: try again in a second", {"Retry-After": "1"})


STARTING, FULL = "the service is starting", "too many requests are waiting"


def error_response(
    request_id: str,
    status: int,
    message: str,
    headers: Mapping[str, str] | None = None,
    details: list[Detail] | None = None,
) -> JSONResponse:
    """An error, ready to be sent."""
    problem = Problem(
        code=CODES.get(status, "error"), message=message, request_id=request_id,
        details=details or [],
    )  # fmt: skip
    content = ErrorAnswer(error=problem).model_dump(exclude_defaults=True)
    return JSONResponse(content, status, dict(headers or {}))


def answer_problems(app: FastAPI) -> None:
    """Report every error of an app in the one shape."""

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        return _refused(request, error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        details = [_detail(problem) for problem in error.errors()[:20]]
        first = details[0]
        return _response(request, 422, f"{first.where}: {first.message}", None, details)

    @app.exception_handler(QueueFull)
    async def full(request: Request, _: QueueFull) -> JSONResponse:
        return _refused(request, not_now(FULL))

    @app.exception_handler(ProcessDied)
    async def gone(request: Request, _: ProcessDied) -> JSONResponse:
        return _refused(request, not_now("a part of the service is being restarted"))

    @app.exception_handler(HashNewsError)
    async def unable(request: Request, error: HashNewsError) -> JSONResponse:
        log("unable", "error", request_id=request.state.request_id, why=str(error))
        return _refused(request, not_now("the service cannot do that, its log says why"))

    @app.exception_handler(CallFailed)
    async def failed(request: Request, error: CallFailed) -> JSONResponse:
        log("failed", "error", request_id=request.state.request_id, traceback=str(error))
        return _response(request, 500, INTERNAL)

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, _: Exception) -> JSONResponse:
        return _response(request, 500, INTERNAL)  # the middleware logs it


INTERNAL = "this should not have happened; the log of the service says more"


def _refused(request: Request, error: HTTPException) -> JSONResponse:
    return _response(request, error.status_code, str(error.detail), error.headers)


def _response(request: Request, *arguments: Any) -> JSONResponse:
    return error_response(request.state.request_id, *arguments)


def _detail(problem: dict[str, Any]) -> Detail:
    """Where and what, without the input: it may be long, and it may not even be Unicode."""
    where = ".".join(str(part) for part in problem["loc"])
    said = str(problem["msg"]).removeprefix("Value error, ")
    clean = f"{where}\n{said}".encode("utf-8", "backslashreplace").decode()[:500]
    where, _, said = clean.partition("\n")
    return Detail(where=where, message=said)
