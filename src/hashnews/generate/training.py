"""Training: the loop in plain sight; an interrupted run resumes bit for bit.

    hashnews train generator -c configs/generator.toml -o model/
    torchrun --nproc-per-node 2 -m hashnews train generator -c … -o …   (several processes)

Beside the model directory lies `<name>.training` with `metrics.jsonl` and the last checkpoint; the
same command resumes from there. All chance of a step comes from (seed, step, process), so that a
checkpoint needs no state of a random generator. Several processes each take their share of the
batches of an epoch and average their gradients.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file, save_file
from torch import distributed, nn

from hashnews.errors import ConfigError, DataError, ModelError
from hashnews.generate.batch import Example, Numbered, Numberer, batches, make_batch, read_examples
from hashnews.generate.config import TrainingConfig
from hashnews.generate.export import require_exporter, save_model
from hashnews.generate.generator import Generated, generate
from hashnews.generate.model import GeneratorModel, TorchRuntime
from hashnews.generate.vocabulary import HASHTAG_SIGNS, SOURCE_SIGNS, Vocabulary
from hashnews.metrics import Judged, drawn, f1_at
from hashnews.saved import check_directory, new_directory

CHECKPOINT = "generator-checkpoint"


class Progress(NamedTuple):
    """How far the training is; the loss is that of the last step, per hashtag."""

    epoch: int
    step: int
    steps: int
    loss: float
    seconds_left: float


class Data(NamedTuple):
    """What is learnt from, and what is measured on."""

    numberer: Numberer
    train: list[Numbered]
    validation: list[Example]


class EpochScore(NamedTuple):
    """What an epoch is worth on validation posts."""

    perplexity: float
    f1: float


@dataclass
class Position:
    """Where a run is; with weights and optimiser this is all of its state."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    loss: float = 0.0  # sum over the steps of the epoch
    perplexities: list[float] = field(default_factory=list)
    best_epoch: int = -1
    kept: list[float] = field(default_factory=list)  # what the best epoch was worth
    metrics: int = 0  # bytes of metrics.jsonl


def rate_after(perplexities: Sequence[float], rate: float, decay: float) -> float:
    """The rate · decay^(epochs since the perplexity first rose, that one included).

    As in the released code: once it has risen, every epoch decays, also one that gets better.
    """
    first = next(
        (epoch for epoch, (old, new) in enumerate(pairwise(perplexities), 1) if new > old), None
    )
    return rate if first is None else rate * decay ** (len(perplexities) - first)


def judged(example: Example, answer: Sequence[Generated]) -> Judged:
    """The hashtags of a post beside those written for it."""
    return Judged(example.hashtags, tuple(generated.words for generated in answer))


def load_data(config: TrainingConfig) -> Data:
    """Count the words of the training posts, then number them: twice through the files."""
    source: Counter[str] = Counter()
    hashtag: Counter[str] = Counter()
    for example in _examples(config, "train"):
        source.update(example.post)
        source.update(example.context)
        for tag in example.hashtags:
            hashtag.update(tag)
    if not hashtag:
        raise DataError("has no training posts: prepare it with a split", config.posts)
    numberer = Numberer(
        config.model,
        Vocabulary.count(SOURCE_SIGNS, source, config.source_least, config.source_words),
        Vocabulary.count(HASHTAG_SIGNS, hashtag, config.hashtag_least),
    )
    train = [numberer(example) for example in _examples(config, "train")]
    validation = list(_examples(config, "validation"))
    if not validation:
        raise DataError("has no validation posts: prepare it with a split", config.posts)
    return Data(numberer, train, validation)


def _examples(config: TrainingConfig, part: str) -> Iterator[Example]:
    for post, example in read_examples(config.model, config.posts, config.contexts):
        if post.split == part:
            yield example


def train(
    config: TrainingConfig, out: Path, progress: Callable[[Progress], None] = lambda _: None
) -> EpochScore:
    """Train a model and write its directory; return the scores of the kept epoch."""
    require_exporter()
    with _processes() as (rank, world):
        torch.set_num_threads(config.threads)
        return Trainer(config, load_data(config), out, rank, world).run(progress)


