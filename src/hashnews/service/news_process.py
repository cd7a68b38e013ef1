"""What the news process does: it adds articles and posts, keeps the index and looks things up.

It is the only one that builds days of the index; the suggest processes read what it built.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from hashnews.index.day import fold_entity
from hashnews.index.folder import NewsIndex
from hashnews.news.ingest import add_articles
from hashnews.news.own_feeds import list_feeds
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary
from hashnews.news.websub import Subscriptions
from hashnews.posts.sample_store import sample_store
from hashnews.posts.table import PostCount, add_posts, delete_posts
from hashnews.prepare.preparer import Preparer
from hashnews.records import Article, Post, PreparedPost, write_time
from hashnews.retrieve.trends import RECENT, SHOWN, trends
from hashnews.service.schemas import Holdings
from hashnews.service.ways_store import WaysStore
from hashnews.suggest.memory import Memory
from hashnews.suggest.rising_hashtags import rising_hashtags
from hashnews.text.entities import EntityFinder, load_finder
from hashnews.text.hashtags import shipped_forms
from hashnews.text.segment import shipped_segmenter
from hashnews.times import A_DAY, is_future, microseconds, moment_of

POST_UNDATED, POST_OF_THE_FUTURE = "no created_at", "posted in the future"
NO_HASHTAG = "no hashtag in its author's own words"


class NewsProcess:
    """One store and its index."""

    def __init__(self, news: Path | None, writes: bool):
        path = sample_store() if news is None else news
        self._store = NewsStore(path, "write" if writes else "read")
        self._index = NewsIndex.open(self._store)
        self._finder: EntityFinder | None = None
        self._preparer: Preparer | None = None
        self._memory: Memory | None = None
        self._forms = shipped_forms()
        self._seen: tuple[object, ...] = ()
        self._posts = PostCount()
        self._changes = 0  # our own
        self._rising = lru_cache(256)(self._trends)

    def add(self, articles: Sequence[Article]) -> dict[str, object]:
        """Add articles; when this returns they are on the disk. Says what became of them."""
        if self._finder is None:
            self._finder = load_finder(self._store.state().finder or "fast")
        refusals = Refusals(Summary())
        add_articles(self._store, self._finder, articles, refusals)
        self._changes += refusals.summary.added
        return refusals.summary.as_dict()

    def add_posts(self, posts: Sequence[Post]) -> dict[str, object]:
        """Remember posts, each id once; when this returns they are on the disk."""
        now = datetime.now(UTC)
        refused: Counter[str] = Counter()
        fit = []
        for post in posts:
            ready = self._memorable(post, now)
            if isinstance(ready, str):
                refused[ready] += 1
            else:
                fit.append(ready)
        done = add_posts(self._store, fit)
        self._changes += done.added + done.forgotten
        because = {"refused": refused.total(), "refused_because": dict(refused.most_common())}
        return done._asdict() | because

    def _memorable(self, post: Post, now: datetime) -> PreparedPost | str:
        """A post as the memory takes it, or why it does not."""
        if post.created_at is None:
            return POST_UNDATED
        if is_future(post.created_at, now):
            return POST_OF_THE_FUTURE
        if self._preparer is None:
            self._preparer = Preparer(shipped_segmenter(), load_finder("fast"))
        return next(self._preparer.remember([post]), NO_HASHTAG)

    def delete_post(self, identifier: str) -> int:
        """Forget a post; says how many there were."""
        gone = delete_posts(self._store, [identifier])
        self._changes += gone
        return gone

    def feeds(self) -> list[dict[str, object]]:
        """The feeds of the store and how they are."""
        now = datetime.now(UTC)
        return [feed.as_dict(now) for feed in list_feeds(self._store)]

    def websub(self, what: str, *arguments: Any) -> bool:
        """What a hub tells: that it `answered`, or that there `is_news`."""
        subscriptions = Subscriptions(self._store)
        if what == "is_known":
            return subscriptions.named(*arguments) is not None
        told: bool = getattr(subscriptions, what)(*arguments)
        return told

    def ways(self, what: str, *arguments: object) -> object:
        """What the page's ways in ask for."""
        told = WaysStore(self._store).do(what, *arguments)
        self._changes += what != "state"
        return told

    def refresh(self) -> Holdings | None:
        """Index what was added, by whichever program; None where nothing was."""
        if self._store.database.follow_name():
            self._seen, self._posts = (), PostCount()
        ((others,),) = self._store.database.rows("PRAGMA data_version")  # not our own changes
        seen = (others, self._changes)
        if seen == self._seen:
            return None
        self._index.refresh(self._store)
        self._seen = seen
        return self._holdings()

    def article(self, identifier: str) -> bytes | None:
        """An article as JSON."""
        found = self._store.get(identifier)
        return None if found is None else found.to_json().encode()

    def trends(self, at: datetime | None, n: int) -> bytes:
        """The entities and hashtags on the rise, as JSON; without a time, as of this minute."""
        moment = at or datetime.now(UTC).replace(second=0, microsecond=0)
        return self._rising(moment.astimezone(UTC), n, self._seen)

    def _trends(self, at: datetime, n: int, seen: object) -> bytes:
        days = [(at - timedelta(days=back)).date().isoformat() for back in range(SHOWN, -1, -1)]
        found = trends(self._index, at, n)
        if self._memory is None:
            self._memory = Memory.open(self._store)
        self._memory.refresh(self._store)
        hashtags = rising_hashtags(self._memory, microseconds(at), self._forms, n)
        written = self._written({trend.entity for trend in found}, at)
        told = [{**trend._asdict(), "entity": written[trend.entity]} for trend in found]
        answer = {
            "at": write_time(at),
            "days": days,
            "trends": told,
            "hashtags": [one._asdict() for one in hashtags],
        }
        return json.dumps(answer, ensure_ascii=False).encode()

    def _written(self, folded: set[str], at: datetime) -> dict[str, str]:
        """Entities as the news mostly writes them: the index knows them only without case."""
        rows = self._store.database.rows(
            "SELECT entities FROM articles WHERE published >= ? AND published < ?",
            (microseconds(at) - (RECENT + 1) * A_DAY, microseconds(at)),
        )
        mentions = Counter(chain.from_iterable(json.loads(entities) for (entities,) in rows))
        written = {name: name for name in folded}
        for mention, _ in reversed(mentions.most_common()):
            if (name := fold_entity(mention)) in folded:
                written[name] = mention
        return written

    def _holdings(self) -> Holdings:
        ((oldest, newest),) = self._store.database.rows(
            "SELECT (SELECT min(published) FROM articles), (SELECT max(published) FROM articles)"
        )
        first, last = (None if time is None else moment_of(time) for time in (oldest, newest))
        self._posts = self._posts.now(self._store)
        return Holdings(len(self._store), first, last, self._posts.posts)
