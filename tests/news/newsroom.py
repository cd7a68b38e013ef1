"""A finder that costs nothing, articles by number, and ways to add and compare them."""

import re
from datetime import UTC, datetime, timedelta

from hashnews.news.ingest import add_articles
from hashnews.news.summary import Refusals, Summary
from hashnews.records import Article, Entity

START = datetime(2020, 6, 1, tzinfo=UTC)


class Capitals:
    """Every capitalised word is an entity."""

    name = "capitals"

    def find(self, text):
        return [Entity(m[0], m.start(), m.end()) for m in re.finditer(r"[A-Z]\w+", text)]

    def find_all(self, texts):
        return [self.find(text) for text in texts]


def make(number, **changes):
    values = {
        "id": f"a{number}",
        "title": f"Title {number}",
        "text": f"About Number {number} in Paris.",
        "published_at": START + timedelta(hours=number),
        "url": f"https://example.org/{number}",
        "source": "example.org",
    }
    return Article(**{**values, **changes})


def add(store, articles, finder=None, now=None):
    summary = Summary()
    add_articles(store, finder or Capitals(), articles, Refusals(summary), now=now)
    return summary


def dump(store):
    """Everything a store holds, to compare stores with."""
    return {
        table: store.database.rows(f"SELECT * FROM {table} ORDER BY 1")
        for table in ("articles", "keys", "facts", "reindexed")
    }
