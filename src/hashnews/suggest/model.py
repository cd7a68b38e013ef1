"""A trained suggester as a directory: the ranker, its settings, and what it must not say."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import Field, ValidationError

from hashnews.config import Config, explain
from hashnews.errors import DataError, ModelError
from hashnews.generate.generator import KIND as GENERATOR
from hashnews.saved import check_directory, kind_of, new_directory
from hashnews.suggest.calendar import Calendar
from hashnews.suggest.filters import Blocked, shipped_blocked
from hashnews.suggest.judges import Judges
from hashnews.suggest.lexicon import shipped_lexicon
from hashnews.suggest.network import SecondOpinion
from hashnews.suggest.prior import NOTHING, Prior
from hashnews.suggest.ranker import Ranker
from hashnews.suggest.story import shipped_story
from hashnews.text.hashtags import key_of
from hashnews.text.meaning import load_encoder

KIND = "suggester"


class SuggesterFiles:
    """The files of a suggester's directory."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.config = directory / "config.json"
        self.relevance = directory / "relevance.npz"
        self.choice = directory / "choice.npz"
        self.ranker = directory / "ranker.npz"
        self.network = directory / "network.npz"
        self.card = directory / "README.md"
        self.known = directory / "known.txt"  # hashtags as people write them, one a line
        self.calendar = directory / "calendar.txt"  # days of hashtags
        self.blocked = directory / "blocked.txt"  # instead of the shipped list, where it is there


class ModelConfig(Config):
    """What a suggester needs besides its ranker."""

    generator: str | None = None
    """The generator's directory, as seen from the suggester's."""
    beams: int = Field(10, ge=1, le=200)
    """Hashtags the generator writes for a post."""
    encoder: str | None = None
    """The plug-in that encodes meaning; None: the one that ships."""
    days: float = Field(400, gt=0, le=36_500)
    """Older posts are not remembered."""
    floor: float = Field(0.5, ge=0, le=1)
    """What is on topic with a lower probability is not shown."""
    of_best: float = Field(0.75, ge=0, le=1)
    """Beside one that is surely on topic, those are not shown that are less so than this share."""
    remembered: float = Field(0.35, ge=0, le=1)
    """The same for what the author, or a large memory, has used: that it was used says much."""
    proposed: float = Field(0.45, ge=0, le=1)
    """The same of hashtags that a language model proposes, too."""
    hearsay: float = Field(0.56, ge=0, le=1)
    """The same for what no word of the post speaks for: likeness alone, or a part of the news."""


class Model(NamedTuple):
    """A suggester that was read from its directory."""

    directory: Path
    config: ModelConfig
    judges: Judges | None  # None: a generator alone
    blocked: Blocked
    prior: Prior
    about: dict[str, Any]

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Open a suggester's directory, or a generator's; what is not whole is refused."""
        if kind_of(directory) == GENERATOR:
            about = check_directory(directory, GENERATOR)
            alone = ModelConfig(generator=".")
            return cls(directory, alone, None, shipped_blocked(), NOTHING, about)
        files = SuggesterFiles(directory)
        about = check_directory(directory, KIND)
        try:
            config = ModelConfig.model_validate_json(files.config.read_bytes())
        except FileNotFoundError:
            raise ModelError(f"{directory} has no config.json: train it again") from None
        except ValidationError as error:
            raise ModelError(f"{files.config}: {explain(error)}") from None
        blocked = Blocked.read(files.blocked) if files.blocked.exists() else shipped_blocked()
        try:
            written = files.known.read_text("utf-8").split()
            calendar = Calendar.read(files.calendar.read_text("utf-8").splitlines())
        except (OSError, UnicodeDecodeError, DataError) as error:
            raise ModelError(f"{directory}: cannot be read: {error}") from None
        encoder, lexicon = load_encoder(config.encoder), shipped_lexicon()
        if config.encoder is not None:
            lexicon = lexicon.encoded(encoder)
        known = {key_of(form): form for form in written}
        prior = Prior(known, calendar, lexicon, encoder, shipped_story())
        return cls(directory, config, load_judges(directory), blocked, prior, about)

    @property
    def generator(self) -> Path | None:
        """Where its generator is."""
        named = self.config.generator
        return None if named is None else self.directory / named


def load_judges(directory: Path) -> Judges:
    """The judges of a suggester's directory."""
    files = SuggesterFiles(directory)
    second = SecondOpinion.load(files.network) if files.network.exists() else None
    relevance, choice = Ranker.load(files.relevance), Ranker.load(files.choice)
    return Judges(relevance, choice, Ranker.load(files.ranker), second)


def save_model(
    directory: Path,
    judges: Judges,
    config: ModelConfig,
    prior: Prior,
    card: str,
    about: dict[str, Any],
) -> None:
    """Write a new model directory."""
    with new_directory(directory, KIND, about) as scratch:
        files = SuggesterFiles(scratch)
        judges.relevance.save(files.relevance)
        judges.choice.save(files.choice)
        judges.ranker.save(files.ranker)
        if judges.network:
            judges.network.save(files.network)
        files.config.write_text(config.model_dump_json(indent=2) + "\n", "utf-8")
        known = prior.hashtags.values()
        files.known.write_text("".join(f"{form}\n" for form in known), "utf-8")
        days = prior.calendar.lines()
        files.calendar.write_text("".join(f"{line}\n" for line in days), "utf-8")
        files.card.write_text(card, "utf-8")


def shipped_model() -> Path:
    """The directory of the suggester that comes with the package."""
    with resources.as_file(resources.files("hashnews") / "models" / "best") as path:
        return path
