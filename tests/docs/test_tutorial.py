"""The first ten minutes, walked through as a new user would, by a real shell."""

import os
import subprocess
import sys
import threading
from http.server import ThreadingHTTPServer

import pytest
from pages import ROOT, commands

sys.path.insert(0, str(ROOT / "packaging"))
import first_minutes

SITE = "https://www.nasa.gov"  # in the tutorial; here a site of this machine takes its place


@pytest.fixture
def site():
    server = ThreadingHTTPServer(("127.0.0.1", 0), first_minutes._Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def shell(tmp_path):
    """Run a line in a clean folder with an empty home, where `hashnews` is a command."""
    folder, programs = tmp_path / "hashtags", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    program = programs / "hashnews"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hashnews "$@"\n')
    program.chmod(0o755)
    (folder / "archive.zip").write_bytes(first_minutes.archive())
    (folder / "drafts.txt").write_text("Sourdough for breakfast\nRain again\n")
    environment = os.environ | {
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PATH": f"{programs}:{os.environ['PATH']}",
    }

    def run(line):
        done = subprocess.run(
            ["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True,
            encoding="utf-8",
        )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    return run


def test_the_tutorial(shell, site):
    said = {}
    for command in commands(ROOT / "docs" / "tutorial.md"):
        line = command.line.replace(SITE, f"{site} --allow-private")
        if line.startswith("hashnews news fetch"):
            line += " --allow-private"
        said[command.line] = shell(line)
    told = {name: text for line, text in said.items() for name in [" ".join(line.split()[1:3])]}
    assert f"{len(first_minutes.NEWS)} articles" in told["news stats"]
    assert f"{len(first_minutes.ARCHIVE)} added" in told["posts add"]
    own = next(text for line, text in said.items() if "sourdough starter before" in line)
    assert "#SourdoughClub" in own
    ready = next(text for line, text in said.items() if "--for mastodon" in line)
    assert "\n\nWatching the launch tonight" in ready
    drafts = next(text for line, text in said.items() if "drafts.txt" in line)
    blocks = drafts.strip().split("\n\n")
    assert [block.splitlines()[0] for block in blocks] == ["Sourdough for breakfast", "Rain again"]


def test_the_first_ten_minutes():
    done = subprocess.run(
        [sys.executable, ROOT / "packaging" / "first_minutes.py", "--with", sys.executable],
        capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    page = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
    for line in done.stdout.splitlines():
        if line.startswith("| ") and "hashnews " in line:
            step = line.split(" | ")[1]
            assert step.partition(",")[0].replace("hashnews demo", "make demo") in page, step
