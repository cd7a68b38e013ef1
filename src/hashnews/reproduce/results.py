"""`reproduce` runs the steps and judges every run; `summarise` makes results.json of it.

Every table and figure is made from that one JSON object.
"""

from __future__ import annotations

import math
import os
import platform
import statistics
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from hashnews import __version__
from hashnews.errors import DataError
from hashnews.files import RecordFile
from hashnews.metrics import METRICS, Measured, measure, pooled
from hashnews.records import PreparedPost
from hashnews.reproduce.actions import read_curve, read_json
from hashnews.reproduce.bootstrap import Difference, compare
from hashnews.reproduce.config import ReproduceConfig
from hashnews.reproduce.coverage import context_coverage
from hashnews.reproduce.paper import BEYOND, CLAIMS, COLUMNS, TABLE_2, Claim
from hashnews.reproduce.plan import Dataset, Plan, Run, plan
from hashnews.reproduce.runner import Outcome, done_steps, run_steps
from hashnews.reproduce.suggestions import Judge, read_suggestions
from hashnews.text.entities import load_finder

CERTAIN = 0.05


class Row(NamedTuple):
    """A model: every run of it judged, and all of them as one."""

    name: str
    seeds: list[Measured]
    pooled: Measured


class Results(NamedTuple):
    """All rows, and what made them."""

    dataset: Dataset
    config: ReproduceConfig
    plan: Plan
    outcome: Outcome
    judge: Judge
    rows: list[Row]

    def check(self) -> None:
        """Say which steps failed, if any did; the tables hold all others."""
        if self.outcome.failed:
            folder, problem = next(iter(self.outcome.failed.items()))
            count = len(self.outcome.failed)
            raise DataError(f"{count} steps failed, the first is {folder.stem}: {problem}")


def reproduce(
    dataset: Dataset,
    config: ReproduceConfig,
    folder: Path,
    jobs: int = 1,
    say: Callable[[str], None] = lambda _: None,
) -> Results:
    """Run what is not done yet and judge what is; without jobs, only judge."""
    planned = plan(dataset, config, folder)
    outcome = run_steps(planned.steps, jobs, say) if jobs else done_steps(planned.steps)
    if planned.posts.parent not in outcome.seconds:
        raise DataError(outcome.failed.get(planned.posts.parent, "nothing is done yet"))
    judge = Judge(RecordFile(planned.posts, PreparedPost), load_finder(config.finder))
    done = [run for run in planned.runs if run.suggestions.parent in outcome.seconds]
    order = {name: number for number, name in enumerate(config.models)}
    done.sort(key=lambda run: (order[run.model.name], run.seed))
    rows = []
    for name, runs in groupby(done, key=lambda run: run.model.name):
        seeds = [measure(judge.judge(read_suggestions(run.suggestions))) for run in runs]
        rows.append(Row(name, seeds, pooled(seeds)))
    return Results(dataset, config, planned, outcome, judge, rows)


def summarise(results: Results) -> dict[str, Any]:
    """The tables, the claims with their p-values, and what made them."""
    rows = {row.name: row for row in results.rows}
    gold = results.judge.hashtags / len(results.judge.posts)
    parts: dict[str, int] = {}
    for post in RecordFile(results.plan.posts, PreparedPost):
        parts[str(post.split)] = parts.get(str(post.split), 0) + 1
    dataset = results.dataset
    small = results.config.most_posts is not None
    return {
        "small": small,
        "dataset": {
            "name": dataset.folder.resolve().name,
            "collection": dataset.collection,
            "split": dataset.how_split,
            "never": list(dataset.never),
            "posts": parts,
            "gold_hashtags_per_post": gold,
        },
        "table_1": read_json(results.plan.stats),
        "table_2": [summarise_row(row, gold) for row in results.rows],
        "epochs": [
            epochs_of(run, results.config)
            for run in results.plan.runs
            if run.metrics is not None and run.suggestions.parent in results.outcome.seconds
        ],
        "claims": _judged(CLAIMS, rows, results.config.draws, small),
        "beyond": _judged(BEYOND, rows, results.config.draws, small),
        "contexts": {
            ranking: context_coverage(results.plan.posts, path)._asdict()
            for ranking, path in results.plan.contexts.items()
            if path.exists()
        },
        "not_run": [
            f"{run.model.name}, seed {run.seed}"
            for run in results.plan.runs
            if run.suggestions.parent not in results.outcome.seconds
        ],
        "failed": {folder.stem: problem for folder, problem in results.outcome.failed.items()},
        "seconds": {folder.stem: s for folder, s in sorted(results.outcome.seconds.items())},
        "settings": results.config.model_dump(mode="json"),
        "machine": machine(),
    }


