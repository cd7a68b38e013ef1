"""The tables of the paper from a summary (`results.summarise`), as Markdown and LaTeX.

A figure is rounded once, here, from the summary's full precision.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hashnews.metrics import COVERAGE, PAPER, STANDARD
from hashnews.reproduce.paper import COLUMNS, LABELS, TABLE_1

Cells = list[list[str]]
TABLE_1_COLUMNS = {
    "posts": "posts",
    "distinct_hashtags": "distinct hashtags",
    "hashtags_per_post": "hashtags per post",
    "entities_per_post": "entities per post",
    "percent_entity_hashtags": "% entity hashtags",
    "percent_all_entity_hashtags": "% all-entity hashtags",
    "percent_words_in_post": "P^p",
}
CLAIM_METRICS = ("F1@1", "F1@5", "MAP", "RG-1")


def set_name(summary: dict[str, Any]) -> str:
    """What was judged on: the dataset and its collection."""
    dataset = summary["dataset"]
    return " ".join(filter(None, [dataset["name"], dataset["collection"]]))


def statistics_cells(summary: dict[str, Any]) -> Cells:
    """Table 1."""
    return collection_cells({set_name(summary): summary["table_1"]["table"]})


def collection_cells(collections: dict[str, dict[str, float]]) -> Cells:
    """Table 1 of several sets, the paper's below."""
    rows = [["dataset", *TABLE_1_COLUMNS.values()]]
    rows += [
        [name, *(f"{ours[column]:,}" for column in TABLE_1_COLUMNS)]
        for name, ours in collections.items()
    ]
    return rows + [
        [f"paper: {data}", *(f"{value:,}" for value in values)] for data, values in TABLE_1.items()
    ]


def epoch_cells(summary: dict[str, Any]) -> Cells:
    """How long each model was trained, and which epoch was kept, seed by seed."""
    rows = [["model", "seed", "epochs", "kept", "validation F1@5", "ended by"]]
    return rows + [
        [label(one["model"]), str(one["seed"]), str(one["epochs"]), str(one["kept"]),
         f"{100 * one['f1@5']:.2f}", one["ended by"]]
        for one in summary.get("epochs", ())
    ]  # fmt: skip


def score_cells(summary: dict[str, Any]) -> Cells:
    """Table 2: our mean and spread, and the paper's two columns of datasets beside it."""
    papers = ("Tweets2018", "Tweets2020")
    rows = [["model", *COLUMNS, *(f"{data[6:]} {c}" for data in papers for c in COLUMNS)]]
    for row in summary["table_2"]:
        cells = [with_spread(row["mean"].get(c), row["spread"].get(c)) for c in COLUMNS]
        for data in papers:
            given = row["paper"].get(data, {})
            cells += [f"{given[c]:.2f}" if c in given else "" for c in COLUMNS]
        rows.append([label(row["model"]), *cells])
    return rows


def standard_cells(summary: dict[str, Any]) -> Cells:
    """The paper's metrics beside their standard definitions."""
    return _means(summary, [*PAPER, *STANDARD])


def coverage_cells(summary: dict[str, Any]) -> Cells:
    """Recall of hashtags of each kind."""
    return _means(summary, list(COVERAGE))


def claim_cells(claims: Sequence[dict[str, Any]]) -> Cells:
    """Every claim with its difference in points, p-value and verdict, for some metrics."""
    rows = [["claim", "models", *CLAIM_METRICS]]
    for claim in claims:
        models = f"{label(claim['first'])} > {label(claim['second'])}"
        cells = [claim_cell(claim["metrics"].get(name)) for name in CLAIM_METRICS]
        rows.append([claim["says"], models, *cells])
    return rows


def context_cells(summary: dict[str, Any]) -> Cells:
    """What the contexts of each ranking hold of the hashtags."""
    found = summary["contexts"]
    names = list(next(iter(found.values()), {}))
    rows = [["ranking", *(f"% {name.replace('_', ' ')}" for name in names)]]
    return rows + [[ranking, *(f"{c[n]:.1f}" for n in names)] for ranking, c in found.items()]


def example_lines(example: dict[str, Any]) -> str:
    """Case study 2: one post, the news before it, and what two models answer, as a list."""
    said = {
        "post": " ".join(example["post"].split()),
        "entities": ", ".join(example["entities"]),
        "news before it": "; ".join(example["news"]),
        "hashtag words in the context, with their rank": ", ".join(
            f"{word} {rank}" for word, rank in example["ranks"].items()
        ),
        "HashNews": ", ".join(example["hashnews"]),
        "Seq2Seq": ", ".join(example["seq2seq"]),
    }
    return "".join(f"- **{name}**: {value or '–'}\n" for name, value in said.items())


def label(model: str) -> str:
    """A model as the paper writes it."""
    variant, at, ranking = model.partition("@")
    return LABELS.get(variant, variant) + at + ranking


def with_spread(mean: float | None, spread: float | None) -> str:
    """Percent, with the deviation over the seeds."""
    if mean is None:
        return "–"
    return f"{100 * mean:.2f}" + (f" ± {100 * spread:.2f}" if spread is not None else "")


def claim_cell(found: dict[str, Any] | None) -> str:
    """Difference, p-value, verdict."""
    if found is None:
        return "–"
    return f"{100 * found['difference']:+.2f} ({chance(found['p'])}) {found['verdict']}"


def corrected_cell(found: dict[str, Any]) -> str:
    """Difference, p-value, p-value after the correction, verdict by the latter."""
    p, corrected = chance(found["p"]), chance(found["holm"]).removeprefix("p ")
    return f"{100 * found['difference']:+.2f} ({p}, Holm {corrected}) {found['verdict']}"


def chance(p: float) -> str:
    """A p-value."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def markdown(cells: Cells) -> str:
    """Cells as a Markdown table; the first row is the head."""
    head, *rows = cells
    lines = [_line(head), _line(["---"] + ["--:"] * (len(head) - 1)), *map(_line, rows)]
    return "\n".join(lines) + "\n"


def latex(cells: Cells) -> str:
    """Cells as a LaTeX table in the paper's style (booktabs)."""
    head, *rows = [[_escape(cell) for cell in row] for row in cells]
    body = "".join(f"    {' & '.join(row)} \\\\\n" for row in rows)
    return (
        f"\\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}\n    \\toprule\n"
        f"    {' & '.join(head)} \\\\\n    \\midrule\n{body}    \\bottomrule\n\\end{{tabular}}\n"
    )


def text(cells: Cells) -> str:
    """Cells as columns for a terminal."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def _means(summary: dict[str, Any], names: list[str]) -> Cells:
    rows = [["model", *names]]
    return rows + [
        [label(row["model"]), *(with_spread(row["mean"].get(name), None) for name in names)]
        for row in summary["table_2"]
    ]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escape(cell: str) -> str:
    for sign, written in (("%", "\\%"), ("_", "\\_"), ("^", "\\^{}"), ("±", "$\\pm$")):
        cell = cell.replace(sign, written)
    return cell.replace(">", "$>$").replace("<", "$<$").replace("–", "--")
