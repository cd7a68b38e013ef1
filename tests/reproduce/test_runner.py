"""Steps: done once, begun again where something changed, never two at once."""

import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from hashnews.errors import DataError
from hashnews.reproduce.runner import Step, run_steps


def write(folder, *, text, counter):
    with counter.open("a") as stream:
        stream.write(folder.stem + " ")
    (folder / "out.txt").write_text(text)


def fail(folder, *, how):
    if how == "ours":
        raise DataError("nothing there", "posts.jsonl", 3)
    if how == "bug":
        raise ZeroDivisionError("by zero")
    os._exit(7)


def part_by_part(folder, *, parts):
    """Goes on where it stopped; stops for good after two parts in one life."""
    done = folder / "parts.txt"
    have = len(done.read_text()) if done.exists() else 0
    for number in range(have, parts):
        if number == have + 2:
            os._exit(9)
        with done.open("a") as stream:
            stream.write(str(number))


def wait_for_ever(folder):
    (folder / "pid").write_text(str(os.getpid()))
    time.sleep(600)


class World:
    """Two steps, the second after the first, and a count of how often each ran."""

    def __init__(self, tmp_path):
        self.work = tmp_path / "work"
        self.input = tmp_path / "input.txt"
        self.input.write_text("one")
        self.counter = tmp_path / "ran"

    def steps(self, text="a", **second):
        run = partial(write, text=text, counter=self.counter)
        one = Step.new(self.work / "one", run, {"text": text}, [self.input])
        return [one, Step.new(self.work / "two", run, {"n": 1} | second, (), [one])]

    def output(self, **changes):
        return [(step.folder / "out.txt").read_text() for step in self.steps(**changes)]

    def run(self, **changes):
        before = self.counter.read_text() if self.counter.exists() else ""
        outcome = run_steps(self.steps(**changes))
        assert outcome.failed == {}
        ran = self.counter.read_text() if self.counter.exists() else ""
        return ran[len(before) :].split()


@pytest.fixture
def steps(tmp_path):
    return World(tmp_path)


def test_only_what_changed_runs(steps):
    assert steps.run() == ["one", "two"]
    assert steps.run() == []
    assert steps.run(n=2) == ["two"]
    assert steps.run(n=2, text="b") == ["one", "two"]
    assert steps.output(n=2, text="b") == ["b", "b"]
    assert steps.output() == ["a", "a"]  # other settings have their own place
    assert steps.run() == []
    steps.input.write_text("other")
    assert steps.run(n=2, text="b") == ["one", "two"]
    os.utime(steps.input, (1, 1))  # the same bytes
    assert steps.run(n=2, text="b") == []


def test_another_version_of_the_code(steps, monkeypatch):
    steps.run()
    monkeypatch.setattr("hashnews.reproduce.runner.__version__", "99")
    assert steps.run() == ["one", "two"]


def test_errors_are_told_and_the_rest_goes_on(steps):
    def broken(name, how):
        return Step.new(steps.work / name, partial(fail, how=how), {})

    bug = broken("b", "bug")
    after = Step.new(steps.work / "after", partial(fail, how="ours"), {}, (), [bug])
    all_steps = [broken("a", "ours"), bug, broken("c", "exit"), after]
    said = []
    outcome = run_steps([*all_steps, *steps.steps()], jobs=2, say=said.append)
    told = {folder.stem: problem for folder, problem in outcome.failed.items()}
    assert told["a"] == "posts.jsonl:3: nothing there"
    assert told["b"].startswith("ZeroDivisionError: by zero")
    assert "ended with 7" in told["c"]
    assert told["after"] == "a step before it failed"
    assert {folder.stem for folder in outcome.seconds} == {"one", "two"}
    assert "Traceback" in (bug.folder / "log.txt").read_text()
    assert any("two: done" in line for line in said)


def test_a_broken_off_step_goes_on_in_its_folder(steps):
    step = Step.new(steps.work / "parts", partial(part_by_part, parts=5), {})
    for ended in ("ended with 9", "ended with 9"):
        assert ended in run_steps([step]).failed[step.folder]
    assert run_steps([step]).failed == {}
    assert (step.folder / "parts.txt").read_text() == "01234"
    changed = Step.new(steps.work / "parts", step.run, {"x": 1})
    run_steps([changed])
    assert (changed.folder / "parts.txt").read_text() == "01"
    assert (step.folder / "parts.txt").read_text() == "01234"


def test_a_step_whose_step_before_is_left_out_does_not_wait_for_ever(steps):
    _, second = steps.steps()
    outcome = run_steps([second])
    assert outcome.failed == {second.folder: "lacks a step before it"}
    assert outcome.seconds == {}


def test_a_missing_input(steps):
    steps.input.unlink()
    with pytest.raises(DataError, match=r"input\.txt: cannot be read"):
        steps.steps()


def test_children_end_with_a_killed_parent(tmp_path):
    code = (
        "from hashnews.reproduce.runner import Step, run_steps; from test_runner import *;"
        "from pathlib import Path; import sys;"
        "run_steps([Step('w', Path(sys.argv[1]) / 'w', wait_for_ever, {})])"
    )
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])
    }
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], env=environment)
    pid = tmp_path / "w" / "pid"
    until = time.monotonic() + 60
    while not (pid.exists() and pid.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    child = int(pid.read_text())
    parent.kill()
    parent.wait()
    until = time.monotonic() + 30
    while _alive(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _alive(child)
    assert json.loads((tmp_path / "w" / "step.json").read_text())["done"] is False


def _alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
