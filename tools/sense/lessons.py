"""Examples: what the judges learn from.

taught, scored   posts with memories, in all situations
words            inline hashtags, hidden, beside the other words of the post
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array
from hashnews.learn.examples import (
    CLOSED,
    Examples,
    Never,
    RankerConfig,
    goes_on,
    joined,
    make_examples,
    nobody,
    situations,
)
from hashnews.posts.table import Remembered, remembered
from hashnews.records import Hashtag, PreparedPost
from hashnews.suggest.candidates import Search
from hashnews.suggest.judges import Judges
from hashnews.suggest.memory import Memory
from hashnews.suggest.prior import Prior
from hashnews.suggest.query import PostWithNews
from hashnews.suggest.ranker import Calibration, Ranker, Trees
from hashnews.suggest.sources import PLACE
from hashnews.text.entities import load_finder, shipped_finder
from hashnews.times import A_DAY
from sense.beside import DAYS, TOGETHER, Asked, asked, beside_news
from sense.collections import prepared, rules_of, split_set
from sense.encoder import ENCODED, post_vectors
from sense.stories import prior_of
from sense.work import Work, sample

TAUGHT_SETS = ("p2023", "congress20", "howyoutag", "blm20", "p2021", "archives")
TAUGHT, SCORED = 4000, 800  # posts of a set
OF_2020 = {"congress20": "congress", "blm20": "blm"}
OWN_ARCHIVES = ("archives", "howyoutag", "congress20")
# Posts of a set whose inline hashtags are examples.
WORD_SETS = {
    "everyday": 3500, "archives": 3500, "small": 2000, "searched": 2000, "p2021": 3000,
    "p2023": 3000, "c2020": 2500,
}  # fmt: skip
OWN_NEWS = {"p2021": "2021", "p2023": "2023", "c2020": "2020"}
HOW_YOU_TAG_BEGAN = datetime(2013, 2, 1, tzinfo=UTC)
DRAWN = 10  # hashtags of other posts, judged besides
# A ranker that has no opinion yet: the examples are filled in later.
SILENT = Ranker(
    Trees(
        np.zeros(1, np.int32),
        np.zeros(1, np.int32),
        np.zeros(1, np.int16),
        np.zeros(1, np.float32),
        np.zeros((1, 2), np.int32),
    ),
    Calibration(np.zeros(1), np.zeros(1)),
)
UNTAUGHT = Judges(SILENT, SILENT, SILENT)


class Cut(NamedTuple):
    """How a set is cut: posts that teach, posts that are scored, and its memory."""

    taught: Sequence[PreparedPost]
    scored: Sequence[PreparedPost]
    memory: Sequence[PreparedPost]
    never: Callable[[PreparedPost], frozenset[str]]
    lexicon: str
    year: str | None


class Lesson(NamedTuple):
    """A set with its draws made, ready to be read beside the news."""

    taught: list[Asked]
    scored: list[Asked]
    remembered: list[Remembered]
    never: Never
    prior: Prior

    def search(self, memory: Memory) -> Search:
        """The search with a memory."""
        return Search(memory, None, self.prior)


class Pair(NamedTuple):
    """Features of a post's inline hashtags, and of its words that are none."""

    tagged: Array
    plain: Array


def _in_order(posts: Sequence[PreparedPost]) -> list[PreparedPost]:
    return sorted(posts, key=lambda post: (post.created_at, post.id))


