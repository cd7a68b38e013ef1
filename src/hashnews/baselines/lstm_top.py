# ruff: noqa: N803, N806 - names end in the letters of their shapes
"""LSTM-TOP: an LSTM whose attention goes by the post's topics (Li et al. 2016).

Letters of shapes: B posts, L words, H hidden, K topics, T hashtags.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from hashnews.baselines.base import Hashtags, Ranked
from hashnews.baselines.config import LstmTopConfig
from hashnews.baselines.lda import Lda
from hashnews.metrics import Judged, f1_at
from hashnews.records import PreparedPost
from hashnews.text.stopwords import STOP_WORDS
from hashnews.text.tokens import words

PADDING, UNKNOWN = 0, 1
TOGETHER = 100


class ReadPost(NamedTuple):
    """A post as the network reads it."""

    words: list[int]
    topics: np.ndarray[tuple[int], np.dtype[np.float32]]


class Network(nn.Module):
    """Hashtag scores: W Σ_j a_j h_j with a = softmax_j v · tanh(W θ + U h_j)."""

    def __init__(self, config: LstmTopConfig, vocabulary: int, hashtags: int):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, config.embedding, padding_idx=PADDING)
        self.lstm = nn.LSTM(config.embedding, config.hidden, batch_first=True)
        self.by_topics = nn.Linear(config.topics, config.hidden, bias=False)
        self.by_words = nn.Linear(config.hidden, config.hidden, bias=False)
        self.v = nn.Linear(config.hidden, 1, bias=False)
        self.dropout = nn.Dropout(config.dropout)
        self.write = nn.Linear(config.hidden, hashtags)

    def forward(self, words_BL: Tensor, topics_BK: Tensor) -> Tensor:
        """Scores of all hashtags BT; padding comes last, so the LSTM needs no packing."""
        states_BLH, _ = self.lstm(self.embed(words_BL))
        seen_BLH = torch.tanh(self.by_topics(topics_BK)[:, None, :] + self.by_words(states_BLH))
        scores_BL = self.v(seen_BLH)[:, :, 0].masked_fill(words_BL == PADDING, -math.inf)
        attention_BL = scores_BL.softmax(1)
        post_BH = (attention_BL[:, :, None] * states_BLH).sum(1)
        scores_BT: Tensor = self.write(self.dropout(post_BH))
        return scores_BT


class LstmTop:
    """The baseline: topics and words of a post to one of the hashtags of the training posts."""

    def __init__(self, config: LstmTopConfig, seed: int, metrics: Path | None = None):
        self.config = config
        self._seed = seed
        self._metrics = metrics

    def fit(self, train: Sequence[PreparedPost], validation: Sequence[PreparedPost]) -> None:
        """One topic model and one network from the training posts; the best epoch is kept."""
        config = self.config
        self._hashtags = Hashtags(train)
        counts = Counter(word for post in train for word in words(post.body))
        kept = [word for word, _ in counts.most_common(config.vocabulary)]
        self._numbers = {word: number for number, word in enumerate(kept, UNKNOWN + 1)}
        self._lda = Lda(config.topics, len(kept) + 2, self._seed)
        self._lda.fit([self._topical(post) for post in train], config.sweeps)
        torch.manual_seed(self._seed)
        self._network = Network(config, len(kept) + 2, len(self._hashtags))
        self._train(train, validation)

    def _train(self, train: Sequence[PreparedPost], validation: Sequence[PreparedPost]) -> None:
        config = self.config
        read = [self._read(post) for post in train]
        targets = [self._hashtags.numbers(post) for post in train]
        optimiser = torch.optim.Adam(self._network.parameters(), lr=config.rate)
        chance = np.random.default_rng(self._seed)
        best, best_epoch, lines = (-1.0, -1.0), 0, []
        for epoch in range(1, config.epochs + 1):
            self._network.train()
            order, losses = chance.permutation(len(read)), 0.0
            for start in range(0, len(order), config.batch):
                places = order[start : start + config.batch].tolist()
                scores_BT = self._network(*_batch([read[place] for place in places]))
                rows = [(row, t) for row, place in enumerate(places) for t in targets[place]]
                row_R, tag_R = torch.tensor(rows).T
                # One example for each hashtag of a post, as in the released code.
                loss = -scores_BT.log_softmax(1)[row_R, tag_R].mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                losses += float(loss.detach()) * len(places)
            worth = self._f1(validation, 5), self._f1(validation, 1)  # the second decides a tie
            lines.append({"epoch": epoch, "mean_loss": losses / len(order), "f1@5": worth[0]})
            if worth > best:
                best, best_epoch = worth, epoch
                weights = {n: value.clone() for n, value in self._network.state_dict().items()}
            self._note(lines)
            if epoch - best_epoch >= config.patience:
                break
        self._network.load_state_dict(weights)

    def suggest(self, posts: Sequence[PreparedPost], n: int) -> list[list[Ranked]]:
        """The likeliest hashtags, with their log-probabilities."""
        self._network.eval()
        answers = []
        with torch.inference_mode():
            for start in range(0, len(posts), TOGETHER):
                read = [self._read(post) for post in posts[start : start + TOGETHER]]
                log_BT = self._network(*_batch(read)).log_softmax(1).double().numpy()
                answers += [self._hashtags.best(log_T, n) for log_T in log_BT]
        return answers

    def _f1(self, posts: Sequence[PreparedPost], k: int) -> float:
        """Micro F1@K on validation posts."""
        return f1_at(k, map(judged, posts, self.suggest(posts, k)))

    def _read(self, post: PreparedPost) -> ReadPost:
        numbers = [self._numbers.get(word, UNKNOWN) for word in words(post.body)]
        topics = self._lda.topics(self._topical(post)).astype(np.float32)
        return ReadPost(numbers[: self.config.length] or [UNKNOWN], topics)

    def _topical(self, post: PreparedPost) -> list[int]:
        """The words that tell a topic: known ones, no stop words."""
        said = (word for word in words(post.body) if word not in STOP_WORDS)
        return [self._numbers[word] for word in said if word in self._numbers]

    def _note(self, lines: list[dict[str, float]]) -> None:
        if self._metrics is not None:
            text = "".join(json.dumps(line) + "\n" for line in lines)
            self._metrics.write_text(text, encoding="utf-8")


def judged(post: PreparedPost, answer: Sequence[Ranked]) -> Judged:
    """The hashtags of a post beside those suggested for it."""
    suggested = tuple(ranked.hashtag.words for ranked in answer)
    return Judged(tuple(tag.words for tag in post.hashtags), suggested)


def _batch(posts: Sequence[ReadPost]) -> tuple[Tensor, Tensor]:
    longest = max(len(post.words) for post in posts)
    words_BL = torch.full((len(posts), longest), PADDING)
    for row, post in enumerate(posts):
        words_BL[row, : len(post.words)] = torch.tensor(post.words)
    return words_BL, torch.from_numpy(np.stack([post.topics for post in posts]))
