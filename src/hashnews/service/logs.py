"""Logs: one JSON object a line on standard error, or, on a terminal, a line for people."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from hashnews.terminal import one_line, safe

LOGGER = logging.getLogger("hashnews.service")


def log(event: str, level: str = "info", **fields: Any) -> None:
    """Tell an event and what belongs to it."""
    LOGGER.log(logging.getLevelNamesMapping()[level.upper()], event, extra={"fields": fields})


def start_logging(terminal: bool | None = None) -> None:
    """Send the logs of HashNews and of uvicorn to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    people = sys.stderr.isatty() if terminal is None else terminal
    handler.setFormatter(_Lines() if people else _Json())
    for name in ("hashnews", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        # uvicorn says that it starts and stops; so do we.
        logger.setLevel(logging.INFO if name == "hashnews" else logging.WARNING)


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": time.replace("+00:00", "Z"), "level": record.levelname.lower()}
        line |= {"event": record.getMessage(), **getattr(record, "fields", {})}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        fields = getattr(record, "fields", {})
        told = "  ".join(f"{name}={value}" for name, value in fields.items() if value is not None)
        line = one_line(f"{time}  {record.getMessage():16}  {told}")
        return f"{line}\n{safe(self.formatException(record.exc_info))}" if record.exc_info else line
