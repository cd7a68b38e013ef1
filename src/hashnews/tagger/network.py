"""The network: a MiniLM encoder that also reads case shapes, and a head that scores labels."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from hashnews.tagger.finder import (
    LABELS,
    PADDING,
    SHAPES,
)


class Layer(nn.Module):
    """One transformer layer of BERT, normalised after each half."""

    def __init__(self, width: int, heads: int, inner: int, dropout: float):
        super().__init__()
        self.heads = heads
        self.attention_in = nn.Linear(width, 3 * width)
        self.attention_out = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=1e-12)
        self.inner = nn.Linear(width, inner)
        self.outer = nn.Linear(inner, width)
        self.outer_norm = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Let words look at one another, then think each for itself."""
        rows, length, width = hidden.shape
        parts = self.attention_in(hidden).view(rows, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        seen = self.attention_out(seen.transpose(1, 2).reshape(rows, length, width))
        hidden = self.attention_norm(hidden + self.dropout(seen))
        thought = self.outer(functional.gelu(self.inner(hidden), approximate="tanh"))
        out: Tensor = self.outer_norm(hidden + self.dropout(thought))
        return out


class TaggerNetwork(nn.Module):
    """Pieces and shapes to a score per piece and label."""

    def __init__(self, sizes: dict[str, int], layers: int, dropout: float):
        super().__init__()
        width = sizes["hidden_size"]
        self.words = nn.Embedding(sizes["vocab_size"], width)
        self.places = nn.Embedding(sizes["max_position_embeddings"], width)
        self.shapes = nn.Embedding(len(SHAPES), width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.heads = heads = sizes["num_attention_heads"]
        inner = sizes["intermediate_size"]
        self.layers = nn.ModuleList(Layer(width, heads, inner, dropout) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(width, len(LABELS))
        nn.init.normal_(self.shapes.weight, std=0.02)
        nn.init.normal_(self.head.weight, std=0.02)

    def forward(self, pieces: Tensor, shapes: Tensor) -> Tensor:
        """Scores of shape (rows, pieces, labels)."""
        mask = (pieces != PADDING)[:, None, None, :]
        places = self.places.weight[: pieces.shape[1]]
        hidden = self.norm(self.words(pieces) + places + self.shapes(shapes))
        hidden = self.dropout(hidden)
        for layer in self.layers:
            hidden = layer(hidden, mask)
        scores: Tensor = self.head(self.dropout(hidden))
        return scores


def load_encoder(directory: Path, layers: int, dropout: float) -> TaggerNetwork:
    """A network whose encoder comes from a BERT directory (config.json, model.safetensors)."""
    sizes = json.loads((directory / "config.json").read_text("utf-8"))
    network = TaggerNetwork(sizes, layers, dropout)
    bert = load_file(directory / "model.safetensors")
    ours = dict(network.named_parameters())
    with torch.no_grad():
        for name, weights in _renamed(bert, layers).items():
            ours[name].copy_(weights)
    return network


def _renamed(bert: dict[str, Tensor], layers: int) -> dict[str, Tensor]:
    """BERT's weights under our names: one matrix for query, key and value, no token types."""
    start = "embeddings."
    renamed = {
        "words.weight": bert[start + "word_embeddings.weight"],
        # Every piece has type 0, so that its vector can stand in the places.
        "places.weight": bert[start + "position_embeddings.weight"]
        + bert[start + "token_type_embeddings.weight"][0],
        "norm.weight": bert[start + "LayerNorm.weight"],
        "norm.bias": bert[start + "LayerNorm.bias"],
    }
    parts = {
        "attention_out": "attention.output.dense",
        "attention_norm": "attention.output.LayerNorm",
        "inner": "intermediate.dense",
        "outer": "output.dense",
        "outer_norm": "output.LayerNorm",
    }
    for layer in range(layers):
        old, new = f"encoder.layer.{layer}.", f"layers.{layer}."
        for which in ("weight", "bias"):
            three = [bert[f"{old}attention.self.{n}.{which}"] for n in ("query", "key", "value")]
            renamed[f"{new}attention_in.{which}"] = torch.cat(three)
            for ours, theirs in parts.items():
                renamed[f"{new}{ours}.{which}"] = bert[f"{old}{theirs}.{which}"]
    return renamed
