"""Archives made in the true formats, from plain posts; where each format was read, its reader says.

The trees of Bluesky's repositories are those of atproto: a test compares their roots with the
vectors that all implementations share.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import re
import struct
import tarfile
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, NamedTuple

PUBLIC = "https://www.w3.org/ns/activitystreams#Public"
DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
SPACED = (",\n      ", " : ")  # a line each, as X and Meta write; `indent` takes ten times as long
ACTOR = "https://example.social/users/ann"


class Plain(NamedTuple):
    """A post as its author thinks of it."""

    number: int
    text: str
    at: datetime
    tags: tuple[str, ...] = ()  # beside the text
    reply: bool = False
    repeats: bool = False  # somebody else's post, passed on


def moment(text: str) -> datetime:
    """A time in UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


def seconds(post: Plain) -> int:
    return int(post.at.timestamp())


# Mastodon


def as_html(text: str) -> str:
    """A text as Mastodon renders it: paragraphs, lines, links, hashtags in spans."""

    def link(found: re.Match[str]) -> str:
        word = found.group()
        if word.startswith("#"):
            name = word[1:]
            address = f"https://example.social/tags/{name.lower()}"
            return f'<a href="{address}" class="mention hashtag" rel="tag">#<span>{name}</span></a>'
        bare = word.removeprefix("https://")
        return (
            f'<a href="{word}" rel="nofollow noopener" target="_blank"><span class="invisible">'
            f'https://</span><span class="ellipsis">{bare[:20]}</span><span class="invisible">'
            f"{bare[20:]}</span></a>"
        )

    escaped = html.escape(text, quote=True)
    linked = re.sub(r"#\w+|https://\S+", link, escaped)
    paragraphs = linked.split("\n\n")
    return "".join(f"<p>{part}</p>" for part in paragraphs).replace("\n", "<br />")


def activity(post: Plain) -> dict[str, Any]:
    """One item of an outbox."""
    address = f"{ACTOR}/statuses/{post.number}"
    at = post.at.strftime("%Y-%m-%dT%H:%M:%SZ")
    readers = {"published": at, "to": [PUBLIC], "cc": [f"{ACTOR}/followers"]}
    if post.repeats:
        elsewhere = f"https://other.example/users/bob/statuses/{post.number}"
        return {"id": f"{address}/activity", "type": "Announce", "actor": ACTOR, **readers,
                "object": elsewhere}  # fmt: skip
    names = [*post.tags, *re.findall(r"#(\w+)", post.text)]
    note = {
        "id": address, "type": "Note", "summary": None, **readers,
        "inReplyTo": "https://other.example/users/bob/statuses/7" if post.reply else None,
        "url": f"https://example.social/@ann/{post.number}", "attributedTo": ACTOR,
        "sensitive": False, "content": as_html(post.text),
        "contentMap": {"en": as_html(post.text)}, "attachment": [],
        "tag": [{"type": "Hashtag", "href": f"https://example.social/tags/{name.lower()}",
                 "name": f"#{name.lower()}"} for name in names],
        "replies": {"id": f"{address}/replies", "type": "Collection"},
    }  # fmt: skip
    return {"id": f"{address}/activity", "type": "Create", "actor": ACTOR, **readers,
            "object": note, "signature": {"type": "RsaSignature2017"}}  # fmt: skip


def outbox(items: Iterable[Any]) -> bytes:
    """A whole outbox.json."""
    listed = list(items)
    context = ["https://www.w3.org/ns/activitystreams", {"ostatus": "http://ostatus.org#"}]
    return json.dumps(
        {"@context": context, "id": "outbox.json", "type": "OrderedCollection",
         "totalItems": len(listed), "orderedItems": listed}
    ).encode()  # fmt: skip


def mastodon_files(posts: Iterable[Plain]) -> dict[str, bytes]:
    """What Mastodon packs, in its order."""
    links = {"@context": PUBLIC, "orderedItems": ["https://other.example/users/bob/statuses/1"]}
    return {
        "media_attachments/files/001/original/a.png": b"\x89PNG" + bytes(2000),
        "outbox.json": outbox(map(activity, posts)),
        "likes.json": json.dumps(links).encode(),
        "bookmarks.json": json.dumps(links).encode(),
        "actor.json": json.dumps({"id": ACTOR, "preferredUsername": "ann"}).encode(),
    }


