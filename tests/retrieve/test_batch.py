"""`hashnews retrieve` over files: the same with workers, after a kill, and explained."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from hashnews.cli import main
from hashnews.index.day import Settings
from hashnews.news.store import NewsStore
from hashnews.retrieve.all_words import AllWordsConfig
from hashnews.retrieve.source import RetrieverSource
from hashnews.sample import sample_file


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The sample as a store, a reference corpus and prepared posts."""
    folder = tmp_path_factory.mktemp("sample")
    with sample_file("news.jsonl") as news, sample_file("posts.jsonl") as posts:
        assert run("news", "add", news, "--news", folder / "news.db").exit_code == 0
        assert run("prepare", posts, "-o", folder / "posts.jsonl").exit_code == 0
    drawn = run(
        "news", "reference", "--news", folder / "news.db", "-o", folder / "r.jsonl",
        "--before", "2020-06-08T00:00:00Z", "--size", 100,
    )  # fmt: skip
    assert drawn.exit_code == 0, drawn.output
    return folder


def retrieve(folder, out, *more):
    done = run(
        "retrieve", folder / "posts.jsonl", "--news", folder / "news.db", "--reference",
        folder / "r.jsonl", "--preset", "paper", "-o", out, *more,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return out.read_bytes()


def test_contexts_of_the_sample(sample, tmp_path):
    lines = [json.loads(line) for line in retrieve(sample, tmp_path / "c.jsonl").splitlines()]
    posts = [json.loads(line) for line in (sample / "posts.jsonl").read_text().splitlines()]
    assert [line["post_id"] for line in lines] == [post["id"] for post in posts]
    times = {}
    with sample_file("news.jsonl") as news:
        for line in news.read_text("utf-8").splitlines():
            article = json.loads(line)
            times[article["id"]] = (article["published_at"] + "T23:59:59.999999Z")[:27]
    for post, line in zip(posts, lines, strict=True):
        for article in line["articles"]:
            assert times[article["id"]] < post["created_at"]
        weights = [weight for _, weight in line["context"]]
        assert weights == sorted(weights, reverse=True)
        assert len(weights) <= 100
    assert sum(bool(line["articles"]) for line in lines) > 50


def test_workers_write_the_same(sample, tmp_path):
    one = retrieve(sample, tmp_path / "one.jsonl")
    assert retrieve(sample, tmp_path / "two.jsonl", "--workers", 2) == one
    assert {path.name for path in tmp_path.iterdir()} == {"one.jsonl", "two.jsonl"}


def test_a_killed_run_goes_on(sample, tmp_path):
    whole = retrieve(sample, tmp_path / "whole.jsonl")
    posts = tmp_path / "posts.jsonl"  # enough of them to be killed among
    one = (sample / "posts.jsonl").read_text()
    posts.write_text(one * 300)
    out, part = tmp_path / "c.jsonl", tmp_path / ".c.jsonl.part"
    command = [
        sys.executable, "-m", "hashnews", "retrieve", posts, "--news", sample / "news.db",
        "--reference", sample / "r.jsonl", "--preset", "paper", "-o", out,
    ]  # fmt: skip
    running = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (part.exists() and part.stat().st_size > 1_000_000):
        assert time.monotonic() < deadline
        assert running.poll() is None
        time.sleep(0.005)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert not out.exists()
    kept = part.stat().st_size
    assert subprocess.run(list(map(str, command)), capture_output=True).returncode == 0
    assert out.read_bytes() == whole * 300
    assert kept > 1_000_000
    assert not part.exists()


def test_a_run_with_other_settings_starts_anew(sample, tmp_path):
    out = tmp_path / "c.jsonl"
    (tmp_path / ".c.jsonl.part").write_text('{"contexts of": "another run"}\n{"post_id": "x"}\n')
    assert b'"post_id": "x"' not in retrieve(sample, out)


def test_explaining(sample):
    arguments = (
        "retrieve", sample / "posts.jsonl", "--news", sample / "news.db", "--preset", "paper",
        "--reference", sample / "r.jsonl", "--explain",
    )  # fmt: skip
    told = run(*arguments, "p54").output
    assert "lafayette square" in told
    assert "window 1: " in told
    nested = json.loads(run(*arguments, "p54", "--json").output)
    assert nested["articles"][0]["parts"]
    missing = run(*arguments, "nobody")
    assert missing.exit_code == 1
    assert "there is no post nobody" in missing.output


def test_trends(sample):
    shown = run("trends", "--news", sample / "news.db", "--at", "2020-06-02T20:00:00Z").output
    assert "george floyd" in shown
    found = json.loads(
        run("trends", "--news", sample / "news.db", "--at", "2020-06-02T20:00:00Z", "--json").output
    )
    assert {"entity", "popularity", "counts"} == set(found[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "paper", "-o", "x.jsonl"], "needs --reference"),
        (["--preset", "paper", "--ranking", "bm25"], "-o FILE"),
    ],
)
def test_what_is_missing_is_said(sample, arguments, message):
    done = run("retrieve", sample / "posts.jsonl", "--news", sample / "news.db", *arguments)
    assert done.exit_code in (1, 2)
    assert message in done.output


def test_posts_that_come_in_do_not_make_retrieve_start_over(sample, tmp_path):
    path = shutil.copy(sample / "news.db", tmp_path / "news.db")
    source = RetrieverSource(Path(path), None, Settings(), AllWordsConfig())
    before = source.state()
    assert run("posts", "add", sample / "posts.jsonl", "--news", path).exit_code == 0
    assert source.state() == before
    with NewsStore(path, "write") as store:
        (first,) = store.rows([1])
        store.withdraw([first[-1].id])
    assert source.state() != before
