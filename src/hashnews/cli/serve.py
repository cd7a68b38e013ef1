"""`hashnews serve`: the HTTP service and its page."""

from __future__ import annotations

import os
from pathlib import Path

import click

KEY_VARIABLE = "HASHNEWS_KEY"


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True,
              help="Address to listen on; 0.0.0.0 for all.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True,
              help="Port to listen on.")  # fmt: skip
@click.option("--news", type=click.Path(path_type=Path), metavar="DB",
              help="The store of news and posts.  [default: the shipped sample]")  # fmt: skip
@click.option("--model", type=click.Path(path_type=Path), metavar="DIR",
              help="The model directory. It may be replaced while the service runs.  "
                   "[default: the shipped model]")  # fmt: skip
@click.option("--key-file", type=click.Path(path_type=Path), metavar="FILE",
              help=f"File with the key that POST /news needs; or set {KEY_VARIABLE}.")  # fmt: skip
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True,
              help="Number of suggest processes.")  # fmt: skip
@click.option("--queue", type=click.IntRange(32), default=64, show_default=True,
              help="Most posts in the queue; further ones get 503.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(1), default=10, show_default=True,
              help="Time limit of a request.")  # fmt: skip
def serve(
    host: str,
    port: int,
    news: Path | None,
    model: Path | None,
    key_file: Path | None,
    workers: int,
    queue: int,
    seconds: float,
) -> None:
    """Serve suggestions over HTTP, with a page to try them: open http://127.0.0.1:8000."""
    from pydantic import ValidationError

    from hashnews.config import explain
    from hashnews.errors import ConfigError, needs_extra
    from hashnews.service.settings import ServiceSettings

    try:
        settings = ServiceSettings(
            host=host, port=port, news=news, model=model, key=_key(key_file), workers=workers,
            queue=queue, seconds=seconds,
        )  # fmt: skip
    except ValidationError as error:
        raise ConfigError(explain(error)) from None
    with needs_extra("serving", "serve"):
        from hashnews.service.server import serve as run
    run(settings)


def _key(file: Path | None) -> str | None:
    """The key from a file or the environment: a command line can be read by others."""
    from hashnews.errors import ConfigError

    if file is None:
        return os.environ.get(KEY_VARIABLE) or None
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: the key cannot be read: {error}") from None
