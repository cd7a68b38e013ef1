"""All runs on one page: Holm's correction, families, and the committed page."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from hashnews.cli import main
from hashnews.errors import DataError
from hashnews.reproduce.together import compare_runs, holm, page, read_runs

ROOT = Path(__file__).parents[2] / "results" / "reproduce"
P_VALUES = st.lists(st.floats(0, 1), max_size=12)


def by_hand(values):
    """Holm's procedure as he states it: a hypothesis falls if it and all smaller ones do.

    Its corrected p is the smallest level at which it falls.
    """
    ordered = sorted(values)
    return [
        min(1.0, max((len(values) - k) * ordered[k] for k in range(ordered.index(p) + 1)))
        for p in values
    ]


@given(P_VALUES)
def test_holm_by_hand(values):
    assert holm(values) == pytest.approx(by_hand(values))


@given(P_VALUES)
def test_holm_lies_between_nothing_and_bonferroni(values):
    for p, corrected in zip(values, holm(values), strict=True):
        assert p <= corrected <= min(1.0, len(values) * p)


def test_holm_of_four():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def run(name, claims, *, hidden=400, split="chronological", seeds=1, small=False):
    """What results.json has of a run: claims as {says: {metric: (difference, p)}}."""
    judged = [
        {
            "says": says,
            "metrics": {
                metric: {"difference": d, "low": d - 0.01, "high": d + 0.01, "p": p}
                for metric, (d, p) in metrics.items()
            },
        }
        for says, metrics in claims.items()
    ]
    models = ("hashnews", "seq2seq", "hashnews@best")
    table = dict.fromkeys(("posts", "distinct_hashtags"), 10) | dict.fromkeys(
        ("hashtags_per_post", "entities_per_post", "percent_entity_hashtags",
         "percent_all_entity_hashtags", "percent_words_in_post"), 1.5)  # fmt: skip
    scores = dict.fromkeys(("F1@1", "F1@5", "F1@10", "ACC", "MAP", "RG-1"), 0.1)
    return {
        "small": small,
        "dataset": {"name": name, "collection": None, "split": split},
        "settings": {"training": {"model": {"hidden": hidden}}},
        "table_1": {"table": table},
        "table_2": [{"model": m, "seeds": [scores] * seeds, "mean": scores} for m in models],
        "claims": [one for one in judged if one["says"] == "news helps"],
        "beyond": [one for one in judged if one["says"] != "news helps"],
    }


def test_only_what_belongs_together_is_corrected_together():
    runs = {
        "a": run("2020", {"news helps": {"F1@1": (0.01, 0.02), "F1@5": (-0.01, 0.02)},
                          "and then news helps": {"F1@1": (0.01, 0.03)}}),
        "b": run("2021", {"news helps": {"F1@1": (0.01, 0.04)}}),
        "half": run("2020", {"news helps": {"F1@1": (0.01, 0.04)}}, hidden=200),
        "random": run("2020", {"news helps": {"F1@1": (0.01, 0.04)}}, split="random"),
    }  # fmt: skip
    found = {(*c.family, c.set, c.metric): (c.holm, c.verdict) for c in compare_runs(runs)}
    full = ("claims", "Full size", "chronological")
    assert found == {
        (*full, "2020", "F1@1"): (pytest.approx(0.06), "not confirmed"),
        (*full, "2020", "F1@5"): (pytest.approx(0.06), "not confirmed"),
        (*full, "2021", "F1@1"): (pytest.approx(0.06), "not confirmed"),
        ("mends", "Full size", "chronological", "2020", "F1@1"): (0.03, "confirmed"),
        ("claims", "Half size", "chronological", "2020", "F1@1"): (0.04, "confirmed"),
        ("claims", "Full size", "random", "2020", "F1@1"): (0.04, "confirmed"),
    }


def test_a_comparison_that_two_runs_hold_counts_once():
    claims = {"news helps": {"F1@1": (0.01, 0.03)}}
    first = compare_runs({"a": run("2020", claims)})
    assert compare_runs({"a": run("2020", claims), "a-best": run("2020", claims)}) == first


def test_small_runs_are_left_out(tmp_path):
    for name, small in (("one", False), ("two", True)):
        (tmp_path / name).mkdir()
        written = json.dumps(run(name, {}, small=small))
        (tmp_path / name / "results.json").write_text(written)
    assert list(read_runs(tmp_path)) == ["one"]
    (tmp_path / "one" / "results.json").unlink()
    with pytest.raises(DataError, match=r"no folder with a results\.json"):
        read_runs(tmp_path)


def test_the_command_writes_page_and_plots(tmp_path):
    (tmp_path / "in" / "one").mkdir(parents=True)
    one = run("2020", {"news helps": {"F1@1": (0.01, 0.0004)}})
    (tmp_path / "in" / "one" / "results.json").write_text(json.dumps(one))
    asked = ["reproduce", str(tmp_path / "in"), "--together", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 0, done.output
    assert "| news helps | 2020 | HashNews > Seq2Seq | 1 | +1.00 (p < 0.001, Holm < 0.001)" in (
        tmp_path / "out" / "README.md"
    ).read_text("utf-8")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"README.md", "claims.json", "claims.png", "paper.png"}


def test_the_committed_page_is_of_the_committed_runs():
    summary = json.loads((ROOT / "together" / "claims.json").read_text("utf-8"))
    runs = read_runs(ROOT)
    assert summary["runs"] == list(runs)
    again = [one.told() for one in compare_runs(runs)]
    assert summary["comparisons"] == again
    assert len({one["name"] for one in again}) == len(again)
    assert page(summary) == (ROOT / "together" / "README.md").read_text("utf-8")
