# ruff: noqa: N803, N806 - names end in the letters of their shapes
"""A trained generator as a directory, served by onnxruntime without torch.

    Generator.load(directory).suggest(examples, n=10)

`model.safetensors` holds the weights as they were trained; the rest of the directory is what
serving needs. Nothing in it is a pickle, so that loading runs no foreign code.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from pydantic import ValidationError

from hashnews.arrays import Array
from hashnews.config import explain
from hashnews.errors import ConfigError, ModelError
from hashnews.generate.batch import Batch, Example, Numberer, make_batch, slots
from hashnews.generate.beam import Runtime, search
from hashnews.generate.config import GeneratorConfig
from hashnews.generate.vocabulary import HASHTAG_SIGNS, SOURCE_SIGNS, Vocabulary
from hashnews.records import ContextWord, PreparedPost, Reason, Suggestion
from hashnews.saved import check_directory, new_directory, open_graph
from hashnews.text.hashtags import Forms

KIND = "generator"
PICKLES = (".pt", ".pth", ".bin", ".pkl", ".pickle", ".ckpt", ".joblib")
TOGETHER = 32  # posts in a batch


class GeneratorFiles:
    """The files of a generator's directory."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.config = directory / "config.json"
        self.source = directory / "source.tsv"
        self.hashtag = directory / "hashtag.tsv"
        self.encoder = directory / "encoder.onnx"
        self.step = directory / "step.onnx"
        self.weights = directory / "model.safetensors"  # not needed for serving

    def check(self) -> dict[str, Any]:
        """Refuse a directory that is damaged, half-written, foreign or pickled."""
        if self.directory.is_dir():
            for path in sorted(self.directory.iterdir()):
                if path.suffix.lower() in PICKLES:
                    raise ModelError(
                        f"{self.directory}: {path.name} is a pickle, which can run code when it "
                        "is read; HashNews reads only safetensors and ONNX"
                    )
        about = check_directory(self.directory, KIND)
        for path in (self.config, self.source, self.hashtag, self.encoder, self.step):
            if not path.is_file():
                raise ModelError(f"{self.directory} has no {path.name}: export the model again")
        return about


# What the graphs must take at least.
ENCODER = {"post", "post_length"}
STEP = {"hidden", "fed", "last", "row", "slot", "words", "mask"}


class Generated(NamedTuple):
    """A hashtag the model wrote, and its log-probability."""

    words: tuple[str, ...]
    score: float


class OnnxMemory(NamedTuple):
    """What the step graph is given again at every step."""

    inputs: dict[str, Array]
    posts: int


class OnnxRuntime:
    """The model as the beam search sees it, run by onnxruntime."""

    def __init__(self, files: GeneratorFiles, threads: int = 1):
        self._encoder = open_graph(files.encoder, threads)
        self._step = open_graph(files.step, threads)
        self._reads = {argument.name for argument in self._encoder.get_inputs()}
        written = {argument.name for argument in self._step.get_inputs()}
        self._copies = "copy" in written
        if not self._reads >= ENCODER or not written >= STEP:
            raise ModelError(f"{files.directory}: its graphs are not an encoder and a step")

    def start(self, batch: Batch) -> tuple[OnnxMemory, tuple[Array, ...]]:
        """Read posts."""
        given = {
            "post": batch.post_BP,
            "post_length": batch.post_length_B,
            "context": batch.context_BC,
            "context_length": batch.context_length_B,
            "weight": batch.weight_BC,
        }
        read = {name: array for name, array in given.items() if name in self._reads}
        words_BMD, mask_BM, hidden_BD = self._encoder.run(None, read)
        inputs = {"words": words_BMD, "mask": mask_BM}
        if self._copies:
            own_O = np.zeros(max(map(len, batch.own)), dtype=np.int64)
            inputs |= {"copy": batch.copy_BM, "own": own_O}
        return OnnxMemory(inputs, batch.size), (hidden_BD, np.zeros_like(hidden_BD))

    def step(
        self, memory: OnnxMemory, state: tuple[Array, ...], last_R: Array, post_R: Array
    ) -> tuple[Array, tuple[Array, ...]]:
        """Write one word more for every row."""
        row_BK, slot_R = slots(post_R, memory.posts)
        inputs = {"hidden": state[0], "fed": state[1], "last": last_R, "row": row_BK}
        inputs |= {"slot": slot_R} | memory.inputs | ({"post": post_R} if self._copies else {})
        log_RW, hidden_RD, fed_RD = self._step.run(None, inputs)
        return log_RW, (hidden_RD, fed_RD)


