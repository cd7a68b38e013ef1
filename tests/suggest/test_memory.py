"""The memory: one honest past for every moment, however the posts came in."""

import math
import random

import pytest
from harbour import POSTS, ask, at, found_for, query_of, remember, town
from hypothesis import given, settings
from hypothesis import strategies as st

from hashnews.suggest.evidence import Look, Scratch
from hashnews.suggest.memory import DELAY, Memory, View
from hashnews.suggest.sources import PLACE
from hashnews.suggest.sources.author import AUTHOR
from hashnews.text.terms import terms

ALL = remember(town())
WORDS = "budget vote council ferry harbour rain late tickets night good pass today".split()
TAGS = ["Budget2020", "Council", "Ferry", "Harbour", "BobSays", "night"]

made_up_posts = st.lists(
    st.tuples(
        st.integers(0, 200).map(lambda n: n / 4),
        st.sampled_from(["ann", "bob", "cyd", None]),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
        st.lists(st.sampled_from(TAGS), min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=25,
).map(
    lambda rows: [
        (hours, user, " ".join(words) + ".\n" + " ".join("#" + tag for tag in tags))
        for hours, user, words, tags in sorted(rows, key=lambda row: row[0])
    ]
)


def visible(posts, moment, user):
    """What a post may see: others' when they are five minutes old, the author's own before it."""
    return [
        post
        for post in posts
        if post.posted <= moment - DELAY or (post.user == user is not None and post.posted < moment)
    ]


@settings(max_examples=150, deadline=None)
@given(made_up_posts, st.floats(0, 52), st.sampled_from(["ann", "bob", "new", None]))
def test_nothing_after_the_post_changes_anything(rows, hours, user):
    posts, moment = remember(town(rows)), at(hours)
    text = "the ferry and the budget vote tonight"
    whole = ask(Memory(posts), moment, user, text)
    seen = ask(Memory(visible(posts, moment, user)), moment, user, text)
    assert whole.keys() == seen.keys()
    for key, features in whole.items():
        assert features == pytest.approx(seen[key], rel=1e-6), key


def test_posts_of_others_wait_five_minutes_and_ones_own_do_not():
    memory = Memory(ALL)
    assert "harbour" not in ask(memory, at(20 + 4.9 / 60), "ann", "ferries")
    assert "harbour" in ask(memory, at(20 + 5 / 60), "ann", "ferries")
    assert "harbour" in ask(memory, at(20.5), "cyd", "ferries")
    assert "harbour" not in ask(memory, at(20), "cyd", "ferries")


def test_a_memory_that_was_closed_knows_nothing_later():
    memory = Memory(ALL)
    closed = ask(memory, at(45), "bob", "ferry tickets", until=at(25))
    assert "bobsays" in ask(memory, at(45), "bob", "ferry tickets")
    assert "bobsays" not in closed
    assert "harbour" in closed


def test_posts_added_in_any_order_make_the_same_memory():
    shuffled = list(ALL)
    random.Random(3).shuffle(shuffled)
    grown = Memory(shuffled[:4])
    grown.extend(shuffled[4:6])
    grown.extend(shuffled[6:])
    text = "budget vote in the council"
    whole, other = ask(Memory(ALL), at(50), "bob", text), ask(grown, at(50), "bob", text)
    assert whole.keys() == other.keys()
    assert all(whole[key] == pytest.approx(other[key]) for key in whole)


@pytest.mark.parametrize(("user", "since"), [(None, 28), ("dan", 28), ("bob", 19), ("eve", 28)])
def test_a_memory_looks_back_from_its_newest_post_and_the_authors_own(user, since):
    """The newest post of all is of hour 40, Dan's own; Bob's last is of hour 31."""
    kept = [post for post in ALL if post.posted >= at(since)]
    for hours in (50, 5000):
        bounded = ask(Memory(ALL, days=0.5), at(hours), user, "budget vote")
        assert bounded == ask(Memory(kept), at(hours), user, "budget vote")


def test_similarity_is_what_its_equation_says():
    memory, text, moment = Memory(ALL), "Will the budget vote pass the council?", at(35)
    look = Look(View(memory, moment, "ann"), Scratch(memory), text)
    seen = visible(ALL, moment, "ann")
    said = {post.id: set(terms(post.body)) for post in seen}
    older = [post.id for post in seen if post.posted <= moment - DELAY]
    frequency = {term: sum(term in said[post] for post in older) for term in terms(text)}
    weight = {
        term: math.log((len(older) + 1) / (n + 0.5)) ** 2 for term, n in frequency.items() if n
    }
    near = memory.ids(look.near.posts)
    for post, likeness in zip(near, look.near.likeness.tolist(), strict=True):
        mine = said[post]
        both = sum(value for term, value in weight.items() if term in mine)
        length = math.sqrt(len(weight) / len(mine))
        assert likeness == pytest.approx(both / sum(weight.values()) * length)
    assert set(near) == {post for post, mine in said.items() if mine & weight.keys()}


def test_what_the_look_before_left_in_the_room_changes_nothing():
    memory = Memory(ALL)
    clean, used = Scratch(memory), Scratch(memory)
    for room in used.rooms:
        room[:] = 7.0
    for hours, text in [(50, "ferry budget"), (21, "harbour"), (50, "ferry budget")]:
        looks = [Look(View(memory, at(hours), "bob"), one, text) for one in (clean, used)]
        one, other = (look.evidence(look.best()).table for look in looks)
        assert (one == other).all()


def test_an_empty_memory_has_nothing_to_say():
    assert ask(Memory(), at(0), "ann", "the") == {}
    assert len(Memory()) == Memory().first() == 0


def test_posts_by_nobody_known_wait_five_minutes_for_nobody_known():
    memory = Memory(remember(town([(0, "ann", "Ferry.\n#Ferry"), (10, None, "Ferry.\n#Quay")])))
    assert "quay" not in ask(memory, at(10 + 4.9 / 60), None, "ferry")
    assert "quay" in ask(memory, at(10 + 5 / 60), None, "ferry")


def test_nobody_known_is_not_one_author():
    features = ask(Memory(ALL), at(50), None, "budget")
    own = [PLACE[name] for name in AUTHOR.columns]
    assert all(row[place] == 0.0 for row in features.values() for place in own)


def test_hashtags_the_post_holds_are_not_suggested():
    assert "ferry" not in ask(Memory(ALL), at(50), "bob", "a #ferry", frozenset({"ferry"}))


def test_counts_are_those_one_counts_by_hand():
    memory = Memory(ALL)
    found = found_for(memory, query_of(at(42), "bob", "ferry"))
    number = memory.tags["budget2020"]
    view, place = found.evidence.view, found.keys.index("budget2020")
    # p0, p2, p7 and p8 used it, p8 two hours ago.
    assert found.feature("uses")[place] == view.times_used("budget2020") == 4
    assert found.feature("day")[place] == 2
    assert found.feature("week")[place] == 4
    assert view.written(number) == ["#Budget2020", "#Budget2020", "#Budget_2020", "#budget2020"]
    assert found.evidence.own_posts(memory.tags["bobsays"]) == ("p6", "p4")
    assert len(POSTS) == len(memory)
