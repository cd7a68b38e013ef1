"""Named entities of posts and articles, found by a small transformer on one processor core.

The network reads wordpieces of an uncased vocabulary, each with the case shape of its word, and
scores one BIO label per word; `best_labels` picks the best sequence that is well formed. A word
here may be less than a token (`split_token`): a hashtag is read as the words of its camel case
and a hyphened word as its parts, and each of them can be, begin or end an entity. Mentions and
URLs are masked, so that nobody's handle is ever an entity.

What training and run time must do alike stands here; it needs numpy, onnxruntime and tokenizers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import onnxruntime
import regex
from tokenizers import Tokenizer

from hashnews.errors import ModelError
from hashnews.records import Entity
from hashnews.saved import check_directory, open_graph
from hashnews.text.entities import LONGEST_NAME
from hashnews.text.tokens import Token, tokenise

DIRECTORY_KIND = "tagger"
KINDS = ("person", "place", "organisation", "other")
LABELS = ("O", *(f"{position}-{kind}" for kind in KINDS for position in "BI"))
SHAPES = ("none", "lower", "title", "upper", "mixed", "digit")
INPUTS = ("pieces", "shapes")

MENTION, URL = "@user", "http"
PADDING, UNKNOWN, START, END, LAST_SPECIAL = 0, 100, 101, 102, 103  # of BERT's vocabulary
PIECES_PER_WORD = 8  # what a longer word adds is mostly shouting
CACHED_WORDS = 200_000
PASSAGE_PIECES = 64  # a sentence or two, as in training: longer passages are slower and worse
BATCH_PIECES = 1024  # more of them do not fit the processor's cache
TEXTS_AT_ONCE = 512
OVERLAP = 16  # words
LOWEST = np.float32(-1e9)

MASKS = {"mention": MENTION, "url": URL}
DETERMINERS = frozenset({"the", "a", "an", "this", "that", "these", "those"})
POSSESSIVES = frozenset({"'s", "’s", "'", "’"})
SENTENCE_ENDS = frozenset(".!?…")

POSSESSIVE = regex.compile(r"['’][sS]$")
HYPHENED = regex.compile(r"[-–—/&]+|[^-–—/&]+")
CAMEL = regex.compile(
    r"""
    ^[\#＃]
  | \p{Lu}+ (?= \p{Lu}\p{Ll} )      # NBC|News
  | \p{Lu}? [\p{Ll}\p{M}]+          # Black|Lives
  | \p{Lu}+ | \p{N}+ | [\p{L}\p{M}]+ | [^\p{L}\p{M}\p{N}]+
    """,
    regex.VERBOSE,
)

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]


class Span(NamedTuple):
    """An entity by word positions, `end` not included."""

    start: int
    end: int
    kind: str


class Encoded(NamedTuple):
    """Words as the network reads them; `heads[i]` is the place of word i's first piece."""

    pieces: list[int]
    word_of: list[int]
    heads: list[int]


def case_shape(word: str) -> int:
    """Which of `SHAPES` a word has: the vocabulary is uncased, so case has to come beside it."""
    if word in (MENTION, URL):
        return 0
    if word.islower():
        shape = "lower"
    elif word.isupper():
        shape = "upper" if len(word) > 1 else "title"
    elif word.istitle():
        shape = "title"
    else:
        shape = "mixed" if any(map(str.isalpha, word)) else "none"
    return SHAPES.index("digit" if any(map(str.isdigit, word)) else shape)


def split_token(token: str) -> list[tuple[int, int]]:
    """Where the words of a token start and end: #FreeBritney, Trump-Russia and Obama's have two."""
    if len(token) > 1 and token[0] in "#＃":
        return [match.span() for match in CAMEL.finditer(token)]
    tail = POSSESSIVE.search(token)
    end = tail.start() if tail and tail.start() else len(token)
    spans = [match.span() for match in HYPHENED.finditer(token, 0, end)]
    return spans + ([(end, len(token))] if end < len(token) else [])


class Wordpieces:
    """The pieces of words, each word looked up once: most words of any text were seen before."""

    def __init__(self, tokeniser: Tokenizer):
        tokeniser.no_truncation()
        tokeniser.no_padding()
        self._tokeniser = tokeniser
        self._known: dict[str, tuple[int, ...]] = {}

    def encode(self, words: Sequence[str]) -> Encoded:
        """Pieces of a sentence between the start and the end sign."""
        self._learn(words)
        pieces, word_of, heads = [START], [-1], []
        for position, word in enumerate(words):
            heads.append(len(pieces))
            found = self._known[word]
            pieces += found
            word_of += [position] * len(found)
        return Encoded([*pieces, END], [*word_of, -1], heads)

    def count(self, words: Sequence[str]) -> list[int]:
        """How many pieces each word has."""
        self._learn(words)
        return [len(self._known[word]) for word in words]

    def _learn(self, words: Iterable[str]) -> None:
        if len(self._known) > CACHED_WORDS:
            self._known.clear()
        new = [word for word in dict.fromkeys(words) if word not in self._known]
        # Half a surrogate pair cannot be encoded, and is not worth refusing a text for.
        readable = [word.encode("utf-8", "replace").decode("utf-8") for word in new]
        encodings = self._tokeniser.encode_batch(readable, add_special_tokens=False)
        for word, encoding in zip(new, encodings, strict=True):
            # A word that happens to spell a special sign ([PAD]) must not act as one.
            pieces = [i if i > LAST_SPECIAL else UNKNOWN for i in encoding.ids[:PIECES_PER_WORD]]
            self._known[word] = tuple(pieces) or (UNKNOWN,)


def best_labels(scores: Floats, lengths: Sequence[int]) -> list[list[int]]:
    """Best well-formed label sequence of each row of `scores` (rows, words, labels): Viterbi."""
    rows, words, labels = scores.shape
    allowed = _allowed_moves()
    total = scores[:, 0] + allowed[LABELS.index("O")]  # a sentence begins as if after an O
    came_from = np.zeros((rows, words, labels), dtype=np.int8)
    ends = np.asarray(lengths)
    finals = np.where((ends == 1)[:, None], total, 0)
    for word in range(1, words):
        paths = total[:, :, None] + allowed
        came_from[:, word] = paths.argmax(axis=1)
        total = paths.max(axis=1) + scores[:, word]
        finals = np.where((ends == word + 1)[:, None], total, finals)
    return [_walk_back(came_from[row], finals[row], length) for row, length in enumerate(lengths)]


def _walk_back(came_from: npt.NDArray[np.int8], final: Floats, length: int) -> list[int]:
    label, path = int(final.argmax()), []
    for word in range(length - 1, -1, -1):
        path.append(label)
        label = int(came_from[word, label])
    return path[::-1]


def _allowed_moves() -> Floats:
    """0 where a label may follow another, else very low: I-x follows only B-x and I-x."""
    names = np.array(LABELS)
    inside = np.char.startswith(names, "I-")
    same_kind = np.char.partition(names, "-")[:, None, 2] == np.char.partition(names, "-")[:, 2]
    return np.where(inside[None, :] & ~same_kind, LOWEST, np.float32(0))


def spans_of(labels: Sequence[int]) -> list[Span]:
    """The entities that labels spell.

    An I that continues nothing begins an entity: it happens in corpora, and where two passages
    of a text meet.
    """
    spans: list[Span] = []
    for place, label in enumerate(labels):
        position, _, kind = LABELS[label].partition("-")
        if position == "I" and spans and spans[-1][1:] == (place, kind):
            spans[-1] = spans[-1]._replace(end=place + 1)
        elif kind:
            spans.append(Span(place, place + 1, kind))
    return spans


class Word(NamedTuple):
    """A word of a text: `read` is what the network sees of `source[start:end]`."""

    read: str
    start: int
    end: int


class Passage(NamedTuple):
    """Words of text number `source` that are read at once, of which `keep` are labelled here."""

    source: int
    start: int
    end: int
    keep: slice


def words_of(tokens: Iterable[Token]) -> list[Word]:
    """The words of a tokenised text; mentions and URLs are masked."""
    words: list[Word] = []
    for token in tokens:
        if token.kind in MASKS:
            words.append(Word(MASKS[token.kind], token.start, token.end))
        elif token.text.isalpha():  # a shortcut for most of what is written
            words.append(Word(token.text, token.start, token.end))
        else:
            words += [
                Word(token.text[start:end], token.start + start, token.start + end)
                for start, end in split_token(token.text)
            ]
    return words


def passages_of(source: int, words: Sequence[Word], sizes: Sequence[int]) -> list[Passage]:
    """Cut a text into passages that end with a sentence where they can; `sizes` are in pieces.

    Where no sentence ends in the second half of a passage, the next one begins `OVERLAP` words
    earlier, and each of the two labels its half of what they share.
    """
    passages: list[Passage] = []
    reach = np.concatenate([[0], np.cumsum(sizes)])
    start = keep = 0
    while start < len(words):
        end = int(np.searchsorted(reach, reach[start] + PASSAGE_PIECES - 2, side="right")) - 1
        if end == len(words):
            passages.append(Passage(source, start, end, slice(keep, end)))
            break
        back = range(end, (start + end) // 2, -1)
        stop = next((place for place in back if words[place - 1].read[0] in SENTENCE_ENDS), None)
        if stop is not None:
            passages.append(Passage(source, start, stop, slice(keep, stop)))
            start = keep = stop
        else:
            shared = min(OVERLAP, (end - start) // 2)
            passages.append(Passage(source, start, end, slice(keep, end - shared // 2)))
            start, keep = end - shared, end - shared // 2
    return passages


class Tagger:
    """Finds the named entities of texts."""

    name = "tagger"

    def __init__(self, session: onnxruntime.InferenceSession, pieces: Wordpieces):
        self._session = session
        self._pieces = pieces

    @classmethod
    def load(cls, directory: Path, threads: int = 1) -> Tagger:
        """Read a model directory, checked by its manifest."""
        check_directory(directory, DIRECTORY_KIND)
        try:
            config = dict(json.loads((directory / "config.json").read_text("utf-8")))
            tokeniser = Tokenizer.from_file(str(directory / "tokenizer.json"))
        except Exception as error:  # tokenizers has no errors of its own
            raise ModelError(f"{directory}: cannot be read: {error}") from None
        ours = {"labels": list(LABELS), "shapes": list(SHAPES), "inputs": list(INPUTS)}
        for name, value in ours.items():
            if config.get(name) != value:
                raise ModelError(f"{directory}: its {name} are not those of this version")
        # The graph is written as it should run: more "optimisation" only makes it slower.
        session = open_graph(directory / "model.onnx", threads, basic=True)
        if {given.name for given in session.get_inputs()} != set(INPUTS):
            raise ModelError(f"{directory}: its graph takes other inputs than this version's")
        return cls(session, Wordpieces(tokeniser))

    def find(self, text: str) -> list[Entity]:
        """The entities of one text, in order."""
        return self.find_all([text])[0]

    def find_all(self, texts: Sequence[str]) -> list[list[Entity]]:
        """The entities of each text; a text that comes again is read once."""
        distinct = list(dict.fromkeys(texts))
        found: dict[str, list[Entity]] = {}
        for start in range(0, len(distinct), TEXTS_AT_ONCE):
            some = distinct[start : start + TEXTS_AT_ONCE]
            read = [words_of(tokenise(text)) for text in some]
            for text, words, labels in zip(some, read, self._label(read), strict=True):
                found[text] = list(entities_in(text, words, labels))
        return [list(found[text]) for text in texts]

    def scores(self, pieces: Ints, shapes: Ints) -> Floats:
        """What the network says: one score per row, piece and label."""
        (scores,) = self._session.run(None, {"pieces": pieces, "shapes": shapes})
        return np.asarray(scores, dtype=np.float32)

    def _label(self, texts: Sequence[Sequence[Word]]) -> list[list[int]]:
        """A label for every word of every text."""
        labels = [[0] * len(words) for words in texts]
        for batch in self._batches(texts):
            for passage, found in zip(batch, self._label_passages(batch, texts), strict=True):
                keep = passage.keep
                inner = found[keep.start - passage.start : keep.stop - passage.start]
                labels[passage.source][keep] = inner
        return labels

    def _batches(self, texts: Sequence[Sequence[Word]]) -> Iterator[list[Passage]]:
        """Passages of like length together, so that little of a batch is padding."""
        sized: list[tuple[int, Passage]] = []
        for source, words in enumerate(texts):
            counts = self._pieces.count([word.read for word in words])
            for passage in passages_of(source, words, counts):
                sized.append((sum(counts[passage.start : passage.end]), passage))
        sized.sort(key=lambda one: one[0])
        batch: list[Passage] = []
        for size, passage in sized:
            if batch and (size + 2) * (len(batch) + 1) > BATCH_PIECES:
                yield batch
                batch = []
            batch.append(passage)
        if batch:
            yield batch

    def _label_passages(
        self, batch: Sequence[Passage], texts: Sequence[Sequence[Word]]
    ) -> list[list[int]]:
        read = [[word.read for word in texts[p.source][p.start : p.end]] for p in batch]
        encoded = [self._pieces.encode(words) for words in read]
        scores = self.scores(*arrays_of(encoded, read))
        lengths = [len(words) for words in read]
        by_word = np.zeros((len(batch), max(lengths), len(LABELS)), dtype=np.float32)
        for row, (one, words) in enumerate(zip(encoded, read, strict=True)):
            by_word[row, : len(words)] = scores[row, one.heads]
            masked = [place for place, word in enumerate(words) if word in (MENTION, URL)]
            by_word[row, masked, 1:] = LOWEST
        return best_labels(by_word, lengths)


def arrays_of(encoded: Sequence[Encoded], words: Sequence[Sequence[str]]) -> tuple[Ints, Ints]:
    """Pieces and shapes of sentences, padded to the longest: the input of the network."""
    width = max(len(one.pieces) for one in encoded)
    pieces = np.full((len(encoded), width), PADDING, dtype=np.int32)
    shapes = np.zeros_like(pieces)
    for row, (one, sentence) in enumerate(zip(encoded, words, strict=True)):
        by_word = [*map(case_shape, sentence), 0]  # the last is that of both signs, at place -1
        pieces[row, : len(one.pieces)] = one.pieces
        shapes[row, : len(one.pieces)] = [by_word[place] for place in one.word_of]
    return pieces, shapes


def entities_in(text: str, words: Sequence[Word], labels: Sequence[int]) -> Iterator[Entity]:
    """Labelled words as entities, without determiners, possessives and signs at their ends."""
    for start, end, kind in spans_of(labels):
        while start < end and _is_outside(words[start].read, DETERMINERS):
            start += 1
        while start < end and _is_outside(words[end - 1].read, POSSESSIVES):
            end -= 1
        if 0 < end - start <= LONGEST_NAME:
            first, last = words[start].start, words[end - 1].end
            yield Entity(text[first:last], first, last, kind)


def _is_outside(word: str, small_words: frozenset[str]) -> bool:
    """Whether a word at the end of a span is no part of the name."""
    return word.lower() in small_words or not any(map(str.isalnum, word))


@lru_cache(1)
def shipped_tagger() -> Tagger:
    """The tagger that comes with the package."""
    return Tagger.load(Path(str(resources.files("hashnews") / "models" / "tagger")))
