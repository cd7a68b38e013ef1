"""What following leaves in the store: each source's cursor, in one transaction with its posts.

Other people are kept under salted hashes. Only one's own accounts keep their names, and their posts
the ids that archives give them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from pydantic import ValidationError

from hashnews.errors import DataError
from hashnews.news.arrivals import note_arrival
from hashnews.news.store import NewsStore
from hashnews.posts.archives.texts import whole
from hashnews.posts.networks.authors import hashed, salt_of
from hashnews.posts.networks.events import Arrival, AuthorGone, Removed, Wrote
from hashnews.posts.networks.sources import FollowedSource, delete_where, now
from hashnews.posts.table import post_row, remembered
from hashnews.prepare.preparer import Preparer
from hashnews.records import Post, PreparedPost, parse_time
from hashnews.times import FUTURE, MICROSECOND, is_future

UPSERT = """
    INSERT INTO posts (posted, id, user, hashtags, inline, body) VALUES (?,?,?,?,?,?)
    ON CONFLICT (id) DO UPDATE SET hashtags = excluded.hashtags, inline = excluded.inline,
        body = excluded.body
    WHERE (hashtags, inline, body) != (excluded.hashtags, excluded.inline, excluded.body)
"""


class Told(NamedTuple):
    """What a source told, and how it fares: one line of a batch of the writer."""

    source: int
    arrival: Arrival
    state: str = "following"
    rate: float = 0.0


class Follows:
    """What sources bring, each followed in its own way."""

    def __init__(
        self, store: NewsStore, preparer: Preparer, sources: Sequence[FollowedSource],
        accounts: Mapping[str, str],
    ):  # fmt: skip
        self.ended: set[int] = set()  # sources that somebody paused or forgot meanwhile
        self._store = store
        self._db = store.database
        self._preparer = preparer
        self._sources = {source.number: source for source in sources}
        self._accounts = accounts
        self._salt = salt_of(store)

    def settle(self, told: Sequence[Told]) -> int:
        """Take in what sources told, in order, and where each resumes; says how many posts."""
        batch = _Settlement(self, self._followed(told))
        with self._db.transaction():
            if len(left := self._followed(told)) < len(batch.told):
                batch = _Settlement(self, left)
            batch.write()
        return len(batch.kept)

    def _followed(self, told: Sequence[Told]) -> list[Told]:
        """What was told by sources that nobody has paused or forgotten since."""
        followed = self._db.rows("SELECT number FROM followed WHERE NOT paused")
        self.ended |= self._sources.keys() - {number for (number,) in followed}
        return [one for one in told if one.source not in self.ended]

    def forget_old(self) -> int:
        """Forget what is older, or more, than a source keeps; one's own posts stay."""
        return sum(self._forget_old(source) for source in self._sources.values())

    def _forget_old(self, source: FollowedSource) -> int:
        own = tuple(dict.fromkeys(self._accounts.values()))
        others = f"(user IS NULL OR user NOT IN ({','.join('?' * len(own))}))" if own else "1"
        sighted = f"id IN (SELECT post FROM sightings WHERE source = ?) AND {others}"
        values = (source.number, *own)
        oldest = now() - source.settings.keep // MICROSECOND
        gone = delete_where(self._store, f"posted < ? AND {sighted}", (oldest, *values))
        most = source.settings.most
        count = "SELECT count(*) FROM sightings WHERE source = ?"
        ((sightings,),) = self._db.rows(count, (source.number,))
        if sightings <= most:
            return gone
        ((there,),) = self._db.rows(f"SELECT count(*) FROM posts WHERE {sighted}", values)
        if there <= most:
            return gone
        first = f"SELECT row FROM posts WHERE {sighted} ORDER BY posted LIMIT ?"
        return gone + delete_where(self._store, f"row IN ({first})", (*values, there - most))

    # ----- names -----

    def author(self, account: str) -> str:
        """The name an author's posts are stored under."""
        return self._accounts.get(account.lower()) or hashed(self._salt, account.lower())

    def post_id(self, uri: str, account: str = "") -> str:
        """The id of a post: for one's own its uri, for others a hash of it."""
        own = account.lower() in self._accounts
        return whole(uri) if own else hashed(self._salt, uri)

    # ----- for one batch -----

    def prepared(self, wrote: Wrote, number: int) -> PreparedPost | None:
        """A post as the memory keeps it; None where it has no hashtag, or is too old."""
        try:
            created, seen = parse_time(wrote.created_at, "end"), datetime.now(UTC)
            if is_future(created, seen):
                raise DataError(FUTURE)
            own = wrote.author.lower() in self._accounts
            if not own and created < seen - self._sources[number].settings.keep:
                return None
            post = Post(
                id=self.post_id(wrote.uri, wrote.author),
                text=whole(wrote.text),
                created_at=min(created, seen),
                user=self.author(wrote.author),
            )
            return next(self._preparer.remember([post]), None)
        except (ValueError, ValidationError) as error:
            raise DataError(str(error)) from None


