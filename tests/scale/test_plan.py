"""The plan on paper, by hand; and the cluster's settings, by Ray's own check."""

import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from sizing import Line, Measured, limits, plan, text  # noqa: E402

COSTS = {
    "prepare_ms": 1.0, "finding_ms": 10.0, "suggest_ms": 6.0, "suggest_generate_ms": 2.0,
    "suggest_own_mb": 650.0, "remembered": 100_000, "remembered_bytes": 1000.0,
    "build_bytes": 1000.0, "raw_bytes": 100.0, "answer_bytes_packed": 300.0,
    "article_bytes": 500.0, "store_bytes": 1500.0,
}  # fmt: skip
# n articles a day: 1 + n / 1000 ms a post, 100 + n / 2 MB a worker, 240 postings an article
GROWTH = {
    name: {
        "articles": 10 * n, "days": 10, "build_s": 0.001 * n, "bytes": 2000 * n,
        "best_ms": 1 + n / 1000, "best_own_mb": 100 + n / 2, "best_opening_s": 1.0,
        "best_postings": 240 * n,
    }
    for name, n in (("real", 100), ("denser-5", 500), ("longer-5", 50))
}  # fmt: skip


# n posts: 2 + n / 100,000 ms to look back on; those of the third are not all within the window
MEMORY = {
    "100000": {"look back ms, mean": 3.0, "bytes a post": 240.0},
    "500000": {"look back ms, mean": 7.0, "bytes a post": 260.0},
    "5000000": {"look back ms, mean": 14.0, "bytes a post": 248.0},
}


@pytest.fixture
def measured():
    return Measured.of(COSTS, GROWTH, MEMORY)


def test_a_line_through_points():
    line = Line.through([(0, 1), (1, 3), (2, 5)])
    assert line == Line(1, 2, 2)
    assert line.at(10) == 21
    assert Line(-5, 1, 2).at(1) == 0


def test_a_plan_by_hand(measured):
    needed = {name: value for name, _, value in plan(86_400_000, 1000, measured)}
    # 86.4 million × 1 ms is one core all day; at 60 % use, and twice that in the busiest hour, 3.3
    assert needed["cores: prepare"] == "3.3"
    assert needed["cores: suggest: retrieve"] == "6.7"  # 1 + 1000 / 1000 ms
    assert needed["cores: suggest: generate"] == "6.7"  # 2 ms
    assert needed["cores: suggest: rank and the rest"] == "66.3"  # 6 - 2 - 1.1 + 20 - 3 ms
    # 650 MB with 100 MB of posts and 50 MB of lists: 0.5 GB of program
    assert needed["memory: lists of the window, a worker"] == "0.5 GB"
    assert needed["memory: a worker"] == "1.0 GB"
    assert needed["memory: remembered posts, a node"] == "0.5 GB"  # 1.8 million × 260 bytes
    assert needed["storage a day: raw posts"] == "8.6 GB"
    assert needed["disk of a node: the store's articles"] == "0 GB"
    assert "2 times further" in text(86_400_000, 1000, measured)


def test_what_breaks_first_by_hand(measured):
    found = {limit.what: limit.holds for limit in limits(500e6, 1e6, measured)}
    # 18 ms at 100,000 a ms; 512 GB / (260 + 64 × 8) bytes
    assert found["400 days of posts looked back on in 20 ms"] == pytest.approx(4500)
    in_memory = found["400 days of posts in the memory of a node"]
    assert in_memory == pytest.approx(512e9 / 772 / 400)
    # 8 GB a core less 0.5 GB of program / 0.5 MB
    assert found["lists of the window in every worker"] == pytest.approx(15_000)
    assert found["lists numbered with 31 bits"] == pytest.approx(2**31 / 240)
    assert found["a day's index built by one job: an hour"] == pytest.approx(3600 / 0.0001)
    assert next(iter(found)) == "400 days of posts looked back on in 20 ms"


def test_the_written_plan_is_what_the_script_says():
    command = [sys.executable, str(ROOT / "tools" / "sizing.py")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    page = (ROOT / "results" / "scale" / "plan.md").read_text("utf-8")
    assert page.endswith(said), "run: python tools/sizing.py --write"


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
