"""The ranker: the same trees as LightGBM's, scores that mean what they say."""

import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashnews.errors import ModelError
from hashnews.suggest.ranker import (
    Calibration,
    Ranker,
    average,
    by_situation,
    isotonic,
    lighter,
    not_above,
    situation_of,
    trees_of,
)
from hashnews.suggest.sources import FEATURES, PLACE


def data(seed=0, posts=120, size=20):
    chance = np.random.default_rng(seed)
    rows = chance.normal(size=(posts * size, len(FEATURES))).astype(np.float32)
    rows[:, 3] = np.round(rows[:, 3])  # equal values, so that thresholds are hit exactly
    used = (rows[:, 3] + rows[:, 7] * rows[:, 9] + chance.normal(size=len(rows)) > 1.5) * 1
    return rows, used, [size] * posts


@pytest.fixture(scope="module")
def models():
    lightgbm = pytest.importorskip("lightgbm")
    rows, used, sizes = data()
    return [
        lightgbm.train(
            {"objective": "lambdarank", "seed": seed, "num_threads": 1, "verbose": -1,
             "bagging_fraction": 0.5, "bagging_freq": 1},
            lightgbm.Dataset(rows, used, group=sizes), 30,
        )
        for seed in (1, 2)
    ]  # fmt: skip


def test_the_trees_score_like_lightgbm(models):
    rows, _, _ = data(seed=1)
    rows[::7] = np.round(rows[::7])
    rows[::11] = 0
    for model in models:
        ranker = Ranker(trees_of(model.model_to_string()), Calibration(np.zeros(1), np.zeros(1)))
        expected = model.predict(rows, raw_score=True)
        assert ranker.scores(rows) == pytest.approx(expected, abs=1e-5)


def test_several_models_are_averaged(models):
    rows, _, _ = data(seed=2)
    trees = average([trees_of(model.model_to_string()) for model in models], 2)
    expected = np.mean([model.predict(rows, raw_score=True) for model in models], axis=0)
    got = Ranker(trees, Calibration(np.zeros(1), np.zeros(1))).scores(rows)
    assert got == pytest.approx(expected, abs=1e-5)


def test_a_saved_ranker_comes_back(models, tmp_path):
    rows, _, _ = data(seed=3)
    curve = Calibration(np.array([-1.0, 2.0]), np.array([0.1, 0.9]))
    saved = Ranker(trees_of(models[0].model_to_string()), curve)
    saved.save(tmp_path / "ranker.npz")
    read = Ranker.load(tmp_path / "ranker.npz")
    assert read.probabilities(rows).tolist() == saved.probabilities(rows).tolist()


def test_a_ranker_over_other_features_is_refused(models, tmp_path):
    curve = Calibration(np.zeros(1), np.zeros(1))
    Ranker(trees_of(models[0].model_to_string()), curve).save(tmp_path / "ranker.npz")
    with pytest.raises(ModelError, match="other features"):
        Ranker.load(tmp_path / "ranker.npz", FEATURES[:-1])


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04"])
def test_what_is_no_ranker_is_refused(tmp_path, content):
    (tmp_path / "ranker.npz").write_bytes(content)
    with pytest.raises(ModelError, match="is not a file of arrays"):
        Ranker.load(tmp_path / "ranker.npz")


@given(st.floats(-1e30, 1e30))
def test_thresholds_split_32_bit_numbers_as_they_did(threshold):
    at = np.float32(not_above(threshold))
    above = np.nextafter(at, np.float32(np.inf))
    assert float(at) <= threshold < float(above)


@given(st.lists(st.tuples(st.floats(-5, 5), st.booleans()), min_size=1, max_size=60))
def test_calibration_rises_and_keeps_the_mean(rows):
    scores = np.array([score for score, _ in rows])
    used = np.array([float(was) for _, was in rows])
    curve = isotonic(scores, used, fewest=1)
    assert (np.diff(curve.probabilities) > 0).all()
    assert (np.diff(curve.scores) >= 0).all()
    assert ((curve.probabilities >= 0) & (curve.probabilities <= 1)).all()
    order = np.argsort(scores, kind="stable")
    blocks = np.searchsorted(curve.scores, scores[order])  # what a pool holds lies around its knot
    assert len(blocks) == len(rows)
    assert curve(np.array([1e9]))[0] >= used.mean() >= curve(np.array([-1e9]))[0]


