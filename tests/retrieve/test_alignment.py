"""Appendix B against two independent aligners and brute force."""

import gzip
import json
import random
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashnews.retrieve.alignment import LONGEST, TokenIndex, align, soft_match, strict_match
from hashnews.text.tokens import words

parasail = pytest.importorskip("parasail", reason="an oracle of alignment is not installed")
PairwiseAligner = pytest.importorskip("Bio.Align", reason="biopython is an oracle").PairwiseAligner

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
MATRIX = parasail.matrix_create(LETTERS, 2, -1)
token = st.text("abcdé", min_size=1, max_size=12)


def random_word(rng):
    return "".join(rng.choices(LETTERS[:8], k=rng.randint(1, 12)))


def by_parasail(x, y):
    return parasail.sw(x, y, 1, 1, MATRIX).score / (2 * max(len(x), len(y)))


def test_align_equals_parasail_on_random_pairs():
    rng = random.Random(1)
    for _ in range(10_000):
        x, y = random_word(rng), random_word(rng)
        assert align(x, y) == by_parasail(x, y), (x, y)


def real_words(shared):
    with gzip.open(shared / "2020" / "news.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = {w for line in islice(lines, 4000) for w in words(json.loads(line)["text"])}
    return sorted(word for word in found if set(word) <= set(LETTERS))


@pytest.mark.shared
def test_align_equals_parasail_on_real_pairs(shared):
    rng, vocabulary = random.Random(2), real_words(shared)
    for _ in range(10_000):
        x, y = rng.choice(vocabulary), rng.choice(vocabulary)
        assert align(x, y) == by_parasail(x, y), (x, y)


@settings(max_examples=300, deadline=None)
@given(token, token)
def test_align_equals_biopython(x, y):
    aligner = PairwiseAligner(
        mode="local", match_score=2, mismatch_score=-1, open_gap_score=-1, extend_gap_score=-1
    )
    assert align(x, y) == aligner.score(x, y) / (2 * max(len(x), len(y)))


@given(token, token)
def test_align_is_symmetric_and_a_share(x, y):
    assert align(x, y) == align(y, x)
    assert 0 <= align(x, y) <= 1
    assert (align(x, y) == 1) == (x == y)


def test_align_by_hand():
    assert align("art", "party") == 6 / 10
    assert align("colour", "color") == (2 * 5 - 1) / 12
    assert align("trump", "xyz") == 0
    assert align("", "") == 1
    assert align("", "a") == 0


def test_very_long_tokens_align_with_themselves_alone():
    long = "a" * (LONGEST + 1)
    assert align(long, long) == 1
    assert align(long, long + "a") == 0
    index = TokenIndex([long, "a"])
    assert index.aligned(long, 0.5) == [0]
    assert index.aligned(long + "a", 0.5) == []


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text("abcé🎉", max_size=7), unique=True, max_size=40),
    st.text("abcdé", max_size=7),
    st.floats(0.05, 1),
)
def test_the_index_equals_brute_force(vocabulary, query, t):
    expected = [at for at, other in enumerate(vocabulary) if align(query, other) >= t]
    assert TokenIndex(vocabulary).aligned(query, t) == expected


@pytest.mark.shared
def test_the_index_equals_brute_force_on_real_words(shared):
    vocabulary = real_words(shared)
    index, rng = TokenIndex(vocabulary), random.Random(3)
    for query in rng.sample(vocabulary, 8):
        for t in (1.0, 0.8, 0.6):
            expected = [at for at, other in enumerate(vocabulary) if align(query, other) >= t]
            assert index.aligned(query, t) == expected


@pytest.mark.parametrize(
    ("entity", "matches"),
    [
        ("trump", {"donald trump", "trump", "trump tower"}),
        ("donald trump", {"donald trump"}),
        ("new york city", {"new york", "york city hall"}),
        ("supreme court of india", {"supreme court of pakistan"}),
    ],
)
def test_strict_match_as_the_authors_code_does(entity, matches):
    """Golden values: q = 0.65, exact tokens."""
    others = {
        "donald trump", "trump", "trump tower", "new york", "york city hall",
        "supreme court of pakistan", "supreme court",
    }  # fmt: skip
    found = {o for o in others if strict_match(entity.split(), o.split(), 1.0, 0.65)}
    assert found == matches


def test_the_papers_example_of_a_conditional_match():
    mentions = [["donald", "trump"], ["trump"], ["melania"]]
    assert soft_match(["donald", "trump"], mentions, 1.0, 0.65) == [0, 1]
    assert soft_match(["donald", "trump"], mentions[1:], 1.0, 0.65) == []


entity = st.lists(st.sampled_from("a b c d".split()), min_size=1, max_size=3)


@given(entity, st.lists(entity, max_size=6), st.sampled_from([0.5, 0.65, 1.0]))
def test_strict_matches_are_soft_ones(post, mentions, q):
    strict = [at for at, other in enumerate(mentions) if strict_match(post, other, 1.0, q)]
    soft = soft_match(post, mentions, 1.0, q)
    assert set(strict) <= set(soft)
    assert bool(strict) == bool(soft)


def test_nothing_matches_an_entity_without_tokens():
    assert not strict_match([], ["a"], 1.0, 0.65)
    assert soft_match([], [["a"]], 1.0, 0.65) == []
