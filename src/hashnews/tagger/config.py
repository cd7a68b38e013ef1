"""What a training run is made of."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from hashnews.config import Config


class TaggerConfig(Config):
    """What a training run is made of."""

    train: tuple[Path, ...]
    silver: tuple[Path, ...] = ()
    dev: tuple[Path, ...]
    encoder: Path
    blend: tuple[Path, ...] = ()
    layers: int = Field(6, ge=1)
    max_pieces: int = Field(128, ge=16, le=512)
    seed: int = 0
    threads: int = Field(1, ge=1)
    epochs: int = Field(5, ge=1)
    patience: int = Field(3, ge=1)
    batch_pieces: int = Field(1024, ge=64)
    encoder_rate: float = Field(8e-5, gt=0)
    head_rate: float = Field(1e-3, gt=0)
    warmup: float = Field(0.1, ge=0, lt=1)
    weight_decay: float = Field(0.01, ge=0)
    dropout: float = Field(0.1, ge=0, lt=1)
    smoothing: float = Field(0.05, ge=0, lt=1)
    averaging: float = Field(0.998, ge=0, lt=1)
    silver_share: float = Field(0.25, ge=0, le=1)
    silver_weight: float = Field(0.7, ge=0)
    joined: float = Field(0.15, ge=0, le=1)
    renamed: float = Field(0.25, ge=0, le=1)
    hidden: float = Field(0.1, ge=0, lt=1)
    casings: tuple[float, float, float, float] = (0.72, 0.16, 0.07, 0.05)
