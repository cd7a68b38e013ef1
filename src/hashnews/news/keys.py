"""What makes two articles the same: the id, the canonical URL, or title, day and source.

Each becomes a short key, and an article is known when any of its keys is. The first version of
an article stays: a later one may have been rewritten with what nobody knew on the day.

A source speaks for its own site. An article whose address is on another one only claims it: its
key holds for that source alone, and goes with it when the site's own version comes.
"""

from __future__ import annotations

import re
from functools import lru_cache
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
HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+")
NOT_LETTERS = re.compile(r"[\W_]+")


class Key(NamedTuple):
    """One of the names of an article."""

    why: Why
    digest: bytes
    is_kept: bool = True  # no: the article is known by it, but does not own it


def keys_of(article: Article) -> list[Key]:
    """All names of an article, the surest first."""
    keys = [id_key(article.id)]
    if article.url and (own := url_key(article.url)):
        claimed = is_claimed(article)
        keys += [own._replace(is_kept=not claimed)]
        keys += [Key("url", own.digest + _digest(_source(article))[:8])] if claimed else []
    title = NOT_LETTERS.sub("", article.title.casefold())
    if title and article.source:
        day = day_of(article.published_at)
        keys.append(_key("title", f"{title}\x1f{day}\x1f{_source(article)}"))
    return keys


def claims_on(key: Key) -> tuple[bytes, bytes]:
    """Between which two digests the keys of those stand who claim an address of this key."""
    return key.digest + bytes(8), key.digest + b"\xff" * 8


def is_claimed(article: Article) -> bool:
    """Whether an article's address is of another site than its source, where that is a site."""
    source = _source(article)
    if not article.url or not HOST.fullmatch(source):
        return False
    return not same_site(article.url, f"https://{source}/")


def _source(article: Article) -> str:
    return (article.source or "").casefold().strip()


def same_site(one: str, other: str) -> bool:
    """Whether two addresses belong to one owner: feeds.example.org and www.example.org do."""
    first, second = site_of(one), site_of(other)
    return first is not None and second is not None and _owner(first) == _owner(second)


def site_of(url: str) -> str | None:
    """The site of an address: what the reader would call the source."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return host.removeprefix("www.") if host else None


@lru_cache(maxsize=10_000)
def _owner(host: str) -> str:
    """The part of a host's name that somebody registered, by the public suffix list."""
    from courlan import extract_domain

    return extract_domain(f"https://{host}/") or host


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
    return Key(why, _digest(f"{why}\x1f{name}"))


def _digest(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()
