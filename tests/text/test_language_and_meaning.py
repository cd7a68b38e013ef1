"""Language, and vectors: alike where the texts are, whatever they are read with."""

import numpy as np
import pytest

from hashnews.suggest.lexicon import shipped_lexicon
from hashnews.text.language import is_english
from hashnews.text.meaning import shipped_meaning
from hashnews.text.tokens import words


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("I baked sourdough bread with my daughter this morning", True),
        ("rain again", True),
        ("Das Spiel war heute wirklich unglaublich gut", False),
        ("Me encanta el café por la mañana con mi perro", False),
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


def test_a_hashtag_is_nearer_to_its_post_than_another():
    meaning = shipped_meaning()
    (post,) = meaning.of_posts(["I baked sourdough bread with my daughter this morning"])
    baking, tennis = meaning.of_phrases([("bread", "baking"), ("tennis",)])
    assert baking @ post > tennis @ post + 0.2
    assert meaning.of_phrases([()]).tolist() == [[0.0] * meaning.width]