# X


def tweet(post: Plain) -> dict[str, Any]:
    """A post of tweets.js."""
    text = f"RT @bob: {post.text}" if post.repeats else post.text
    names = [*post.tags, *re.findall(r"#(\w+)", post.text)]
    fields = {
        "edit_info": {"initial": {"editTweetIds": [str(post.number)], "editsRemaining": "5"}},
        "retweeted": False, "source": '<a href="https://mobile.twitter.com">Twitter Web App</a>',
        "entities": {"hashtags": [{"text": name, "indices": ["0", "9"]} for name in names],
                     "symbols": [], "user_mentions": [], "urls": []},
        "display_text_range": ["0", str(len(text))], "favorite_count": "1", "truncated": False,
        "id_str": str(post.number), "id": str(post.number), "retweet_count": "0",
        "created_at": post.at.strftime("%a %b %d %H:%M:%S +0000 %Y"), "favorited": False,
        "full_text": html.escape(text, quote=False), "lang": "en",
    }  # fmt: skip
    if post.reply:
        fields |= {"in_reply_to_status_id_str": "5", "in_reply_to_screen_name": "bob",
                   "in_reply_to_user_id_str": "6"}  # fmt: skip
    return {"tweet": fields}


def assigned(name: str, items: Iterable[Any]) -> bytes:
    """A list that JavaScript assigns to a name."""
    return f"{name} = {json.dumps(list(items), separators=SPACED)}".encode()


def first_archive(post: Plain) -> dict[str, Any]:
    """A post as the archives of 2012 to 2018 had it."""
    inner = tweet(post)["tweet"]
    return {
        **{key: value for key, value in inner.items() if key != "full_text"},
        "text": inner["full_text"], "id": post.number,
        "in_reply_to_status_id_str": "5" if post.reply else None,
        "user": {"name": "Ann", "screen_name": "ann", "id_str": "6"},
        "created_at": post.at.strftime("%Y-%m-%d %H:%M:%S +0000"),
    }  # fmt: skip


def x_files(posts: Iterable[Plain]) -> dict[str, bytes]:
    """What X packs; what was deleted or liked among it."""
    posts = list(posts)
    gone = tweet(Plain(990, "Deleted. #Gone", posts[0].at))
    like = {"like": {"tweetId": "991", "fullText": "Liked. #Liked"}}
    account = {"account": {"username": "ann", "accountId": "6", "email": "a@example.org"}}
    return {
        "Your archive.html": b"<html></html>",
        "data/deleted-tweets.js": assigned("window.YTD.deleted_tweets.part0", [gone]),
        "data/like.js": assigned("window.YTD.like.part0", [like]),
        "data/manifest.js": b'window.__THAR_CONFIG = {"userInfo": {"accountId": "6"}}',
        "data/tweets.js": assigned("window.YTD.tweets.part0", map(tweet, posts)),
        "data/tweets_media/1-a.jpg": b"\xff\xd8\xff" + bytes(2000),
        "data/account.js": assigned("window.YTD.account.part0", [account]),
    }


# Threads and Instagram


def as_meta(value: Any) -> Any:
    """Texts as Meta writes them: each byte of UTF-8 a character of its own."""
    match value:
        case str():
            return value.encode().decode("latin-1")
        case list():
            return [as_meta(one) for one in value]
        case dict():
            return {key: as_meta(one) for key, one in value.items()}
    return value


def meta_json(value: Any) -> bytes:
    return json.dumps(as_meta(value), separators=SPACED).encode()


def thread(post: Plain) -> dict[str, Any]:
    """A post of Threads."""
    said = {"uri": "", "creation_timestamp": seconds(post), "title": post.text,
            "media_metadata": {"camera_metadata": {"has_camera_metadata": False}},
            "cross_post_source": {"source_app": "FB"},
            "text_app_post": {"reply_control": "everyone", "is_reply": post.reply}}  # fmt: skip
    return {"media": [said]}


def threads(posts: Iterable[Plain]) -> bytes:
    return meta_json({"text_post_app_text_posts": [thread(post) for post in posts]})


