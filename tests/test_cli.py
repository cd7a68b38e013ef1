"""The command line as a user meets it: real processes where it matters."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from hashnews.cli import main
from hashnews.files import RecordFile
from hashnews.records import PreparedPost
from hashnews.sample import sample_file


def run(*arguments, input=None):
    return CliRunner().invoke(main, [str(a) for a in arguments], input=input)


def hashnews(*arguments, input=None):
    command = [sys.executable, "-m", "hashnews", *map(str, arguments)]
    return subprocess.run(command, input=input, capture_output=True, text=True, encoding="utf-8")


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from hashnews.cli import main; main(['--help'], standalone_mode=False);"
        "heavy = {'numpy', 'pydantic', 'ftfy', 'rich', 'torch', 'onnxruntime', 'fastapi', 'ray'};"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "prepare" in done.stdout


def test_a_list_in_a_help_keeps_its_lines():
    shown = run("posts", "follow", "--help").output
    assert "\n  mastodon://HOST/tags/NAME        a hashtag\n  mastodon://HOST/public" in shown


def test_the_demo():
    done = hashnews("demo")
    assert done.returncode == 0
    parts = ("  used ", "  suggested #", "  because ", "is among the first 5", "What next")
    for part in parts:
        assert part in done.stdout
    told = [line for line in done.stderr.splitlines() if not line.startswith("compiling ")]
    assert told == ["Reading the sample."]


def test_segment():
    assert run("segment", "blacklivesmatter", "#COVID19").output == (
        "blacklivesmatter\tblack lives matter\n#COVID19\tcovid 19\n"
    )
    assert (
        run("segment", "-", input="metoo\nDCStatehood\n").output
        == "metoo\tme too\nDCStatehood\tdc statehood\n"
    )


def test_entities():
    assert run("entities", "Then Joe Biden came to Ohio.").output == "Joe Biden\tOhio\n"
    done = run("entities", "-", "--json", input="Then Joe Biden came.\n\nnobody\n")
    lines = [json.loads(line) for line in done.output.splitlines()]
    assert lines[0] == {
        "text": "Then Joe Biden came.",
        "entities": [{"text": "Joe Biden", "start": 5, "end": 14, "kind": "name"}],
    }
    assert [line["entities"] for line in lines[1:]] == [[], []]


@pytest.mark.extra("plots")
def test_prepare(tmp_path):
    out = tmp_path / "posts.jsonl"
    with sample_file("posts.jsonl") as raw:
        done = run(
            "prepare", raw, "-o", out, "--split", "chronological", "--plot", tmp_path / "f.png"
        )
    assert done.exit_code == 0, done.output
    assert "dropped: 1 × retweet" in done.output
    posts = list(RecordFile(out, PreparedPost))
    assert len(posts) >= 80
    assert {post.split for post in posts} == {"train", "validation", "test"}
    stats = json.loads((tmp_path / "posts.stats.json").read_text())
    assert stats["table"]["posts"] == len(posts)
    assert {path.name for path in tmp_path.iterdir()} == {
        "posts.jsonl",
        "posts.stats.json",
        "f.png",
    }


def test_prepare_to_standard_output():
    with sample_file("posts.jsonl") as raw:
        done = hashnews("prepare", raw, "-o", "-", "--json")
    posts = [PreparedPost.model_validate_json(line) for line in done.stdout.splitlines()]
    assert json.loads(done.stderr)["table"]["posts"] == len(posts)


def test_prepare_sets_bad_lines_aside(tmp_path):
    raw = tmp_path / "raw.jsonl"
    raw.write_text('{"text":"Rain. #a"}\nnonsense\n{"text":"Sun. #b"}\n')
    done = hashnews("prepare", raw, "-o", tmp_path / "out.jsonl")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: {raw}:2: not valid JSON")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out.jsonl").exists()
    done = hashnews("prepare", raw, "-o", tmp_path / "out.jsonl", "--on-error", "skip")
    assert done.returncode == 0
    assert "1 lines could not be read" in done.stderr
    assert json.loads((tmp_path / "out.skipped.jsonl").read_text())["line"] == 2
    assert len(list(RecordFile(tmp_path / "out.jsonl", PreparedPost))) == 2


def test_one_collection(tmp_path):
    raw = tmp_path / "raw.jsonl"
    raw.write_text('{"text":"Rain. #a","collection":"x"}\n{"text":"Sun. #b","collection":"y"}\n')
    run("prepare", raw, "-o", tmp_path / "out.jsonl", "--collection", "y")
    assert [post.body for post in RecordFile(tmp_path / "out.jsonl", PreparedPost)] == ["Sun."]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["prepare"], 2),
        (["prepare", "absent.jsonl", "-o", "-"], 1),
        (["prepare", "posts.docx", "-o", "-"], 1),
        (["nonsense"], 2),
        (["segment"], 2),
        (["entities", "x", "--finder", "other"], 2),
    ],
)
def test_mistakes_are_one_clear_line(arguments, code):
    done = hashnews(*arguments)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("Error: ")


def test_debug_shows_where():
    assert "Traceback" in hashnews("--debug", "prepare", "absent.jsonl", "-o", "-").stderr


def test_a_reader_that_goes_away():
    command = f"{sys.executable} -m hashnews segment " + "tag " * 5000 + "| head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
