"""Rules of single datasets, from a `dataset.toml` beside the posts; read only when preparing.

searched_for = ["tag"]           # found by this hashtag, so it is never a target
quoted_tail = " QT @"            # from here on it is another author's text

[collections."topics2021:*"]     # the same for some of the posts: by name, or by wildcard
searched_for = "commonest"       # the commonest hashtag of each collection in the file
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from importlib import resources
from pathlib import Path
from typing import Literal, TypeVar

import regex
from pydantic import Field

from hashnews.config import Config
from hashnews.files import RecordFile
from hashnews.records import Post, PreparedPost
from hashnews.text.hashtags import find_hashtags, key_of
from hashnews.text.tokens import repair

DATASET = "dataset.toml"
COMMONEST = "commonest"


class CollectionRule(Config):
    """What is known about how a collection of posts was made."""

    searched_for: tuple[str, ...] | Literal["commonest"] = ()
    """Hashtags in every post by construction: never a target."""
    quoted_tail: str = ""
    """Before a word: here another author's text begins. A space in front is any white space."""

    @property
    def keys(self) -> frozenset[str]:
        """The hashtags that were searched for, by their letters."""
        named = () if isinstance(self.searched_for, str) else self.searched_for
        return frozenset(key_of(tag) for tag in named)

    def own_text(self, text: str) -> str:
        """A post's text without what it quotes."""
        if not self.quoted_tail:
            return text
        begins = r"\s" if self.quoted_tail[0] == " " else ""
        tail = regex.search(f"{begins}{regex.escape(self.quoted_tail.lstrip())}\\w", text)
        return text[: tail.start()] if tail else text


class DatasetRules(CollectionRule):
    """The rule of each collection; what stands at the top holds for posts of all others."""

    collections: dict[str, CollectionRule] = Field({})

    def of(self, collection: str | None) -> CollectionRule:
        """The rule of a collection: by its name, else by the first wildcard that fits."""
        if collection is None:
            return self
        if collection in self.collections:
            return self.collections[collection]
        fitting = (name for name in self.collections if fnmatchcase(collection, name))
        return self.collections.get(next(fitting, ""), self)


NO_RULES = DatasetRules()


def rules_for(path: str | Path, files: Sequence[str | Path] | None = None) -> DatasetRules:
    """The rules for a file of posts, or for the `files` of a folder: its own, else the shipped."""
    place = Path(path)
    own = (place if place.is_dir() else place.parent) / DATASET
    if path != "-" and own.is_file():
        return _with_commonest(DatasetRules.load(own), files or [path])
    with resources.as_file(resources.files("hashnews.prepare") / "datasets.toml") as shipped:
        return DatasetRules.load(shipped)


def _with_commonest(rules: DatasetRules, files: Iterable[str | Path]) -> DatasetRules:
    """The same rules with the commonest hashtag named, counted over the posts it holds for."""
    if COMMONEST not in [rule.searched_for for rule in (rules, *rules.collections.values())]:
        return rules
    uses: defaultdict[str | None, Counter[str]] = defaultdict(Counter)
    for path in files:
        for post in RecordFile(path, Post, "skip"):
            rule = rules.of(post.collection)
            if rule.searched_for == COMMONEST:
                name = None if rule is rules else post.collection
                tags = find_hashtags(rule.own_text(repair(post.text)))
                uses[name].update({key_of(tag.text) for tag in tags})
    named = {
        name: rules.of(name).model_copy(update={"searched_for": _first(counted)})
        for name, counted in uses.items()
        if name is not None
    }
    top = _first(uses[None]) if rules.searched_for == COMMONEST else rules.searched_for
    return DatasetRules(
        searched_for=top, quoted_tail=rules.quoted_tail, collections={**rules.collections, **named}
    )


def _first(uses: Counter[str]) -> tuple[str, ...]:
    """The key with most uses, of several the first by alphabet."""
    return tuple(sorted(uses, key=lambda key: (-uses[key], key))[:1])


P = TypeVar("P", Post, PreparedPost, Post | PreparedPost)


def of_collection(posts: Iterable[P], collection: str | None) -> Iterator[P]:
    """The posts of exactly this collection; where none is named, all."""
    return (post for post in posts if collection in (None, post.collection))
