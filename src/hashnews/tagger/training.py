"""The training run: seeded, resumable, stopped early by the dev parts."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from hashnews.errors import ConfigError
from hashnews.saved import new_directory
from hashnews.tagger.config import TaggerConfig
from hashnews.tagger.corpora import (
    IGNORED,
    MASKED,
    Mixer,
    Sentence,
    TaggerBatch,
    read_conll,
)
from hashnews.tagger.export import (
    fill_directory,
)
from hashnews.tagger.finder import (
    DIRECTORY_KIND,
    LAST_SPECIAL,
    Wordpieces,
)
from hashnews.tagger.measure import (
    Scorer,
    lower,
    measure,
)
from hashnews.tagger.network import TaggerNetwork, load_encoder

BEST = "best.safetensors"
BOLDNESS = (0.0, 0.25, 0.5, 0.75)
CALIBRATION_BATCHES = 20
WHERE_IT_STANDS = ("step", "epoch", "best", "best_epoch")
Progress = Callable[[dict[str, Any]], None]


class TaggerTraining:
    """The state of a training run: network, moving average, optimiser and where it stands."""

    def __init__(self, config: TaggerConfig, steps_per_epoch: int):
        self.config = config
        self.total_steps = config.epochs * steps_per_epoch
        torch.manual_seed(config.seed)
        self.network = load_encoder(config.encoder, config.layers, config.dropout)
        self.average = load_encoder(config.encoder, config.layers, config.dropout).eval()
        self.average.load_state_dict(self.network.state_dict())
        self.optimiser = self._new_optimiser()
        self.step = 0
        self.epoch = 0
        self.best = -math.inf
        self.best_epoch = 0

    def _new_optimiser(self) -> torch.optim.AdamW:
        """What is new learns faster than what was trained before."""
        new: list[nn.Parameter] = []
        old: list[nn.Parameter] = []
        for name, weights in self.network.named_parameters():
            (new if name.startswith(("head.", "shapes.")) else old).append(weights)
        groups = [
            {"params": old, "base_rate": self.config.encoder_rate},
            {"params": new, "base_rate": self.config.head_rate},
        ]
        return torch.optim.AdamW(groups, weight_decay=self.config.weight_decay, fused=True)

    @property
    def is_over(self) -> bool:
        """Whether all epochs are done, or the last `patience` of them brought nothing."""
        stale = self.epoch - self.best_epoch >= self.config.patience
        return self.epoch >= self.config.epochs or stale

    def train_epoch(self, batches: Sequence[TaggerBatch]) -> Iterator[float]:
        """Learn from all batches; yields the loss of each."""
        torch.manual_seed(self.config.seed * 1000 + self.epoch)  # so that a resumed run is the same
        self.network.train()
        for batch in batches:
            yield self._learn(batch)
        self.epoch += 1

    def _learn(self, batch: TaggerBatch) -> float:
        factor = self._rate_factor()
        for group in self.optimiser.param_groups:
            group["lr"] = group["base_rate"] * factor
        loss = self._loss(self.network(self._hide(batch.pieces), batch.shapes), batch)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self._update_average()
        self.step += 1
        return loss.item()

    def _rate_factor(self) -> float:
        """Linear warm-up, then linear decay."""
        warm = self.config.warmup * self.total_steps
        if self.step < warm:
            return (self.step + 1) / warm
        return max(0.01, (self.total_steps - self.step) / (self.total_steps - warm))

    def _hide(self, pieces: Tensor) -> Tensor:
        """Pieces with some of them masked, so that names are learnt from their context too."""
        hidden = torch.rand(pieces.shape) < self.config.hidden
        return torch.where(hidden & (pieces > LAST_SPECIAL), MASKED, pieces)

    def _loss(self, scores: Tensor, batch: TaggerBatch) -> Tensor:
        losses = functional.cross_entropy(
            scores.flatten(0, 1),
            batch.labels.flatten(),
            ignore_index=IGNORED,
            reduction="none",
            label_smoothing=self.config.smoothing,
        ).view_as(batch.labels)
        weights = batch.weights[:, None] * (batch.labels != IGNORED)
        total: Tensor = (losses * weights).sum() / weights.sum().clamp(min=1)
        return total

    @torch.no_grad()
    def _update_average(self) -> None:
        keep = min(self.config.averaging, (1 + self.step) / (10 + self.step))
        for ours, theirs in zip(self.average.parameters(), self.network.parameters(), strict=True):
            ours.lerp_(theirs, 1 - keep)

    def save(self, directory: Path) -> None:
        """Write all of the state; the small JSON file comes last and names what belongs to it."""
        directory.mkdir(parents=True, exist_ok=True)
        for name, tensors in self._tensors().items():
            _replace(directory / f"{name}-{self.epoch}.safetensors", tensors)
        state = {name: getattr(self, name) for name in WHERE_IT_STANDS}
        settings = self.config.model_dump(mode="json")
        scratch = directory / "state.json.tmp"
        scratch.write_text(json.dumps({"settings": settings, **state}), "utf-8")
        os.replace(scratch, directory / "state.json")
        for old in directory.glob("*-*.safetensors"):
            if not old.stem.endswith(f"-{self.epoch}"):
                old.unlink()

    def resume(self, directory: Path) -> None:
        """Go on from what `save` wrote, if it wrote anything."""
        if not (directory / "state.json").exists():
            return
        state = json.loads((directory / "state.json").read_text("utf-8"))
        if state["settings"] != self.config.model_dump(mode="json"):
            raise ConfigError(
                f"{directory} belongs to a run with other settings: remove or move it"
            )
        for name in WHERE_IT_STANDS:
            setattr(self, name, state[name])
        saved = {
            name: load_file(directory / f"{name}-{self.epoch}.safetensors")
            for name in ("network", "average", "optimiser")
        }
        self.network.load_state_dict(saved["network"])
        self.average.load_state_dict(saved["average"])
        optimiser = self.optimiser.state_dict()
        for key, tensor in saved["optimiser"].items():
            number, _, name = key.partition(".")
            optimiser["state"].setdefault(int(number), {})[name] = tensor
        self.optimiser.load_state_dict(optimiser)

    def _tensors(self) -> dict[str, dict[str, Tensor]]:
        moments = {
            f"{number}.{name}": tensor
            for number, values in self.optimiser.state_dict()["state"].items()
            for name, tensor in values.items()
        }
        return {
            "network": self.network.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": moments,
        }


def _replace(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write tensors whole or not at all."""
    scratch = path.with_name(path.name + ".tmp")
    save_file(tensors, scratch)
    os.replace(scratch, path)


