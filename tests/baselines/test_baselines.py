"""Baselines: by hand, against brute force, and blind to what comes later."""

import math
from collections import Counter
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from hashnews.baselines.base import Hashtags
from hashnews.baselines.frequency import MostFrequent, RecentFrequency
from hashnews.baselines.neighbours import AuthorHistory, Neighbours, NeighboursAndAuthor
from hashnews.errors import DataError
from hashnews.records import Hashtag, PreparedPost
from hashnews.text.stopwords import STOP_WORDS
from hashnews.text.tokens import words

START = datetime(2020, 6, 1, tzinfo=UTC)
ALL = [MostFrequent, RecentFrequency, Neighbours, AuthorHistory, NeighboursAndAuthor]


def post(body, tags, day=0.0, user="ann"):
    found = tuple(Hashtag(tuple(tag.split()), "#" + tag.replace(" ", "")) for tag in tags)
    moment = START + timedelta(days=day)
    return PreparedPost(
        id=f"{body} {day} {user}", created_at=moment, user=user, body=body, entities=(),
        hashtags=found,
    )  # fmt: skip


TRAIN = [
    post("vote early in ohio", ["vote", "ohio"], 0, "ann"),
    post("vote by mail in ohio", ["vote"], 1, "bob"),
    post("goals for bayern", ["bundesliga"], 2, "ann"),
    post("more goals and more bayern", ["bundesliga", "bayern"], 3, "cid"),
    post("masks save lives", ["covid 19"], 4, "ann"),
    post("masks again today", ["covid 19"], 4.5, "ann"),
    post("wear masks", ["covid 19"], 0.1, "bob"),
]


def keys(answer):
    return [ranked.hashtag.key for ranked in answer]


def suggest(baseline, asked, n=3, train=TRAIN):
    baseline.fit(train, [])
    return [keys(answer) for answer in baseline.suggest(asked, n)]


def test_most_frequent():
    assert suggest(MostFrequent(), [post("x", [])] * 2) == [["covid19", "bundesliga", "vote"]] * 2


def test_recent_uses_fade_and_later_ones_do_not_count():
    early, late = post("x", [], 2.5), post("x", [], 5)
    found = suggest(RecentFrequency(half_life=0.5), [late, early], 2)
    assert found == [["covid19", "bundesliga"], ["bundesliga", "vote"]]
    baseline = RecentFrequency(half_life=2.0)
    baseline.fit(TRAIN, [])
    (answer,) = baseline.suggest([late], 1)
    uses = [0.1, 4, 4.5]
    at_last = 2 ** (-(5 - 4.5) / 2)
    assert answer[0].score == pytest.approx(sum(2 ** (-(5 - t) / 2) for t in uses) / at_last)
    with pytest.raises(DataError, match="created_at"):
        baseline.suggest([late.model_copy(update={"created_at": None})], 1)


def test_author_history_then_the_most_frequent():
    found = suggest(AuthorHistory(), [post("x", [], 9, name) for name in ("cid", "ann", "new")])
    assert found[0] == ["bundesliga", "bayern", "covid19"]
    assert found[1][0] == "covid19"
    assert found[2] == ["covid19", "bundesliga", "vote"]


def test_an_unknown_author_is_not_one_busy_author():
    nobody = [one.model_copy(update={"user": None}) for one in TRAIN]
    found = suggest(AuthorHistory(), [post("x", [], 9, None)], train=nobody)
    assert found == [["covid19", "bundesliga", "vote"]]


def brute_force(train, asked, neighbours):
    """TF-IDF cosine of full vectors, then the sum of similarity by hashtag."""
    said = [Counter(w for w in words(p.body) if w not in STOP_WORDS) for p in [*train, asked]]
    vocabulary = sorted({w for counts in said[:-1] for w in counts})
    holding = [sum(w in counts for counts in said[:-1]) for w in vocabulary]
    rows = np.array([
        [math.log(1 + counts[w]) * math.log(len(train) / n)
         for w, n in zip(vocabulary, holding, strict=True)]
        for counts in said
    ])  # fmt: skip
    norms = np.linalg.norm(rows, axis=1)
    rows /= np.where(norms > 0, norms, 1)[:, None]
    similarity = rows[:-1] @ rows[-1]
    scores = Counter()
    for place in np.argsort(-similarity, kind="stable")[:neighbours]:
        for tag in train[place].hashtags:
            scores[tag.key] += similarity[place]
    total = sum(scores.values())
    return {key: score / total for key, score in scores.items() if score}


@pytest.mark.parametrize("body", ["goals in ohio", "masks and goals by mail", "vote vote masks"])
@pytest.mark.parametrize("neighbours", [1, 3, 7])
def test_neighbours_are_those_of_brute_force(body, neighbours):
    baseline = Neighbours(neighbours)
    baseline.fit(TRAIN, [])
    asked = post(body, [], 9)
    scores = baseline.scores(asked)
    found = {tag.key: s for tag, s in zip(baseline.hashtags.tags, scores, strict=True) if s}
    assert found == pytest.approx(brute_force(TRAIN, asked, neighbours))


def test_both_are_added():
    asked = post("goals", [], 9, "bob")
    assert suggest(NeighboursAndAuthor(3, 0.0), [asked])[0][0] == "bundesliga"
    assert suggest(NeighboursAndAuthor(3, 9.0), [asked])[0][:2] == ["covid19", "vote"]


def test_nothing_to_say_is_the_most_frequent():
    for kind in (Neighbours, NeighboursAndAuthor):
        found = suggest(kind(), [post("unheard", [], 9, "new")])
        assert found == [["covid19", "bundesliga", "vote"]]


@pytest.mark.parametrize("kind", ALL)
def test_the_answers_do_not_depend_on_the_hashtags_wanted(kind):
    asked = [post("goals in ohio", ["planted"], 9), post("masks", ["vote"], 9)]
    blind = [one.model_copy(update={"hashtags": ()}) for one in asked]
    assert suggest(kind(), asked) == suggest(kind(), blind)


@pytest.mark.parametrize("kind", ALL)
def test_no_training_posts_is_an_error(kind):
    with pytest.raises(DataError, match="no training posts"):
        kind().fit([], [])


def test_best_is_a_stable_sort():
    chance = np.random.default_rng(0)
    hashtags = Hashtags(post("x", [f"t{n}"] * 1) for n in range(40))
    for _ in range(50):
        scores = chance.integers(0, 5, 40).astype(float)
        order = sorted(range(40), key=lambda n: (-scores[n], n))
        for n in (1, 7, 40, 99):
            expected = [hashtags.tags[number].key for number in order[:n]]
            assert keys(hashtags.best(scores, n)) == expected