def picture(post: Plain, several: bool = False) -> dict[str, Any]:
    """A post of Instagram; the caption of several pictures stands at the post."""
    one = {"uri": "media/posts/202611/a.jpg", "creation_timestamp": seconds(post),
           "title": "" if several else post.text,
           "media_metadata": {"photo_metadata": {"exif_data": [{"iso": 100}]}}}  # fmt: skip
    if not several:
        return {"media": [one]}
    return {"media": [one, one], "title": post.text, "creation_timestamp": seconds(post)}


def instagram_files(posts: Iterable[Plain]) -> dict[str, bytes]:
    """What Instagram packs; archived posts among it."""
    posts = list(posts)
    listed = [picture(post, several=bool(at % 2)) for at, post in enumerate(posts[:-1])]
    hidden = [picture(Plain(980, "Hidden. #Hidden", posts[0].at))]
    labels = {"Username": {"href": "", "value": "ann.ä", "timestamp": 0}}
    root = "instagram-ann-2026-11-16-AbCd/"
    return {
        f"{root}your_instagram_activity/media/posts_1.json": meta_json(listed),
        f"{root}your_instagram_activity/media/reels.json": meta_json(
            {"ig_reels_media": [picture(posts[-1])]}
        ),
        f"{root}your_instagram_activity/media/archived_posts.json": meta_json(
            {"ig_archived_post_media": hidden}
        ),
        f"{root}your_instagram_activity/messages/inbox/bob/message_1.json": meta_json(
            {"participants": [{"name": "bob"}], "messages": [{"content": "#Secret"}]}
        ),
        f"{root}personal_information/personal_information.json": meta_json(
            {"profile_user": [{"title": "", "string_map_data": labels}]}
        ),
    }


# Bluesky


class Link(bytes):
    """The bytes of a CID."""


def cbor(value: Any) -> bytes:
    """DAG-CBOR."""
    match value:
        case bool():
            return b"\xf5" if value else b"\xf4"
        case None:
            return b"\xf6"
        case int():
            return _head(0, value) if value >= 0 else _head(1, -1 - value)
        case float():
            return b"\xfb" + struct.pack(">d", value)
        case Link():
            return b"\xd8\x2a" + cbor(b"\0" + bytes(value))
        case bytes():
            return _head(2, len(value)) + value
        case str():
            return _head(3, len(value.encode())) + value.encode()
        case list():
            return _head(4, len(value)) + b"".join(map(cbor, value))
    keys = sorted(value, key=lambda key: (len(key.encode()), key.encode()))
    return _head(5, len(value)) + b"".join(cbor(key) + cbor(value[key]) for key in keys)


def _head(kind: int, number: int) -> bytes:
    if number < 24:
        return bytes([kind << 5 | number])
    size = next(size for size in range(4) if number < 1 << 8 * (1 << size))
    return bytes([kind << 5 | 24 + size]) + number.to_bytes(1 << size, "big")


def link_to(block: bytes) -> Link:
    return Link(b"\x01\x71\x12\x20" + hashlib.sha256(block).digest())


def spelled(link: bytes) -> str:
    """A CID as people write it."""
    return "b" + base64.b32encode(link).decode().lower().rstrip("=")


def layer_of(key: bytes) -> int:
    """How high a key stands in the tree: two zero bits of its hash are one layer."""
    number = int.from_bytes(hashlib.sha256(key).digest(), "big")
    return (256 - number.bit_length()) // 2


def tree(entries: dict[bytes, Link]) -> tuple[Link, list[bytes]]:
    """The Merkle search tree of records by key: its root and its blocks."""
    blocks: list[bytes] = []
    keys = sorted(entries)

    def node(keys: list[bytes], layer: int) -> Link | None:
        if not keys and layer >= 0 and blocks:
            return None
        here = [at for at, key in enumerate(keys) if layer_of(key) == layer]
        bounds = [-1, *here, len(keys)]
        below = [
            node(keys[left + 1 : right], layer - 1) if right > left + 1 else None
            for left, right in pairwise(bounds)
        ]
        listed, before = [], b""
        for at, after in zip(here, below[1:], strict=True):
            key = keys[at]
            shared = next((n for n, (a, b) in enumerate(zip(key, before, strict=False)) if a != b),
                          min(len(key), len(before)))  # fmt: skip
            listed.append({"p": shared, "k": key[shared:], "v": entries[key], "t": after})
            before = key
        blocks.append(cbor({"l": below[0], "e": listed}))
        return link_to(blocks[-1])

    root = node(keys, max(map(layer_of, keys), default=0))
    assert root is not None
    return root, blocks


