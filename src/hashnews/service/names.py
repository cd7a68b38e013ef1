"""Who may ask: requests that a page of another site made the reader's browser send are refused.

Such a page cannot read our answers, unless its own name is made to lead to our address (DNS
rebinding): then the browser takes us for that site. So the name in `Host` must be ours.
"""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

ANY = "*"


def not_for_us(
    headers: Headers, method: str, names: Collection[str], sites: Collection[str] = ()
) -> HTTPException | None:
    """Why a request is refused by the names in its head, if it is; `sites` may ask from afar."""
    host = host_of(headers.get("host", ""))
    if ANY not in names and not (host and (is_local(host) or host in names)):
        told = f"this service is not {host[:100]!r}: start it with --allow-host {host[:100]}"
        return HTTPException(421, told)
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if method in ("GET", "HEAD") or allowed(origin, sites):
        return None
    if site is not None:
        foreign = site not in ("same-origin", "none")
    else:
        foreign = origin is not None and host_of(origin.partition("://")[2]) not in {host, *names}
    return HTTPException(403, "a page of another site may not ask this") if foreign else None


def allowed(origin: str | None, sites: Collection[str]) -> bool:
    """Whether pages of a site may ask and read the answer."""
    return origin is not None and (origin in sites or ANY in sites)


def host_of(written: str) -> str:
    """The name in `Host` or after a scheme, without its port; empty where it is none."""
    try:
        return (urlsplit(f"//{written}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def is_local(host: str) -> bool:
    """A name that nobody can register: an address, localhost, or without a dot."""
    try:
        return bool(ip_address(host))
    except ValueError:
        return "." not in host or host.endswith(".localhost")