def generate(
    runtime: Runtime[Any], numberer: Numberer, examples: Sequence[Example], n: int
) -> list[list[Generated]]:
    """The n best hashtags of every example, best first, no two with the same letters."""
    config = numberer.config
    answers: list[list[Generated]] = [[] for _ in examples]
    lengths = [(len(example.context), len(example.post)) for example in examples]
    order = sorted(range(len(examples)), key=lengths.__getitem__)
    for first in range(0, len(order), TOGETHER):
        places = order[first : first + TOGETHER]
        batch = make_batch([numberer(examples[place]) for place in places])

        def read(post: int, numbers: tuple[int, ...], batch: Batch = batch) -> tuple[str, ...]:
            return tuple(numberer.word(number, batch.own[post]) for number in numbers)

        found = search(
            runtime,
            batch,
            max(config.beam, n),
            n,
            config.hashtag_words,
            lambda post, numbers, read=read: "".join(read(post, numbers)),  # type: ignore[misc]
        )
        for post, (place, best) in enumerate(zip(places, found, strict=True)):
            answers[place] = [Generated(read(post, words), score) for words, score in best]
    return answers


class Generator:
    """Writes hashtags for posts beside their news contexts."""

    def __init__(
        self,
        files: GeneratorFiles,
        config: GeneratorConfig,
        numberer: Numberer,
        runtime: OnnxRuntime,
        about: dict[str, Any],
    ):
        self.files = files
        self.config = config
        self.about = about
        self._numberer = numberer
        self._runtime = runtime

    @classmethod
    def load(cls, directory: Path | str, threads: int = 1) -> Self:
        """Open a model directory; what is not whole and ours is refused."""
        files = GeneratorFiles(Path(directory))
        about = files.check()
        config = read_config(files)
        source = Vocabulary.load(files.source, SOURCE_SIGNS)
        hashtag = Vocabulary.load(files.hashtag, HASHTAG_SIGNS)
        numberer = Numberer(config, source, hashtag)
        return cls(files, config, numberer, OnnxRuntime(files, threads), about)

    def suggest(self, examples: Sequence[Example], n: int = 10) -> list[list[Generated]]:
        """The n best hashtags of every example, best first (`Example.of` makes an example)."""
        if n < 1:
            raise ConfigError(f"n is {n}: ask for one hashtag or more")
        return generate(self._runtime, self._numberer, examples, n)

    def suggest_posts(
        self,
        posts: Sequence[PreparedPost],
        contexts: Sequence[Sequence[ContextWord]],
        forms: Forms,
        n: int = 10,
    ) -> list[tuple[Suggestion, ...]]:
        """The n best hashtags of every post, as people write them; the post's own are not read.

        The score is the probability the model gives a hashtag.
        """
        pairs = zip(posts, contexts, strict=True)
        examples = [Example.of(self.config, post.body, context) for post, context in pairs]
        reason = (Reason(source="generator", text="written by the model", weight=1.0),)
        return [
            tuple(
                Suggestion(
                    hashtag=forms.write(words),
                    words=words,
                    score=math.exp(score),
                    because=reason,
                )
                for words, score in answer
            )
            for answer in self.suggest(examples, n)
        ]

    def save(self, directory: Path | str) -> None:
        """Copy what serving needs to a new model directory."""
        files = self.files
        self.files.check()
        with new_directory(Path(directory), KIND, self.about) as scratch:
            for path in (files.config, files.source, files.hashtag, files.encoder, files.step):
                shutil.copyfile(path, scratch / path.name)


def read_config(files: GeneratorFiles) -> GeneratorConfig:
    """The settings of a saved model."""
    try:
        return GeneratorConfig.model_validate_json(files.config.read_bytes())
    except ValidationError as error:
        raise ModelError(f"{files.config}: {explain(error)}") from None
