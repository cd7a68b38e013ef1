"""The judges: relevance, the choice of anyone, and the ranker."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import lightgbm
import numpy as np

from hashnews.arrays import Array
from hashnews.learn.examples import (
    Examples,
    RankerConfig,
    as_often_as_used,
    averaged,
    thinned,
)
from hashnews.suggest.judges import CHOSEN_BY, READ, Judges
from hashnews.suggest.network import SecondOpinion
from hashnews.suggest.ranker import Calibration, Ranker, Trees, lighter, trees_of
from hashnews.suggest.sources import NEWS, PLACE
from hashnews.suggest.topics import UNLIKELY
from sense.lessons import (
    SILENT,
    TAUGHT_SETS,
    WORD_SETS,
    taught,
    word_pairs,
)
from sense.school import Graded, school
from sense.second import second_opinion, weights_of
from sense.work import Work

COLUMNS, CHOICE_COLUMNS = [PLACE[name] for name in READ], [PLACE[name] for name in CHOSEN_BY]
LOGISTIC = Calibration(np.linspace(-8, 8, 161), 1 / (1 + np.exp(-np.linspace(-8, 8, 161))))
RELEVANCE: dict[str, Any] = {
    "objective": "binary",
    "learning_rate": 0.08,
    "extra_trees": True,  # splits at random places: better on posts that did not teach
    "num_leaves": 127,
    "min_data_in_leaf": 30,
    "feature_fraction": 0.7,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 10,
    "num_threads": 1,
    "verbose": -1,
    "max_bin": 127,
    "seed": 1,
}
ROUNDS, CHOICE_ROUNDS = 600, 300
OF_NEWS = (  # columns of other sources that are about the articles
    "news_meaning", "fit", "fit_meaning", "fit_meaning_mean", "articles", "glued", "scrap",
    "news_cues", "headline_meaning", "covered", "stories", "surest_story",
)  # fmt: skip
BROUGHT = {"in_post": 0.0, "lexicon_meaning": -1.0, "uses": 0.0}  # and above what
MEMORY_WEIGHT, WORDS_WEIGHT = 0.3, 0.5  # of all their rows, beside those of the school
UNUSED = 2  # candidates not used, for each that was
SHIPPED = RankerConfig(rounds=200, leaves=23, seeds=3)
GAINS = [0, 1, 3]  # of the grades 0, 1 and 2
NEWCOMER_FLOOR = 0.45  # of what counts as shown to a newcomer
KEPT = 0.85  # the share of the examples that teach; the newest calibrate


def both(work: Work, names: Sequence[str], config: RankerConfig) -> Judges:
    """The judges taught on some sets and on the school."""
    blind = Judges(_relevance(work, tuple(names)), _choice(work), SILENT)
    cuts = [
        _cut(filled(examples, blind))
        for name in names
        for examples in taught(work, name).values()
        if len(examples.sizes)
    ]
    parts = [older for older, _ in cuts]
    held_out = [newer for _, newer in cuts if len(newer.sizes)]
    graded = _school_rows(work, blind)
    seeds = range(config.first_seed, config.first_seed + config.seeds)
    trees = [_ranker(config, parts, graded, seed) for seed in seeds]
    newcomers = [filled(taught(work, name)["newcomer"], blind) for name in names]
    choice = as_often_as_used(blind.choice, newcomers, NEWCOMER_FLOOR)
    return Judges(blind.relevance, choice, averaged(trees, held_out), _second(work))


def shipped(work: Work) -> Judges:
    """The judges that ship."""
    return work.kept("judges", lambda: both(work, TAUGHT_SETS, SHIPPED))


def _lessons(work: Work) -> list[Graded]:
    """The school with its news and without: so a post without news is known, too."""
    graded = school(work)
    return graded + [without_news(one) for one in graded]


@lru_cache(1)
def _relevance(work: Work, names: tuple[str, ...]) -> Ranker:
    """Is a hashtag about the post? The school says so, memories and inline words help."""
    graded = _lessons(work)
    features = [one.features for one in graded]
    grades = np.concatenate([one.grades for one in graded])
    answers = [(grades >= 1).astype(np.int64)]
    weights = [weights_of(grades)]
    others = ((_memory_rows(work, names), MEMORY_WEIGHT), (_word_rows(work), WORDS_WEIGHT))
    for (rows, used), weight in others:
        features.append(rows)
        answers.append(used)
        weights.append(np.full(len(used), weight * len(grades) / len(used)))
    data = lightgbm.Dataset(
        np.concatenate(features)[:, COLUMNS],
        np.concatenate(answers),
        weight=np.concatenate(weights),
    )
    text = lightgbm.train(RELEVANCE, data, ROUNDS).model_to_string()
    return Ranker(lighter(trees_of(text, COLUMNS)), LOGISTIC)


@lru_cache(1)
def _choice(work: Work) -> Ranker:
    """Would anyone use a hashtag that is on topic? That is the grade 2 beside the grade 1."""
    graded = _lessons(work)
    features = np.concatenate([one.features[one.grades >= 1] for one in graded])
    grades = np.concatenate([one.grades[one.grades >= 1] for one in graded])
    data = lightgbm.Dataset(features[:, CHOICE_COLUMNS], grades == 2)
    text = lightgbm.train(RELEVANCE, data, CHOICE_ROUNDS).model_to_string()
    return Ranker(lighter(trees_of(text, CHOICE_COLUMNS)), LOGISTIC)


@lru_cache(1)
def _second(work: Work) -> SecondOpinion:
    """The small network, taught on the school alone."""
    return work.kept("second", lambda: second_opinion(_lessons(work)))


def without_news(one: Graded) -> Graded:
    """Candidates as if no article had been found; those only the news brought are out."""
    features, kept = news_off(one.features)
    return Graded(features[kept], one.grades[kept], one.vectors[kept])


def news_off(features: Array) -> tuple[Array, Array]:
    """Features as if no article had been found, and which candidates something else brought."""
    features = features.copy()
    brought = [features[:, PLACE[name]] > least for name, least in BROUGHT.items()]
    absent = {**NEWS.columns, **dict.fromkeys(OF_NEWS, 0.0), "news_topic": UNLIKELY}
    features[:, [PLACE[name] for name in absent]] = list(absent.values())
    return features, np.any(brought, axis=0)


def _memory_rows(work: Work, names: Sequence[str]) -> tuple[Array, Array]:
    """Hashtags that were used, and some that were not, wherever there is a memory."""
    chance = np.random.default_rng(1)
    features, used = [], []
    for name in names:
        for situation, examples in taught(work, name).items():
            if situation == "newcomer":
                continue
            for start, end in pairwise(examples.starts.tolist()):
                yes = np.flatnonzero(examples.used[start:end] == 1)
                no = np.flatnonzero(examples.used[start:end] == 0)
                if len(yes) and len(no):
                    no = chance.choice(no, min(len(no), UNUSED * len(yes)), replace=False)
                    rows = start + np.concatenate([yes, no])
                    features.append(examples.features[rows])
                    used.append(examples.used[rows])
    return np.concatenate(features), np.concatenate(used)


def _word_rows(work: Work) -> tuple[Array, Array]:
    """Words that their author made a hashtag, and some of the others."""
    chance = np.random.default_rng(1)
    features, used = [], []
    for name in WORD_SETS:
        for tagged, plain in word_pairs(work, name):
            if len(tagged) and len(plain):
                most = min(len(plain), UNUSED * len(tagged))
                drawn = chance.choice(len(plain), most, replace=False)
                features += [tagged, plain[drawn]]
                used += [np.ones(len(tagged), np.int64), np.zeros(most, np.int64)]
    return np.concatenate(features), np.concatenate(used)


def filled(examples: Examples, judges: Judges) -> Examples:
    """The same examples with what relevance and the choice of anyone say."""
    return examples._replace(features=judges.told(examples.features))


def _cut(examples: Examples) -> tuple[Examples, Examples]:
    """The older and the newer posts of some examples."""
    posts = int(KEPT * len(examples.sizes))
    rows = int(examples.starts[posts])
    features, used, *by_post = examples
    older = Examples(features[:rows], used[:rows], *(column[:posts] for column in by_post))
    newer = Examples(features[rows:], used[rows:], *(column[posts:] for column in by_post))
    return older, newer


def _school_rows(work: Work, judges: Judges) -> tuple[Array, Array, Array]:
    """Features, grades and sizes of the school; a wrong hashtag is as good as none."""
    graded = [one for one in school(work) if len(one.grades)]
    features = judges.told(np.concatenate([one.features for one in graded]))
    grades = np.maximum(np.concatenate([one.grades for one in graded]), 0)
    return features, grades, np.array([len(one.grades) for one in graded])


def _ranker(
    config: RankerConfig,
    parts: Sequence[Examples],
    graded: tuple[Array, Array, Array],
    seed: int,
) -> Trees:
    """Trees that put used candidates, and well graded ones, before others."""
    taken = [*(thinned(part, config.negatives, seed) for part in parts), graded]
    features, grades, sizes = (np.concatenate(column) for column in zip(*taken, strict=True))
    settings: dict[str, Any] = {
        "objective": "lambdarank",
        "lambdarank_truncation_level": 10,
        "label_gain": GAINS,
        "learning_rate": config.rate,
        "num_leaves": config.leaves,
        "min_data_in_leaf": config.smallest,
        "feature_fraction": config.columns,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "lambda_l2": 5.0,
        "max_bin": 127,
        "num_threads": 1,
        "verbose": -1,
        "seed": seed,
    }
    data = lightgbm.Dataset(features, grades, group=sizes, weight=np.ones(len(features)))
    return lighter(trees_of(lightgbm.train(settings, data, config.rounds).model_to_string()))
