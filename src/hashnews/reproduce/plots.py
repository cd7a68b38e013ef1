"""The figures, drawn with matplotlib (extra `plots`) without a screen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hashnews.errors import needs_extra
from hashnews.reproduce.actions import read_curve
from hashnews.reproduce.plan import Run
from hashnews.reproduce.tables import label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, RED, GREY = "#1b6ca8", "#c8553d", "#9aa5b1"
DPI = 130


def new_figure(width: float, height: float) -> Figure:
    """An empty figure."""
    with needs_extra("drawing figures", "plots"):
        from matplotlib.figure import Figure
    return Figure(figsize=(width, height), layout="constrained")


def plot_scores(summary: dict[str, Any], path: Path) -> None:
    """F1@1 and F1@5 of every model, with the deviation over the seeds."""
    rows = summary["table_2"][::-1]
    figure = new_figure(7, 0.5 + 0.42 * len(rows))
    axes = figure.subplots()
    for offset, name, colour in ((0.2, "F1@1", BLUE), (-0.2, "F1@5", RED)):
        means = [100 * row["mean"][name] for row in rows]
        spreads = [100 * (row["spread"][name] or 0) for row in rows]
        places = [place + offset for place in range(len(rows))]
        axes.barh(places, means, 0.38, xerr=spreads, color=colour, label=name)
    axes.set_yticks(range(len(rows)), [label(row["model"]) for row in rows])
    axes.set_xlabel("%")
    axes.legend()
    figure.savefig(path, dpi=DPI)


def plot_entities(case: dict[str, Any], path: Path) -> None:
    """Case study 1: normalised IDF against temporal popularity."""
    rows = sorted(case["entities"], key=lambda row: (row["emerging"], row["temporal_popularity"]))
    figure = new_figure(6.5, 0.8 + 0.36 * len(rows))
    axes = figure.subplots()
    places = range(len(rows))
    for offset, name, colour, said in (
        (0.2, "temporal_popularity", RED, "temporal popularity"),
        (-0.2, "idf", BLUE, "IDF"),
    ):
        values = [row[name] for row in rows]
        axes.barh([place + offset for place in places], values, 0.38, color=colour, label=said)
    names = [f"{row['entity']} ↑" if row["emerging"] else row["entity"] for row in rows]
    axes.set_yticks(places, names)
    axes.set_xlabel(f"over the largest; ↑ on the rise at {case['at'][:16]}")
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=DPI)


def plot_curves(runs: Sequence[Run], path: Path) -> None:
    """Training loss and validation F1@5 by epoch, a line for each run."""
    curves: dict[str, list[list[dict[str, float]]]] = defaultdict(list)
    for run in runs:
        if run.metrics is not None and run.metrics.exists():
            curves[run.model.name].append(read_curve(run.metrics))
    figure = new_figure(9, 3.6)
    left, right = figure.subplots(1, 2)
    for number, (name, lines) in enumerate(curves.items()):
        for seed, line in enumerate(lines):
            epochs = [at["epoch"] for at in line]
            style = {"color": f"C{number}", "alpha": 0.8, "lw": 1.2}
            said = label(name) if seed == 0 else None
            left.plot(epochs, [at["mean_loss"] for at in line], label=said, **style)
            right.plot(epochs, [100 * at["f1@5"] for at in line], **style)
    left.set(xlabel="epoch", ylabel="training loss for each hashtag")
    right.set(xlabel="epoch", ylabel="validation F1@5, %")
    if curves:
        left.legend(fontsize=7)
    figure.savefig(path, dpi=DPI)


def plot_context(summary: dict[str, Any], models: dict[str, str], path: Path) -> None:
    """The retriever's figure beside the generator's: words covered, and the scores reached."""
    scores = {row["model"]: row["mean"] for row in summary["table_2"]}
    figure = new_figure(5, 3.6)
    axes = figure.subplots()
    for number, (model, ranking) in enumerate(models.items()):
        if model in scores and ranking in summary["contexts"]:
            covered = summary["contexts"][ranking]["words_in_context"]
            for metric, sign in zip(("F1@1", "F1@5"), "os", strict=True):
                axes.plot(covered, 100 * scores[model][metric], sign, color=f"C{number}",
                          label=f"{label(model)} {metric}")  # fmt: skip
    axes.set(xlabel="hashtag words in the context, %", ylabel="%")
    if axes.has_data():
        axes.legend(fontsize=7)
    figure.savefig(path, dpi=DPI)


def plot_claims(compared: Sequence[dict[str, Any]], path: Path) -> None:
    """Every comparison with its 95 % interval: a row for each claim and set, a panel for a metric.

    Filled where it holds after correction; the colour says which way.
    """
    rows = list(dict.fromkeys(_row_of(one) for one in compared))[::-1]
    metrics = list(dict.fromkeys(one["metric"] for one in compared))
    figure = new_figure(4 + 2.4 * len(metrics), 1 + 0.24 * len(rows))
    panels = figure.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
    for axes, metric in zip(panels, metrics, strict=True):
        axes.axvline(0, color=GREY, linewidth=0.8)
        for one in (one for one in compared if one["metric"] == metric):
            at, middle = rows.index(_row_of(one)), 100 * one["difference"]
            colour = {"confirmed": BLUE, "reversed": RED}.get(one["verdict"], GREY)
            axes.plot([100 * one["low"], 100 * one["high"]], [at, at], color=colour)
            axes.plot(middle, at, "o", color=colour, markersize=5,
                      markerfacecolor="white" if colour == GREY else colour)  # fmt: skip
        axes.set(title=metric, xlabel="points")
    panels[0].set_yticks(range(len(rows)), rows, fontsize=7)
    figure.suptitle("claims, 95 % intervals; blue: confirmed, red: reversed, after Holm")
    figure.savefig(path, dpi=DPI)


def _row_of(one: dict[str, Any]) -> str:
    kind = f"{one['size'].split()[0].lower()}, {one['split']}"
    return f"{one['says']} · {one['set']} ({kind})"


def plot_paper(scores: Sequence[dict[str, Any]], path: Path) -> None:
    """Ours against the paper's (the mean of its two datasets), a line of models for each run."""
    figure = new_figure(11, 4.6)
    lines: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in scores:
        lines[f"{one['set']}, {one['size'].lower()}, {one['split']}"].append(one)
    for axes, metric in zip(figure.subplots(1, 2), ("F1@1", "F1@5"), strict=True):
        for number, (said, some) in enumerate(lines.items()):
            some = sorted(some, key=lambda one: one["paper"][metric])
            points = [one["paper"][metric] for one in some], [one["ours"][metric] for one in some]
            full = "full" in said
            axes.plot(*points, "o-" if full else "o:", color=f"C{number}", label=said,
                      markerfacecolor=f"C{number}" if full else "white")  # fmt: skip
        theirs = {one["model"]: one["paper"][metric] for one in scores}
        for model, place in theirs.items():
            axes.text(place, 0, label(model), rotation=90, fontsize=6, ha="center", color=GREY)
        axes.set(title=metric, xlabel="the paper's, mean of its datasets, %", ylabel="ours, %")
        axes.set_ylim(bottom=0)
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, fontsize=7, ncols=3, loc="outside lower center")
    figure.savefig(path, dpi=DPI)
