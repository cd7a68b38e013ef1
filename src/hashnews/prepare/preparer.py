"""Raw posts to prepared posts: body, targets, entities, time and user.

    raw posts ──prepare──▶ posts.jsonl

A post is repaired, its trailing hashtags become the targets, its inline hashtags and mentions the
words they are made of. What has no target, retweets and exact copies are dropped and counted.
"""

from __future__ import annotations

import hashlib
import tempfile
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import regex

from hashnews.errors import DataError
from hashnews.files import RecordFile, write_records
from hashnews.prepare.statistics import Statistics
from hashnews.records import Article, Hashtag, Post, PreparedPost
from hashnews.text.entities import EntityFinder, FastFinder
from hashnews.text.hashtags import Parted, part_hashtags
from hashnews.text.segment import Segmenter
from hashnews.text.tokens import Token, repair, words

Split = Literal["chronological", "random"]
Part = Literal["train", "validation", "test"]
TRAIN, VALIDATION = 0.8, 0.1  # the rest is for the test
BATCH = 256
COPY = "copy of an earlier post"

RETWEET = regex.compile(r"\s*RT @\w")
SPACE = regex.compile(r"\s+")
SPACE_BEFORE_MARK = regex.compile(r"\s+(?=[.,!?;:…)])")


class CollectionRule(NamedTuple):
    """What is known about how a collection of posts came about."""

    quoted_tail: regex.Pattern[str] | None = None  # another author's text begins here
    searched_for: frozenset[str] = frozenset()  # in every post by construction: never a target


COLLECTIONS = {
    "congress": CollectionRule(quoted_tail=regex.compile(r"\sQT @\w")),
    "blm": CollectionRule(searched_for=frozenset({"blacklivesmatter"})),
}
ANY_COLLECTION = CollectionRule()


class Preparer:
    """Prepares posts with a segmenter and an entity finder, and counts what it drops."""

    def __init__(self, segmenter: Segmenter, finder: EntityFinder, never: Iterable[str] = ()):
        self.statistics = Statistics()
        self.dropped: Counter[str] = Counter()
        self._segmenter = segmenter
        self._finder = finder
        self._never = frozenset("".join(segmenter.segment(tag)) for tag in never)
        self._seen: set[bytes] = set()

    def prepare(self, posts: Iterable[Post]) -> Iterator[PreparedPost]:
        """The usable posts, prepared, in order."""
        stream = iter(posts)
        while batch := list(islice(stream, BATCH)):
            usable = [(post, ready) for post in batch if (ready := self._read(post))]
            bodies = [ready.body for post, ready in usable if post.entities is None]
            found = iter(self._finder.find_all(bodies))
            for post, ready in usable:
                if post.entities is None:
                    names = tuple(entity.text for entity in next(found))
                    ready = ready.model_copy(update={"entities": names})
                self.statistics.add(ready)
                yield ready

    def remember(self, posts: Iterable[Post]) -> Iterator[PreparedPost]:
        """The posts with any hashtag, inline or trailing, that are their author's own words."""
        for post in posts:
            text = _own_text(post)
            if not RETWEET.match(text):
                ready = self._parted(post, text)
                if ready.hashtags or ready.inline:
                    yield ready

    def read(self, post: Post) -> PreparedPost:
        """What any post says, with the hashtags and the names it holds."""
        ready = self._parted(post, _own_text(post))
        if post.entities is not None:
            return ready
        names = tuple(entity.text for entity in self._finder.find(ready.body))
        return ready.model_copy(update={"entities": names})

    def _read(self, post: Post) -> PreparedPost | None:
        """One post without its entities, or None, counted, where it is of no use."""
        text = _own_text(post)
        if RETWEET.match(text):
            return self._dropped("retweet")
        ready = self._parted(post, text)
        if not ready.hashtags:
            return self._dropped("no trailing hashtag")
        if not words(ready.body):
            return self._dropped("nothing but hashtags")
        if self._is_copy(ready):
            return self._dropped(COPY)
        return ready

    def _parted(self, post: Post, text: str) -> PreparedPost:
        """A post as its body and its hashtags; the entities are those it brought."""
        parted = part_hashtags(text)
        return PreparedPost(
            id=post.id,
            created_at=post.created_at,
            user=post.user,
            collection=post.collection,
            body=self._body(text, parted),
            entities=post.entities or (),
            hashtags=self._hashtags(parted.trailing, self._never | rule_of(post).searched_for),
            inline=self._hashtags(parted.inline, frozenset()),
            urls=tuple(token.text for token in parted.tokens if token.kind == "url"),
        )

    def _dropped(self, reason: str) -> PreparedPost | None:
        self.dropped[reason] += 1
        return None

    def _hashtags(self, found: list[Token], never: frozenset[str]) -> tuple[Hashtag, ...]:
        """Hashtags as words, each once, in the order and writing of their first use."""
        unique: dict[str, Hashtag] = {}
        for token in found:
            written = "#" + token.text[1:]
            hashtag = Hashtag(self._segmenter.segment(written), written)
            if hashtag.key not in never:
                unique.setdefault(hashtag.key, hashtag)
        return tuple(unique.values())

    def _body(self, text: str, parted: Parted) -> str:
        """What the post says: targets and URLs out, inline hashtags and mentions as words."""
        unsaid = {token.start for token in (*parted.trailing, *parted.unsaid)}
        pieces, end = [], 0
        for token in parted.tokens:
            pieces.append(text[end : token.start])
            end = token.end
            if token.start in unsaid or token.kind == "url":
                continue
            named = token.kind in ("hashtag", "mention")
            pieces.append(self._segmenter.spell(token.text) if named else token.text)
        body: str = SPACE_BEFORE_MARK.sub("", SPACE.sub(_one_space, "".join(pieces)).strip())
        # `.@user` is how one opens a post to all readers; the point says nothing.
        return body[1:] if body.startswith(".") and text.lstrip().startswith(".@") else body

    def _is_copy(self, post: PreparedPost) -> bool:
        digest = copy_digest(post)
        known = digest in self._seen
        self._seen.add(digest)
        return known


