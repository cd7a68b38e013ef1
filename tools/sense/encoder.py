"""The encoder: an int8 graph of it, a smaller space, and the vectors of pieces in it.

encoder ──▶ graph ──▶ vectors of posts and phrases ──▶ basis (PCA) ──▶ vectors of pieces
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import torch
from onnx import helper
from tokenizers import Tokenizer
from torch.nn import EmbeddingBag
from torch.nn.functional import normalize

from hashnews.saved import new_directory, open_graph
from hashnews.tagger.export import FUSED, Int8Graph, input_ranges
from hashnews.tagger.network import TaggerNetwork, load_encoder
from hashnews.text.entities import load_finder
from hashnews.text.meaning import (
    PADDING,
    UNKNOWN,
    Meaning,
    MeaningFiles,
    Tables,
    Vectors,
    quantised,
)
from hashnews.text.segment import shipped_segmenter
from sense.collections import lines, prepared, titles
from sense.work import Work, sample

LAYERS, ENCODER_WIDTH = 6, 384
MOST_PLACES = 64  # pieces the graph can read at once
CALIBRATION, CALIBRATED_TOGETHER = 400, 40  # posts that show the ranges of the inputs
# Posts of each set that get a vector.
ENCODED = {
    "everyday": 16000, "p2021": 10000, "archives": 16000, "p2023": 10000, "howyoutag": 10000,
    "searched": 8000, "small": 8000, "c2020": 8000, "covid": 3000, "vaccine": 3000,
}  # fmt: skip
PCA_SETS = ("everyday", "archives", "searched", "small", "howyoutag", "covid")
PCA_PHRASES, PCA_EVERY = 54000, 4  # phrases, and posts, that the basis is made from
WIDTH = 256
NEWS_YEARS = ("2021", "2023")
TITLES, NAMED_TITLES, NAMES = 9000, 12000, 20000
PHRASE_PIECES = 24
STEPS, SLOWER_AFTER, SLOWER = 4000, 2500, 0.3
BATCH, RATE = 512, 2e-3
COMMON = 1e-3  # a piece of frequency f begins with the weight COMMON / (COMMON + f)


class CalibrationBatch(NamedTuple):
    """Posts as the encoder reads them; the shapes say nothing."""

    pieces: torch.Tensor
    shapes: torch.Tensor


class PostVectors(NamedTuple):
    """Places of posts in their set, and their vectors."""

    at: list[int]
    vectors: Vectors  # kept in 16 bits


class Phrases(NamedTuple):
    """Hashtags, names of the news and headlines, in this order, and their vectors."""

    texts: list[str]
    vectors: Vectors


class MeaningGraph(Int8Graph):
    """The graph of an encoder whose output is one vector a piece."""

    def encoder(self, network: TaggerNetwork) -> onnx.ModelProto:
        """Pieces to hidden states; norms stay float."""
        width = self._given["norm.bias"].size
        padding = self.node("Equal", "pieces", self.constant("padding", np.array(0, np.int32)))
        mask = self.node("Cast", self.node("Not", padding), to=onnx.TensorProto.INT32)
        table = self.constant("places", self._given["places.weight"][:MOST_PLACES])
        length = self.node("Shape", "pieces", start=1, end=2)
        first = self.constant("first", np.zeros(1, np.int64))
        places = self.node("Slice", table, first, length)
        hidden = self.add_and_norm("norm", self.lookup("words.weight", "pieces"), places)
        hidden = self.layers(hidden, mask, network)
        self._nodes.append(helper.make_node("Identity", [hidden], ["hidden"]))
        shape = ["rows", "pieces"]
        graph = helper.make_graph(
            self._nodes,
            "meaning",
            [helper.make_tensor_value_info("pieces", onnx.TensorProto.INT32, shape)],
            [helper.make_tensor_value_info("hidden", onnx.TensorProto.FLOAT, [*shape, width])],
            self._weights,
        )
        versions = [helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=8)


def graph_files(work: Work) -> MeaningFiles:
    """The graph and its tokeniser, made from the encoder where they are missing."""
    files = MeaningFiles(work.folder / "encoder")
    if not files.directory.exists():
        if work.encoder is None:
            raise SystemExit("the graph is not there yet: name the encoder with --encoder")
        print("encoder", flush=True)
        with new_directory(files.directory, "encoder", {}) as scratch:
            made = MeaningFiles(scratch)
            shutil.copyfile(work.encoder / "tokenizer.json", made.tokeniser)
            tokeniser = read_tokeniser(made.tokeniser)
            onnx.save(int8_graph(work, plain_network(work.encoder), tokeniser), made.graph)
    return files


def plain_network(directory: Path, dropout: float = 0.0) -> TaggerNetwork:
    """The network of an encoder that reads no shapes."""
    network = load_encoder(directory, LAYERS, dropout).eval()
    with torch.no_grad():
        network.shapes.weight.zero_()
    return network


def int8_graph(work: Work, network: TaggerNetwork, tokeniser: Tokenizer) -> onnx.ModelProto:
    """A network as a graph of whole numbers; some posts show the ranges of its inputs."""
    posts = prepared(work, "archives")
    chosen = random.Random(3).sample(posts, min(CALIBRATION, len(posts)))
    ranges = input_ranges(network, _calibration(tokeniser, [post.body for post in chosen]))
    ranges.pop("head")
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    return MeaningGraph(weights, ranges).encoder(network)


def _calibration(tokeniser: Tokenizer, texts: Sequence[str]) -> Iterator[CalibrationBatch]:
    stream = iter(texts)
    while batch := list(islice(stream, CALIBRATED_TOGETHER)):
        read = [tokeniser.encode(text).ids[:MOST_PLACES] for text in batch]
        pieces = torch.full((len(read), max(map(len, read))), PADDING)
        for row, found in enumerate(read):
            pieces[row, : len(found)] = torch.tensor(found)
        yield CalibrationBatch(pieces, torch.zeros_like(pieces))


def read_tokeniser(path: Path) -> Tokenizer:
    """A tokeniser that neither cuts nor pads."""
    tokeniser = Tokenizer.from_file(str(path))
    tokeniser.no_padding()
    tokeniser.no_truncation()
    return tokeniser


def full_encoder(work: Work) -> Meaning:
    """The encoder in its own, wider space."""
    files = graph_files(work)
    whole = np.eye(ENCODER_WIDTH, dtype=np.float32)
    tables = Tables(np.zeros((1, ENCODER_WIDTH), np.int8), np.ones(1, np.float32), whole)
    return Meaning(open_graph(files.graph, 1, basic=True), read_tokeniser(files.tokeniser), tables)


def post_vectors(work: Work, name: str) -> PostVectors:
    """The vectors of some posts of a set."""

    def make() -> PostVectors:
        posts = prepared(work, name)
        at = sample(random.Random(1), range(len(posts)), ENCODED[name])
        vectors = full_encoder(work).of_posts([posts[place].body for place in at])
        return PostVectors(at, vectors.astype(np.float16))

    return work.kept(f"vectors-{name}", make)


def phrases(work: Work) -> Phrases:
    """What the vectors of pieces are taught on."""

    def make() -> Phrases:
        texts = [*work.limited(_hashtags(work)), *_news_phrases(work)]
        return Phrases(texts, full_encoder(work).of_posts(texts).astype(np.float16))

    return work.kept("phrases", make)


def _hashtags(work: Work) -> list[str]:
    """Hashtags that were used twice or more, or are known from the lists of DATA."""
    segmenter = shipped_segmenter()
    uses: Counter[tuple[str, ...]] = Counter()
    for name in (*ENCODED, "c2019"):
        for post in prepared(work, name):
            uses.update(tag.words for tag in (*post.hashtags, *post.inline))
    for row in lines(work.data / "hashtags" / "from-posts.jsonl.gz"):
        if len(row["collections"]) > 1 or row["users"] > 2:
            uses[segmenter.segment("#" + row["tag"])] += 2
    for row in lines(work.data / "hashtags" / "instagram-topics.jsonl.gz"):
        uses[segmenter.segment("#" + row["tag"])] += 2
    return [
        " ".join(words)
        for words, count in uses.items()
        if count >= 2 and all(word.isascii() for word in words)
    ]


def _news_phrases(work: Work) -> list[str]:
    """Names that headlines hold, the commonest first, then headlines."""
    finder, chance = load_finder("fast"), random.Random(1)
    names: Counter[str] = Counter()
    headlines: list[str] = []
    for year in NEWS_YEARS:
        known = work.limited(titles(work, year))
        headlines += chance.sample(known, min(TITLES, len(known)))
        for found in finder.find_all(chance.sample(known, min(NAMED_TITLES, len(known)))):
            names.update(entity.text for entity in found)
    return [*(name for name, _ in names.most_common(NAMES)), *headlines]


class Pieces(NamedTuple):
    """The basis of the smaller space, and the vectors of all pieces in it."""

    basis: Vectors
    vectors: Vectors


def pieces(work: Work) -> Pieces:
    """Vectors of pieces whose sum is near what the encoder makes of a phrase."""
    return work.kept("pieces", lambda: _pieces(work))


def _pieces(work: Work) -> Pieces:
    torch.set_num_threads(1)
    texts, halved = phrases(work)
    targets = halved.astype(np.float32)
    basis = _basis(targets, _tagged_vectors(work))
    tokeniser = read_tokeniser(graph_files(work).tokeniser)
    read = [found.ids[1:-1][:PHRASE_PIECES] or [UNKNOWN] for found in tokeniser.encode_batch(texts)]
    table = EmbeddingBag.from_pretrained(
        torch.tensor(_first_vectors(work, tokeniser, read) @ basis).float(),
        freeze=False,
        mode="sum",
        sparse=True,
    )
    wanted = normalize(torch.tensor(targets) @ torch.tensor(basis), dim=1)
    optimiser = torch.optim.SparseAdam(table.parameters(), lr=RATE)
    chance = np.random.default_rng(1)
    for step in range(STEPS):
        rows = chance.choice(len(texts), BATCH)
        summed = normalize(table(*_bags([read[row] for row in rows])), dim=1)
        loss = (1 - (summed * wanted[rows]).sum(1)).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step == SLOWER_AFTER:
            for group in optimiser.param_groups:
                group["lr"] *= SLOWER
    return Pieces(basis, table.weight.data.numpy())


def _basis(of_phrases: Vectors, of_posts: Vectors) -> Vectors:
    """The directions in which phrases and posts differ most."""
    rows = np.concatenate([of_phrases[:PCA_PHRASES], of_posts[::PCA_EVERY]])
    directions, _, _ = np.linalg.svd(rows.T @ rows)
    return directions[:, :WIDTH].astype(np.float32)


def _tagged_vectors(work: Work) -> Vectors:
    """The vectors of posts, each once per hashtag."""
    found = []
    for name in PCA_SETS:
        posts, (at, vectors) = prepared(work, name), post_vectors(work, name)
        for place, vector in zip(at, vectors.astype(np.float32), strict=True):
            tags = (*posts[place].hashtags, *posts[place].inline)
            found += [vector for tag in tags if all(word.isascii() for word in tag.words)]
    return np.array(found)


def _first_vectors(work: Work, tokeniser: Tokenizer, read: Sequence[Sequence[int]]) -> Vectors:
    """What the encoder makes of each piece alone; common ones weigh less."""
    size = tokeniser.get_vocab_size()
    written = [tokeniser.id_to_token(piece).removeprefix("##") for piece in range(size)]
    alone = work.kept("single", lambda: full_encoder(work).of_posts(written))
    uses = Counter(piece for found in read for piece in found)
    total = sum(uses.values())
    weights = [COMMON / (COMMON + uses[piece] / total) for piece in range(size)]
    weighted: Vectors = alone * np.array(weights, np.float32)[:, None]
    return weighted


def _bags(read: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Pieces one phrase after the other, and where each phrase begins."""
    starts = np.cumsum([0, *(len(found) for found in read[:-1])])
    return torch.tensor([piece for found in read for piece in found]), torch.tensor(starts)


def first_meaning(work: Work) -> Meaning:
    """The encoder as it came, with the basis and the vectors of pieces."""
    files, (basis, vectors) = graph_files(work), pieces(work)
    tables = Tables(*quantised(vectors), basis)
    return Meaning(open_graph(files.graph, 1, basic=True), read_tokeniser(files.tokeniser), tables)
