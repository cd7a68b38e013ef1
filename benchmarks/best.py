"""The suggester on the chronological test part: three situations, sources switched off one by one.

    hashnews prepare DATA/2020/posts.jsonl.gz --collection congress --split chronological -o ...
    hashnews news add DATA/2020/news.jsonl.gz --news WORK/2020/news.db
    hashnews retrieve WORK/congress20/posts.jsonl --news WORK/2020/news.db -o ...
    python benchmarks/best.py DATA WORK -o results/best

WORK holds, for each set, `posts.jsonl` and `contexts-best.jsonl` as these commands make them, and
the stores of both years. Choices are made on `--part validation`; the test part is scored once.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hashnews.candidates.because import FEATURES_OF, without
from hashnews.candidates.good import known_hashtags
from hashnews.candidates.memory import Memory
from hashnews.candidates.ranker import Ranker
from hashnews.evaluate.suggestions import SuggestedHashtag, write_suggestions
from hashnews.files import RecordFile
from hashnews.fusion import (
    Closing,
    Examples,
    RankerConfig,
    averaged,
    calibrated,
    f1,
    fit,
    goes_on,
    hits,
    make_examples,
    situations,
)
from hashnews.generate.generator import Generator
from hashnews.news.posts import Remembered, remembered
from hashnews.news.store import NewsStore
from hashnews.news.times import microseconds
from hashnews.pipeline import Read
from hashnews.prepare import Preparer
from hashnews.records import Article, ContextWord, Post, PreparedPost, Retrieved
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter

SETS = {
    "congress20": ("2020", "congress"), "blm20": ("2020", "blm"), "congress19": ("2019", "congress")
}  # fmt: skip
LESSONS = {  # whose training parts teach the ranker of a set: none is newer than its test part
    "congress20": ("congress20", "blm20", "congress19"),
    "blm20": ("congress20", "blm20", "congress19"),
    "congress19": ("congress19",),
}
SITUATIONS = ("online", "frozen", "news only")
HISTORY = timedelta(days=120)  # how far older posts reach back


class Loaded(NamedTuple):
    """One set: its posts read beside their news, and its memory."""

    train: list[Read]
    scored: list[Read]
    memory: Memory
    closed: int  # when the memory of the frozen situation ends
    generator: Generator | None
    known: dict[str, str]  # hashtags it may write


def main() -> None:
    """Train on the training parts, score one part, write tables."""
    options = _options()
    started = time.process_time()
    names = options.sets.split(",")
    needed = [n for n in SETS if any(n in LESSONS[name] for name in names)]
    config = RankerConfig(seeds=1)
    taught, scored, loaded = {}, {}, {}
    for name in needed:
        at = loaded[name] = load(name, options)
        taught[name] = situations(at.train, at.memory, config, at.generator, at.known)
        if name in names:
            closing: dict[str, Closing] = {
                "online": goes_on,
                "frozen": lambda _, end=at.closed: end,
                "news only": lambda _: 0,
            }
            scored[name] = {
                situation: make_examples(at.scored, at.memory, closed, at.generator, at.known)
                for situation, closed in closing.items()
            }
        print(f"{name}: {time.process_time() - started:.0f} s", flush=True)
    results: dict[str, dict] = {}
    for teachers in dict.fromkeys(LESSONS[name] for name in names):
        lessons = [part for teacher in teachers for part in taught[teacher]]
        pupils = [name for name in names if LESSONS[name] == teachers]
        rankers = [fit(one, lessons, lessons[:1]) for one in _seeded(config, options.seeds)]
        for name in pupils:
            results[name] = measure(loaded[name], scored[name], rankers)
            if options.suggestions:
                ranker = averaged([one.trees for one in rankers], lessons[:1])
                write_best(options.suggestions / name, loaded[name], scored[name], ranker)
            print(name, json.dumps(results[name]), flush=True)
        if options.ablate:
            lost = switched_off(lessons, {name: scored[name] for name in pupils}, config)
            for name in pupils:
                results[name]["switched off"] = lost[name]
    options.out.mkdir(parents=True, exist_ok=True)
    mark = "-history" if options.history else ""
    mark += "-generator" if options.generators else ""
    about = {"part": options.part, "seeds": options.seeds, "cpu_s": time.process_time() - started}
    path = options.out / f"{options.part}{mark}.json"
    path.write_text(json.dumps({**about, "sets": results}, indent=1) + "\n", "utf-8")
    path.with_suffix(".md").write_text("\n".join(tables(results)) + "\n", "utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("-o", "--out", type=Path, default=Path("results/best"))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--part", choices=["validation", "test"], default="test")
    parser.add_argument("--history", action="store_true", help="with posts older than the set")
    parser.add_argument("--generators", type=Path, help="a folder with a generator for each set")
    parser.add_argument("--most", type=int, default=4000, help="posts of a set that teach")
    parser.add_argument("--from", dest="first", type=float, default=0.2, help="share not taught")
    parser.add_argument("--ablate", action="store_true", help="switch sources off, too")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--suggestions", type=Path, help="folder for what is suggested, to `hashnews evaluate`"
    )
    return parser.parse_args()


# ----- reading -----


def load(name: str, options: argparse.Namespace) -> Loaded:
    """The posts of a set beside their news, and every post with a hashtag as memory."""
    year, collection = SETS[name]
    posts = list(RecordFile(options.work / name / "posts.jsonl", PreparedPost))
    train = [post for post in posts if post.split == "train"]
    # Where a generator learnt from the first half, its scores are honest only after it.
    first = len(posts) // 2 if options.generators else int(options.first * len(train))
    some = train[first:]
    if len(some) > options.most:
        some = random.Random(1).sample(some, options.most)
        some.sort(key=lambda post: (post.created_at, post.id))
    scored = [post for post in posts if post.split == options.part]
    wanted = {post.id: post for post in (*some, *scored)}
    read = read_contexts(wanted, options.work / name / "contexts-best.jsonl",
                         options.work / year / "news.db")  # fmt: skip
    generator = None
    if options.generators is not None:
        generator = Generator.load(options.generators / f"{name}-half")
    ends = microseconds(min(p.created_at for p in posts if p.split != "train" and p.created_at))
    kept = list(remembered_posts(options, name, collection, year, posts))
    half = remembered(posts[len(posts) // 2]).posted
    return Loaded(
        [read[post.id] for post in some],
        [read[post.id] for post in scored],
        Memory(kept),
        ends,
        generator,
        known_hashtags(post for post in kept if post.posted < half),
    )


def read_contexts(posts: dict[str, PreparedPost], contexts: Path, news: Path) -> dict[str, Read]:
    """Posts with the articles and words that `hashnews retrieve` found for them."""
    lines = {}
    with contexts.open(encoding="utf-8") as stream:
        for line in stream:
            found = json.loads(line)
            if found["post_id"] in posts:
                lines[found["post_id"]] = found
    named = {article["id"] for found in lines.values() for article in found["articles"]}
    with NewsStore(news) as store:
        articles = {
            stored.article.id: Article.model_construct(
                id=stored.article.id, title=stored.article.title, text="",
                published_at=stored.article.published_at,
                entities=tuple(dict.fromkeys(stored.article.entities or ())),
            )
            for stored in store.read()
            if stored.article.id in named
        }  # fmt: skip
    return {
        key: Read(
            post,
            microseconds(post.created_at or datetime.now(UTC)),
            [ContextWord(*word) for word in lines[key]["context"]],
            [(Retrieved(**a), articles[a["id"]]) for a in lines[key]["articles"]],
        )
        for key, post in posts.items()
    }


def remembered_posts(
    options: argparse.Namespace, name: str, collection: str, year: str, posts: list[PreparedPost]
) -> Iterator[Remembered]:
    """Every post of the collection with a hashtag, and where asked for the months before."""
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    raw = RecordFile(options.data / year / "posts.jsonl.gz", Post)
    yield from map(remembered, preparer.remember(p for p in raw if p.collection == collection))
    if options.history and collection == "congress":
        first = min(post.created_at for post in posts if post.created_at)
        old = RecordFile(options.data / "history" / "posts.jsonl.gz", Post)
        times = (p for p in old if p.created_at and first - HISTORY <= p.created_at < first)
        yield from map(remembered, preparer.remember(times))


# ----- measuring -----


def measure(
    loaded: Loaded, scored: dict[str, Examples], rankers: list[Ranker]
) -> dict[str, object]:
    """Scores of the situations over seeds and of groups of posts, and how true the scores are."""
    ranker = averaged([one.trees for one in rankers], list(scored.values()))
    found = {name: hits(ranker, part) for name, part in scored.items()}
    golds = scored["online"].gold
    names = names_of_posts(loaded.scored)
    scores = {}
    for name, part in scored.items():
        each = [hits(one, part) for one in rankers]
        scores[name] = {
            "ensemble": _both(found[name], golds),
            "seeds": [_both(one, golds) for one in each],
            "recall": float(part.used.sum() / golds.sum()),
        }
    scores["names in the post"] = {"ensemble": _both(names, golds)}
    scores["news only less names"] = difference(found["news only"], names, golds)
    for feature in ("own_season", "neighbours"):
        scores[f"by {feature} alone"] = {
            "online": _both(_by(scored["online"], feature), golds),
            "frozen": _both(_by(scored["frozen"], feature), golds),
        }
    return {
        "posts": len(golds),
        "scores": scores,
        "groups": groups(loaded, scored, ranker),
        "calibration": reliability(ranker, scored),
    }


def write_best(
    folder: Path, loaded: Loaded, scored: dict[str, Examples], ranker: Ranker, most: int = 10
) -> None:
    """The ten best for each post in each situation, as `hashnews evaluate` reads them."""
    segment = shipped_segmenter().segment
    posts = [read.post for read in loaded.scored]
    for situation, part in scored.items():
        scores, best = ranker.scores(part.features), []
        for keys, start in zip(part.keys, part.starts.tolist(), strict=False):
            given = scores[start : start + len(keys)]
            places = np.argsort(-given, kind="stable")[:most].tolist()
            best.append(
                [
                    SuggestedHashtag(
                        hashtag=keys[at], words=segment(keys[at]), score=float(given[at])
                    )
                    for at in places
                ]
            )
        folder.mkdir(parents=True, exist_ok=True)
        write_suggestions(folder / f"{situation.replace(' ', '-')}.jsonl", posts, best)


def _seeded(config: RankerConfig, seeds: int) -> list[RankerConfig]:
    return [config.model_copy(update={"first_seed": seed}) for seed in range(1, seeds + 1)]


def _both(found: np.ndarray, gold: np.ndarray) -> list[float]:
    return [round(100 * f1(found, gold, k), 2) for k in (1, 5)]


def _by(part: Examples, feature: str) -> np.ndarray:
    """What one feature alone puts first."""
    from hashnews.candidates.features import FEATURES

    values = part.features[:, FEATURES.index(feature)]
    found = np.zeros((len(part.sizes), 5))
    for post, (start, end) in enumerate(zip(part.starts[:-1], part.starts[1:], strict=True)):
        best = np.argsort(-values[start:end], kind="stable")[:5]
        best = best[values[start:end][best] > 0]
        found[post, : len(best)] = part.used[start:end][best]
    return found


def names_of_posts(tasks: list[Read]) -> np.ndarray:
    """The plain baseline: the names of the post, in order, written as hashtags."""
    from hashnews.text.tokens import words

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


def groups(loaded: Loaded, scored: dict[str, Examples], ranker: Ranker) -> dict[str, object]:
    """Hashtags the author never used, hashtags never seen in training, authors without history."""
    used_before: dict[str | None, list[tuple[int, str]]] = defaultdict(list)
    memory = loaded.memory
    names = memory.tags.names
    for row in range(len(memory)):
        user = memory.user[row]
        if user >= 0:
            for tag in memory.row_tags.of(row).tolist():
                used_before[memory.users.names[user]].append((int(memory.times[row]), names[tag]))
    closed = memory.before(loaded.closed)
    seen = {names[tag] for row in range(closed) for tag in memory.row_tags.of(row).tolist()}
    result: dict[str, object] = {}
    for situation in ("online", "frozen"):
        part, scores = scored[situation], ranker.scores(scored[situation].features)
        new, unseen, alone = [], [], []
        starts = part.starts.tolist()
        for post, read in enumerate(loaded.scored):
            limit = read.moment if situation == "online" else loaded.closed
            own = {key for when, key in used_before[read.post.user] if when < limit}
            order = np.argsort(-scores[starts[post] : starts[post + 1]], kind="stable")
            ranked = [part.keys[post][place] for place in order]
            gold = {tag.key for tag in read.post.hashtags}
            others = [key for key in ranked if key not in own]
            new.append((gold - own, others, ranked))
            unseen.append((gold - seen, ranked, ranked))
            if not own:
                alone.append((gold, ranked, ranked))
        result[situation] = {
            "new to the author, own left out": _group(new, 1),
            "new to the author, as ranked": _group(new, 2),
            "unseen in training": _group(unseen, 1),
            "authors without history": _group(alone, 1),
        }
    return result


def _group(rows: list[tuple[set[str], list[str], list[str]]], which: int) -> dict[str, object]:
    kept = [row for row in rows if row[0]]
    gold = np.array([len(row[0]) for row in kept])
    found = np.zeros((len(kept), 5))
    for at, row in enumerate(kept):
        ranked = [key in row[0] for key in row[which][:5]]
        found[at, : len(ranked)] = ranked
    return {"posts": len(kept), "F1@1, F1@5": _both(found, gold) if kept else None}


def switched_off(
    lessons: list[Examples], scored: dict[str, dict[str, Examples]], config: RankerConfig
) -> dict[str, dict[str, object]]:
    """F1@5 gained by each source: rankers, quickly grown, are taught with it and without it."""
    quick = config.model_copy(update={"rounds": 80, "negatives": 15})
    full = fit(quick, lessons, lessons[:1])
    lost: dict[str, dict[str, object]] = {name: {} for name in scored}
    for source in FEATURES_OF:
        if source == "generator" and not _has_generator(lessons[0]):
            continue
        taught = [lacking(part, source) for part in lessons]
        ranker = fit(quick, taught, taught[:1])
        for name, parts in scored.items():
            lost[name][source] = {
                situation: difference(
                    hits(full, part), hits(ranker, lacking(part, source)), part.gold
                )
                for situation, part in parts.items()
            }
            print(name, source, lost[name][source], flush=True)
    return lost


def _has_generator(part: Examples) -> bool:
    from hashnews.candidates.features import FEATURES

    return bool(part.features[:, FEATURES.index("generator")].any())


def lacking(part: Examples, source: str) -> Examples:
    """Examples without a source: its features gone, and the candidates only it brought."""
    features = without(part.features, source, 200)
    others = [at for other in FEATURES_OF if other != source for at in _telling(other)]
    told = (features[:, others] > 0).any(axis=1)
    if source == "generator":
        kept = told  # what nothing else brought, its beams did
    else:
        mine = (part.features[:, _telling(source)] > 0).any(axis=1)
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
    from hashnews.candidates.features import FEATURES

    if not _has_generator(part):
        return np.zeros(len(part.used), bool)
    return part.features[:, FEATURES.index("generator_rank")] < 10


def _telling(source: str) -> list[int]:
    """The features that show a source brought a candidate."""
    from hashnews.candidates.features import FEATURES

    names = {
        "memory": ("neighbours", "neighbours_inline", "kindred", "centre"),
        "author": ("own", "own_inline"),
        "rising": ("week", "week_inline"),
        "together": ("together", "together_near"),
        "post": ("post_phrase", "initials"),
        "news": ("news",),
        "generator": (),
    }
    return [FEATURES.index(name) for name in names[source]]


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


def tables(results: dict[str, dict]) -> Iterator[str]:
    """The figures as Markdown."""
    yield "| set (posts) | situation | F1@1 | F1@5 | seeds | candidates hold |"
    yield "|---|---|---|---|---|---|"
    for name, result in results.items():
        for situation in (*SITUATIONS, "names in the post"):
            row = result["scores"][situation]
            one, five = row["ensemble"]
            seeds = ", ".join("/".join(map(str, pair)) for pair in row.get("seeds", ()))
            recall = f"{100 * row['recall']:.0f} %" if "recall" in row else ""
            title = f"{name} ({result['posts']})"
            yield f"| {title} | {situation} | {one} | {five} | {seeds} | {recall} |"
    if not all("switched off" in result for result in results.values()):
        return
    yield ""
    yield "| set | without | online | frozen | news only |"
    yield "|---|---|---|---|---|"
    for name, result in results.items():
        for source, row in result["switched off"].items():
            cells = [f"{row[s]['F1@5']:+} {row[s]['95 %']}" for s in SITUATIONS]
            yield f"| {name} | {source} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
