"""Which articles tell a post's story: by hand, on plain cases, and what damaged files are."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashnews.errors import ModelError
from hashnews.records import Article, PreparedPost, Retrieved
from hashnews.saved import new_directory
from hashnews.suggest.filters import is_out_of_place
from hashnews.suggest.lexicon import shipped_lexicon
from hashnews.suggest.prior import Prior
from hashnews.suggest.query import PostWithNews, Query
from hashnews.suggest.ranker import Calibration, Ranker, Trees
from hashnews.suggest.story import COLUMNS, KIND, SameStory, columns, likeness, shipped_story
from hashnews.text.meaning import shipped_meaning
from hashnews.text.tokens import words
from hashnews.times import microseconds

NOW = datetime(2023, 5, 2, 12, tzinfo=UTC)
POST = "Can't believe the writers are on strike, no late night shows tonight"
STORY = "Hollywood writers go on strike, halting late night shows"
OTHERS = ("Rail strike to halt trains on Friday", "Ten late night snacks to try", "Storm tonight")


def asked(text, titles, scores=None, story=None, **prior):
    """A post beside articles that have nothing but headlines."""
    scores = scores or [40.0 - at for at in range(len(titles))]
    articles = [
        (
            Retrieved(id=f"a{at}", score=score, window=0),
            Article(id=f"a{at}", title=title, text="", published_at=NOW, source="s", entities=()),
        )
        for at, (title, score) in enumerate(zip(titles, scores, strict=True))
    ]
    post = PreparedPost(id="p", created_at=NOW, body=text, entities=(), hashtags=())
    known = Prior(lexicon=shipped_lexicon(), meaning=shipped_meaning(), story=story, **prior)
    vector = shipped_meaning().of_posts([text])[0]
    return Query(PostWithNews(post, microseconds(NOW), [], articles), known, vector=vector)


def test_the_story_is_told_from_what_shares_a_word():
    for order in ([STORY, *OTHERS], [*OTHERS, STORY]):
        query = asked(POST, order, story=shipped_story())
        likely = dict(zip(order, query.stories.tolist(), strict=True))
        assert max(likely, key=likely.__getitem__) == STORY
        assert likely[STORY] > 2 * max(likely[other] for other in OTHERS)
        assert query.tellers == pytest.approx(sum(likely.values()))


def test_an_everyday_post_has_no_story():
    query = asked("My sourdough doubled overnight", OTHERS, [9.0, 8.0, 7.0], shipped_story())
    assert query.stories.max() < 0.3


def test_nothing_is_told_without_articles_or_without_the_model():
    assert asked(POST, [], story=shipped_story()).stories.tolist() == []
    query = asked(POST, [STORY, *OTHERS])
    assert query.stories.tolist() == [0.0] * 4
    assert query.tellers == 0
    assert query.told_by_news == {}
    assert not query.headlines.any()


def test_columns_are_what_they_are_called():
    query = asked(POST, [STORY, *OTHERS])
    table = {name: columns(query)[:, at] for at, name in enumerate(COLUMNS)}
    weights = query.weights
    assert table["score"].tolist() == pytest.approx([40.0, 39.0, 38.0, 37.0])
    assert table["of_best"][1] == pytest.approx(39 / 40)
    shared = {word for word in words(STORY) if word in weights}
    said = sum(weights[word] for word in shared)
    assert table["post_said"][0] == pytest.approx(said / sum(weights.values()), rel=1e-5)
    telling = [word for word in dict.fromkeys(words(STORY)) if query.weight(word) > 0]
    of_title = sum(query.weight(word) for word in telling)
    assert table["title_said"][0] == pytest.approx(said / of_title, rel=1e-5)
    assert table["post_weight"].tolist() == pytest.approx([sum(weights.values())] * 4, rel=1e-5)
    assert table["alike"][3] == 0  # no other headline shares two words with the storm


def test_likeness_is_the_mean_of_the_three_nearest():
    chance = np.random.default_rng(1)
    vectors = chance.normal(size=(6, 4)).astype(np.float32)
    for at, one in enumerate(likeness(vectors).tolist()):
        others = sorted(float(vectors[at] @ vectors[o]) * (o != at) for o in range(6))
        assert one == pytest.approx(np.mean(others[-3:]), abs=1e-5)
    assert likeness(vectors[:1]).tolist() == [0.0]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=6), st.text(min_size=1, max_size=80))
def test_any_headline_and_any_post_have_a_probability(titles, text):
    likely = asked(text, [title or "-" for title in titles], story=shipped_story()).stories
    assert len(likely) == len(titles)
    assert ((likely >= 0) & (likely <= 1)).all()


def test_it_comes_back_from_its_file(tmp_path):
    with new_directory(tmp_path / "story", KIND, {}) as scratch:
        shipped_story().save(scratch)
    titles = [STORY, *OTHERS]
    again = asked(POST, titles, story=SameStory.load(tmp_path / "story")).stories
    assert again.tolist() == asked(POST, titles, story=shipped_story()).stories.tolist()


def test_trees_over_other_columns_are_refused(tmp_path):
    leaf = np.zeros(1, np.int32)
    trees = Trees(leaf, leaf, np.zeros(1, np.int16), np.zeros(1, np.float32), np.zeros((1, 2), int))
    ranker = Ranker(trees._replace(children=trees.children.astype(np.int32)),
                    Calibration(np.zeros(1), np.zeros(1)))  # fmt: skip
    with new_directory(tmp_path / "story", KIND, {}) as scratch:
        ranker.save(scratch / "story.npz")  # over the features of candidates
    with pytest.raises(ModelError, match="other features"):
        SameStory.load(tmp_path / "story")
    with new_directory(tmp_path / "broken", KIND, {}) as scratch:
        (scratch / "story.npz").write_bytes(b"no arrays")
    with pytest.raises(ModelError):
        SameStory.load(tmp_path / "broken")


def test_the_mood_is_that_of_the_headlines_that_tell_the_story():
    titles = ["Vigil for victims of the harbour fire", "Harbour fire: three dead"]
    text = "Light a candle for the harbour fire tonight"
    grave = asked(text, titles, story=shipped_story())
    assert is_out_of_place(grave, "candleparty", ("candle", "party"))
    assert not is_out_of_place(grave, "candle", ("candle",))
    assert not is_out_of_place(asked(text, titles), "candleparty", ("candle", "party"))
    shares = grave.tells({"dead", "vigil"}), grave.tells({"vigil"}), grave.tells({"cake"})
    assert shares[0] > shares[1] > shares[2] == 0
