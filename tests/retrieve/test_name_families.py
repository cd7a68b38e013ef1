"""Names that mean the same are one name on the rise."""

from datetime import UTC, datetime

from in_memory import index_of

from hashnews.index.day import Entry
from hashnews.retrieve.trends import name_families, trends
from hashnews.times import microseconds


def families(**said):
    named = {name.replace("_", " "): frozenset(articles) for name, articles in said.items()}
    return {name: sorted(family) for name, family in name_families(named).items()}


def test_a_surname_and_a_title_belong_to_the_full_name():
    found = families(pell={1, 2, 3}, cardinal_pell={2, 3}, george_pell={1, 2, 3}, rome={1})
    assert found == {
        "george pell": ["cardinal pell", "george pell", "pell"],
        "rome": ["rome"],
    }
    assert list(families(trump={1, 2}, president_donald_trump={1, 2})) == ["president donald trump"]


def test_a_surname_belongs_to_whom_it_stands_beside():
    found = families(trump={1, 2, 3, 4}, donald_trump={1, 2, 3}, melania_trump={4})
    assert found == {
        "donald trump": ["donald trump", "trump"],
        "melania trump": ["melania trump"],
    }
    apart = families(floyd={1, 2, 3, 4}, george_floyd={1})  # most articles mean another Floyd
    assert sorted(apart) == ["floyd", "george floyd"]


def test_where_a_title_tells_of_a_person_headlines_need_not_say_both_names():
    found = families(pell={1, 2}, cardinal_pell={3}, george_pell={4, 5}, rome={1, 3})
    assert found == {"george pell": ["cardinal pell", "george pell", "pell"], "rome": ["rome"]}
    assert families(trump={1, 2}, president_trump={3}) == {"trump": ["president trump", "trump"]}
    several = families(trump={1}, president_trump={2}, donald_trump={3, 4, 5}, melania_trump={6})
    assert several["donald trump"] == ["donald trump", "president trump", "trump"]
    open_question = families(clinton={1}, secretary_clinton={2}, mrs_clinton={3},
                             bill_clinton={4}, hillary_clinton={5})  # fmt: skip
    assert {"bill clinton", "clinton", "hillary clinton"} <= set(open_question)


def test_what_is_no_title_of_people_joins_nothing():
    found = families(america={1}, captain_america={2}, bank_of_america={3, 4})
    assert sorted(found) == ["america", "bank of america", "captain america"]
    motors = families(motors={5}, general_motors={1}, tesla_motors={2, 3})
    assert sorted(motors) == ["general motors", "motors", "tesla motors"]
    ireland = families(ireland={1, 2}, northern_ireland={3, 4, 5})
    assert sorted(ireland) == ["ireland", "northern ireland"]


def test_what_only_begins_alike_is_another_thing():
    found = families(hong_kong={1, 2}, hong_kong_police={1, 2}, police={3})
    assert sorted(found) == ["hong kong", "hong kong police", "police"]


def test_an_article_that_says_two_of_the_names_counts_once():
    at = datetime(2020, 6, 2, 12, tzinfo=UTC)
    names = [("Pell", "George Pell"), ("Cardinal Pell", "Pell", "George Pell"), ("George Pell",)]
    articles = [
        Entry(str(n), microseconds(at.replace(hour=n + 1)), said, "x")
        for n, said in enumerate(names)
    ]
    (found,) = trends(index_of(articles), at)
    assert (found.entity, found.counts) == ("george pell", [0] * 7 + [3])
