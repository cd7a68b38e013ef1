"""Strings found by their hash, numbered over days, and read as words: the same as with a dict."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hashnews.arrays import starts_of
from hashnews.index import packed as strings
from hashnews.index.packed import (
    Strings,
    StringTable,
    Texts,
    find_string,
    hashes_of,
    in_order,
    lookup_of,
    pack,
)
from hashnews.text import tokens

some = st.lists(st.text(max_size=6), unique=True, max_size=30)


def texts_of(*days):
    texts = Texts()
    for day in days:
        text, sizes, _ = in_order(*pack(day))
        texts.add(Strings(text, sizes))
    return texts


def place(texts, day, string):
    return find_string(lookup_of([string]), 0, day, texts.arrays)


@settings(max_examples=60, deadline=None)
@given(some, some)
def test_a_string_is_found_in_its_day_alone(one, other):
    texts = texts_of(one, other)
    for day, strings_of_day in enumerate((one, other)):
        for string in {*one, *other}:
            found = place(texts, day, string)
            assert (found >= 0) == (string in strings_of_day)
            if found >= 0:
                assert texts.string(found) == string


def test_equal_hashes_are_told_apart():
    # Two words with one FNV-1a hash of 32 bits.
    one, other = "costarring", "liquid"
    hashes = lookup_of([one, other]).hashes
    assert hashes[0] == hashes[1]
    texts = texts_of([one, other], [other])
    assert texts.string(place(texts, 0, one)) == one
    assert texts.string(place(texts, 0, other)) == other
    assert place(texts, 1, one) == -1
    table, lookup = StringTable(), lookup_of([one, other])
    assert len(set(table.add(lookup.text, lookup.starts, 0, hashes).tolist())) == 2


@settings(max_examples=60, deadline=None)
@given(st.lists(some, max_size=4))
def test_a_word_has_one_number_in_all_days(days):
    texts, table, known = Texts(), StringTable(), {}
    for day in days:
        text, sizes, _ = in_order(*pack(day))
        first = texts.add(Strings(text, sizes))
        hashes = hashes_of(text, starts_of(sizes))
        numbers = table.add(texts.arrays.text, texts.arrays.starts, first, hashes)
        for at, number in enumerate(numbers.tolist(), first):
            assert known.setdefault(texts.string(at), number) == number
    assert len(set(known.values())) == len(known) == table.size


def test_the_table_grows():
    many = [f"word{n}" for n in range(100_000)]
    table, (text, starts, hashes) = StringTable(), lookup_of(many)
    numbers = table.add(text, starts, 0, hashes)
    assert numbers.tolist() == list(range(len(many)))
    found = table.find(lookup_of([*many[::-1], "nowhere"]), text, starts)
    assert found.tolist() == [*range(len(many))[::-1], -1]
    texts = texts_of(many)
    assert all(texts.string(place(texts, 0, word)) == word for word in many[::97])


def test_order_does_not_depend_on_the_input():
    words = [f"w{n}" for n in range(500)]
    one, other = in_order(*pack(words)), in_order(*pack(words[::-1]))
    assert np.array_equal(one.text, other.text)
    assert np.array_equal(one.places, other.places[::-1])


def test_lists_are_unfolded():
    items, starts = np.array([7, 8, 9]), np.array([0, 2, 2, 3])
    assert strings.unfolded(np.array([2, 0, 1, 0]), starts, items).tolist() == [9, 7, 8, 7, 8]


@settings(max_examples=500, deadline=None)
@given(st.text("aB1z9s'’-.,:;!?()[]\"“”#@$%&/_kmth", min_size=1, max_size=8))
@example("COVID-19,")
@example("(U.S.)")
def test_the_shortcut_reads_as_the_expression_does(chunk):
    slowly = [
        word
        for match in tokens.TOKEN.finditer(chunk)
        if match.lastgroup in tokens.WORD_KINDS
        for word in tokens.split_word(match.group())
    ]
    assert tokens.words(chunk) == slowly


@pytest.mark.parametrize("empty", [[], [""]])
def test_nothing_to_find(empty):
    texts = texts_of(empty)
    assert place(texts, 0, "x") == -1