def copy_digest(post: PreparedPost) -> bytes:
    """What posts that say the same under the same hashtags have in common."""
    targets = sorted(tag.key for tag in post.hashtags)
    said = " ".join(words(post.body)) + "#" + "#".join(targets)
    return hashlib.blake2b(said.encode(), digest_size=8).digest()


def learn_from(
    news: Sequence[str | Path],
    posts: Sequence[str | Path],
    segmenter: Segmenter,
    finder: EntityFinder,
) -> tuple[Segmenter, EntityFinder]:
    """Teach segmenter and finder the words of the news that is older than every post."""
    times = (post.created_at for path in posts for post in RecordFile(path, Post, "skip"))
    first = min((time for time in times if time is not None), default=None)

    def texts() -> Iterator[str]:
        for path in news:
            for article in RecordFile(path, Article):
                if first is None or article.published_at < first:
                    yield repair(f"{article.title}\n{article.text}")

    taught = finder.learn(texts()) if isinstance(finder, FastFinder) else finder
    return segmenter.learn(texts()), taught


def rule_of(post: Post | PreparedPost) -> CollectionRule:
    """What is known about the collection a post is from."""
    return COLLECTIONS.get(post.collection or "", ANY_COLLECTION)


def _own_text(post: Post) -> str:
    """The post's text, repaired, without what it quotes."""
    text = repair(post.text)
    quoted = rule_of(post).quoted_tail
    tail = quoted.search(text) if quoted else None
    return text[: tail.start()] if tail else text


def _one_space(found: regex.Match[str]) -> str:
    return "\n" if "\n" in found.group() else " "


def write_prepared(
    target: str | Path, posts: Iterable[PreparedPost], split: Split | None, seed: int = 1
) -> None:
    """Write prepared posts, each with its part of the split where one is asked for.

    A random split goes by the id, so it needs no memory and no order. A chronological one must
    know all times first: the posts wait in a scratch file.
    """
    if split is None:
        write_records(target, posts)
    elif split == "random":
        write_records(target, (_with(post, random_part(post.id, seed)) for post in posts))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            waiting = Path(scratch) / "posts.jsonl"
            times = array("d")
            write_records(waiting, (_noted(post, times) for post in posts))
            cuts = chronological_cuts(times)
            again = RecordFile(waiting, PreparedPost)
            write_records(target, (_with(p, chronological_part(time_of(p), cuts)) for p in again))


def _with(post: PreparedPost, part: Part) -> PreparedPost:
    return post.model_copy(update={"split": part})


def _noted(post: PreparedPost, times: array[float]) -> PreparedPost:
    times.append(time_of(post))
    return post


def time_of(post: PreparedPost) -> float:
    """When a post was written, in seconds since 1970."""
    if post.created_at is None:
        raise DataError(
            f"post {post.id} has no created_at: a chronological split needs it (or --split random)"
        )
    return post.created_at.timestamp()


def chronological_cuts(times: Iterable[float]) -> tuple[float, float]:
    """The times at which validation and test begin: every training post is older than both."""
    ordered = np.sort(np.fromiter(times, float))
    if not len(ordered):
        return np.inf, np.inf
    last = len(ordered) - 1
    first_of_validation = min(last, round(TRAIN * len(ordered)))
    first_of_test = min(last, round((TRAIN + VALIDATION) * len(ordered)))
    return float(ordered[first_of_validation]), float(ordered[first_of_test])


def chronological_part(time: float, cuts: tuple[float, float]) -> Part:
    """Which part a time falls into; posts of one moment stay together."""
    return "train" if time < cuts[0] else "validation" if time < cuts[1] else "test"


def random_part(post_id: str, seed: int) -> Part:
    """Which part an id falls into by chance."""
    digest = hashlib.blake2b(f"{seed}:{post_id}".encode(), digest_size=8).digest()
    chance = int.from_bytes(digest) / 2**64
    return "train" if chance < TRAIN else "validation" if chance < TRAIN + VALIDATION else "test"