def varint(number: int) -> bytes:
    low, high = number & 127, number >> 7
    return bytes([low | 128]) + varint(high) if high else bytes([low])


def section(block: bytes, link: bytes | None = None) -> bytes:
    whole = (link_to(block) if link is None else link) + block
    return varint(len(whole)) + whole


def car(root: Link, blocks: Iterable[bytes]) -> bytes:
    header = cbor({"roots": [root], "version": 1})
    return varint(len(header)) + header + b"".join(map(section, blocks))


def rkey(number: int) -> str:
    """A record key like atproto's: 13 characters that sort by time."""
    letters = "234567abcdefghijklmnopqrstuvwxyz"
    return "".join(letters[(number >> 5 * place) & 31] for place in reversed(range(13)))


def record(post: Plain) -> dict[str, Any]:
    """A record of app.bsky.feed.post; the last tag is in `tags`, the others are facets."""
    at = post.at.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    fields: dict[str, Any] = {"$type": "app.bsky.feed.post", "text": post.text, "createdAt": at,
                              "langs": ["en"]}  # fmt: skip
    facets = []
    for found in re.finditer(r"#(\w+)", post.text):
        start = len(post.text[: found.start()].encode())
        facets.append(
            {"index": {"byteStart": start, "byteEnd": start + len(found.group().encode())},
             "features": [{"$type": "app.bsky.richtext.facet#tag", "tag": found[1]}]}
        )  # fmt: skip
    if facets:
        fields["facets"] = facets
    if post.tags:
        fields["tags"] = list(post.tags)
    if post.reply:
        parent = {"uri": f"at://{DID}/app.bsky.feed.post/{rkey(1)}", "cid": "bafy"}
        fields["reply"] = {"root": parent, "parent": parent}
    return fields


def key_of_post(post: Plain) -> bytes:
    return f"app.bsky.feed.{'repost' if post.repeats else 'post'}/{rkey(post.number)}".encode()


def repository(posts: Iterable[Plain], deleted: Iterable[Plain] = ()) -> list[bytes]:
    """The blocks of a repository, the commit first; of deleted posts the records are left."""
    subject = {"uri": "at://did:plc:bob/app.bsky.feed.post/3k", "cid": "bafy"}
    values: dict[bytes, dict[str, Any]] = {
        b"app.bsky.actor.profile/self": {"$type": "app.bsky.actor.profile", "displayName": "Ann"}
    }
    for post in posts:
        fields = {"$type": "app.bsky.feed.repost", "subject": subject, "createdAt": "2026-01-01"}
        values[key_of_post(post)] = fields if post.repeats else record(post)
        like = {**fields, "$type": "app.bsky.feed.like", "n": post.number}
        values[f"app.bsky.feed.like/{rkey(post.number)}".encode()] = like
        values[f"app.bsky.graph.follow/{rkey(post.number)}".encode()] = {**like, "f": True}
    records = {key: cbor(value) for key, value in values.items()}
    root, nodes = tree({key: link_to(block) for key, block in records.items()})
    commit = cbor({"did": DID, "version": 3, "prev": None, "data": root, "rev": rkey(99),
                   "sig": bytes(64)})  # fmt: skip
    gone = [cbor(record(post)) for post in deleted]
    return [commit, *nodes, *records.values(), *gone]


def list_records(posts: Iterable[Plain]) -> bytes:
    """The answer of com.atproto.repo.listRecords."""
    listed = [
        {"uri": f"at://{DID}/{key_of_post(post).decode()}", "cid": "bafy", "value": record(post)}
        for post in posts
        if not post.repeats
    ]
    return json.dumps({"records": listed, "cursor": rkey(2)}).encode()


# Packed


def zipped(files: dict[str, bytes]) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return whole.getvalue()


def tarred(files: dict[str, bytes], mode: str = "w:gz", **about: Any) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode=mode, **about) as packed:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            packed.addfile(info, io.BytesIO(content))
    return whole.getvalue()
