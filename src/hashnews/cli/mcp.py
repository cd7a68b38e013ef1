"""`hashnews mcp`: HashNews as a tool of assistants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hashnews.cli.settings import (
    LANGUAGE_MODEL,
    keys,
    language_model,
    settings,
    store_or_sample,
)


@click.command()
@click.option("--http", is_flag=True, help="Over HTTP at /mcp, instead of standard input.")
@settings("news", "model", "host", "port", "allow_host", "read_key_file", *LANGUAGE_MODEL)
def mcp(
    http: bool,
    news: Path | None,
    model: Path | None,
    host: str,
    port: int,
    allow_host: tuple[str, ...],
    read_key_file: Path | None,
    **llm: Any,
) -> None:
    """Offer suggestions to assistants by the Model Context Protocol.

    Tools: suggest_hashtags, search_news, rising, explain. An assistant starts this command itself
    and talks to it over standard input and output; with --http it is reached at
    http://127.0.0.1:8000/mcp.
    """
    from hashnews.errors import needs_extra

    with needs_extra("this", "mcp"):
        from hashnews.service.assistants import serve_assistants
    from hashnews.suggest.pipeline import HashNews

    allowed = keys(read_key_file, "HASHNEWS_READ_KEY")
    with HashNews(store_or_sample(news), model, language_model(**llm)) as hashnews:
        serve_assistants(hashnews, "http" if http else "stdio", host, port, allow_host, allowed)
