"""What each step of a reproduction does: one function per step, filling one folder.

`plan` names them, `runner` calls them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hashnews.baselines.config import LstmTopConfig
from hashnews.errors import DataError, needs_extra
from hashnews.files import PostFile, RecordFile, new_file, write_records
from hashnews.generate.config import TrainingConfig
from hashnews.metrics import drawn
from hashnews.prepare.datasets import of_collection, rules_for
from hashnews.prepare.preparer import Preparer
from hashnews.prepare.public_sets import read_public
from hashnews.prepare.splits import Split, write_prepared
from hashnews.records import Article, PreparedPost, Suggestion
from hashnews.reproduce.suggestions import write_suggestions
from hashnews.text.entities import load_finder
from hashnews.text.hashtags import shipped_forms
from hashnews.text.segment import shipped_segmenter

if TYPE_CHECKING:
    from hashnews.baselines.base import Baseline

POSTS, STATS, NEWS, REFERENCE = "posts.jsonl", "stats.json", "news.db", "reference.jsonl"
CONTEXTS, MODEL, SUGGESTIONS = "contexts.jsonl", "model", "suggestions.jsonl"
CASE = "case.json"


def prepare_posts(
    folder: Path,
    *,
    raw: Path,
    split: Split,
    seed: int,
    collection: str | None,
    never: Sequence[str],
    finder: str,
    most: int | None,
) -> None:
    """Prepared posts with their part of the split, and Table 1."""
    entity_finder = load_finder(finder)
    preparer = Preparer(shipped_segmenter(), entity_finder, never)
    posts = islice(of_collection(PostFile(raw), collection), most)
    write_prepared(folder / POSTS, preparer.prepare(posts, rules_for(raw)), split, seed)
    write_json(folder / STATS, preparer.statistics.report(entity_finder, preparer.dropped))


def prepare_public(folder: Path, *, dataset: Path, finder: str, most: int | None) -> None:
    """Prepared posts of a public dataset, with the split it has, and Table 1."""
    entity_finder, segmenter = load_finder(finder), shipped_segmenter()
    preparer = Preparer(segmenter, entity_finder)
    posts = preparer.adopt(read_public(dataset, segmenter, most))
    write_records(folder / POSTS, posts)
    write_json(folder / STATS, preparer.statistics.report(entity_finder, preparer.dropped))


def add_news(folder: Path, *, news: Path, finder: str) -> None:
    """The news store; adding again what is there changes nothing."""
    from hashnews.news.ingest import add_files
    from hashnews.news.store import NewsStore
    from hashnews.news.summary import Refusals, Summary

    refusals = Refusals(Summary(), folder / "refused.jsonl")
    with NewsStore(folder / NEWS, "write") as store:
        add_files(store, load_finder(finder), [str(news)], refusals)


def older_news(folder: Path, *, news: Path, posts: Path) -> None:
    """A reference corpus where the dataset brings none: the news before every post."""
    times = [post.created_at for post in RecordFile(posts, PreparedPost) if post.created_at]
    first = min(times, default=None)
    articles = RecordFile(news, Article)
    older = (one for one in articles if first is None or one.published_at < first)
    if not write_records(folder / REFERENCE, older):
        raise DataError("has no reference.jsonl, and no news before its posts", news.parent)


def build_index(folder: Path, *, news: Path, reference: Path) -> None:
    """The index of the news and of the reference corpus: both lie beside the store."""
    from hashnews.index.day import Settings
    from hashnews.retrieve.retriever import RetrieverConfig
    from hashnews.retrieve.source import RetrieverSource

    RetrieverSource(news, reference, Settings(), RetrieverConfig()).open()


def retrieve_contexts(
    folder: Path, *, posts: Path, news: Path, reference: Path, ranking: str
) -> None:
    """The context of every post, with one ranking."""
    from hashnews.index.day import Settings
    from hashnews.retrieve.all_words import AllWordsConfig
    from hashnews.retrieve.batch import write_contexts
    from hashnews.retrieve.retriever import RetrieverConfig
    from hashnews.retrieve.source import RetrieverSource

    config: RetrieverConfig | AllWordsConfig = AllWordsConfig()
    if ranking != "best":
        config = RetrieverConfig.model_validate({"ranking": ranking})
    source = RetrieverSource(news, None if ranking == "best" else reference, Settings(), config)
    write_contexts(posts, folder / CONTEXTS, source.open, "the key of the step says it")


def train_generator(folder: Path, *, config: TrainingConfig) -> None:
    """A trained generator; its checkpoints and learning curve stand beside it."""
    with needs_extra("training", "train"):
        from hashnews.generate.training import train
    train(config, folder / MODEL, lambda at: _say(at.step, at.steps, f"loss {at.loss:.3f}"))


def suggest_by_generator(
    folder: Path, *, model: Path, posts: Path, contexts: Path | None, n: int
) -> None:
    """Hashtags for the test posts by a trained generator."""
    from hashnews.generate.batch import read_contexts
    from hashnews.generate.generator import Generator

    generator = Generator.load(model)
    forms = shipped_forms()
    asked, read = [], []
    for post, context in read_contexts(generator.config, posts, contexts):
        if post.split == "train":
            for tag in post.hashtags:
                forms.see(tag.written)
        elif post.split == "test":
            asked.append(post)
            read.append(context)
    answers = generator.suggest_posts(asked, read, forms, n)
    write_suggestions(folder / SUGGESTIONS, asked, answers)


def suggest_by_baseline(
    folder: Path,
    *,
    name: str,
    config: LstmTopConfig,
    seed: int,
    posts: Path,
    n: int,
    validation_posts: int,
) -> None:
    """Hashtags for the test posts by a baseline, which sees their bodies, times and users."""
    parts: dict[str, list[PreparedPost]] = {"train": [], "validation": [], "test": []}
    for post in RecordFile(posts, PreparedPost):
        parts[str(post.split)].append(post)
    baseline = make_baseline(name, config, seed, folder)
    baseline.fit(parts["train"], drawn(parts["validation"], validation_posts, seed))
    asked = [post.model_copy(update={"hashtags": ()}) for post in parts["test"]]
    answers = (
        [
            Suggestion(hashtag=tag.written, words=tag.words, score=score, because=())
            for tag, score in answer
        ]
        for answer in baseline.suggest(asked, n)
    )
    write_suggestions(folder / SUGGESTIONS, asked, answers)


def make_baseline(name: str, config: LstmTopConfig, seed: int, folder: Path) -> Baseline:
    """The baseline of that name."""
    from hashnews.baselines import frequency, neighbours

    simple = {
        "most-frequent": frequency.MostFrequent,
        "recent": frequency.RecentFrequency,
        "neighbours": neighbours.Neighbours,
        "author": neighbours.AuthorHistory,
        "neighbours-author": neighbours.NeighboursAndAuthor,
    }
    if name in simple:
        baseline: Baseline = simple[name]()
        return baseline
    with needs_extra("LSTM-TOP", "train"):
        from hashnews.baselines.lstm_top import LstmTop
    return LstmTop(config, seed, folder / "metrics.jsonl")


def write_json(path: Path, value: Any) -> None:
    """A JSON file, whole or not at all."""
    with new_file(path) as stream:
        json.dump(value, stream, indent=2, ensure_ascii=False)
        stream.write("\n")


def read_json(path: Path) -> Any:
    """A JSON file we wrote."""
    return json.loads(path.read_text("utf-8"))


def read_curve(path: Path) -> list[dict[str, float]]:
    """What a metrics.jsonl says of whole epochs."""
    lines = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if "mean_loss" in line]


def _say(step: int, steps: int, what: str) -> None:
    if step % 20 == 0:
        sys.stderr.write(f"step {step:,} of {steps:,}, {what}\n")
        sys.stderr.flush()
