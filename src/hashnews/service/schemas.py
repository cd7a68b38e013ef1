"""What requests and answers look like, beyond the records themselves."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic.config import JsonDict

from hashnews.records import Answer, Article, ArticleTime, Identifier, Post, PostTime, User
from hashnews.service.settings import (
    LONGEST_ARTICLE,
    LONGEST_NAME,
    LONGEST_POST,
    LONGEST_TITLE,
    MOST_ARTICLES,
    MOST_ENTITIES,
    MOST_POSTS,
)

EXAMPLE: JsonDict = {
    "text": "Marching tonight in Minneapolis. Say his name: George Floyd.",
    "created_at": "2020-05-29T20:00:00Z",
}
Short = StringConstraints(max_length=LONGEST_NAME)
Names = Annotated[tuple[Annotated[str, Short], ...], Field(max_length=MOST_ENTITIES)]


def _short_enough(name: str | None) -> str | None:
    if name is not None and len(name) > LONGEST_NAME:
        raise ValueError(f"a name should have at most {LONGEST_NAME} characters")
    return name


class AskedPost(Post):
    """A post for which hashtags, or news, are wanted."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    id: Annotated[Identifier, Short] = ""  # made from the rest where it is left out
    text: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_POST)]
    user: Annotated[User, AfterValidator(_short_enough)] = None
    entities: Names | None = None


class AskedPosts(BaseModel):
    """Several posts at once."""

    posts: list[AskedPost] = Field(min_length=1, max_length=MOST_POSTS)


class Answers(BaseModel):
    """An answer for each post, in order."""

    answers: list[Answer]


class Context(BaseModel):
    """The news for a post, as `hashnews retrieve` writes it."""

    class ContextArticle(BaseModel):
        """An article, best first."""

        id: str
        score: float
        window: int

    post_id: str
    articles: list[ContextArticle]
    context: list[tuple[str, float]]


class GivenArticle(Article):
    """An article to be added."""

    id: Annotated[Identifier, Short] = ""  # made from the rest where it is left out
    title: Annotated[str, StringConstraints(max_length=LONGEST_TITLE)] = ""
    text: Annotated[str, StringConstraints(max_length=LONGEST_ARTICLE)]
    entities: Annotated[tuple[Annotated[str, Short], ...], Field(max_length=10_000)] | None = None


class GivenArticles(BaseModel):
    """Articles to be added."""

    articles: list[GivenArticle] = Field(min_length=1, max_length=MOST_ARTICLES)


class AddedArticles(BaseModel):
    """What became of them; they are on the disk, and searchable within a second."""

    added: int
    known: int
    known_by: dict[str, int]
    refused: int
    refused_because: dict[str, int]


class RisingEntity(BaseModel):
    """An entity on the rise; `counts` are the articles a day that name it, oldest first."""

    entity: str
    popularity: float
    counts: list[int]


class Trends(BaseModel):
    """What is rising, as of a time."""

    at: PostTime
    days: list[date]
    trends: list[RisingEntity]


class Holdings(NamedTuple):
    """How much news there is, and of which time."""

    articles: int
    oldest: datetime | None
    newest: datetime | None


class Health(BaseModel):
    """The service runs."""

    status: str
    version: str


class Ready(BaseModel):
    """The service can answer, from this news."""

    status: str
    version: str
    articles: int
    oldest: ArticleTime | None
    newest: ArticleTime | None
    sample: bool
