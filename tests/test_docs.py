"""Docs that fail when they are wrong."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from hashnews.cli import main
from hashnews.records import Article, Post, PreparedPost

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) < 150


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_sessions_are_true(page):
    failed, _ = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_shell_sessions_are_true(page):
    for block in re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        for command, output in re.findall(r"^\$ hashnews (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            assert CliRunner().invoke(main, shlex.split(command)).output == output


def test_the_command_reference_is_true():
    # In a process of its own: click remembers help options of commands that tests ran alone.
    code = "import cli_reference; print(cli_reference.reference(), end='')"
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "tools", capture_output=True, text=True, check=True
    )
    written = (ROOT / "docs" / "cli.md").read_text("utf-8")
    assert written == shown.stdout, "run: python tools/cli_reference.py"


def test_every_field_is_documented():
    page = (ROOT / "docs" / "data.md").read_text("utf-8")
    for record in (Post, Article, PreparedPost):
        for field in record.model_fields:
            assert f"`{field}`" in page, f"{record.__name__}.{field}"
