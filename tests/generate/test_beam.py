"""The beam search against greedy, exhaustive and unpruned ones, on toy models without torch."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashnews.generate.batch import Numbered, make_batch
from hashnews.generate.beam import Finished, Hypothesis, largest, search
from hashnews.generate.vocabulary import END, START


class Toy:
    """A table of log-probabilities for every last word and step, another for every post."""

    def __init__(self, seed, posts, words, longest, ending=0.0):
        chance = np.random.default_rng(seed)
        raw = 2.0 * chance.normal(size=(posts, longest + 1, words + 1, words))
        raw[..., END] += ending
        raw = np.round(raw, 1)  # so that there are ties
        table = raw - np.log(np.exp(raw).sum(-1, keepdims=True))
        self.table, self.rows = table.astype(np.float32), 0

    def start(self, batch):
        return None, (np.zeros((batch.size, 1), dtype=np.int64),)

    def step(self, memory, state, last_r, post_r):
        self.rows += len(post_r)
        return self.table[post_r, state[0][:, 0], last_r], (state[0] + 1,)

    def score(self, post, words):
        total, last = np.float32(0), START
        for step, word in enumerate((*words, END)):
            total += self.table[post, step, last, word]
            last = word
        return float(total)


def posts_of(count):
    one = np.ones(1)
    return make_batch([Numbered(one, one, one, np.empty(0), (), ())] * count)


def unpruned(toy, post, width, n, longest):
    """The plainest beam search: no batch, no pruning, everything sorted."""
    live, finished = [((), np.float32(0))], []
    for step in range(longest + 1):
        found = []
        for words, score in live:
            last = words[-1] if words else START
            for word, log in enumerate(toy.table[post, step, last]):
                if (word == END and not words) or (word != END and len(words) == longest):
                    continue
                found.append(((*words, word), score + log))
        found.sort(key=lambda item: -item[1])
        live = [item for item in found[:width] if item[0][-1] != END]
        finished += [(words[:-1], s) for words, s in found[:width] if words[-1] == END]
    finished.sort(key=lambda item: -item[1])
    return finished[:n]


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 8), st.integers(1, 8),
       st.integers(2, 6), st.integers(1, 4))  # fmt: skip
def test_pruning_and_batching_change_nothing(seed, posts, width, n, words, longest):
    toy = Toy(seed, posts, words, longest)
    found = search(toy, posts_of(posts), width, n, longest)
    for post, best in enumerate(found):
        expected = unpruned(toy, post, width, n, longest)
        assert [h.words for h in best] == [words for words, _ in expected]
        np.testing.assert_allclose([h.score for h in best], [s for _, s in expected], rtol=1e-6)
        scores = [h.score for h in best]
        assert scores == sorted(scores, reverse=True)
        assert len({h.words for h in best}) == len(best) <= n
        assert all(1 <= len(h.words) <= longest and END not in h.words for h in best)


@pytest.mark.parametrize("seed", range(20))
def test_width_one_is_greedy(seed):
    toy = Toy(seed, 1, 6, 5)
    words, last = (), START
    for step in range(6):
        log = toy.table[0, step, last].copy()
        if step == 0:
            log[END] = -np.inf
        last = END if step == 5 else int(log.argmax())
        if last == END:
            break
        words += (last,)
    [[best]] = search(toy, posts_of(1), 1, 1, 5)
    assert best.words == words
    assert best.score == pytest.approx(toy.score(0, words), rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_full_width_is_exhaustive(seed):
    toy = Toy(seed, 1, 4, 3)
    every = [w for length in (1, 2, 3) for w in product(range(1, 4), repeat=length)]
    expected = sorted((toy.score(0, words) for words in every), reverse=True)
    [found] = search(toy, posts_of(1), 200, len(every), 3)
    assert {h.words for h in found} == set(every)
    np.testing.assert_allclose([h.score for h in found], expected, rtol=1e-5)
    for hypothesis in found:
        assert hypothesis.score == pytest.approx(toy.score(0, hypothesis.words), rel=1e-5)


def test_pruning_saves_work():
    few, all_of_them = Toy(3, 4, 50, 10, 4.0), Toy(3, 4, 50, 10, 4.0)
    some = search(few, posts_of(4), 20, 5, 10)
    many = search(all_of_them, posts_of(4), 20, 1000, 10)
    assert [best[:5] for best in many] == some
    assert few.rows < all_of_them.rows / 2


def test_the_same_hashtag_written_twice_counts_once():
    toy = Toy(1, 1, 5, 3)
    [found] = search(toy, posts_of(1), 100, 100, 3, lambda post, words: frozenset(words))
    assert len({frozenset(h.words) for h in found}) == len(found)
    [every] = search(toy, posts_of(1), 100, 1000, 3)
    first = {}
    for hypothesis in every:
        first.setdefault(frozenset(hypothesis.words), hypothesis)
    assert found == list(first.values())


def test_finished_keeps_the_earlier_of_equals():
    pool = Finished(2, lambda words: words)
    for words, score in (((1,), -2.0), ((2,), -1.0), ((3,), -2.0), ((4,), -0.5)):
        pool.add(Hypothesis(words, score))
    assert [h.words for h in pool.best] == [(4,), (2,)]
    assert pool.worst == -1.0


@given(st.lists(st.sampled_from([-np.inf, -3.0, -2.5, -1.0, 0.0]) | st.floats(-9, 0), max_size=900),
       st.integers(1, 12))  # fmt: skip
def test_largest_is_a_sort(values, most):
    array = np.array(values, dtype=np.float32)
    order = sorted((i for i in range(len(array)) if array[i] > -np.inf), key=lambda i: -array[i])
    assert largest(array, most) == order[:most]
