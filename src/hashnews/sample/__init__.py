"""The shipped sample: articles and posts about 2020-05-20 to 2020-06-08, written for HashNews."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path

END = datetime(2020, 6, 9, 12, tzinfo=UTC)  # all of it is before: 8 June is over everywhere


def sample_file(name: str) -> AbstractContextManager[Path]:
    """A file of the sample (`news.jsonl`, `posts.jsonl`) as a path."""
    return resources.as_file(resources.files(__name__) / name)
