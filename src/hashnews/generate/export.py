# ruff: noqa: N806 - names end in the letters of their shapes
"""A trained model as a directory for serving: two ONNX graphs, in int8 by default.

The encoder graph reads posts once; the step graph writes one word more for all hypotheses.

Only weights are rounded, each row by its own scale; the sums are made in float. Activations in int8
would be a quarter faster, but their scale is that of all posts read together, so that the
answer to a post would depend on its neighbours in the batch.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from hashnews.errors import MissingExtra
from hashnews.generate.batch import Numberer
from hashnews.generate.generator import KIND, GeneratorFiles
from hashnews.generate.model import DecoderMemory, DecoderState, GeneratorModel
from hashnews.saved import new_directory

# Sizes of the example inputs: all different, so that no two axes are taken for one, and short,
# because torch traces a GRU word by word.
POST, CONTEXT, POSTS, ROWS, WIDEST, OWN = 2, 3, 4, 6, 7, 8


class EncoderGraph(nn.Module):
    """Posts (and contexts) to memory, mask and first state."""

    def __init__(self, model: GeneratorModel):
        super().__init__()
        self.reader = model.reader

    def forward(
        self,
        post: Tensor,
        post_length: Tensor,
        context: Tensor | None = None,
        context_length: Tensor | None = None,
        weight: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The same as `Reader`, with plain tensors."""
        memory, hidden_BD = self.reader(post, post_length, context, context_length, weight)
        return memory.words_BMD, memory.mask_BM, hidden_BD


class StepGraph(nn.Module):
    """One word more: log-probabilities and the next state."""

    def __init__(self, model: GeneratorModel):
        super().__init__()
        self.decoder = model.decoder

    def forward(
        self,
        words: Tensor,
        mask: Tensor,
        hidden: Tensor,
        fed: Tensor,
        last: Tensor,
        row: Tensor,
        slot: Tensor,
        copy: Tensor | None = None,
        post: Tensor | None = None,
        own: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The same as `Decoder`, with plain tensors."""
        step = self.decoder(DecoderMemory(words, mask), DecoderState(hidden, fed), last, row, slot)
        log_RW = self.decoder.log_probabilities(step, copy, post, own)  # type: ignore[arg-type]
        return log_RW, step.state.hidden_RD, step.state.fed_RD


def require_exporter() -> None:
    """Refuse before hours of training what would fail after them: torch exports by onnxscript."""
    if find_spec("onnxscript") is None:
        raise MissingExtra("exporting a model", "train")


def save_model(
    model: GeneratorModel,
    numberer: Numberer,
    directory: Path,
    about: dict[str, Any],
    int8: bool = True,
) -> None:
    """Write a model directory, whole or not at all."""
    require_exporter()
    model.eval()
    with new_directory(directory, KIND, {**about, "int8": int8}) as scratch:
        files = GeneratorFiles(scratch)
        files.config.write_text(model.config.model_dump_json(indent=2) + "\n", "utf-8")
        numberer.source.save(files.source)
        numberer.hashtag.save(files.hashtag)
        save_file(model.state_dict(), files.weights)
        outputs = ["words", "mask", "hidden"]
        with _quiet():
            _export(EncoderGraph(model), _encoder_inputs(model), outputs, files.encoder, int8)
            outputs = ["log", "next_hidden", "next_fed"]
            _export(StepGraph(model), _step_inputs(model), outputs, files.step, int8)


def _encoder_inputs(model: GeneratorModel) -> dict[str, tuple[Tensor, dict[int, str]]]:
    """Example inputs of the encoder graph, and the names of their axes."""
    ones = torch.ones
    inputs = {
        "post": (ones(POSTS, POST, dtype=torch.long), {0: "B", 1: "P"}),
        "post_length": (torch.full((POSTS,), POST), {0: "B"}),
    }
    if model.config.reads_context:
        inputs["context"] = (ones(POSTS, CONTEXT, dtype=torch.long), {0: "B", 1: "C"})
        inputs["context_length"] = (torch.full((POSTS,), CONTEXT), {0: "B"})
        inputs["weight"] = (ones(POSTS, CONTEXT), {0: "B", 1: "C"})
    return inputs


def _step_inputs(model: GeneratorModel) -> dict[str, tuple[Tensor, dict[int, str]]]:
    """Example inputs of the step graph, and the names of their axes."""
    hidden, memory = model.config.hidden, POST + CONTEXT
    zeros, long = torch.zeros, torch.long
    inputs = {
        "words": (zeros(POSTS, memory, hidden), {0: "B", 1: "M"}),
        "mask": (torch.ones(POSTS, memory, dtype=torch.bool), {0: "B", 1: "M"}),
        "hidden": (zeros(ROWS, hidden), {0: "R"}),
        "fed": (zeros(ROWS, hidden), {0: "R"}),
        "last": (zeros(ROWS, dtype=long), {0: "R"}),
        "row": (zeros(POSTS, WIDEST, dtype=long), {0: "B", 1: "K"}),
        "slot": (zeros(ROWS, dtype=long), {0: "R"}),
    }
    if model.config.copies:
        inputs["copy"] = (zeros(POSTS, memory, dtype=long), {0: "B", 1: "M"})
        inputs["post"] = (zeros(ROWS, dtype=long), {0: "R"})
        inputs["own"] = (zeros(OWN, dtype=long), {0: "O"})
    return inputs


def _export(
    graph: nn.Module,
    inputs: dict[str, tuple[Tensor, dict[int, str]]],
    outputs: list[str],
    path: Path,
    int8: bool,
) -> None:
    """Write a module as an ONNX graph."""
    import onnx

    dims = {name: torch.export.Dim(name) for _, axes in inputs.values() for name in axes.values()}
    shapes = {name: {a: dims[dim] for a, dim in axes.items()} for name, (_, axes) in inputs.items()}
    with torch.no_grad():
        program = torch.onnx.export(
            graph.eval(), (), kwargs={name: tensor for name, (tensor, _) in inputs.items()},
            input_names=list(inputs), output_names=outputs, dynamic_shapes=shapes,
            dynamo=True, verbose=False,
        )  # fmt: skip
    assert program is not None  # only the other exporter of torch gives none
    if not int8:
        program.save(str(path), external_data=False)
        return
    proto = program.model_proto
    _round_weights(proto.graph)
    onnx.save(proto, path)


def _round_weights(graph: Any) -> None:
    """Keep each matrix as int8 rows with a scale: w ≈ scale · round(w / scale)."""
    from onnx import helper, numpy_helper

    tensors, nodes = [], []
    for tensor in graph.initializer:
        weights = numpy_helper.to_array(tensor)
        if weights.ndim != 2 or weights.dtype != np.float32:
            tensors.append(tensor)
            continue
        largest_R = np.abs(weights).max(axis=1)
        scale_R = np.where(largest_R > 0, largest_R / 127, 1).astype(np.float32)
        rounded = np.rint(weights / scale_R[:, None]).astype(np.int8)
        names = [f"{tensor.name}_int8", f"{tensor.name}_scale"]
        tensors.append(numpy_helper.from_array(rounded, names[0]))
        tensors.append(numpy_helper.from_array(scale_R, names[1]))
        nodes.append(helper.make_node("DequantizeLinear", names, [tensor.name], axis=0))
    nodes += graph.node
    for field, kept in ((graph.initializer, tensors), (graph.node, nodes)):
        del field[:]
        field.extend(kept)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the exporter says about itself."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
