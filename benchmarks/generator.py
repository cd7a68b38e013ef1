"""The generator: cost of training, of beam search, and what ONNX and int8 change.

    python benchmarks/generator.py MODEL POSTS CONTEXTS [train] [beam] [batch] [agree] [int8]
    python benchmarks/generator.py MODEL POSTS CONTEXTS train --new --rounds 4

MODEL is a trained directory (`hashnews train generator`), POSTS and CONTEXTS what it learnt from;
with --new it is made, at the paper's size and untrained: what a training pair costs needs no more.
`train` and `beam` compare with OpenNMT-py (see peer_onmt.py for its installation). One thread, time
of the processor, medians; the systems take turns. `batch` uses two processes and the clock.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path

import torch
from safetensors.torch import load_file

from hashnews.generate.batch import (
    Example,
    Numbered,
    Numberer,
    batches,
    make_batch,
    read_examples,
)
from hashnews.generate.config import TrainingConfig
from hashnews.generate.export import save_model
from hashnews.generate.generator import Generator, generate
from hashnews.generate.model import GeneratorModel, TorchRuntime
from hashnews.generate.training import judged, load_data
from hashnews.metrics import f1_at

PARTS = ("train", "beam", "batch", "agree", "int8")
N = 10


def processor(work: Callable[[], object]) -> float:
    """Milliseconds of the processor."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def examples(model: Path, posts: Path, contexts: Path, part: str, most: int) -> list[Example]:
    """Posts of one part of the split."""
    config = Generator.load(model).config
    read = read_examples(config, posts, contexts)
    wanted = (example for post, example in read if post.split == part and example.hashtags)
    return list(islice(wanted, most))


def make(model: Path, posts: Path, contexts: Path) -> None:
    """An untrained model of the paper's size, with the words of these posts."""
    config = TrainingConfig.model_validate({"posts": posts, "contexts": contexts})
    numberer = load_data(config).numberer
    network = GeneratorModel(config.model, len(numberer.source), len(numberer.hashtag))
    save_model(network, numberer, model, {}, int8=False)


def train(model: Path, known: Sequence[Example], rounds: int = 12) -> None:
    """Cost of a training pair against OpenNMT-py, both at the size of the model."""
    from peer_onmt import Peer

    _, numberer = load_model(model)
    numbered = [numberer(example) for example in known]
    ours = GeneratorModel(numberer.config, len(numberer.source), len(numberer.hashtag)).train()
    optimiser = torch.optim.Adam(ours.parameters(), lr=0.001, fused=True)
    peer = Peer(numberer)

    def step(some: list[Numbered]) -> None:
        batch = make_batch(some)
        optimiser.zero_grad()
        (ours(batch).sum() / len(batch.post_R)).backward()
        torch.nn.utils.clip_grad_norm_(ours.parameters(), 1.0)
        optimiser.step()

    costs: dict[str, list[float]] = {"hashnews": [], "OpenNMT-py": []}
    for places in batches(numbered, 64, 0, 0)[:rounds]:
        some = [numbered[place] for place in places]
        pairs = peer.pairs(some)
        costs["hashnews"].append(processor(lambda some=some: step(some)) / len(pairs))
        theirs = [pairs[first : first + 64] for first in range(0, len(pairs), 64)]
        spent = processor(lambda theirs=theirs: [peer.train(rows) for rows in theirs])
        costs["OpenNMT-py"].append(spent / len(pairs))
    _say("training, ms a pair", {name: cost[1:] for name, cost in costs.items()})


def beam(model: Path, known: Sequence[Example], posts: int = 60, steps: int = 150) -> None:
    """Beam 20 for one post at a time: the served model against OpenNMT-py trained a little.

    It learns from enough steps to end its hashtags; a search that never ends would cost it more.
    """
    from peer_onmt import Peer

    generator = Generator.load(model)
    _, numberer = load_model(model)
    numbered = [numberer(example) for example in known]
    peer = Peer(numberer)
    for places in batches(numbered, 64, 0, 0)[:steps]:
        peer.train(peer.pairs([numbered[place] for place in places])[:64])
    config = numberer.config
    translator = peer.translator(config.beam, N, config.hashtag_words)
    lengths: list[int] = []

    def theirs(place: int) -> None:
        found = translator.translate_batch(peer.batch([numbered[place]]), attn_debug=False)
        lengths.append(max(len(words) for words in found["predictions"][0]))

    costs: dict[str, list[float]] = {"hashnews, int8 ONNX": [], "OpenNMT-py": []}
    for place in range(posts):
        mine = processor(lambda place=place: generator.suggest([known[place]], N))
        costs["hashnews, int8 ONNX"].append(mine)
        costs["OpenNMT-py"].append(processor(lambda place=place: theirs(place)))
    _say("beam 20, ms a post", {name: cost[5:] for name, cost in costs.items()})
    print(f"  OpenNMT-py's longest answer has {statistics.mean(lengths):.1f} words with the end")


