"""Plug-ins: what other packages bring, by entry points.

    [project.entry-points."hashnews.finders"]     # an entity finder: --finder NAME
    [project.entry-points."hashnews.sources"]     # a source of hashtags: used once installed
    [project.entry-points."hashnews.encoders"]    # meaning: train best --set encoder=NAME

Each names something that is called without arguments and returns the part. docs/python.md says
what each part must do.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any, Literal

from hashnews.errors import ConfigError

Group = Literal["finders", "sources", "encoders"]


def plugin_names(group: Group) -> tuple[str, ...]:
    """The plug-ins of a group that are installed."""
    return tuple(sorted(entry_points(group=f"hashnews.{group}").names))


def load_plugin(group: Group, name: str) -> Any:
    """What a plug-in brings; whatever is wrong with it becomes one line."""
    (found, *_) = entry_points(group=f"hashnews.{group}", name=name)
    try:
        return found.load()()
    except Exception as error:
        raise ConfigError(
            f"the plug-in {name!r} ({found.value}) cannot be loaded: {error!r}; mend or uninstall "
            f"it"
        ) from error
