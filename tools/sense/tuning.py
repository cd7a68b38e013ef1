"""The encoder and the topics, taught together on the invented posts.

    loss = − Σ a(topic) log P(topic | m(post))               what the writers said
         − BAG Σ a(topic) log P(topic | sum of its pieces)   as headlines are read
         + KEPT (1 − m(post) · m₀(post))                     m₀: the encoder as it came

The phrases keep their vectors: it is the posts that learn to stand near what they are about.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from hashnews.saved import new_directory
from hashnews.suggest.emoji import emoji_words
from hashnews.suggest.topics import KIND as TOPICS_KIND
from hashnews.suggest.topics import Topics, TopicsFiles
from hashnews.tagger.network import TaggerNetwork
from hashnews.text.meaning import (
    END,
    KIND,
    MOST_PIECES,
    PADDING,
    START,
    Meaning,
    MeaningFiles,
    pieces_of,
    quantised,
)
from hashnews.text.tokens import words
from sense.encoder import (
    first_meaning,
    graph_files,
    int8_graph,
    pieces,
    plain_network,
    read_tokeniser,
)
from sense.topics import Lesson, TopicsNetwork, answers_of, lessons, names_of_topics
from sense.work import Work

BAG, KEPT = 0.3, 1.0
EPOCHS, BATCH, SORTED = 4, 64, 20  # batches whose posts are sorted by length together
RATE, HEAD_RATE, DECAY, WARM_UP = 3e-4, 1e-3, 0.01, 0.1
DROPOUT, LONGEST_STEP = 0.1, 1.0  # LONGEST_STEP: of the gradient
FROZEN = 0  # layers that stay as they are, beside the vectors of words
READ_TOGETHER = 128
# Half as many bits are faster only where the processor has instructions for them.
HALF = torch.backends.cpu.get_cpu_capability() not in ("DEFAULT", "AVX2")


class Taught(NamedTuple):
    """An encoder that was tuned, and its topics."""

    network: TaggerNetwork
    topics: Topics


class Reader:
    """Posts as the network reads them, and their vectors in the smaller space."""

    def __init__(self, encoder: Meaning, directory: Path):
        self._tokeniser = read_tokeniser(directory / "tokenizer.json")
        self.basis = torch.from_numpy(encoder.tables.basis)

    def read(self, text: str) -> list[int]:
        """The pieces of a post, as `Meaning` reads it."""
        body = " ".join([text, *emoji_words(text)])
        return [START, *pieces_of(body, self._tokeniser)[: MOST_PIECES - 2], END]

    def vectors(self, network: TaggerNetwork, posts: Sequence[Sequence[int]]) -> Tensor:
        """m(post) of some posts."""
        pieces = torch.full((len(posts), max(map(len, posts))), PADDING)
        for row, found in enumerate(posts):
            pieces[row, : len(found)] = torch.tensor(found)
        inside = pieces != PADDING
        with torch.autocast("cpu", torch.bfloat16, enabled=HALF):
            hidden = network.norm(network.words(pieces) + network.places.weight[: pieces.shape[1]])
            hidden = network.dropout(hidden)
            for layer in network.layers:
                hidden = layer(hidden, inside[:, None, None, :])
        summed = (hidden.float() * inside[..., None]).sum(1)
        return normalize(summed @ self.basis, dim=1)

    @torch.no_grad()
    def all_vectors(self, network: TaggerNetwork, posts: Sequence[Sequence[int]]) -> Tensor:
        """m(post) of many posts, those of like length together."""
        network.eval()
        found = torch.zeros(len(posts), self.basis.shape[1])
        order = sorted(range(len(posts)), key=lambda at: len(posts[at]))
        for start in range(0, len(order), READ_TOGETHER):
            rows = order[start : start + READ_TOGETHER]
            found[rows] = self.vectors(network, [posts[at] for at in rows])
        return found


def taught_together(
    given: Sequence[Lesson], encoder: Meaning, directory: Path, seed: int = 1
) -> Taught:
    """An encoder and topics taught on some posts; the same seed gives the same ones."""
    torch.manual_seed(seed)
    chance, reader = random.Random(seed), Reader(encoder, directory)
    keys, names = names_of_topics(encoder)
    answers = answers_of(given, keys, names)
    told = (answers.sum(1) > 0).nonzero()[:, 0].tolist()
    answers = normalize(answers[told], p=1, dim=1)
    posts = [reader.read(given[at].text) for at in told]
    bags = torch.from_numpy(encoder.of_phrases([words(given[at].text) for at in told]))
    before = reader.all_vectors(plain_network(directory), posts)
    network, head = plain_network(directory, DROPOUT), TopicsNetwork(names)
    optimiser, tuned = _optimiser(network, head)
    steps = EPOCHS * -(-len(posts) // BATCH)
    rates = [group["lr"] for group in optimiser.param_groups]
    slower = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, rates, total_steps=steps + 1, pct_start=WARM_UP
    )
    for epoch in range(EPOCHS):
        network.train()
        head.train()
        total = 0.0
        for rows in _batches([len(post) for post in posts], chance):
            vectors = reader.vectors(network, [posts[at] for at in rows])
            said = _cross_entropy(head(vectors), answers[rows])
            as_bag = _cross_entropy(head(bags[rows]), answers[rows])
            moved = (1 - (vectors * before[rows]).sum(1)).mean()
            optimiser.zero_grad()
            (said + BAG * as_bag + KEPT * moved).backward()
            nn.utils.clip_grad_norm_(tuned, LONGEST_STEP)
            optimiser.step()
            slower.step()
            total += float(said.detach()) * len(rows)
        print(f"  epoch {epoch + 1} of {EPOCHS}: loss {total / len(posts):.3f}", flush=True)
    return Taught(network.eval(), head.eval().topics(keys))


def _cross_entropy(scores: Tensor, answers: Tensor) -> Tensor:
    return -(answers * scores.log_softmax(1)).sum(1).mean()


def _optimiser(
    network: TaggerNetwork, head: TopicsNetwork
) -> tuple[torch.optim.Optimizer, list[nn.Parameter]]:
    """AdamW over the upper layers and the topics, and the weights of those layers."""
    network.requires_grad_(False)
    for layer in network.layers[FROZEN:]:
        layer.requires_grad_(True)
    tuned = [part for part in network.parameters() if part.requires_grad]
    learnt = {"names", "learnt"}
    others = [part for name, part in head.named_parameters() if name not in learnt]
    groups = [
        {"params": tuned, "lr": RATE, "weight_decay": DECAY},
        {"params": others, "lr": HEAD_RATE, "weight_decay": DECAY},
        {"params": [head.learnt], "lr": HEAD_RATE, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups), tuned


def _batches(lengths: Sequence[int], chance: random.Random) -> Iterator[list[int]]:
    """All rows in batches of like length, in random order."""
    order = list(range(len(lengths)))
    chance.shuffle(order)
    found = []
    for start in range(0, len(order), BATCH * SORTED):
        part = sorted(order[start : start + BATCH * SORTED], key=lambda at: lengths[at])
        found += [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
    chance.shuffle(found)
    yield from found


def _tuned(work: Work) -> Path:
    """A directory with the graph of the tuned encoder, and the topics."""
    target = work.folder / "tuned"
    if not target.exists():
        if work.encoder is None:
            raise SystemExit("the encoder is not tuned yet: name it with --encoder")
        print("tuned", flush=True)
        made = taught_together(work.limited(lessons()), first_meaning(work), work.encoder)
        with new_directory(target, "tuned", {}) as scratch:
            files = MeaningFiles(scratch)
            shutil.copyfile(graph_files(work).tokeniser, files.tokeniser)
            tokeniser = read_tokeniser(files.tokeniser)
            onnx.save(int8_graph(work, made.network, tokeniser), files.graph)
            made.topics.save(scratch)
    return target


def meaning(work: Work) -> Path:
    """The directory that `Meaning.load` reads."""
    target = work.folder / "meaning"
    if not target.exists():
        tuned, (basis, vectors) = MeaningFiles(_tuned(work)), pieces(work)
        with new_directory(target, KIND, {}) as scratch:
            files = MeaningFiles(scratch)
            shutil.copyfile(tuned.graph, files.graph)
            shutil.copyfile(tuned.tokeniser, files.tokeniser)
            whole, scales = quantised(vectors)
            np.savez_compressed(files.vectors, pieces=whole, scales=scales, basis=basis)
    return target


def topics(work: Work) -> Path:
    """The directory that `Topics.load` reads."""
    target = work.folder / "topics"
    if not target.exists():
        made = TopicsFiles(_tuned(work))
        with new_directory(target, TOPICS_KIND, {}) as scratch:
            shutil.copyfile(made.arrays, TopicsFiles(scratch).arrays)
    return target
