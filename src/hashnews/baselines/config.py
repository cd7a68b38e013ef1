"""Settings of LSTM-TOP; they stand apart from it so that they are read without torch."""

from __future__ import annotations

from pydantic import Field

from hashnews.config import Config


class LstmTopConfig(Config):
    """An LSTM whose attention goes by the post's topics (Li et al. 2016), as the paper ran it.

    Two things differ on purpose: one topic model, fitted on training posts, serves all posts (the
    released code fits another one on the test posts), and padding gets no attention. GloVe vectors
    are not shipped, so embeddings are learnt.
    """

    topics: int = Field(100, ge=2)
    sweeps: int = Field(200, ge=1)
    """Passes of the sampler over all words of the training posts."""
    vocabulary: int = Field(30_000, ge=1)
    length: int = Field(40, ge=1)
    """Words of a post that are read."""
    embedding: int = Field(200, ge=1)
    hidden: int = Field(500, ge=1)
    dropout: float = Field(0.75, ge=0, lt=1)
    batch: int = Field(100, ge=1)
    rate: float = Field(0.001, gt=0)
    epochs: int = Field(30, ge=1)
    patience: int = Field(3, ge=1)
    """Epochs without a better F1@5 on validation posts before it stops; the released code has no
    early stopping."""
