"""Topics against the equation written out, and what damaged files are."""

import math

import numpy as np
import pytest

from hashnews.errors import ModelError
from hashnews.saved import new_directory
from hashnews.suggest.lexicon import Lexicon, LexiconEntry, shipped_lexicon
from hashnews.suggest.topics import KIND, NO_TOPICS, NONE, UNLIKELY, Topics, Turn, shipped_topics
from hashnews.text.meaning import shipped_meaning

WIDTH, HIDDEN = 5, 3


def topics_of(chance, keys=(NONE, "dogs", "cats", "bread")):
    def draw(*shape):
        return chance.normal(size=shape).astype(np.float32)

    turn = Turn(draw(HIDDEN, WIDTH), draw(HIDDEN), draw(WIDTH, HIDDEN), draw(WIDTH))
    return Topics(keys, draw(len(keys), WIDTH), draw(len(keys)), turn)


def by_hand(topics, vector):
    """The equation of the module, number by number."""
    up, up_bias, down, down_bias = topics.turn
    hidden = [max(0.0, sum(a * m for a, m in zip(row, vector, strict=True)) + bias)
              for row, bias in zip(up, up_bias, strict=True)]  # fmt: skip
    turned = [m + sum(b * h for b, h in zip(row, hidden, strict=True)) + bias
              for m, row, bias in zip(vector, down, down_bias, strict=True)]  # fmt: skip
    scores = [sum(t * q for t, q in zip(row, turned, strict=True)) + bias
              for row, bias in zip(topics.vectors, topics.bias, strict=True)]  # fmt: skip
    total = math.log(sum(math.exp(score) for score in scores))
    return [max(UNLIKELY, score - total) for score in scores]


def test_topics_are_as_likely_as_the_equation_says():
    chance = np.random.default_rng(1)
    for _ in range(20):
        topics, vector = topics_of(chance), chance.normal(size=WIDTH).astype(np.float32)
        found = topics.of(vector)
        assert found.tolist() == pytest.approx(by_hand(topics, vector), abs=1e-4)
        assert np.exp(found).sum() == pytest.approx(1, abs=1e-4)


def test_what_is_not_known_is_unlikely():
    assert NO_TOPICS.of(np.ones(3, np.float32)).tolist() == []
    topics = topics_of(np.random.default_rng(1))
    assert topics.of(np.ones(WIDTH + 1, np.float32)).tolist() == [UNLIKELY] * 4  # another space


def test_the_lexicon_has_them_in_the_order_of_its_rows():
    chance = np.random.default_rng(2)
    topics, vector = topics_of(chance), chance.normal(size=WIDTH).astype(np.float32)
    entries = [LexiconEntry(row, (key,), f"#{key}", 9, 0, 0)
               for row, key in enumerate(("bread", "unknown", "dogs", "plain"))]  # fmt: skip
    three = np.zeros((3, WIDTH), np.float32)  # the last entry is no topic
    none, likely = Lexicon(entries, three).taught_by(topics).likely(vector)
    said = dict(zip(topics.keys, topics.of(vector).tolist(), strict=True))
    assert none == pytest.approx(said[NONE])
    assert likely.tolist() == pytest.approx([said["bread"], UNLIKELY, said["dogs"]])
    none, likely = Lexicon(entries, three).likely(vector)
    assert (none, likely.tolist()) == (UNLIKELY, [UNLIKELY] * 3)


def test_topics_come_back_from_their_file(tmp_path):
    topics = topics_of(np.random.default_rng(3))
    with new_directory(tmp_path / "topics", KIND, {}) as scratch:
        topics.save(scratch)
    again = Topics.load(tmp_path / "topics")
    assert again.keys == topics.keys
    vector = np.ones(WIDTH, np.float32)
    assert again.of(vector).tolist() == pytest.approx(topics.of(vector).tolist(), abs=0.2)
    with pytest.raises(ValueError, match="nothing to save"):
        NO_TOPICS.save(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"bias": np.zeros(3, np.float32)},
        {"bias": np.full(4, np.nan, np.float32)},
        {"down": np.zeros((HIDDEN, WIDTH), np.float32)},
        {"up": np.zeros(WIDTH, np.float32)},
        {"vectors": np.zeros((3, WIDTH), np.int8)},
        {"keys": np.zeros(2, np.uint8)},
    ],
)
def test_what_does_not_fit_together_is_refused(tmp_path, change):
    topics = topics_of(np.random.default_rng(3))
    with new_directory(tmp_path / "whole", KIND, {}) as scratch:
        topics.save(scratch)
    with np.load(tmp_path / "whole" / "topics.npz") as read:
        arrays = dict(read)
    with new_directory(tmp_path / "changed", KIND, {}) as scratch:
        np.savez(scratch / "topics.npz", **arrays | change)
    with pytest.raises(ModelError, match="holds no topics"):
        Topics.load(tmp_path / "changed")


@pytest.mark.parametrize(
    ("post", "topic"),
    [
        ("she ate the whole wheel of brie and now the vet wants to see her", "dogs"),
        ("day four of the starter and it finally doubled overnight", "sourdough"),
        ("cancelled again, third day this week, and no bus either", "publictransport"),
        ("haha no way", NONE),
    ],
)
def test_the_shipped_topics_know_what_goes_unsaid(post, topic):
    topics = shipped_topics()
    likely = topics.of(shipped_meaning().of_posts([post])[0])
    best = [topics.keys[place] for place in np.argsort(-likely)[:12].tolist()]
    assert topic in best, best
    assert set(topics.keys[1:]) <= {entry.key for entry in shipped_lexicon().entries}
