"""Plug-ins: the example package, installed as any other, brings a finder, a source, an encoder."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from hashnews.errors import ConfigError
from hashnews.saved import MANIFEST
from hashnews.suggest.model import shipped_model
from hashnews.text.entities import load_finder
from hashnews.text.meaning import load_encoder

EXAMPLE = Path(__file__).parent / "example"
BREAD = "Out of the oven at last, my first loaf of bread, and it even has a crust"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the package and what an installer notes about it."""
    folder = tmp_path_factory.mktemp("installed")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    shutil.copytree(EXAMPLE / "hashnews_example", folder / "hashnews_example")
    notes = folder / "hashnews_example-1.0.dist-info"
    notes.mkdir()
    name, version = project["name"], project["version"]
    (notes / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    groups = (
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in project["entry-points"].items()
    )
    (notes / "entry_points.txt").write_text("\n".join(groups))
    return folder


def run(folder, *arguments, given=None, **environment):
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, *map(str, arguments)], input=given, capture_output=True, text=True,
        env={**os.environ, **environment, "PYTHONPATH": path},
    )  # fmt: skip


def hashnews(folder, *arguments, **options):
    done = run(folder, "-m", "hashnews", *arguments, **options)
    assert done.returncode == 0, done.stderr
    return done


def test_a_finder(installed, tmp_path):
    done = hashnews(
        installed, "entities", "-", "--finder", "shouting", "--json", given="The NASA launch"
    )
    assert [one["text"] for one in json.loads(done.stdout)["entities"]] == ["NASA"]
    news = tmp_path / "news.jsonl"
    article = {"title": "Launch of QUUX", "text": "QUUX flew.", "published_at": "2020-06-01"}
    news.write_text(json.dumps(article) + "\n")
    store = tmp_path / "news.db"
    hashnews(installed, "news", "add", news, "--news", store, "--finder", "shouting")
    # The store keeps the name: whoever opens it next need not say it again.
    asked = ("suggest", "QUUX it is", "--news", store, "--at", "2020-06-05", "--json")
    told = json.loads(hashnews(installed, *asked).stdout)
    assert told["articles"][0]["entities"] == ["QUUX"]
    without = run("", "-m", "hashnews", *asked)
    assert without.returncode == 1
    assert "there is no entity finder 'shouting': take fast or tagger" in without.stderr


def test_a_source(installed):
    asked = ("suggest", BREAD, "--at", "2020-06-05", "-n", 50, "--json")
    told = json.loads(hashnews(installed, *asked).stdout)["suggestions"]
    plain = json.loads(hashnews("", *asked).stdout)["suggestions"]
    why = {one["hashtag"]: {r["source"]: r["label"] for r in one["because"]} for one in told}
    assert why["#Baking"]["house"] == "House style"
    assert "#HouseOfQuux" not in why  # judged like all others
    assert [(one["hashtag"], one["score"]) for one in told if one["hashtag"] != "#Gardening"] == [
        (one["hashtag"], one["score"]) for one in plain if one["hashtag"] != "#Gardening"
    ]


def test_a_source_that_fails_costs_nothing_but_itself(installed):
    asked = ("suggest", BREAD, "--at", "2020-06-05", "--json")
    done = hashnews(installed, *asked, HOUSE_FAILS="1")
    told, plain = (json.loads(one.stdout)["suggestions"] for one in (done, hashnews("", *asked)))
    assert told == plain
    assert "the source house failed and is heard no more" in done.stderr


def test_an_encoder(installed, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(shipped_model(), model)
    config = json.loads((model / "config.json").read_text())
    generator = (shipped_model() / config["generator"]).resolve() if config["generator"] else None
    config |= {"encoder": "letters", "generator": generator and str(generator)}
    (model / "config.json").write_text(json.dumps(config))
    sealed = run("", "-m", "hashnews.saved", model)
    assert sealed.returncode == 0, sealed.stderr
    assert (model / MANIFEST).exists()
    code = (
        f"from hashnews import HashNews; h = HashNews(model={str(model)!r}); p = h.model.prior; "
        "print(type(p.meaning).__name__, p.lexicon.vectors.shape[1]); h.suggest('A loaf of bread')"
    )
    done = run(installed, "-c", code)
    assert done.stdout == "LettersEncoder 64\n", done.stderr
    without = run("", "-m", "hashnews", "suggest", "x", "--model", model)
    assert without.returncode == 1
    assert "there is no encoder 'letters'" in without.stderr


def test_what_is_not_there_is_one_line():
    with pytest.raises(ConfigError, match="there is no entity finder 'none': take fast or tagger"):
        load_finder("none")
    with pytest.raises(ConfigError, match="there is no encoder 'none'"):
        load_encoder("none")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[hashnews.sources]\nhouse = nowhere:Source\n", "the plug-in 'house' (nowhere:Source)"),
        ("[hashnews.sources]\nnews = hashnews_example:HouseStyle\n", "has a name that is taken"),
        ("[hashnews.sources]\nx = hashnews.suggest.sources.post:PostItself\n", "or columns"),
    ],
)
def test_a_broken_plugin_is_one_line(installed, tmp_path, line, message):
    folder = tmp_path / "broken"
    shutil.copytree(installed, folder)
    (entries,) = folder.glob("*.dist-info/entry_points.txt")
    entries.write_text(line)
    done = run(folder, "-m", "hashnews", "suggest", "x")
    assert done.returncode == 1
    assert message in done.stderr
    assert len([one for one in done.stderr.splitlines() if one.startswith("Error")]) == 1
