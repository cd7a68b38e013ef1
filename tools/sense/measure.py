"""What the judges find in a set that taught none of them, over seeds, beside simple ways.

Of each post the five best are shown, none below the floor. Shares are F1@1 and F1@5 in percent.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hashnews.arrays import Array
from hashnews.learn.examples import Examples, RankerConfig
from hashnews.metrics import micro_f1_of
from hashnews.suggest.judges import Judges
from hashnews.suggest.model import ModelConfig
from hashnews.suggest.sources import PLACE
from sense.collections import prepared
from sense.judges import both, news_off, shipped
from sense.lessons import OF_2020, TAUGHT_SETS, scored
from sense.work import Work

SEEDS = (1, 2, 3)
SIMPLE = {"neighbours": "neighbours", "own habit": "own_season", "names of the post": "post_name"}
SHOWN, DRAWS, BINS = 5, 2000, 10
NEWS_OF_THE_DAYS, ALL = ("p2021", "p2023"), "all"  # sets of the general public with their news


class Shown(NamedTuple):
    """What is suggested for each post: was it used, is there one, and how likely it was said."""

    used: Array
    there: Array
    said: Array


def measure(work: Work, sets: Sequence[str] = TAUGHT_SETS) -> dict[str, Any]:
    """A table by set and situation; neither memories nor lexicon of a set taught its judges.

    What stays are the vectors of pieces and the inline words, which are the same for all.
    """
    table: dict[str, Any] = {}
    for name in sets:
        taught = [_without(work, name, seed) for seed in SEEDS]
        table[name] = {
            situation: _row([shown(judges, examples) for judges in taught], examples)
            for situation, examples in scored(work, name).items()
        }
        if name in NEWS_OF_THE_DAYS:
            table[name]["worth of the news"] = _worth_of_news(work, name, taught)
        print("without", name, flush=True)
    table["taught on all"] = _of_shipped(work)
    return table


def _of_shipped(work: Work) -> dict[str, Any]:
    """What the judges that ship find in the newest posts of 2020, with floors and without."""
    judges = shipped(work)
    return {
        name: {
            situation: {
                "with floors": _f1(shown(judges, examples), examples.gold),
                "without": _f1(
                    _best(judges.judge(examples.features).used, examples), examples.gold
                ),
            }
            for situation, examples in scored(work, name).items()
        }
        for name in OF_2020
    }


def _worth_of_news(work: Work, name: str, taught: Sequence[Judges]) -> dict[str, Any]:
    """The same posts with and without news, by topic, for a newcomer and online."""
    topics = {post.id: post.collection or "" for post in prepared(work, name)}
    found: dict[str, Any] = {}
    for situation in ("newcomer", "online"):
        examples = scored(work, name)[situation]
        blind = silent(examples)
        told = [shown(judges, examples) for judges in taught]
        untold = [shown(judges, blind) for judges in taught]
        here = np.array([topics[post] for post in examples.ids])
        found[situation] = {
            topic: _with_and_without(told, untold, examples.gold, (here == topic) | (topic == ALL))
            for topic in (ALL, *sorted(set(here)))
        }
    return found


def _with_and_without(
    told: Sequence[Shown], untold: Sequence[Shown], gold: Array, at: Array
) -> dict[str, Any]:
    """F1 of some posts with the news and without it, and how far ahead the news brings."""
    pairs = [[_of(run, at) for run in runs] for runs in (told, untold)]
    mean = _of(untold[0], at)._replace(used=np.mean([run.used for run in pairs[1]], axis=0))
    return {
        "posts": int(at.sum()),
        "with": [_f1(run, gold[at]) for run in pairs[0]],
        "without": [_f1(run, gold[at]) for run in pairs[1]],
        "ahead": {f"F1@{most}": _difference(pairs[0], mean, gold[at], most) for most in (1, SHOWN)},
    }


def _of(run: Shown, at: Array) -> Shown:
    return Shown(run.used[at], run.there[at], run.said[at])


def silent(examples: Examples) -> Examples:
    """The same posts as if no article had been found for them."""
    features, kept = news_off(examples.features)
    posts = np.repeat(np.arange(len(examples.sizes)), examples.sizes)[kept]
    sizes = np.bincount(posts, minlength=len(examples.sizes))
    return examples._replace(features=features[kept], used=examples.used[kept], sizes=sizes)


def _without(work: Work, name: str, seed: int) -> Judges:
    """The judges taught on the other sets."""
    others = [other for other in TAUGHT_SETS if other != name]
    config = RankerConfig(rounds=250, leaves=23, seeds=1, first_seed=seed)
    return work.kept(f"without-{name}-{seed}", lambda: both(work, others, config))


def shown(judges: Judges, examples: Examples) -> Shown:
    """The best five of each post that are likely enough on topic."""
    config, remembered = ModelConfig(), examples.features[:, PLACE["uses"]] > 0
    verdict = judges.judge(examples.features, config.remembered)
    high = verdict.on_topic >= np.where(remembered, config.remembered, config.floor)
    return _best(np.where(high, verdict.used, 0), examples)


def _best(scores: Array, examples: Examples) -> Shown:
    empty = np.zeros((len(examples.sizes), SHOWN))
    found = Shown(empty.copy(), empty.copy(), empty.copy())
    for post, (start, end) in enumerate(pairwise(examples.starts.tolist())):
        best = start + np.argsort(-scores[start:end], kind="stable")[:SHOWN]
        best = best[scores[best] > 0]
        found.used[post, : len(best)] = examples.used[best]
        found.there[post, : len(best)] = 1
        found.said[post, : len(best)] = scores[best]
    return found


def _row(runs: Sequence[Shown], examples: Examples) -> dict[str, Any]:
    """The figures of one situation; differences have a 95 % interval over posts, paired."""
    gold = examples.gold
    simple = {
        label: _best(examples.features[:, PLACE[column]], examples)
        for label, column in SIMPLE.items()
    }
    row: dict[str, Any] = {
        "posts": len(gold),
        "recall": round(float(examples.used.sum() / max(1, gold.sum())), 3),
        "HashNews": [_f1(run, gold) for run in runs],
        "calibration error": round(float(np.mean([_error(run) for run in runs])), 3),
        "used of those shown with 0.25 to 0.35": _used_between(runs, 0.25, 0.35),
    }
    for label, other in simple.items():
        row[label] = _f1(other, gold)
        row[f"ahead of {label}"] = {
            f"F1@{most}": _difference(runs, other, gold, most) for most in (1, SHOWN)
        }
    return row


def _f1(found: Shown, gold: Array) -> dict[str, float]:
    return {
        f"F1@{most}": round(100 * micro_f1_of(found.used, gold, most), 2) for most in (1, SHOWN)
    }


def _difference(runs: Sequence[Shown], other: Shown, gold: Array, most: int) -> list[float]:
    """How far ahead, and the bounds: posts drawn again with replacement."""
    chance = np.random.default_rng(0)
    posts = len(gold)
    ours = np.mean([run.used[:, :most].sum(1) for run in runs], axis=0)
    theirs = other.used[:, :most].sum(1)
    drawn = chance.multinomial(posts, np.full(posts, 1 / posts), DRAWS)
    below = most * posts + drawn @ gold
    ahead = 100 * 2 * (drawn @ ours - drawn @ theirs) / below
    mean = 100 * 2 * (ours.sum() - theirs.sum()) / (most * posts + gold.sum())
    return [round(float(value), 2) for value in (mean, *np.quantile(ahead, [0.025, 0.975]))]


def _error(run: Shown) -> float:
    """ECE: how far the probabilities said are from what was used, in ten bins."""
    said, used = run.said[run.there == 1], run.used[run.there == 1]
    if not len(said):
        return 0.0
    places = np.minimum((said * BINS).astype(int), BINS - 1)
    return float(
        sum(
            abs(said[places == one].mean() - used[places == one].mean()) * (places == one).mean()
            for one in np.unique(places)
        )
    )


def _used_between(runs: Sequence[Shown], low: float, high: float) -> float | None:
    inside = [run.used[(run.there == 1) & (run.said >= low) & (run.said < high)] for run in runs]
    every = np.concatenate(inside)
    return round(float(every.mean()), 3) if len(every) else None
