"""Exact-span scores, as the corpora are usually scored, mentions aside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from torch import Tensor

from hashnews.tagger.corpora import (
    DOUBT,
    EncodedSentence,
    Sentence,
    collate,
    gold_spans,
    head_word,
    is_mention,
    to_row,
    words_of,
)
from hashnews.tagger.finder import (
    DETERMINERS,
    POSSESSIVES,
    Span,
    Wordpieces,
    best_labels,
    spans_of,
)


class Score(NamedTuple):
    """Counts of exact spans, whatever their kind."""

    right: int
    found: int
    gold: int

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, in per cent."""
        return 200 * self.right / max(1, self.found + self.gold)


def score_spans(sentence: Sentence, found: Iterable[Span]) -> Score:
    """Compare spans as sets; mentions do not count, nor what is found where gold is in doubt."""
    gold = {trim(span, sentence.tokens) for span in gold_spans(sentence.tags)} - {None}
    sure = (span for span in found if DOUBT not in sentence.tags[span.start : span.end])
    ours = {trim(span, sentence.tokens) for span in sure} - {None}
    return Score(len(gold & ours), len(ours), len(gold))


def trim(span: Span, tokens: Sequence[str]) -> tuple[int, int] | None:
    """The bounds of a span without determiner and possessive, or None if it is a mention."""
    start, end = span.start, span.end
    while start < end and tokens[start].lower() in DETERMINERS:
        start += 1
    while start < end and tokens[end - 1] in POSSESSIVES:
        end -= 1
    return None if start == end or any(map(is_mention, tokens[start:end])) else (start, end)


Scorer = Callable[[Tensor, Tensor], Tensor]


def measure(
    network: Scorer, sentences: Sequence[Sentence], pieces: Wordpieces, limit: int
) -> Score:
    """Exact-span score of a network over sentences with the tokens of their corpus."""
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i].tokens))
    total = np.zeros(3, dtype=int)
    for start in range(0, len(order), 64):
        group = [sentences[i] for i in order[start : start + 64]]
        total += np.sum(_score_group(network, group, pieces, limit), axis=0)
    return Score(*map(int, total))


def _score_group(
    network: Scorer, group: Sequence[Sentence], pieces: Wordpieces, limit: int
) -> list[Score]:
    rows = [to_row(sentence, pieces, limit) for sentence in group]
    batch = collate(rows)
    logits = network(batch.pieces, batch.shapes).numpy()
    results = []
    for number, (sentence, row) in enumerate(zip(group, rows, strict=True)):
        heads = _token_heads(sentence, row)
        (labels,) = best_labels(logits[number : number + 1, heads], [len(heads)])
        kept = Sentence(*(column[: len(labels)] for column in sentence))
        missed = len(gold_spans(sentence.tags)) - len(gold_spans(kept.tags))
        score = score_spans(kept, spans_of(labels))
        results.append(score._replace(gold=score.gold + missed))
    return results


def _token_heads(sentence: Sentence, row: EncodedSentence) -> list[int]:
    """Where the piece stands that speaks for each token, as far as the row goes."""
    heads, word = [], 0
    for token in sentence.tokens:
        words = words_of(token)
        place = word + head_word(words)
        if place >= len(row.heads):
            break
        heads.append(row.heads[place])
        word += len(words)
    return heads


def lower(sentences: Iterable[Sentence]) -> list[Sentence]:
    """The same sentences without capitals."""
    return [Sentence([token.lower() for token in tokens], tags) for tokens, tags in sentences]
