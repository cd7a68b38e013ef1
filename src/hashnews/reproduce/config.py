"""Settings of a reproduction; the defaults are the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, get_args

from pydantic import Field, field_validator

from hashnews.baselines.config import LstmTopConfig
from hashnews.config import Config
from hashnews.errors import ConfigError
from hashnews.generate.config import TrainingConfig, Variant

Ranking = Literal["tp", "bm25", "best"]
GENERATORS = get_args(Variant)
TABLE_2 = (
    "seq2seq",
    "seq2seq-copy",
    "lstm-top",
    "hashnews",
    "hashnews-norank",
    "hashnews-norank-nolocal",
)
BASELINES = ("most-frequent", "recent", "neighbours", "author", "neighbours-author")


class TableModel(NamedTuple):
    """A row of the table: a baseline, or a generator beside the ranking it reads."""

    name: str
    variant: str
    ranking: Ranking | None

    @classmethod
    def parse(cls, name: str) -> Self:
        """`hashnews`, or `hashnews@best` for another ranking than its own."""
        variant, _, given = name.partition("@")
        reads = variant.startswith("hashnews")
        known = variant in GENERATORS or variant in ("lstm-top", *BASELINES)
        if not known or (given and (given not in get_args(Ranking) or not reads)):
            names = ", ".join((*GENERATORS, "lstm-top", *BASELINES))
            raise ConfigError(
                f"{name!r} is no model; there are {names}; a hashnews model may name "
                f"its ranking, as in hashnews@best ({', '.join(get_args(Ranking))})"
            )
        own = ("bm25" if "norank" in variant else "tp") if reads else None
        return cls(name, variant, given or own)  # type: ignore[arg-type]

    @property
    def is_generator(self) -> bool:
        """Whether it is trained by `hashnews.generate`."""
        return self.variant in GENERATORS

    @property
    def by_chance(self) -> bool:
        """Whether another seed gives another model."""
        return self.variant not in BASELINES


class ReproduceConfig(Config):
    """What is trained, how, and how it is judged."""

    models: tuple[str, ...] = TABLE_2 + BASELINES
    """The rows of the table, in order; those that take long come last if they stand last."""
    seeds: int = Field(3, ge=1)
    """How often each model is trained, with seeds from 0; the paper's runs are single."""
    training: dict[str, Any] = Field({})
    """As in configs/generator.toml, but posts, contexts, seed and model.variant."""
    lstm_top: LstmTopConfig = LstmTopConfig()
    finder: Literal["fast", "tagger"] = "fast"
    """What finds the entities of posts, news and reference corpus."""
    most_posts: int | None = Field(None, ge=10)
    """Read only this many posts: for a quick look."""
    suggestions: int = Field(10, ge=10)
    """Hashtags asked for per post."""
    draws: int = Field(10_000, ge=100)
    """Of the paired bootstrap."""

    @field_validator("models")
    @classmethod
    def _known(cls, models: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(models)) < len(models) or not models:
            raise ValueError("name each model once")
        try:
            for name in models:
                TableModel.parse(name)
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return models

    @field_validator("training")
    @classmethod
    def _complete(cls, training: dict[str, Any]) -> dict[str, Any]:
        given = {"posts", "contexts", "seed"} & training.keys()
        if given or "variant" in training.get("model", {}):
            raise ValueError("posts, contexts, seed and model.variant are not set here")
        TrainingConfig.model_validate({"posts": "posts.jsonl"} | training)
        return training

    @property
    def validation_posts(self) -> int:
        """How many validation posts early stopping looks at, the same for every model."""
        return self.training_with().validation_posts

    def training_with(self, **files: Any) -> TrainingConfig:
        """The settings of every training, with what is of one of them."""
        return TrainingConfig.model_validate({"posts": "posts.jsonl"} | self.training | files)

    def training_of(
        self, model: TableModel, seed: int, posts: Path, contexts: Path | None
    ) -> TrainingConfig:
        """The settings of one training."""
        network = self.training.get("model", {}) | {"variant": model.variant}
        return self.training_with(posts=posts, contexts=contexts, seed=seed, model=network)


# Changes that make a reproduction of minutes: the same steps, tiny models, few posts.
SMALL = (
    "seeds=1", "most_posts=400", "draws=1000", "training.epochs=2", "training.batch=16",
    "training.source_least=1", "training.validation_posts=40", "training.int8=false",
    "training.model.embedding=24", "training.model.hidden=24", "training.model.layers=1",
    "training.model.beam=10", "lstm_top.epochs=2", "lstm_top.batch=20", "lstm_top.embedding=24",
    "lstm_top.hidden=24", "lstm_top.topics=8", "lstm_top.sweeps=20",
)  # fmt: skip
