"""Labelled text: CoNLL files to rows of pieces, whole sentences changing their case at random."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from hashnews.errors import DataError
from hashnews.tagger.config import TaggerConfig
from hashnews.tagger.finder import (
    KINDS,
    LABELS,
    MENTION,
    PADDING,
    URL,
    Span,
    Wordpieces,
    case_shape,
    spans_of,
    split_token,
)

IGNORED = -100
MASKED = 103
DOUBT = "?"  # the tag of a word whose silver labels disagree: it costs nothing either way
CASINGS: tuple[Callable[[str], str], ...] = (str, str.lower, str.upper, str.title)
KIND_NAMES = {
    "PER": "person",
    "LOC": "place",
    "ORG": "organisation",
    "MISC": "other",
    "location": "place",
    "corporation": "organisation",
    "group": "organisation",
    "product": "other",
    "creative-work": "other",
}
URL_STARTS = ("http://", "https://", "www.", "URL")


class Sentence(NamedTuple):
    """Tokens of a CoNLL file and their BIO tags in our kinds; `?` is a tag nobody is sure of."""

    tokens: list[str]
    tags: list[str]


class TaggerBatch(NamedTuple):
    """Rows side by side, padded."""

    pieces: Tensor
    shapes: Tensor
    labels: Tensor
    weights: Tensor


def read_conll(path: Path) -> list[Sentence]:
    """Sentences of a CoNLL file (first column the token, last the tag), gzip undone by name."""
    sentences: list[Sentence] = []
    rows: list[tuple[str, str]] = []
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                columns = line.rstrip("\n").split("\t")
                if columns[0].strip() and not line.startswith("-DOCSTART-"):
                    tag = columns[-1].strip()
                    if tag not in ("O", DOUBT) and tag[:2] not in ("B-", "I-"):
                        raise DataError(f"{tag[:20]!r} is no BIO tag", path, number)
                    rows.append((columns[0].strip(), our_tag(tag)))
                elif rows:
                    sentences.append(join_signs(rows))
                    rows = []
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path) from None
    return sentences + ([join_signs(rows)] if rows else [])


def our_tag(tag: str) -> str:
    """A corpus's tag with our name of the kind."""
    position, dash, kind = tag.partition("-")
    kind = KIND_NAMES.get(kind, kind)
    return f"{position}-{kind}" if dash and kind in KINDS else DOUBT if tag == DOUBT else "O"


def join_signs(rows: list[tuple[str, str]]) -> Sentence:
    """Put `@` and `#` back before their words, and call mentions what they are: no entities.

    The Broad Twitter Corpus cuts these signs off and labels mentions as entities.
    """
    tokens: list[str] = []
    tags: list[str] = []
    for token, tag in rows:
        if tokens and tokens[-1] in ("@", "#") and token[0].isalnum() | (token[0] == "_"):
            before = tags[-1]
            tokens[-1] += token
            tags[-1] = before if before[0] == "B" else tag
        else:
            tokens.append(token)
            tags.append(tag)
    tags = ["O" if is_mention(token) else tag for token, tag in zip(tokens, tags, strict=True)]
    return Sentence(tokens, tags)


def is_mention(token: str) -> bool:
    """Whether a token is somebody's handle."""
    return len(token) > 1 and token[0] == "@"


def mask(token: str) -> str:
    """Mentions and URLs as one word each, as at run time."""
    return MENTION if is_mention(token) else URL if token.startswith(URL_STARTS) else token


def words_of(token: str) -> list[str]:
    """The words of a token as the network reads them."""
    token = mask(token)
    if token in (MENTION, URL):
        return [token]
    return [token[start:end] for start, end in split_token(token)]


def head_word(words: Sequence[str]) -> int:
    """Which of a token's words speaks for the token: the first that is not its `#`."""
    return 1 if len(words) > 1 and words[0] in "#＃" else 0


def word_tags(words: Sequence[str], tag: str) -> list[str]:
    """A token's tag spread over its words: the rest of a B token is I."""
    head = head_word(words)
    if tag in ("O", DOUBT):
        return [tag] * len(words)
    return ["O"] * head + [tag] + ["I" + tag[1:]] * (len(words) - head - 1)


class EncodedSentence(NamedTuple):
    """A sentence as numbers: a shape and a label per piece; `heads` are its words' first pieces."""

    pieces: list[int]
    shapes: list[int]
    labels: list[int]
    heads: list[int]
    weight: float


