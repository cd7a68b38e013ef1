"""Settings and limits of the service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from hashnews.config import Config

LONGEST_POST = 10_000  # characters
LONGEST_TITLE, LONGEST_ARTICLE = 2_000, 1_000_000
LONGEST_NAME, LONGEST_URL = 200, 2_000  # characters of an id, a user, an entity, a source
MOST_ENTITIES = 200
MOST_POSTS, MOST_CHARACTERS = 32, 64_000  # of one batch
MOST_ARTICLES = 1000  # of one POST /news
MOST_MEMORIES = 1000  # posts of one POST /v1/posts
MOST_NEWS_CHARACTERS, MOST_MEMORY_CHARACTERS = 4_000_000, 1_000_000  # of one request
MOST_SUGGESTIONS = 50
LARGEST_BODY = 256 << 10  # bytes; of a request with one post
LARGEST_BATCH = 4 << 20
LARGEST_NEWS = 32 << 20
LARGEST_FEED = 10 << 20  # that a hub may send
CALLBACK = "/v1/websub"  # where it does
Key = Annotated[str, Field(min_length=16)]
Site = Annotated[str, Field(pattern=r"^(\*|https?://[^/\s]+)$")]


class ServiceSettings(Config):
    """How `hashnews serve` runs."""

    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    allow_hosts: tuple[str, ...] = ()
    """Names under which it is reached, besides addresses and names without a dot; `*`: any."""
    news: Path | None = None
    """The store; None is the shipped sample, which is read only."""
    model: Path | None = None
    """The model directory, watched for a new one; None is the shipped model."""
    keys: tuple[Key, ...] = ()
    """What requests that write must carry one of; none: nobody may write."""
    read_keys: tuple[Key, ...] = ()
    """What all other requests under /v1 must carry one of; none: anybody may read."""
    rate: int | None = Field(None, ge=1)
    """Requests a minute that a key, or else an address, may make; None: any number."""
    cors: tuple[Site, ...] = ()
    """Sites whose pages may ask and read the answers, such as `https://example.org`; `*`: any."""
    fetch: bool = False
    """Whether the store's feeds are fetched, and its sources on networks followed."""
    tokens: dict[str, str] = Field(default_factory=dict, repr=False)
    """Access tokens of networks, by host."""
    public_url: str | None = Field(None, pattern=r"^https?://[^/\s?#]+(/[^\s?#]*)?$")
    """Where it is reached from outside, so that hubs can tell what is new; None: feeds wait."""
    every: float = Field(900.0, gt=0)
    """Seconds between two visits to a feed."""
    allow_private: bool = False
    """Whether a feed or a source may be in one's own network."""
    workers: int = Field(1, ge=1)
    """Processes that make suggestions."""
    queue: int = Field(64, ge=MOST_POSTS)
    """Posts that may wait; more are refused with 503."""
    batch: int = Field(8, ge=1)
    """Most posts of a micro-batch."""
    seconds: float = Field(10.0, gt=0)
    """After which a request is answered with 504."""
    llm: str | None = None
    """Where a language model answers that proposes hashtags, too; None: there is none."""
    llm_model: str | None = None
    """What it is called there; None: the first there is."""
    llm_key: str | None = Field(None, repr=False)
    """What it wants to be asked with."""
    llm_seconds: float = Field(3.0, gt=0)
    """How long it is waited for; never more than half of `seconds`."""

    @property
    def writes(self) -> bool:
        """Whether what others send may change the store."""
        return bool(self.keys or self.public_url)
