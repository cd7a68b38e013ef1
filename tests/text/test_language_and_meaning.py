"""Language, and vectors: alike where the texts are, whatever they are read with."""

import numpy as np
import pytest

from hashnews.suggest.lexicon import shipped_lexicon
from hashnews.text.language import is_english
from hashnews.text.meaning import shipped_meaning, similarity
from hashnews.text.tokens import words


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("I baked sourdough bread with my daughter this morning", True),
        ("rain again", True),
        ("Sourdough starter named Clint Yeastwood, day 9", True),
        ("Peppermint Toffee Bark at Lake Casitas Recreation Area", True),
        ("Congratulations Ryan Brynes!! Seriously Staggs two absolute shockers", True),
        ("la la land again tonight with popcorn", True),
        ("Das Spiel war heute wirklich unglaublich gut", False),
        ("Me encanta el café por la mañana con mi perro", False),
        ("Siamo arrivati davvero a questi livelli di gelosia?", False),
        ("nabasag ang puso ko come from celyn", False),
        ("al je wilt dat we je terug volgen volg dan", False),
        ("今日はとても暑いですね", False),
    ],
)
def test_language(text, english):
    assert is_english(words(text), shipped_lexicon().worth) == english


def test_a_text_has_one_vector_whoever_is_read_with_it():
    meaning = shipped_meaning()
    texts = ["", "rain", "What a match in Turin, Sinner is unstoppable " * 9, "\ud83d broken"]
    together = meaning.of_posts(texts)
    alone = np.concatenate([meaning.of_posts([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-4
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(4), abs=1e-5)


def test_a_phrase_is_the_sum_of_its_pieces():
    meaning = shipped_meaning()
    phrases = [["sourdough", "bread"], [], ["bread"], ["\ud83d", "bread"], ["unbelievably"]]
    pieces, scales, _ = meaning.tables
    for phrase, vector in zip(phrases, meaning.of_phrases(phrases), strict=True):
        cut = [piece for word in phrase for piece in meaning.pieces[word]]
        summed = (pieces[cut].astype(float) * scales[cut, None]).sum(axis=0)
        assert vector == pytest.approx(summed / max(np.linalg.norm(summed), 1e-9), abs=1e-6)


def test_likeness_is_the_product_of_two_vectors():
    vectors = np.random.default_rng(1).normal(size=(300, 8)).astype(np.float32)
    assert similarity(vectors, vectors[7]) == pytest.approx(vectors @ vectors[7], abs=1e-5)


def test_a_hashtag_is_nearer_to_its_post_than_another():
    meaning = shipped_meaning()
    (post,) = meaning.of_posts(["I baked sourdough bread with my daughter this morning"])
    baking, tennis = meaning.of_phrases([("bread", "baking"), ("tennis",)])
    assert baking @ post > tennis @ post + 0.2
    assert meaning.of_phrases([()]).tolist() == [[0.0] * meaning.width]