def prepare_mixer(config: TaggerConfig, pieces: Wordpieces) -> Mixer:
    """Read all training sentences."""
    gold = [one for path in config.train for one in read_conll(path)]
    silver = [one for path in config.silver for one in read_conll(path)]
    return Mixer(gold, silver, pieces, config)


def read_dev(config: TaggerConfig) -> dict[str, list[Sentence]]:
    """The sets that decide what is kept; the first also in lower case."""
    parts = {path.name.partition(".conll")[0]: read_conll(path) for path in config.dev}
    first = next(iter(parts))
    return parts | {f"{first}.lower": lower(parts[first])}


@torch.no_grad()
def measure_all(
    network: Scorer, parts: dict[str, list[Sentence]], pieces: Wordpieces, limit: int
) -> dict[str, float]:
    """The F1 on each part and their mean."""
    figures = {name: measure(network, part, pieces, limit).f1 for name, part in parts.items()}
    return figures | {"mean": sum(figures.values()) / len(figures)}


def choose_boldness(
    network: TaggerNetwork, parts: dict[str, list[Sentence]], pieces: Wordpieces, limit: int
) -> float:
    """Lower the network's bias towards "no entity" by what is best on dev, and give how much.

    Tweet corpora leave many names unlabelled, so that what is learnt from them is too shy.
    """
    bias = network.head.bias.data
    means = {}
    for boldness in BOLDNESS:
        bias[0] -= boldness
        means[boldness] = measure_all(network, parts, pieces, limit)["mean"]
        bias[0] += boldness
    best = max(BOLDNESS, key=means.__getitem__)
    bias[0] -= best
    return best


def ignore(_: dict[str, Any]) -> None:
    """Progress that nobody wants to see."""


def train(config: TaggerConfig, out: Path, progress: Progress = ignore) -> Path:
    """Train, or go on training, and write the model directory `out`.

    The state of the run stands in `out`.training beside it, with a line per epoch in
    metrics.jsonl; `progress` is told of every step and every epoch.
    """
    torch.set_num_threads(config.threads)
    state = out.with_name(out.name + ".training")
    tokeniser = config.encoder / "tokenizer.json"
    pieces = Wordpieces(Tokenizer.from_file(str(tokeniser)))
    mixer, dev = prepare_mixer(config, pieces), read_dev(config)
    run = TaggerTraining(config, len(mixer.epoch(0)))
    run.resume(state)
    while not run.is_over:
        batches = mixer.epoch(run.epoch)
        for number, loss in enumerate(run.train_epoch(batches), 1):
            progress({"epoch": run.epoch, "batch": number, "of": len(batches), "loss": loss})
        figures = measure_all(run.average, dev, pieces, config.max_pieces)
        if figures["mean"] > run.best:
            run.best, run.best_epoch = figures["mean"], run.epoch
            state.mkdir(parents=True, exist_ok=True)
            _replace(state / BEST, run.average.state_dict())
        run.save(state)
        line = {"epoch": run.epoch, "step": run.step, **figures}
        with (state / "metrics.jsonl").open("a", encoding="utf-8") as metrics:
            metrics.write(json.dumps(line) + "\n")
        progress(line)
    run.average.load_state_dict(mean_weights([state / BEST, *config.blend]))
    boldness = choose_boldness(run.average, dev, pieces, config.max_pieces)
    figures = measure_all(run.average, dev, pieces, config.max_pieces)
    about = {
        "epoch": run.best_epoch,
        "boldness": boldness,
        "dev": {name: round(figure, 2) for name, figure in figures.items()},
    }
    with new_directory(out, DIRECTORY_KIND, about) as directory:
        fill_directory(directory, run.average, mixer.epoch(0)[:CALIBRATION_BATCHES], config)
    return out


def mean_weights(paths: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of the weights of runs that began with the same seed: better than each of them.

    Such a blend costs nothing at run time (Wortsman et al. 2022, Model soups).
    """
    runs = [load_file(path) for path in paths]
    return {name: torch.stack([one[name] for one in runs]).mean(0) for name in runs[0]}
