"""The better retriever: its equations by brute force, and nothing from the future."""

import math
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_memory import index_of

from hashnews.index.day import Entry
from hashnews.index.word_postings import WordPostings
from hashnews.records import PreparedPost
from hashnews.retrieve.all_words import AllWordsConfig, AllWordsRetriever
from hashnews.retrieve.base import TermQuery
from hashnews.retrieve.rising import HOUR
from hashnews.text.stopwords import GENERIC_WORDS
from hashnews.times import A_DAY, microseconds

START = datetime(2021, 3, 3, tzinfo=UTC)
WORDS = "rain sun vote march police mayor river storm train union".split()


def some_news(count=160, seed=1, days=40):
    rng = random.Random(seed)
    return [
        Entry(
            f"n{n}",
            microseconds(START + timedelta(minutes=rng.randrange(days * 24 * 60))),
            (),
            " ".join(rng.choices(WORDS, k=rng.randint(3, 12))),
        )
        for n in range(count)
    ]


def brute_force(news, query, moment, c):
    """Scores and context weights straight from the equations."""
    today = moment // A_DAY
    window = [e for e in news if (today - c.window) * A_DAY <= e.published < moment]
    month = [e for e in news if (today - c.window - c.month) * A_DAY <= e.published < today * A_DAY]
    said = {e.id: Counter(e.text.split()) for e in news}
    mean = sum(said[e.id].total() for e in window) / len(window) if window else 1.0
    scores = {}
    for e in window:
        total = 0.0
        for word in query:
            if f := said[e.id][word]:
                n = sum(word in said[m.id] for m in month)
                idf = math.log((len(month) + 1) / (n + 0.5))
                length = said[e.id].total() / mean
                total += idf**c.by_idf * f * (c.a + 1) / (f + c.a * (1 - c.b + c.b * length))
        if total:
            scores[e.id] = total * 2 ** (-(moment - e.published) / HOUR / c.half_life)
    best = sorted(scores, key=lambda i: -scores[i])[: c.articles]
    told = Counter()
    for i in best:
        for word, f in said[i].items():
            part = (scores[i] / scores[best[0]]) ** c.sharpness / math.sqrt(said[i].total())
            told[word] += f * part

    def shares(start, end):
        counts = Counter()
        for e in news:
            if start <= e.published < end:
                counts += said[e.id]
        return {w: n / counts.total() for w, n in counts.items()}

    hour = moment // HOUR * HOUR
    p1, p6 = shares(hour - A_DAY, hour), shares((hour // A_DAY - c.window) * A_DAY, hour)
    weights = {}
    for word in WORDS:
        q = told[word] / told.total() if told else 0.0
        last = p1.get(word, 0.0)
        b = last * (last + c.floor) / (p6.get(word, 0.0) + c.floor)
        if word not in query and word not in GENERIC_WORDS and q + b > 0:
            weights[word] = (1 - c.rising) * q + c.rising * b
    return scores, weights


@pytest.mark.parametrize("seed", range(4))
def test_the_equations(seed):
    news, rng = some_news(seed=seed), random.Random(seed)
    config = AllWordsConfig(articles=500)
    finder = AllWordsRetriever(index_of(news), config)
    for _ in range(15):
        moment = microseconds(START + timedelta(minutes=rng.randrange(34 * 1440, 42 * 1440)))
        query = rng.sample(WORDS, 3)
        scores, weights = brute_force(news, query, moment, config)
        found = finder.find(query, moment)
        named = found.named(config.articles)
        assert {article.id: article.score for article in named} == pytest.approx(scores)
        assert found.scores.tolist() == sorted(found.scores.tolist(), reverse=True)
        assert dict(finder.context(found, TermQuery(query, moment))) == pytest.approx(weights)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 6), st.integers(20 * 1440, 39 * 1440))
def test_nothing_from_the_posts_own_time_on_is_seen(seed, minute):
    news = some_news(seed=seed)
    moment = START + timedelta(minutes=minute)
    past = [e for e in news if e.published < microseconds(moment)]
    planted = [Entry("at", microseconds(moment), (), "rain rain storm"), *some_news(30, seed + 50)]
    future = [e._replace(id=f"f{e.id}") for e in planted if e.published >= microseconds(moment)]
    post = PreparedPost(id="p", created_at=moment, body="rain and a vote", entities=(), hashtags=())
    seen = [AllWordsRetriever(index_of(n)).retrieve(post) for n in (past, past + future)]
    assert seen[0] == seen[1]


def test_a_post_that_nothing_answers_still_gets_what_is_rising():
    finder = AllWordsRetriever(index_of(some_news()))
    post = PreparedPost(
        id="p", created_at=START + timedelta(days=30), body="xyzzy", entities=(), hashtags=()
    )
    found = finder.retrieve(post)
    assert found.articles == []
    assert found.words
    empty = AllWordsRetriever(index_of([])).retrieve(post)
    assert empty == ([], [])


def test_only_the_best_are_named():
    config = AllWordsConfig(articles=30, shown=4)
    finder = AllWordsRetriever(index_of(some_news()), config)
    post = PreparedPost(
        id="p", created_at=START + timedelta(days=38), body="rain vote", entities=(), hashtags=()
    )
    assert len(finder.retrieve(post).articles) == 4


def test_a_window_larger_than_the_limit_is_opened_once(monkeypatch):
    retriever, opened = AllWordsRetriever(index_of(some_news())), []
    open_day = WordPostings._open

    def counted(known, day):
        opened.append(day)
        open_day(known, day)

    monkeypatch.setattr(WordPostings, "_open", counted)
    monkeypatch.setattr("hashnews.retrieve.base.MOST_POSTINGS", 0)
    moment = START + timedelta(days=35)
    posts = [
        PreparedPost(id=word, body=word, hashtags=(), entities=(), created_at=moment)
        for word in WORDS
    ]
    answers = [retriever.retrieve(post) for post in posts]
    days = retriever.config.window + 1 + retriever.config.month
    assert len(opened) == days
    retriever.retrieve(posts[0].model_copy(update={"created_at": START + timedelta(days=36)}))
    assert len(opened) == 2 * days
    assert answers == AllWordsRetriever(index_of(some_news())).retrieve_all(posts)


@given(seed=st.integers(0, 999), minute=st.integers(0, 40 * 24 * 60))
@settings(max_examples=40, deadline=None)
def test_the_popularity_of_a_name_is_that_of_its_rarest_word_before_the_post(seed, minute):
    news, moment = some_news(seed=seed), microseconds(START + timedelta(minutes=minute))
    today, config = moment // A_DAY, AllWordsConfig()
    month = [e for e in news if (today - config.window - config.month) * A_DAY <= e.published]
    month = [e for e in month if e.published < today * A_DAY]
    last = [e for e in news if (today - 1) * A_DAY <= e.published < moment]

    def idf(word, among):
        return math.log((len(among) + 1) / (sum(word in e.text.split() for e in among) + 0.5))

    rarest = max(["storm", "river"], key=lambda word: idf(word, month))
    expected = min(10.0, idf(rarest, month) / idf(rarest, last))
    every, past = (
        AllWordsRetriever(index_of(known)).popularity(["storm", "river"], moment)
        for known in (news, [e for e in news if e.published < moment])
    )
    assert every == past == pytest.approx(expected)


def test_any_number_of_names_can_be_asked_about():
    retriever = AllWordsRetriever(index_of(some_news()))
    moment = microseconds(START + timedelta(days=20))
    assert all(retriever.popularity([f"name{n}"], moment) > 0 for n in range(300))
