"""`hashnews serve`: the HTTP service and its page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from hashnews.cli.settings import LANGUAGE_MODEL, LLM_KEY, keys, settings, store_or_sample


@click.command()
@settings(
    "host", "port", "allow_host", "cors", "news", "model", "key_file", "read_key_file", "rate",
    "fetch", "every", "public_url", "tokens", "allow_private", "workers", "queue", "seconds",
    *LANGUAGE_MODEL,
)  # fmt: skip
def serve(
    allow_host: tuple[str, ...],
    news: Path | None,
    key_file: Path | None,
    read_key_file: Path | None,
    **given: Any,
) -> None:
    """Serve suggestions over HTTP, with a page to try them: open http://127.0.0.1:8000."""
    from pydantic import ValidationError

    from hashnews.config import explain
    from hashnews.errors import ConfigError, needs_extra
    from hashnews.service.settings import ServiceSettings

    try:
        chosen = ServiceSettings(
            allow_hosts=allow_host, news=store_or_sample(news),
            keys=keys(key_file, "HASHNEWS_KEY"),
            read_keys=keys(read_key_file, "HASHNEWS_READ_KEY"),
            llm_key=os.environ.get(LLM_KEY), **given,
        )  # fmt: skip
    except ValidationError as error:
        raise ConfigError(explain(error)) from None
    if chosen.fetch and chosen.news is None:  # the sample is read only
        told = "there is no news.db to fetch into: run hashnews feeds add SITE, or give --news DB"
        raise ConfigError(told)
    with needs_extra("serving", "serve"):
        from hashnews.service.server import serve as run
    run(chosen)
