"""Optional parts: what they need, and what happens without them."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from hashnews.errors import EXTRAS, MissingExtra, needs_extra

# Modules that the distributions of an extra bring along.
COME_WITH = {"serve": {"starlette"}, "mcp": {"mcp_types", "starlette", "uvicorn"}}
PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def test_extras_are_those_of_the_package():
    optional = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["optional-dependencies"]
    for extra, modules in EXTRAS.items():
        named = {re.split(r"[^\w-]", one)[0].replace("-", "_") for one in optional[extra]}
        assert named <= set(modules), extra
        assert set(modules) - named <= COME_WITH.get(extra, set()), extra


def test_only_a_module_of_the_extra_is_a_missing_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"hashnews\[ray\]"), needs_extra("this", "ray"):
        import ray
    with pytest.raises(ModuleNotFoundError), needs_extra("this", "plots"):
        import ray  # noqa: F401
