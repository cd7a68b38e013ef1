"""Every figure in README and docs is that of the file it comes from."""

import sys

import pytest
from pages import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import figures

RESULTS = (
    '{"f1": 0.1234, "runs": [{"model": "a", "seeds": [1.0, 2.0]}], "verdict": "not confirmed"}'
)
TABLE = "## Speed\n\n| what | each | a second |\n|---|---|---|\n| adding | 1.5 | 2,400 |\n"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write a page and its list; returns what is wrong."""
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    monkeypatch.setattr(figures, "LIST", tmp_path / "docs" / "figures.toml")
    figures._lookup.cache_clear()
    (tmp_path / "docs").mkdir()
    (tmp_path / "r.json").write_text(RESULTS)
    (tmp_path / "r.md").write_text(TABLE)
    (tmp_path / "README.md").write_text("# Nothing\n")

    def write(page, sentences="", settings=(), write=False):
        (tmp_path / "docs" / "page.md").write_text(page)
        figures.LIST.write_text(
            '[files]\nr = "r.json"\nt = "r.md"\n[pages."docs/page.md"]\n'
            f"settings = {list(settings)}\nfigures = '''\n{sentences}\n'''\n"
        )
        if write:
            figures.write(figures.read_list())
        return list(figures.problems(figures.read_list()))

    yield write
    figures._lookup.cache_clear()


def test_the_docs_say_what_was_measured():
    assert list(figures.problems(figures.read_list())) == [], "see: python tools/figures.py"


@pytest.mark.parametrize(
    ("said", "slot"),
    [
        ("12.3", "r > f1 | 100 .1f"),
        ("1.50", "r > runs > model=a > seeds | .2f"),
        ("2", "r > runs > 0 > seeds > 1 | .0f"),
        ("not confirmed", "r > verdict | s"),
        ("2,400", "t > Speed > adding > 1 | ,.0f"),
        ("1.5", "t > adding | .1f"),
        ("5", "t > lines | .0f"),
        ("1,600.0", "t > adding > 1 ÷ t > adding | ,.1f"),
        ("−0.5", "r > runs > 0 > seeds > 0 - t > adding | .1f"),
        ("0.0", "t > adding - t > adding | +.1f"),
    ],
)
def test_a_slot_by_hand(written, said, slot):
    assert written(f"It is {said} indeed.\n", f"It is {{{slot}}} indeed.") == []


def test_a_wrong_figure_is_found_and_put_right(written, tmp_path):
    sentences = "F1 is {r > f1 | 100 .1f}, twice that {t > adding | .1f}."
    (wrong,) = written("F1 is 12.4,\ntwice that 1.5.\n", sentences)
    assert "['12.4', '1.5'], the files say ['12.3', '1.5']" in wrong
    assert written("F1 is 12.4,\ntwice that 1.5.\n", sentences, write=True) == []
    assert (tmp_path / "docs" / "page.md").read_text() == "F1 is 12.3,\ntwice that 1.5.\n"


@pytest.mark.parametrize(
    "page",
    ["It has 46.1.", "| a | .231 |", "It takes 30 ms.", "About 9 % of them.", "Of 1,081 posts.",
     "After 5\nminutes.", "A gain of −0.3."],
)  # fmt: skip
def test_a_figure_without_a_source_is_found(written, page):
    (wrong,) = written(page)
    assert "no source" in wrong


@pytest.mark.parametrize(
    "page",
    [
        "In 2020, on day 3 of 4.",
        "`-n 3.5` or\n\n```\n46.1 ms\n```\n",
        "SQLite 3.51.2",
        "[a](b-1.5.md)",
    ],
)
def test_dates_code_and_versions_are_no_figures(written, page):
    assert written(page) == []


def test_settings_are_named(written):
    assert written("At most 20 s each.", settings=["20 s"]) == []
    (stale,) = written("At most.", settings=["20 s"])
    assert "not there" in stale


def test_a_figure_stands_on_one_page(written, tmp_path):
    (tmp_path / "docs" / "other.md").write_text("F1: 12.3")
    written("F1: 12.3", "F1: {r > f1 | 100 .1f}")
    with figures.LIST.open("a") as more:
        more.write("[pages.\"docs/other.md\"]\nfigures = 'F1: {r > f1 | 100 .1f}'\n")
    (wrong,) = figures.problems(figures.read_list())
    assert wrong == "docs/other.md: r.json > f1 is also on docs/page.md"
