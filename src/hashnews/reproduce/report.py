"""The report: one HTML file that needs nothing else, pictures inside it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from hashnews.reproduce import table
from hashnews.reproduce.table import Cells

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem}
h1,h2{line-height:1.2} table{border-collapse:collapse;font-size:13px;display:block;overflow-x:auto}
th,td{padding:.25rem .6rem;border-bottom:1px solid #dde3ea;text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left} tr:hover{background:#f4f7fa}
.confirmed{color:#17683a;font-weight:600}.reversed{color:#a8321b;font-weight:600}
img{max-width:100%} dl{display:grid;grid-template-columns:11rem 1fr;gap:.3rem 1rem}
dd{margin:0;white-space:pre-wrap} details{margin:1rem 0} pre{overflow-x:auto;font-size:12px}
"""


def report(
    summary: dict[str, Any],
    figures: Mapping[str, Path],
    examples: list[dict[str, Any]],
    command: str,
) -> str:
    """The whole page."""
    dataset = summary["dataset"]
    title = " · ".join(filter(None, [dataset["name"], dataset["collection"], dataset["split"]]))
    parts = [
        _section("Table 2", _table(table.score_cells(summary)),
                 "Percent; mean ± deviation over the seeds, then what the paper prints for its "
                 "own two datasets."),
        _picture(figures, "scores"),
        _section("Claims of the paper", _table(table.claim_cells(summary["claims"])),
                 "Difference in points, paired bootstrap over posts with the seeds pooled."),
        _section("Beyond the paper", _table(table.claim_cells(summary["beyond"]))),
        _section("Table 1", _table(table.statistics_cells(summary))),
        _picture(figures, "frequencies"),
        _section("What the contexts hold", _table(table.context_cells(summary)),
                 "Of the words of the test posts' hashtags: what a generator can take from them."),
        _picture(figures, "contexts"),
        _section("Case study 1: IDF and temporal popularity", _picture(figures, "entities")),
        _section("Case study 2: two posts of the shipped sample", _examples(examples)),
        _section("Learning curves", _picture(figures, "curves")),
        _section("Beside the standard definitions", _table(table.standard_cells(summary))),
        _section("Coverage of hashtags", _table(table.coverage_cells(summary)),
                 "Recall of hashtags no training post has, that the author had not used in "
                 "training posts, and that are names alone."),
        _times(summary, command),
    ]  # fmt: skip
    return (
        "<!doctype html>\n<html lang=en><meta charset=utf-8>"
        '<meta name=viewport content="width=device-width">'
        f"<title>HashNews: {escape(title)}</title><style>{STYLE}</style>"
        f"<h1>Reproduction on {escape(title)}</h1>"
        f"<p>{_said(dataset)}</p>{''.join(parts)}</html>\n"
    )


def _said(dataset: dict[str, Any]) -> str:
    parts = ", ".join(f"{count:,} {name}" for name, count in dataset["posts"].items())
    never = " ".join(f"#{tag}" for tag in dataset["never"])
    return escape(
        f"Posts: {parts}; {dataset['gold_hashtags_per_post']:.3f} hashtags for each test post"
        + (f"; never a target: {never}." if never else ".")
    )


def _section(title: str, body: str, note: str = "") -> str:
    said = f"<p>{escape(note)}</p>" if note else ""
    return f"<h2>{escape(title)}</h2>{said}{body}"


def _table(cells: Cells) -> str:
    head, *rows = cells
    lines = "".join(
        "<tr>" + "".join(f"<td{_class(cell)}>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    heads = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    return f"<table><tr>{heads}</tr>{lines}</table>"


def _class(cell: str) -> str:
    words = cell.rsplit(" ", 2)
    if words[-1] == "reversed" or (words[-1] == "confirmed" and words[-2] != "not"):
        return f' class="{words[-1]}"'
    return ""


def _picture(figures: Mapping[str, Path], name: str) -> str:
    if name not in figures:
        return "<p>Not drawn in this run.</p>"
    data = base64.b64encode(figures[name].read_bytes()).decode()
    return f'<p><img alt="{escape(name)}" src="data:image/png;base64,{data}"></p>'


def _examples(examples: list[dict[str, Any]]) -> str:
    if not examples:
        return "<p>Needs both hashnews and seq2seq among the models.</p>"
    return "<hr>".join(
        "<dl>"
        + "".join(f"<dt>{escape(key)}</dt><dd>{escape(value)}</dd>" for key, value in row)
        + "</dl>"
        for row in map(_rows, examples)
    )


def _rows(example: dict[str, Any]) -> list[tuple[str, str]]:
    ranks = ", ".join(f"{word}: {rank}" for word, rank in example["ranks"].items())
    return [
        ("post", example["post"]),
        ("entities", ", ".join(example["entities"])),
        ("news before it", "\n".join(example["news"])),
        ("hashtag words in the context, by rank", ranks),
        ("HashNews", "\n".join(example["hashnews"])),
        ("Seq2Seq", "\n".join(example["seq2seq"])),
    ]


def _times(summary: dict[str, Any], command: str) -> str:
    machine = ", ".join(f"{key} {value}" for key, value in summary["machine"].items())
    rows = [["step", "seconds"], *([k, f"{v:,.0f}"] for k, v in summary["seconds"].items())]
    return (
        f"<h2>How it was made</h2><pre>{escape(command)}</pre><p>{escape(machine)}</p>"
        f"<details><summary>Time of every step</summary>{_table(rows)}</details>"
    )
