"""Several runs on one page: every claim by set and metric, corrected for their number.

A claim of the paper stands or falls on many sets and metrics at once; of a hundred comparisons
five are below 0.05 by chance alone. So the p-values of one family (the same claims, size and
split) are corrected by Holm's method, and only what stays below 0.05 counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hashnews.errors import DataError
from hashnews.files import new_file
from hashnews.reproduce import tables
from hashnews.reproduce.actions import write_json
from hashnews.reproduce.paper import CLAIMS, COLUMNS, MENDS, TABLE_2, Claim
from hashnews.reproduce.plots import plot_claims, plot_paper
from hashnews.reproduce.results import verdict_of
from hashnews.reproduce.write import size_of

PARTS = {"claims": ("What the paper claims", CLAIMS), "mends": ("What mends it", MENDS)}


class Compared(NamedTuple):
    """One claim on one set by one metric; p before and after the correction."""

    part: str
    size: str
    split: str
    set: str
    says: str
    models: str
    metric: str
    difference: float
    low: float
    high: float
    p: float
    seeds: int
    holm: float = 1.0

    @property
    def family(self) -> tuple[str, str, str]:
        """What is corrected together."""
        return self.part, self.size, self.split

    @property
    def verdict(self) -> str:
        """By the corrected p."""
        return verdict_of(self.difference, self.holm)

    def told(self) -> dict[str, Any]:
        """As claims.json has it; its name is one of a kind."""
        name = ", ".join([self.says, self.set, self.size.lower(), self.split, self.metric])
        return {"name": name, **self._asdict(), "verdict": self.verdict}


def holm(values: Sequence[float]) -> list[float]:
    """Holm's step-down p-values: the k-th smallest of m times m - k + 1, never falling."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    corrected, largest = [1.0] * len(values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        corrected[place] = largest
    return corrected


def read_runs(folder: Path) -> dict[str, dict[str, Any]]:
    """The results.json of every run in a folder, by name; runs of --small judge nothing."""
    found = {
        path.parent.name: json.loads(path.read_text("utf-8"))
        for path in sorted(folder.glob("*/results.json"))
    }
    runs = {name: run for name, run in found.items() if not run.get("small")}
    if not runs:
        raise DataError("holds no folder with a results.json of a run", folder)
    return runs


def compare_runs(runs: dict[str, dict[str, Any]]) -> list[Compared]:
    """All comparisons, each family corrected; of runs that share one the first by name counts."""
    found: dict[tuple[str, ...], Compared] = {}
    for run in runs.values():
        for one in _compared(run):
            found.setdefault((*one.family, one.set, one.says, one.metric), one)
    families: dict[tuple[str, str, str], list[Compared]] = {}
    for one in found.values():
        families.setdefault(one.family, []).append(one)
    return [
        one._replace(holm=p)
        for family in families.values()
        for one, p in zip(family, holm([one.p for one in family]), strict=True)
    ]


def _compared(run: dict[str, Any]) -> Iterator[Compared]:
    seeds = {row["model"]: len(row["seeds"]) for row in run["table_2"]}
    judged = {claim["says"]: claim for claim in (*run["claims"], *run["beyond"])}
    for part, (_, claims) in PARTS.items():
        for claim in claims:
            metrics = judged.get(claim.says, {}).get("metrics", {})
            for metric in (name for name in tables.CLAIM_METRICS if name in metrics):
                one = metrics[metric]
                yield Compared(
                    part, size_of(run), run["dataset"]["split"], tables.set_name(run), claim.says,
                    _models(claim), metric, one["difference"], one["low"], one["high"], one["p"],
                    min(seeds[claim.first], seeds[claim.second]),
                )  # fmt: skip


def _models(claim: Claim) -> str:
    return f"{tables.label(claim.first)} > {tables.label(claim.second)}"


