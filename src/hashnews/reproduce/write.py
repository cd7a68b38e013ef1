"""The results of a reproduction as files: results.json, README.md, tables.tex, figures.

No post of the dataset is quoted in them; case study 2 shows posts of the shipped sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hashnews.files import new_file
from hashnews.generate.config import GeneratorConfig, TrainingConfig
from hashnews.prepare.statistics import plot_frequencies
from hashnews.reproduce import plots, tables
from hashnews.reproduce.actions import read_json, write_json
from hashnews.reproduce.config import TableModel
from hashnews.reproduce.results import Results, summarise

SMALL_RUN = (
    "**A small run tests the machinery and judges nothing**: tiny models, few posts; no figure here"
    " says anything about a model or a claim."
)


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

    def figure(self, name: str) -> Path:
        """A picture."""
        return self.folder / f"{name}.png"


def write_results(results: Results, out: Path, command: str) -> dict[str, Any]:
    """Write all files; return the summary."""
    files = Files(out)
    summary = {"command": command, **summarise(results)}
    write_json(files.summary, summary)
    figures = draw(results, summary, files)
    cases = results.plan.cases
    examples = read_json(cases["examples"])["examples"] if _made(results, "examples") else []
    _write(files.latex, _latex(summary))
    _write(files.markdown, markdown(summary, list(figures), examples))
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
    one, two = tables.statistics_cells(summary), tables.score_cells(summary)
    return f"% Table 1\n{tables.latex(one)}\n% Table 2\n{tables.latex(two)}"


def markdown(
    summary: dict[str, Any], figures: Sequence[str], examples: Sequence[dict[str, Any]]
) -> str:
    """README.md: how it was made, every table, the figures, case study 2."""
    dataset = summary["dataset"]
    name = " ".join(filter(None, [dataset["name"], dataset["collection"], dataset["split"]]))
    parts = {
        "Table 2": tables.score_cells(summary),
        "Claims of the paper": tables.claim_cells(summary["claims"]),
        "Beyond the paper": tables.claim_cells(summary["beyond"]),
        "Epochs": tables.epoch_cells(summary),
        "Table 1": tables.statistics_cells(summary),
        "What the contexts hold": tables.context_cells(summary),
        "Beside the standard definitions": tables.standard_cells(summary),
        "Coverage of hashtags": tables.coverage_cells(summary),
    }
    posts = ", ".join(f"{count:,} {part}" for part, count in dataset["posts"].items())
    gold = dataset["gold_hashtags_per_post"]
    text = f"# Reproduction on {name}\n\n```sh\n{summary['command']}\n```\n\n{about(summary)}\n"
    text += f"Posts: {posts}; {gold:.3f} hashtags per test post.\n"
    for title, cells in parts.items():
        if len(cells) > 1:
            text += f"\n## {title}\n\n{tables.markdown(cells)}"
    for number, example in enumerate(examples, 1):
        text += f"\n## Case study 2: post {number} of the shipped sample\n\n"
        text += tables.example_lines(example)
    text += "\n" + "\n".join(f"![{figure}]({figure}.png)" for figure in figures) + "\n"
    machine = ", ".join(f"{key} {value}" for key, value in summary["machine"].items())
    hours = sum(summary["seconds"].values()) / 3600
    return f"{text}\n{hours:.1f} hours of steps in all; {machine}.\n"


def size_of(summary: dict[str, Any]) -> str:
    """How large the generators are beside the paper's, in two words."""
    paper, ours = GeneratorConfig(), _network(summary)
    if not _smaller(summary):
        return "Full size"
    return "Half size" if 2 * ours.hidden == paper.hidden else "Not the paper's size"


def about(summary: dict[str, Any]) -> str:
    """The size of the generators, how long they may train, how often, and what is not there."""
    other = _smaller(summary)
    sizes = f"have {', '.join(other)}" if other else "are as large as the paper's"
    training = TrainingConfig.model_validate(
        {"posts": "posts.jsonl"} | summary["settings"]["training"]
    )
    trained = [row for row in summary["table_2"] if TableModel.parse(row["model"]).by_chance]
    seeds = max((len(row["seeds"]) for row in trained), default=0)
    told = [
        f"**{size_of(summary)}**: the generators {sizes}.",
        f"Trained for at most {training.epochs} epochs, until {training.patience} in a row bring"
        f" nothing better on {training.validation_posts:,} validation posts (or all, if there are"
        f" fewer); seeds: {seeds}.",
    ]
    if not trained:
        told = ["**Baselines and retrieval only**: no model was trained."]
    if missing := summary.get("not_run"):
        told.append(f"**Not run**: {'; '.join(missing)}.")
    return "\n".join([*told, SMALL_RUN] if summary.get("small") else told)


def _network(summary: dict[str, Any]) -> GeneratorConfig:
    return GeneratorConfig.model_validate(summary["settings"]["training"].get("model", {}))


def _smaller(summary: dict[str, Any]) -> list[str]:
    paper, ours = GeneratorConfig(), _network(summary)
    return [
        f"{name} {getattr(ours, name)} instead of {getattr(paper, name)}"
        for name in ("embedding", "hidden", "layers")
        if getattr(ours, name) != getattr(paper, name)
    ]


def _write(path: Path, text: str) -> None:
    with new_file(path) as stream:
        stream.write(text)
