"""How words stand in texts: by themselves, or only as a part of something longer."""

from collections import Counter

import pytest
from harbour import at
from hypothesis import given
from hypothesis import strategies as st

from hashnews.records import Article, PreparedPost, Retrieved
from hashnews.suggest.candidates import Search
from hashnews.suggest.families import are_family
from hashnews.suggest.filters import Filters, are_two, is_other_kind, shipped_blocked
from hashnews.suggest.from_text import named
from hashnews.suggest.memory import Memory
from hashnews.suggest.model import Model, shipped_model
from hashnews.suggest.query import PostWithNews, Query
from hashnews.suggest.standing import LITTLE, Concordance, Standing
from hashnews.text.entities import shipped_finder
from hashnews.text.segment import shipped_segmenter

WHEN = "2023-05-01T00:00:00Z"
WORDS = st.sampled_from(["bank", "first", "republic", "the", "of", "vaccine"])
TEXTS = st.lists(st.lists(WORDS, max_size=8), max_size=5)


@given(TEXTS, st.lists(WORDS, min_size=1, max_size=3).map(tuple))
def test_standing_is_what_counting_says(texts, parts):
    before, after, said_by, said = Counter(), Counter(), set(), 0
    for number, text in enumerate(texts):
        for start in range(len(text) - len(parts) + 1):
            if tuple(text[start : start + len(parts)]) == parts:
                said, said_by = said + 1, said_by | {number}
                before[text[start - 1] if start else "the"] += 1
                rest = text[start + len(parts) :]
                after[rest[0] if rest else "the"] += 1

    def share(neighbours):
        most = max((n for word, n in neighbours.items() if word not in LITTLE), default=0)
        return most / max(1, said)

    expected = Standing(said, len(said_by), share(before), share(after))
    assert Concordance(texts).standing(parts) == expected


@given(TEXTS, st.lists(WORDS, min_size=1, max_size=3).map(tuple))
def test_what_is_whole_holds_the_part_and_is_said_as_often_nearly(texts, parts):
    known = Concordance(texts)
    whole = known.whole(parts)
    assert f" {' '.join(parts)} " in f" {' '.join(whole)} "
    if len(whole) == len(parts):
        assert len(parts) > 5 or not known.standing(parts).is_part
    else:
        assert known.standing(parts).is_part


NEWS = [
    "First Republic Bank is seized",
    "Regulators sell First Republic Bank",
    "Why First Republic Bank fell",
    "Ghana approves malaria vaccine",
    "A malaria vaccine for children",
    "Oxford malaria vaccine works",
    "Bezos steps down from Amazon",
    "Jeff Bezos steps down",
    "As Bezos steps down, Jassy comes",
    "India's Go First cancels all flights",
    "all Go First flights are diverted",
    "What To Know About Go First",
    "What To Know About Layoffs",
    "Bed Bath & Beyond files for bankruptcy",
    "Retailer Bed Bath & Beyond shuts all stores",
    "Why Bed Bath & Beyond failed",
    "customers of Bed Bath & Beyond say goodbye everywhere",
]


def asked(body, names=(), told=()):
    post = PreparedPost(id="p", created_at=WHEN, body=body, entities=names, hashtags=())
    articles = [
        (Retrieved(title, 30.0, 1), Article(id=title, title=title, text="", published_at=WHEN,
                                            entities=told))
        for title in NEWS
    ]  # fmt: skip
    return PostWithNews(post, at(2_000), [], articles)


@pytest.fixture(scope="module")
def known():
    """What the filters know of hashtags for a post."""
    filters = Filters(shipped_blocked(), shipped_segmenter().counts, shipped_finder().truecase)
    search = Search(Memory([]), None, Model.load(shipped_model()).prior)

    def is_known(read, *words):
        ((query, found),) = search.candidates([read], also=[[words]])
        return filters.is_known(query, found, found.keys.index("".join(words)))

    return is_known


def test_a_part_of_a_name_is_no_hashtag_and_the_whole_is(known):
    read = asked("so that was First Republic Bank", ["Republic Bank"], ["First Republic Bank"])
    assert not known(read, "republic", "bank")
    assert known(read, "first", "republic", "bank")
    assert "firstrepublicbank" in Query(read).in_news


def test_what_many_articles_speak_of_is_a_hashtag_though_the_post_does_not_say_it(known):
    read = asked("the new jab against malaria, at last")
    assert known(read, "malaria", "vaccine")
    assert not known(read, "approves", "malaria")
    assert not known(read, "bezos", "steps")
    assert not known(read, "oxford", "malaria")  # once is not enough


def test_headlines_tell_a_name_of_plain_words(known):
    read = asked("go first cancelled, so what to know about layoffs is where to go first")
    query = Query(read)
    assert query.in_post["gofirst"].name == query.in_news["gofirst"].name == "Go First"
    assert len(query.in_news["gofirst"].articles) == 3  # those with capitals everywhere, too
    assert known(read, "go", "first")
    assert not {"whatto", "whattoknow", "toknow"} & {*query.in_post, *query.in_news}


def test_a_name_is_whole_with_what_joins_it(known):
    read = asked("a drawer of coupons. bed bath and beyond raised me", told=["Bath"])
    query = Query(read)
    assert query.in_post["bedbathandbeyond"].words == ("bed", "bath", "and", "beyond")
    assert "bedbathbeyond" not in query.in_news
    assert known(read, "bed", "bath", "and", "beyond")
    assert not known(read, "bath")
    assert known(asked("a weekend in Bath", ["Bath"]), "bath")


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("India's Go First cancels all flights", ["Go First"]),
        ("Go First Cancels All Flights on May 3", []),  # capitals everywhere tell nothing
        ("watch It's A Sin in one go", []),
        ("a new season of Game of Thrones makes fans sad", ["Game of Thrones"]),
        ("", []),
    ],
)
def test_names_that_capitals_tell(title, names):
    assert [name for _, name in named(title)] == names


def test_another_kind_of_what_is_shown_is_not_shown():
    query = Query(asked("the new jab against malaria, at last"))
    assert is_other_kind(query, ("covid", "vaccine"), [("malaria", "vaccine")])
    assert not is_other_kind(query, ("malaria", "vaccine"), [("covid", "vaccine")])
    assert not is_other_kind(query, ("public", "health"), [("malaria", "vaccine")])


def test_initials_and_runs_that_share_two_words_are_one_family():
    query = Query(asked("from Dubai with love"))
    assert are_family(query, ("uae",), ("united", "arab", "emirates"))
    assert not are_family(query, ("usa",), ("united", "arab", "emirates"))
    assert are_family(query, ("parish", "council", "row"), ("little", "parish", "council"))
    assert not are_family(query, ("parish", "council"), ("little", "council"))


def test_two_names_are_two_hashtags():
    names = ["Erdogan", "Kilicdaroglu", "Trinidad", "Tobago", "Trinidad and Tobago"]
    query = Query(asked("erdogan and kilicdaroglu, trinidad and tobago", names))
    assert are_two(query, ("erdogan", "and", "kilicdaroglu"))
    assert not are_two(query, ("trinidad", "and", "tobago"))
    assert not are_two(query, ("erdogan",))
