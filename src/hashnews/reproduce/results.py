"""The results of a reproduction as files: tables, figures, report. No post is quoted in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from hashnews.files import new_file
from hashnews.prepare.statistics import plot_frequencies
from hashnews.reproduce import plots, table
from hashnews.reproduce.report import report
from hashnews.reproduce.run import Results
from hashnews.reproduce.summary import summarise
from hashnews.reproduce.work import read_json, write_json


class Files(NamedTuple):
    """The files of a folder of results."""

    folder: Path

    @property
    def summary(self) -> Path:
        """Everything, for programs."""
        return self.folder / "results.json"

    @property
    def markdown(self) -> Path:
        """The tables, for people."""
        return self.folder / "README.md"

    @property
    def latex(self) -> Path:
        """Tables 1 and 2, for a paper."""
        return self.folder / "tables.tex"

    @property
    def report(self) -> Path:
        """All of it on one page."""
        return self.folder / "report.html"

    def figure(self, name: str) -> Path:
        """A picture."""
        return self.folder / f"{name}.png"


def write_results(results: Results, out: Path, command: str) -> dict[str, Any]:
    """Write all files; give the summary."""
    files = Files(out)
    summary = {"command": command, **summarise(results)}
    write_json(files.summary, summary)
    figures = draw(results, summary, files)
    cases = results.plan.cases
    examples = read_json(cases["examples"])["examples"] if _made(results, "examples") else []
    _write(files.latex, _latex(summary))
    _write(files.markdown, _markdown(summary, figures, command))
    _write(files.report, report(summary, figures, examples, command))
    return summary


def draw(results: Results, summary: dict[str, Any], files: Files) -> dict[str, Path]:
    """All figures there is something to draw for."""
    frequencies = summary["table_1"]["hashtag_frequencies"]
    drawn = {name: files.figure(name) for name in ("frequencies", "scores", "curves")}
    plot_frequencies({int(uses): n for uses, n in frequencies.items()}, drawn["frequencies"])
    plots.plot_scores(summary, drawn["scores"])
    plots.plot_curves(results.plan.runs, drawn["curves"])
    if summary["contexts"]:
        drawn["contexts"] = files.figure("contexts")
        rankings = {run.model.name: str(run.model.ranking) for run in results.plan.runs}
        plots.plot_context(summary, rankings, drawn["contexts"])
    if _made(results, "entities"):
        drawn["entities"] = files.figure("entities")
        plots.plot_entities(read_json(results.plan.cases["entities"]), drawn["entities"])
    return drawn


def _made(results: Results, case: str) -> bool:
    path = results.plan.cases.get(case)
    return path is not None and path.parent in results.outcome.seconds


def _latex(summary: dict[str, Any]) -> str:
    one, two = table.statistics_cells(summary), table.score_cells(summary)
    return f"% Table 1\n{table.latex(one)}\n% Table 2\n{table.latex(two)}"


def _markdown(summary: dict[str, Any], figures: dict[str, Path], command: str) -> str:
    dataset = summary["dataset"]
    name = " ".join(filter(None, [dataset["name"], dataset["collection"], dataset["split"]]))
    parts = {
        "Table 2": table.score_cells(summary),
        "Claims of the paper": table.claim_cells(summary["claims"]),
        "Beyond the paper": table.claim_cells(summary["beyond"]),
        "Table 1": table.statistics_cells(summary),
        "What the contexts hold": table.context_cells(summary),
        "Beside the standard definitions": table.standard_cells(summary),
        "Coverage of hashtags": table.coverage_cells(summary),
    }
    text = f"# Reproduction on {name}\n\n```sh\n{command}\n```\n"
    for title, cells in parts.items():
        if len(cells) > 1:
            text += f"\n## {title}\n\n{table.markdown(cells)}"
    text += "\n" + "\n".join(f"![{key}]({path.name})" for key, path in figures.items()) + "\n"
    machine = ", ".join(f"{key} {value}" for key, value in summary["machine"].items())
    hours = sum(summary["seconds"].values()) / 3600
    return f"{text}\n{hours:.1f} hours of steps in all; {machine}.\n"


def _write(path: Path, text: str) -> None:
    with new_file(path) as stream:
        stream.write(text)