def _cut(work: Work, name: str) -> Cut:
    """Posts that teach are older than those that are scored; the oldest only fill the memory."""
    if name in OF_2020:
        collection = OF_2020[name]
        posts = split_set(work, name, collection)
        train = [post for post in posts if post.split == "train"]
        test = [post for post in posts if post.split == "test"]
        memory = [post for post in prepared(work, "c2020") if post.collection == collection]
        never = rules_of(work, "c2020").of(collection).keys
        return Cut(train[len(train) // 5 :], test, memory, lambda _: never, "c2020", "2020")
    rules = rules_of(work, name)

    def searched_for(post: PreparedPost) -> frozenset[str]:
        return rules.of(post.collection).keys

    if name == "howyoutag":  # the order is the time
        memory = [
            post.model_copy(update={"created_at": HOW_YOU_TAG_BEGAN + timedelta(minutes=at)})
            for at, post in enumerate(prepared(work, name))
        ]
        train = [post for post in memory if post.split == "train"]
        test = [post for post in memory if post.split != "train"]
        return Cut(train[len(train) // 3 :], test, memory, searched_for, name, None)
    memory = _in_order([post for post in prepared(work, name) if post.created_at])
    usable = [post for post in memory if post.hashtags]
    if name == "archives":
        train, test = [], []
        for own in _by_author(usable).values():
            train += own[len(own) // 5 : int(0.8 * len(own))]
            test += own[int(0.85 * len(own)) :]
        return Cut(train, test, memory, searched_for, name, None)
    size = len(usable)
    train, test = usable[size // 5 : int(0.75 * size)], usable[int(0.85 * size) :]
    return Cut(train, test, memory, searched_for, name, OWN_NEWS[name])


def _by_author(posts: Sequence[PreparedPost]) -> dict[str | None, list[PreparedPost]]:
    found: dict[str | None, list[PreparedPost]] = {}
    for post in posts:
        found.setdefault(post.user, []).append(post)
    return found


def _lesson(work: Work, name: str) -> Lesson:
    cut, chance = _cut(work, name), random.Random(9)
    train = _in_order(chance.sample(cut.taught, min(TAUGHT, len(cut.taught))))
    test = _in_order(chance.sample(cut.scored, min(SCORED, len(cut.scored))))
    return Lesson(
        asked(train, cut.year, chance),
        asked(test, cut.year, chance),
        [remembered(post) for post in cut.memory],
        {post.id: cut.never(post) for post in (*train, *test)},
        prior_of(work, cut.lexicon),
    )


def _by_time(reads: Sequence[PostWithNews]) -> list[PostWithNews]:
    return sorted(reads, key=lambda read: read.moment)


def taught(work: Work, name: str) -> dict[str, Examples]:
    """The examples of a set that teach, by situation."""

    def make() -> dict[str, Examples]:
        lesson = _lesson(work, name)
        reads = _by_time(beside_news(work, lesson.taught))
        past, never = lesson.remembered, lesson.never
        return situations(reads, past, lesson.search, UNTAUGHT, RankerConfig(), never)

    return work.kept(f"taught-{name}", make)


def scored(work: Work, name: str) -> dict[str, Examples]:
    """The newest posts of a set, all of them in each situation."""

    def make() -> dict[str, Examples]:
        lesson = _lesson(work, name)
        reads, never = _by_time(beside_news(work, lesson.scored)), lesson.never
        full = lesson.search(Memory(lesson.remembered))
        found = {
            "online": make_examples(reads, full, UNTAUGHT, goes_on, never),
            "an hour late": make_examples(reads, full, UNTAUGHT, an_hour_ago, never),
            "newcomer": make_examples(reads, full, UNTAUGHT, lambda _: CLOSED, never),
        }
        if any(read.post.user for read in reads):
            unnamed = map(nobody, reads)
            found["unknown author"] = make_examples(unnamed, full, UNTAUGHT, goes_on, never)
        if name in OF_2020:
            first = min(read.moment for read in reads)
            found["frozen"] = make_examples(reads, full, UNTAUGHT, lambda _: first, never)
        if name in OWN_ARCHIVES:
            found["own archive"] = joined(_own_archives(lesson, reads))
        return found

    return work.kept(f"scored-{name}", make)


def an_hour_ago(read: PostWithNews) -> int:
    """When a memory ends that learns of posts an hour late."""
    return read.moment - A_DAY // 24 + 1


def _own_archives(lesson: Lesson, reads: Sequence[PostWithNews]) -> list[Examples]:
    """Examples of each author with nobody else's posts."""
    found = []
    for user in dict.fromkeys(read.post.user for read in reads):
        search = lesson.search(Memory([post for post in lesson.remembered if post.user == user]))
        own = [read for read in reads if read.post.user == user]
        found.append(make_examples(own, search, UNTAUGHT, goes_on, lesson.never))
    return found


def word_pairs(work: Work, name: str) -> list[Pair]:
    """For each post with inline hashtags: which of its words became one, and which did not."""
    return work.kept(f"words-{name}", lambda: _word_pairs(work, name))


def _word_pairs(work: Work, name: str) -> list[Pair]:
    posts, chance = prepared(work, name), random.Random(7)
    seen = set(post_vectors(work, name).at) if name in ENCODED else set()
    rows = [at for at in range(len(posts)) if at not in seen]
    if len(rows) < WORD_SETS[name]:
        rows = list(range(len(posts)))
    some = [posts[at] for at in sample(chance, rows, WORD_SETS[name])]
    reads = beside_news(work, asked(some, OWN_NEWS.get(name), chance))
    prior = prior_of(work, name)
    search = Search(Memory([], DAYS), None, prior)
    chance = random.Random(3)
    gold = [{tag.key: tag.words for tag in _all_tags(read) if tag.words} for read in reads]
    pool = [tag.words for read in reads for tag in _all_tags(read) if tag.words]
    also = []
    for own in gold:
        drawn = chance.sample(pool, min(DRAWN, len(pool)))
        also.append([*own.values(), *(tag for tag in drawn if "".join(tag) not in own)])
    inline = [at for at, read in enumerate(reads) if read.post.inline]
    pairs = []
    for start in range(0, len(inline), TOGETHER):
        part = inline[start : start + TOGETHER]
        hidden = [_hidden(reads[at]) for at in part]
        found = search.candidates(hidden, also=[also[at] for at in part])
        for at, (query, candidates) in zip(part, found, strict=True):
            used = np.array([key in gold[at] for key in candidates.keys], bool)
            said = [
                len(tag) == 1 and key in query.in_post and query.in_post[key].name is None
                for key, tag in zip(candidates.keys, candidates.words, strict=True)
            ]
            features = candidates.features
            tagged = used & (features[:, PLACE["post_phrase"]] > 0)
            pairs.append(Pair(features[tagged], features[np.array(said, bool) & ~used]))
    return pairs


def _all_tags(read: PostWithNews) -> tuple[Hashtag, ...]:
    return (*read.post.hashtags, *read.post.inline)


def _hidden(read: PostWithNews) -> PostWithNews:
    """A post whose inline hashtags look like any other words."""
    post, body = read.post, read.post.body
    for tag in post.inline:
        row = r"\W{0,2}".join(map(re.escape, tag.words))
        body = re.sub(rf"(?<!\w){row}(?!\w)", _as_usual, body, flags=re.IGNORECASE)
    names = tuple(entity.text for entity in load_finder("fast").find(body))
    update = {"body": body, "entities": names, "hashtags": (), "inline": ()}
    return read._replace(post=post.model_copy(update=update))


def _as_usual(found: re.Match[str]) -> str:
    """Words in the capitals that running text mostly gives them."""
    return re.sub(r"\w+", lambda word: _usual(word.group(), _truecase()), found.group())


@lru_cache(1)
def _truecase() -> tuple[Mapping[str, float], Mapping[str, float]]:
    counts = shipped_finder().truecase
    return counts.seen, counts.capital


def _usual(word: str, counts: tuple[Mapping[str, float], Mapping[str, float]]) -> str:
    small, (seen, capital) = word.lower(), counts
    times = seen.get(small, 0)
    named = times and capital.get(small, 0) >= 0.5 * times
    return word[:1].upper() + word[1:].lower() if named else small
