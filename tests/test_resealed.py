"""Models that somebody changed and sealed again: refused in one line, never a traceback."""

import json
import shutil
from importlib import resources
from pathlib import Path

import pytest

from hashnews.errors import ModelError
from hashnews.generate.batch import Example
from hashnews.generate.generator import Generator, GeneratorFiles
from hashnews.saved import seal
from hashnews.suggest.model import Model
from hashnews.tagger.finder import Tagger
from hashnews.text.meaning import Meaning

SHIPPED = Path(str(resources.files("hashnews") / "models"))


@pytest.fixture
def changed(tmp_path):
    """A shipped model with some of its files written anew, sealed again."""

    def make(name, **files):
        place = tmp_path / name
        shutil.copytree(SHIPPED / name, place)
        for file, content in files.items():
            content = content if isinstance(content, bytes) else content.encode()
            (place / file.replace("__", ".")).write_bytes(content)
        seal(place)
        return place

    return make


def refused(load, place):
    with pytest.raises(ModelError) as error:
        load(place)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config__json", "{}"), ("config__json", "[]"), ("config__json", "["),
        ("tokenizer__json", "{}"), ("tokenizer__json", b"\xff"), ("model__onnx", b""),
        ("model__onnx", b"\x08\x01garbage"),
        ("model__onnx", (SHIPPED / "generator" / "encoder.onnx").read_bytes()),
    ],
)  # fmt: skip
def test_a_tagger(changed, file, content):
    refused(Tagger.load, changed("tagger", **{file: content}))


def test_a_generator_whose_graphs_are_swapped(changed):
    files = GeneratorFiles(SHIPPED / "generator")
    place = changed(
        "generator",
        **{
            files.encoder.name: files.step.read_bytes(),
            files.step.name: files.encoder.read_bytes(),
        },
    )
    refused(Generator.load, place)


def test_a_generator_whose_words_are_more_than_its_graph_knows(changed):
    source = GeneratorFiles(SHIPPED / "generator").source
    more = source.read_text("utf-8").rstrip("\n") + "\nzzyzx\n"
    place = changed("generator", **{source.name: more})

    def ask(place):
        generator = Generator.load(place)
        generator.suggest([Example.of(generator.config, "zzyzx is far away", [])])

    refused(ask, place)


@pytest.mark.parametrize(
    "change", [{"beams": 10**9}, {"beams": 0}, {"days": 0}, {"days": -5}, {"days": 1e300},
               {"floor": 2}, {"unknown": 1}]
)  # fmt: skip
def test_settings_out_of_range(changed, change):
    config = json.loads((SHIPPED / "best" / "config.json").read_text())
    refused(Model.load, changed("best", config__json=json.dumps(config | change)))


@pytest.mark.parametrize("days", ["NaN", "Infinity", '"400"x'])
def test_settings_that_are_no_numbers(changed, days):
    refused(Model.load, changed("best", config__json='{"days": %s}' % days))  # noqa: UP031


@pytest.mark.parametrize("file", ["relevance__npz", "choice__npz", "ranker__npz"])
def test_judges(changed, file):
    refused(Model.load, changed("best", **{file: b"PK\x03\x04 and no more"}))


@pytest.mark.parametrize(
    ("file", "content"),
    [("vectors__npz", b""), ("vectors__npz", (SHIPPED / "best" / "ranker.npz").read_bytes()),
     ("tokenizer__json", "{}"), ("model__onnx", b"no graph")],
)  # fmt: skip
def test_meaning(changed, file, content):
    refused(Meaning.load, changed("meaning", **{file: content}))
