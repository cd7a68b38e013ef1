"""X's `tweets.js`, the older `tweet.js`, and `data/js/tweets/2013_07.js` of the first archives.

The formats were read in archives that people published: `window.YTD.tweets.part0 = [{"tweet":
{...}}]` with `full_text`, `created_at` as `Sat Feb 18 12:33:11 +0000 2023` and `entities.hashtags`
(`archive_data.md` of the Community Archive); `window.YTD.tweet.part0` before 2022, at first
without the inner "tweet"; `Grailbird.data.tweets_2016_08 = [{...}]` with `text`, `user` and times
as above or as `2013-07-31 20:24:25 +0000`. `account.js` names the account. Deleted posts, likes
and messages have files of their own, which are not read.
"""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime
from typing import Any

from hashnews.errors import DataError
from hashnews.posts.archives import dates
from hashnews.posts.archives.dates import everyday_time
from hashnews.posts.archives.texts import Written, dict_in, list_in, text_in

NAME = "X"
POSTS = re.compile(
    r"window\.YTD\.(?:tweets?|community_tweet)\.part\d+|Grailbird\.data\.tweets_\d{4}_\d\d"
)
TIME = re.compile(
    r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d\d) (\d\d):(\d\d):(\d\d) \+0000 (\d{4})", re.ASCII
)
MONTHS = {name[:3].title(): number for number, name in enumerate(dates.MONTHS, 1)}
ACCOUNT = re.compile(r"window\.YTD\.account\.part\d+")


def knows(name: str, item: Any) -> bool:
    """Whether these are posts: by the variable, or, in a bare list, by what the items hold."""
    if name:
        return POSTS.fullmatch(name) is not None
    inner = _inner(item)
    return "full_text" in inner and "created_at" in inner and ("id_str" in inner or "id" in inner)


def owner(name: str, item: Any) -> str | None:
    """The account's name, where this is the file that says it."""
    if ACCOUNT.fullmatch(name) is None:
        return None
    return text_in(dict_in(dict_in(item).get("account")).get("username")) or None


def post_of(item: Any, replies: bool) -> Written | None:
    """The post of an item; None for retweets and replies."""
    if not isinstance(item, dict):
        raise DataError("a post that is no object")
    post = _inner(item)
    text = text_in(post.get("full_text")) or text_in(post.get("text"))
    if text.startswith("RT @") or post.get("retweeted_status"):
        return None
    if not replies and any(
        post.get(f"in_reply_to_{what}") for what in ("status_id_str", "status_id", "user_id_str")
    ):
        return None
    number = post.get("id_str") or post.get("id")
    if not isinstance(number, str | int) or not str(number).isascii():
        raise DataError("a post without an id")
    at = post.get("created_at")
    listed = list_in(dict_in(post.get("entities")).get("hashtags"))
    return Written(
        str(number),
        html.unescape(text),
        None if at is None else _moment(text_in(at)),
        text_in(dict_in(post.get("user")).get("screen_name")) or None,
        tuple(text_in(dict_in(tag).get("text")) for tag in listed),
    )


def _moment(written: str) -> datetime:
    """`Sat Feb 18 12:33:11 +0000 2023`; what is written otherwise takes longer to read."""
    if (found := TIME.fullmatch(written)) and found[1] in MONTHS:
        day, hour, minute, second, year = map(int, found.groups()[1:])
        return datetime(year, MONTHS[found[1]], day, hour, minute, second, tzinfo=UTC)
    return everyday_time(written)


def _inner(item: Any) -> dict[str, Any]:
    outer = dict_in(item)
    return dict_in(outer["tweet"]) if "tweet" in outer else outer
