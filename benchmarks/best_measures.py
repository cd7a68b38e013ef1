"""How the suggester is measured: scores, groups of posts, sources switched off, true scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from best_sets import Loaded

from hashnews.learn.examples import Examples, RankerConfig, averaged, calibrated, fit, hits
from hashnews.metrics import micro_f1_of
from hashnews.suggest.query import PostWithNews
from hashnews.suggest.ranker import Ranker
from hashnews.suggest.sources import NAMES, PLACE, SOURCES
from hashnews.suggest.sources.base import LAST, Source
from hashnews.text.tokens import words

Both = list[float]  # F1@1 and F1@5, in hundredths


class Group(NamedTuple):
    """Which of the hashtags of which posts are looked for, and which suggestions do not count."""

    posts: list[int]
    gold: list[set[str]]
    ignored: list[set[str]]


def measure(
    loaded: Loaded, scored: dict[str, Examples], rankers: Sequence[Ranker]
) -> dict[str, object]:
    """Scores of the situations over seeds and of groups of posts, and how true the scores are."""
    ranker = averaged([one.trees for one in rankers], list(scored.values()))
    found = {name: hits(ranker, part) for name, part in scored.items()}
    golds = scored["online"].gold
    names = names_of_posts(loaded.scored)
    scores: dict[str, object] = {}
    for name, part in scored.items():
        scores[name] = {
            "ensemble": _both(found[name], golds),
            "seeds": [_both(hits(one, part), golds) for one in rankers],
            "recall": float(part.used.sum() / golds.sum()),
        }
    scores["names in the post"] = {"ensemble": _both(names, golds)}
    scores["news only less names"] = difference(found["news only"], names, golds)
    for feature in ("own_season", "neighbours"):
        scores[f"by {feature} alone"] = {
            situation: _both(_by(scored[situation], feature), golds)
            for situation in ("online", "frozen")
        }
    return {
        "posts": len(golds),
        "scores": scores,
        "groups": {
            situation: {
                name: {"posts": len(group.posts), "F1@1, F1@5": _both(*in_group(group, ranked))}
                for name, group in groups(loaded, situation).items()
            }
            for situation, part in scored.items()
            for ranked in [in_order(part, ranker)]
        },
        "calibration": reliability(ranker, scored),
    }


def _both(found: np.ndarray, gold: np.ndarray) -> list[float]:
    return [round(100 * micro_f1_of(found, gold, k), 2) for k in (1, 5)]


def _by(part: Examples, feature: str) -> np.ndarray:
    """What one feature alone puts first."""
    values = part.features[:, PLACE[feature]]
    found = np.zeros((len(part.sizes), 5))
    for post, (start, end) in enumerate(zip(part.starts[:-1], part.starts[1:], strict=True)):
        best = np.argsort(-values[start:end], kind="stable")[:5]
        best = best[values[start:end][best] > 0]
        found[post, : len(best)] = part.used[start:end][best]
    return found


def names_of_posts(tasks: list[PostWithNews]) -> np.ndarray:
    """The plain baseline: the names of the post, in order, written as hashtags."""
    found = np.zeros((len(tasks), 5))
    for post, read in enumerate(tasks):
        keys = dict.fromkeys("".join(words(name)) for name in read.post.entities)
        inline = {tag.key for tag in read.post.inline}
        gold = {tag.key for tag in read.post.hashtags}
        ranked = [key in gold for key in keys if key and key not in inline][:5]
        found[post, : len(ranked)] = ranked
    return found


def difference(one: np.ndarray, other: np.ndarray, gold: np.ndarray, draws: int = 2000) -> dict:
    """F1@5 of one less the other's over the same posts, with a paired bootstrap interval."""
    chance = np.random.default_rng(0)
    above = 2 * (one[:, :5].sum(axis=1) - other[:, :5].sum(axis=1))
    below = 5 + gold
    drawn = chance.multinomial(len(gold), np.full(len(gold), 1 / len(gold)), draws)
    values = 100 * (drawn @ above) / (drawn @ below)
    low, high = np.quantile(values, [0.025, 0.975])
    mean = 100 * above.sum() / below.sum()
    return {"F1@5": round(float(mean), 2), "95 %": [round(float(low), 2), round(float(high), 2)]}


