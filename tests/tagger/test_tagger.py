"""The shipped tagger: what it finds, that company does not matter, and what it refuses."""

import json
import shutil
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashnews.errors import ConfigError, ModelError
from hashnews.records import Post
from hashnews.tagger.finder import (
    LABELS,
    Tagger,
    best_labels,
    case_shape,
    shipped_tagger,
    spans_of,
    split_token,
)
from hashnews.text.entities import load_finder

SHIPPED = Path(str(resources.files("hashnews") / "models" / "tagger"))


def names(text):
    return [(entity.text, entity.kind) for entity in shipped_tagger().find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Yesterday Angela Merkel met Emmanuel Macron in Paris.",
            [("Angela Merkel", "person"), ("Emmanuel Macron", "person"), ("Paris", "place")],
        ),
        ("yesterday angela merkel was in paris", [("angela merkel", "person"), ("paris", "place")]),
        ("ANGELA MERKEL IS IN PARIS", [("ANGELA MERKEL", "person"), ("PARIS", "place")]),
        (
            "The White House said nothing about NASA's plan.",
            [("White House", None), ("NASA", None)],
        ),
        ("thanks @JoeBiden https://example.org/Paris", []),
        ("Rain in #SanFrancisco today", [("SanFrancisco", "place")]),
        ("so tired today lol", []),
        ("", []),
        ("👍 … !!", []),
    ],
)
def test_finding(text, expected):
    found = names(text)
    assert [name for name, _ in found] == [name for name, _ in expected]
    assert all(kind in (None, got) for (_, got), (_, kind) in zip(found, expected, strict=True))


def test_entities_say_where_they_stand():
    text = "Then “Joe Biden”’s team, the U.S. Senate & Trump-Russia talks in New York."
    for entity in shipped_tagger().find(text):
        assert text[entity.start : entity.end] == entity.text


def test_company_does_not_matter():
    """What a text gives is its own: batches and neighbours change nothing."""
    from hashnews.files import RecordFile
    from hashnews.sample import sample_file

    with sample_file("posts.jsonl") as path:
        texts = [post.text for post in RecordFile(path, Post)]
    together = shipped_tagger().find_all(texts + texts[:5])
    assert together == [shipped_tagger().find(text) for text in texts + texts[:5]]


def test_long_texts_are_read_in_pieces():
    text = "Angela Merkel met Emmanuel Macron in Paris. " * 200
    found = names(text)
    assert len(found) == 600
    endless = names("Angela Merkel and " * 500)
    assert 450 <= len(endless) <= 550


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=200))
def test_nothing_raises(text):
    for entity in shipped_tagger().find(text):
        assert text[entity.start : entity.end] == entity.text != ""


def test_it_is_one_of_the_finders():
    assert load_finder("tagger") is shipped_tagger()
    assert load_finder("fast").name == "fast"
    with pytest.raises(ConfigError, match="take fast or tagger"):
        load_finder("other")


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("paris", 1),
        ("Paris", 2),
        ("I", 2),
        ("NASA", 3),
        ("iPhone", 4),
        ("COVID19", 5),
        ("@user", 0),
        ("…", 0),
    ],
)
def test_case_shapes(word, shape):
    assert case_shape(word) == shape


@pytest.mark.parametrize(
    ("token", "parts"),
    [
        ("#FreeBritney", ["#", "Free", "Britney"]),
        ("#NBCNews", ["#", "NBC", "News"]),
        ("Trump-Russia", ["Trump", "-", "Russia"]),
        ("Obama's", ["Obama", "'s"]),
        ("Paris", ["Paris"]),
    ],
)
def test_tokens_split_into_words(token, parts):
    assert [token[start:end] for start, end in split_token(token)] == parts


def test_labels_are_well_formed():
    import numpy as np

    scores = np.random.default_rng(1).normal(size=(40, 9, len(LABELS))).astype(np.float32)
    for labels in best_labels(scores, [1 + n % 9 for n in range(40)]):
        before = "O"
        for name in (LABELS[label] for label in labels):
            if name.startswith("I-"):
                assert before[1:] == name[1:]
            before = name
    assert spans_of([0, 1, 2, 0, 1, 1]) == [(1, 3, "person"), (4, 5, "person"), (5, 6, "person")]


def copied(tmp_path):
    return Path(shutil.copytree(SHIPPED, tmp_path / "tagger"))


def refused(directory, match):
    with pytest.raises(ModelError, match=match) as caught:
        Tagger.load(directory)
    assert "\n" not in str(caught.value)


def test_what_is_not_a_whole_tagger_is_refused(tmp_path):
    refused(tmp_path / "absent", "no such directory")
    directory = copied(tmp_path)
    content = bytearray((directory / "model.onnx").read_bytes())
    content[len(content) // 2] ^= 1
    (directory / "model.onnx").write_bytes(content)
    refused(directory, r"model\.onnx is damaged")
    (directory / "model.onnx").unlink()
    refused(directory, r"model\.onnx is missing")
    shutil.rmtree(directory)
    manifest = copied(tmp_path) / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "kind": "generator"}))
    refused(directory, r"manifest\.json cannot be read")  # changed by hand, it is not ours
    refused(SHIPPED.with_name("generator"), "holds a 'generator'")


def test_the_weights_are_small():
    assert (SHIPPED / "model.onnx").stat().st_size <= 25_000_000


@pytest.mark.shared
def test_quality_floor(shared, monkeypatch):
    """A fifth of each dev part: exact spans, mentions aside."""
    pytest.importorskip("torch", reason="reading the corpora needs the extra `train`")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    from entities import score

    from hashnews.tagger.corpora import read_conll

    for name, floor in (("btc", 66), ("wnut", 66), ("tweebank", 66)):
        sentences = read_conll(shared / "ner" / f"{name}.dev.conll.gz")[::5]
        assert score(shipped_tagger(), sentences).f1 >= floor, name
