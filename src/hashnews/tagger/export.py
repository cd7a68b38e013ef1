"""The trained network as an int8 graph for onnxruntime."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import helper, numpy_helper
from torch import Tensor, nn

from hashnews.tagger.config import TaggerConfig
from hashnews.tagger.corpora import (
    TaggerBatch,
)
from hashnews.tagger.finder import (
    INPUTS,
    LABELS,
    PADDING,
    SHAPES,
)
from hashnews.tagger.network import TaggerNetwork

EVENING = 0.85  # how far large inputs are evened out; 0.5 to 1 were tried, 0.8 to 0.9 lose least
FUSED = "com.microsoft"  # the domain of onnxruntime's own operators
Array = npt.NDArray[Any]


def fill_directory(
    directory: Path, network: TaggerNetwork, batches: Iterable[TaggerBatch], config: TaggerConfig
) -> None:
    """Write what `Tagger.load` reads, but for the manifest."""
    model = to_onnx(network, input_ranges(network, batches), config.max_pieces)
    onnx.save(model, directory / "model.onnx")
    shutil.copyfile(config.encoder / "tokenizer.json", directory / "tokenizer.json")
    about = {
        "labels": LABELS,
        "shapes": SHAPES,
        "inputs": INPUTS,
        "max_pieces": config.max_pieces,
    }
    (directory / "config.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")


class Range(NamedTuple):
    """The lowest and the highest value that each input of a layer takes."""

    low: Array
    high: Array


@torch.no_grad()
def input_ranges(network: TaggerNetwork, batches: Iterable[TaggerBatch]) -> dict[str, Range]:
    """The range of each input of each linear layer over some batches."""
    ranges: dict[str, tuple[Tensor, Tensor]] = {}

    def watch(name: str) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
        def note(_: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            low, high = inputs[0].flatten(0, 1).aminmax(dim=0)
            before = ranges.get(name, (low, high))
            ranges[name] = torch.minimum(low, before[0]), torch.maximum(high, before[1])

        return note

    linear = ((n, part) for n, part in network.named_modules() if isinstance(part, nn.Linear))
    hooks = [part.register_forward_pre_hook(watch(name)) for name, part in linear]
    for batch in batches:
        network(batch.pieces, batch.shapes)
    for hook in hooks:
        hook.remove()
    return {name: Range(low.numpy(), high.numpy()) for name, (low, high) in ranges.items()}


class Int8Graph:
    """An ONNX graph in the making; each method gives the name of what it computes.

    It is written by hand with onnxruntime's fused operators, because that is shorter and surer
    than to export the network and have an optimiser guess the same fusions.
    """

    def __init__(self, weights: dict[str, Array], ranges: dict[str, Range]):
        self._given = weights
        self._ranges = ranges
        self._weights: list[onnx.TensorProto] = []
        self._nodes: list[onnx.NodeProto] = []

    def constant(self, name: str, value: Array | None = None) -> str:
        """A weight of the network by its name, or another value under a new name."""
        array = np.ascontiguousarray(self._given[name] if value is None else value)
        self._weights.append(numpy_helper.from_array(array, name))
        return name

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """An operation with one output."""
        return self.nodes(kind, *inputs, outputs=1, domain=domain, **attributes)[0]

    def nodes(
        self, kind: str, *inputs: str, outputs: int, domain: str = "", **attributes: Any
    ) -> list[str]:
        """An operation with several outputs."""
        names = [f"{kind}.{len(self._nodes)}.{number}" for number in range(outputs)]
        made = helper.make_node(kind, list(inputs), names, domain=domain, **attributes)
        self._nodes.append(made)
        return names

    def fused(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """One of onnxruntime's own operators."""
        return self.node(kind, *inputs, domain=FUSED, **attributes)

    def lookup(self, name: str, places: str) -> str:
        """Rows of an embedding kept in int8, each row with its own scale."""
        numbers, scales = quantise(self._given[name], axis=1)
        rows = self.node("Gather", self.constant(f"{name}.int8", numbers), places)
        scale = self.node("Gather", self.constant(f"{name}.scale", scales), places)
        return self.node("Mul", self.node("Cast", rows, to=onnx.TensorProto.FLOAT), scale)

    def linear(self, name: str, of: str, bias: bool = True) -> str:
        """A linear layer in int8: a scale per output, and fixed ones for the inputs.

        A few inputs are ten times as large as the rest and would leave these no room in 8 bits:
        every input is divided by its usual height, and its weights multiplied by it. The scales
        of the inputs are fixed beforehand, so that what a text gives never depends on the texts
        it is read together with.
        """
        weights, (low, high) = self._given[f"{name}.weight"].T, self._ranges[name]
        heights = usual_heights(np.maximum(-low, high), weights)
        numbers, scales = quantise(weights * heights[:, None], axis=0)
        lowest, highest = float((low / heights).min()), float((high / heights).max())
        lowest, highest = min(lowest, 0.0), max(highest, 0.0)
        step = (highest - lowest) / 255
        zero = np.uint8(round(-lowest / step))
        of = self.node("Mul", of, self.constant(f"{name}.evening", 1 / heights))
        steps = self.constant(f"{name}.step", np.array(step, np.float32))
        zeros = self.constant(f"{name}.zero", np.array(zero))
        quantised = self.node("QuantizeLinear", of, steps, zeros)
        inputs = [
            self.constant(f"{name}.int8", numbers),
            steps,
            self.constant(f"{name}.scale", scales[0]),
            zeros,
            self.constant(f"{name}.none", np.zeros(scales.size, dtype=np.int8)),
        ]
        if bias:
            inputs.append(self.constant(f"{name}.bias"))
        return self.fused("MatMulIntegerToFloat", quantised, *inputs)

    def add_and_norm(self, name: str, first: str, second: str) -> str:
        """Sum and normalise: as two operators, since the fused one is slower (onnxruntime 1.31)."""
        return self.norm(name, self.node("Add", first, second))

    def norm(self, name: str, of: str) -> str:
        """Normalise."""
        scale, shift = self.constant(f"{name}.weight"), self.constant(f"{name}.bias")
        return self.node("LayerNormalization", of, scale, shift, epsilon=1e-12)

    def layers(self, hidden: str, mask: str, network: TaggerNetwork) -> str:
        """All layers of a network, one after the other."""
        thirds = self.constant("thirds", np.full(3, self._given["norm.bias"].size))
        for number in range(len(network.layers)):
            layer = f"layers.{number}"
            three = self.nodes(
                "Split", self.linear(f"{layer}.attention_in", hidden), thirds, outputs=3, axis=2
            )
            seen = self.fused("MultiHeadAttention", *three, "", mask, num_heads=network.heads)
            seen = self.linear(f"{layer}.attention_out", seen)
            hidden = self.add_and_norm(f"{layer}.attention_norm", hidden, seen)
            inner = self.linear(f"{layer}.inner", hidden, bias=False)
            inner = self.fused("FastGelu", inner, self.constant(f"{layer}.inner.bias"))
            outer = self.linear(f"{layer}.outer", inner)
            hidden = self.add_and_norm(f"{layer}.outer_norm", hidden, outer)
        return hidden

    def model(self, scores: str) -> onnx.ModelProto:
        """The finished model."""
        self._nodes.append(helper.make_node("Identity", [scores], ["scores"]))
        places = ["rows", "pieces"]
        graph = helper.make_graph(
            self._nodes,
            "tagger",
            [
                helper.make_tensor_value_info(name, onnx.TensorProto.INT32, places)
                for name in INPUTS
            ],
            [
                helper.make_tensor_value_info(
                    "scores", onnx.TensorProto.FLOAT, [*places, len(LABELS)]
                )
            ],
            self._weights,
        )
        versions = [helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=8)


