"""The shipped starter list: public feeds of well-known outlets and agencies.

Nobody tested them here: outlets move and end their feeds as they like. `starter.opml` has a folder
per topic; the category of a feed is its country, `int` for those of no single one.
"""

from __future__ import annotations

from importlib import resources

from hashnews.errors import DataError
from hashnews.news.feed_lists import ListedFeed, read_opml


def starter_feeds(name: str | None = None) -> list[ListedFeed]:
    """The feeds of the list, of a topic or of a country."""
    content = (resources.files("hashnews.news") / "starter.opml").read_bytes()
    every = read_opml(content, "starter.opml")
    if name is None:
        return every
    picked = [feed for feed in every if name.lower() in (feed.topic, *feed.labels)]
    if not picked:
        topics = sorted({feed.topic for feed in every})
        countries = sorted({label for feed in every for label in feed.labels})
        raise DataError(
            f"the starter list has nothing for {name!r}: it has the topics {' '.join(topics)} "
            f"and the countries {' '.join(countries)}"
        )
    return picked
