"""A bounded run of every fuzzer; `python benchmarks/attack.py --minutes 30` runs for longer."""

import random

import pytest
from fuzzers import FUZZERS

TIMES = {
    "times": 3000, "feeds": 120, "html": 300, "files": 40, "options": 40, "archives": 300,
    "lists": 300, "frames": 300, "indexes": 15, "pages": 100, "crawls": 40, "tables": 150,
}  # fmt: skip


@pytest.mark.parametrize("fuzzer", FUZZERS, ids=lambda fuzzer: fuzzer.__name__)
@pytest.mark.filterwarnings("ignore")
def test_nothing_hostile_ends_otherwise_than_it_may(tmp_path, fuzzer):
    if fuzzer.__name__ == "tables":
        pytest.importorskip("pyarrow", reason="needs hashnews[parquet]")
    outcomes = set()
    for seed in range(TIMES.get(fuzzer.__name__, 60)):
        try:
            outcomes.add(fuzzer(random.Random(seed), tmp_path))
        except BaseException as error:
            error.add_note(f"{fuzzer.__name__}, seed {seed}")
            raise
    assert len(outcomes) > 1 or fuzzer.__name__ in ("html", "models")
