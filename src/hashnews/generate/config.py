"""Settings of the generator; a sentence in quotes is the paper's, the rest says where it is from.

They stand apart from the model so that a trained generator is served without torch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from hashnews.config import Config

Variant = Literal[
    "seq2seq",
    "seq2seq-copy",
    "hashnews",
    "hashnews-norank",
    "hashnews-norank-nolocal",
    "hashnews-copy",
]


class GeneratorConfig(Config):
    """The model: which parts it has, and how large they are."""

    variant: Variant = "hashnews"
    """`hashnews-norank` is the same model trained on BM25 contexts; `-nolocal` sets every weight
    to one; `-copy` may write words of its input that no training hashtag holds."""
    embedding: int = Field(300, ge=1, le=10_000)
    """"We choose the embedding size as 300"."""
    hidden: int = Field(400, ge=2, le=10_000, multiple_of=2)
    """"the hidden size of GRU is set to 400": both directions of an encoder together."""
    layers: int = Field(2, ge=1, le=32)
    """"We use two-layered Bi-GRU cells for encoder and one layer of GRU cells for decoder"."""
    dropout: float = Field(0.1, ge=0, lt=1)
    """"dropout rate is 0.1": between encoder layers and on what the output layer reads."""
    weights: Literal["raw", "max", "mean"] = "mean"
    """How context weights are scaled. The paper says nothing; raw ones saturate the softmax."""
    post_words: int = Field(35, ge=1, le=10_000)
    """Words of a post that are read; the released code cuts there."""
    context_words: int = Field(100, ge=1, le=10_000)
    """Words of a context that are read; the released code cuts there."""
    hashtag_words: int = Field(10, ge=1, le=100)
    """"we set a maximum sequence length as 10"."""
    beam: int = Field(20, ge=1, le=1_000)
    """"and the beam size as 20"."""

    @property
    def reads_context(self) -> bool:
        """Whether the news is read at all."""
        return self.variant.startswith("hashnews")

    @property
    def copies(self) -> bool:
        """Whether words of the input can be written."""
        return self.variant.endswith("-copy")

    @property
    def weighs(self) -> bool:
        """Whether the weights of the context words enter the attention."""
        return self.reads_context and self.variant != "hashnews-norank-nolocal"


class TrainingConfig(Config):
    """The training: what is learnt from, how, and which epoch is kept."""

    posts: Path
    """Prepared posts with their part of the split (`hashnews prepare`)."""
    contexts: Path | None = None
    """Their contexts, line by line the same posts (`hashnews retrieve`); seq2seq needs none."""
    model: GeneratorConfig = GeneratorConfig()
    seed: int = Field(0, ge=0)
    """All chance comes from here."""
    threads: int = Field(1, ge=1)
    """Processor threads of torch in each process."""
    source_words: int = Field(50_000, ge=1)
    """Most words in the vocabulary of posts and contexts; the released runs have 53,492."""
    source_least: int = Field(2, ge=1)
    """Rarer source words are unknown ones, so that the unknown word is learnt too."""
    hashtag_least: int = Field(1, ge=1)
    """Rarer hashtag words are not in the output; only a copying model can write them."""
    epochs: int = Field(40, ge=1)
    """Epochs at most: early stopping comes first. The released code has 15 and does not stop."""
    batch: int = Field(64, ge=1)
    """"The batch size is 64": posts, each with all its hashtags."""
    rate: float = Field(0.001, gt=0)
    """"Adam optimizer is used to learn parameters with learning rate initialized to 0.001"."""
    decay: float = Field(0.5, gt=0, le=1)
    """"The learning rate decreases with a decay rate of 0.5": as in the released code after every
    epoch, once the validation perplexity has risen."""
    clip: float = Field(1.0, gt=0)
    """Largest norm of the gradient; the released code has 1."""
    select: Literal["f1@5", "perplexity"] = "f1@5"
    """What is measured on validation posts to choose the epoch that is kept."""
    patience: int = Field(3, ge=1)
    """"we adopt the early stopping strategy": epochs without a better one before it stops."""
    validation_posts: int = Field(2000, ge=1)
    """Validation posts for which hashtags are generated after an epoch: at most this many, drawn
    at random with the seed."""
    checkpoint_steps: int = Field(500, ge=1)
    """Steps between checkpoints; there is one after every epoch too."""
    int8: bool = True
    """Whether the served model has int8 weights (faster and a quarter of the size)."""
