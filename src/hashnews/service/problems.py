"""Errors as the service reports them: one shape for all, with a code for programs.

An error is `{"error": {"code": "busy", "message": ..., "request_id": ..., "details": [...]}}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

from hashnews.errors import HashNewsError
from hashnews.service.logs import log
from hashnews.service.process import CallFailed, ProcessDied
from hashnews.service.queue import QueueFull

INTERNAL = "this should not have happened; the log of the service says more"


class Kind(NamedTuple):
    """A kind of error: its code for programs, what it means, and one of its messages."""

    code: str
    meaning: str
    message: str


KINDS = {
    400: Kind("bad_request", "The body cannot be read", "There was an error parsing the body"),
    401: Kind("unauthorized", "No key, or a wrong one", "send the key: Authorization: Bearer ..."),
    403: Kind(
        "forbidden",
        "The service is read only, or a page of another site asked",
        "this service is read only: start it with --news and a key",
    ),
    404: Kind("not_found", "There is no such thing", "there is no article of this id"),
    405: Kind("method_not_allowed", "The path takes other methods", "Method Not Allowed"),
    408: Kind(
        "too_slow",
        "The request took too long to arrive",
        "the request took too long to arrive",
    ),
    409: Kind(
        "conflict",
        "Not now: `--fetch` is missing, or another part comes first",
        "this service fetches nothing: start it with --fetch",
    ),
    413: Kind("too_large", "Too many bytes", "the request is larger than 262,144 bytes"),
    421: Kind(
        "misdirected",
        "The service is not called by this name",
        "this service is not 'a.example': start it with --allow-host a.example",
    ),
    422: Kind(
        "invalid",
        "A field is missing, wrong or too long; `details` says which",
        "body.text: Field required",
    ),
    429: Kind(
        "too_often",
        "Too many requests a minute: try again after `Retry-After` seconds",
        "more than 60 requests a minute: wait 1 s",
    ),
    500: Kind("internal", "Our error; the log has it under the request's id", INTERNAL),
    503: Kind(
        "busy",
        "Too many wait, or it is starting: try again after `Retry-After` seconds",
        "the service is starting: try again in a second",
    ),
    504: Kind("too_slow", "No answer in time", "there was no answer within 10 s: try again"),
}


class Reported(BaseModel):
    """Base of what is said of errors."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Detail(Reported):
    """What is wrong with one part of a request."""

    where: str
    """Which part: `body.text`, `query.n`."""
    message: str
    """What is wrong with it."""


class Problem(Reported):
    """Why a request was not done."""

    code: str
    """The kind of error, for programs."""
    message: str
    """What happened and what to do, for people."""
    request_id: str
    """The request, as the service's log calls it."""
    details: list[Detail] = []
    """Of an `invalid` request: each part that is wrong."""


class ErrorAnswer(Reported):
    """The shape of every error."""

    error: Problem
    """What went wrong."""


def described(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How the interface describes errors."""
    return {status: _described(status, KINDS[status]) for status in statuses}


def _described(status: int, kind: Kind) -> dict[str, Any]:
    problem = Problem(code=kind.code, message=kind.message, request_id="4de5c2cda0d94fa8")
    if status == 422:
        where, _, said = kind.message.partition(": ")
        problem.details = [Detail(where=where, message=said)]
    return {
        "model": ErrorAnswer,
        "description": kind.meaning,
        "content": {
            "application/json": {
                "example": ErrorAnswer(error=problem).model_dump(exclude_defaults=True)
            }
        },
    }


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
        code=KINDS[status].code if status in KINDS else "error", message=message,
        request_id=request_id, details=details or [],
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


def _refused(request: Request, error: HTTPException) -> JSONResponse:
    return _response(request, error.status_code, str(error.detail), error.headers)


def _response(request: Request, *arguments: Any) -> JSONResponse:
    return error_response(request.state.request_id, *arguments)


def _detail(problem: dict[str, Any]) -> Detail:
    """Where and what, without the input: it may be long, and it may not even be Unicode."""
    where = ".".join(str(part) for part in problem["loc"])
    said = str(problem["msg"]).removeprefix("Value error, ")
    if problem["loc"] == ("body",) and problem.get("type") == "model_attributes_type":
        said = "send a JSON object, with Content-Type: application/json"
    clean = f"{where}\n{said}".encode("utf-8", "backslashreplace").decode()[:500]
    where, _, said = clean.partition("\n")
    return Detail(where=where, message=said)
