"""What makes two articles the same: the id, the canonical URL, or title, day and source.

Each becomes a short key, and an article is known when any of its keys is. The first version of
an article stays: a later one may have been rewritten with what nobody knew on the day.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Literal, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from hashnews.records import Article
from hashnews.times import day_of

Why = Literal["id", "url", "title"]
DEFAULT_PORTS = {"http": 80, "https": 443}
# Parameters that say how a reader came to the page, not which page it is.
TRACKING = re.compile(
    r"utm_.*|mtm_.*|pk_.*|ns_.*|_ga|_gl|gclid|dclid|fbclid|msclkid|yclid|igshid|mc_[ce]id|cmpid"
    r"|ocid|ncid|smid|smtyp|ref_src|ref_url|feedtype|feedname",
    re.IGNORECASE,
)
NOT_LETTERS = re.compile(r"[\W_]+")


class Key(NamedTuple):
    """One of the names of an article."""

    why: Why
    digest: bytes


def keys_of(article: Article) -> list[Key]:
    """All names of an article, the surest first."""
    keys = [id_key(article.id)]
    if article.url and (url := canonical_url(article.url)):
        keys.append(_key("url", url))
    title = NOT_LETTERS.sub("", article.title.casefold())
    if title and article.source:
        day, source = day_of(article.published_at), article.source.casefold().strip()
        keys.append(_key("title", f"{title}\x1f{day}\x1f{source}"))
    return keys


def id_key(identifier: str) -> Key:
    """The key of an article's id."""
    return _key("id", identifier)


def url_key(url: str) -> Key | None:
    """The key of an address; a site's front page names no article."""
    canonical = canonical_url(url)
    return None if canonical is None else _key("url", canonical)


def canonical_url(url: str) -> str | None:
    """An address without what does not tell pages apart.

    Scheme, `www.`, default port, fragment, closing slash and tracking parameters go, the rest of
    the query is sorted. A front page gives None: many articles of poor feeds point to one.
    """
    try:
        scheme, _, path, query, _ = parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if scheme not in DEFAULT_PORTS or not host:
        return None
    place = host.removeprefix("www.")
    if port is not None and port != DEFAULT_PORTS[scheme]:
        place += f":{port}"
    if query:
        pairs = parse_qsl(query, keep_blank_values=True)
        query = urlencode(sorted(pair for pair in pairs if not TRACKING.fullmatch(pair[0])))
    while path != (path := path.rstrip().rstrip("/")):
        pass  # white space and slashes in any order
    return f"{place}{path}?{query}" if query else f"{place}{path}" if path else None


def _key(why: Why, name: str) -> Key:
    content = f"{why}\x1f{name}".encode("utf-8", "surrogatepass")
    return Key(why, blake2b(content, digest_size=16).digest())
