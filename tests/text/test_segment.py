"""Segmentation: known tags, evidence in the writing, learning, and an exhaustive oracle."""

import gzip
import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashnews.text.segment import Counts, Segmenter, Weights, fold, shipped_segmenter


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("blacklivesmatter", "black lives matter"),
        ("#BlackLivesMatter", "black lives matter"),
        ("BLACKLIVESMATTER", "black lives matter"),
        ("icantbreathe", "i cant breathe"),
        ("standwithhongkong", "stand with hong kong"),
        ("DCStatehood", "dc statehood"),
        ("COVID19", "covid 19"),
        ("COVID_19", "covid 19"),
        ("#COVIDー19", "covid 19"),
        ("2020election", "2020 election"),
        ("WearAMask", "wear a mask"),
        ("georgefloydprotests", "george floyd protests"),
        ("snake_case__tag_", "snake case tag"),
        ("Москва", "москва"),
        ("#", ""),
        ("", ""),
        ("___", ""),
    ],
)
def test_known_tags(tag, words):
    assert " ".join(shipped_segmenter().segment(tag)) == words


def test_spelling_keeps_the_capitals():
    segmenter = shipped_segmenter()
    assert segmenter.spell("@realDonaldTrump") == "real Donald Trump"
    assert segmenter.spell("#Black_Lives") == "Black Lives"
    assert segmenter.spell("#blacklives") == "black lives"


def test_capitals_are_soft_evidence():
    counts = Counts(1e6, {"no": 1000.0, "where": 1000.0, "now": 1000.0, "here": 1000.0}, {})
    segmenter = Segmenter(counts)
    assert segmenter.segment("NowHere") == ("now", "here")
    assert segmenter.segment("NoWhere") == ("no", "where")


def test_pairs_decide():
    words = {"no": 1000.0, "where": 1000.0, "now": 1000.0, "here": 1000.0}
    assert Segmenter(Counts(1e6, words, {"now": {"here": 500.0}})).segment("nowhere") == (
        "now",
        "here",
    )
    assert Segmenter(Counts(1e6, words, {"no": {"where": 500.0}})).segment("nowhere") == (
        "no",
        "where",
    )


def test_it_learns_the_names_of_the_day():
    segmenter = shipped_segmenter()
    day = ["Zorblatt Quixby was seen in Frobnia. Zorblatt Quixby spoke."] * 5
    assert segmenter.segment("zorblattquixby") != ("zorblatt", "quixby")
    learnt = segmenter.learn(day)
    assert learnt.segment("zorblattquixby") == ("zorblatt", "quixby")
    assert learnt.segment("blacklivesmatter") == ("black", "lives", "matter")
    assert segmenter.segment("zorblattquixby") != ("zorblatt", "quixby")  # the old one is as it was
    assert segmenter.learn([]).segment("blacklivesmatter") == ("black", "lives", "matter")


def test_counts_round_trip(tmp_path):
    counts = Counts.of(["black lives matter, black lives count"] * 4)
    counts.save(tmp_path / "counts.npz")
    again = Counts.load(tmp_path / "counts.npz")
    assert (again.total, again.words, again.pairs) == (counts.total, counts.words, counts.pairs)
    assert again.pairs["black"] == {"lives": 8.0}


def exhaustive(tag, counts, weights):
    """The best reading by trying every cut: the definition, without Viterbi."""
    letters, segmenter = fold(tag), Segmenter(counts, weights)
    evidence = segmenter._evidence(tag)
    best = (-math.inf, ())
    for cuts in itertools.product([False, True], repeat=len(letters) - 1):
        ends = [at + 1 for at, cut in enumerate(cuts) if cut] + [len(letters)]
        score, start, before = 0.0, 0, None
        for end in ends:
            word = letters[start:end]
            if word in counts.words:
                one = math.log(counts.words[word] / counts.total)
                pair = counts.pairs.get(before, {}).get(word)
                if pair:
                    one = max(one, math.log(pair / counts.words[before]))
            else:
                one = weights.unknown + weights.unknown_letter * len(word)
            score += one + evidence[end]
            start, before = end, word
        best = max(best, (score, tuple(letters[a:b] for a, b in itertools.pairwise([0, *ends]))))
    return best


@settings(max_examples=150, deadline=None)
@given(
    st.text("abAB", min_size=1, max_size=8),
    st.dictionaries(st.text("ab", min_size=1, max_size=4), st.integers(1, 50), max_size=8),
    st.data(),
)
def test_viterbi_finds_the_best_of_all_readings(tag, known, data):
    words = {word: float(count) for word, count in known.items()}
    pairs = {}
    for first, second in itertools.product(words, repeat=2):
        if data.draw(st.booleans()):
            pairs.setdefault(first, {})[second] = data.draw(st.floats(0.1, words[first]))
    counts, weights = Counts(1000.0, words, pairs), Weights()
    score, _ = exhaustive(tag, counts, weights)
    reading = Segmenter(counts, weights).segment(tag)
    evidence = Segmenter(counts, weights)._evidence(tag)
    again, end, before = 0.0, 0, None
    for word in reading:
        end += len(word)
        one = (
            math.log(words[word] / 1000.0)
            if word in words
            else weights.unknown + weights.unknown_letter * len(word)
        )
        pair = pairs.get(before, {}).get(word)
        again += max(one, math.log(pair / words[before])) if pair and word in words else one
        again += evidence[end]
        before = word
    assert again == pytest.approx(score)


@pytest.mark.shared
@pytest.mark.parametrize(("name", "floor"), [("stanford-dev", 86.5), ("boun", 87.0)])
def test_quality_floor(shared, name, floor):
    segmenter = shipped_segmenter()
    with gzip.open(shared / "segmentation" / f"{name}.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    right = sum(" ".join(segmenter.segment(tag)) in gold.lower().split("|") for tag, gold in rows)
    assert 100 * right / len(rows) >= floor
