"""LSTM-TOP and its topics: they learn, they repeat, and one topic model serves all posts."""

import numpy as np
import pytest
from test_baselines import post

from hashnews.baselines.config import LstmTopConfig
from hashnews.baselines.lda import Lda

SUBJECTS = {f"tag{letter}": [f"{letter}{n}" for n in range(7)] for letter in "bcdfghjk"}
KINDS = len(SUBJECTS)


def world(number, seed=0):
    """Posts, each with words of one subject, and the subject's hashtag."""
    chance = np.random.default_rng(seed)
    names = list(SUBJECTS)
    return [
        post(" ".join(chance.choice(SUBJECTS[names[n % KINDS]], 6)), [names[n % KINDS]], n / 10)
        for n in range(number)
    ]


def numbered(posts):
    words = {word: n for n, word in enumerate(w for subject in SUBJECTS.values() for w in subject)}
    return [[words[word] for word in one.body.split()] for one in posts]


def test_topics_are_the_subjects():
    posts = numbered(world(240))
    lda = Lda(KINDS, 7 * KINDS, seed=0)
    lda.fit(posts, 200)
    assert lda.word_topic.sum(0) == pytest.approx([1] * KINDS)
    new = [lda.topics(one) for one in numbered(world(10 * KINDS, seed=9))]
    chosen = [int(np.argmax(theta)) for theta in new]
    assert len(set(chosen)) >= KINDS - 1  # a sampler may merge two subjects
    assert chosen == chosen[:KINDS] * 10
    assert all(theta.sum() == pytest.approx(1) for theta in new)
    assert lda.topics([]) == pytest.approx([1 / KINDS] * KINDS)


def test_topics_repeat():
    posts = numbered(world(30))
    found = []
    for seed in (1, 1, 2):
        lda = Lda(3, 7 * KINDS, seed)
        lda.fit(posts, 20)
        found.append(lda.word_topic)
    assert (found[0] == found[1]).all()
    assert (found[0] != found[2]).any()


SMALL = LstmTopConfig(
    topics=8, sweeps=50, embedding=16, hidden=16, batch=10, epochs=15, rate=0.01, dropout=0.2
)


@pytest.fixture(scope="module")
def top():
    pytest.importorskip("torch", reason="torch is not installed")
    from hashnews.baselines.lstm_top import LstmTop

    return LstmTop


def test_it_learns(top, tmp_path):
    model = top(SMALL, 0, tmp_path / "metrics.jsonl")
    model.fit(world(160), world(24, seed=5))
    asked = world(30, seed=7)
    answers = model.suggest(asked, 2)
    right = [a[0].hashtag.key == p.hashtags[0].key for a, p in zip(answers, asked, strict=True)]
    assert np.mean(right) > 0.9
    assert answers[0][0].score > answers[0][1].score
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert 1 <= len(lines) <= SMALL.epochs
    again = top(SMALL, 0)
    again.fit(world(160), world(24, seed=5))
    assert again.suggest(asked, 2) == answers


def test_padding_and_other_posts_change_nothing(top):
    model = top(SMALL.model_copy(update={"epochs": 2}), 0)
    model.fit(world(30), world(6, seed=5))
    short, odd = post("b1", [], 9), post("zzz", [], 9)
    long = post(" ".join(SUBJECTS["tagb"] * 9), [], 9)
    alone = [model.suggest([one], 3)[0] for one in (short, odd, long)]
    together = model.suggest([short, odd, long], 3)
    for one, other in zip(alone, together, strict=True):
        assert [r.hashtag for r in one] == [r.hashtag for r in other]
        assert [r.score for r in one] == pytest.approx([r.score for r in other], abs=1e-5)
