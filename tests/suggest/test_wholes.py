"""Names as texts write them whole: what the fast finder cuts is made whole again, and no more."""

import time

import pytest
from harbour import at
from hypothesis import given
from hypothesis import strategies as st

from hashnews.records import Article, PreparedPost, Retrieved
from hashnews.suggest.model import Model, shipped_model
from hashnews.suggest.query import PostWithNews, Query
from hashnews.suggest.wholes import ArticleText, titles_in, whole_names, whole_names_of_post
from hashnews.text.entities import shipped_finder
from hashnews.text.tokens import words


def found(*texts):
    """The names of articles, as the fast finder and then the texts tell them."""
    finder = shipped_finder()
    told = [
        ArticleText(
            title, body, tuple(one.text for text in (title, body) for one in finder.find(text))
        )
        for title, body in texts
    ]
    return whole_names(told)


@pytest.mark.parametrize(
    ("title", "body", "whole", "part"),
    [
        ("Taylor Swift announces a summer in London", "", "Taylor Swift", "Taylor"),
        ("Sinner reaches ATP Finals semi-finals in Turin", "", "ATP Finals", "ATP"),
        ("Winds hit Scotland", "A warning for wind as Storm Bram reaches the coast, they said.",
         "Storm Bram", "Bram"),
        ("Winner crowned in final", "the winner of The Great British Bake Off was crowned",
         "Great British Bake Off", "British Bake"),
        ("Rivals start Australian Open with a win", "", "Australian Open", "Australian"),
        ("Three held as Just Stop Oil halts play", "", "Just Stop Oil", None),
        ("Officials at the Department of Health said little", "", "Department of Health", None),
        ("Bank to be sold to JPMorgan Chase & Co. within days", "", "JPMorgan Chase", None),
    ],
)  # fmt: skip
def test_what_the_finder_cuts_is_whole_as_the_text_writes_it(title, body, whole, part):
    (names,) = found((title, body))
    assert whole in names
    assert part not in names


def test_a_name_that_also_stands_alone_stays_beside_the_whole():
    title = "Storm Bram hits the coast, and after Storm Bram the repairs begin"
    (names,) = whole_names([ArticleText(title, "as Bram moved on, people slept", ("Bram",) * 3)])
    assert names.count("Bram") == 3
    assert names.count("Storm Bram") == 2


@pytest.mark.parametrize(
    ("title", "whole"),
    [
        ("Italian Prime Minister Mario Draghi to meet leaders today", {"Mario Draghi"}),
        ("Shares fall as Tesla CEO Elon Musk sells stock again", {"Elon Musk"}),
        ("Frustrated Roman Reigns sends another message to fans", {"Roman Reigns"}),
        ("Lakers beat Warriors Monday before cheering crowd", set()),
        ("Storm Damage Is Worse Than Anybody Thought It Would Be", set()),
        ("HE SAID IT LIVE and nobody believed what happened then", set()),
    ],
)
def test_roles_days_first_words_and_what_shouts_are_no_part_of_a_name(title, whole):
    (names,) = whole_names([ArticleText(title, "", ())])
    assert {*names} == whole


def test_a_number_is_part_of_a_name_that_several_texts_say():
    twice = found(("GTA 6 review: the city lives", ""), ("Players wait hours as GTA 6 breaks", ""))
    assert all("GTA 6" in names for names in twice)
    once = found(("Everton 3 points ahead of rivals after another win", ""))
    assert not any("Everton 3" in names for names in once)


def test_a_year_behind_a_name_leaves_the_name():
    (names,) = whole_names(
        [
            ArticleText(
                "Sweden wins Eurovision Song Contest 2023 after long night",
                "the Eurovision Song Contest 2023 ended in tears",
                ("Sweden", "Eurovision"),
            )
        ]
    )
    assert {"Eurovision Song Contest", "Eurovision Song Contest 2023"} <= {*names}


def test_a_first_word_is_part_of_the_name_where_another_article_says_so():
    named = found(
        ("Storm Bram: amber warning as winds hit hard", ""),
        ("Trains cancelled as Storm Bram moves east", ""),
    )
    assert all("Storm Bram" in names for names in named)


def test_a_post_makes_names_whole_but_has_no_new_ones():
    names = whole_names_of_post(
        "we finally saw Taylor Swift last night, and Golden Hour", ["Taylor"]
    )
    assert names == ("Taylor Swift",)
    assert whole_names_of_post("we saw taylor swift in the park", ["taylor"]) == ("taylor",)


def test_the_before_a_capital_makes_a_title_of_a_post():
    read = titles_in("just finished the last season of The Bear and need to talk about it")
    assert read == {("the", "bear"): "The Bear"}
    assert titles_in("The Bear is over, what now? finally some sleep") == {}
    assert titles_in("JUST FINISHED The Bear AND CANNOT STOP") == {}


def test_a_raised_title_that_people_use_is_a_name():
    body = "just finished the last season of The Bear and need to talk about it"
    post = PreparedPost(id="p", body=body, entities=(), hashtags=())
    prior = Model.load(shipped_model()).prior
    assert (
        Query(PostWithNews(post, at(10_000), [], []), prior).in_post["thebear"].name == "The Bear"
    )


def test_a_query_reads_the_names_whole():
    when = "2020-01-01T00:00:00Z"
    post = PreparedPost(id="p", created_at=when, body="so windy", entities=(), hashtags=())
    title = "Winds of Storm Bram reach the coast early"
    article = Article(id="a", title=title, text="", published_at=when, entities=("Bram",))
    query = Query(PostWithNews(post, at(2_000), [], [(Retrieved("a", 30.0, 1), article)]))
    assert query.in_news["stormbram"].name == "Storm Bram"
    assert query.is_scrap(("bram",))


WORDS = st.sampled_from(
    "Storm storm Bram Taylor swift Swift of the The & 6 2023 President CEO Monday. : said they"
    " quickly reach towns U.S. McDonald's ’ — GTA XBOX LIVE é Ünal".split()
)
TEXTS = st.lists(WORDS, max_size=30).map(" ".join)


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=3))
def test_every_name_stays_or_is_part_of_a_longer_one_that_the_text_says(texts):
    finder = shipped_finder()
    told = [
        ArticleText(
            title, body, tuple(one.text for text in (title, body) for one in finder.find(text))
        )
        for title, body in texts
    ]
    for one, names in zip(told, whole_names(told), strict=True):
        said = f" {' '.join(words(one.title))} {' '.join(words(one.body))} "
        assert len(names) >= len(one.names)
        for before, after in zip(one.names, names, strict=False):
            assert f" {' '.join(words(before))} " in f" {' '.join(words(after))} "
        for name in names[len(one.names) :]:
            assert len(words(name)) > 1
            assert f" {' '.join(words(name))} " in said.replace(" and ", " ") or "&" in name


@pytest.mark.parametrize("piece", ["Aa ", "Aa of the ", "Storm 6 ", "Aa & ", "A’", "Aa-", ": Aa "])
def test_no_text_takes_long(piece):
    text = "they said it quickly and often " + piece * 20_000
    began = time.process_time()
    whole_names([ArticleText(text[:300], text, ("Aa",))])
    whole_names_of_post(text, ["Aa"])
    assert time.process_time() - began < 5
