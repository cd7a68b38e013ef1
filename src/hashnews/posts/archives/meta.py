"""Threads and Instagram, in the JSON of Meta's "Download your information".

The formats were read in published descriptions and readers of such downloads: Threads has
`threads_and_replies.json`, `{"text_post_app_text_posts": [{"media": [{"title",
"creation_timestamp", "text_app_post": {"is_reply"}}]}]}`; Instagram has `posts_1.json`, a bare list
of posts with `media` and, for several pictures, the caption and the time at the post itself, and
`reels.json` with `ig_reels_media`. Every text is UTF-8 read as Latin-1. Times are seconds
since 1970. `personal_information.json` names the account. Archived and deleted posts are not read.
"""

from __future__ import annotations

from typing import Any

from hashnews.errors import DataError
from hashnews.posts.archives.dates import everyday_time
from hashnews.posts.archives.texts import Written, dict_in, list_in, text_in
from hashnews.records import identify

NAME = "Threads and Instagram"
POSTS = frozenset({"text_post_app_text_posts", "ig_reels_media", "ig_igtv_media"})
ACCOUNTS = frozenset({"profile_user", "text_post_app_text_post_app_profile"})


def knows(name: str, item: Any) -> bool:
    """Whether these are posts: by the key, or, in a bare list, by what the items hold."""
    if name:
        return name in POSTS
    media = list_in(dict_in(item).get("media"))
    times = (dict_in(item), *map(dict_in, media))
    return bool(media) and any("creation_timestamp" in one for one in times)


def owner(name: str, item: Any) -> str | None:
    """The account's name, where this is the file that says it."""
    if name not in ACCOUNTS:
        return None
    labels = dict_in(dict_in(item).get("string_map_data"))
    return mended(text_in(dict_in(labels.get("Username")).get("value"))) or None


def post_of(item: Any, replies: bool) -> Written | None:
    """The post of an item; None for replies."""
    if not isinstance(item, dict):
        raise DataError("a post that is no object")
    media = [dict_in(one) for one in list_in(item.get("media"))]
    first = media[0] if media else {}
    if dict_in(first.get("text_app_post")).get("is_reply") and not replies:
        return None
    text = mended(text_in(item.get("title")) or text_in(first.get("title")))
    at = item.get("creation_timestamp") or first.get("creation_timestamp")
    if not text:
        return None
    return Written(
        identify("meta", at, text), text, None if at is None else everyday_time(at)
    )  # fmt: skip


def mended(text: str) -> str:
    """Meta's texts as they were written; one that is right already stays."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text
