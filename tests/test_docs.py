"""Docs that fail when they are wrong. What they run and count is in tests/docs."""

import ast
import doctest
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import FrameType

import pytest
from click.testing import CliRunner

import hashnews
from hashnews.cli import main
from hashnews.records import Answer, Article, Post, PreparedPost, Reason, Suggestion

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SOURCE = ROOT / "src" / "hashnews"

of_each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) < 150


def test_decisions_are_half_a_page():
    for page in ROOT.glob("docs/decisions/*.md"):
        assert len(page.read_text("utf-8").splitlines()) <= 30, page.name


@of_each_page
def test_lines_fit(page):
    if page.name != "cli.md":
        lines = enumerate(page.read_text("utf-8").splitlines(), 1)
        assert [number for number, line in lines if len(line) > 100] == []


def anchors(page: Path) -> set[str]:
    """What a link to a heading of the page may say, as GitHub makes it."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@of_each_page
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(
        r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", page.read_text("utf-8")
    ):
        led = page.parent / target if target else page
        assert led.exists(), target
        assert not anchor or anchor in anchors(led), f"{target}#{anchor}"


def test_every_page_is_linked():
    linked = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8"))
    }
    assert [page.name for page in PAGES if page not in linked and page.name != "README.md"] == []


@of_each_page
def test_python_sessions_are_true(page):
    failed, _ = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert failed == 0


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
    for record in (Post, Article, PreparedPost, Answer, Suggestion, Reason):
        for field in record.model_fields:
            assert f"`{field}`" in page, f"{record.__name__}.{field}"


def test_what_the_api_lists_is_there():
    listed = 0
    for part in (ROOT / "docs" / "python.md").read_text("utf-8").split("\n::: ")[1:]:
        name, members = part.split("\n")[0], re.search(r"members: \[(.*)\]", part)
        thing = pkgutil.resolve_name(name)
        for member in members[1].split(", ") if members else ():
            assert hasattr(thing, member), f"{name}.{member}"
            listed += 1
    assert listed > 8


def touched(arguments: list[str]) -> set[str]:
    """Modules of which a function is called while a command runs."""
    calls = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            calls.add(frame.f_code.co_filename)

    assert CliRunner().invoke(main, arguments).exit_code == 0  # imports everything
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        CliRunner().invoke(main, arguments)
    finally:
        sys.setprofile(before)
    home = Path(hashnews.__file__).parent
    return {str(Path(file).relative_to(home)) for file in calls if Path(file).is_relative_to(home)}


def test_the_walk_names_every_module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    page = (ROOT / "docs" / "how-it-works.md").read_text("utf-8").partition("## The sources")[0]
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", page))
    post = [
        "suggest",
        "Marching for George Floyd",
        "--at",
        "2020-05-29T20:00:00Z",
        "--user",
        "reader01",
    ]
    walked = {module for module in touched(post) if f"{Path(module).parent}/" not in named}
    assert walked - named == set()


def names_of(module: Path) -> set[str]:
    """Functions and classes that a module defines."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {
        node.name for node in ast.parse(module.read_text("utf-8")).body if isinstance(node, kinds)
    }


def test_what_how_it_works_names_is_there():
    """`name` in `module`; in tables whose head says `all in` the module stands there."""
    page = (ROOT / "docs" / "how-it-works.md").read_text("utf-8")
    named = 0
    for part in re.split(r"\n\n", page):
        head = re.search(r"all in `([\w/]+\.py)`", part)
        for line in part.splitlines():
            modules = re.findall(r"`([\w/]+\.py)`", line)
            module = modules[0] if modules else (head[1] if head else None)
            assert all((SOURCE / path).exists() for path in modules), line
            cells = line.split(" | ")
            if module is None or not line.startswith("|"):
                continue
            for name in re.findall(r"`(\w+)`", " ".join(cells[1:])):
                assert name in names_of(SOURCE / module), f"{name} is not in {module}"
                named += 1
    assert named > 40
