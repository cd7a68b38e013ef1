"""A file of posts into the memory: opened by its content, dated, prepared, stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from hashnews.errors import DataError
from hashnews.files import OnError, PostFile, Skipped
from hashnews.news.arrivals import note_arrival
from hashnews.news.store import NewsStore
from hashnews.posts.archives.open_file import COLUMNS, ArchiveFile, open_posts
from hashnews.posts.table import KEPT, add_posts, note_own
from hashnews.prepare.datasets import NO_RULES, of_collection, rules_for
from hashnews.prepare.preparer import Preparer
from hashnews.records import Post, PreparedPost
from hashnews.times import is_future

AnyPost = Post | PreparedPost
MOST_NAMES = 10  # of the owner of one archive
Watch = Callable[[Any], Iterable[AnyPost]]


@dataclass(frozen=True)
class AddSettings:
    """How files are added."""

    user: str | None = None
    """Whose posts they are; None: as the file says."""
    replies: bool = False
    """Whether replies of an archive are taken."""
    columns: Mapping[str, str] | None = None
    """The columns of another tool's file."""
    collection: str | None = None
    """Only posts of this collection."""
    keep: timedelta = KEPT
    on_error: OnError = "stop"


class AddedFile(NamedTuple):
    """What came of a file."""

    added: int
    known: int
    forgotten: int
    skipped: int
    is_named: bool  # whether somebody says who wrote each post
    note: str  # what was wrong with the first that was skipped


def add_file(
    store: NewsStore,
    preparer: Preparer,
    file: str,
    settings: AddSettings,
    name: str = "",
    watch: Watch = iter,
    skipped: Skipped | None = None,
) -> AddedFile:
    """Remember the posts of a file; `watch` sees them go by, `name` is what it is called."""
    skipped = skipped or Skipped()
    before, user = skipped.count, settings.user
    opened = open_posts(file, settings.on_error, skipped, settings.columns, settings.replies)
    read = watch(opened)
    named = (post.model_copy(update={"user": user}) for post in read) if user else read
    if user or isinstance(opened, ArchiveFile):
        named = _owned(store, named)
    dated = _dated(of_collection(named, settings.collection), file, settings.on_error, skipped)
    rules = rules_for(file) if isinstance(opened, PostFile) else NO_RULES
    try:
        done = add_posts(store, preparer.remember(dated, rules), settings.keep, whose=user)
    except DataError as error:
        if isinstance(opened, PostFile) and error.reason.startswith("text: is missing"):
            raise DataError(f"text is missing: {COLUMNS}", error.file, error.line) from None
        raise
    refused = skipped.count - before
    note_arrival(store, name or Path(file).name, "posts", done.added, done.forgotten, refused)
    is_named = bool(user) or not isinstance(opened, ArchiveFile) or opened.is_named
    note = "" if skipped.first is None else skipped.first.reason
    return AddedFile(done.added, done.known, done.forgotten, refused, is_named, note)


def _owned(store: NewsStore, posts: Iterable[AnyPost]) -> Iterator[AnyPost]:
    """Posts of somebody's own, whose names the store takes note of; an archive has one or two."""
    names = set[str]()
    for post in posts:
        if post.user and post.user not in names and len(names) < MOST_NAMES:
            names.add(post.user)
            note_own(store, post.user)
        yield post


def _dated(
    posts: Iterable[AnyPost], file: str, on_error: OnError, aside: Skipped
) -> Iterator[AnyPost]:
    """Posts that have a time, and not of the future: else nobody knows whose past they are."""
    now = datetime.now(UTC)
    for post in posts:
        if post.created_at is not None and not is_future(post.created_at, now):
            yield post
            continue
        undated = post.created_at is None
        why = "has no created_at: add it" if undated else "is written in the future: correct it"
        problem = DataError(f"post {post.id} {why}, or --on-error skip", file)
        if on_error == "stop":
            raise problem
        aside.add(problem, post.to_json())
