"""The lexicon against a plain search, the two judges, and families."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashnews import HashNews, Post
from hashnews.records import PreparedPost
from hashnews.saved import new_directory
from hashnews.suggest.families import are_family
from hashnews.suggest.judges import NEWEST, READ, Judges
from hashnews.suggest.lexicon import KIND, Lexicon, LexiconEntry, Worth, shipped_lexicon
from hashnews.suggest.memory import NOTHING_NEW
from hashnews.suggest.prior import Prior
from hashnews.suggest.query import PostWithNews, Query
from hashnews.suggest.ranker import Calibration, Ranker, Trees
from hashnews.suggest.sources import FEATURES, PLACE
from hashnews.suggest.sources.author import AUTHOR
from hashnews.suggest.sources.recent import RECENT
from hashnews.times import A_DAY


def lexicon_of(days, chance):
    entries = [LexiconEntry(n, (f"tag{n}",), f"#Tag{n}", 5, day, day) for n, day in enumerate(days)]
    vectors = chance.normal(size=(len(days), 4)).astype(np.float32)
    cues = {"compost": (0,), "seed": tuple(range(len(days))), "rais bed": (0,)}
    return Lexicon(entries, vectors, {"tag": Worth(9, 2)}, cues)


def test_words_speak_for_topics_and_those_of_few_speak_louder():
    lexicon = lexicon_of([1, 1, 1, 1], np.random.default_rng(1))
    told = lexicon.told(["seeds", "and", "compost"])
    assert told[0] == pytest.approx(1.0)  # compost alone: seeds speak for all, so for none
    assert told[1] == pytest.approx(0.0)
    assert lexicon.told(["raised", "beds"])[0] == pytest.approx(1.0)
    assert lexicon.told(["beds", "raised"]) == {}
    assert lexicon.cues_of(0, ["my", "raised", "beds"]) == ("raised beds",)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=12),
    st.integers(0, 10 * A_DAY),
    st.integers(0, 5),
)
def test_nothing_is_found_before_its_first_day_is_over(days, moment, most):
    chance = np.random.default_rng(len(days))
    lexicon, vector = lexicon_of(days, chance), chance.normal(size=4).astype(np.float32)
    similar = lexicon.similar(vector)
    there = [entry for entry in lexicon.entries if (entry.first + 1) * A_DAY <= moment]
    expected = sorted(there, key=lambda entry: -similar[entry.row])[:most]
    assert lexicon.nearest(similar, moment, most) == expected
    assert [e for e in lexicon.entries if lexicon.get(e.key, moment) is not None] == there


def test_a_lexicon_comes_back_from_its_file(tmp_path):
    lexicon = lexicon_of([3, 1, 2], np.random.default_rng(1))
    with new_directory(tmp_path / "lexicon", KIND, {}) as scratch:
        lexicon.save(scratch)
    again = Lexicon.load(tmp_path / "lexicon")
    assert again.entries == lexicon.entries
    assert again.worth == lexicon.worth
    assert again.cues == lexicon.cues
    assert np.abs(again.vectors - lexicon.vectors).max() < 0.03


def test_no_blocked_word_is_a_topic_of_the_shipped_lexicon():
    from hashnews.suggest.filters import shipped_blocked

    lexicon, blocked = shipped_lexicon(), shipped_blocked()
    topics = lexicon.entries[: len(lexicon.vectors)]
    assert len(topics) > 4000
    held = [entry.written for entry in topics if blocked.holds(entry.key, entry.words)]
    assert held == ["#MaineCoon"]  # a cat, and a word in it that the list does not know as one


def test_relevance_reads_nothing_of_popularity_habit_or_trend():
    popular = {"lexicon_people", "lexicon_age", "uses", "users", "on_topic", "season", "generator"}
    habits = {name for name in AUTHOR.columns if name != "own_nearest"}
    assert not set(READ) & (popular | habits | set(RECENT.columns))
    assert set(READ) <= set(FEATURES)


def stump(name):
    trees = Trees(
        np.zeros(1, np.int32),
        np.ones(1, np.int32),
        np.array([PLACE[name], 0, 0], np.int16),
        np.array([0.5, 0.0, 1.0], np.float32),
        np.array([[1, 2], [1, 1], [2, 2]], np.int32),
    )
    return Ranker(trees, Calibration(np.array([0.0, 1.0]), np.array([0.2, 0.8])))


def test_used_is_on_topic_and_chosen_by_anyone_or_by_those_who_are_remembered():
    features = np.zeros((3, len(FEATURES)), np.float32)
    features[:, PLACE["meaning"]] = 0, 1, 1
    features[:, PLACE["week"]] = 1, 0, 1
    features[:, PLACE["cues"]] = 1, 1, 0
    judges = Judges(stump("meaning"), stump("cues"), stump("week"))
    assert judges.judge(features).used == pytest.approx([0.2, 0.2, 0.8])  # 0.8, but 0.2 on topic
    assert judges.judge(features).chosen == pytest.approx([1, 0.2 / 0.8, 1])
    assert judges.judge(features, 0.5).used == pytest.approx([0, 0.2, 0.8])
    features[:, NEWEST] = NOTHING_NEW
    assert judges.judge(features).used == pytest.approx([0.2 * 0.8, 0.8 * 0.8, 0.8 * 0.2])


def test_the_ranker_hears_the_other_judges():
    features = np.zeros((2, len(FEATURES)), np.float32)
    features[:, PLACE["meaning"]] = 0, 1
    features[:, PLACE["cues"]] = 1, 0
    told = Judges(stump("meaning"), stump("cues"), stump("week")).told(features)
    assert told[:, PLACE["on_topic"]] == pytest.approx([0.2, 0.8])
    assert told[:, PLACE["choice"]] == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("flood",), ("flooding",), True),
        (("super", "bowl"), ("super", "bowl", "lvi"), True),
        (("tyson",), ("cicely", "tyson"), True),
        (("mars",), ("mars", "rover"), False),
        (("tennis",), ("golf",), False),
        (("new", "zealand"), ("zealand",), True),  # nobody uses #Zealand
        (("cricket",), ("village", "cricket"), False),
    ],
)
def test_families(one, other, same):
    post = PreparedPost(id="p", body="x", entities=("Cicely Tyson",), hashtags=())
    prior = Prior(lexicon=shipped_lexicon())
    query = Query(PostWithNews(post, 19_000 * A_DAY, [], []), prior)
    assert are_family(query, one, other) == are_family(query, other, one) == same


def test_without_news_nothing_is_brought_by_a_vague_likeness(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    texts = ["Finally fixed the squeaky gate, only took me three years", "ok but why", "mon jardin"]
    with HashNews() as hashnews:
        least = hashnews.model.config.floor
        for text in texts:
            answer = hashnews.suggest(Post(text=text, created_at="2026-11-16T12:00:00Z"), n=50)
            assert not answer.articles
            for one in answer.suggestions:
                said = "".join(one.words) in "".join(text.lower().split())
                assert said or one.on_topic >= least


def test_an_article_or_an_accent_makes_no_other_hashtag():
    from hashnews.suggest.families import stems

    assert stems(("the", "bear")) == stems(("bear",))
    assert stems(("the",)) == ("the",)
    assert stems(("fauré",)) == stems(("faure",))


def test_a_run_of_words_that_is_a_hashtag_is_said():
    lexicon = Lexicon(
        [
            LexiconEntry(0, ("say", "her", "name"), "#SayHerName", 40, 10, 20),
            LexiconEntry(1, ("in", "the", "garden"), "#InTheGarden", 2, 10, 20),
            LexiconEntry(2, ("the", "garden"), "#TheGarden", 40, 10, 20),
        ],
        np.zeros((3, 4), np.float32),
        {"garden": Worth(500, 9)},
    )

    def said(moment):
        body = "They say her name in the garden"
        post = PreparedPost(id="1", body=body, entities=(), hashtags=())
        return Query(PostWithNews(post, moment, [], []), Prior(lexicon=lexicon), []).in_post

    assert said(30 * A_DAY)["sayhername"].words == ("say", "her", "name")
    assert "inthegarden" not in said(30 * A_DAY)  # two people's
    assert "thegarden" not in said(30 * A_DAY)  # any garden
    assert "sayhername" not in said(10 * A_DAY)  # nobody's yet


def test_a_part_of_a_name_and_what_begins_in_a_handle_are_no_hashtags():
    from hashnews.suggest.filters import _is_called

    def query(body, names=(), mentions=()):
        post = PreparedPost(id="1", body=body, entities=names, hashtags=(), mentions=mentions)
        return Query(PostWithNews(post, 30 * A_DAY, [], []), Prior(), [])

    kyi = query("they took aung san suu kyi", names=("Aung San Suu Kyi",))
    assert kyi.is_within(("san", "suu"))
    assert not kyi.is_within(("aung", "san", "suu", "kyi"))
    loan = query("irons dave Lingard to us on loan", mentions=("irons_dave",))
    assert _is_called(loan, "davelingard", ("dave", "lingard"))
    assert not _is_called(loan, "lingard", ("lingard",))


@given(
    st.lists(st.tuples(st.sampled_from(["cop", "euro"]), st.integers(0, 120), st.integers(0, 9)),
             max_size=8, unique_by=lambda one: one[:2]),
    st.integers(0, 120),
    st.integers(0, 10 * A_DAY),
)  # fmt: skip
def test_the_next_of_a_series_is_known_by_the_last_one_before_it(given, number, moment):
    entries = [
        LexiconEntry(row, (f"{name}{n}",), f"#{name.upper()}{n}", 5, day, day)
        for row, (name, n, day) in enumerate(given)
    ]
    before = [
        n for name, n, day in given
        if name == "cop" and n < number and len(str(n)) == len(str(number))
        and (day + 1) * A_DAY <= moment
    ]  # fmt: skip
    found = Lexicon(entries).earlier(f"cop{number}", moment)
    assert (found is not None) == bool(before)
    if found is not None:
        assert (found.key, found.written) == (f"cop{number}", f"#COP{number}")
        assert entries[found.row].key == f"cop{max(before)}"


def test_this_years_summit_is_a_hashtag_though_the_lexicon_ends_before_it():
    lexicon = shipped_lexicon()
    assert lexicon.get("cop31", 21_000 * A_DAY) is None
    with HashNews() as hashnews:
        for text in ("cop31 opens today", "COP31 opens today in Antalya"):
            post = Post(id="1", text=text, created_at="2026-11-09T08:00:00Z")
            assert "#COP31" in [one.hashtag for one in hashnews.suggest(post).suggestions]
        post = Post(id="1", text="my cop 31 opens today", created_at="2026-11-09T08:00:00Z")
        assert "#COP31" not in [one.hashtag for one in hashnews.suggest(post).suggestions]
