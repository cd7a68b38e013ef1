"""The memory of posts: earlier posts with their hashtags, beside the news in one store.

Like the news it grows by rows whose numbers are never given twice, so a reader reads on from the
last one it knows; the days of posts that went it learns from the store's `changes_since`. What is
older than a bound goes, unless it is one's own: what others used long ago helps nobody, and the
file stays small.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple
from zlib import crc32

from hashnews.errors import StoreError
from hashnews.news.store import PAGE, NewsStore
from hashnews.records import Hashtag, PreparedPost
from hashnews.times import A_DAY, MICROSECOND, is_future, microseconds, moment_of, time_of

KEPT = timedelta(days=400)  # what comes back comes back within a year: holidays, votes, seasons
BATCH = 1000
COLUMNS = "row, posted, id, user, hashtags, inline, body"
NOT_OWN = (
    "(user IS NULL OR user NOT IN (SELECT name FROM own_names UNION SELECT name FROM own_accounts))"
)


class Remembered(NamedTuple):
    """A post of the memory; `posted` in microseconds since 1970, UTC."""

    row: int
    posted: int
    id: str
    user: str | None
    hashtags: tuple[Hashtag, ...]
    inline: tuple[Hashtag, ...]
    body: str
    checksum: int = 0  # of its row in the store: another one where somebody changed it


class AddedPosts(NamedTuple):
    """What came of adding posts."""

    added: int
    known: int  # their ids were there already
    forgotten: int  # older than the bound
    refused: int = 0  # written in the future, as they say


def remembered(post: PreparedPost, row: int = 0) -> Remembered:
    """A prepared post as the memory keeps it."""
    posted = microseconds(time_of(post))
    return Remembered(row, posted, post.id, post.user, post.hashtags, post.inline, post.body)


def add_posts(
    store: NewsStore,
    posts: Iterable[PreparedPost],
    kept: timedelta = KEPT,
    now: datetime | None = None,
    whose: str | None = None,
) -> AddedPosts:
    """Remember posts, each once; forget those that are `kept` older than the newest.

    Posts of the future are refused, and one that is there already makes no other post old. One's
    own posts stay: somebody's archive is worth as much when they have written little since.
    Posts that are there already become those of `whose`, where somebody says so only now.
    """
    now = now or datetime.now(UTC)
    read = added = refused = 0
    stream = iter(posts)
    while batch := list(islice(stream, BATCH)):
        read += len(batch)
        fit = [post for post in batch if not is_future(time_of(post), now)]
        refused += len(batch) - len(fit)
        with store.database.transaction():
            unchanged = store.database.changed_rows
            store.database.run_many(
                "INSERT OR IGNORE INTO posts (posted, id, user, hashtags, inline, body) "
                "VALUES (?,?,?,?,?,?)",
                [post_row(remembered(post)) for post in fit],
            )
            if new := store.database.changed_rows - unchanged:
                store.database.raise_generation()
            if whose and new < len(fit):
                store.database.run(
                    "UPDATE posts SET user = ?1 WHERE user IS NOT ?1 "
                    "AND id IN (SELECT value FROM json_each(?2))",
                    (whose, json.dumps([post.id for post in fit])),
                )
        added += new
    ((newest,),) = store.database.rows("SELECT coalesce(max(posted), 0) FROM posts")
    oldest = min(newest, microseconds(now)) - kept // MICROSECOND
    forgotten = _delete(store, f"posted < ? AND {NOT_OWN}", oldest)
    return AddedPosts(added, read - added - refused, forgotten, refused)


def note_own(store: NewsStore, name: str) -> None:
    """Take note that posts under this name are somebody's own, which stay however old they are."""
    store.database.run("INSERT OR IGNORE INTO own_names VALUES (?)", (name,))


def delete_posts(store: NewsStore, ids: Sequence[str]) -> int:
    """Forget posts by id, as when their authors deleted them; says how many there were."""
    return _delete(store, "id IN (SELECT value FROM json_each(?))", json.dumps(ids))


def _delete(store: NewsStore, which: str, value: object) -> int:
    with store.database.transaction():
        ((count,),) = store.database.rows(f"SELECT count(*) FROM posts WHERE {which}", (value,))
        if count:
            store.database.raise_generation()
            store.database.run(f"DELETE FROM posts WHERE {which}", (value,))
    return int(count)


