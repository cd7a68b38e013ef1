"""The plan on paper, by hand; and the cluster's settings, by Ray's own check."""

import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from sizing import Line, plan  # noqa: E402


def test_a_line_through_points():
    line = Line.through([(0, 1), (1, 3), (2, 5)])
    assert line == Line(1, 2, 2)
    assert line.at(10) == 21
    assert Line(-5, 1, 2).at(1) == 0


def test_a_plan_by_hand():
    costs = {
        "prepare_ms": 1.0, "suggest_ms": 5.0, "retrieve_ms": 2.0, "finding_ms": 10.0,
        "build_bytes": 1000.0, "raw_bytes": 100.0, "answer_bytes_packed": 300.0,
        "article_bytes": 500.0,
    }  # fmt: skip
    growth = [
        {"articles": 10 * n, "days": 10, "build_s": 0.01 * n, "bytes": 2000 * n, "ms": 1 + n / 1000,
         "own_mb": 10.0 * n, "opening_s": 1.0}
        for n in (100, 200)
    ]  # fmt: skip
    made = plan(86_400_000, 1000, costs, growth)
    needed = {name: value for name, _, value in made.rows}
    # 86.4 million × 1 ms is one core all day; at 60 % use, and twice that in the busiest hour, 3.3
    assert needed["cores: prepare"] == "3"
    assert needed["cores: retrieve, in suggest"] == "7"  # 1 + 1000/1000 ms
    assert needed["cores: rank and the rest of suggest"] == "10"  # 5 - 2 ms
    assert needed["memory: a worker"] == "10.0 GB"
    assert needed["storage a day: raw posts"] == "8.6 GB"
    assert "5 times further" in made.notes[0]


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_ray_takes_the_settings_of_the_cluster():
    code = (
        "import sys, yaml;"
        "from ray.autoscaler._private.util import prepare_config, validate_config;"
        "validate_config(prepare_config(yaml.safe_load(open(sys.argv[1]))))"
    )
    command = [sys.executable, "-c", code, str(ROOT / "configs" / "cluster.yaml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, shlex.join(command) + done.stderr
