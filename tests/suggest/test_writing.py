"""Hashtags as people would write them."""

import pytest
from harbour import START, at, found_for, query_of, remember, town

from hashnews.records import Article, Retrieved
from hashnews.suggest.memory import Memory
from hashnews.suggest.writing import Writer
from hashnews.text.entities import shipped_finder
from hashnews.text.hashtags import shipped_forms

KNOWN = {"steam": "#STEAM", "gasen": "#GASen", "harbourday": "#HarbourDay"}


def written(text, titles=(), entities=(), posts=()):
    """Every candidate for a text, by key, as it would be written."""
    articles = [
        (
            Retrieved(f"a{n}", 1.0, 1),
            Article(id=f"a{n}", title=title, text="", published_at=START, entities=entities),
        )
        for n, title in enumerate(titles)
    ]
    query = query_of(at(50), None, text, articles=articles)
    found = found_for(Memory(remember(town(posts))), query)
    writer = Writer(shipped_forms(), shipped_finder().truecase, KNOWN)
    return {key: writer.write(query, found, place) for place, key in enumerate(found.keys)}


@pytest.mark.parametrize(
    ("name", "hashtag"),
    [("ATP Finals", "#ATPFinals"), ("WhatsApp", "#WhatsApp"), ("COP31", "#COP31"),
     ("Artemis III", "#ArtemisIII"), ("SteamOS", "#SteamOS"), ("Jannik Sinner", "#JannikSinner")],
)  # fmt: skip
def test_a_name_keeps_the_capitals_of_the_news(name, hashtag):
    found = written(f"about {name.lower()} again", [f"{name} in the news", "Other"], [name])
    assert found[hashtag[1:].lower()] == hashtag


def test_a_headline_in_capitals_says_nothing():
    found = written("jannik sinner wins", ["JANNIK SINNER WINS THE ATP FINALS"], ["Jannik Sinner"])
    assert found["janniksinner"] == "#JannikSinner"


def test_a_plain_word_is_no_abbreviation():
    found = written("the steam on our ice", ["Steam and ice in the harbour"], ["Steam", "Ice"])
    assert found["steam"] == "#Steam"
    assert found["ice"] == "#Ice"
    shouted = written("our STEAM class", ["STEAM classes for all"], ["STEAM"])
    assert shouted["steam"] == "#STEAM"


def test_the_memory_knows_best():
    posts = [(n, "ann", f"Ferry {n}.\n#ferryDay") for n in range(3)]
    found = written("the Ferry Day", ["Ferry Day begins"], ["Ferry Day"], posts)
    assert found["ferryday"] == "#ferryDay"


def test_what_the_model_learnt_is_written_as_there():
    found = written("it is harbour day", ["Harbour day begins", "On harbour day"])
    assert found["harbourday"] == "#HarbourDay"


def test_words_that_shout_together_say_nothing_and_a_name_in_capitals_does():
    found = written("THEY ARE IN ORBIT tonight, thank you NASA", ["NASA in orbit"], ["NASA"])
    assert found["orbit"] == "#Orbit"
    assert found["nasa"] == "#NASA"


def test_a_name_that_somebody_wrote_small_has_the_capital_of_the_news():
    posts = [
        (1, "ann", "note.\n#atlanta"),
        (2, "bob", "note.\n#mtpol"),
        (3, "cyd", "note.\n#family"),
    ]
    titles = ["A silence in Atlanta", "Atlanta waits"]
    found = written("note on atlanta, mtpol and my family", titles, ["Atlanta"], posts)
    assert found["atlanta"] == "#Atlanta"
    assert found["mtpol"] == "#mtpol"
    assert found["family"] == "#family"