def test_calibrated_scores_are_shares():
    chance = np.random.default_rng(4)
    scores = chance.normal(size=100_000)
    used = chance.random(100_000) < 1 / (1 + np.exp(2 - scores))
    curve = isotonic(scores[::2], used[::2])
    given_, was = curve(scores[1::2]), used[1::2]
    for low in (0.05, 0.1, 0.2, 0.4):
        here = (given_ >= low) & (given_ < low * 1.5)
        assert was[here].mean() == pytest.approx(given_[here].mean(), abs=0.05)


def test_each_situation_has_its_curve():
    chance = np.random.default_rng(5)
    scores, situation = chance.normal(size=60_000), chance.integers(0, 2, 60_000)
    odds = scores - 2 + 3 * situation  # with an archive of one's own the same score says more
    used = chance.random(60_000) < 1 / (1 + np.exp(-odds))
    curve = by_situation(scores[::2], used[::2], situation[::2])
    for one in (0, 1):
        here = situation[1::2] == one
        said, was = curve(scores[1::2], situation[1::2])[here], used[1::2][here]
        for low in (0.3, 0.5):
            shown = (said >= low) & (said < low + 0.1)
            assert was[shown].mean() == pytest.approx(said[shown].mean(), abs=0.05)
    # Of the third there are no examples: there it is the curve of all.
    third = curve(scores, np.full(60_000, 2))
    assert third.tolist() == pytest.approx(isotonic(scores[::2], used[::2])(scores).tolist())


def test_the_situation_is_told_by_the_posts_of_the_memory():
    rows = np.zeros((4, len(FEATURES)), np.float32)
    columns = [PLACE[name] for name in ("own_posts", "own_newest", "newest")]
    rows[:, columns] = [[0, 1000, 2], [5, 3, 3], [5, 3, 1], [0, 1000, 1000]]
    assert situation_of(rows).tolist() == [0, 1, 2, 0]


def whole_ranker():
    """Two trees of one split each, over three features."""
    return {
        "features": np.frombuffer("\n".join(FEATURES[:3]).encode(), np.uint8),
        "roots": np.array([0, 3], np.int32),
        "depths": np.array([1, 1], np.int32),
        "feature": np.array([0, 0, 0, 2, 0, 0], np.int16),
        "threshold": np.array([0.5, -1, 1, np.inf, 2, 3], np.float32),
        "steps": np.array([[1, 2], [0, 0], [0, 0], [1, 2], [0, 0], [0, 0]], np.int32),
        "scores": np.array([-1.0, 1.0]),
        "probabilities": np.array([0.0, 1.0]),
    }


WRONG = [
    {"roots": np.array([0, 6], np.int32)}, {"roots": np.array([0, -1], np.int32)},
    {"roots": np.array([0], np.int32)}, {"roots": np.array([[0, 3]], np.int32)},
    {"depths": np.array([1, 10**9], np.int32)}, {"depths": np.array([1, -1], np.int32)},
    {"feature": np.array([0, 0, 0, 3, 0, 0], np.int16)}, {"feature": np.array([0], np.int16)},
    {"feature": np.array([0, 0, 0, -2, 0, 0], np.int16)},
    {"threshold": np.array([0.5, -1, 1, np.nan, 2, 3], np.float32)},
    {"threshold": np.array(["x"] * 6)}, {"threshold": np.array([], np.float32)},
    {"steps": np.full((6, 2), 6, np.int32)}, {"steps": np.zeros((6, 3), np.int32)},
    {"steps": np.full((6, 2), -1, np.int32)}, {"steps": np.zeros((6, 2), np.float32)},
    {"steps": np.full((6, 2), 2**31 - 1, np.int32)}, {"steps": np.zeros(6, np.int32)},
    {"steps": None, "children": np.zeros((6, 2), np.int32)},
    {"scores": np.array([])}, {"scores": np.array([1.0, -1.0])},
    {"scores": np.array([np.nan, 1.0])}, {"scores": np.array([-np.inf, 1.0])},
    {"probabilities": np.array([0.0, 1.5])}, {"probabilities": np.array([-0.1, 1.0])},
    {"probabilities": np.array([np.nan, 1.0])}, {"probabilities": np.array([1.0])},
    {"scores": np.array([]), "probabilities": np.array([])}, {"more": np.zeros(1)},
    {"features": np.frombuffer(b"\xff\xfe", np.uint8)}, {"roots": None}, {"features": None},
    {"roots": np.zeros(2_000_000, np.int32), "depths": np.full(2_000_000, 9, np.int32)},
]  # fmt: skip


