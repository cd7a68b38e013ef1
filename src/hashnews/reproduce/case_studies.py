"""The paper's two case studies: what temporal popularity changes, and what the news brings.

The second one shows posts, so it is always made on the shipped sample, never on the dataset.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from hashnews.files import RecordFile
from hashnews.generate.batch import Example
from hashnews.generate.generator import Generator
from hashnews.index.day import Settings, fold_entity
from hashnews.index.folder import NewsIndex
from hashnews.news.store import NewsStore
from hashnews.prepare.preparer import Preparer
from hashnews.records import Post, PostContext, PreparedPost
from hashnews.reproduce.actions import CASE, add_news, write_json
from hashnews.retrieve.explain import explain
from hashnews.retrieve.retriever import Retriever, RetrieverConfig
from hashnews.retrieve.source import RetrieverSource
from hashnews.retrieve.trends import trends
from hashnews.sample import sample_file
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter

RISING, USUAL = 8, 8
SHOWN = 5  # hashtags, titles


def weigh_entities(folder: Path, *, posts: Path, news: Path, reference: Path) -> None:
    """Case study 1: IDF and temporal popularity of entities in the middle of the test posts.

    Eight entities on the rise in the news then that posts name too, beside the eight that posts
    name most; each in the largest window, both weights over the largest among those shown.
    """
    test = [post for post in RecordFile(posts, PreparedPost) if post.split == "test"]
    at = _middle(test)
    named = Counter(fold_entity(name) for post in test for name in set(post.entities))
    with NewsStore(news) as store:
        rising = [one.entity for one in trends(NewsIndex.open(store), at, 500)]
    folded = dict.fromkeys(fold_entity(name) for name in rising)
    emerging = [name for name in folded if named[name] > 1][:RISING]
    usual = [name for name, _ in named.most_common() if name not in folded][:USUAL]
    retriever = RetrieverSource(news, reference, Settings(), RetrieverConfig()).open()
    if not isinstance(retriever, Retriever):
        raise TypeError("the paper's retriever was asked for")
    asked = PreparedPost(
        id="case", created_at=at, body="", entities=(*emerging, *usual), hashtags=()
    )
    terms = [term for term in explain(retriever, asked).terms if term.windows[-1].matching]
    rarity = max((term.windows[-1].idf for term in terms), default=1.0)
    popularity = max((term.windows[-1].temporal_popularity for term in terms), default=1.0)
    rows = [
        {
            "entity": term.term,
            "emerging": term.term in emerging,
            "articles": term.windows[-1].matching,
            "idf": term.windows[-1].idf / rarity,
            "temporal_popularity": term.windows[-1].temporal_popularity / popularity,
        }
        for term in terms
    ]
    write_json(folder / CASE, {"at": at.isoformat(), "entities": rows})


def _middle(posts: list[PreparedPost]) -> datetime:
    times = sorted(post.created_at for post in posts if post.created_at)
    return times[len(times) // 2]


def work_examples(
    folder: Path, *, reference: Path, with_news: Path, without: Path, finder: str
) -> None:
    """Case study 2: two sample posts, their news, the words that help, what two models answer.

    Shown are the posts whose hashtags have most words in the context.
    """
    with sample_file("posts.jsonl") as path:
        raw = list(RecordFile(path, Post))
    with sample_file("news.jsonl") as path:
        add_news(folder, news=path, finder=finder)
    prepared = list(Preparer(shipped_segmenter(), load_finder(finder)).prepare(raw))
    store_path = folder / "news.db"
    retriever = RetrieverSource(store_path, reference, Settings(), RetrieverConfig()).open()
    contexts = [retriever.retrieve(post) for post in prepared]
    order = sorted(range(len(prepared)), key=lambda i: -_helped(prepared[i], contexts[i]))
    texts = {post.id: post.text for post in raw}
    models = Generator.load(with_news), Generator.load(without)
    with NewsStore(store_path) as store:
        told = [
            _example(prepared[i], texts[prepared[i].id], contexts[i], models, store)
            for i in order[:2]
        ]
    write_json(folder / CASE, {"examples": told})


def _helped(post: PreparedPost, context: PostContext) -> float:
    wanted = {word for tag in post.hashtags for word in tag.words}
    return len(wanted & {word for word, _ in context.words}) / len(wanted)


def _example(
    post: PreparedPost,
    text: str,
    context: PostContext,
    models: tuple[Generator, Generator],
    store: NewsStore,
) -> dict[str, Any]:
    wanted = {word for tag in post.hashtags for word in tag.words}
    articles = (store.get(found.id) for found in context.articles[:SHOWN])
    with_news, without = (
        model.suggest([Example.of(model.config, post.body, context.words)], SHOWN)[0]
        for model in models
    )
    return {
        "post": text,
        "entities": list(post.entities),
        "news": [article.title for article in articles if article],
        "ranks": {word: rank for rank, (word, _) in enumerate(context.words, 1) if word in wanted},
        "hashnews": [" ".join(one.words) for one in with_news],
        "seq2seq": [" ".join(one.words) for one in without],
    }