# ----- groups -----


def groups(loaded: Loaded, situation: str) -> dict[str, Group]:
    """All posts; hashtags their author never used; those unseen in training; new authors."""
    everything, new, unseen, alone = (Group([], [], []) for _ in range(4))
    own_uses = _uses_of_authors(loaded)
    for post, read in enumerate(loaded.scored):
        gold = {tag.key for tag in read.post.hashtags}
        limit = {"online": read.moment, "frozen": loaded.closed}.get(situation, 0)
        own = {key for when, key in own_uses[read.post.user] if when < limit}
        _add(everything, post, gold, set())
        _add(new, post, gold - own, own)
        _add(unseen, post, gold - loaded.seen, set())
        if not own:
            _add(alone, post, gold, set())
    return {
        "all": everything,
        "new to the author": new,
        "unseen in training": unseen,
        "authors without history": alone,
    }


def _add(group: Group, post: int, gold: set[str], ignored: set[str]) -> None:
    if gold:
        for column, value in zip(group, (post, gold, ignored), strict=True):
            column.append(value)


def _uses_of_authors(loaded: Loaded) -> dict[str | None, list[tuple[int, str]]]:
    memory = loaded.memory
    uses: defaultdict[str | None, list[tuple[int, str]]] = defaultdict(list)
    for part in memory.parts:
        starts, tags, _ = part.segment.row_uses
        names = {kind: part.segment.strings(kind).all() for kind in ("user", "tag")}
        for row, user in enumerate(part.segment.user.tolist()):
            if user >= 0:
                when, name = int(part.segment.times[row]), names["user"][user]
                for tag in tags[starts[row] : starts[row + 1]].tolist():
                    uses[name].append((when, names["tag"][tag]))
    return uses


def in_order(part: Examples, ranker: Ranker) -> list[list[str]]:
    """The candidates of each post, best first."""
    scores = np.split(-ranker.scores(part.features), part.starts[1:-1])
    return [
        [keys[place] for place in np.argsort(given, kind="stable").tolist()]
        for keys, given in zip(part.keys, scores, strict=True)
    ]


