"""Bluesky's `repo.car`, and the JSON that `com.atproto.repo.listRecords` answers with.

The formats were read in atproto's specifications (atproto.com/specs/repository: the commit, the
tree of keys with `l`, `e`, `p`, `k`, `v`, `t`) and lexicons (app.bsky.feed.post: `text`, `facets`,
`tags`, `reply`, `createdAt`; com.atproto.repo.listRecords: `records` with `uri` and `value`).

A CAR may hold posts that were deleted, so only those count that the tree of its commit refers to.
The order of blocks is free: the file is read twice. The first time the places of the tree's nodes
are kept, of which only those are read that may lead to posts; the second time the posts are read.
That takes some 300 bytes a post and 50 for every other record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from hashnews.errors import DataError
from hashnews.posts.archives.texts import Written, dict_in, list_in, text_in
from hashnews.posts.cbor import Cid, decode, read_car

NAME = "Bluesky"
POST = "app.bsky.feed.post"
TAG = "app.bsky.richtext.facet#tag"
FIRST, LAST = f"{POST}/".encode(), f"{POST}0".encode()  # all keys of posts are between them
NODE = b"\xa2\x61e"  # a map of two, the first of them `e`: what a node of the tree begins with
LONGEST_KEY = 1024


class Node(NamedTuple):
    """What a node of the tree says about posts."""

    posts: list[tuple[bytes, Cid]]  # key and record
    below: list[Cid]  # nodes that may say more


def knows(name: str, item: Any) -> bool:
    """Whether these are records: by the key, or, in a bare list, by what the items hold."""
    record = dict_in(item)
    return name in ("records", "") and "uri" in record and isinstance(record.get("value"), dict)


def owner(name: str, item: Any) -> str | None:
    """Nobody: each post says who wrote it."""
    return None


def post_of(item: Any, replies: bool) -> Written | None:
    """The post of a record with its address; None for replies and for other records."""
    if not isinstance(item, dict) or not isinstance(record := item.get("value"), dict):
        raise DataError("a record that is no object")
    address = text_in(item.get("uri"))
    if record.get("$type") != POST or (record.get("reply") and not replies):
        return None
    scheme, _, place = address.partition("://")
    if scheme != "at" or "/" not in place:
        raise DataError("a record without an address")
    tags = [text_in(tag) for tag in list_in(record.get("tags"))]
    for facet in list_in(record.get("facets")):
        for feature in map(dict_in, list_in(dict_in(facet).get("features"))):
            if feature.get("$type") == TAG:
                tags.append(text_in(feature.get("tag")))
    return Written(
        address,
        text_in(record.get("text")),
        record.get("createdAt"),
        place.partition("/")[0],
        tuple(tags),
    )


def is_car(head: bytes) -> bool:
    """Whether bytes are the begin of a CAR: its header is a map with `roots`."""
    return head[2:9] == b"\xa2\x65roots" or head[1:8] == b"\xa2\x65roots"


def car_posts(stream: BinaryIO) -> Iterator[dict[str, Any]]:
    """The posts of a repository as `listRecords` gives them."""
    account, wanted = _find_posts(stream)
    stream.seek(0)
    for cid, content, _ in read_car(stream, check=False)[1]:
        if key := wanted.pop(cid, None):
            address = f"at://{account}/{key.decode('utf-8', 'replace')}"
            yield {"uri": address, "value": decode(content)}
    if wanted:
        raise DataError(f"{len(wanted):,} posts that its tree refers to are missing")


def _find_posts(stream: BinaryIO) -> tuple[str, dict[Cid, bytes]]:
    """Whose repository it is, and the key of each post that is in it now."""
    roots, blocks = read_car(stream)
    places = dict[Cid, int]()  # of nodes: where they end, and their size
    commit: dict[str, Any] = {}
    for cid, content, end in blocks:
        if content.startswith(NODE):
            places[cid] = end << 32 | len(content)
        elif cid in roots[:1]:
            commit = dict_in(decode(content))
    account, top = commit.get("did"), commit.get("data")
    if not isinstance(account, str) or not isinstance(top, Cid):
        raise DataError("its commit, which says what is in it, is missing or broken")
    wanted, ahead = dict[Cid, bytes](), [top]
    while ahead:
        place = places.pop(ahead.pop(), None)
        if place is None:
            raise DataError("a part of its tree is missing, or there twice: download it again")
        end, size = place >> 32, place & 0xFFFFFFFF
        stream.seek(end - size)
        node = _read_node(stream.read(size))
        wanted.update((record, key) for key, record in node.posts)
        ahead += node.below
    return account, wanted


def _read_node(content: bytes) -> Node:
    """A node of the tree."""
    fields = decode(content)
    node = Node([], [])
    key, below = b"", fields.get("l")
    for entry in list_in(fields.get("e")):
        try:
            shared, rest, record = entry["p"], entry["k"], entry["v"]
        except (KeyError, TypeError):
            raise DataError("an entry of its tree is broken") from None
        if type(shared) is not int or type(rest) is not bytes or type(record) is not Cid:
            raise DataError("an entry of its tree is broken")
        after = key[:shared] + rest
        if not key < after or len(after) > LONGEST_KEY:
            raise DataError("the keys of its tree are not in order: it is damaged")
        if isinstance(below, Cid) and after > FIRST and key < LAST:
            node.below.append(below)
        if FIRST < after < LAST:
            node.posts.append((after, record))
        key, below = after, entry.get("t")
    if isinstance(below, Cid) and key < LAST:
        node.below.append(below)
    return node
