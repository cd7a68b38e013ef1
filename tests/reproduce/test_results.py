"""The committed results: every figure of their pages is that of results.json, rounded once."""

import json
import re
from pathlib import Path

import pytest

from hashnews.reproduce.write import markdown

ROOT = Path(__file__).parents[2] / "results" / "reproduce"
RUNS = sorted(path.parent.name for path in ROOT.glob("*/results.json"))
COLUMNS = ("hashnews", "seq2seq", "lstm-top", "neighbours-author")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def summary_of(run):
    return json.loads((ROOT / run / "results.json").read_text("utf-8"))


@pytest.mark.parametrize("run", RUNS)
def test_a_page_is_made_from_its_results(run):
    page = (ROOT / run / "README.md").read_text("utf-8")
    figures = re.findall(r"!\[(\w+)\]", page)
    for part in markdown(summary_of(run), figures, []).split("\n\n"):
        assert part in page
    assert {path.name for path in (ROOT / run).iterdir()} == {
        "README.md", "results.json", "tables.tex", *(f"{name}.png" for name in figures),
    }  # fmt: skip


def overview():
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    split = (line.strip("|").split("|") for line in lines if "](20" in line)
    rows = [[cell.strip() for cell in cells] for cells in split]
    return {re.match(r"\[(.+?)\]", row[0]).group(1): row[1:] for row in rows}


def short(mean):
    return " / ".join(f"{100 * mean[name]:.1f}" for name in ("F1@1", "F1@5"))


def of_hashnews(means, full):
    said = {"hashnews@best": "", "hashnews-copy@best": "copying "}
    better = ", ".join(said[name] + short(means[name]) for name in said if name in means)
    if not full:
        return better or (short(means["hashnews"]) if "hashnews" in means else "")
    plain = [short(means["hashnews"])] if "hashnews" in means else []
    return "; ".join(plain + ([f"better contexts {better}"] if better else []))


@pytest.mark.parametrize("run", RUNS)
def test_the_overview_is_rounded_once(run):
    summary, (posts, first, *others) = summary_of(run), overview()[run]
    means = {row["model"]: row["mean"] for row in summary["table_2"]}
    assert posts == f"{summary['dataset']['posts']['test']:,}"
    full = "**Full size**" in (ROOT / run / "README.md").read_text("utf-8")
    assert first == of_hashnews(means, full)
    assert others == [short(means[name]) if name in means else "" for name in COLUMNS[1:]]


def test_a_random_split_against_a_chronological_one():
    ratios = [
        summary_of(f"{name}-random")["table_2"][place]["mean"]["F1@5"]
        / summary_of(name)["table_2"][place]["mean"]["F1@5"]
        for name in ("2020-congress", "2020-blm")
        for place, row in enumerate(summary_of(name)["table_2"])
        if row["model"] == "hashnews"
    ]
    said = "1.6 (congress) to 1.7 (blm) times"
    assert [f"{ratio:.1f}" for ratio in ratios] == ["1.6", "1.7"]
    assert said in (ROOT / "README.md").read_text("utf-8")
