"""Topics: invented posts whose writers said what they are about, and the network over vectors.

How both are taught together with the encoder: `tuning.py`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from hashnews.suggest.topics import NONE, Topics, Turn
from hashnews.text.hashtags import key_of
from hashnews.text.meaning import Meaning, Vectors, unit
from hashnews.text.segment import shipped_segmenter
from sense.lexicons import CUES_WEIGHT, cues_of_topics
from sense.work import HERE

FINE = 0.8  # what a hashtag that would do counts beside one of the best
# A topic nearly like one of a post counts, too: #CatLife where the writer thought of #Cats.
ALIKE, SHARED = 0.7, 0.3  # from which similarity on, and how much
HIDDEN = 256
DROPPED = 0.1, 0.3  # shares of the input, and of the hidden layer
SHARPNESS = 15.0  # s at the beginning
WIDENED = 16.0  # a number of a vector is about 1/16


class Lesson(NamedTuple):
    """An invented post, the hashtags its writer found best, and others that would do."""

    text: str
    best: Sequence[str]
    fine: Sequence[str]


def lessons() -> list[Lesson]:
    """The invented posts."""
    with (HERE / "posts.jsonl").open(encoding="utf-8") as lines:
        return [Lesson(**json.loads(line)) for line in lines]


class TopicsNetwork(nn.Module):
    """The equation of `suggest/topics.py`."""

    def __init__(self, vectors: Vectors):
        super().__init__()
        topics, width = vectors.shape
        self.names = nn.Parameter(torch.from_numpy(vectors), requires_grad=False)
        self.learnt = nn.Parameter(torch.zeros(topics, width))
        self.up, self.down = nn.Linear(width, HIDDEN), nn.Linear(HIDDEN, width)
        self.bias, self.sharpness = (
            nn.Parameter(torch.zeros(topics)),
            nn.Parameter(torch.tensor(SHARPNESS)),
        )
        self.drop_input, self.drop_hidden = map(nn.Dropout, DROPPED)
        nn.init.zeros_(self.down.weight)
        nn.init.zeros_(self.down.bias)

    def forward(self, posts: torch.Tensor) -> torch.Tensor:
        """Scores of all topics for the vectors of some posts."""
        posts = self.drop_input(posts)
        hidden = self.drop_hidden(torch.relu(self.up(WIDENED * posts)))
        turned = posts + self.down(hidden)
        return self.sharpness * (turned @ (self.names + self.learnt).T) + self.bias

    def topics(self, keys: Sequence[str]) -> Topics:
        """What was learnt, as it is used."""
        with torch.no_grad():
            vectors = (self.sharpness * (self.names + self.learnt)).numpy()
            turn = Turn(
                (WIDENED * self.up.weight).numpy(),
                self.up.bias.numpy().copy(),
                self.down.weight.numpy().copy(),
                self.down.bias.numpy().copy(),
            )
            return Topics(tuple(keys), vectors, self.bias.numpy().copy(), turn)


def names_of_topics(encoder: Meaning) -> tuple[list[str], Vectors]:
    """The keys of the editor's topics, none first, and the vectors of their names and cues."""
    segmenter = shipped_segmenter()
    cues = {"".join(segmenter.segment(written)): (segmenter.segment(written), told)
            for written, told in cues_of_topics().items()}  # fmt: skip
    names = encoder.of_posts([" ".join(words) for words, _ in cues.values()])
    told = encoder.of_posts([", ".join(told) for _, told in cues.values()])
    has_cues = np.array([[bool(told)] for _, told in cues.values()], np.float32)
    vectors = unit(names + CUES_WEIGHT * has_cues * told)
    return [NONE, *cues], np.concatenate([np.zeros((1, encoder.width), np.float32), vectors])


def answers_of(given: Sequence[Lesson], keys: Sequence[str], names: Vectors) -> torch.Tensor:
    """What each topic counts for each post; one that is nearly the same has a share."""
    at = {key: place for place, key in enumerate(keys)}
    answers = torch.zeros(len(given), len(keys))
    for row, one in enumerate(given):
        for tags, weight in ((one.fine, FINE), (one.best, 1.0)):
            for tag in tags:
                if (place := at.get(key_of(tag))) is not None:
                    answers[row, place] = weight
        if not one.best and not one.fine:
            answers[row, at[NONE]] = 1
    alike = np.maximum(0, names @ names.T - ALIKE) / (1 - ALIKE)
    np.fill_diagonal(alike, 0)
    return torch.maximum(answers, answers @ torch.from_numpy(SHARED * alike))