def read_posts(store: NewsStore, after: int = 0) -> Iterator[Remembered]:
    """The posts of rows past `after`, in the order they were added."""
    while page := store.database.rows(
        f"SELECT {COLUMNS} FROM posts WHERE row > ? ORDER BY row LIMIT ?", (after, PAGE)
    ):
        yield from (_read_row(store, row) for row in page)
        after = page[-1][0]


def prepared_posts(store: NewsStore) -> Iterator[PreparedPost]:
    """The memory as prepared posts, in the order they were added; their names were not kept."""
    for post in read_posts(store):
        yield PreparedPost(
            id=post.id, created_at=moment_of(post.posted), user=post.user, body=post.body,
            entities=(), hashtags=post.hashtags, inline=post.inline,
        )  # fmt: skip


def pick_posts(store: NewsStore, rows: Sequence[int]) -> list[Remembered]:
    """The posts of some rows."""
    picked = "SELECT value FROM json_each(?)"
    found = store.database.rows(
        f"SELECT {COLUMNS} FROM posts WHERE row IN ({picked})", (json.dumps(rows),)
    )
    return [_read_row(store, row) for row in found]


def days_of_posts(store: NewsStore) -> list[int]:
    """The days of which there are posts, counted from 1970."""
    since = f"(posted % {A_DAY} + {A_DAY}) % {A_DAY}"  # midnight, also before 1970
    found = store.database.rows(f"SELECT DISTINCT (posted - {since}) / {A_DAY} FROM posts")
    return [day for (day,) in found]


def checksums(store: NewsStore, day: int) -> dict[int, int]:
    """The rows of a day's posts, counted from 1970, and their checksums."""
    within = (day * A_DAY, (day + 1) * A_DAY)
    found = store.database.rows(
        f"SELECT {COLUMNS} FROM posts WHERE posted >= ? AND posted < ?", within
    )
    return {row[0]: _checksum(row) for row in found}


def _checksum(row: tuple[Any, ...]) -> int:
    return crc32(repr(row).encode("utf-8", "surrogatepass"))


def _read_row(store: NewsStore, row: tuple[Any, ...]) -> Remembered:
    number, posted, identifier, user, hashtags, inline, body = row
    try:
        trailing, within = _hashtags(hashtags), _hashtags(inline)
    except (TypeError, ValueError):
        raise StoreError(f"{store.path} is damaged in post {number}: restore a backup") from None
    return Remembered(number, posted, identifier, user, trailing, within, body, _checksum(row))


def count_posts(store: NewsStore) -> dict[str, Any]:
    """How many posts are remembered, of how many authors, and from when to when."""
    ((posts, users, first, last),) = store.database.rows(  # each by itself: an index tells it
        "SELECT (SELECT count(*) FROM posts), (SELECT count(DISTINCT user) FROM posts), "
        "(SELECT min(posted) FROM posts), (SELECT max(posted) FROM posts)"
    )
    days = [None if at is None else moment_of(at).date().isoformat() for at in (first, last)]
    return {"posts": posts, "users": users, "first_day": days[0], "last_day": days[1]}


class PostCount(NamedTuple):
    """How many posts there were when the store was at some row and change."""

    posts: int = 0
    last_row: int = 0
    last_change: int = -1

    def now(self, store: NewsStore) -> PostCount:
        """How many there are: only what is new is counted, unless some went or changed."""
        change = store.last_change("posts")
        if change != self.last_change:
            ((posts, row),) = store.database.rows(
                "SELECT (SELECT count(*) FROM posts), (SELECT coalesce(max(row), 0) FROM posts)"
            )
            return PostCount(posts, row, change)
        ((new, row),) = store.database.rows(
            "SELECT count(*), coalesce(max(row), ?1) FROM posts WHERE row > ?1", (self.last_row,)
        )
        return PostCount(self.posts + new, row, change)


def post_row(post: Remembered) -> tuple[object, ...]:
    """The columns of a post that `INSERT` needs."""
    return (
        post.posted, post.id, post.user, _as_json(post.hashtags), _as_json(post.inline), post.body,
    )  # fmt: skip


def _as_json(hashtags: Sequence[Hashtag]) -> str:
    listed = [[tag.written, *tag.words] for tag in hashtags]
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":"))


def _hashtags(text: str) -> tuple[Hashtag, ...]:
    return tuple(Hashtag(tuple(words), written) for written, *words in json.loads(text))
