"""Every error HashNews raises on purpose.

HashNewsError
├── ClusterError     a step on the cluster failed
├── ConfigError      a setting is unknown, missing or out of range
├── DataError        an input file, or one line of it, cannot be read
├── FetchError       an address gave nothing usable
│   ├── BlockedAddress   it is not a public web address
│   ├── TooLarge         more bytes than the limit
│   ├── TooSlow          longer than the deadline
│   └── NotAFeed         neither RSS nor Atom, or XML meant to harm
├── MissingExtra     an optional dependency is not installed
├── ModelError       a model directory is missing, damaged or not ours
└── StoreError       the news store cannot be opened, read or written
    └── SchemaTooNew     a later version of HashNews wrote it

A message says what happened, where, with the values at hand, and what to do. The command line
prints it as one line and exits with 1; a traceback means a bug.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# The modules of each optional part, as pyproject.toml names their distributions.
EXTRAS = {
    "mcp": ("mcp", "mcp_types", "starlette", "uvicorn"),
    "networks": ("websockets",),
    "parquet": ("pyarrow",),
    "plots": ("matplotlib",),
    "ray": ("pyarrow", "ray"),
    "serve": ("fastapi", "prometheus_client", "starlette", "uvicorn"),
    "train": ("lightgbm", "onnx", "onnxscript", "safetensors", "torch"),
}


class HashNewsError(Exception):
    """Base of all errors raised on purpose."""


class ClusterError(HashNewsError):
    """A step on the cluster failed."""


class ConfigError(HashNewsError):
    """A setting is unknown, missing or out of range."""


class DataError(HashNewsError):
    """An input cannot be read; `file` and `line` say where."""

    def __init__(self, reason: str, file: str | Path | None = None, line: int | None = None):
        self.reason = reason
        self.file = None if file is None else str(file)
        self.line = line
        place = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(place + reason)


class FetchError(HashNewsError):
    """An address gave nothing usable; `url` says which, `status` is HTTP's, where there was one."""

    def __init__(
        self, reason: str, url: str = "", status: int | None = None, retry_after: str | None = None
    ):
        self.reason = reason
        self.url = url
        self.status = status
        self.retry_after = retry_after
        super().__init__(f"{url}: {reason}" if url else reason)


class BlockedAddress(FetchError):
    """Not a public web address, so nothing was sent there."""


class TooLarge(FetchError):
    """More bytes than the limit, packed or unpacked."""


class TooSlow(FetchError):
    """Longer than the deadline for the whole of it."""


class NotAFeed(FetchError):
    """Neither RSS nor Atom, or XML meant to harm."""


class MissingExtra(HashNewsError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str):
        super().__init__(f"{what} needs an optional part: pip install 'hashnews[{extra}]'")


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Around an import: a module of the extra that is not installed becomes `MissingExtra`."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRAS[extra]:
            raise
        raise MissingExtra(what, extra) from None


class ModelError(HashNewsError):
    """A model directory is missing, damaged, or not one of ours."""


class StoreError(HashNewsError):
    """The news store cannot be opened, read or written."""


class SchemaTooNew(StoreError):
    """A later version of HashNews wrote this store."""

    def __init__(self, path: str | Path, found: int, known: int):
        super().__init__(
            f"{path} has schema {found}, this version knows up to {known}: upgrade hashnews"
        )
