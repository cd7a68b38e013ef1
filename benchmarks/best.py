"""The suggester on the chronological test part: three situations, sources switched off one by one.

    hashnews prepare DATA/2020/posts.jsonl.gz --collection congress --split chronological -o ...
    hashnews news add DATA/2020/news.jsonl.gz --news WORK/2020/news.db
    hashnews retrieve WORK/congress20/posts.jsonl --news WORK/2020/news.db -o ...
    python benchmarks/best.py DATA WORK --generators DIR --history --ablate -o results/best

WORK holds, for each set, `posts.jsonl` and `contexts-best.jsonl` as these commands make them, and
the stores of both years. Choices are made on `--part validation`; the test part is scored once.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from best_measures import SWITCHES, groups, measure, switched_off
from best_sets import LESSONS, SETS, Choice, Loaded, load

from hashnews.learn.examples import (
    Closing,
    Examples,
    RankerConfig,
    averaged,
    fit,
    goes_on,
    make_examples,
    situations,
)
from hashnews.records import Suggestion
from hashnews.reproduce.suggestions import write_suggestions
from hashnews.suggest.judges import Judges
from hashnews.suggest.model import load_judges, shipped_model
from hashnews.suggest.query import PostWithNews
from hashnews.suggest.ranker import Ranker
from hashnews.text.segment import shipped_segmenter

SITUATIONS = ("online", "frozen", "news only", "unknown author")


def main() -> None:
    """Train on the training parts, score one part, write tables."""
    options = _options()
    started = time.process_time()
    names = options.sets.split(",")
    lessons_of_set = dict.fromkeys(names, ()) if options.model else LESSONS
    if options.teachers:
        lessons_of_set = dict.fromkeys(names, tuple(options.teachers.split(",")))
    teaching = {teacher for name in names for teacher in lessons_of_set[name]}
    choice = Choice(
        options.data, options.work, options.part, options.history, options.generators,
        lexicon=options.lexicon,
    )  # fmt: skip
    loaded, taught, scored = {}, {}, {}
    for name in [name for name in SETS if name in teaching | set(names)]:
        at = loaded[name] = load(name, choice)
        if name in teaching:
            taught[name] = kept(options.keep, f"{name}-taught", lambda at=at: lessons_of(at))
        if name in names:
            scored[name] = kept(options.keep, f"{name}-scored", lambda at=at: scored_of(at))
        print(f"{name}: {time.process_time() - started:.0f} s", flush=True)
    results: dict[str, dict] = {}
    configs = [RankerConfig(seeds=1, first_seed=seed) for seed in range(1, options.seeds + 1)]
    for teachers in dict.fromkeys(lessons_of_set[name] for name in names):
        lessons = [part for teacher in teachers for part in taught[teacher]]
        pupils = [name for name in names if lessons_of_set[name] == teachers]
        if options.model:
            rankers = [load_judges(options.model).ranker]
        else:
            rankers = [fit(config, lessons, lessons[:1]) for config in configs]
        for name in pupils:
            results[name] = measure(loaded[name], scored[name], rankers)
            if options.suggestions:
                trees = [one.trees for one in rankers]
                ranker = averaged(trees, [scored[name]["online"]])  # the order needs no more
                write_best(options.suggestions / name, loaded[name], scored[name], ranker)
            print(name, json.dumps(results[name]), flush=True)
        if options.ablate:
            grouped = {
                name: {situation: groups(loaded[name], situation) for situation in SITUATIONS}
                for name in pupils
            }
            parts = {name: scored[name] for name in pupils}
            lost = switched_off(lessons, parts, grouped, rankers, configs, options.switch)
            for name in pupils:
                results[name]["switched off"] = lost[name]
    options.out.mkdir(parents=True, exist_ok=True)
    mark = "-history" if options.history else ""
    mark += "-generator" if options.generators else ""
    mark += "-model" if options.model else ""
    about = {"part": options.part, "seeds": len(rankers), "cpu_s": time.process_time() - started}
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
    parser.add_argument("--lexicon", type=Path, help="one that was counted without these sets")
    parser.add_argument("--ablate", action="store_true", help="switch sources off, too")
    parser.add_argument("--switch", nargs="*", default=list(SWITCHES), help="only these")
    parser.add_argument("--model", type=Path, help="score this model's ranker, teach none")
    parser.add_argument("--teachers", help="teach on these sets instead of the usual ones")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="folder that keeps candidates for another run")
    parser.add_argument(
        "--suggestions", type=Path, help="folder for what is suggested, to `hashnews evaluate`"
    )
    return parser.parse_args()


def kept(folder: Path | None, name: str, make: Callable[[], Any]) -> Any:
    """What was made before, where it was kept."""
    if folder is None:
        return make()
    path = folder / f"{name}.pickle"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(make()))
    return pickle.loads(path.read_bytes())


def lessons_of(at: Loaded) -> list[Examples]:
    """What the ranker is taught of a set."""
    dealt = situations(at.train, at.kept, at.searching, judges(), RankerConfig(), at.never)
    return [part for part in dealt.values() if len(part.ids)]


@lru_cache(1)
def judges() -> Judges:
    """What the shipped model takes for on topic, and what anyone would choose of it."""
    return load_judges(shipped_model())


def scored_of(at: Loaded) -> dict[str, Examples]:
    """The scored posts of a set in each situation."""
    strangers = [
        read._replace(post=read.post.model_copy(update={"user": None})) for read in at.scored
    ]
    asked: dict[str, tuple[list[PostWithNews], Closing]] = {
        "online": (at.scored, goes_on),
        "frozen": (at.scored, lambda _: at.closed),
        "news only": (at.scored, lambda _: 0),
        "unknown author": (strangers, goes_on),
    }
    return {
        situation: make_examples(posts, at.search, judges(), closed, at.never)
        for situation, (posts, closed) in asked.items()
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
                    Suggestion(
                        hashtag=keys[at],
                        words=segment(keys[at]),
                        score=float(given[at]),
                        because=(),
                    )
                    for at in places
                ]
            )
        folder.mkdir(parents=True, exist_ok=True)
        write_suggestions(folder / f"{situation.replace(' ', '-')}.jsonl", posts, best)


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
    yield ""
    yield "| set | hashtags | posts | online F1@5 | frozen | news only | unknown author |"
    yield "|---|---|---|---|---|---|---|"
    for name, result in results.items():
        told = [result["groups"][situation] for situation in SITUATIONS]
        for group in list(told[0])[1:]:
            posts = " / ".join(str(one[group]["posts"]) for one in told)
            cells = [str(one[group]["F1@1, F1@5"][1]) for one in told]
            yield f"| {name} | {group} | {posts} | {' | '.join(cells)} |"
    if not all("switched off" in result for result in results.values()):
        return
    for situation in SITUATIONS:
        first = next(iter(results.values()))["switched off"]
        names = list(next(iter(first.values()))[situation])
        yield ""
        yield f"What each source is worth, {situation}: F1@5 with it less without it."
        yield ""
        yield f"| set | without | {' | '.join(names)} |"
        yield f"|---|---|{'---|' * len(names)}"
        for name, result in results.items():
            for source, row in result["switched off"].items():
                cells = [_gain(row[situation].get(group)) for group in names]
                yield f"| {name} | {source} | {' | '.join(cells)} |"


def _gain(told: dict | None) -> str:
    if told is None:
        return ""
    low, high = told["95 %"]
    return f"{told['F1@5']:+} [{low}, {high}]"


if __name__ == "__main__":
    main()
