"""Settings of what runs for long: by flag, by environment (HASHNEWS_*), by file, in this order.

Each is named here once. `tools/cli_reference.py` writes the table in docs/data.md from it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from hashnews.cli.options import as_seconds, as_tokens

F = TypeVar("F", bound=Callable[..., Any])
PREFIX = "HASHNEWS_"
LLM_KEY = "HASHNEWS_LLM_KEY"
A_PATH = click.Path(path_type=Path)
OPTIONS: dict[str, dict[str, Any]] = {
    "news": {
        "type": A_PATH, "metavar": "DB",
        "help": "The store of news and posts.  [default: news.db, or else the shipped sample]",
    },
    "model": {
        "type": A_PATH, "metavar": "DIR",
        "help": "The model directory. A service takes over a new one.  "
                "[default: the shipped model]",
    },
    "host": {
        "default": "127.0.0.1", "help": "Address to listen on; 0.0.0.0 for all.",
    },
    "port": {
        "type": click.IntRange(0, 65535), "default": 8000, "help": "Port to listen on.",
    },
    "allow_host": {
        "multiple": True, "metavar": "NAME",
        "help": "A name under which the service is reached, if a proxy passes it on; `*`: any.  "
                "[default: addresses and names without a dot]",
    },
    "cors": {
        "multiple": True, "metavar": "ORIGIN",
        "help": "A site, such as https://example.org, whose pages may ask; `*`: any.",
    },
    "key_file": {
        "type": A_PATH, "metavar": "FILE",
        "help": "File with the keys that may write, one a line; or set HASHNEWS_KEY to one.",
    },
    "read_key_file": {
        "type": A_PATH, "metavar": "FILE",
        "help": "File with the keys that may only read, one a line; or set HASHNEWS_READ_KEY to "
                "one. Without any, anybody may read.",
    },
    "rate": {
        "type": click.IntRange(1), "metavar": "N",
        "help": "Requests a minute for each key, or else each address.  [default: any number]",
    },
    "fetch": {
        "is_flag": True, "help": "Keep the feeds and networks of the store flowing (see: hashnews "
                                "feeds, hashnews posts follow).",
    },
    "every": {
        "callback": as_seconds, "default": "15m", "metavar": "TIME",
        "help": "How often --fetch visits a feed.",
    },
    "public_url": {
        "metavar": "URL",
        "help": "Where this service is reached from outside, such as https://news.example.org: "
                "feeds that have a hub (WebSub) are then read as soon as it tells. Needs --fetch.",
    },
    "tokens": {
        "type": click.Path(exists=True, dir_okay=False, path_type=Path), "callback": as_tokens,
        "help": "A file of access tokens of networks, one per line: HOST TOKEN.",
    },
    "allow_private": {
        "is_flag": True, "help": "Allow addresses in your own network.",
    },
    "workers": {
        "type": click.IntRange(1), "default": 1, "help": "Number of suggest processes.",
    },
    "queue": {
        "type": click.IntRange(32), "default": 64,
        "help": "Most posts in the queue; further ones get 503.",
    },
    "seconds": {
        "type": click.FloatRange(1), "default": 10, "help": "Time limit of a request.",
    },
    "llm": {
        "metavar": "URL",
        "help": "A language model of yours that proposes hashtags, too: any endpoint that speaks "
                "as OpenAI's does, such as http://127.0.0.1:8080/v1. Its key: HASHNEWS_LLM_KEY.",
    },
    "llm_model": {
        "metavar": "NAME", "help": "What it is called there.  [default: the first there is]",
    },
    "llm_seconds": {
        "type": click.FloatRange(0.1, 600), "default": 5,
        "help": "How long it is waited for; a service waits half of --seconds at most.",
    },
}  # fmt: skip
LANGUAGE_MODEL = ("llm", "llm_model", "llm_seconds")


def setting(name: str, **changes: Any) -> Callable[[F], F]:
    """The option of a setting."""
    known = OPTIONS[name] | changes
    return click.option(
        f"--{name.replace('_', '-')}", name, envvar=PREFIX + name.upper(),
        show_default=known.get("default") is not None, **known,
    )  # fmt: skip


def settings(*names: str) -> Callable[[F], F]:
    """The options of some settings, and `--config`."""

    def add(command: F) -> F:
        for name in reversed(names):
            command = setting(name)(command)
        return config_option(command)

    return add


def _read_file(context: click.Context, _: click.Parameter, path: Path | None) -> None:
    if path is not None:
        context.default_map = {**(context.default_map or {}), **_settings_of(path)}


def _settings_of(path: Path) -> dict[str, Any]:
    """What a file sets; one file may serve several commands."""
    from hashnews.errors import ConfigError

    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: cannot read the settings: {error}") from None
    for name, value in values.items():
        if name not in OPTIONS:
            raise ConfigError(f"{path}: unknown setting {name!r}: take {', '.join(OPTIONS)}")
        several = OPTIONS[name].get("multiple", False)
        if several is not isinstance(value, list) or isinstance(value, dict):
            raise ConfigError(f"{path}: {name} must be {'a list' if several else 'one value'}")
    return values


config_option = click.option(
    "--config", type=A_PATH, metavar="FILE", callback=_read_file, is_eager=True,
    expose_value=False, envvar=f"{PREFIX}CONFIG",
    help="Settings as TOML. Each can also be set in the environment: HASHNEWS_PORT for --port.",
)  # fmt: skip


def store_or_sample(news: Path | None) -> Path | None:
    """The store that is asked: the one given, else news.db in this folder, else the sample."""
    return Path("news.db") if news is None and Path("news.db").exists() else news


def language_model(llm: str | None, llm_model: str | None, llm_seconds: float) -> Any:
    """The language model that was set, if one was."""
    from hashnews.suggest.language_model import LanguageModel

    key = os.environ.get(LLM_KEY)
    return LanguageModel(llm, llm_model, key, llm_seconds) if llm else None


def keys(file: Path | None, variable: str) -> tuple[str, ...]:
    """Keys from a file or the environment: a command line can be read by others."""
    from hashnews.errors import ConfigError

    if file is None:
        return tuple(filter(None, [os.environ.get(variable)]))
    try:
        lines = file.read_text("utf-8").splitlines()
    except FileNotFoundError:
        told = "there is no such file: put a key into it, 16 characters or more"
        raise ConfigError(f"{file}: {told}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: the key cannot be read: {error}") from None
    return tuple(filter(None, map(str.strip, lines)))
