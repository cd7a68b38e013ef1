"""What requests and answers look like, beyond the records themselves."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Annotated, Any, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    field_validator,
)

from hashnews.records import Answer, Article, Identifier, Post, PostTime, User, write_time
from hashnews.service.examples import ANSWER, ARTICLE, POST, shown
from hashnews.service.settings import (
    LONGEST_ARTICLE,
    LONGEST_NAME,
    LONGEST_POST,
    LONGEST_TITLE,
    LONGEST_URL,
    MOST_ARTICLES,
    MOST_CHARACTERS,
    MOST_ENTITIES,
    MOST_MEMORIES,
    MOST_MEMORY_CHARACTERS,
    MOST_NEWS_CHARACTERS,
    MOST_POSTS,
)

# As it stands in the store: an old one may hold years that would be refused today.
StoredTime = Annotated[datetime, PlainSerializer(write_time, when_used="json")]
HALF_PAIR = re.compile("[\ud800-\udfff]")
Short = StringConstraints(max_length=LONGEST_NAME)
Names = Annotated[tuple[Annotated[str, Short], ...], Field(max_length=MOST_ENTITIES)]


def _in_all(most: int) -> AfterValidator:
    """What a request costs is known by its characters, before anything is done for it."""

    def bounded(texts: list[Any]) -> list[Any]:
        if sum(len(one.text) for one in texts) > most:
            raise ValueError(f"all of them together have more than {most:,} characters: send fewer")
        return texts

    return AfterValidator(bounded)


def _short_enough(name: str | None) -> str | None:
    if name is not None and len(name) > LONGEST_NAME:
        raise ValueError(f"a name should have at most {LONGEST_NAME} characters")
    return name


def _whole(value: Any) -> Any:
    """Refuse text that is not Unicode: JSON can spell half a surrogate pair."""
    for part in value if isinstance(value, list | tuple) else [value]:
        if isinstance(part, str) and HALF_PAIR.search(part):
            raise ValueError("this is not valid Unicode: half a surrogate pair")
    return value


class AskedPost(Post):
    """A post for which hashtags, or news, are wanted."""

    model_config = shown(POST)

    id: Annotated[Identifier, Short] = ""
    """What the post is called; made from the rest where it is left out."""
    text: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_POST)]
    """What it says, hashtags included."""
    user: Annotated[User, AfterValidator(_short_enough)] = None
    """Who posts it: habits count."""
    entities: Names | None = None
    """Names in it, one for each mention; they are looked for where this is left out."""

    _is_unicode = field_validator("*", mode="before")(_whole)


class AskedPosts(BaseModel):
    """Several posts at once."""

    model_config = shown({"posts": [POST]})

    posts: Annotated[list[AskedPost], _in_all(MOST_CHARACTERS)] = Field(
        min_length=1, max_length=MOST_POSTS
    )
    """The posts; together they may have 64,000 characters."""


class Answers(BaseModel):
    """An answer for each post, in order."""

    model_config = shown({"answers": [ANSWER]})

    answers: list[Answer]
    """One for each post."""


class Context(BaseModel):
    """The news for a post, as `hashnews retrieve` writes it."""

    class ContextArticle(BaseModel):
        """An article, best first."""

        model_config = ConfigDict(use_attribute_docstrings=True)

        id: str
        """What the article is called."""
        score: float
        """How well it matches the post."""
        window: int
        """How many days back the news was looked through to find it."""

    model_config = shown(
        {
            "post_id": "1d2f8a6c2f0b4d11",
            "articles": [{"id": "s127", "score": 12.4, "window": 5}],
            "context": [["floyd", 4.1], ["minneapolis", 3.3]],
        }
    )

    post_id: str
    """The id of the post."""
    articles: list[ContextArticle]
    """The news before the post that is nearest to it, best first."""
    context: list[tuple[str, float]]
    """Words of that news and their weights, heaviest first."""


class GivenArticle(Article):
    """An article to be added."""

    model_config = shown(ARTICLE)

    id: Annotated[Identifier, Short] = ""
    """What the article is called; made from its address or the rest where it is left out."""
    title: Annotated[str, StringConstraints(max_length=LONGEST_TITLE)] = ""
    """Its headline."""
    text: Annotated[str, StringConstraints(max_length=LONGEST_ARTICLE)]
    """What it says, without markup."""
    url: Annotated[str, StringConstraints(max_length=LONGEST_URL)] | None = None
    """Where it can be read."""
    source: Annotated[str, Short] | None = None
    """Who published it."""
    entities: Annotated[tuple[Annotated[str, Short], ...], Field(max_length=10_000)] | None = None
    """Names in it, one for each mention; they are looked for where this is left out."""

    _is_unicode = field_validator("*", mode="before")(_whole)


class GivenArticles(BaseModel):
    """Articles to be added."""

    model_config = shown({"articles": [ARTICLE]})

    articles: Annotated[list[GivenArticle], _in_all(MOST_NEWS_CHARACTERS)] = Field(
        min_length=1, max_length=MOST_ARTICLES
    )
    """The articles; one that is there already is counted and changes nothing."""


class AddedArticles(BaseModel):
    """What became of them; they are on the disk, and searchable within a second."""

    model_config = shown(
        {"added": 1, "known": 0, "known_by": {}, "refused": 0, "refused_because": {}}
    )

    added: int
    """Articles that are new."""
    known: int
    """Articles that were there already."""
    known_by: dict[str, int]
    """By what they were known: how many by address, headline or text."""
    refused: int
    """Articles that were not taken."""
    refused_because: dict[str, int]
    """Why, and how many for each reason."""


class GivenPosts(BaseModel):
    """Posts to be remembered."""

    model_config = shown(
        {
            "posts": [
                {
                    "id": "1",
                    "user": "reader01",
                    "created_at": "2020-06-01T10:00:00Z",
                    "text": "Out of the oven at last #sourdough",
                }
            ]
        }
    )

    posts: Annotated[list[AskedPost], _in_all(MOST_MEMORY_CHARACTERS)] = Field(
        min_length=1, max_length=MOST_MEMORIES
    )
    """The posts, with hashtags and `created_at`."""


class RememberedPosts(BaseModel):
    """What became of them; they are on the disk, and suggested from within a second."""

    model_config = shown(
        {
            "added": 1,
            "known": 0,
            "forgotten": 0,
            "refused": 1,
            "refused_because": {"no hashtag in its author's own words": 1},
        }
    )

    added: int
    """Posts that are new."""
    known: int
    """Posts whose id was there: the first version stays."""
    forgotten: int
    """Posts older than the memory keeps."""
    refused: int
    """Posts that were not taken."""
    refused_because: dict[str, int]
    """Why, and how many for each reason."""


class DeletedPosts(BaseModel):
    """How many posts went."""

    model_config = shown({"deleted": 1})

    deleted: int
    """Posts that are gone."""


class FeedState(BaseModel):
    """A feed of the store and how its last visit went."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    url: str
    """Where it is."""
    title: str
    """What it calls itself."""
    topic: str | None
    """What it is about, as given when it was added."""
    state: str
    """`new`, `fetched`, `unchanged`, `failed`, `waiting` (after a failure) or `visiting`."""
    note: str | None
    """What was wrong, if something was."""
    articles: int
    """How many it brought so far."""
    added_at: StoredTime
    """When it was added to the store."""
    visited_at: StoredTime | None
    """When it was last visited."""
    waits_until: StoredTime | None
    """Until when it is left alone."""


