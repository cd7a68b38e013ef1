"""Mastodon's `outbox.json`: the activities of an account.

The format was read in Mastodon's sources, `app/services/backup_service.rb` (an OrderedCollection
with `orderedItems`, packed with media, `likes.json`, `bookmarks.json` and `actor.json` as .tar.gz,
since 4.3 as .zip) and `app/serializers/activitypub/note_serializer.rb` (`content` in HTML,
`published`, `inReplyTo`, `to`, `cc`, `url`, `tag`), and in ActivityPub (W3C, section 5.1).
"""

from __future__ import annotations

import re
from typing import Any

from hashnews.errors import DataError
from hashnews.posts.archives.texts import Written, dict_in, html_text, list_in, text_in

NAME = "Mastodon"
PUBLIC = ("https://www.w3.org/ns/activitystreams#Public", "as:Public", "Public")
ADDRESS = re.compile(r"https?://([^/\s]{1,255})/(?:@|(?:ap/)?users/)([^/\s]{1,255})")


def knows(name: str, item: Any) -> bool:
    """Whether this is the outbox; lists of liked posts hold addresses only."""
    return name == "orderedItems" and isinstance(item, dict)


def owner(name: str, item: Any) -> str | None:
    """Nobody: each post says who wrote it."""
    return None


def post_of(item: Any, replies: bool) -> Written | None:
    """The post of an activity; None for boosts, messages to single people and replies."""
    if not isinstance(item, dict):
        raise DataError("an activity that is no object")
    if item.get("type") != "Create":
        return None
    note = item.get("object")
    if not isinstance(note, dict):
        raise DataError("a post that is no object")
    if (note.get("inReplyTo") and not replies) or not _is_open(note):
        return None
    content = text_in(note.get("content")) or _first(note.get("contentMap"))
    tags = [dict_in(tag) for tag in list_in(note.get("tag"))]
    return Written(
        text_in(note.get("id")) or text_in(note.get("url")),
        html_text(content),
        note.get("published") or item.get("published"),
        _author(note, item),
        tuple(text_in(tag.get("name")) for tag in tags if tag.get("type") == "Hashtag"),
    )


def _is_open(note: dict[str, Any]) -> bool:
    """Whether a post went to all or to the followers, not to those alone whom it names."""
    readers = [*_listed(note.get("to")), *_listed(note.get("cc"))]
    return not readers or any(name in PUBLIC or name.endswith("/followers") for name in readers)


def _listed(value: Any) -> list[str]:
    return [text_in(one) for one in (value if isinstance(value, list) else [value]) if one]


def _author(note: dict[str, Any], item: dict[str, Any]) -> str | None:
    """`ann@example.social`, from the address of the post or of its author."""
    for value in (note.get("url"), note.get("attributedTo"), item.get("actor")):
        if found := ADDRESS.match(text_in(value)):
            return f"{found[2]}@{found[1]}"
    return None


def _first(texts: Any) -> str:
    return next((text_in(text) for text in dict_in(texts).values()), "")
