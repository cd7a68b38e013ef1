"""Settings: frozen classes, read from TOML, that refuse what they do not know.

Each part of HashNews keeps its own `Config` subclass beside the code it steers, with the paper's
values as defaults; this module only holds what they share.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from hashnews.errors import ConfigError


class Config(BaseModel):
    """Base of every settings class."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def load(cls, path: Path | None = None, changes: Sequence[str] = ()) -> Self:
        """Settings from a TOML file (or the defaults), then `changes` such as `a.b=3`."""
        values: dict[str, Any] = {}
        if path is not None:
            try:
                values = tomllib.loads(path.read_text("utf-8"))
            except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
                raise ConfigError(f"{path}: cannot read the settings: {error}") from None
        for change in changes:
            _apply(values, change)
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ConfigError(f"{path or 'settings'}: {explain(error)}") from None


def _apply(values: dict[str, Any], change: str) -> None:
    key, equals, text = change.partition("=")
    if not equals:
        raise ConfigError(f"{change!r} is not a setting: write name=value")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text  # a bare word is text
    *sections, name = key.strip().split(".")
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            raise ConfigError(f"{change!r}: {section} is a value, not a section")
    values[name] = value


def explain(error: ValidationError) -> str:
    """What pydantic found wrong, in one line."""
    return "; ".join(
        ".".join(map(str, problem["loc"])) + ": " + _sentence(problem)
        if problem["loc"]
        else _sentence(problem)
        for problem in error.errors(include_url=False)[:3]
    )


def _sentence(problem: Any) -> str:
    if problem["type"] == "extra_forbidden":
        return "unknown setting"
    if problem["type"] == "missing":
        return "is missing"
    if problem["type"] == "json_invalid":
        return "not valid JSON (" + str(problem["ctx"]["error"]) + ")"
    return str(problem["msg"]).removeprefix("Value error, ")
