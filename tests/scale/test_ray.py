"""The steps on a Ray cluster of three nodes: what comes out is what one process makes."""

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from byday import joined, run

from hashnews.errors import ClusterError
from hashnews.index.day import Settings
from hashnews.retrieve.all_words import AllWordsConfig
from hashnews.retrieve.source import RetrieverSource
from hashnews.scale.cut import cut_days
from hashnews.scale.engine import on_ray
from hashnews.scale.news import index_days
from hashnews.scale.steps import retrieve_days

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
COPIES = 100  # of the sample's posts: enough to kill a node among


@pytest.fixture(scope="module")
def cluster():
    """Three raylets with one core each, and the token that all of them know."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(16))
        patch.setenv("RAY_agent_register_timeout_ms", "120000")  # a busy machine is slow to start
        patch.setenv("RAY_raylet_start_wait_time_s", "120")
        patch.setenv("RAY_health_check_period_ms", "1000")  # a dead node is missed sooner
        patch.setenv("RAY_health_check_timeout_ms", "4000")
        patch.setenv("RAY_health_check_failure_threshold", "3")
        import ray  # not earlier: it reads these settings when it is imported
        from ray.cluster_utils import Cluster

        small = {"num_cpus": 1, "object_store_memory": 80 << 20}
        nodes = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
        try:
            for _ in range(2):
                nodes.add_node(**small)
            ray.init(nodes.address, log_to_driver=False)
            yield nodes
        finally:
            ray.shutdown()
            nodes.shutdown()


@pytest.fixture(scope="module")
def contexts(sample, tmp_path_factory):
    """What the local path finds for the sample's posts."""
    folder = tmp_path_factory.mktemp("contexts")
    run("retrieve", sample.posts, "--news", sample.news, "-o", folder / "best.jsonl")
    run("retrieve", sample.posts, "--news", sample.news, "--preset", "paper", "--reference",
        sample.reference, "-o", folder / "paper.jsonl")  # fmt: skip
    return {preset: (folder / f"{preset}.jsonl").read_bytes() for preset in ("best", "paper")}


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:99999", "nonsense", "auto"])
def test_a_wrong_address_is_one_line(address, tmp_path):
    # In a process of its own: here a cluster may be up.
    code = "import sys; from hashnews.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "retrieve", tmp_path, "--news", "x", "-o", "y",
               "--engine", "ray", "--address", address]  # fmt: skip
    environment = {**os.environ, "RAY_ADDRESS": "", "RAY_TMPDIR": str(tmp_path)}
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 1, done.stderr
    said = done.stderr.strip().splitlines()[-1]
    assert f"no Ray cluster at {address}: " in said
    assert "Traceback" not in done.stderr
    assert time.monotonic() - began < 240  # Ray alone tries for longer


def test_there_are_three_nodes(cluster):
    assert _alive() == 3


def test_prepare(cluster, sample, tmp_path):
    told = run("prepare", sample.raw, "-o", tmp_path / "one.jsonl", "--split", "chronological")
    by_day = run("prepare", sample.raw_days, "-o", tmp_path / "days", "--split", "chronological",
                 "--engine", "ray")  # fmt: skip
    assert joined(tmp_path / "days") == (tmp_path / "one.jsonl").read_bytes()
    assert by_day == told
    stats = [(tmp_path / f"{name}.stats.json").read_text() for name in ("one", "days")]
    assert stats[0] == stats[1]


def test_news_and_contexts(cluster, sample, contexts, tmp_path):
    days, found, index = (tmp_path / name for name in ("news.parquet", "found", "index"))
    run("news", "export", "--news", sample.news, "-o", days)
    run("news", "find", days, "-o", found, "--engine", "ray")
    built = json.loads(run("news", "index", found, "-o", index, "--engine", "ray", "--json"))
    retrieve = ("retrieve", sample.posts_days, "--engine", "ray", "--json", "--news")
    best, paper = tmp_path / "best", tmp_path / "paper"
    first = json.loads(run(*retrieve, index, "-o", best))
    run(*retrieve, sample.news, "-o", paper, "--preset", "paper", "--reference", sample.reference)
    assert built["articles"] > 200
    assert joined(best) == contexts["best"]
    assert joined(paper) == contexts["paper"]
    again = json.loads(run(*retrieve, index, "-o", best))
    assert (first["days_skipped"], again["days_skipped"]) == (0, first["days"])


