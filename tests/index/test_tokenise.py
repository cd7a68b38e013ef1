"""Many texts read at once say what each of them says alone."""

from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hashnews.arrays import starts_of
from hashnews.files import RecordFile
from hashnews.index.packed import Strings
from hashnews.index.tokenise import KINDS, SPACE, read_words
from hashnews.records import Article
from hashnews.text.stopwords import STOP_WORDS
from hashnews.text.tokens import EDGES, words

SIGNS = "aBzZ19sœÉß'’-.,:;!?()[]\"“”‘#@$%&/_…—\t\n\x1c\x85\xa0\u2003\u3000\u200bкİ東🏳️\ud800"
wild = st.text(max_size=30) | st.text(SIGNS, max_size=12)
written = st.lists(wild | st.sampled_from(["the", "COVID-19,", "(U.S.)", "it's", "x" * 70]))


def read(texts):
    said = read_words(texts)
    known = Strings(said.text, said.sizes)
    numbers, starts = said.numbers.tolist(), starts_of(said.counts).tolist()
    assert len(set(known.pick(range(len(known))))) == len(known)
    assert list(dict.fromkeys(numbers)) == list(range(len(known)))  # in the order they come
    return [known.pick(numbers[start:end]) for start, end in pairwise(starts)]


def slowly(texts):
    return [[word for word in words(text) if word not in STOP_WORDS] for text in texts]


@settings(max_examples=400, deadline=None)
@given(st.lists(wild | written.map(" ".join), max_size=5))
@example([])
@example(["", " ", "the", "-", "--a", "a--b", "a-", "…"])
@example(["Rain-", "Storm rain", "RAIN"])
def test_many_texts_say_what_each_says(texts):
    assert read(texts) == slowly(texts)


def test_white_space_and_marks_are_all_known():
    spaces = {code for code in range(0x110000) if chr(code).isspace()}
    assert spaces == set(np.flatnonzero(KINDS == SPACE).tolist())
    assert max(map(ord, EDGES)) < len(KINDS)


@pytest.mark.shared
@pytest.mark.parametrize("year", ["2019", "2020"])
def test_real_articles(shared, year):
    articles = islice(RecordFile(shared / year / "news.jsonl.gz", Article), 20_000)
    texts = [f"{article.title}\n{article.text}" for article in articles]
    for start in range(0, len(texts), 4000):
        assert read(texts[start : start + 4000]) == slowly(texts[start : start + 4000])
