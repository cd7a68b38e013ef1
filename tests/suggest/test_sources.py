"""Each source against a plain computation of what it should say."""

import random
from datetime import timedelta
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from brute_force import World, half
from harbour import START, at, found_for, query_of, remember, town
from hypothesis import given, settings
from hypothesis import strategies as st

from hashnews.index import post_segments
from hashnews.records import Article, ContextWord, Retrieved
from hashnews.suggest.calendar import Calendar
from hashnews.suggest.candidates import find, ranks, with_features
from hashnews.suggest.evidence import Look, Scratch
from hashnews.suggest.from_text import NewsArticle, in_news, initials
from hashnews.suggest.judges import Judges
from hashnews.suggest.memory import Memory, View
from hashnews.suggest.ranker import Calibration, Ranker, Trees
from hashnews.suggest.reasons import reasons, without
from hashnews.suggest.sources import FEATURES, MEMORY_SOURCES, NAMES, PLACE, RANKED, SOURCES

WORDS = "budget vote council ferry harbour rain late tickets night good pass today".split()
TAGS = ["Budget2020", "Council", "Ferry", "Harbour", "BobSays", "Night"]
USERS = ["ann", "bob", "cyd", "dan", None]

# Every post at a moment of its own: of equals the order would be open.
worlds = st.lists(
    st.tuples(
        st.integers(0, 4000),
        st.sampled_from(USERS),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=5),
        st.lists(st.sampled_from(TAGS), min_size=1, max_size=3, unique=True),
        st.sampled_from(TAGS),
        st.booleans(),
    ),
    min_size=1,
    max_size=30,
    unique_by=lambda row: row[0],
).map(
    lambda rows: [
        (
            minutes / 4 + 0.001,
            user,
            " ".join([*words, f"#{within}"] if inline else words)
            + ".\n"
            + " ".join(f"#{tag}" for tag in tags),
        )
        for minutes, user, words, tags, within, inline in rows
    ]
)  # fmt: skip


def agrees(memory, posts, query, until=None):
    """That the memory says what its posts say."""
    found = found_for(memory, query, until)
    world = World(posts, query.moment, query.user, query.body, until, memory.days)
    told = [world.neighbours(), world.author(), world.recent()]
    for place, key in enumerate(found.keys):
        expected = {name: value for source in told for name, value in source[key].items()}
        expected |= world.statistics(key)
        for name, value in expected.items():
            assert found.feature(name)[place] == pytest.approx(value, rel=1e-5, abs=1e-12), name
    taken = {name for source in MEMORY_SOURCES for name in source.taken}
    for source in told:
        for key, row in source.items():
            assert key in found.keys or not any(row[name] for name in taken & row.keys())


@settings(max_examples=150, deadline=None)
@given(worlds, st.integers(0, 4100), st.sampled_from([*USERS, "new"]), st.booleans())
def test_the_memory_says_what_its_posts_say(rows, quarter, user, closed):
    posts, moment = remember(town(rows)), at(quarter / 4)
    text, until = "the ferry and the budget vote tonight", at(quarter / 8) if closed else None
    agrees(Memory(posts), posts, query_of(moment, user, text), until)


@settings(max_examples=100, deadline=None)
@given(
    worlds,
    st.lists(st.integers(0, 30), max_size=6),
    st.sampled_from([None, 3.0, 20.0]),
    st.sampled_from([4, 1000]),
    st.randoms(use_true_random=False),
)
def test_a_memory_says_the_same_however_its_posts_came(rows, cuts, days, full, chance):
    posts = remember(town(rows))
    arrived = [post._replace(row=at) for at, post in enumerate(chance.sample(posts, len(posts)))]
    with mock.patch.multiple(post_segments, FULL=full, BATCH=full):
        memory = Memory(days=days)
        for start, end in pairwise([0, *sorted(cuts), len(posts)]):
            memory.extend(arrived[start:end])
    assert len(memory) == len(posts)
    text, scratch, whole = "the ferry and the budget vote", Scratch(memory), Memory(arrived, days)
    for _ in range(3):
        query = query_of(at(chance.uniform(0, 1025)), chance.choice([*USERS, "new"]), text)
        until = chance.choice([None, at(chance.uniform(0, 1025))])
        agrees(memory, posts, query, until)
        one = with_features(query, find(query, memory, scratch, (), until))
        other = found_for(whole, query, until)
        assert one.keys == other.keys
        assert (one.features == other.features).all()
        for tag, key in zip(one.tags.tolist(), one.keys, strict=True):
            if tag >= 0:
                number = whole.tags[key]
                assert one.evidence.near_posts(tag) == other.evidence.near_posts(number)
                assert one.evidence.own_posts(tag) == other.evidence.own_posts(number)
                assert one.evidence.view.written(tag) == other.evidence.view.written(number)


