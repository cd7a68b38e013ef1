"""The retriever against the formulas in plain loops of tests/world/by_hand.py."""

import json
import runpy
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from in_memory import index_of

from hashnews.files import RecordFile
from hashnews.index.day import Entry, Settings, build_day
from hashnews.records import Article, Post, PreparedPost
from hashnews.retrieve.equations import (
    add_context_weights,
    idf,
    score_part,
    temporal_popularity,
    term_frequency,
    weight,
    window,
)
from hashnews.retrieve.retriever import Retriever, RetrieverConfig
from hashnews.text.stopwords import STOP_WORDS
from hashnews.times import A_DAY, microseconds

WORLD = Path(__file__).parents[1] / "world"
BY_HAND = runpy.run_path(str(WORLD / "by_hand.py"))
RUNS = {"tp": ("tp", 1.0), "bm25": ("bm25", 1.0), "tp_0.8": ("tp", 0.8)}


def entry(article):
    text = f"{article.title}\n{article.text}"
    return Entry(article.id, microseconds(article.published_at), article.entities or (), text)


def world(name):
    return [entry(article) for article in RecordFile(WORLD / name, Article)]


def retriever(news, reference, ranking, t, **more):
    matching = Settings(t=t)
    config = RetrieverConfig(ranking=ranking, **more)
    return Retriever(index_of(news, matching), build_day(reference, matching), config)


def prepared(post):
    return PreparedPost(
        id=post.id, created_at=post.created_at, body="x", entities=post.entities or (), hashtags=()
    )


@pytest.mark.parametrize("run", RUNS)
def test_the_world_computed_by_hand(run):
    expected = json.loads((WORLD / "expected.json").read_text("utf-8"))
    finder = retriever(world("news.jsonl"), world("reference.jsonl"), *RUNS[run])
    for post in RecordFile(WORLD / "posts.jsonl", Post):
        found = finder.retrieve(prepared(post))
        wanted = expected[post.id][run]
        assert [(r.id, r.window) for r in found.articles] == [
            (pick["id"], pick["window"]) for pick in wanted["picks"]
        ]
        assert [r.score for r in found.articles] == pytest.approx(
            [pick["score"] for pick in wanted["picks"]], abs=1e-9
        )
        said = {w: n for w, n in wanted["words"].items() if w not in STOP_WORDS}
        assert dict(found.words) == pytest.approx(said, abs=1e-9)


def test_golden_values_of_the_released_code():
    tp = temporal_popularity(idf(9, 1), idf(4, 2), 1e9)
    part = term_frequency(3, 10, 8, 1.2, 0.75)
    assert weight(tp, idf(4, 2), 1, 0) * part == pytest.approx(4.082254, abs=1e-6)
    assert weight(tp, idf(4, 2), 0, 1) * part == pytest.approx(1.033847, abs=1e-6)
    exploding = temporal_popularity(idf(9, 1), idf(4, 4), 1e9)
    assert exploding * term_frequency(1, 8, 8, 1.2, 0.75) == pytest.approx(18.005986, abs=1e-6)
    assert temporal_popularity(idf(9, 1), idf(4, 4), 10) == 10


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_idf_is_positive_and_falls(documents, n):
    n = min(n, documents)
    assert idf(documents, n) > 0
    if n:
        assert idf(documents, n) < idf(documents, n - 1)


@settings(deadline=None)  # compiled on first use
@given(st.floats(1, 1000), st.floats(0, 1000), st.floats(0.1, 1000))
def test_the_frequency_saturates(f, length, mean):
    part = term_frequency(f, length, mean, 1.2, 0.75)
    assert 0 < part <= 2.2
    assert part <= term_frequency(f + 1, length, mean, 1.2, 0.75)
    assert part >= term_frequency(f, length + 1, mean, 1.2, 0.75)


