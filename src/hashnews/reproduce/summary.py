"""All results of a reproduction as one JSON object: every table and report is made from it."""

from __future__ import annotations

import math
import os
import platform
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hashnews import __version__
from hashnews.files import RecordFile
from hashnews.metrics import METRICS
from hashnews.records import PreparedPost
from hashnews.reproduce.bootstrap import Difference, compare
from hashnews.reproduce.coverage import context_coverage
from hashnews.reproduce.paper import BEYOND, CLAIMS, COLUMNS, TABLE_2, Claim
from hashnews.reproduce.run import Results, Row
from hashnews.reproduce.work import read_json

CERTAIN = 0.05


def summarise(results: Results) -> dict[str, Any]:
    """The tables, the claims with their p-values, and what made them."""
    rows = {row.name: row for row in results.rows}
    gold = results.judge.hashtags / len(results.judge.posts)
    parts: dict[str, int] = {}
    for post in RecordFile(results.plan.posts, PreparedPost):
        parts[str(post.split)] = parts.get(str(post.split), 0) + 1
    dataset = results.dataset
    return {
        "dataset": {
            "name": dataset.folder.resolve().name,
            "collection": dataset.collection,
            "split": dataset.split,
            "never": list(dataset.never),
            "posts": parts,
            "gold_hashtags_per_post": gold,
        },
        "table_1": read_json(results.plan.stats),
        "table_2": [summarise_row(row, gold) for row in results.rows],
        "claims": _judged(CLAIMS, rows, results.config.draws),
        "beyond": _judged(BEYOND, rows, results.config.draws),
        "contexts": {
            ranking: context_coverage(results.plan.posts, path)._asdict()
            for ranking, path in results.plan.contexts.items()
            if path.exists()
        },
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


def verdict(difference: Difference) -> str:
    """What the data say of a claim that the difference is positive."""
    if difference.p >= CERTAIN or not difference.difference:
        return "not confirmed"
    return "confirmed" if difference.difference > 0 else "reversed"


def _judged(claims: Sequence[Claim], rows: dict[str, Row], draws: int) -> list[dict[str, Any]]:
    found = []
    for claim in claims:
        if claim.first not in rows or claim.second not in rows:
            continue
        differences = compare(rows[claim.first].pooled, rows[claim.second].pooled, draws)
        metrics = {
            name: {**one._asdict(), "mark": one.mark, "verdict": verdict(one)}
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
