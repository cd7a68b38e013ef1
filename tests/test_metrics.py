"""Metrics: golden values of the released code, rival libraries, identities."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashnews.metrics import (
    METRICS,
    Judged,
    accuracy,
    best_rouge,
    drawn,
    f1_at,
    hits,
    measure,
    micro_f1,
    micro_f1_of,
    paper_map,
    pooled,
    pooled_rouge,
    standard_map,
)
from hashnews.porter import stem
from hashnews.reproduce.bootstrap import Difference, compare
from hashnews.sample import sample_file


def judged(gold, suggested, **kinds):
    def as_words(tags):
        return tuple(tuple(tag.split()) for tag in tags)

    return Judged(as_words(gold), as_words(suggested), kinds)


GOLDEN = [
    judged(["maga", "kag", "trump"], ["maga", "resist", "trump", "x", "y"]),
    judged(["vote blue"], ["trump", "vote blue", "x", "y", "z"]),
    judged(["nyc", "nyc"], ["nyc", "a", "b", "c", "d"]),
]


def score(metric, posts):
    above, below = zip(*map(metric, posts), strict=True)
    return sum(above) / sum(below)


def test_values_of_the_released_code():
    assert [sum(hits(post, k) for post in GOLDEN) for k in (1, 5)] == [3, 5]
    assert score(accuracy, GOLDEN) == 1.0  # the hashtag given twice counts twice
    assert score(lambda post: micro_f1(1, post), GOLDEN) == pytest.approx(0.6667, abs=5e-5)
    assert score(lambda post: micro_f1(5, post), GOLDEN) == pytest.approx(0.4762, abs=5e-5)
    assert score(lambda post: paper_map(1, post), GOLDEN) == pytest.approx(0.2778, abs=5e-5)
    assert score(lambda post: paper_map(5, post), GOLDEN) == pytest.approx(0.4259, abs=5e-5)
    assert measure(GOLDEN).scores()["hit rate"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("right", "gold", "paper", "standard"),
    [
        ([1, 0, 0, 0, 0], 1, 1.0, 1.0),
        ([1, 1, 0, 0, 0], 2, 0.5, 1.0),
        ([1, 0, 1, 0, 0], 2, 0.4167, 0.8333),
        ([0, 1, 1, 0, 0], 3, 0.1944, 0.3889),
        ([1], 3, 0.3333, 0.3333),
        ([0, 0], 2, 0.0, 0.0),
    ],
)
def test_average_precision_as_coded_and_as_defined(right, gold, paper, standard):
    names = iter(f"gold{n}" for n in range(9))
    suggested = [next(names) if hit else f"wrong{rank}" for rank, hit in enumerate(right)]
    post = judged([f"gold{n}" for n in range(gold)], suggested)
    assert paper_map(5, post)[0] == pytest.approx(paper, abs=5e-5)
    assert standard_map(5, post)[0] == pytest.approx(standard, abs=5e-5)


def test_pooled_rouge_of_the_released_code():
    one = judged(["maga", "kag", "trump"], ["maga"])
    two = judged(["black lives matter", "blm"], ["black lives matter"])
    assert pooled_rouge(one)[0] == pytest.approx(1 / 3)
    assert pooled_rouge(two)[0] == pytest.approx(0.6)
    assert best_rouge(two)[0] == 1.0
    assert pooled_rouge(judged(["protest"], ["protests"]))[0] == 1.0
    assert pooled_rouge(judged(["protest"], []))[0] == best_rouge(judged(["a"], []))[0] == 0.0


def test_stems_are_porters():
    nltk = pytest.importorskip("nltk.stem.porter")
    oracle = nltk.PorterStemmer(mode="MARTIN_EXTENSIONS")
    with sample_file("news.jsonl") as path:
        text = path.read_text("utf-8").lower()
    words = set(re.findall("[a-z]+", text)) | set(
        "caresses ponies ties agreed plastered bled sing hopping sized fizzed sky conformabli "
        "radicalli vietnamization decisiveness sensibiliti formative electriciti irritant "
        "homologou communism angulariti bowdlerize cease controll yes youth eed ions".split()
    )
    assert len(words) > 2000
    assert [word for word in words if stem(word) != oracle.stem(word)] == []


WORDS = st.sampled_from("vote blue maga trump black lives matter covid 19 nyc".split())
TAGS = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)
POSTS = st.lists(
    st.builds(
        judged,
        st.lists(TAGS, min_size=1, max_size=4, unique_by=lambda tag: tag.replace(" ", "")),
        st.lists(TAGS, max_size=10, unique_by=lambda tag: tag.replace(" ", "")),
    ),
    min_size=1,
    max_size=8,
)


@given(POSTS)
def test_f1_is_the_same_from_posts_and_from_arrays(posts):
    found = np.zeros((len(posts), 10))
    for row, post in enumerate(posts):
        found[row, : len(post.keys)] = [key in post.gold_keys for key in post.keys]
    gold = np.array([len(post.gold) for post in posts])
    for k in (1, 5):
        same = measure(posts).scores()[f"F1@{k}"]
        assert micro_f1_of(found, gold, k) == pytest.approx(same)
        assert f1_at(k, posts) == pytest.approx(same)


def test_validation_posts_are_drawn_with_the_seed():
    posts = list(range(1000))
    one, again, other = drawn(posts, 50, 0), drawn(posts, 50, 0), drawn(posts, 50, 1)
    assert one == again != other
    assert one == sorted(set(one))
    assert len(one) == 50
    assert one[-1] > 500  # not the first ones
    assert drawn(posts, 1000, 0) == drawn(posts, 2000, 3) == posts


@given(POSTS)
def test_f1_at_1_follows_from_accuracy(posts):
    scores = measure(posts).scores()
    gold = sum(len(post.gold) for post in posts) / len(posts)
    assert scores["F1@1"] == pytest.approx(2 * scores["ACC"] / (1 + gold))
    assert scores["ACC"] == pytest.approx(scores["hit rate"])  # no hashtag is given twice


@given(POSTS)
def test_each_metric_is_a_share(posts):
    for name, value in measure(posts).scores().items():
        assert np.isnan(value) or 0 <= value <= 1, name
        assert not np.isnan(value) or "R@" in name


@pytest.mark.filterwarnings("ignore")  # ranx compiles with many
def test_ranx_agrees():
    ranx = pytest.importorskip("ranx")
    chance = np.random.default_rng(7)
    tags = [f"t{n}" for n in range(30)]
    posts = [
        judged(
            chance.choice(tags, chance.integers(1, 5), replace=False),
            chance.choice(tags, chance.integers(1, 11), replace=False),
        )
        for _ in range(60)
    ]
    truth = {str(n): {tag: 1 for (tag,) in post.gold} for n, post in enumerate(posts)}
    run = {
        str(n): {tag: 1 / rank for rank, (tag,) in enumerate(post.suggested, 1)}
        for n, post in enumerate(posts)
    }
    ours = measure(posts).scores()
    peers = {
        "hit rate": "hit_rate@1", "ACC": "precision@1", "MAP@5": "map@5",
        "macro F1@1": "f1@1", "macro F1@5": "f1@5", "macro F1@10": "f1@10",
    }  # fmt: skip
    found = ranx.evaluate(ranx.Qrels(truth), ranx.Run(run), list(peers.values()))
    for name, peer in peers.items():
        assert ours[name] == pytest.approx(found[peer]), name


@given(POSTS)
def test_rouge_score_agrees(posts):
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rouge1"])
    for post in posts:
        if post.suggested:
            gold = [" ".join(words) for words in post.gold]
            found = scorer.score_multi(gold, " ".join(post.suggested[0]))["rouge1"].fmeasure
            assert best_rouge(post)[0] == pytest.approx(found)


@given(TAGS, TAGS)
def test_with_one_gold_hashtag_pooled_rouge_is_plain_rouge_of_stems(gold, first):
    module = pytest.importorskip("rouge_score.rouge_scorer")
    scorer = module.RougeScorer(["rouge1"], use_stemmer=True)
    post = judged([gold], [first])
    assert pooled_rouge(post)[0] == pytest.approx(scorer.score(gold, first)["rouge1"].fmeasure)


def test_coverage_counts_only_its_kind():
    posts = [
        judged(["a", "b"], ["a"], unseen=frozenset({"a"})),
        judged(["c"], ["x"] * 6 + ["c"], unseen=frozenset({"c"})),
        judged(["d"], ["d"]),
    ]
    scores = measure(posts).scores()
    assert [scores[f"unseen R@{k}"] for k in (1, 5, 10)] == [0.5, 0.5, 1.0]
    assert np.isnan(scores["only entities R@1"])


def some_posts(chance, share, number=400):
    """Posts of one hashtag each, of which a share is found."""
    return measure(
        [judged(["a"], ["a" if found else "b"]) for found in chance.random(number) < share]
    )


def test_bootstrap_tells_a_difference_from_none():
    chance = np.random.default_rng(1)
    low, high = some_posts(chance, 0.2), some_posts(chance, 0.4)
    better = compare(high, low, 2000)["F1@1"]
    assert better.difference > 0.1
    assert better.low > 0
    assert better.p < 0.01
    assert better.mark in ("**", "***")
    worse = compare(low, high, 2000)["F1@1"]
    assert worse.difference == -better.difference
    same = compare(low, low, 500)["F1@1"]
    assert (same.difference, same.p, same.mark) == (0.0, 1.0, "")


def test_p_values_are_as_rare_as_they_say():
    chance = np.random.default_rng(2)
    p = [
        compare(some_posts(chance, 0.3, 120), some_posts(chance, 0.3, 120), 300)["ACC"].p
        for _ in range(120)
    ]
    assert 0.0 <= np.mean(np.array(p) < 0.05) <= 0.12
    assert 0.35 < np.mean(p) < 0.65


def test_marks():
    assert [Difference(1, 0, 2, p).mark for p in (0.2, 0.04, 0.004, 0.0004)] == [
        "", "*", "**", "***",
    ]  # fmt: skip


def test_pooled_seeds_are_their_mean():
    chance = np.random.default_rng(3)
    runs = [some_posts(chance, share) for share in (0.1, 0.2, 0.6)]
    together = pooled(runs).scores()
    for name in METRICS:
        mean = np.mean([run.scores()[name] for run in runs])
        assert np.isnan(mean) or together[name] == pytest.approx(mean), name


def test_scores_are_plain_json():
    assert json.loads(json.dumps(measure(GOLDEN).scores(), allow_nan=True))["ACC"] == 1.0