@pytest.mark.parametrize("full", [60, 10_000])
def test_of_many_posts_the_nearest_are_the_nearest(full):
    chance = random.Random(1)
    words = [f"word{int(40 * chance.random() ** 3)}" for _ in range(20_000)]
    rows = [
        (n / 3 + 0.001, chance.choice(USERS), " ".join(chance.sample(words, chance.randint(2, 9)))
         + f".\n#Tag{n % 90}") for n in range(900)
    ]  # fmt: skip
    posts = remember(town(rows))
    with mock.patch.multiple(post_segments, FULL=full, BATCH=full):
        memory = Memory(posts)
        assert len(memory.parts) == (1 if full > 900 else 15)
    for n in range(20):
        text, user = " ".join(chance.sample(words, 8)), chance.choice(USERS)
        moment = at(300 if n < 10 else chance.uniform(50, 320))
        near = Look(View(memory, moment, user), Scratch(memory), text).near
        world = World(posts, moment, user, text)
        score = {p.id: world.similar.get(p.id, 0) * half(world.age(p), 60) for p in world.seen}
        best = sorted((p for p in world.seen if score[p.id]), key=lambda p: -score[p.id])[:100]
        expected = [score[post.id] for post in best]
        got = memory.ids(near.posts)
        assert [score[post] for post in got] == pytest.approx(expected)
        assert near.likeness.tolist() == pytest.approx([world.similar[post] for post in got])


@pytest.mark.parametrize("shuffled", [False, True])
def test_the_last_uses_of_a_hashtag_are_those_of_all_segments(shuffled):
    chance = random.Random(2)
    rows = [
        (n / 4 + 0.001, chance.choice(USERS), f"{chance.choice(WORDS)} ferry.\n#Ferry #T{n % 3}")
        for n in range(800)
    ]
    posts = remember(town(rows))
    if shuffled:
        chance.shuffle(posts)
    with mock.patch.multiple(post_segments, FULL=150, BATCH=150):
        parts = Memory(posts)
    query = query_of(at(180), "ann", "late ferry")
    one, other = found_for(parts, query), found_for(Memory(posts), query)
    assert one.keys == other.keys
    assert (one.features == other.features).all()
    assert one.feature("uses").max() > 700


def test_what_a_source_takes_are_its_best():
    rows = [
        (n / 10, f"u{n % 7}", f"ferry number{n}.\n#Tag{n:03}" + (" #Ferry" if n % 3 else ""))
        for n in range(150)
    ]
    posts = remember(town(rows))
    found = found_for(Memory(posts), query_of(at(30), "new", "ferry"))
    world = World(posts, at(30), "new", "ferry")
    for source, told in zip(
        MEMORY_SOURCES, (world.neighbours(), None, world.recent()), strict=False
    ):
        for name, most in source.taken.items():
            if told is None:
                continue
            values = sorted((row[name] for row in told.values() if row[name] > 0), reverse=True)
            least = values[min(most, len(values)) - 1] if values else 0.0
            for key, row in told.items():
                assert row[name] <= least or key in found.keys, (name, key)


def articles_of(told):
    return [
        (
            Retrieved(f"a{n}", score, 1),
            Article(id=f"a{n}", title=title, text="", published_at=START, entities=names),
        )
        for n, (score, title, names) in enumerate(told)
    ]


NEWS = [
    (4.0, "Quake shakes Zagreb again", ("Zagreb", "Croatia")),
    (2.0, "Rescue teams reach Zagreb", ("Zagreb", "Red Cross")),
    (1.0, "Markets fall", ("Wall Street",)),
]


def test_names_of_the_news_weigh_what_their_articles_do():
    told = in_news([NewsArticle(f"a{n}", title, names, score / 4)
                    for n, (score, title, names) in enumerate(NEWS)])  # fmt: skip
    squares = [score**2 for score, *_ in NEWS]
    zagreb = told["zagreb"]
    assert zagreb.weight == pytest.approx((squares[0] + squares[1]) / sum(squares))
    assert (zagreb.name, zagreb.articles) == ("Zagreb", ("a0", "a1"))
    assert told["redcross"].words == ("red", "cross")
    assert told["quakeshakeszagreb"].name is None
    assert "again" not in told
    assert told["wallstreet"].weight == pytest.approx(squares[2] / sum(squares))