def summarise_row(row: Row, gold: float) -> dict[str, Any]:
    """Mean and spread of every metric over the seeds."""
    seeds = [scores_of(one.scores()) for one in row.seeds]
    known = [name for name in METRICS if all(name in scores for scores in seeds)]
    check_identity(row.name, seeds, gold)
    return {
        "model": row.name,
        "seeds": seeds,
        "mean": {name: statistics.fmean(scores[name] for scores in seeds) for name in known},
        "spread": {
            name: statistics.stdev(scores[name] for scores in seeds) if len(seeds) > 1 else None
            for name in known
        },
        "paper": {
            data: dict(zip(COLUMNS, table[row.name], strict=True))
            for data, table in TABLE_2.items()
            if row.name in table
        },
    }


def scores_of(scores: dict[str, float]) -> dict[str, float]:
    """Scores that there is something to measure for."""
    return {name: score for name, score in scores.items() if not math.isnan(score)}


def check_identity(name: str, seeds: Sequence[dict[str, float]], gold: float) -> None:
    """F1@1 = 2 ACC / (1 + mean gold hashtags), or a metric is wrong."""
    for scores in seeds:
        if not math.isclose(scores["F1@1"], 2 * scores["ACC"] / (1 + gold), abs_tol=1e-9):
            raise RuntimeError(f"{name}: F1@1 {scores['F1@1']} does not follow from ACC")


def epochs_of(run: Run, config: ReproduceConfig) -> dict[str, Any]:
    """How long a model was trained, which epoch was kept, and what ended the training."""
    curve = read_curve(run.metrics) if run.metrics else []
    worth = [(at["f1@5"], -at.get("perplexity", 0.0)) for at in curve]
    kept = worth.index(max(worth))
    most = config.training_with().epochs if run.model.is_generator else config.lstm_top.epochs
    return {
        "model": run.model.name,
        "seed": run.seed,
        "epochs": len(curve),
        "kept": kept + 1,
        "f1@5": curve[kept]["f1@5"],
        "ended by": "the limit of epochs" if len(curve) >= most else "early stopping",
    }


def verdict(difference: Difference) -> str:
    """What the data say of a claim that the difference is positive."""
    return verdict_of(difference.difference, difference.p)


def verdict_of(difference: float, p: float) -> str:
    """What a difference and its p-value say of a claim that it is positive."""
    if p >= CERTAIN or not difference:
        return "not confirmed"
    return "confirmed" if difference > 0 else "reversed"


def _judged(
    claims: Sequence[Claim], rows: dict[str, Row], draws: int, small: bool
) -> list[dict[str, Any]]:
    """Every claim about rows there are; a small run judges nothing."""
    found = []
    for claim in claims:
        if claim.first not in rows or claim.second not in rows:
            continue
        differences = compare(rows[claim.first].pooled, rows[claim.second].pooled, draws)
        metrics = {
            name: {
                **one._asdict(),
                "mark": one.mark,
                "verdict": "not judged" if small else verdict(one),
            }
            for name, one in differences.items()
        }
        found.append({**claim._asdict(), "metrics": metrics})
    return found


def machine() -> dict[str, Any]:
    """Where it ran."""
    model = ""
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = (line for line in info.read_text("utf-8").splitlines() if "model name" in line)
        model = next(lines, "").partition(":")[2].strip()
    about = {"processor": model or platform.machine(), "cores": os.cpu_count()}
    return about | {"python": platform.python_version(), "hashnews": __version__}
