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
