"""The fast finder: capitals against counts."""

import pytest

from hashnews.text.entities import FastFinder, Truecase, shipped_finder


def names(text, finder=None):
    return [entity.text for entity in (finder or shipped_finder()).find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yesterday Joe Biden spoke in Minneapolis.", ["Joe Biden", "Minneapolis"]),
        ("The police said George Floyd’s family came.", ["George Floyd"]),
        (
            "we saw the Bank of America and George W. Bush there",
            ["Bank of America", "George W. Bush"],
        ),
        ("We met. They left. Then it rained.", []),
        ("On Monday in June I said OK.", []),
        ("all small: trump and minneapolis", ["trump", "minneapolis"]),
        ("Police Clear Protesters Near White House In Washington", ["White House", "Washington"]),
        ("PROTESTS IN MINNEAPOLIS GROW AFTER DEATH", ["MINNEAPOLIS"]),
        ("Zzzqq that was fun", []),
        ("", []),
        ("👍 … !!", []),
    ],
)
def test_finding(text, expected):
    assert names(text) == expected


def test_entities_say_where_they_stand():
    text = "Then Joe Biden’s team met the U.S. Senate."
    for entity in shipped_finder().find(text):
        assert text[entity.start : entity.end] == entity.text


def test_mentions_and_hashtags_are_no_entities_by_themselves():
    assert names("thanks @JoeBiden for #Minneapolis") == []


def test_truecase_counts_only_inside_sentences():
    counts = Truecase.of(["The cat saw Ann. The dog saw Ann."] * 3)
    assert counts.seen["ann"] == counts.capital["ann"] == 6
    assert counts.capital["cat"] == 0
    assert "the" not in counts.seen


def test_it_learns_and_the_old_one_stays():
    finder = FastFinder(Truecase({}, {}))
    learnt = finder.learn(["we saw zorb in town and zorb again"] * 5 + ["we met Quix today"] * 25)
    assert names("we met quix and zorb", learnt) == ["quix"]
    assert names("we met quix and zorb", finder) == []


def test_counts_round_trip(tmp_path):
    counts = Truecase.of(["we saw Ann in town"] * 4)
    counts.save(tmp_path / "truecase.npz")
    again = Truecase.load(tmp_path / "truecase.npz")
    assert (again.seen, again.capital) == (counts.seen, counts.capital)


def test_many_texts_are_the_texts_one_by_one():
    texts = ["Joe Biden spoke.", "", "In Minneapolis it rained."]
    assert shipped_finder().find_all(texts) == [shipped_finder().find(text) for text in texts]
