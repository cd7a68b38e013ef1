"""A row of the committed results, run again from its command: the same figures to the digit."""

import json
from pathlib import Path

import pytest

from hashnews.reproduce.config import ReproduceConfig
from hashnews.reproduce.plan import Dataset
from hashnews.reproduce.results import reproduce, summarise_row

RESULTS = Path(__file__).parents[2] / "results" / "reproduce"
ROWS = ("most-frequent", "recent", "neighbours", "author", "neighbours-author")


@pytest.mark.shared
def test_the_rows_that_need_no_training(shared, tmp_path):
    config = ReproduceConfig.load(None, [f"models={json.dumps(ROWS)}"])
    results = reproduce(Dataset(shared / "2020", collection="blm"), config, tmp_path, jobs=2)
    committed = json.loads((RESULTS / "2020-blm" / "results.json").read_text("utf-8"))
    wanted = {row["model"]: row["mean"] for row in committed["table_2"]}
    gold = committed["dataset"]["gold_hashtags_per_post"]
    for row in results.rows:
        assert summarise_row(row, gold)["mean"] == pytest.approx(wanted[row.name], abs=1e-12)
    assert {row.name for row in results.rows} == set(ROWS)