@pytest.mark.parametrize("t", [1.0, 0.8])
def test_each_equation_is_that_of_the_independent_script(t):
    news, reference = BY_HAND["read"]("news.jsonl"), BY_HAND["read"]("reference.jsonl")
    news.sort(key=BY_HAND["published"])
    times = np.array([microseconds(BY_HAND["published"](d)) for d in news])
    for post in BY_HAND["read"]("posts.jsonl"):
        moment = microseconds(datetime.fromisoformat(post["created_at"]))
        for i in range(1, 6):
            begin, end = window(times, moment // A_DAY, i, moment)
            corpus, weights = BY_HAND["window"](post, news, i), {}
            assert news[begin:end] == corpus
            for e in BY_HAND["distinct"](post):
                n, n_reference = (BY_HAND["holding"](e, some, t) for some in (corpus, reference))
                idf_reference = idf(len(reference), max(1, n_reference))
                weights[e] = temporal_popularity(idf_reference, idf(len(corpus), n), 10.0)
                assert weights[e] == pytest.approx(BY_HAND["popularity"](e, corpus, reference, t))
            mean = BY_HAND["mean_length"](corpus)
            for d in corpus:
                total, length = 0.0, len(d["entities"])
                for e in BY_HAND["distinct"](post):
                    if f := len(BY_HAND["m_soft"](e, d, t)):
                        total += score_part(weights[e], f, length, mean, 1.2, 0.75)
                assert total == pytest.approx(BY_HAND["score"](post, d, corpus, weights, t))


def test_context_weights_by_hand():
    # Two articles of a day, [a b a] and [b], whose words have the numbers 5 and 7.
    starts, said = np.array([0, 2, 3]), np.array([[5, 2], [7, 1], [7, 1]])
    weights, touched = np.zeros(9), np.zeros(9, np.int64)
    scores, places = np.array([2.0, 0.5]), np.array([0, 1])
    size = add_context_weights(scores, places, starts, said, weights, touched)
    assert touched[:size].tolist() == [5, 7]
    assert weights[[5, 7]].tolist() == [2 * 2.0, 2.0 + 0.5]
    assert weights.sum() == 6.5


names = st.lists(st.sampled_from("ann annа bob bobb carl dora".split()), min_size=1, max_size=3)
entity = names.map(" ".join)
START = datetime(2031, 3, 3, tzinfo=UTC)
moments = st.integers(0, 8 * 24).map(lambda hours: START + timedelta(hours=hours))
article = st.tuples(moments, st.lists(entity, max_size=5))
articles = st.lists(article, max_size=14)


@settings(max_examples=150, deadline=None)
@given(
    articles,
    st.lists(article, min_size=1, max_size=9),
    st.lists(entity, max_size=3),
    moments,
    st.sampled_from(list(RUNS)),
)
def test_random_worlds(news, reference, entities, created_at, run):
    ranking, t = RUNS[run]

    def rows(drawn, letter):
        return [
            {
                "id": f"{letter}{n:02}", "title": "", "text": "x", "entities": names,
                "published_at": moment.isoformat().replace("+00:00", "Z"),
            }
            for n, (moment, names) in enumerate(drawn)
        ]  # fmt: skip

    post = {"id": "p", "created_at": created_at.isoformat(), "entities": entities}
    world_of_post = (post, rows(news, "n"), rows(reference, "r"), ranking, t)
    assume(not BY_HAND["is_close"](*world_of_post))
    expected = BY_HAND["retrieve"](*world_of_post)
    finder = retriever(
        [entry(Article.model_validate(row)) for row in rows(news, "n")],
        [entry(Article.model_validate(row)) for row in rows(reference, "r")],
        ranking,
        t,
    )
    found = finder.find(list(dict.fromkeys(e.lower() for e in entities)), microseconds(created_at))
    named = found.named()
    assert [(r.id, r.window) for r in named] == [(p["id"], p["window"]) for p in expected]
    assert [r.score for r in named] == pytest.approx([p["score"] for p in expected], abs=1e-9)
