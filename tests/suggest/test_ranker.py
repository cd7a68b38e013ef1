"""The ranker: the same trees as LightGBM's, scores that mean what they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashnews.errors import ModelError
from hashnews.suggest import ranker as module
from hashnews.suggest.ranker import (
    Calibration,
    Ranker,
    average,
    isotonic,
    not_above,
    trees_of,
)
from hashnews.suggest.sources import FEATURES


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


def test_a_ranker_over_other_features_is_refused(models, tmp_path, monkeypatch):
    curve = Calibration(np.zeros(1), np.zeros(1))
    Ranker(trees_of(models[0].model_to_string()), curve).save(tmp_path / "ranker.npz")
    monkeypatch.setattr(module, "FEATURES", FEATURES[:-1])
    with pytest.raises(ModelError, match="other features"):
        Ranker.load(tmp_path / "ranker.npz")


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04"])
def test_what_is_no_ranker_is_refused(tmp_path, content):
    (tmp_path / "ranker.npz").write_bytes(content)
    with pytest.raises(ModelError, match="not a ranker"):
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
