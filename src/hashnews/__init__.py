"""Hashtags for microblog posts, suggested from the news published before them.

from hashnews import HashNews

with HashNews("news.db") as hashnews:
    answer = hashnews.suggest("Marching for George Floyd tonight")
    hashtags = [suggestion.hashtag for suggestion in answer.suggestions]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hashnews.generate.generator import Generator
    from hashnews.records import Answer, Article, Post, Suggestion
    from hashnews.retrieve.retriever import Retriever
    from hashnews.suggest.pipeline import HashNews

__version__ = "0.2.0"
__all__ = ["Answer", "Article", "Generator", "HashNews", "Post", "Retriever", "Suggestion"]

# Where each name lives: it is imported when it is first used, so that `import hashnews` is quick.
_HOMES = {
    "Answer": "hashnews.records",
    "Article": "hashnews.records",
    "Generator": "hashnews.generate.generator",
    "HashNews": "hashnews.suggest.pipeline",
    "Post": "hashnews.records",
    "Retriever": "hashnews.retrieve.retriever",
    "Suggestion": "hashnews.records",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