class Feeds(BaseModel):
    """The feeds of the store, and whether the service fetches them."""

    model_config = shown(
        {
            "fetching": True,
            "every_seconds": 900.0,
            "feeds": [
                {
                    "url": "https://news.example/feed.xml",
                    "title": "The Example",
                    "topic": "world",
                    "state": "waiting",
                    "note": "503 Service Unavailable",
                    "articles": 40,
                    "added_at": "2020-05-20T08:00:00Z",
                    "visited_at": "2020-05-29T19:45:00Z",
                    "waits_until": "2020-05-29T20:15:00Z",
                }
            ],
        }
    )

    fetching: bool
    """Whether the service was started with `--fetch`."""
    every_seconds: float
    """How often it visits a feed."""
    feeds: list[FeedState]
    """Each feed of the store."""


class RisingEntity(BaseModel):
    """An entity on the rise; `counts` are the articles a day that name it, oldest first."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    entity: str
    """Its name, as the news mostly writes it."""
    popularity: float
    """Temporal popularity: how much likelier it is now than in the four weeks before."""
    counts: list[int]
    """Articles that name it, for each of `days`."""


class RisingTag(BaseModel):
    """A hashtag on the rise; `counts` are the uses a day in remembered posts, oldest first."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    hashtag: str
    """As people write it."""
    people: int
    """How many used it in the last two days."""
    counts: list[int]
    """Uses in remembered posts, for each of `days`."""


class Trends(BaseModel):
    """What is rising, as of a time."""

    model_config = shown(
        {
            "at": "2020-05-29T20:00:00Z",
            "days": ["2020-05-28", "2020-05-29"],
            "trends": [{"entity": "George Floyd", "popularity": 3.2, "counts": [4, 9]}],
            "hashtags": [{"hashtag": "#BlackLivesMatter", "people": 7, "counts": [2, 6]}],
        }
    )

    at: PostTime
    """The time that was looked at; nothing later counts."""
    days: list[date]
    """Eight days up to that time, oldest first."""
    trends: list[RisingEntity]
    """What rose most, first."""
    hashtags: list[RisingTag]
    """Hashtags that more people use than before."""


class Holdings(NamedTuple):
    """How much news there is, and of which time."""

    articles: int
    oldest: datetime | None
    newest: datetime | None
    posts: int = 0  # remembered


class Health(BaseModel):
    """The service runs."""

    model_config = shown({"status": "ok", "version": "0.1.0"})

    status: str
    """Always `ok`."""
    version: str
    """Of HashNews."""


class Ready(BaseModel):
    """The service can answer, from this news."""

    model_config = shown(
        {
            "status": "ready",
            "version": "0.1.0",
            "articles": 150,
            "oldest": "2020-05-20T06:00:00Z",
            "newest": "2020-06-08T21:00:00Z",
            "posts": 99,
            "sample": True,
            "llm": False,
        }
    )

    status: str
    """Always `ready`."""
    version: str
    """Of HashNews."""
    articles: int
    """How many there are."""
    oldest: StoredTime | None
    """When the oldest was published."""
    newest: StoredTime | None
    """When the newest was published."""
    posts: int
    """How many are remembered."""
    sample: bool
    """Whether it is the shipped sample, which is read only."""
    llm: bool
    """Whether there is a language model, too: it reads the posts that are asked about."""