def test_names_of_the_news_are_candidates_with_their_figures():
    context = [ContextWord("zagreb", 3.0), ContextWord("quake", 1.5)]
    query = query_of(at(1), None, "we felt the quake", articles=articles_of(NEWS), context=context)
    found = found_for(Memory(), query)
    row = {key: found.features[place] for place, key in enumerate(found.keys)}
    assert {"zagreb", "croatia", "redcross", "wallstreet"} <= set(row)
    assert row["zagreb"][PLACE["news_articles"]] == 2
    assert row["zagreb"][PLACE["context"]] == 1
    assert row["zagreb"][PLACE["context_rank"]] == 0
    assert row["redcross"][PLACE["context_rank"]] == 200
    assert "quakeshakeszagreb" not in row  # one headline's phrase


@given(st.text("abcd ", max_size=30))
def test_initials_are_those_of_runs_of_words(text):
    said = text.split()
    expected = {
        "".join(word[0] for word in said[start : start + size])
        for size in range(3, 7)
        for start in range(len(said) - size + 1)
    }
    assert initials(said) == expected


@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=3, max_size=3), min_size=1)
)
def test_ranks_count_who_is_better(rows):
    columns = np.array(rows, np.float32)
    expected = [
        [sum(other[at] > value for other in rows) if value > 0 else len(rows)
         for at, value in enumerate(row)] for row in rows
    ]  # fmt: skip
    assert ranks(columns).tolist() == expected


# ----- reasons -----


def stump(name, threshold=0.0, gain=1.0):
    """Judges to whom all is on topic, and whose ranker asks one feature one question."""
    trees = Trees(
        np.zeros(1, np.int32),
        np.ones(1, np.int32),
        np.array([PLACE[name], 0, 0], np.int16),
        np.array([threshold, 0.0, gain], np.float32),
        np.array([[1, 2], [1, 1], [2, 2]], np.int32),
    )
    ranker = Ranker(trees, Calibration(np.array([0.0, 1.0]), np.array([0.1, 0.9])))
    certain = ranker._replace(calibration=Calibration(np.zeros(1), np.ones(1)))
    return Judges(certain, ranker, ranker)


def test_every_feature_has_one_source():
    named = [name for source in SOURCES for name in source.columns]
    assert len(named) == len(set(named))
    assert len(FEATURES) == len(set(FEATURES)) == len(named) + 2 * len(RANKED) + 2
    assert FEATURES[-2:] == ("on_topic", "choice")
    assert set(RANKED) <= set(named)


@pytest.fixture(scope="module")
def asked():
    rows = [(n, "ann" if n % 2 else "bob", "Quake in Zagreb.\n#Zagreb #Quake") for n in range(6)]
    query = query_of(at(30), "ann", "we felt the quake", articles=articles_of(NEWS))
    return query, found_for(Memory(remember(town(rows))), query)


@pytest.mark.parametrize("name", NAMES)
def test_a_source_that_is_switched_off_says_what_it_says_of_unknown_hashtags(asked, name):
    _, found = asked
    changed = without(found.features, name, len(found.keys))
    for source in SOURCES:
        for column, absent in source.columns.items():
            value = changed[:, PLACE[column]]
            if source.name == name:
                assert (value == (len(found.keys) if absent == float("inf") else absent)).all()
            else:
                assert (value == found.feature(column)).all()
        for column in source.ranked:
            gone = source.name == name
            assert (changed[:, PLACE[f"{column}_of_best"]] == 0).all() or not gone


@pytest.mark.parametrize(
    ("feature", "source"),
    [("neighbours", "memory"), ("own", "author"), ("week", "rising"), ("post_phrase", "post"),
     ("news", "news")],
)  # fmt: skip
def test_the_source_whose_feature_decides_has_the_weight(asked, feature, source):
    query, found = asked
    place = found.keys.index("quake" if source == "post" else "zagreb")
    (why,) = reasons(query, found, stump(feature), [place])
    assert why[0].source == source
    assert why[0].weight > 0.99
    assert sum(reason.weight for reason in why) == pytest.approx(1, abs=0.001)
    assert all(reason.text for reason in why)


def test_reasons_name_what_they_go_by(asked):
    query, found = asked
    (why,) = reasons(query, found, stump("week"), [found.keys.index("zagreb")])
    told = {reason.source: reason for reason in why}
    assert told["author"].posts == ("p5", "p3", "p1")
    assert told["author"].text == "used by the author 3 times"
    assert set(told["memory"].posts) < {f"p{n}" for n in range(6)}
    assert told["memory"].count == 6
    assert told["news"].articles == ("a0", "a1")
    assert "Zagreb" in told["news"].text
    assert told["rising"].count == 6


def test_the_calendar_of_a_query_is_that_of_its_day():
    query = query_of(at(0) + timedelta(days=400) // timedelta(microseconds=1))
    assert query.season == Calendar().season(query.moment) == {}
