"""Verdicts and tables."""

import pytest

from hashnews.reproduce.bootstrap import Difference
from hashnews.reproduce.paper import CLAIMS, COLUMNS, TABLE_2
from hashnews.reproduce.results import check_identity, verdict
from hashnews.reproduce.tables import claim_cell, label, latex, markdown, text, with_spread


@pytest.mark.parametrize(
    ("difference", "p", "says"),
    [(0.02, 0.01, "confirmed"), (-0.02, 0.01, "reversed"), (0.02, 0.05, "not confirmed"),
     (-0.02, 0.5, "not confirmed"), (0.0, 0.0001, "not confirmed")],
)  # fmt: skip
def test_verdicts(difference, p, says):
    assert verdict(Difference(difference, 0.0, 0.0, p)) == says


def test_a_row_that_breaks_the_identity_is_not_printed():
    check_identity("x", [{"F1@1": 0.2, "ACC": 0.3}], 2.0)
    with pytest.raises(RuntimeError, match="does not follow"):
        check_identity("x", [{"F1@1": 0.21, "ACC": 0.3}], 2.0)


def test_nine_of_the_papers_twelve_rows_follow_it():
    """As its authors' test set has 2.666 and 2.212 hashtags a post."""
    broken = {}
    for (data, table), gold in zip(TABLE_2.items(), (2.666, 2.212), strict=True):
        for model, row in table.items():
            scores = dict(zip(COLUMNS, row, strict=True))
            if scores["F1@1"] != pytest.approx(2 * scores["ACC"] / (1 + gold), abs=0.025):
                broken.setdefault(model, []).append(data)
    assert broken == {
        "seq2seq-copy": ["Tweets2018", "Tweets2020"],
        "hashnews-norank": ["Tweets2020"],
    }


def test_every_claim_is_about_rows_of_the_table():
    rows = TABLE_2["Tweets2018"]
    assert all(claim.first in rows and claim.second in rows for claim in CLAIMS)


def test_cells():
    assert with_spread(0.1234, 0.005) == "12.34 ± 0.50"
    assert with_spread(0.1234, None) == "12.34"
    assert with_spread(None, None) == "–"
    found = {"difference": -0.0123, "p": 0.0004, "verdict": "reversed"}
    assert claim_cell(found) == "-1.23 (p < 0.001) reversed"
    assert claim_cell(found | {"p": 0.0312}) == "-1.23 (p = 0.031) reversed"
    assert label("hashnews-norank") == "HashNews-NoRank"
    assert label("hashnews@best") == "HashNews@best"


def test_three_ways_to_write_a_table():
    cells = [["model", "F1@1"], ["a_b", "50 ± 1%"]]
    assert markdown(cells) == "| model | F1@1 |\n| --- | --: |\n| a_b | 50 ± 1% |\n"
    assert "a\\_b & 50 $\\pm$ 1\\% \\\\" in latex(cells)
    assert text(cells) == "model     F1@1\na_b    50 ± 1%"