def test_a_worker_opens_an_index_once(cluster, sample, tmp_path):
    posts, index = tmp_path / "posts", tmp_path / "index"
    cut_days([str(sample.posts)], posts, lines_a_file=2)
    run("news", "export", "--news", sample.news, "-o", tmp_path / "news.parquet")
    opened: dict[int, set[int]] = {}

    def watch(files):
        for done in files:
            opened.setdefault(done.worker.pid, set()).add(done.worker.opened)
            yield done

    with on_ray() as engine:
        index_days(tmp_path / "news.parquet", index, engine)
        source = RetrieverSource(index, None, Settings(), AllWordsConfig())
        done = retrieve_days(source, posts, tmp_path / "contexts", engine, watch)
    assert done.files > 3 * len(opened)
    assert all(len(counts) == 1 for counts in opened.values())
    assert os.getpid() not in opened


def test_suggestions(cluster, sample, tmp_path):
    local = run(
        "suggest", "-", "--news", sample.news, "--json", input=sample.raw.read_text("utf-8")
    )
    run(
        "suggest", sample.raw_days, "--news", sample.news, "-o", tmp_path / "out", "--engine", "ray"
    )
    mine = [json.loads(line) for line in joined(tmp_path / "out").splitlines()]
    theirs = [json.loads(line) | {"timings_ms": {}} for line in local.splitlines()]
    assert mine == theirs


def test_an_error_on_the_cluster_is_one_line(cluster, sample, tmp_path):
    posts = tmp_path / "posts"
    cut_days([str(sample.posts)], posts)
    broken = min(posts.glob("day=*/*"))
    broken.write_text("no post\n")
    source = RetrieverSource(sample.news, None, Settings(), AllWordsConfig())
    with (
        on_ray() as engine,
        pytest.raises(ClusterError, match=rf"^{broken}:1: "),
    ):
        retrieve_days(source, posts, tmp_path / "contexts", engine)


class Unknown:
    """A job that only this process can read, as where HashNews is missing on a node."""

    def __reduce__(self):
        return __import__, ("a_module_of_no_node",)

    def __str__(self):
        return "day=2020-06-02"


@pytest.mark.parametrize(
    ("work", "job", "version", "message"),
    [
        (os.listdir, "/nowhere/posts", None, r"^/nowhere/posts: .*No such file .*the same folders"),
        (abs, Unknown(), None, r"^day=2020-06-02: a node cannot begin it .*a_module_of_no_node"),
        (abs, 1, "0.0.1", r"has HashNews .*, not 0\.0\.1: install the same"),
    ],
)
def test_what_is_wrong_with_a_node_is_one_line(cluster, monkeypatch, work, job, version, message):
    if version:
        monkeypatch.setattr("hashnews.scale.engine.__version__", version)
    with on_ray() as engine, pytest.raises(ClusterError, match=message) as told:
        list(engine(work, [job]))
    assert "\n" not in str(told.value)


def test_a_bug_on_the_cluster_keeps_its_traceback(cluster):
    with on_ray() as engine, pytest.raises(Exception, match="in _told") as told:
        list(engine(int, ["no number"]))
    assert not isinstance(told.value, ClusterError)


def test_a_node_is_killed_in_mid_run(cluster, sample, contexts, tmp_path):
    posts, index = tmp_path / "posts", sample.folder / "news.db.index"
    lines = sample.posts.read_text("utf-8").splitlines()
    (tmp_path / "many.jsonl").write_text("".join(
        line.replace('{"id":"', f'{{"id":"{copy}-', 1) + "\n"
        for line in lines for copy in range(COPIES)
    ), encoding="utf-8")  # fmt: skip
    cut_days([str(tmp_path / "many.jsonl")], posts, lines_a_file=1000)
    killed: list[int] = []
    killer = threading.Thread(target=_kill_at_work, args=(cluster, killed), daemon=True)
    with on_ray() as engine:
        killer.start()
        source = RetrieverSource(index, None, Settings(), AllWordsConfig())
        retrieve_days(source, posts, tmp_path / "contexts", engine)
    assert len(killed) == 1
    until = time.monotonic() + 240
    while _alive() != 2:
        assert time.monotonic() < until
        time.sleep(0.2)
    run("retrieve", tmp_path / "many.jsonl", "--news", sample.news, "-o", tmp_path / "c.jsonl")
    assert joined(tmp_path / "contexts") == (tmp_path / "c.jsonl").read_bytes()


def _alive() -> int:
    import ray

    return len({node["NodeID"] for node in ray.nodes() if node["Alive"]})


def _kill_at_work(cluster, killed: list[int]) -> None:
    """Kill a node, not the head, as soon as a process of it is at work on a file of ours."""
    while True:
        for node in list(cluster.worker_nodes):
            (raylet,) = node.all_processes["raylet"]
            pid = raylet.process.pid
            for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                with suppress(OSError):  # it may just have ended
                    if "ray::_told" in Path(f"/proc/{child}/cmdline").read_text():
                        os.kill(pid, signal.SIGKILL)
                        killed.append(pid)
                        return
        time.sleep(0.005)
