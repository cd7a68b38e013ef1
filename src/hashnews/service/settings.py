"""Settings and limits of the service."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from hashnews.config import Config

LONGEST_POST = 10_000  # characters
LONGEST_TITLE, LONGEST_ARTICLE = 2_000, 1_000_000
LONGEST_NAME = 200  # characters of an id, a user, an entity
MOST_ENTITIES = 200
MOST_POSTS = 32  # of one batch
MOST_ARTICLES = 1000  # of one POST /news
MOST_SUGGESTIONS = 50
LARGEST_BODY = 256 << 10  # bytes; of a request with one post
LARGEST_BATCH = 4 << 20
LARGEST_NEWS = 32 << 20


class ServiceSettings(Config):
    """How `hashnews serve` runs."""

    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    news: Path | None = None
    """The store; None is the shipped sample, which is read only."""
    model: Path | None = None
    """The model directory, watched for a new one; None is the shipped model."""
    key: str | None = Field(None, min_length=16)
    """What POST /news must carry; None: nobody may write."""
    workers: int = Field(1, ge=1)
    """Processes that make suggestions."""
    queue: int = Field(64, ge=MOST_POSTS)
    """Posts that may wait; more are refused with 503."""
    batch: int = Field(8, ge=1)
    """Most posts of a micro-batch."""
    seconds: float = Field(10.0, gt=0)
    """After which a request is answered with 504."""
