"""Thirty natural mistakes on the command line: each is one clear line that says what to do."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from hashnews.cli import main

USAGE, OURS = 2, 1  # exit codes: wrong usage, and what is wrong with files, stores and addresses
MISTAKES = [
    # what was typed, the exit code, what the one line says
    ("sugest hello", USAGE, "did you mean `hashnews suggest`?"),
    ("news ad x.jsonl", USAGE, "did you mean `hashnews news add`?"),
    ("feeds lst", USAGE, "did you mean `hashnews feeds list`?"),
    ("my sourdough died", USAGE, 'hashnews suggest "my sourdough died"'),
    ("frobnicate", USAGE, "`hashnews --help` lists them"),
    ("help", USAGE, "did you mean `hashnews --help`?"),
    ("version", USAGE, "did you mean `hashnews --version`?"),
    ("feeds help", USAGE, "did you mean `hashnews feeds --help`?"),
    ("demo -n 0", USAGE, "0 is not in the range x>=1"),
    ("suggest", USAGE, 'hashnews suggest "my sourdough died"'),
    ("suggest --user me", USAGE, 'hashnews suggest "my sourdough died"'),
    ("suggest ''", OURS, "the text is empty: write what the post says"),
    ("suggest posts.jsonl", OURS, "posts.jsonl: there is no such file of posts"),
    ("suggest notes.txt", OURS, "hashnews suggest - < notes.txt"),
    ("suggest absent.txt", OURS, "absent.txt: there is no such file of posts"),
    ("suggest folder", OURS, "this is a folder: name a file of posts"),
    ("suggest broken.jsonl", OURS, "broken.jsonl:1: not valid JSON"),
    ("suggest hello --at yesterday", USAGE, "write 2026-11-16"),
    ("suggest hello --at 16.11.2026", USAGE, "write 2026-11-16"),
    ("suggest hello --at '2026-13-45 10:00'", USAGE, "write 2026-11-16"),
    ("suggest hello -n 0", USAGE, "0 is not in the range 1<=x<=50"),
    ("suggest hello -n five", USAGE, "'five' is not a whole number"),
    ("suggest hello --min-score 50", USAGE, "is not in the range 0<=x<=1"),
    ("suggest hello --for twitter", USAGE, "'mastodon', 'bluesky', 'x'"),
    ("suggest hello --for x --json", USAGE, "leave out -o and --json"),
    ("suggest hello --newz news.db", USAGE, "--news"),
    ("suggest hello --news absent.db", OURS, "make one: hashnews news add FILE --news absent.db"),
    ("suggest hello --news notes.txt", OURS, "is not a news store"),
    ("suggest hello --news folder", OURS, "folder"),
    ("suggest hello --model absent", OURS, "there is no such directory"),
    ("news add", USAGE, "Missing argument 'FILES...'"),
    ("news add absent.jsonl", OURS, "absent.jsonl: there is no such file"),
    ("news add https://www.nasa.gov", OURS, "hashnews feeds add takes sites"),
    ("news add notes.txt", OURS, "its name should end in one of .jsonl"),
    ("news add other.csv", OURS, "text: is missing; published_at: is missing"),
    ("news fetch", OURS, "run hashnews feeds add SITE"),
    ("news fetch --every 15", USAGE, "write 90s, 15m, 2h or 1d"),
    ("news search", USAGE, "Missing argument 'WORDS...'"),
    ("news export -o news.doc", USAGE, "should end in .jsonl, .jsonl.gz or .parquet"),
    ("posts add absent.zip", OURS, "absent.zip: there is no such file"),
    ("posts add https://mastodon.social/@ann", OURS, "posts follow networks"),
    ("posts add notes.txt", OURS, "notes.txt"),
    ("posts add undated.jsonl", OURS, "has no created_at: add it, or --on-error skip"),
    ("posts follow mastodon.social", OURS, "mastodon://"),
    ("feeds remove nothing", OURS, "nothing"),
    ("train generator -o model", USAGE, "Missing option '-c'"),
    ("train best -o model", USAGE, "name --posts and --news, or a file of settings with -c"),
    ("retrieve posts.jsonl", USAGE, "say where the contexts go: -o FILE"),
    ("evaluate absent.jsonl --posts absent.jsonl", OURS, "absent.jsonl"),
    ("serve --fetch", OURS, "run hashnews feeds add SITE"),
    ("serve --port 99999", USAGE, "99999 is not in the range 0<=x<=65535"),
    ("serve --key-file absent", OURS, "absent: there is no such file: put a key into it"),
    ("entities hello --finder spacy", USAGE, "'fast', 'tagger'"),
]

DATED = '{"text": "Rain. #a", "created_at": "2026-11-16T10:00:00Z"}\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("hello\n")
    (tmp_path / "broken.jsonl").write_text("nonsense\n")
    (tmp_path / "undated.jsonl").write_text('{"text": "Rain. #a"}\n')
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_thirty():
    assert len({typed for typed, _, _ in MISTAKES}) >= 30


@pytest.mark.parametrize(
    ("typed", "code", "said"), MISTAKES, ids=[typed for typed, _, _ in MISTAKES]
)
def test_a_mistake_is_one_clear_line(folder, typed, code, said):
    before = {path.name for path in folder.iterdir()}
    done = CliRunner().invoke(main, typed, prog_name="hashnews")
    assert done.exit_code == code, done.output
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert done.stderr.splitlines()[-1] == line
    assert said in line
    assert line.count("--help") <= 1
    assert "Traceback" not in done.output
    if code == USAGE:  # nothing was begun
        assert {path.name for path in folder.iterdir()} == before


def test_where_there_is_nothing_it_says_what_to_do(folder):
    told = (
        CliRunner().invoke(main, "trends").stderr
    )  # of the sample, where nothing rises at its end
    hint = told.split("try ")[1]
    assert "minneapolis" in CliRunner().invoke(main, f"trends {hint}").stdout
    done = CliRunner().invoke(main, ["posts", "add", "-"], input=DATED)
    assert done.exit_code == 0, done.output
    for command in ("news stats", "doctor"):  # the store has a post and no news
        assert "run hashnews feeds add SITE" in CliRunner().invoke(main, command).output


@pytest.mark.parametrize("group", [[], ["news"], ["posts"], ["feeds"], ["train"]])
def test_a_group_alone_shows_its_help(group):
    done = subprocess.run(
        [sys.executable, "-m", "hashnews", *group], capture_output=True, text=True, encoding="utf-8"
    )
    assert "Commands:\n" in done.stdout + done.stderr
    assert "\\n" not in done.stdout + done.stderr