def in_group(group: Group, ranked: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Which of the five best suggestions for each post of a group are looked for; how many are."""
    found = np.zeros((len(group.posts), 5))
    for at, (post, gold, ignored) in enumerate(zip(*group, strict=True)):
        best = [key in gold for key in ranked[post] if key not in ignored][:5]
        found[at, : len(best)] = best
    return found, np.array([len(gold) for gold in group.gold])


# ----- sources switched off -----


def switched_off(
    lessons: Sequence[Examples],
    scored: dict[str, dict[str, Examples]],
    grouped: dict[str, dict[str, dict[str, Group]]],
    full: Sequence[Ranker],
    configs: Sequence[RankerConfig],
    switches: Sequence[str],
) -> dict[str, dict[str, object]]:
    """F1@5 gained by each source: the rankers beside others of the same seeds, taught without it.

    Of each set, situation and group: the mean over seeds with an interval over posts.
    """
    lost: dict[str, dict[str, object]] = {name: {} for name in scored}
    ordered = {
        (name, situation): [in_order(part, ranker) for ranker in full]
        for name, parts in scored.items()
        for situation, part in parts.items()
    }
    for source in switches:
        if not said_anything(lessons, source):
            continue
        taught = [lacking(part, source) for part in lessons]
        rankers = [fit(config, taught, taught[:1]) for config in configs]
        for name, parts in scored.items():
            told = {}
            for situation, part in parts.items():
                bare = lacking(part, source)
                others = [in_order(bare, ranker) for ranker in rankers]
                told[situation] = {
                    group: gained(chosen, ordered[name, situation], others)
                    for group, chosen in grouped[name][situation].items()
                    if chosen.posts
                }
            lost[name][source] = told
            print(name, source, told, flush=True)
    return lost


def gained(
    group: Group, ones: Sequence[list[list[str]]], others: Sequence[list[list[str]]]
) -> dict[str, object]:
    """F1@5 of the rankers less that of the others, seed by seed and together."""
    gold = in_group(group, ones[0])[1]
    first, second = ([in_group(group, ranked)[0] for ranked in part] for part in (ones, others))
    seeds = [difference(one, two, gold)["F1@5"] for one, two in zip(first, second, strict=True)]
    return {**difference(np.mean(first, axis=0), np.mean(second, axis=0), gold), "seeds": seeds}


# What can be switched off: all sources of a name.
SWITCHES: dict[str, list[Source]] = {
    name: [source for source in SOURCES if source.name == name] for name in NAMES
}
TELLING = {  # the features that show that a source brought a candidate
    "memory": ("neighbours", "neighbours_inline", "centre"),
    "author": ("own", "own_inline"),
    "rising": ("week", "week_inline"),
    "post": ("post_phrase", "initials"),
    "news": ("news",),
    "season": ("season",),
    "generator": (),
    "lexicon": (),
}


def said_anything(lessons: Sequence[Examples], switch: str) -> bool:
    """Whether what is switched off had a say at all."""
    places = [PLACE[name] for source in SWITCHES[switch] for name in source.columns]
    return any(np.ptp(part.features[:, places], axis=0).any() for part in lessons)


def lacking(part: Examples, switch: str) -> Examples:
    """Examples without a source: its features gone, and the candidates only it brought."""
    features = part.features.copy()
    for source in SWITCHES[switch]:
        for column, absent in source.columns.items():
            features[:, PLACE[column]] = 200 if absent == LAST else absent
        for column in source.ranked:
            features[:, PLACE[f"{column}_rank"]] = 200
            features[:, PLACE[f"{column}_of_best"]] = 0
    names = [name for other in NAMES if other != switch for name in TELLING[other]]
    told = (features[:, [PLACE[name] for name in names]] > 0).any(axis=1)
    if switch == "generator":
        kept = told  # what nothing else brought, its beams did
    else:
        mine = (part.features[:, [PLACE[name] for name in TELLING[switch]]] > 0).any(axis=1)
        kept = told | ~mine | _among_beams(part)
    sizes = np.add.reduceat(kept, part.starts[:-1]) if len(kept) else part.sizes
    sizes = np.where(part.sizes > 0, sizes, 0)
    places = np.split(np.flatnonzero(kept), np.cumsum(sizes)[:-1])
    starts = part.starts.tolist()
    keys = [
        [listed[place - start] for place in chosen.tolist()]
        for listed, start, chosen in zip(part.keys, starts, places, strict=False)
    ]
    return Examples(features[kept], part.used[kept], sizes, part.gold, keys, part.ids)


def _among_beams(part: Examples) -> np.ndarray:
    """Candidates the generator ranks so high that its ten beams hold them."""
    if not said_anything([part], "generator"):
        return np.zeros(len(part.used), bool)
    return part.features[:, PLACE["generator_rank"]] < 10


def reliability(ranker: Ranker, scored: dict[str, Examples]) -> list[dict[str, float]]:
    """How often suggestions were used, by score, calibrated on every other scored post."""
    halves = [[_every_other(part, at) for part in scored.values()] for at in (0, 1)]
    ranker = calibrated(ranker, halves[0])
    given = np.concatenate([ranker.probabilities(part.features) for part in halves[1]])
    used = np.concatenate([part.used for part in halves[1]])
    rows = []
    for low, high in zip((0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7),
                         (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.01), strict=True):  # fmt: skip
        here = (given >= low) & (given < high)
        if here.any():
            rows.append({
                "said": round(float(given[here].mean()), 4),
                "used": round(float(used[here].mean()), 4), "candidates": int(here.sum()),
            })  # fmt: skip
    return rows


def _every_other(part: Examples, first: int) -> Examples:
    posts = np.arange(first, len(part.sizes), 2)
    rows = np.concatenate([np.arange(part.starts[p], part.starts[p + 1]) for p in posts])
    keys, ids = [part.keys[p] for p in posts], [part.ids[p] for p in posts]
    return Examples(
        part.features[rows], part.used[rows], part.sizes[posts], part.gold[posts], keys, ids
    )
