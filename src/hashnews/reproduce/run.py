"""`hashnews reproduce`: run the steps, judge every run, write the results."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from hashnews.errors import DataError
from hashnews.files import RecordFile
from hashnews.metrics import Measured, measure, pooled
from hashnews.records import PreparedPost
from hashnews.reproduce.config import ReproduceConfig
from hashnews.reproduce.plan import Dataset, Plan, plan
from hashnews.reproduce.steps import Outcome, run_steps
from hashnews.reproduce.suggestions import Judge, read_suggestions
from hashnews.text.entities import load_finder


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
    """Run what is not done yet and judge what is."""
    planned = plan(dataset, config, folder)
    outcome = run_steps(planned.steps, jobs, say)
    if planned.posts.parent in outcome.failed:
        raise DataError(outcome.failed[planned.posts.parent])
    judge = Judge(RecordFile(planned.posts, PreparedPost), load_finder(config.finder))
    done = [run for run in planned.runs if run.suggestions.parent in outcome.seconds]
    order = {name: number for number, name in enumerate(config.models)}
    done.sort(key=lambda run: (order[run.model.name], run.seed))
    rows = []
    for name, runs in groupby(done, key=lambda run: run.model.name):
        seeds = [measure(judge.judge(read_suggestions(run.suggestions))) for run in runs]
        rows.append(Row(name, seeds, pooled(seeds)))
    return Results(dataset, config, planned, outcome, judge, rows)
