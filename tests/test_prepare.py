"""Preparing posts: what becomes of them, what is dropped, and the splits."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashnews.errors import ConfigError, DataError
from hashnews.files import RecordFile, write_records
from hashnews.prepare.datasets import of_collection, rules_for
from hashnews.prepare.preparer import Preparer, learn_from
from hashnews.prepare.splits import (
    chronological_cuts,
    chronological_part,
    random_part,
    write_prepared,
)
from hashnews.prepare.statistics import Statistics, plot_frequencies
from hashnews.records import Article, Post, PreparedPost
from hashnews.text.entities import shipped_finder
from hashnews.text.segment import shipped_segmenter


def preparer(never=()):
    return Preparer(shipped_segmenter(), shipped_finder(), never)


def prepared(text, **fields):
    found = list(preparer().prepare([Post(id="1", text=text, **fields)]))
    return found[0] if found else None


def by_rules(rules, text, **fields):
    found = list(preparer().prepare([Post(id="1", text=text, **fields)], rules))
    return found[0] if found else None


def targets(post):
    return [" ".join(tag.words) for tag in post.hashtags]


def test_one_post():
    post = prepared(
        "So glad that #GeorgeFloyd&#39;s family was heard by @RepJohnLewis today. "
        "https://t.co/x #JusticeInPolicing #BLM #blm",
        created_at="2020-06-10T14:00:00Z",
        user="u",
    )
    assert post.body == "So glad that George Floyd's family was heard by Rep John Lewis today."
    assert targets(post) == ["justice in policing", "blm"]
    assert [tag.written for tag in post.hashtags] == ["#JusticeInPolicing", "#BLM"]
    assert [tag.written for tag in post.inline] == ["#GeorgeFloyd"]
    assert post.entities == ("George Floyd", "Rep John Lewis")
    assert post.urls == ("https://t.co/x",)
    assert post.mentions == ("@RepJohnLewis",)


def test_entities_that_come_with_a_post_are_kept():
    assert prepared("Joe Biden spoke. #a", entities=["Frob"]).entities == ("Frob",)
    assert prepared("Joe Biden spoke. #a", entities=[]).entities == ()


def test_separators_and_openings_are_not_said():
    assert prepared("Rain today. #a | #b, #c").body == "Rain today."
    assert prepared(".@NASA says go! #a").body == "NASA says go!"
    assert prepared("One\n\n  two  three \n#a").body == "One\ntwo three"


def test_the_collections_and_their_rules():
    text = "Good news. #a QT @other Bad news. #b"
    shipped = rules_for("-")
    assert targets(by_rules(shipped, text, collection="congress")) == ["a"]
    assert targets(by_rules(shipped, text)) == ["b"]
    text = "March today! #BlackLivesMatter #dc"
    assert targets(by_rules(shipped, text, collection="blm")) == ["dc"]
    assert by_rules(shipped, "March! #BlackLivesMatter", collection="blm") is None
    assert targets(by_rules(shipped, text)) == ["black lives matter", "dc"]
    text = "A goal! #sports #music"  # each topic of 2021 was found by its own hashtag
    assert targets(by_rules(shipped, text, collection="topics2021:sport")) == ["music"]
    assert targets(by_rules(shipped, text, collection="topics2021:music")) == ["sports"]


def test_a_post_that_is_only_read_knows_no_rules():
    post = Post(id="1", text="Good. #BlackLivesMatter QT @x Bad. #b", collection="blm")
    assert targets(preparer().read(post)) == ["b"]
    assert "Black Lives Matter" in preparer().read(post).body


def test_the_rules_of_a_dataset_replace_the_shipped_ones(tmp_path):
    (tmp_path / "dataset.toml").write_text("""
        searched_for = ["#Top"]
        [collections.one]
        searched_for = ["First", "Other_Tag"]
        quoted_tail = "| via @"
        [collections."many:*"]
        searched_for = ["many"]
        [collections."many:last"]
    """)
    rules = rules_for(tmp_path / "posts.jsonl")
    text = "Tea. #first #othertag #top #many| via @x again #many #lost"
    assert targets(by_rules(rules, text, collection="one")) == ["top", "many"]
    assert targets(by_rules(rules, text, collection="many:a")) == ["lost"]
    assert targets(by_rules(rules, text, collection="many:last")) == ["many", "lost"]
    assert rules.of(None).keys == rules.of("congress").keys == {"top"}
    assert rules.of("many:a").keys == {"many"}
    assert rules.of("many:last").keys == frozenset()


def test_the_commonest_hashtag_of_a_collection_is_what_was_searched_for(tmp_path):
    (tmp_path / "dataset.toml").write_text(
        'searched_for = "commonest"\n[collections."t:*"]\nsearched_for = "commonest"\n'
    )
    said = {
        "t:sport": ["Goal! #Sport #win", "#sport again #win", "Lost #SPORT"],
        "t:tea": ["Tea #win #tea", "#Tea! #win", "More #tea"],
        None: ["#c #a #a", "#b #c"],
    }
    raw = [Post(text=text, collection=name) for name, texts in said.items() for text in texts]
    write_records(tmp_path / "posts.jsonl", raw)
    rules = rules_for(tmp_path / "posts.jsonl")
    assert rules.of("t:sport").keys == {"sport"}
    assert rules.of("t:tea").keys == {"tea"}
    assert rules.of(None).keys == rules.of("other").keys == {"c"}
    assert repr(rules) == repr(rules_for(tmp_path / "posts.jsonl"))


def test_rules_that_cannot_be_read_are_named(tmp_path):
    (tmp_path / "dataset.toml").write_text("[collections.a]\nsearchedfor = []\n")
    with pytest.raises(ConfigError, match=r"dataset\.toml: collections\.a\.searchedfor: unknown"):
        rules_for(tmp_path / "posts.jsonl")


def test_a_collection_is_exactly_that(tmp_path):
    posts = [Post(id=str(n), text="x", collection=name) for n, name in enumerate(["a", None, "b"])]
    assert [post.id for post in of_collection(posts, "a")] == ["0"]
    assert list(of_collection(posts, None)) == posts


def test_a_tag_that_is_never_a_target():
    (post,) = preparer(never=["#Ad", "Buy_Now"]).prepare(
        [Post(id="1", text="Yes! #ad #buynow #tea")]
    )
    assert targets(post) == ["tea"]


def test_what_is_dropped_is_counted():
    ready = preparer()
    texts = [
        "Rain. #a",
        "RT @x: Rain. #a",
        "In #Ohio today",
        "#a #b",
        "rain #A",
        "Rain! #a",
        "Rain. #b",
    ]
    kept = list(ready.prepare(Post(id=str(n), text=text) for n, text in enumerate(texts)))
    assert [post.id for post in kept] == ["0", "6"]
    assert ready.dropped == {
        "retweet": 1,
        "no trailing hashtag": 2,
        "nothing but hashtags": 1,
        "copy of an earlier post": 1,
    }
    assert len(kept) + ready.dropped.total() == len(texts)


def test_two_posts_with_one_id_keep_their_own_entities():
    posts = [Post(id="1", text="Joe Biden came. #a"), Post(id="1", text="Minneapolis slept. #a")]
    assert [p.entities for p in preparer().prepare(posts)] == [("Joe Biden",), ("Minneapolis",)]


times = st.lists(st.integers(0, 50).map(float), max_size=60)


@given(times)
def test_no_training_post_is_as_new_as_a_later_part(moments):
    cuts = chronological_cuts(moments)
    parts = {"train": [], "validation": [], "test": []}
    for moment in moments:
        parts[chronological_part(moment, cuts)].append(moment)
    if parts["train"]:
        assert max(parts["train"]) < min(parts["validation"] + parts["test"])
    if parts["validation"]:
        assert max(parts["validation"]) < min(parts["test"])


def test_the_parts_are_80_10_10():
    cuts = chronological_cuts(range(1000))
    assert Counter(chronological_part(t, cuts) for t in range(1000)) == {
        "train": 800,
        "validation": 100,
        "test": 100,
    }
    by_chance = Counter(random_part(str(n), 1) for n in range(10_000))
    assert 7800 < by_chance["train"] < 8200
    assert 850 < by_chance["test"] < 1150
    assert [random_part("x", seed) for seed in range(50)] == [
        random_part("x", s) for s in range(50)
    ]
    assert len({random_part("x", seed) for seed in range(50)}) > 1


def some_posts(n=20):
    for at in range(n):
        day = f"2020-06-{1 + (at * 7) % n:02}T00:00:00Z"
        yield PreparedPost(id=str(at), created_at=day, body="x", entities=(), hashtags=())


def test_writing_with_a_split(tmp_path):
    path = tmp_path / "posts.jsonl.gz"
    write_prepared(path, some_posts(), "chronological")
    rows = list(RecordFile(path, PreparedPost))
    assert [row.id for row in rows] == [str(n) for n in range(20)]
    ordered = sorted(rows, key=lambda row: row.created_at)
    assert [row.split for row in ordered] == ["train"] * 16 + ["validation"] * 2 + ["test"] * 2
    write_prepared(path, some_posts(), "random", seed=3)
    assert [row.split for row in RecordFile(path, PreparedPost)] == [
        random_part(str(n), 3) for n in range(20)
    ]
    write_prepared(path, some_posts(), None)
    assert {row.split for row in RecordFile(path, PreparedPost)} == {None}


def test_a_chronological_split_needs_times(tmp_path):
    timeless = PreparedPost(id="7", body="x", entities=(), hashtags=())
    with pytest.raises(DataError, match="post 7 has no created_at"):
        write_prepared(tmp_path / "posts.jsonl", [timeless], "chronological")
    assert list(tmp_path.iterdir()) == []


def test_learning_looks_only_at_news_older_than_every_post(tmp_path):
    day, later = ["2020-06-01T00:00:00Z", "2020-06-03T00:00:00Z"]
    news = [
        Article(id=str(n), published_at=moment, text=f"Here came {name} and {name} spoke.")
        for moment, name in ((day, "Zorblatt Quixby"), (later, "Plimth Yarrow"))
        for n in range(6)
    ]
    write_records(tmp_path / "news.jsonl", news)
    write_records(
        tmp_path / "posts.jsonl", [Post(id="1", text="x", created_at="2020-06-02T00:00:00Z")]
    )
    segmenter, finder = learn_from(
        [tmp_path / "news.jsonl"], [tmp_path / "posts.jsonl"], shipped_segmenter(), shipped_finder()
    )
    assert segmenter.segment("zorblattquixby") == ("zorblatt", "quixby")
    assert segmenter.segment("plimthyarrow") == shipped_segmenter().segment("plimthyarrow")
    assert "zorblatt" in finder.truecase.seen
    assert "plimth" not in finder.truecase.seen


def test_the_columns_of_table_1():
    posts = preparer().prepare(
        Post(id=str(n), text=text)
        for n, text in enumerate(
            [
                "Rain in Minneapolis. #Minneapolis #wet",
                "Sun came out. #sunnyday",
                "Joe Biden! #Minneapolis",
            ]
        )
    )
    statistics = Statistics()
    for post in posts:
        statistics.add(post)
    assert statistics.table(shipped_finder()) == pytest.approx(
        {
            "posts": 3,
            "distinct_hashtags": 3,
            "hashtags_per_post": 4 / 3,
            "entities_per_post": 2 / 3,
            "percent_entity_hashtags": 50,
            "percent_all_entity_hashtags": 50,
            "percent_words_in_post": 100 * 1 / 5,
        }
    )
    assert statistics.frequencies() == {1: 2, 2: 1}


def test_statistics_of_nothing():
    assert set(Statistics().table(shipped_finder()).values()) == {0}


@pytest.mark.extra("plots")
def test_the_picture_of_frequencies(tmp_path):
    plot_frequencies({1: 100, 2: 30, 5: 4}, tmp_path / "frequencies.png")
    assert (tmp_path / "frequencies.png").read_bytes().startswith(b"\x89PNG")
