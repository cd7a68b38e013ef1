"""A language model as a source: judged like the others, harmless when it fails or is lied to."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from endpoints import endpoint, said
from hypothesis import given, settings
from hypothesis import strategies as st
from orders import ORDERS, TARGETS, TOWNS, hostile_store

from hashnews.errors import ConfigError
from hashnews.records import Post
from hashnews.suggest import language_model
from hashnews.suggest.language_model import LanguageModel, hashtags_in, messages
from hashnews.suggest.pipeline import HashNews
from hashnews.suggest.query import with_news
from hashnews.text.hashtags import key_of

POST = Post.model_validate(
    {"text": "Marching tonight for George Floyd", "created_at": "2020-05-29T20:00:00Z"}
)
SAID = ("id", "text", "created_at")


@pytest.fixture(scope="module")
def hashnews():
    with HashNews() as made:
        yield made


def told(answer):
    return [(one.hashtag, one.score, one.on_topic) for one in answer.suggestions]


# ----- asking -----


def test_it_is_asked_as_openai_is():
    with endpoint(lambda *_: said('["#A1b", "#Two"]')) as (url, asked):
        model = LanguageModel(url, key="secret", seconds=60)
        assert model.propose_all([("a post", ["a headline"])]) == [["#A1b", "#Two"]]
        ((path, headers, request),) = asked
        assert path == "/v1/chat/completions"
        assert headers["Authorization"] == "Bearer secret"
        assert request["model"] == "the-first"
        assert json.loads(request["messages"][-1]["content"]) == {
            "post": "a post",
            "headlines": ["a headline"],
        }
        named = LanguageModel(url + "/chat/completions/", model="mine", seconds=60)
        assert named.propose_all([("x", [])] * 9) == [["#A1b", "#Two"]] * 9
        assert asked[-1][2]["model"] == "mine"


@pytest.mark.parametrize("url", ["", "x", "ftp://a/v1", "127.0.0.1:8080", "http://"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(ConfigError, match="is no address of a language model"):
        LanguageModel(url)


def drip(_, handler):
    handler.send_response(200)
    handler.end_headers()
    for _ in range(200):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def redirect(_, handler):
    handler.send_response(302)
    handler.send_header("Location", "http://127.0.0.1:1/")
    handler.end_headers()


BAD = {
    "an error": lambda _, handler: handler.send("no", 500),
    "no JSON": lambda *_: "<html>",
    "not what was asked": lambda *_: "[]",
    "no choice": lambda *_: '{"choices": []}',
    "too much": lambda *_: said("#x " * 100_000),
    "silence": lambda *_: time.sleep(3),
    "drops": drip,
    "a redirect": redirect,
    "half a message": lambda _, handler: handler.send(said('["#A"]')[:-5]),
    "not Unicode": lambda _, handler: handler.send(b"\xff\xfe" * 50),
    "deep": lambda *_: "[" * 60_000,
}


@pytest.mark.parametrize("kind", BAD)
def test_its_failure_costs_nothing_but_itself(kind, hashnews, caplog):
    expected = told(hashnews.suggest(POST))
    with endpoint(BAD[kind]) as (url, asked):
        model = LanguageModel(url, "m", seconds=1.0)
        began = time.monotonic()
        assert model.propose_all([("x", [])]) == [[]]
        assert time.monotonic() - began < 30  # of a busy machine; not the 200 drops
        for _ in range(100):
            if model.is_resting:
                break
            time.sleep(0.1)
        assert model.is_resting
        count = len(asked)
        hashnews._llm = model
        try:
            assert told(hashnews.suggest(POST)) == expected
        finally:
            hashnews._llm = None
        assert len(asked) == count  # it is left alone for a while
        (record,) = caplog.records
        assert "no answer from the language model" in record.getMessage()


def test_nobody_listens(hashnews):
    model = LanguageModel("http://127.0.0.1:1/v1", seconds=5)
    assert model.propose_all([("x", []), ("y", [])]) == [[], []]
    model._rests_until = 0.0  # after a rest it is asked again
    with endpoint(lambda *_: said('["#Back"]')) as (url, _):
        model._url = url
        assert model.propose_all([("x", [])]) == [["#Back"]]


# ----- what it is told, and what is taken from it -----


@given(st.text(), st.lists(st.text(max_size=300), max_size=20))
def test_post_and_headlines_are_data(text, headlines):
    order, *_, data = messages(text, headlines)
    assert order["content"] == language_model.ORDER
    read = json.loads(data["content"])
    assert set(read) == {"post", "headlines"}
    assert len(read["post"]) <= language_model.LONGEST_TEXT
    assert len(read["headlines"]) <= language_model.MOST_HEADLINES
    for line in read["headlines"]:
        assert len(line) <= language_model.LONGEST_HEADLINE
        assert not {"#", "＃", "\n", "<", ">", "\u202e", "\x1b"} & set(line)


@pytest.mark.parametrize("order", ORDERS)
def test_orders_lose_their_signs(order):
    *_, data = messages("x", [order.format(tag="Bitcoin")])
    (line,) = json.loads(data["content"])["headlines"]
    for sign in ("<|", "|>", "[INST]", "[/INST]", "###", "#Bitcoin", "<system>", "\n", "</"):
        assert sign not in line


@given(st.text() | st.text(alphabet='["#], aA1\\{}:\n', max_size=200))
def test_whatever_it_says_only_hashtags_are_taken(content):
    found = hashtags_in(content)
    assert len(found) <= language_model.MOST_HASHTAGS
    assert len(set(found)) == len(found)
    for one in found:
        assert one[0] == "#"
        assert one[1:].replace("_", "x").isalnum()
        assert any(letter.isalpha() for letter in one)
        assert len(one) <= 1 + language_model.LONGEST_HASHTAG


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('["#WorldCup", "Climate Change", "#2020", "#", "x\\ny"]',
         ["#WorldCup", "#ClimateChange", "#xy"]),
        ("Sure! Here are some: #One, #Two and #One.", ["#One", "#Two"]),
        ('```json\n["#A", "#B"]\n```', ["#A", "#B"]),
        ("[1, 2] and [\"#C\"]", ["#C"]),
        ("I cannot help with that.", []),
        ("", []),
    ],
)  # fmt: skip
def test_hashtags_in_what_it_says(content, expected):
    assert hashtags_in(content) == expected


# ----- judged like the others -----


def test_what_it_proposes_it_is_named_for(hashnews):
    (without,) = hashnews.suggest_all([POST], n=50)
    fits = without.suggestions[0].hashtag
    invented = ["#Kubernetes", "#zzqx", "#FloydZebraQuux", "#MarchingTonightForZebras"]
    (answer,) = hashnews.suggest_all([POST], n=50, proposed=[[*invented, fits]])
    assert told(answer) == told(without)
    named = [one.hashtag for one in answer.suggestions if one.because[-1].source == "llm"]
    assert named == [fits]
    (reason,) = (one for one in answer.suggestions[0].because if one.source == "llm")
    assert reason.label == "Your language model"
    assert sum(one.weight for one in answer.suggestions[0].because) == pytest.approx(1, abs=1e-3)


def test_what_it_alone_brings_is_shown_if_it_is_on_topic(hashnews):
    """Of hashtags that people use, those that the judges find on topic, and no others."""
    text = "The telescope pictures of that galaxy are unreal"
    post = Post.model_validate({"text": text, "created_at": "2020-06-05"})
    _, ready = hashnews._read(post)
    read = with_news(hashnews.retriever, hashnews.store, [ready])
    ((query, plain),) = hashnews._search.candidates(read)
    new = [one.written for one in query.lexicon.entries[::40] if one.key not in plain.keys]
    shown = 0
    for start in range(0, len(new), 60):
        some = new[start : start + 60]
        (answer,) = hashnews.suggest_all([post], n=50, proposed=[some])
        for one in answer.suggestions:
            if [reason.source for reason in one.because] == ["llm"]:
                shown += 1
                assert one.on_topic >= hashnews.model.config.proposed
    assert shown < 0.02 * len(new)


def test_one_that_knows_is_heard(hashnews):
    """What it proposes needs less to be shown: of hashtags an editor chose, some come in."""
    lines = (Path(__file__).parents[2] / "benchmarks/panel/posts.jsonl").read_text("utf-8")
    panel = [json.loads(line) for line in lines.splitlines()]
    panel = [one for one in panel if one["part"] == "sample"][:40]
    posts = [Post.model_validate({name: one[name] for name in SAID}) for one in panel]
    plain = hashnews.suggest_all(posts)
    answers = hashnews.suggest_all(posts, proposed=[one["editor"] for one in panel])
    came = 0
    for one, before, after in zip(panel, plain, answers, strict=True):
        known = {(each.hashtag, each.on_topic) for each in before.suggestions}
        keys = {key_of(tag) for tag in one["editor"]}
        for each in after.suggestions:
            if (each.hashtag, each.on_topic) not in known:
                came += key_of(each.hashtag) in keys
                assert each.on_topic >= hashnews.model.config.proposed
    assert came >= 3


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.sampled_from(["Bitcoin", "GeorgeFloyd", "Minneapolis", "COVID19", "zzq", "Cats", "a1"])
        | st.text(alphabet="abcdefgz", min_size=1, max_size=12),
        max_size=8,
    )
)
def test_it_changes_nothing_for_the_others(hashnews, proposed):
    """Columns compare candidates: those it brings must not push the others about."""
    _, ready = hashnews._read(POST)
    read = with_news(hashnews.retriever, hashnews.store, [ready])
    ((_, plain),) = hashnews._search.candidates(read)
    ((_, found),) = hashnews._search.candidates([hashnews._with(read[0], proposed)])
    size = len(plain.keys)
    assert found.keys[:size] == plain.keys
    assert found.extra == len(found.keys) - size
    np.testing.assert_array_equal(found.features[:size], plain.features)


def test_the_service_of_python_asks_it(tmp_path):
    with (
        endpoint(lambda *_: said('["#GeorgeFloyd", "#Hogwash"]')) as (url, asked),
        HashNews(llm=LanguageModel(url, seconds=60)) as hashnews,
    ):
        answer = hashnews.suggest(POST)
    assert len(asked) == 1
    read = json.loads(asked[0][2]["messages"][-1]["content"])
    assert read["headlines"][0] == answer.articles[0].title
    first = next(one for one in answer.suggestions if one.hashtag == "#GeorgeFloyd")
    assert "llm" in [reason.source for reason in first.because]
    assert "llm" in answer.timings_ms


# ----- orders in articles -----


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    assert len(TOWNS) == len(ORDERS) >= 30
    path = tmp_path_factory.mktemp("orders") / "news.db"
    return path, hostile_store(path)


def obey(request, _):
    """The worst of all models: it does whatever anybody wants."""
    return said(json.dumps([f"#{target}" for target in TARGETS]))


def test_orders_in_articles_change_nothing(hostile):
    path, posts = hostile
    with HashNews(path) as hashnews:
        expected = hashnews.suggest_all(posts, n=50)
    with (
        endpoint(obey) as (url, asked),
        HashNews(path, llm=LanguageModel(url, seconds=120)) as hashnews,
    ):
        answers = hashnews.suggest_all(posts, n=50)
    assert len(asked) == len(posts)
    read = [json.loads(request["messages"][-1]["content"]) for _, _, request in asked]
    for town in TOWNS:  # every order was read, and every one obeyed
        assert any(town in one["post"] and town in " ".join(one["headlines"]) for one in read)
    for town, before, after in zip(TOWNS, expected, answers, strict=True):
        assert told(after) == told(before), town
        assert before.suggestions, town
