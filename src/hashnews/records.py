"""The things HashNews speaks of, one class each, checked where they enter and trusted after.

First invariant: nothing published at or after `post.created_at` reaches a context, a statistic
or a candidate. It begins here, with times: every time carries its zone, and a bare day counts as
its end for an article and as its start for a post, so that a day without an hour never leaks:
its end where it ends last (UTC-12), its start where it begins first (UTC+14).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, model_validator

RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
BARE_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
DAY_START = time.min.replace(tzinfo=timezone(timedelta(hours=14)))
DAY_END = time.max.replace(tzinfo=timezone(timedelta(hours=-12)))
BARE_DAYS = {"start": DAY_START, "end": DAY_END, "utc": time.min.replace(tzinfo=UTC)}
FIRST_YEAR, LAST_YEAR = 1900, 2200  # of any time


def parse_time(value: Any, bare_day: Literal["start", "end", "utc"]) -> datetime:
    """A time with its zone from RFC 3339 text, a bare day or an aware datetime.

    A bare day is its start anywhere on Earth, its end anywhere, or its start in UTC.
    """
    if isinstance(value, str):
        text = value.strip()
        if BARE_DAY.fullmatch(text):
            value = date.fromisoformat(text)
        elif RFC_3339.fullmatch(text):
            value = datetime.fromisoformat(text.upper())
        else:
            raise ValueError(f"{text[:40]!r} is not a time: write 2020-06-02T14:05:00Z or a day")
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{value.isoformat()} has no time zone: add Z or an offset")
        moment = value
    elif isinstance(value, date):
        moment = datetime.combine(value, BARE_DAYS[bare_day])
    else:
        raise ValueError(f"a time must be text, not {type(value).__name__}")
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ValueError(f"the year {moment.year} is not from {FIRST_YEAR} to {LAST_YEAR}")
    return moment


def write_time(moment: datetime) -> str:
    """RFC 3339, in the zone it came with, `Z` for UTC."""
    return moment.isoformat().replace("+00:00", "Z")


def _as_id(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Identifier = Annotated[str, BeforeValidator(_as_id)]
# An empty name is no name: posts by nobody known must not look like one busy author.
User = Annotated[str | None, BeforeValidator(lambda value: _as_id(value) or None)]
PostTime = Annotated[
    datetime,
    BeforeValidator(lambda value: parse_time(value, bare_day="start")),
    PlainSerializer(write_time, when_used="json"),
]
ArticleTime = Annotated[
    datetime,
    BeforeValidator(lambda value: parse_time(value, bare_day="end")),
    PlainSerializer(write_time, when_used="json"),
]


@dataclass(frozen=True, slots=True)
class Entity:
    """A named entity and where it stands: `source[start:end]` holds it (e in the paper)."""

    text: str
    start: int
    end: int
    kind: str = "name"


@dataclass(frozen=True, slots=True)
class Hashtag:
    """A hashtag as its words and as somebody wrote it, `#` included (y in the paper)."""

    words: tuple[str, ...]
    written: str

    @property
    def key(self) -> str:
        """What makes two hashtags the same: the letters, without case, spaces or underscores."""
        return "".join(self.words)


class ContextWord(NamedTuple):
    """A word of the news and its weight: what the generator reads (c^p and w_t in the paper)."""

    word: str
    weight: float


class Retrieved(NamedTuple):
    """An article retrieved for a post: h_i with its score s(p, h_i | D_i), by the window i."""

    id: str
    score: float
    window: int


class PostContext(NamedTuple):
    """What the news says about a post: the articles and the words drawn from them."""

    articles: list[Retrieved]
    words: list[ContextWord]


def identify(*parts: object) -> str:
    """A stable id for a record that brought none."""
    joined = "\x1f".join("" if part is None else str(part) for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Record(BaseModel):
    """Base of what is read from and written to files: immutable; columns it does not know pass."""

    # What is said below a field is what the interface says of it.
    model_config = ConfigDict(frozen=True, extra="ignore", use_attribute_docstrings=True)

    def to_json(self) -> str:
        """One line of JSON, unknowns left out."""
        return self.model_dump_json(exclude_none=True)


class Post(Record):
    """A microblog post as it comes in (p in the paper)."""

    id: Identifier
    """What the post is called; made from the rest where it is left out."""
    text: str
    """What it says, hashtags included."""
    created_at: PostTime | None = None
    """When it was posted, RFC 3339 or a day; now, if left out. Nothing later is looked at."""
    user: User = None
    """Who posts it: habits count."""
    collection: str | None = None
    """The dataset it belongs to."""
    entities: tuple[str, ...] | None = None
    """Names in it, one for each mention; they are looked for where this is left out."""

    @model_validator(mode="before")
    @classmethod
    def _name_it(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("id") in (None, ""):
            parts = (data.get("user"), data.get("created_at"), data.get("text"))
            return {**data, "id": identify(*parts)}
        return data


class Article(Record):
    """A news article (d in the paper)."""

    id: Identifier
    """What the article is called; made from its address or the rest where it is left out."""
    title: str = ""
    """Its headline."""
    text: str
    """What it says, without markup."""
    published_at: ArticleTime
    """When it was published, RFC 3339 or a day, which counts as its end."""
    url: str | None = None
    """Where it can be read."""
    source: str | None = None
    """Who published it."""
    entities: tuple[str, ...] | None = None
    """Names in it, one for each mention; they are looked for where this is left out."""
    finder: str | None = None
    """What found the names; left out where they came with the article."""

    @model_validator(mode="before")
    @classmethod
    def _name_it(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("id") in (None, ""):
            parts = (data.get("source"), data.get("title"), data.get("published_at"))
            return {**data, "id": identify(data["url"]) if data.get("url") else identify(*parts)}
        return data


class PreparedPost(Record):
    """A post made ready: what was said, whom it names, and the hashtags to be suggested."""

    id: str
    created_at: PostTime | None = None
    user: str | None = None
    collection: str | None = None
    split: Literal["train", "validation", "test"] | None = None
    body: str
    entities: tuple[str, ...]
    hashtags: tuple[Hashtag, ...]
    inline: tuple[Hashtag, ...] = ()
    urls: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()

    def as_post(self) -> Post:
        """The post as it is asked about: what it says, its targets left out."""
        return Post(
            id=self.id,
            text=self.body,
            created_at=self.created_at,
            user=self.user,
            collection=self.collection,
        )


def post_kind(fields: Mapping[str, Any]) -> type[Post] | type[PreparedPost]:
    """What a record of a post is: a prepared one has a body and no text."""
    return PreparedPost if "body" in fields and "text" not in fields else Post


# post, news, memory, author, rising, season, generator, lexicon, llm, or that of a plug-in.
SourceName = str


class Reason(Record):
    """Why a hashtag is suggested: a source, its share of the score, and what it goes by."""

    source: SourceName
    """What speaks for it: `post`, `news`, `memory`, `author`, `rising`, `season`, `generator`,
    `lexicon`, `llm` (your language model) or the name of a plug-in."""
    label: str = ""
    """What the source is called."""
    text: str = ""
    """What it says, in a few words."""
    weight: float = 0.0
    """Its share of the score; those of all reasons sum to one."""
    articles: tuple[str, ...] = ()
    """Ids of articles."""
    words: tuple[str, ...] = ()
    """Context words."""
    posts: tuple[str, ...] = ()
    """Ids of earlier posts."""
    count: int | None = None
    """Earlier uses: the author's, or all."""
    entity: str | None = None
    """A name of the post or the news."""
    day: date | None = None
    """A year or more ago, when so many authors used it."""
    rise: float | None = None
    """Above 1: on the rise; of a hashtag its uses, of a name its temporal popularity."""
    days: tuple[int, ...] = ()
    """Uses on each of the last seven days, oldest first."""