class _Settlement:
    """What several arrivals come to: what is left of it in the end is written at once."""

    def __init__(self, follows: Follows, told: Sequence[Told]):
        self._follows = follows
        self._db = follows._db
        self.told = told
        self.kept: dict[str, PreparedPost] = {}
        self._removed: dict[str, int] = {}  # ids, and the source that said so
        self._places: dict[tuple[int, str], str] = {}
        self._gone: dict[str, int] = {}  # authors
        self._refused: dict[int, int] = {}
        self._brought: dict[str, int] = {}
        for one in told:
            refused = one.arrival.refused + sum(
                not self._take(one.source, event) for event in one.arrival.events
            )
            counted = self._refused.get(one.source, 0)
            self._refused[one.source] = counted + (0 if one.arrival.again else refused)

    def _take(self, source: int, event: Wrote | Removed | AuthorGone) -> bool:
        """Take in one event; returns whether it is of use."""
        if isinstance(event, Wrote):
            return self._wrote(source, event)
        if isinstance(event, AuthorGone):
            author = self._follows.author(event.author)
            self._gone[author] = source
            for post in [post for post in self.kept.values() if post.user == author]:
                self._remove(source, post.id)
        elif event.uri:
            for identifier in {self._follows.post_id(event.uri), event.uri}:
                self._remove(source, identifier)
        elif (source, event.place) in self._places:
            self._remove(source, self._places[source, event.place])
        else:
            found = "SELECT post FROM sightings WHERE source = ? AND place = ?"
            for (identifier,) in self._db.rows(found, (source, event.place)):
                self._remove(source, identifier)
        return True

    def _wrote(self, source: int, event: Wrote) -> bool:
        try:
            post = self._follows.prepared(event, source)
        except DataError:
            return False
        if post is None:
            self._remove(source, self._follows.post_id(event.uri, event.author))
            return True
        self._removed.pop(post.id, None)
        self.kept[post.id] = post
        self._brought.setdefault(post.id, source)
        self._places[source, event.place or post.id] = post.id
        return True

    def _remove(self, source: int, identifier: str) -> None:
        self.kept.pop(identifier, None)
        self._removed[identifier] = source

    def write(self) -> None:
        """Within a transaction: what went, what came, where to resume."""
        if self.kept or self._removed or self._gone:
            self._db.raise_generation()
        removed = self._delete()
        self._leave_out()
        added = self._insert()
        sightings = [
            (source, place, post)
            for (source, place), post in self._places.items()
            if post in self.kept
        ]
        self._db.run_many("INSERT OR REPLACE INTO sightings VALUES (?,?,?)", sightings)
        for source in {one.source for one in self.told}:
            self._count(source, added.get(source, 0), removed.get(source, 0))
        for one in self.told:
            self._settle(one)

    def _delete(self) -> dict[int, int]:
        """Delete; says how many posts went by each source's word."""
        counts: dict[int, int] = {}
        # Under one's own name there are posts of archives and other networks, too.
        sighted = "EXISTS (SELECT 1 FROM sightings WHERE post = posts.id AND source = ?)"
        here = f"user = ? AND {sighted}"
        for which, names in ((here, self._gone), ("id = ?", self._removed)):
            for name, source in names.items():
                values = (name, source)[: which.count("?")]
                ((count,),) = self._db.rows(f"SELECT count(*) FROM posts WHERE {which}", values)
                if count:
                    counts[source] = counts.get(source, 0) + count
                    self._db.run(f"DELETE FROM posts WHERE {which}", values)
        return counts

    def _leave_out(self) -> None:
        silent = {author for (author,) in self._db.rows("SELECT author FROM left_out")}
        for post in [post for post in self.kept.values() if post.user in silent]:
            del self.kept[post.id]

    def _insert(self) -> dict[int, int]:
        """Insert or change; says how many posts each source brought that were not there."""
        known = set()
        for identifier in self.kept:
            if self._db.rows("SELECT 1 FROM posts WHERE id = ?", (identifier,)):
                known.add(identifier)
        rows = [post_row(remembered(post)) for post in self.kept.values()]
        self._db.run_many(UPSERT, rows)
        counts: dict[int, int] = {}
        for identifier in self.kept.keys() - known:
            source = self._brought[identifier]
            counts[source] = counts.get(source, 0) + 1
        return counts

    def _count(self, source: int, added: int, removed: int) -> None:
        refused = self._refused[source]
        address = self._follows._sources[source].address
        note_arrival(self._follows._store, address, "posts", added, removed, refused)
        self._db.run(
            "UPDATE followed SET posts = posts + ?, removed = removed + ?, refused = refused + ? "
            "WHERE number = ?",
            (added, removed, refused, source),
        )

    def _settle(self, one: Told) -> None:
        arrival = one.arrival
        lag = max(0, now() - arrival.latest) / 1e6 if arrival.latest else None
        self._db.run(
            "UPDATE followed SET state = ?, rate = ?, seen = ?, cursor = coalesce(?, cursor), "
            "lag = coalesce(?, lag) WHERE number = ?",
            (one.state, one.rate, now(), arrival.cursor, lag, one.source),
        )
        if arrival.note:
            self._db.run(
                "UPDATE followed SET error = ?, failed = ? WHERE number = ?",
                (arrival.note[:500], now(), one.source),
            )


def places_between(store: NewsStore, source: int, first: str, last: str) -> list[str]:
    """The places of a source's posts from the first to the last, these two included."""
    found = store.database.rows(
        "SELECT place FROM sightings WHERE source = ? AND place BETWEEN ? AND ?",
        (source, first, last),
    )
    return [place for (place,) in found]