def _serve(model: Path, known: Sequence[Example]) -> float:
    generator = Generator.load(model)
    generator.suggest(known[:32], N)
    start = time.perf_counter()
    generator.suggest(known, N)
    return time.perf_counter() - start


def batch(model: Path, known: Sequence[Example]) -> None:
    """Posts a second in two processes of one thread each, by the clock."""
    halves = [known[::2], known[1::2]]
    with ProcessPoolExecutor(2) as pool:
        spent = max(pool.map(_serve, [model] * 2, halves))
    print(f"batched, two processes: {len(known) / spent:.0f} posts/s over {len(known)} posts")


def load_model(directory: Path) -> tuple[GeneratorModel, Numberer]:
    """The torch model of a directory."""
    numberer = Generator.load(directory)._numberer
    model = GeneratorModel(numberer.config, len(numberer.source), len(numberer.hashtag))
    model.load_state_dict(load_file(directory / "model.safetensors"))
    return model.eval(), numberer


def agree(model: Path, known: Sequence[Example]) -> None:
    """The share of posts with the same ten best by torch and by onnxruntime, in float32."""
    network, numberer = load_model(model)
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "float32"
        save_model(network, numberer, directory, {}, int8=False)
        served = Generator.load(directory).suggest(known, N)
    torch_ones = generate(TorchRuntime(network), numberer, known, N)
    same = sum(
        [tag.words for tag in left] == [tag.words for tag in right]
        for left, right in zip(served, torch_ones, strict=True)
    )
    print(f"same ten best: {same} of {len(known)} posts ({100 * same / len(known):.1f} %)")


def int8(model: Path, known: Sequence[Example]) -> None:
    """What int8 costs: F1@5 of the served model and of float32 on the same posts."""
    network, numberer = load_model(model)
    exact = f1_at(5, map(judged, known, generate(TorchRuntime(network), numberer, known, N)))
    served = f1_at(5, map(judged, known, Generator.load(model).suggest(known, N)))
    print(f"F1@5 on {len(known)} posts: float32 {100 * exact:.2f}, int8 {100 * served:.2f}")


def _say(what: str, costs: dict[str, list[float]]) -> None:
    medians = {name: statistics.median(cost) for name, cost in costs.items()}
    ours, theirs = medians.values()
    shown = ", ".join(f"{name} {value:.2f}" for name, value in medians.items())
    print(f"{what}: {shown}; {theirs / ours:.2f} times")


def main() -> None:
    """Run what is asked for, all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("model", "posts", "contexts"):
        parser.add_argument(name, type=Path)
    parser.add_argument("parts", nargs="*", default=PARTS)
    parser.add_argument("--new", action="store_true", help="make MODEL, untrained")
    parser.add_argument("--rounds", type=int, default=12, help="batches that are trained on")
    given = parser.parse_args()
    torch.set_num_threads(1)
    files = (given.model, given.posts, given.contexts)
    if given.new:
        make(*files)
    learnt = examples(*files, "train", 10_000)
    held = examples(*files, "validation", 10_000)
    runs: dict[str, Callable[[], None]] = {
        "train": lambda: train(given.model, learnt, given.rounds),
        "beam": lambda: beam(given.model, learnt),
        "batch": lambda: batch(given.model, held[:600]),
        "agree": lambda: agree(given.model, held[:500]),
        "int8": lambda: int8(given.model, held[:2000]),
    }
    for part in given.parts:
        if part not in runs:
            sys.exit(f"{part} is not one of {', '.join(PARTS)}")
        runs[part]()
        sys.stdout.flush()


if __name__ == "__main__":
    main()
