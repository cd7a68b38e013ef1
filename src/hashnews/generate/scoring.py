"""How likely given hashtags are to a model: what the beam search would score them, without search.

Hashtags of a post that begin with the same words are written together as far as they are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hashnews.generate.batch import Batch
from hashnews.generate.beam import Runtime, Words
from hashnews.generate.vocabulary import END, START

NEVER = float("-inf")
Prefix = tuple[int, Words]  # a post, and words written for it


def score(
    runtime: Runtime[Any],
    batch: Batch,
    hashtags: Sequence[Sequence[Words | None]],
    least: float = NEVER,
) -> list[list[float]]:
    """Sum the words: log p(y) = Σ_t log p(y_t | y_1 … y_t-1); -inf if it cannot be written.

    What falls below `least` is not followed any further and has `least` for a score.
    """
    memory, state = runtime.start(batch)
    written: dict[Prefix, float] = {(post, ()): 0.0 for post in range(batch.size)}
    wanted = [(post, tag) for post, tags in enumerate(hashtags) for tag in tags if tag is not None]
    complete = {(post, (*tag, END)) for post, tag in wanted}
    level = sorted(written)
    while level:
        last = np.array([words[-1] if words else START for _, words in level])
        log, state = runtime.step(memory, state, last, np.array([post for post, _ in level]))
        rows = {prefix: row for row, prefix in enumerate(level)}
        length = len(level[0][1])
        complete = {(post, tag) for post, tag in complete if (post, tag[:length]) in rows}
        grown = set()
        for post, words in {(post, tag[: length + 1]) for post, tag in complete}:
            before = (post, words[:-1])
            total = written[before] + min(float(log[rows[before], words[-1]]), 0.0)
            if total > least:
                written[post, words] = total
                grown.add((post, words))
        level = sorted((post, words) for post, words in grown if words[-1] != END)
        state = tuple(part[[rows[post, words[:-1]] for post, words in level]] for part in state)
    return [
        [NEVER if tag is None else written.get((post, (*tag, END)), least) for tag in tags]
        for post, tags in enumerate(hashtags)
    ]
