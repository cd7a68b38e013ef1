"""Every command in README and docs runs, on the shipped sample and in a folder of its own."""

import json
import shlex
import shutil
from glob import glob

import pytest
from click.testing import CliRunner
from pages import PAGES, ROOT, blocks, commands, name_of

from hashnews.cli import main

SAMPLE = ROOT / "src" / "hashnews" / "sample"
# What takes hours on real posts takes a moment with these.
TINY = {
    ("train", "generator"): [
        "epochs=4", "rate=0.05", "source_least=1", "model.embedding=8", "model.hidden=8",
        "model.layers=1", "model.beam=10",
    ],
    ("train", "best"): ["ranker.smallest=5", "ranker.rounds=5", "ranker.seeds=1"],
}  # fmt: skip
ELSEWHERE = {"docs/tutorial.md"}  # test_tutorial.py walks through it
SLOW = {"docs/train.md"}  # it trains


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the sample, as the pages name its files, and the settings."""
    shutil.copy(SAMPLE / "news.jsonl", tmp_path / "news.jsonl")
    shutil.copy(SAMPLE / "posts.jsonl", tmp_path / "raw.jsonl")
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    (tmp_path / "src").symlink_to(ROOT / "src")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command):
    """Run a line; a shell would expand its stars."""
    program, *words = shlex.split(command.line, comments=True)
    assert program == "hashnews", f"say that it is not run in the tests, or why not: {command.line}"
    arguments = [found for word in words for found in (sorted(glob(word)) or [word])]
    for setting in TINY.get(tuple(arguments[:2]), []):
        arguments += ["--set", setting]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, f"{command.line}\n{done.output}\n{done.exception!r}"
    if command.output is not None:
        assert done.output == command.output


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page, id=name_of(page), marks=pytest.mark.slow if name_of(page) in SLOW else ()
        )
        for page in PAGES
        if commands(page) and name_of(page) not in ELSEWHERE
    ],
)
def test_the_commands_of_a_page_run(page, folder):
    if name_of(page) in SLOW:
        for extra in ("torch", "onnxscript", "lightgbm"):
            pytest.importorskip(extra, reason=f"{extra} is not installed")
    if "parquet" in page.read_text("utf-8"):
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    for command in commands(page):
        run(command)
    if name_of(page) == "docs/train.md":
        check_the_chain(folder)


def lines_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def check_the_chain(folder):
    """What the steps leave: each file is what the next command read."""
    posts = lines_of(folder / "data" / "posts.jsonl")
    told = lines_of(folder / "suggestions.jsonl")
    assert [answer["post_id"] for answer in told] == [post["id"] for post in posts]
    assert any(answer["suggestions"] for answer in told)
    scores = json.loads((folder / "scores.json").read_text())
    assert scores["posts"] == sum(post["split"] == "test" for post in posts)
    assert 0 <= scores["scores"]["F1@5"] <= 1


def test_readme_shows_what_the_demo_prints(folder):
    shown = blocks(ROOT / "README.md", "")[0].splitlines()
    printed = CliRunner().invoke(main, ["demo"]).stdout.splitlines()
    for line in shown:
        start = line.removesuffix("...")
        assert any(one.startswith(start) for one in printed), line


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_blocks_are_python(page):
    for block in blocks(page, "python"):
        compile(block, name_of(page), "exec")
