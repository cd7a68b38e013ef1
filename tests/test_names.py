"""One word per thing: no two classes of the package share a name."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import hashnews

SOURCE = Path(hashnews.__file__).parent
ROOT = Path(__file__).parents[1]
FILE = re.compile(
    r"\b(?:benchmarks|configs|docs|results|tests|tools)/[\w/.-]+\.(?:json|md|py|toml)"
)
# The classes that may share a name, with their modules, and why.
SHARED: dict[str, set[str]] = {}


def defined():
    """Where each class is defined."""
    places = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name.lstrip("_")].add(module)
    return places


def test_no_two_classes_share_a_name():
    several = {name: modules for name, modules in defined().items() if len(modules) > 1}
    assert several == {name: modules for name, modules in SHARED.items() if name in several}


def test_every_file_that_the_code_names_is_there():
    named = {
        (path, name) for path in SOURCE.rglob("*.py") for name in FILE.findall(path.read_text())
    }
    assert not [(str(path), name) for path, name in named if not (ROOT / name).exists()]


def test_the_exceptions_are_needed():
    found = defined()
    assert {name: found[name] for name in SHARED} == SHARED
