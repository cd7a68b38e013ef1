"""What the news process does: it adds articles, keeps the index up to date and looks things up.

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

from hashnews.index.day import fold_entity
from hashnews.index.folder import NewsIndex
from hashnews.news.ingest import add_articles
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary
from hashnews.records import Article, write_time
from hashnews.retrieve.trends import RECENT, SHOWN, trends
from hashnews.service.schemas import Holdings
from hashnews.suggest.pipeline import sample_store
from hashnews.text.entities import EntityFinder, load_finder
from hashnews.times import A_DAY, microseconds, moment_of


class NewsProcess:
    """One store and its index."""

    def __init__(self, news: Path | None, writes: bool):
        path = sample_store() if news is None else news
        self._store = NewsStore(path, "write" if writes else "read")
        self._index = NewsIndex.open(self._store)
        self._finder: EntityFinder | None = None
        self._seen: tuple[object, ...] = ()
        self._added = 0
        self._rising = lru_cache(256)(self._trends)

    def add(self, articles: Sequence[Article]) -> dict[str, object]:
        """Add articles; when this returns they are on the disk. Says what became of them."""
        if self._finder is None:
            self._finder = load_finder(self._store.state().finder or "fast")
        refusals = Refusals(Summary())
        add_articles(self._store, self._finder, articles, refusals)
        self._added += refusals.summary.added
        return refusals.summary.as_dict()

    def refresh(self) -> Holdings | None:
        """Index what was added, by whichever program; None where nothing was."""
        ((others,),) = self._store.database.rows("PRAGMA data_version")  # not our own changes
        seen = (others, self._added)
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
        """The entities on the rise, as JSON; without a time, as of this minute."""
        moment = at or datetime.now(UTC).replace(second=0, microsecond=0)
        return self._rising(moment.astimezone(UTC), n, self._index.version)

    def _trends(self, at: datetime, n: int, version: int) -> bytes:
        days = [(at - timedelta(days=back)).date().isoformat() for back in range(SHOWN, -1, -1)]
        found = trends(self._index, at, n)
        written = self._written({trend.entity for trend in found}, at)
        told = [{**trend._asdict(), "entity": written[trend.entity]} for trend in found]
        answer = {"at": write_time(at), "days": days, "trends": told}
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
        times = (None if time is None else moment_of(time) for time in (oldest, newest))
        return Holdings(len(self._store), *times)