def quantise(weights: Array, axis: int) -> tuple[Array, Array]:
    """Weights as int8 and the scales that undo it, one for all that lies along `axis`."""
    scales = np.maximum(np.abs(weights).max(axis=axis, keepdims=True), 1e-8) / 127
    return np.round(weights / scales).astype(np.int8), scales.astype(np.float32)


def usual_heights(peaks: Array, weights: Array) -> Array:
    """Divisors of the inputs of a layer, as in SmoothQuant (Xiao et al. 2023)."""
    across = np.maximum(np.abs(weights).max(axis=1), 1e-4)
    heights = np.maximum(peaks, 1e-3) ** EVENING / across ** (1 - EVENING)
    return np.asarray(heights / np.exp(np.log(heights).mean()), dtype=np.float32)


def to_onnx(network: TaggerNetwork, ranges: dict[str, Range], max_pieces: int) -> onnx.ModelProto:
    """The network as an int8 graph; norms and the head, small and sensitive, stay float."""
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    graph = Int8Graph(weights, ranges)
    padding = graph.node("Equal", "pieces", graph.constant("padding", np.array(PADDING, np.int32)))
    mask = graph.node("Cast", graph.node("Not", padding), to=onnx.TensorProto.INT32)
    hidden = _embedding(graph, weights, max_pieces)
    hidden = graph.layers(hidden, mask, network)
    scores = graph.node("MatMul", hidden, graph.constant("head", weights["head.weight"].T))
    return graph.model(graph.node("Add", scores, graph.constant("head.bias")))


def _embedding(graph: Int8Graph, weights: dict[str, Array], max_pieces: int) -> str:
    """Pieces, their shapes and their places, summed and normalised."""
    shapes = graph.node("Gather", graph.constant("shapes.weight"), "shapes")
    table = graph.constant("places", weights["places.weight"][:max_pieces])
    width = graph.node("Shape", "pieces", start=1, end=2)
    places = graph.node("Slice", table, graph.constant("first", np.zeros(1, np.int64)), width)
    summed = graph.node("Add", graph.lookup("words.weight", "pieces"), shapes)
    return graph.add_and_norm("norm", summed, places)
