"""The second opinion: a small network taught on the grades."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from hashnews.arrays import Array
from hashnews.suggest.judges import READ
from hashnews.suggest.network import SecondOpinion
from hashnews.suggest.sources import PLACE
from sense.school import Graded

GRADE_WEIGHTS = {2: 1.5, -1: 1.7}  # sure grades weigh more
HIDDEN, EPOCHS, BATCH, RATE, DECAY = 512, 40, 256, 1e-3, 0.01
DROPPED = 0.3, 0.4  # shares of the inputs, and of the hidden layer
TELLING = 1e-4  # a feature that deviates less says nothing: there is no memory in school


def weights_of(grades: Array) -> Array:
    """What each grade weighs."""
    given = [grades == grade for grade in GRADE_WEIGHTS]
    found: Array = np.select(given, list(GRADE_WEIGHTS.values()), 1.0)
    return found


def second_opinion(graded: Sequence[Graded], seed: int = 1) -> SecondOpinion:
    """A network taught on features, vectors and grades; the same seed gives the same one."""
    torch.manual_seed(seed)
    features = np.concatenate([one.features for one in graded])
    vectors = np.concatenate([one.vectors for one in graded])
    grades = np.concatenate([one.grades for one in graded])
    spread = {name: float(features[:, PLACE[name]].std()) for name in READ}
    names = tuple(name for name in READ if spread[name] > TELLING)
    mean = features[:, [PLACE[name] for name in names]].mean(axis=0)
    deviation = np.array([spread[name] for name in names], np.float32)
    none = np.zeros((len(names) + vectors.shape[1], 0), np.float32)
    network = SecondOpinion(names, mean, deviation, none, *[none[0]] * 3)
    inputs = torch.from_numpy(network.inputs(features, vectors))
    answers = torch.from_numpy((grades >= 1).astype(np.float32))
    weights = torch.from_numpy(weights_of(grades).astype(np.float32))
    first, second = nn.Linear(inputs.shape[1], HIDDEN), nn.Linear(HIDDEN, 1)
    layers = nn.Sequential(nn.Dropout(DROPPED[0]), first, nn.ReLU(), nn.Dropout(DROPPED[1]), second)
    _teach(layers, inputs, answers, weights)
    return network._replace(
        first=first.weight.detach().numpy().T.copy(),
        bias=first.bias.detach().numpy(),
        second=second.weight.detach().numpy()[0],
        constant=second.bias.detach().numpy(),
    )


def _teach(
    layers: nn.Module, inputs: torch.Tensor, answers: torch.Tensor, weights: torch.Tensor
) -> None:
    """AdamW over all rows again and again, ever slower."""
    optimiser = torch.optim.AdamW(layers.parameters(), RATE, weight_decay=DECAY)
    steps = EPOCHS * -(-len(inputs) // BATCH)
    slower = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 1e-3, steps)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(inputs)).split(BATCH):
            said = layers(inputs[rows])[:, 0]
            loss = binary_cross_entropy_with_logits(said, answers[rows], weight=weights[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            slower.step()
