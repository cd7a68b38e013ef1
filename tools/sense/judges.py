"""The two judges: relevance and ranker, and what they find in a set they did not learn from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import lightgbm
import numpy as np

from hashnews.arrays import Array
from hashnews.learn.examples import (
    Examples,
    RankerConfig,
    averaged,
    chosen_of,
    hits,
    thinned,
)
from hashnews.metrics import micro_f1_of
from hashnews.suggest.judges import ON_TOPIC, READ, Judges
from hashnews.suggest.ranker import Calibration, Ranker, Trees, trees_of
from hashnews.suggest.sources import NEWS, PLACE
from sense.lessons import (
    TAUGHT_SETS,
    WORD_SETS,
    Graded,
    school,
    scored,
    taught,
    word_pairs,
)
from sense.work import Work

COLUMNS = [PLACE[name] for name in READ]
RELEVANCE: dict[str, Any] = {
    "objective": "binary",
    "learning_rate": 0.05,
    "num_leaves": 15,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 10,
    "num_threads": 1,
    "verbose": -1,
    "max_bin": 127,
    "seed": 1,
}
ROUNDS = 250  # of relevance
GRADE_WEIGHTS = {2: 1.3, -1: 1.5}  # sure grades weigh more
OF_NEWS = (  # columns of other sources that are about the articles
    "news_meaning", "fit", "fit_meaning", "fit_meaning_mean", "articles", "glued", "scrap",
)  # fmt: skip
MEMORY_WEIGHT, WORDS_WEIGHT = 0.3, 0.5  # of all their rows, beside those of the school
UNUSED = 2  # candidates not used, for each that was
SHIPPED = RankerConfig(rounds=200, leaves=23, seeds=3)
MEASURED = RankerConfig(rounds=250, leaves=23, seeds=1)
GAINS = [0, 1, 3]  # of the grades 0, 1 and 2
NEWCOMER_FLOOR = 0.45  # of what counts as shown to a newcomer
KEPT = 0.85  # the share of the examples that teach; the newest calibrate
SIMPLE = {"neighbours": "neighbours", "own habit": "own_season", "names of the post": "post_name"}


def both(work: Work, names: Sequence[str], config: RankerConfig) -> Judges:
    """The judges taught on some sets and on the school."""
    relevance = _relevance(work, names)
    cuts = [
        _cut(_filled(examples, relevance))
        for name in names
        for examples in taught(work, name).values()
        if len(examples.sizes)
    ]
    parts = [older for older, _ in cuts]
    held_out = [newer for _, newer in cuts if len(newer.sizes)]
    graded = _school_rows(work, relevance)
    seeds = range(config.first_seed, config.first_seed + config.seeds)
    trees = [_ranker(config, parts, graded, seed) for seed in seeds]
    newcomers = [_filled(taught(work, name)["newcomer"], relevance) for name in names]
    return Judges(relevance, averaged(trees, held_out), chosen_of(newcomers, NEWCOMER_FLOOR))


def shipped(work: Work) -> Judges:
    """The judges that ship."""
    return work.kept("judges", lambda: both(work, TAUGHT_SETS, SHIPPED))


def measure(work: Work) -> dict[str, dict[str, dict[str, Any]]]:
    """F1@1 and F1@5 in percent, by set and situation.

    Neither the memories nor the lexicon of a set have taught the judges that are measured on it.
    What stays are the vectors of pieces and the inline words, which are the same for all.
    """
    table: dict[str, dict[str, dict[str, Any]]] = {}
    for name in TAUGHT_SETS:
        print("without", name, flush=True)
        judges = both(work, [other for other in TAUGHT_SETS if other != name], MEASURED)
        table[name] = {}
        for situation, examples in scored(work, name).items():
            _filled(examples, judges.relevance)
            found = {"HashNews": _suggested(judges, situation, examples)}
            found |= {label: _highest(examples, column) for label, column in SIMPLE.items()}
            gold = examples.gold
            table[name][situation] = {
                "posts": len(gold),
                "recall": round(float(examples.used.sum() / max(1, gold.sum())), 3),
                **{label: _f1(some, gold) for label, some in found.items()},
            }
    return table


def _relevance(work: Work, names: Sequence[str]) -> Ranker:
    """Is a hashtag about the post? The school says so, memories and inline words help."""
    graded = school(work)
    graded += [without_news(one) for one in graded]  # so it knows what a post without news is like
    features = [one.features for one in graded]
    grades = np.concatenate([one.grades for one in graded])
    answers = [(grades >= 1).astype(np.int64)]
    weights = [np.select([grades == g for g in GRADE_WEIGHTS], list(GRADE_WEIGHTS.values()), 1.0)]
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
    scores = np.linspace(-8, 8, 161)
    return Ranker(trees_of(text, COLUMNS), Calibration(scores, 1 / (1 + np.exp(-scores))))


def without_news(one: Graded) -> Graded:
    """Candidates as if no article had been found; those only the news brought are out."""
    features = one.features.copy()
    kept = (features[:, PLACE["in_post"]] > 0) | (features[:, PLACE["lexicon_meaning"]] > -1)
    absent = {**NEWS.columns, **dict.fromkeys(OF_NEWS, 0.0)}
    features[:, [PLACE[name] for name in absent]] = list(absent.values())
    return Graded(features[kept], one.grades[kept])


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


def _filled(examples: Examples, relevance: Ranker) -> Examples:
    """The same examples with what relevance says."""
    examples.features[:, ON_TOPIC] = relevance.probabilities(examples.features)
    return examples


def _cut(examples: Examples) -> tuple[Examples, Examples]:
    """The older and the newer posts of some examples."""
    posts = int(KEPT * len(examples.sizes))
    rows = int(examples.starts[posts])
    features, used, *by_post = examples
    older = Examples(features[:rows], used[:rows], *(column[:posts] for column in by_post))
    newer = Examples(features[rows:], used[rows:], *(column[posts:] for column in by_post))
    return older, newer


def _school_rows(work: Work, relevance: Ranker) -> tuple[Array, Array, Array]:
    """Features, grades and sizes of the school; a wrong hashtag is as good as none."""
    graded = [one for one in school(work) if len(one.grades)]
    features = np.concatenate([one.features for one in graded])
    features[:, ON_TOPIC] = relevance.probabilities(features)
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
    return trees_of(lightgbm.train(settings, data, config.rounds).model_to_string())


def _suggested(judges: Judges, situation: str, examples: Examples) -> Array:
    """What is used of the suggestions; without a memory relevance alone puts them in order."""
    if situation == "newcomer":
        return _highest(examples, "on_topic")
    return hits(judges.ranker, examples)


def _highest(examples: Examples, column: str, most: int = 5) -> Array:
    """For each post and rank whether that hashtag was used, where one feature alone decides."""
    scores = examples.features[:, PLACE[column]]
    found = np.zeros((len(examples.sizes), most))
    for post, (start, end) in enumerate(pairwise(examples.starts.tolist())):
        best = start + np.argsort(-scores[start:end], kind="stable")[:most]
        best = best[scores[best] > 0]
        found[post, : len(best)] = examples.used[best]
    return found


def _f1(found: Array, gold: Array) -> dict[str, float]:
    return {f"F1@{most}": round(100 * micro_f1_of(found, gold, most), 1) for most in (1, 5)}