@pytest.mark.parametrize("changes", WRONG, ids=str)
def test_a_ranker_whose_numbers_lead_astray_is_refused(tmp_path, changes):
    """Indices out of range ended the process; NaN, and probabilities over 1, were taken."""
    path = tmp_path / "ranker.npz"
    np.savez_compressed(path, **whole_ranker())
    assert Ranker.load(path).scores(np.zeros((2, len(FEATURES)))).tolist() == [1.0, 1.0]
    arrays = {
        name: array for name, array in (whole_ranker() | changes).items() if array is not None
    }
    np.savez_compressed(path, **arrays)
    with pytest.raises(ModelError, match="ranker"):
        Ranker.load(path)


def test_lighter_trees_have_nearly_the_same_values_and_the_same_shape(tmp_path):
    trees, curve = some_trees(), Calibration(np.zeros(1), np.zeros(1))
    light = lighter(trees, 8)
    near = np.abs(light.threshold - trees.threshold) <= np.abs(trees.threshold) / 2**8
    assert (near | np.isinf(trees.threshold)).all()
    assert (np.abs(light.threshold) <= np.abs(trees.threshold)).all()
    Ranker(trees, curve).save(tmp_path / "whole.npz")
    Ranker(light, curve).save(tmp_path / "light.npz")
    assert Ranker.load(tmp_path / "light.npz").trees.children.tolist() == trees.children.tolist()
    assert lighter(light, 8).threshold.tolist() == light.threshold.tolist()


def some_trees():
    """Trees of some thousand nodes."""
    lightgbm = pytest.importorskip("lightgbm")
    chance = np.random.default_rng(2)
    rows = chance.normal(size=(3_000, 3)).astype(np.float32)
    data = lightgbm.Dataset(rows, rows[:, 0] + rows[:, 1] ** 2)
    settings = {"objective": "regression", "num_leaves": 31, "verbose": -1, "num_threads": 1}
    return trees_of(lightgbm.train(settings, data, 100).model_to_string())


def test_a_small_file_that_unpacks_to_gigabytes_is_refused_at_once(tmp_path):
    path = tmp_path / "ranker.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed,
        packed.open("roots.npy", "w", force_zip64=True) as stream,
    ):
        for _ in range(300):
            stream.write(bytes(1 << 20))
    assert path.stat().st_size < 1 << 20
    with pytest.raises(ModelError, match="more than 256 MiB"):
        Ranker.load(path)


@given(st.binary(max_size=300), st.integers(0, 2000), st.integers(1, 60))
def test_a_damaged_ranker_is_refused_or_sound(tmp_path_factory, noise, at, length):
    path = tmp_path_factory.mktemp("damaged") / "ranker.npz"
    np.savez_compressed(path, **whole_ranker())
    content = bytearray(path.read_bytes())
    content[at : at + length] = noise[:length]
    path.write_bytes(content)
    try:
        ranker = Ranker.load(path)
    except ModelError:
        return
    answers = ranker.probabilities(np.zeros((3, len(FEATURES))))
    assert ((answers >= 0) & (answers <= 1)).all()
