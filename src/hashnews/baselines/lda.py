"""Topics of posts: latent Dirichlet allocation by collapsed Gibbs sampling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

FOLDS = 50  # steps of the folding-in of a new post; it settles long before


@njit(cache=True, nogil=True)
def sample(docs, words, topics, doc_topic, word_topic, topic, alpha, beta, chances):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Draw each word's topic anew: p(z = k) ∝ (n_dk + α) (n_wk + β) / (n_k + V β)."""
    kinds, vocabulary = len(topic), len(word_topic)
    running = np.empty(kinds)
    for place in range(len(words)):
        d, w, z = docs[place], words[place], topics[place]
        doc_topic[d, z] -= 1
        word_topic[w, z] -= 1
        topic[z] -= 1
        total = 0.0
        for k in range(kinds):
            share = (word_topic[w, k] + beta) / (topic[k] + vocabulary * beta)
            total += (doc_topic[d, k] + alpha) * share
            running[k] = total
        z = min(kinds - 1, np.searchsorted(running, chances[place] * total))
        topics[place] = z
        doc_topic[d, z] += 1
        word_topic[w, z] += 1
        topic[z] += 1


class Lda:
    """A topic model over numbered words, fitted once."""

    def __init__(self, topics: int, vocabulary: int, seed: int):
        self._topics = topics
        self._vocabulary = vocabulary
        self._chance = np.random.default_rng(seed)
        self._alpha = self._beta = 1 / topics  # as in gensim, which the paper used

    def fit(self, posts: Sequence[Sequence[int]], sweeps: int) -> None:
        """Learn φ, the words of each topic: (n_wk + β) / (n_k + V β)."""
        docs = np.repeat(np.arange(len(posts)), [len(post) for post in posts])
        words = np.array([word for post in posts for word in post], dtype=np.int64)
        topics = self._chance.integers(self._topics, size=len(words))
        doc_topic = np.zeros((len(posts), self._topics))
        word_topic = np.zeros((self._vocabulary, self._topics))
        np.add.at(doc_topic, (docs, topics), 1)
        np.add.at(word_topic, (words, topics), 1)
        topic = word_topic.sum(0)
        for _ in range(sweeps):
            chances = self._chance.random(len(words))
            sample(
                docs, words, topics, doc_topic, word_topic, topic, self._alpha, self._beta, chances
            )
        self.word_topic = (word_topic + self._beta) / (topic + self._vocabulary * self._beta)

    def topics(self, post: Sequence[int]) -> NDArray[np.float64]:
        """θ of any post, with φ as it is: θ_k ∝ α + Σ_w φ_wk θ_k / Σ_k' φ_wk' θ_k'."""
        theta = np.full(self._topics, 1 / self._topics)
        if not len(post):
            return theta
        known = self.word_topic[np.asarray(post)]
        for _ in range(FOLDS):
            shares = known * theta
            theta = self._alpha + (shares / shares.sum(1, keepdims=True)).sum(0)
            theta /= theta.sum()
        return theta
