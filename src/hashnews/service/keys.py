"""Keys: what a request carries to be let in."""

from __future__ import annotations

import hmac
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException


def key_in(headers: Headers, keys: Collection[str]) -> str | None:
    """The key a request carries, if it is one of these; every wrong one takes the same time."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    given = key.encode("utf-8", "surrogateescape")
    found = [one for one in keys if hmac.compare_digest(given, one.encode())]
    return found[0] if found and scheme.lower() == "bearer" else None


def without_key(headers: Headers, keys: Collection[str]) -> HTTPException | None:
    """Why a request is refused that carries none of these keys; without any, all may."""
    if not keys or key_in(headers, keys) is not None:
        return None
    challenge = {"WWW-Authenticate": "Bearer"}
    return HTTPException(401, "send the key: Authorization: Bearer ...", challenge)
