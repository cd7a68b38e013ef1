"""Vocabularies, examples and batches."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import EXAMPLES, small_config, small_numberer

from hashnews.errors import DataError, ModelError
from hashnews.generate.batch import (
    Example,
    batches,
    make_batch,
    read_examples,
    scale_weights,
    slots,
)
from hashnews.generate.vocabulary import END, NOTHING, SOURCE_SIGNS, UNKNOWN, Vocabulary
from hashnews.records import ContextWord


def test_vocabulary_counts_saves_and_loads(tmp_path):
    from collections import Counter

    words = Vocabulary.count(SOURCE_SIGNS, Counter({"b": 3, "a": 3, "c": 5, "rare": 1}), 2, 2)
    assert words.words == ("c", "a")
    assert words.numbers(["a", "c", "b"]) == [4, 3, UNKNOWN]
    assert [words.word(number) for number in range(len(words))] == [*SOURCE_SIGNS, "c", "a"]
    words.save(tmp_path / "words.tsv")
    again = Vocabulary.load(tmp_path / "words.tsv", SOURCE_SIGNS)
    assert (again.words, again.counts) == (words.words, words.counts)
    (tmp_path / "words.tsv").write_text("no count\n")
    with pytest.raises(ModelError, match="not a vocabulary"):
        Vocabulary.load(tmp_path / "words.tsv", SOURCE_SIGNS)


def test_an_example_is_cut_to_what_the_model_reads():
    config = small_config(post_words=35, context_words=100, hashtag_words=10)
    context = [ContextWord(f"w{number}", 120.0 - number) for number in range(120)]
    tags = [("a",), ("a",), ("long",) * 11, ("b", "c")]
    example = Example.of(config, "word " * 50, context, tags)
    assert (len(example.post), len(example.context), len(example.weights)) == (35, 100, 100)
    assert example.weights[0] == 120.0
    assert example.hashtags == (("a",), ("b", "c"))
    assert Example.of(small_config("seq2seq"), "word", context).context == ()


def test_scaled_weights():
    assert scale_weights([1.0, 3.0], "raw").tolist() == [1.0, 3.0]
    assert scale_weights([1.0, 4.0], "max").tolist() == [0.25, 1.0]
    assert scale_weights([1.0, 3.0], "mean").tolist() == [0.5, 1.5]
    assert scale_weights([0.0, 0.0], "mean").tolist() == [1.0, 1.0]
    assert scale_weights([], "mean").tolist() == [1.0]


def test_numbers_of_copied_words():
    numberer = small_numberer(small_config("hashnews-copy"))
    example = Example(
        ("zzz", "covid"), ("yyy", "zzz"), (1.0, 1.0), (("zzz", "covid"), ("nowhere",))
    )
    numbered = numberer(example)
    size = len(numberer.hashtag)
    assert numbered.own == ("zzz", "yyy")
    assert numbered.copies.tolist() == [size, 2, size + 1, size]
    assert numbered.hashtags == ((size, 2, END),)  # what nothing can write is left out
    assert [numberer.word(number, numbered.own) for number in (2, size + 1)] == ["covid", "yyy"]


def test_nothing_stands_for_an_empty_text():
    numbered = small_numberer(small_config("hashnews-copy"))(Example(()))
    assert (numbered.post.tolist(), numbered.context.tolist()) == ([NOTHING], [NOTHING])
    assert numbered.copies.tolist() == [-1, -1]


def test_a_batch_holds_each_post_once_and_its_hashtags_longest_first():
    numberer = small_numberer(small_config())
    batch = make_batch([numberer(example) for example in EXAMPLES])
    assert batch.post_BP.shape == (4, 6)
    assert batch.hashtag_length_R.tolist() == [3, 3, 2, 2, 2, 2]
    assert sorted(batch.post_R.tolist()) == [0, 0, 1, 1, 2, 3]
    np.testing.assert_allclose(batch.weight_BC.sum(1), batch.context_length_B)  # mean one


@given(st.lists(st.integers(0, 5), max_size=20))
def test_slots_hold_every_row(posts):
    post_r = np.array(posts, dtype=np.int64)
    row_bk, slot_r = slots(post_r, 6)
    assert row_bk.ravel()[slot_r].tolist() == list(range(len(posts)))
    assert (slot_r // row_bk.shape[1]).tolist() == posts


def test_every_epoch_has_another_order_and_the_same_seed_the_same():
    numbered = [small_numberer(small_config())(example) for example in EXAMPLES * 10]
    first, second = batches(numbered, 4, 1, 0), batches(numbered, 4, 1, 1)
    assert first != second
    assert first == batches(numbered, 4, 1, 0)
    for order in (first, second):
        assert sorted(place for batch in order for place in batch) == list(range(40))


def test_posts_and_contexts_must_be_of_the_same_posts(tmp_path):
    post = {"id": "1", "body": "rules", "entities": [], "hashtags": []}
    (tmp_path / "posts.jsonl").write_text(json.dumps(post) + "\n")
    (tmp_path / "contexts.jsonl").write_text(json.dumps({"post_id": "2", "context": []}) + "\n")
    with pytest.raises(DataError, match=r"contexts\.jsonl:1: is not the context"):
        list(read_examples(small_config(), tmp_path / "posts.jsonl", tmp_path / "contexts.jsonl"))
    with pytest.raises(DataError, match="reads contexts"):
        list(read_examples(small_config(), tmp_path / "posts.jsonl", None))
    assert len(list(read_examples(small_config("seq2seq"), tmp_path / "posts.jsonl", None))) == 1
