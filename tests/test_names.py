"""One word per thing: no two classes of the package share a name."""

import ast
from collections import defaultdict
from pathlib import Path

import hashnews

SOURCE = Path(hashnews.__file__).parent
# The classes that may share a name, with their modules, and why.
SHARED: dict[str, set[str]] = {
    "Batch": {"generate.batch", "tagger.corpora"},
    "Day": {"index.day", "suggest.calendar"},
    "Measured": {"generate.training", "metrics"},
    "Memory": {"generate.model", "suggest.memory"},
    "Model": {"reproduce.config", "suggest.model"},
    "ModelFiles": {"generate.generator", "suggest.model"},
    "Read": {"baselines.lstm_top", "suggest.pipeline"},
    "Row": {"reproduce.run", "tagger.corpora"},
    "Run": {"reproduce.plan", "tagger.training"},
    "Step": {"generate.model", "reproduce.steps"},
    "Vocabulary": {"generate.vocabulary", "index.packed"},
}


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


def test_the_exceptions_are_needed():
    found = defined()
    assert {name: found[name] for name in SHARED} == SHARED
