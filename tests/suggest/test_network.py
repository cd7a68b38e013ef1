"""The second opinion: what it reads, when it is asked, and what is refused."""

import numpy as np
import pytest

from hashnews.errors import ModelError
from hashnews.suggest.filters import says_when
from hashnews.suggest.judges import LEAST, Judges
from hashnews.suggest.model import load_judges, shipped_model
from hashnews.suggest.network import SecondOpinion, together
from hashnews.suggest.ranker import Calibration, Ranker, Trees
from hashnews.suggest.sources import FEATURES, PLACE
from hashnews.text.segment import shipped_segmenter

WIDTH = 3


def a_network(seed=0, hidden=4, names=("meaning", "cues")):
    chance = np.random.default_rng(seed)
    numbers = lambda *shape: chance.normal(size=shape).astype(np.float32)  # noqa: E731
    return SecondOpinion(
        names,
        numbers(len(names)),
        np.abs(numbers(len(names))) + 0.1,
        numbers(len(names) + WIDTH, hidden),
        numbers(hidden),
        numbers(hidden),
        numbers(1),
    )


def rows(count, seed=1):
    chance = np.random.default_rng(seed)
    features = np.zeros((count, len(FEATURES)), np.float32)
    features[:, [PLACE["meaning"], PLACE["cues"]]] = chance.normal(size=(count, 2), scale=9)
    return features, chance.normal(size=(count, WIDTH)).astype(np.float32)


def test_log_odds_are_those_of_the_equation():
    network, (features, vectors) = a_network(), rows(20)
    for row, vector, found in zip(
        features, vectors, network.log_odds(features, vectors), strict=True
    ):
        read = [row[PLACE[name]] for name in network.features]
        scaled = [
            min(4, max(-4, (value - mean) / deviation))
            for value, mean, deviation in zip(read, network.mean, network.deviation, strict=True)
        ]
        x = [*scaled, *(8 * value for value in vector)]
        hidden = [
            max(0, sum(x[i] * network.first[i, j] for i in range(len(x))) + network.bias[j])
            for j in range(len(network.bias))
        ]
        expected = sum(h * w for h, w in zip(hidden, network.second, strict=True))
        assert found == pytest.approx(expected + network.constant[0], rel=1e-3, abs=1e-3)


def always(probability):
    """A ranker that finds everything equally likely."""
    none = np.zeros(1, np.int32)
    trees = Trees(none, none, none.astype(np.int16), np.zeros(1, np.float32), np.zeros((1, 2), int))
    return Ranker(trees, Calibration(np.zeros(1), np.array([probability])))


def test_a_second_opinion_counts_half_and_only_where_nobody_has_used_a_hashtag():
    network, (features, vectors) = a_network(), rows(6)
    features[:2, PLACE["uses"]] = 3
    judges = Judges(always(0.6), always(0.5), always(0.5), network)
    found = judges.judge(features, 0.0, vectors).on_topic
    assert found[:2] == pytest.approx(0.6)
    second = network.log_odds(features, vectors)[2:]
    expected = 1 / (1 + np.exp(-(np.log(0.6 / 0.4) + second) / 2))
    assert found[2:] == pytest.approx(expected)


def test_without_vectors_of_its_own_space_or_for_what_is_hopeless_it_is_not_asked():
    network, (features, vectors) = a_network(), rows(6)
    judges = Judges(always(0.6), always(0.5), always(0.5), network)
    assert judges.judge(features).on_topic == pytest.approx(0.6)
    assert judges.judge(features, 0.0, np.zeros((6, 1), np.float32)).on_topic == pytest.approx(0.6)
    hopeless = Judges(always(LEAST / 2), always(0.5), always(0.5), network)
    assert hopeless.judge(features, 0.0, vectors).on_topic == pytest.approx(LEAST / 2)


def test_certainty_is_no_infinity():
    assert np.isfinite(together(np.array([0.0, 1.0]), np.array([1.0, -1.0]))).all()


def test_saved_is_loaded_and_the_largest_array_in_half_the_room(tmp_path):
    network = a_network()
    half = network.first.astype(np.float16).astype(np.float32)
    assert np.allclose(half, network.first, rtol=2**-10)
    network = network._replace(first=half)
    network.save(tmp_path / "network.npz")
    loaded = SecondOpinion.load(tmp_path / "network.npz")
    assert loaded.features == network.features
    for ours, theirs in zip(network[1:], loaded[1:], strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize(
    "damage",
    [
        {"first": np.zeros((1, 4), np.float32)},
        {"first": np.zeros(4, np.float32)},
        {"bias": np.zeros(3, np.float32)},
        {"mean": np.full(2, np.nan, np.float32)},
        {"deviation": np.zeros(2, np.float32)},
        {"second": np.zeros(4, np.float64)},
        {"constant": np.zeros(2, np.float32)},
        {"features": ("meaning", "phase_of_the_moon")},
    ],
    ids=lambda damage: next(iter(damage)),
)
def test_what_does_not_fit_is_refused(tmp_path, damage):
    path = tmp_path / "network.npz"
    a_network()._replace(**damage).save(path)
    with pytest.raises(ModelError):
        SecondOpinion.load(path)


def test_the_shipped_one_reads_the_shipped_vectors_and_no_memory():
    network = load_judges(shipped_model()).network
    assert network.width == 256
    assert not {"uses", "nearest", "own_nearest", "week"} & set(network.features)


@pytest.mark.parametrize("hashtag", ["#LastNight", "#Day3", "#TenYears", "#Thursdays", "#April"])
def test_a_hashtag_that_says_only_when(hashtag):
    assert says_when(shipped_segmenter().segment(hashtag))


@pytest.mark.parametrize(
    "hashtag", ["#NewYear2021", "#MayDay", "#January6", "#MondayMotivation", "#NightShift"]
)
def test_a_hashtag_that_says_more_than_when(hashtag):
    assert not says_when(shipped_segmenter().segment(hashtag))
