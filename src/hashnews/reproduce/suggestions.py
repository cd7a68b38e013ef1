"""suggestions.jsonl: written by a model for posts, read to be judged beside their hashtags.

`hashnews suggest`, `hashnews reproduce` and other programs write such files; one reader reads all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import model_validator

from hashnews.errors import DataError
from hashnews.files import RecordFile, new_file
from hashnews.metrics import KINDS, Judged, Words
from hashnews.prepare.statistics import named_letters
from hashnews.records import Hashtag, Identifier, PreparedPost, Record, Suggestion
from hashnews.text.entities import EntityFinder

UNSEEN, NEW_TO_AUTHOR, ONLY_ENTITIES = KINDS


class SuggestedWords(Record):
    """One suggestion, as far as it is judged."""

    words: tuple[str, ...]


class SuggestionLine(Record):
    """One line of suggestions.jsonl, as far as it is judged; `post.id` may stand for `post_id`."""

    post_id: Identifier
    suggestions: tuple[SuggestedWords, ...]

    @model_validator(mode="before")
    @classmethod
    def _id_of_post(cls, line: Any) -> Any:
        if isinstance(line, dict) and isinstance(line.get("post"), dict):
            return {"post_id": line["post"].get("id")} | line
        return line


def write_suggestions(
    path: Path, posts: Iterable[PreparedPost], suggested: Iterable[Sequence[Suggestion]]
) -> None:
    """One line per post."""
    with new_file(path) as stream:
        for post, found in zip(posts, suggested, strict=True):
            told = [suggestion.model_dump(mode="json") for suggestion in found]
            line = {"post_id": post.id, "suggestions": told}
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")


def read_suggestions(path: Path) -> dict[str, tuple[Words, ...]]:
    """The words of the suggestions of each post, best first."""
    return {
        line.post_id: tuple(one.words for one in line.suggestions)
        for line in RecordFile(path, SuggestionLine)
    }


class Judge:
    """The posts of one part with all that the metrics ask of their hashtags."""

    def __init__(self, posts: Iterable[PreparedPost], finder: EntityFinder, part: str = "test"):
        known = list(posts)
        self.posts = [post for post in known if post.split in (part, None)]
        train = [post for post in known if post.split == "train"]
        if not self.posts:
            raise DataError(f"none of the {len(known):,} posts is of the part {part}")
        self._kinds = _kinds(self.posts, train, finder)

    @property
    def hashtags(self) -> int:
        """How many hashtags these posts have together."""
        return sum(len(post.hashtags) for post in self.posts)

    def judge(self, suggestions: Mapping[str, tuple[Words, ...]]) -> list[Judged]:
        """Every post beside its suggestions; a post without a line is an error."""
        judged = []
        for post, kinds in zip(self.posts, self._kinds, strict=True):
            if post.id not in suggestions:
                raise DataError(f"there is no line of suggestions for post {post.id}")
            gold = tuple(tag.words for tag in post.hashtags)
            judged.append(Judged(gold, suggestions[post.id], kinds))
        return judged


def _kinds(
    posts: Sequence[PreparedPost], train: Sequence[PreparedPost], finder: EntityFinder
) -> list[dict[str, frozenset[str]]]:
    """Of the hashtags of each post: those no training post has, no post of the author, names."""
    seen = {tag.key for post in train for tag in post.hashtags}
    used = {(post.user, tag.key) for post in train if post.user for tag in post.hashtags}
    tags: dict[str, Hashtag] = {tag.key: tag for post in posts for tag in post.hashtags}
    letters = named_letters(list(tags.values()), finder)
    names = {key for key, named in zip(tags, letters, strict=True) if named == len(key)}
    return [
        {
            UNSEEN: frozenset(tag.key for tag in post.hashtags if tag.key not in seen),
            NEW_TO_AUTHOR: frozenset(
                tag.key for tag in post.hashtags if (post.user, tag.key) not in used
            ),
            ONLY_ENTITIES: frozenset(tag.key for tag in post.hashtags if tag.key in names),
        }
        for post in posts
    ]