class Suggestion(Record):
    """A suggested hashtag; of suggestions shown with a score of 0.3, about 30 % are used."""

    hashtag: str
    """As it is to be written, `#` included."""
    words: tuple[str, ...]
    """The words it is made of."""
    score: float
    """P(used) = P(on topic) · P(chosen given on topic)."""
    because: tuple[Reason, ...]
    """Why, the weightiest reason first."""
    on_topic: float = 1.0
    """How likely it is about the post at all."""
    variants: tuple[str, ...] = ()
    """Other hashtags that say the same."""


class Explained(Record):
    """What is thought of one hashtag for a post, shown or not."""

    hashtag: str
    """As it is to be written, `#` included."""
    words: tuple[str, ...]
    """The words it is made of."""
    on_topic: float = 0.0
    """How likely it is about the post at all."""
    score: float = 0.0
    """P(used) = P(on topic) · P(chosen given on topic)."""
    because: tuple[Reason, ...] = ()
    """What speaks for it, the weightiest reason first."""
    why_not: str | None = None
    """What keeps it from being shown; left out where nothing does."""


class FoundArticle(Record):
    """An article retrieved for a post, as it is shown."""

    id: str
    """What the article is called: `GET /v1/articles/{id}` has the whole of it."""
    title: str
    """Its headline."""
    published_at: ArticleTime
    """When it was published: before the post."""
    score: float
    """How well it matches the post."""
    window: int
    """How many days back the news was looked through to find it."""
    entities: tuple[str, ...]
    """Names in it."""
    url: str | None = None
    """Where it can be read."""
    source: str | None = None
    """Who published it."""


class Answer(Record):
    """What is said to a post: hashtags, and the news they rest on."""

    post_id: str
    """The id of the post."""
    post: Post
    """The post as it was read."""
    suggestions: tuple[Suggestion, ...]
    """Hashtags, best first; none, if nothing fits."""
    articles: tuple[FoundArticle, ...]
    """The news before the post that is nearest to it, best first."""
    context: tuple[ContextWord, ...]
    """Words of that news and their weights, heaviest first."""
    timings_ms: dict[str, float]
    """Milliseconds of each step."""
    note: str | None = None
    """Why there is no suggestion, if there is none, or what to know about those there are."""