@contextmanager
def _processes() -> Iterator[tuple[int, int]]:
    """The number of this process and of all; torchrun says them."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        yield 0, 1
        return
    distributed.init_process_group("gloo")
    try:
        yield distributed.get_rank(), world
    finally:
        distributed.destroy_process_group()


class Trainer:
    """One run: the model, its optimiser, where it is, and where its files are."""

    def __init__(self, config: TrainingConfig, data: Data, out: Path, rank: int, world: int):
        self.config = config
        self.data = data
        self.out = out
        self.rank = rank
        self.world = world
        self.folder = out.with_name(f"{out.name}.training")
        self.metrics = self.folder / "metrics.jsonl"
        self.checkpoint = self.folder / "checkpoint"
        torch.manual_seed(config.seed)
        numberer = data.numberer
        self.model = GeneratorModel(config.model, len(numberer.source), len(numberer.hashtag))
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=config.rate, fused=True)
        self.position = Position()
        self.best = self._weights()
        self.parallel: nn.Module = self.model
        if world > 1:
            self.parallel = nn.parallel.DistributedDataParallel(self.model)

    def run(self, progress: Callable[[Progress], None]) -> EpochScore:
        """All epochs from where the run is, then the export of the best."""
        self._resume()
        position, config = self.position, self.config
        started, first = time.monotonic(), position.step
        while position.epoch < config.epochs and not self._stale():
            order = self._share()
            total = len(order) * config.epochs
            self.model.train()
            for places in order[position.batch :]:
                loss = self._step(places)
                pace = (time.monotonic() - started) / (position.step - first)
                left = pace * (total - position.step)
                if position.step % config.checkpoint_steps == 0:
                    self._save()
                progress(Progress(position.epoch + 1, position.step, total, loss, left))
            self._end_epoch(len(order))
        self.model.load_state_dict(self.best)
        measured = EpochScore(*position.kept)
        if self.rank == 0:
            trained = config.model_dump(mode="json", exclude={"posts", "contexts"})
            about = {"trained": trained, "epoch": position.best_epoch + 1}
            about["validation"] = measured._asdict()
            save_model(self.model, self.data.numberer, self.out, about, config.int8)
        return measured

    def _share(self) -> list[list[int]]:
        """The epoch's batches for this process; the first come again where they do not divide."""
        config, epoch = self.config, self.position.epoch
        order = batches(self.data.train, config.batch, config.seed, epoch)
        order += order[: -len(order) % self.world]
        return order[self.rank :: self.world]

    def _step(self, places: list[int]) -> float:
        """One step of Adam on one batch; returns the loss per hashtag."""
        position, config = self.position, self.config
        chance = f"{config.seed} {position.step} {self.rank}".encode()
        torch.manual_seed(int.from_bytes(hashlib.sha256(chance).digest()[:8], "big") >> 1)
        batch = make_batch([self.data.train[place] for place in places])
        rate = rate_after(position.perplexities, config.rate, config.decay)
        self.optimiser.param_groups[0]["lr"] = rate
        self.optimiser.zero_grad()
        loss = self.parallel(batch).sum() / len(batch.post_R)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), config.clip)
        self.optimiser.step()
        value = float(loss.detach())
        if not math.isfinite(value):
            raise ModelError(f"the loss is {value} at step {position.step + 1}: lower the rate")
        position.batch += 1
        position.step += 1
        position.loss += value
        line = {"step": position.step, "epoch": position.epoch + 1, "loss": value, "rate": rate}
        self._note(line)
        return value

    def _end_epoch(self, steps: int) -> None:
        """Measure, keep the weights if they are the best so far, and save."""
        position = self.position
        measured = self._measure()
        position.perplexities.append(measured.perplexity)
        if not position.kept or self._worth(measured) > self._worth(EpochScore(*position.kept)):
            position.kept, position.best_epoch = list(measured), position.epoch
            self.best = self._weights()
        found = {"perplexity": measured.perplexity, "f1@5": measured.f1}
        self._note({"epoch": position.epoch + 1, "mean_loss": position.loss / steps, **found})
        position.epoch, position.batch, position.loss = position.epoch + 1, 0, 0.0
        self._save()

    def _worth(self, measured: EpochScore) -> tuple[float, float]:
        """What the epochs are compared by, more is better; the other figure decides a tie."""
        perplexity, f1 = measured
        return (f1, -perplexity) if self.config.select == "f1@5" else (-perplexity, f1)

    def _stale(self) -> bool:
        """Early stopping: whether the last epochs have brought nothing better."""
        return self.position.epoch - 1 - self.position.best_epoch >= self.config.patience

    def _measure(self) -> EpochScore:
        """Validation perplexity and F1@5, by the first process for all."""
        found = torch.zeros(2, dtype=torch.float64)
        if self.rank == 0:
            self.model.eval()
            found[:] = torch.tensor([self._perplexity(), self._f1()], dtype=torch.float64)
        if self.world > 1:
            distributed.broadcast(found, 0)
        return EpochScore(*found.tolist())

    @torch.inference_mode()
    def _perplexity(self) -> float:
        """The exp of the mean loss per word, over the hashtags that can be written."""
        numbered = [self.data.numberer(example) for example in self.data.validation]
        total, words = 0.0, 0
        for places in batches(numbered, self.config.batch, 0, 0):
            losses = self.model(make_batch([numbered[place] for place in places]))
            total += float(losses.double().sum())
            words += losses.numel()
        if not words:
            raise DataError(
                "no validation hashtag can be written: too few posts?", self.config.posts
            )
        return math.exp(min(total / words, 700.0))

    def _f1(self) -> float:
        """F1@5 on validation posts drawn with the seed."""
        config = self.config
        examples = drawn(self.data.validation, config.validation_posts, config.seed)
        answers = generate(TorchRuntime(self.model), self.data.numberer, examples, 5)
        return f1_at(5, map(judged, examples, answers))

    def _weights(self) -> dict[str, torch.Tensor]:
        return {name: value.clone() for name, value in self.model.state_dict().items()}

    def _note(self, line: dict[str, Any]) -> None:
        """Add a line to metrics.jsonl."""
        if self.rank != 0:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.metrics.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
            self.position.metrics = stream.tell()

    def _same(self) -> str:
        """Names everything the weights depend on: a checkpoint of another run is refused."""
        free = {"threads", "epochs", "patience", "checkpoint_steps", "int8"}
        numberer = self.data.numberer
        parts = (self.data.train, self.data.validation, numberer.source, numberer.hashtag)
        sizes = " ".join(str(len(part)) for part in parts)
        known = f"{self.config.model_dump_json(exclude=free)} {sizes} {self.world}"
        return hashlib.sha256(known.encode()).hexdigest()

    def _save(self) -> None:
        """Write a checkpoint, whole or not at all."""
        if self.rank == 0:
            about = {"run": self._same(), "position": asdict(self.position)}
            with new_directory(self.checkpoint, CHECKPOINT, about) as scratch:
                save_file(self.model.state_dict(), scratch / "weights.safetensors")
                save_file(self.best, scratch / "best.safetensors")
                save_file(self._moments(), scratch / "adam.safetensors")
        if self.world > 1:
            distributed.barrier()

    def _moments(self) -> dict[str, torch.Tensor]:
        """Adam's state as named tensors."""
        state = self.optimiser.state_dict()["state"]
        return {f"{number}.{name}": t for number, part in state.items() for name, t in part.items()}

    def _resume(self) -> None:
        """Go on from the checkpoint, if there is one of this very run."""
        if not self.checkpoint.exists():
            if self.rank == 0:
                self.metrics.unlink(missing_ok=True)
            return
        about = check_directory(self.checkpoint, CHECKPOINT)
        if about["run"] != self._same():
            raise ConfigError(
                f"{self.folder} holds a run with other settings or posts: "
                "remove it, or give another place with -o"
            )
        self.position = Position(**about["position"])
        self.model.load_state_dict(load_file(self.checkpoint / "weights.safetensors"))
        self.best = load_file(self.checkpoint / "best.safetensors")
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, tensor in load_file(self.checkpoint / "adam.safetensors").items():
            number, part = name.split(".")
            state.setdefault(int(number), {})[part] = tensor
        self.optimiser.load_state_dict({**self.optimiser.state_dict(), "state": state})
        if self.rank == 0:
            os.truncate(self.metrics, self.position.metrics)