def to_row(
    sentence: Sentence,
    pieces: Wordpieces,
    limit: int,
    casing: Callable[[str], str] = str,
    weight: float = 1.0,
) -> EncodedSentence:
    """A sentence in some casing, cut at `limit` pieces; a word's first piece has its label."""
    words: list[str] = []
    tags: list[str] = []
    for token, tag in zip(*sentence, strict=True):
        parts = words_of(token)
        words += parts
        tags += word_tags(parts, tag)
    kept = int((np.cumsum(pieces.count(words)) <= limit - 2).sum())
    encoded = pieces.encode(words[:kept])
    cased = (word if word in (MENTION, URL) else casing(word) for word in words[:kept])
    by_word = [*map(case_shape, cased), 0]  # the last is that of both signs, at place -1
    labels = [IGNORED] * len(encoded.pieces)
    for head, tag in zip(encoded.heads, tags, strict=False):
        labels[head] = IGNORED if tag == DOUBT else LABELS.index(tag)
    shapes = [by_word[place] for place in encoded.word_of]
    return EncodedSentence(encoded.pieces, shapes, labels, encoded.heads, weight)


class Mixer:
    """Draws the batches of an epoch; the same seed and epoch give the same batches."""

    def __init__(
        self,
        gold: list[Sentence],
        silver: list[Sentence],
        pieces: Wordpieces,
        config: TaggerConfig,
    ):
        self._gold, self._silver, self._pieces, self._config = gold, silver, pieces, config
        self._names = names_by_kind(gold + silver)

    def epoch(self, number: int) -> list[TaggerBatch]:
        """All batches of one epoch, of sentences of like length, in random order."""
        draw = random.Random(f"{self._config.seed} {number}")
        count = round(self._config.silver_share * len(self._silver))
        rows = [self._vary(one, self._gold, 1.0, draw) for one in self._gold]
        for one in draw.sample(self._silver, count):
            rows.append(self._vary(one, self._silver, self._config.silver_weight, draw))
        draw.shuffle(rows)
        rows.sort(key=lambda row: len(row.pieces) // 4)
        batches = [collate(group) for group in by_budget(rows, self._config.batch_pieces)]
        draw.shuffle(batches)
        return batches

    def _vary(
        self, sentence: Sentence, part: list[Sentence], weight: float, draw: random.Random
    ) -> EncodedSentence:
        """A sentence with other names, after another sentence, in another casing, all by chance.

        Sentences are joined because texts are read in passages, which may hold several.
        """
        config = self._config
        sentence = self._rename(sentence, draw)
        while draw.random() < config.joined and len(sentence.tokens) < config.max_pieces // 4:
            other = draw.choice(part)
            sentence = Sentence(other.tokens + sentence.tokens, other.tags + sentence.tags)
        casing = draw.choices(CASINGS, config.casings)[0]
        return to_row(sentence, self._pieces, config.max_pieces, casing, weight)

    def _rename(self, sentence: Sentence, draw: random.Random) -> Sentence:
        """Put names of the same kind in place of some, so that more than a few are seen."""
        tokens, tags = list(sentence.tokens), list(sentence.tags)
        for start, end, kind in reversed(gold_spans(tags)):
            if self._names[kind] and draw.random() < self._config.renamed:
                name = draw.choice(self._names[kind])
                tokens[start:end] = name
                tags[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (len(name) - 1)]
        return Sentence(tokens, tags)


def names_by_kind(sentences: Iterable[Sentence]) -> dict[str, list[list[str]]]:
    """The names that occur, as tokens, as often as they do; hashtags stay where they are."""
    names: dict[str, list[list[str]]] = {kind: [] for kind in KINDS}
    for tokens, tags in sentences:
        for start, end, kind in gold_spans(tags):
            if not tokens[start].startswith("#"):
                names[kind].append(tokens[start:end])
    return names


def by_budget(rows: Sequence[EncodedSentence], budget: int) -> Iterator[list[EncodedSentence]]:
    """Rows in groups that, padded to their longest, hold at most `budget` pieces."""
    group: list[EncodedSentence] = []
    longest = 0
    for row in rows:
        longest = max(longest, len(row.pieces))
        if group and longest * (len(group) + 1) > budget:
            yield group
            group, longest = [], len(row.pieces)
        group.append(row)
    if group:
        yield group


def collate(rows: Sequence[EncodedSentence]) -> TaggerBatch:
    """Rows padded to the longest of them."""
    width = max(len(row.pieces) for row in rows)
    pieces = torch.full((len(rows), width), PADDING)
    shapes = torch.zeros_like(pieces)
    labels = torch.full_like(pieces, IGNORED)
    for index, row in enumerate(rows):
        size = len(row.pieces)
        pieces[index, :size] = torch.tensor(row.pieces)
        shapes[index, :size] = torch.tensor(row.shapes)
        labels[index, :size] = torch.tensor(row.labels)
    return TaggerBatch(pieces, shapes, labels, torch.tensor([row.weight for row in rows]))


def gold_spans(tags: Sequence[str]) -> list[Span]:
    """The entities of hand-written tags; a doubtful one is none."""
    return spans_of([0 if tag == DOUBT else LABELS.index(tag) for tag in tags])