def write_together(folder: Path, out: Path, command: str) -> str:
    """claims.json, README.md and the two plots; returns the page."""
    runs = read_runs(folder)
    compared = compare_runs(runs)
    about = [one.told() for one in compared]
    counts = _counts(compared)
    summary = {
        "command": command,
        "runs": list(runs),
        "families": counts,
        "comparisons": about,
        "collections": collections(runs),
    }
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "claims.json", summary)
    plot_claims(about, out / "claims.png")
    plot_paper(_scores(runs), out / "paper.png")
    text = page(summary)
    with new_file(out / "README.md") as stream:
        stream.write(text)
    return text


def _counts(compared: Sequence[Compared]) -> list[dict[str, Any]]:
    """Of each family how many comparisons there are, and how they come out."""
    families: dict[tuple[str, str, str], list[Compared]] = {}
    for one in compared:
        families.setdefault(one.family, []).append(one)
    return [
        {
            "name": f"{part}, {size.lower()}, {split}",
            "part": part, "size": size, "split": split, "comparisons": len(some),
            "confirmed": sum(one.verdict == "confirmed" for one in some),
            "reversed": sum(one.verdict == "reversed" for one in some),
            "below 0.05 uncorrected": sum(one.p < 0.05 for one in some),
        }
        for (part, size, split), some in families.items()
    ]  # fmt: skip


def collections(runs: dict[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Table 1 of every set; a set that several runs have is the same in all of them."""
    found: dict[str, dict[str, float]] = {}
    for run in runs.values():
        found.setdefault(tables.set_name(run), run["table_1"]["table"])
    return found


def _scores(runs: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Every model that the paper has too, with the mean of its two datasets beside ours."""
    papers = TABLE_2.values()
    theirs = {
        model: {
            metric: sum(table[model][place] for table in papers) / len(papers)
            for place, metric in enumerate(COLUMNS)
        }
        for model in next(iter(papers))
    }
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for run in runs.values():
        place = tables.set_name(run), size_of(run), run["dataset"]["split"]
        for row in (row for row in run["table_2"] if row["model"] in theirs):
            ours = {metric: 100 * row["mean"][metric] for metric in COLUMNS}
            one = {"model": row["model"], "paper": theirs[row["model"]], "ours": ours}
            one |= dict(zip(("set", "size", "split"), place, strict=True))
            found.setdefault((*place, row["model"]), one)
    return list(found.values())


def page(summary: dict[str, Any]) -> str:
    """README.md from claims.json."""
    text = f"# All runs together\n\n```sh\n{summary['command']}\n```\n\nRuns: "
    text += ", ".join(f"[{name}](../{name}/README.md)" for name in summary["runs"]) + ".\n\n"
    text += (
        "Each cell: difference in points, p of the paired bootstrap over posts (seeds pooled),\n"
        "p after Holm's correction over its family, verdict by the corrected p. A family is one\n"
        "table: the same claims, size and split. With one seed p says what the choice of posts\n"
        "may do, not what another start of the training may.\n"
    )
    for family in summary["families"]:
        some = [
            one
            for one in summary["comparisons"]
            if all(one[key] == family[key] for key in ("part", "size", "split"))
        ]
        title = PARTS[family["part"]][0]
        text += f"\n## {title}: {family['size'].lower()}, {family['split']} split\n\n"
        text += (
            f"{family['comparisons']} comparisons: {family['confirmed']} confirmed, "
            f"{family['reversed']} reversed, after correction "
            f"({family['below 0.05 uncorrected']} were below 0.05 before).\n\n"
        )
        text += tables.markdown(_rows(some))
    text += "\n## The collections beside the paper's Table 1\n\n"
    text += tables.markdown(tables.collection_cells(summary["collections"]))
    return text + "\n![claims](claims.png)\n![ours against the paper's](paper.png)\n"


def _rows(some: Sequence[dict[str, Any]]) -> tables.Cells:
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for one in some:
        cells = rows.setdefault((one["says"], one["set"]), {"models": one["models"]})
        cells["seeds"] = str(one["seeds"])
        cells[one["metric"]] = tables.corrected_cell(one)
    head = ["claim", "set", "models", "seeds", *tables.CLAIM_METRICS]
    return [head] + [
        [says, name, *(cells.get(column, "–") for column in head[2:])]
        for (says, name), cells in rows.items()
    ]
