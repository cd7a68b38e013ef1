"""Raw posts to prepared posts: body, targets, entities, time and user.

    raw posts ──prepare──▶ posts.jsonl

A post is repaired, its trailing hashtags become the targets, its inline hashtags and mentions the
words they are made of. What has no target, retweets and exact copies are dropped and counted.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

import regex

from hashnews.files import RecordFile
from hashnews.prepare.datasets import NO_RULES, CollectionRule, DatasetRules
from hashnews.prepare.statistics import Statistics
from hashnews.records import Article, Hashtag, Post, PreparedPost
from hashnews.text.entities import EntityFinder, FastFinder
from hashnews.text.hashtags import Parted, part_hashtags
from hashnews.text.segment import Segmenter
from hashnews.text.tokens import Token, repair, words

BATCH = 256
REMEMBERED = 100_000  # hashtags, names
CHANGED = frozenset({"hashtag", "mention", "url"})  # kinds of tokens that a body has otherwise
COPY = "copy of an earlier post"

RETWEET = regex.compile(r"\s*RT @\w")
NOT_BLANK = re.compile(r"[^\S ]")
BLANK_BEFORE_MARK = re.compile(r"\s[.,!?;:…)]")
SPACE = regex.compile(r"\s{2,}+|[^\S ]")  # all but a single blank, which stays
SPACE_BEFORE_MARK = regex.compile(r"\s+(?=[.,!?;:…)])")


class Preparer:
    """Prepares posts with a segmenter and an entity finder, and counts what it drops."""

    def __init__(self, segmenter: Segmenter, finder: EntityFinder, never: Iterable[str] = ()):
        self.statistics = Statistics()
        self.dropped: Counter[str] = Counter()
        self._segmenter = segmenter
        self._finder = finder
        self._never = frozenset("".join(segmenter.segment(tag)) for tag in never)
        self._seen: set[bytes] = set()
        self._hashtag = lru_cache(REMEMBERED)(self._cut)
        self._spell = lru_cache(REMEMBERED)(segmenter.spell)

    def prepare(
        self, posts: Iterable[Post | PreparedPost], rules: DatasetRules = NO_RULES
    ) -> Iterator[PreparedPost]:
        """The usable posts, prepared, in order; of prepared ones what they lack."""
        stream = iter(posts)
        while batch := list(islice(stream, BATCH)):
            usable = [(post, ready) for post in batch if (ready := self._usable(post, rules))]
            bodies = [ready.body for post, ready in usable if _is_unread(post)]
            found = iter(self._finder.find_all(bodies))
            for post, ready in usable:
                if _is_unread(post):
                    names = tuple(entity.text for entity in next(found))
                    ready = ready.model_copy(update={"entities": names})
                self.statistics.add(ready)
                yield ready

    def adopt(self, posts: Iterable[PreparedPost]) -> Iterator[PreparedPost]:
        """Posts whose hashtags were split off already: their entities are found, and counted."""
        stream = iter(posts)
        while batch := list(islice(stream, BATCH)):
            found = self._finder.find_all([post.body for post in batch])
            for post, entities in zip(batch, found, strict=True):
                ready = post.model_copy(update={"entities": tuple(one.text for one in entities)})
                self.statistics.add(ready)
                yield ready

    def remember(
        self, posts: Iterable[Post | PreparedPost], rules: DatasetRules = NO_RULES
    ) -> Iterator[PreparedPost]:
        """The posts with any hashtag, inline or trailing, that are their author's own words."""
        for post in posts:
            if isinstance(post, PreparedPost):
                ready: PreparedPost | None = post
            else:
                ready = self._own_words(post, rules.of(post.collection))
            if ready is not None and (ready.hashtags or ready.inline):
                yield ready

    def read(self, post: Post) -> PreparedPost:
        """What any post says, with the hashtags and the names it holds; no rule touches it."""
        ready = self._parted(post, repair(post.text), self._never)
        if post.entities is not None:
            return ready
        names = tuple(entity.text for entity in self._finder.find(ready.body))
        return ready.model_copy(update={"entities": names})

    def _own_words(self, post: Post | PreparedPost, rule: CollectionRule) -> PreparedPost | None:
        """A post without its entities and without what it quotes; None for a retweet."""
        if isinstance(post, PreparedPost):
            never = self._never | rule.keys
            kept = tuple(tag for tag in post.hashtags if tag.key not in never)
            return post.model_copy(update={"hashtags": kept})
        text = rule.own_text(repair(post.text))
        return (
            None
            if RETWEET.match(text)
            else self._parted(post, text, self._never | rule.keys if rule.keys else self._never)
        )

    def _usable(self, post: Post | PreparedPost, rules: DatasetRules) -> PreparedPost | None:
        """One post without its entities, or None, counted, where it is of no use."""
        ready = self._own_words(post, rules.of(post.collection))
        if ready is None:
            return self._dropped("retweet")
        if not ready.hashtags:
            return self._dropped("no trailing hashtag")
        if not words(ready.body):
            return self._dropped("nothing but hashtags")
        if self._is_copy(ready):
            return self._dropped(COPY)
        return ready

    def _parted(self, post: Post, text: str, never: frozenset[str]) -> PreparedPost:
        """A post as its body and its hashtags; the entities are those it brought."""
        parted = part_hashtags(text)
        return PreparedPost(
            id=post.id,
            created_at=post.created_at,
            user=post.user,
            collection=post.collection,
            body=self._body(text, parted),
            entities=post.entities or (),
            hashtags=self._hashtags(parted.trailing, never),
            inline=self._hashtags(parted.inline, frozenset()),
            urls=tuple(token.text for token in parted.tokens if token.kind == "url"),
            mentions=tuple(token.text for token in parted.tokens if token.kind == "mention"),
        )

    def _dropped(self, reason: str) -> PreparedPost | None:
        self.dropped[reason] += 1
        return None

    def _hashtags(self, found: list[Token], never: frozenset[str]) -> tuple[Hashtag, ...]:
        """Hashtags as words, each once, in the order and writing of their first use."""
        unique: dict[str, Hashtag] = {}
        for token in found:
            key, hashtag = self._hashtag(token.text)
            if key not in never:
                unique.setdefault(key, hashtag)
        return tuple(unique.values())

    def _cut(self, token: str) -> tuple[str, Hashtag]:
        """A hashtag and its key."""
        written = "#" + token[1:]
        hashtag = Hashtag(self._segmenter.segment(written), written)
        return hashtag.key, hashtag

    def _body(self, text: str, parted: Parted) -> str:
        """What the post says: targets and URLs out, inline hashtags and mentions as words."""
        unsaid = {token.start for token in (*parted.trailing, *parted.unsaid)}
        pieces, end = [], 0
        for token in parted.tokens:
            if token[1] in CHANGED or token[2] in unsaid:
                pieces.append(text[end : token.start])
                end = token.end
                if token.kind != "url" and token.start not in unsaid:
                    pieces.append(self._spell(token.text))
        pieces.append(text[end : parted.tokens[-1].end] if parted.tokens else "")
        body = _tidy("".join(pieces))
        # `.@user` is how one opens a post to all readers; the point says nothing.
        return body[1:] if body.startswith(".") and text.lstrip().startswith(".@") else body

    def _is_copy(self, post: PreparedPost) -> bool:
        digest = copy_digest(post)
        known = digest in self._seen
        self._seen.add(digest)
        return known


def _is_unread(post: Post | PreparedPost) -> bool:
    """Whether its entities are to be found: raw posts may bring them, prepared ones have them."""
    return not post.entities if isinstance(post, PreparedPost) else post.entities is None


def copy_digest(post: PreparedPost) -> bytes:
    """A digest that two posts with the same words and the same hashtags share: copies."""
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


def _tidy(text: str) -> str:
    """The text with single spaces, and none before a mark."""
    if NOT_BLANK.search(text):
        spaced = SPACE.sub(_one_space, text).strip()
    else:  # the same, sooner
        spaced = " ".join(filter(None, text.split(" ")))
    return str(SPACE_BEFORE_MARK.sub("", spaced)) if BLANK_BEFORE_MARK.search(spaced) else spaced


def _one_space(found: regex.Match[str]) -> str:
    return "\n" if "\n" in found.group() else " "
