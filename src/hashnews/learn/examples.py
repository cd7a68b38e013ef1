"""Teaching the ranker on past posts.

Each training post is answered from its own past: candidates and features are made from what had
been posted and published before it. The author's hashtags among the candidates are the ones used.

The same ranker serves everybody, so it is taught in all situations people are in: *online* (the
memory goes on up to the post), *frozen* (it was closed some days before), *newcomer* (there is
none), *unknown author* (nobody is named), *own archive* (nobody else's posts) and *small memory*
(ten posts and up).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice, pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from hashnews.arrays import Array
from hashnews.config import Config
from hashnews.errors import DataError, needs_extra
from hashnews.metrics import micro_f1_of
from hashnews.posts.table import Remembered
from hashnews.suggest.candidates import Search
from hashnews.suggest.judges import CHOICE, NEWEST, ON_TOPIC, Judges
from hashnews.suggest.memory import NOTHING_NEW, Memory
from hashnews.suggest.query import PostWithNews
from hashnews.suggest.ranker import (
    Calibration,
    Ranker,
    Trees,
    average,
    by_situation,
    situation_of,
    trees_of,
)
from hashnews.suggest.sources import FEATURES
from hashnews.times import A_DAY

SITUATIONS = (
    "online", "frozen", "newcomer", "unknown author", "own archive", "small memory",
)  # fmt: skip
SMALL_MEMORIES = 16
CLOSED = 0  # the end of a memory that was closed before everything
TOGETHER = 32  # posts the generator reads at a time
Never = Mapping[str, frozenset[str]]  # keys that do not count, by the post's id
NEVER: Never = MappingProxyType({})
LATE, LATEST = 0.5, A_DAY // 8  # the share of posts that a memory learns late, the longest delay
# When the memory is closed for a post; None: it goes on.
Closing = Callable[[PostWithNews], int | None]


def goes_on(_: PostWithNews) -> None:
    """The closing of a memory that is never closed."""


def sometimes_late(read: PostWithNews) -> int | None:
    """The closing of a memory that learns of half of the posts minutes or hours late.

    Sources that are followed are there at once, what somebody adds by hand is not.
    """
    chance = random.Random(read.post.id)
    late = chance.random() < LATE
    return int(read.moment - chance.uniform(0, LATEST)) if late else None


class RankerConfig(Config):
    """How the trees are grown; chosen on validation posts."""

    rounds: int = 150
    leaves: int = 15
    rate: float = 0.1
    smallest: int = 50
    """Candidates a leaf must hold."""
    columns: float = 0.5
    """The share of the features each tree may look at."""
    negatives: int = 30
    """Candidates of a post that were not used, drawn at random."""
    seeds: int = 3
    """Rankers whose scores are averaged ..."""
    first_seed: int = 1
    """... the seed of the first, the others following."""
    shares: dict[str, float] = Field(
        {
            "online": 0.3,
            "frozen": 0.15,
            "newcomer": 0.2,
            "unknown author": 0.2,
            "own archive": 0.1,
            "small memory": 0.05,
        }
    )
    """How often each situation is taught."""
    closed_days: float = 11.0
    """How long before the post a frozen memory was closed at most."""


class Examples(NamedTuple):
    """Candidates of many posts, one post after the other."""

    features: Array
    used: Array  # 1 where the author used the candidate
    sizes: Array  # candidates of each post
    gold: Array  # hashtags the author used, among the candidates or not
    keys: list[list[str]]
    ids: list[str]

    @property
    def starts(self) -> Array:
        """Where the candidates of each post begin, and where the last ones end."""
        return np.concatenate([[0], np.cumsum(self.sizes)])


EMPTY_EXAMPLES = Examples(
    np.zeros((0, len(FEATURES)), np.float32),
    np.zeros(0, np.uint8),
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
    [],
    [],
)


def make_examples(
    posts: Iterable[PostWithNews],
    search: Search,
    judges: Judges,
    closing: Closing = goes_on,
    never: Never = NEVER,
) -> Examples:
    """The candidates of posts, each from its own past, with what the other judges say of them.

    What `search` knows by itself must be older than all of them; `never` are keys that do not
    count, by the post's id: what the posts were searched for.
    """
    features, used = [np.zeros((0, len(FEATURES)), np.float32)], [np.zeros(0, np.uint8)]
    keys, gold, ids = [], [], []
    stream = iter(posts)
    while batch := list(islice(stream, TOGETHER)):
        unanswered = [read.unanswered() for read in batch]
        closed = [closing(read) for read in batch]
        unwanted = [never.get(read.post.id, frozenset()) for read in batch]
        for read, (_, found) in zip(
            batch, search.candidates(unanswered, unwanted, closed), strict=True
        ):
            wanted = {tag.key for tag in read.post.hashtags}
            features.append(judges.told(found.features))
            used.append(np.array([key in wanted for key in found.keys], np.uint8))
            keys.append(found.keys)
            gold.append(len(wanted))
            ids.append(read.post.id)
    sizes = np.array([len(listed) for listed in keys], np.int64)
    return Examples(
        np.concatenate(features), np.concatenate(used), sizes, np.array(gold, np.int64), keys, ids
    )


def thinned(examples: Examples, most: int, seed: int) -> tuple[Array, Array, Array]:
    """Features, answers and sizes of the posts that used a candidate, with some of the others.

    Where no candidate was used there is nothing to put in order.
    """
    chance = np.random.default_rng(seed)
    kept, sizes = [np.zeros(0, np.int64)], []
    for start, end in pairwise(examples.starts.tolist()):
        used = examples.used[start:end] == 1
        idle = start + np.flatnonzero(~used)
        if used.any() and len(idle):
            if len(idle) > most:
                idle = chance.choice(idle, most, replace=False)
            kept += [start + np.flatnonzero(used), idle]
            sizes.append(len(kept[-1]) + len(kept[-2]))
    rows = np.concatenate(kept)
    return examples.features[rows], examples.used[rows], np.array(sizes, np.int64)


def grow(config: RankerConfig, parts: Sequence[Examples], seed: int) -> str:
    """One ranker as LightGBM writes it: trees that put used candidates before others."""
    with needs_extra("training", "train"):
        import lightgbm
    taken = [thinned(part, config.negatives, seed) for part in parts]
    features, used, sizes = (np.concatenate(column) for column in zip(*taken, strict=True))
    if not len(sizes):
        raise DataError("no hashtag of any training post is among its candidates: more posts?")
    settings: dict[str, Any] = {
        "objective": "lambdarank",
        "lambdarank_truncation_level": 10,
        "learning_rate": config.rate,
        "num_leaves": config.leaves,
        "min_data_in_leaf": config.smallest,
        "feature_fraction": config.columns,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "lambda_l2": 5.0,
        "max_bin": 127,
        "num_threads": 1,
        "deterministic": True,
        "verbose": -1,
        "seed": seed,
    }
    data = lightgbm.Dataset(features, used, group=sizes)
    return str(lightgbm.train(settings, data, config.rounds).model_to_string())


def fit(config: RankerConfig, parts: Sequence[Examples], held_out: Sequence[Examples]) -> Ranker:
    """A ranker taught on some posts and calibrated on others, all candidates of them."""
    seeds = range(config.first_seed, config.first_seed + config.seeds)
    return averaged([trees_of(grow(config, parts, seed)) for seed in seeds], held_out)


def averaged(trees: Sequence[Trees], held_out: Sequence[Examples]) -> Ranker:
    """A ranker that gives the mean of several."""
    together = average(trees, len(trees))
    return calibrated(Ranker(together, Calibration(np.zeros(1), np.zeros(1))), held_out)


def calibrated(ranker: Ranker, held_out: Sequence[Examples]) -> Ranker:
    """The ranker with scores that mean what they say on these posts, in each situation."""
    features = np.concatenate([part.features for part in held_out])
    used = np.concatenate([part.used for part in held_out])
    remembers = features[:, NEWEST] < NOTHING_NEW  # elsewhere the ranker is not asked
    if remembers.any():
        features, used = features[remembers], used[remembers]
    curves = by_situation(ranker.scores(features), used, situation_of(features))
    return ranker._replace(calibration=curves)


def situations(
    posts: Sequence[PostWithNews],
    remembered: Sequence[Remembered],
    searching: Callable[[Memory], Search],
    judges: Judges,
    config: RankerConfig,
    never: Never = NEVER,
) -> dict[str, Examples]:
    """Posts dealt out to all situations; `searching` looks for candidates with a memory."""
    chance = random.Random(5)
    weights = [config.shares[name] for name in SITUATIONS]
    dealt: dict[str, list[PostWithNews]] = {name: [] for name in SITUATIONS}
    for read, name in zip(posts, chance.choices(SITUATIONS, weights, k=len(posts)), strict=True):
        if name == "own archive" and read.post.user is None:
            name = "unknown author"
        dealt[name].append(read)
    full = searching(Memory(remembered))
    first = full.memory.first() if remembered else 0

    def closing(read: PostWithNews) -> int:
        """Some time before the post, but not before half of what there was."""
        longest = min(config.closed_days * A_DAY, max(0, read.moment - first) / 2)
        return int(read.moment - random.Random(read.post.id).uniform(0, longest))

    def examples(
        reads: Iterable[PostWithNews], search: Search, closing: Closing = goes_on
    ) -> Examples:
        return make_examples(reads, search, judges, closing, never)

    return {
        "online": examples(dealt["online"], full, sometimes_late),
        "frozen": examples(dealt["frozen"], full, closing),
        "newcomer": examples(dealt["newcomer"], full, lambda _: CLOSED),
        "unknown author": examples(map(nobody, dealt["unknown author"]), full),
        "own archive": joined(
            examples(reads, searching(Memory([one for one in remembered if one.user == user])))
            for user, reads in _by_user(dealt["own archive"]).items()
        ),
        "small memory": joined(
            examples(reads, searching(Memory(_some(remembered, number))))
            for number, reads in _by_number(dealt["small memory"]).items()
        ),
    }


def nobody(read: PostWithNews) -> PostWithNews:
    """A post whose author is not named."""
    return read._replace(post=read.post.model_copy(update={"user": None}))


def _by_user(reads: Iterable[PostWithNews]) -> dict[str | None, list[PostWithNews]]:
    found: dict[str | None, list[PostWithNews]] = {}
    for read in reads:
        found.setdefault(read.post.user, []).append(read)
    return found


def _by_number(reads: Iterable[PostWithNews]) -> dict[int, list[PostWithNews]]:
    """Posts dealt out to a few small memories."""
    found: dict[int, list[PostWithNews]] = {}
    for at, read in enumerate(reads):
        found.setdefault(at % SMALL_MEMORIES, []).append(read)
    return found


def _some(remembered: Sequence[Remembered], number: int) -> list[Remembered]:
    """A small memory: from ten posts up to a thousand."""
    chance = random.Random(number)
    size = min(len(remembered), round(10 ** chance.uniform(1, 3)))
    return chance.sample(list(remembered), size)


def joined(parts: Iterable[Examples]) -> Examples:
    """Examples of several parts as one."""
    parts = list(parts)
    if not parts:
        return EMPTY_EXAMPLES
    return Examples(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.used for part in parts]),
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.gold for part in parts]),
        [keys for part in parts for keys in part.keys],
        [post for part in parts for post in part.ids],
    )


def as_often_as_used(choice: Ranker, newcomers: Sequence[Examples], floor: float) -> Ranker:
    """The choice of anyone with probabilities that sum to what was used of all that is shown.

    P(chosen | on topic) = c / (1 + exp(-score)), c = used / sum of P(on topic) / (1 + exp(-score))
    """
    used = expected = 0.0
    for part in newcomers:
        shown = part.features[part.features[:, ON_TOPIC] >= floor]
        used += float(part.used[part.features[:, ON_TOPIC] >= floor].sum())
        expected += float((shown[:, ON_TOPIC] / (1 + np.exp(-shown[:, CHOICE]))).sum())
    scores = np.linspace(-8, 8, 161)
    share = used / expected if expected else 0.0
    return choice._replace(
        calibration=Calibration(scores, np.minimum(1, share / (1 + np.exp(-scores))))
    )


def hits(ranker: Ranker, examples: Examples, most: int = 5) -> Array:
    """For each post and rank up to `most` whether that suggestion was used."""
    scores = ranker.scores(examples.features)
    found = np.zeros((len(examples.sizes), most))
    for post, (start, end) in enumerate(pairwise(examples.starts.tolist())):
        best = np.argsort(-scores[start:end], kind="stable")[:most]
        found[post, : len(best)] = examples.used[start:end][best]
    return found


def suggested(ranker: Ranker, parts: Sequence[Examples]) -> tuple[float, float]:
    """F1@1 and F1@5 over the posts of some examples."""
    found = np.concatenate([hits(ranker, part) for part in parts])
    gold = np.concatenate([part.gold for part in parts])
    return micro_f1_of(found, gold, 1), micro_f1_of(found, gold, 5)
