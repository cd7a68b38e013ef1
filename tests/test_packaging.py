"""What is shipped beside the code: metadata, container files, the unit, and other systems."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hashnews

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "packaging"))
import chroot  # noqa: E402

# A system without them: neither may be imported, and nobody has a number.
ELSEWHERE = """
import asyncio, multiprocessing, os, subprocess, sys  # which look for Windows themselves
for missing in ("fcntl", "resource"):
    sys.modules[missing] = None
del os.getuid
import types
windows = types.ModuleType("msvcrt")
windows.LK_NBLCK, windows.LK_UNLCK = 1, 0
windows.locking = lambda file, kind, size: None
sys.modules["msvcrt"] = windows
from hashnews.cli import main
main()
"""


def test_one_version():
    version = hashnews.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"image: hashnews:{version}\n" in (ROOT / "compose.yaml").read_text("utf-8")
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_readme_of_the_package_has_absolute_links():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    text = (ROOT / "README.md").read_text("utf-8")
    for rule in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    assert re.findall(r"\]\((?!https?://)[^)]*\)", text) == []


def test_the_unit_is_the_one_of_the_docs():
    unit = (ROOT / "packaging" / "hashnews.service").read_text("utf-8")
    assert f"```ini\n{unit}```" in (ROOT / "docs" / "serve.md").read_text("utf-8")


def test_the_dockerfile():
    steps = chroot.steps(ROOT / "Dockerfile")
    said = dict(steps)  # the last of each kind
    users = [rest for name, rest in steps if name == "USER"]
    assert users == ["hashnews"]
    after = [name for name, _ in steps[steps.index(("USER", "hashnews")) :]]
    assert "RUN" in after  # the suggestion is tried as that user
    assert json.loads(said["ENTRYPOINT"]) == ["hashnews"]
    assert json.loads(said["CMD"])[0] == "serve"
    assert "/health" in said["HEALTHCHECK"]
    kept = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] == "!"
    }
    copied = {
        word
        for name, rest in steps
        if name == "COPY" and "--from" not in rest
        for word in rest.split()[:-1]
    }
    assert copied == kept
    assert all((ROOT / name).exists() for name in copied)


def test_compose_takes_the_rights_away():
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
    composed = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    service = composed["services"]["hashnews"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["volumes"] == ["data:/data"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_it_starts_where_there_is_no_unix(tmp_path):
    for arguments in (
        ["news", "add", str(ROOT / "src/hashnews/sample/news.jsonl")],
        ["suggest", "Marching", "for", "George", "Floyd", "--at", "2020-05-29T20:00:00Z"],
        ["doctor"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", ELSEWHERE, *arguments],
            cwd=tmp_path, capture_output=True, text=True, encoding="utf-8",
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    assert "WRONG" not in done.stdout
