"""Sources as addresses: `mastodon://HOST/tags/NAME`, `bluesky://jetstream` and so on."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from hashnews.errors import DataError

NetworkName = Literal["mastodon", "bluesky"]
SourceKind = Literal["tags", "public", "lists", "account", "jetstream", "firehose"]
HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?")
NAME = re.compile(r"[\w.@:-]{1,250}")  # of a hashtag, a list, an account
JETSTREAM = "jetstream2.us-east.bsky.network"
APP_VIEW = "public.api.bsky.app"  # Bluesky's own; it knows the profiles of all
RELAYS = frozenset({"bsky.network", "relay1.us-east.bsky.network", "relay1.us-west.bsky.network"})
FORMS = """
    mastodon://HOST/tags/NAME, mastodon://HOST/public, mastodon://HOST/public?local,
    mastodon://HOST/lists/ID, mastodon://HOST/@ACCOUNT, bluesky://jetstream,
    bluesky://firehose/HOST, bluesky://HOST/@HANDLE, bluesky://HOST/tags/NAME
"""


class SourceAddress(NamedTuple):
    """One source, taken apart."""

    text: str  # as it was given: the name it is kept under
    network: NetworkName
    kind: SourceKind
    host: str  # with its port, where one is given
    name: str  # of the hashtag, the list or the account
    local: bool  # only what was posted on this server
    insecure: bool  # http: on this machine, for tests
    profiles: str  # the host that is asked about authors

    def url(self, host: str = "", scheme: str = "http") -> str:
        """The root of a server: this source's, or another one that it names."""
        return f"{scheme}{'' if self.insecure else 's'}://{host or self.host}"


def parse_source(text: str, allow_private: bool = False) -> SourceAddress:
    """Take an address apart; what is not one gets a line that lists the forms."""
    try:
        parts = urlsplit(text.strip())
        network, where, path = parts.scheme, parts.netloc.lower(), unquote(parts.path).strip("/")
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=False))
    except ValueError:
        raise _refused(text) from None
    insecure = options.pop("insecure", None) is not None
    if insecure and not allow_private:
        raise DataError("?insecure is for servers of your own: add --allow-private", text)
    kind, host, name, known = _parted(network, where, path, options)
    local = kind == "public" and options.pop("local", None) is not None
    profiles = ""
    if kind in ("jetstream", "firehose"):
        usual = APP_VIEW if kind == "jetstream" or host in RELAYS else host
        profiles = options.pop("profiles", usual).lower()
    if not known or options or parts.fragment or not HOST.fullmatch(host):
        raise _refused(text)
    if (name and not NAME.fullmatch(name)) or (profiles and not HOST.fullmatch(profiles)):
        raise _refused(text)
    on: NetworkName = "mastodon" if network == "mastodon" else "bluesky"
    return SourceAddress(text.strip(), on, kind, host, name, local, insecure, profiles)


def _parted(
    network: str, where: str, path: str, options: dict[str, str]
) -> tuple[SourceKind, str, str, bool]:
    """The kind, the host, the name, and whether there is such a form."""
    if network == "bluesky" and where == "jetstream":
        return "jetstream", options.pop("host", JETSTREAM).lower(), "", not path
    if network == "bluesky" and where == "firehose":
        return "firehose", path.lower(), "", True
    known = network in ("mastodon", "bluesky")
    if path.startswith("@"):
        return "account", where, path[1:], known and len(path) > 1
    head, _, name = path.partition("/")
    if head == "public" and not name:
        return "public", where, "", network == "mastodon"
    if head == "lists" and name:
        return "lists", where, name, network == "mastodon"
    return "tags", where, name.lstrip("#"), known and head == "tags" and bool(name)


def _refused(text: str) -> DataError:
    return DataError(f"is not a source; write one of: {' '.join(FORMS.split())}", text[:200])
