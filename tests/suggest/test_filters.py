"""Good hashtags: nothing blocked, no slip, no half, nobody's private label, nothing invented."""

import pytest
from harbour import at, remember, town

from hashnews import HashNews, Post
from hashnews.errors import ConfigError
from hashnews.generate.generator import Generated
from hashnews.records import Article, ContextWord, PreparedPost, Retrieved
from hashnews.suggest.candidates import Search
from hashnews.suggest.filters import (
    Blocked,
    Filters,
    is_first_name,
    is_namesake,
    is_of_a_network,
    is_private,
    is_slip,
    shipped_blocked,
)
from hashnews.suggest.memory import Memory, View
from hashnews.suggest.model import Model, shipped_model
from hashnews.suggest.prior import Prior
from hashnews.suggest.query import PostWithNews, Query
from hashnews.suggest.sources.neighbours import posts_that_say
from hashnews.suggest.world import FOREIGN, SURELY, world_of
from hashnews.text.entities import shipped_finder
from hashnews.text.segment import shipped_segmenter

COMMON = [(n / 10, f"u{n % 7}", f"note {n}.\n#Coronavirus #Juneteenth #Police") for n in range(40)]
RARE = [
    (10, "ann", "note.\n#Coronavius"),
    (11, "bob", "note.\n#Juneteen"),
    (12, "cyd", "note.\n#Policy"),
    *[(13 + n, "dan", "note.\n#DanWrites") for n in range(6)],
    *[(13 + n, f"u{n}", "note.\n#PoliceBrutality") for n in range(40)],
]


WHEN = "2020-01-01T00:00:00Z"
POST = PreparedPost(id="p", body="The harbour at night", entities=(), hashtags=())


@pytest.fixture(scope="module")
def view():
    return View(Memory(remember(town(COMMON + RARE))), at(100), "ann")


def slips(view, key):
    words = shipped_segmenter().segment(key)
    return is_slip(view, key, words, shipped_segmenter().counts)


def test_a_misspelling_of_a_common_hashtag_is_a_slip(view):
    assert slips(view, "coronavius")
    assert not slips(view, "coronavirus")


def test_another_word_one_letter_off_is_not(view):
    assert not slips(view, "policy")


def test_half_a_word_is_a_slip_and_a_whole_word_is_not(view):
    assert slips(view, "juneteen")
    assert not slips(view, "police")


def test_a_label_of_one_author_is_private_to_others_only(view):
    number = view.memory.tags.get("danwrites")
    assert is_private(view, number)
    assert not is_private(View(view.memory, at(100), "dan"), number)
    assert not is_private(view, view.memory.tags.get("police"))


def test_what_is_generated_is_said_or_known_and_likely():
    def kept(words, score, known=()):
        prior = Prior({key: f"#{key}" for key in known})
        read = PostWithNews(POST, at(0), [ContextWord("storm", 1.0)], [])
        return list(Query(read, prior, [Generated(words, score)]).generated) == [words]

    assert kept(("harbour", "storm"), -9.0)
    assert not kept(("harbour", "day"), -1.0)
    assert kept(("harbour", "day"), -1.0, ["harbourday"])
    assert not kept(("harbour", "day"), -4.0, ["harbourday"])
    assert not kept(("harbour", "harbour"), -1.0, ["harbourharbour"])


def test_blocked_words_block_hashtags_that_hold_them():
    blocked = Blocked(["# why", "ugly", "*vile"])
    assert blocked.holds("uglyday", ("ugly", "day"))
    assert not blocked.holds("snugly", ("snugly",))
    assert blocked.holds("soviletoday", ("so", "vile", "today"))
    assert blocked.holds("xvilex", ("xvilex",))
    assert not blocked.holds("why", ("why",))


def test_the_shipped_list_leaves_plain_words_alone():
    blocked, segment = shipped_blocked(), shipped_segmenter().segment
    for tag in ["Sussex", "Essex", "Assembly", "Classic", "Scunthorpe", "Dickens", "Cockpit",
                "PassTheBill", "Manchester", "LGBTQ", "Pride2020", "SexualAssaultAwarenessMonth",
                "BlackLivesMatter", "Niger", "Nigeria", "Therapist", "Analysis"]:  # fmt: skip
        words = segment(tag)
        assert not blocked.holds("".join(words), words), tag


def test_a_block_list_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match="block list"):
        Blocked.read(tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("Happy 80th birthday to the woman who taught me to swim", "#BreonnaTaylor"),
        ("Party tonight, dancing in the park with everybody", "#GeorgeFloyd"),
        ("RIP my friend, killed in the crash. Prayers for the family", "#BirthdayGirl"),
    ],
)
def test_neither_grief_where_there_is_joy_nor_joy_where_there_is_grief(text, never):
    with HashNews() as hashnews:
        answer = hashnews.suggest(Post(text=text, created_at="2020-06-08T12:00:00Z"), n=20)
    assert never not in [one.hashtag for one in answer.suggestions]


def asked(body, *names, news=()):
    """A query about a post that names some, with articles of some names, each in its headline."""
    post = PreparedPost(id="p", body=body, entities=names, hashtags=())
    articles = [
        (
            Retrieved(str(number), 1.0, 1),
            Article(id=str(number), title=" and ".join(told), text="", published_at=WHEN,
                    entities=told),
        )
        for number, told in enumerate(news)
    ]  # fmt: skip
    return Query(PostWithNews(post, at(100), [], articles))


def test_a_given_name_alone_says_who_is_meant_only_to_friends():
    assert is_first_name(asked("good luck linda", "Linda"), ("linda",))
    assert not is_first_name(asked("good luck linda", "Linda"), ("linda", "yaccarino"))
    assert not is_first_name(asked("the harbour"), ("harbour",))
    called = asked("what a record, linda", news=[("Linda",), ("Linda", "Paris")])
    assert not is_first_name(called, ("linda",))
    full = asked("what a record, linda", news=[("Linda Reyes",), ("Linda Reyes", "Paris")])
    assert is_first_name(full, ("linda",))


def test_another_person_of_the_family_is_not_meant():
    query = asked("Pedro Pascal is everywhere", "Pedro Pascal", news=[("Lux Pascal",)])
    assert is_namesake(query, ("lux", "pascal"), [])
    assert not is_namesake(query, ("pedro", "pascal"), [("lux", "pascal")])  # the post says it
    query = asked("a great evening", news=[("Anna Smith", "Bob Smith", "Leeds United")])
    assert is_namesake(query, ("bob", "smith"), [("anna", "smith")])
    assert not is_namesake(query, ("leeds", "united"), [("newcastle", "united")])
    assert not is_namesake(query, ("bob", "smith"), [])


def test_hashtags_of_one_network_need_its_people():
    assert is_of_a_network("catsofmastodon", asked("my cat sleeps"))
    assert is_of_a_network("dogsoftwitter", asked("my dog sleeps"))
    assert not is_of_a_network("mastodon", asked("moving house"))
    assert not is_of_a_network("mastodonmigration", asked("so this is mastodon"))
    assert not is_of_a_network("federer", asked("what a match"))


def test_a_long_name_of_overlapping_ones_is_not_glued():
    news = [("Aung San Suu", "Suu Kyi", "Actress Cicely Tyson", "Cicely Tyson", "Trump Powell")]
    query = asked("Aung San Suu Kyi is detained", "Aung San Suu Kyi", news=news)
    assert not query.is_glued(("aung", "san", "suu", "kyi"))
    assert query.is_glued(("actress", "cicely", "tyson"))
    assert query.is_glued(("cicely", "tyson", "dies"))


def test_a_name_with_what_somebody_does_is_no_hashtag():
    filters = Filters(shipped_blocked(), shipped_segmenter().counts, shipped_finder().truecase)
    text = "Bezos steps back and I watch the Berlin derby"
    post = PreparedPost(id="p", created_at=WHEN, body=text, entities=("Berlin",), hashtags=())
    titles = ["Bezos steps back from Amazon", "Berlin derby ends without a goal"]
    articles = [
        (Retrieved(title, 30.0, 1), Article(id=title, title=title, text="", published_at=WHEN,
                                            entities=("Bezos", "Berlin")))
        for title in titles
    ]  # fmt: skip
    search = Search(Memory([]), None, Model.load(shipped_model()).prior)
    also = [("bezos", "steps"), ("berlin", "derby")]
    ((query, found),) = search.candidates([PostWithNews(post, at(100), [], articles)], also=[also])

    def is_known(key):
        return filters.is_known(query, found, found.keys.index(key))

    assert not is_known("bezossteps")
    assert is_known("berlinderby")


def test_a_mention_makes_no_hashtag():
    def query(text, **fields):
        post = PreparedPost(id="p", body=text, entities=(), hashtags=(), **fields)
        return Query(PostWithNews(post, at(100), [], []))

    mentions = ("@Astro_Doug", "@nasa")
    assert query("Astro Doug and nasa fly", mentions=mentions).is_mention("astrodoug")
    assert query("Astro Doug and nasa fly", mentions=mentions).is_mention("nasa")
    assert not query("nasa flies with nasa", mentions=mentions).is_mention("nasa")
    assert not query("Astro Doug flies", mentions=mentions).is_mention("space")
    assert not query("Astro Doug flies").is_mention("astrodoug")


def test_a_word_that_everybody_says_makes_no_likeness():
    """Of twelve posts one says "best": that alone is no reason for its hashtags."""
    own = [(n, "me", f"{text}") for n, text in enumerate(OWN)]
    memory = Memory(remember(town(own)))
    seen = View(memory, at(100), "me")
    assert posts_that_say(seen, ["flour", "best", "grass"]).tolist() == [1, 1, 0]
    assert posts_that_say(View(memory, at(1), "me"), ["flour", "starter"]).tolist() == [0, 1]

    def near(body, key):
        post = PreparedPost(id="p", body=body, user="me", entities=(), hashtags=())
        prior = Model.load(shipped_model()).prior
        ((query, found),) = Search(memory, None, prior).candidates(
            [PostWithNews(post, at(100), [], [])]
        )
        world = world_of(query, found.evidence.view)
        return world.is_near(found, found.keys.index(key))

    assert near("flour on every surface", "baking")
    assert not near("wet grass, a personal best by three seconds", "baking")


def test_words_that_everybody_asks_with_make_no_likeness_to_another_subject():
    """Two askers of "anyone ... tonight": the one of a meetup, the other of shooting stars."""
    own = [
        "Anyone at the data meetup in Manchester tonight?\n#DataScience #Manchester",
        "Shipped the new dashboard\n#DataScience #Python",
        "Long run done, 18k by the canal.\n#Running",
        "Foam roller and I are enemies\n#Running #Recovery",
        *(f"note {n} of the harbour\n#Harbour" for n in range(12)),
    ]
    memory = Memory(remember(town([(n, "me", text) for n, text in enumerate(own)])))
    model = Model.load(shipped_model())

    def shown(body):
        post = PreparedPost(id="p", body=body, user="me", entities=(), hashtags=())
        read = PostWithNews(post, at(100), [], [])
        ((query, found),) = Search(memory, None, model.prior).candidates([read])
        world = world_of(query, found.evidence.view)
        verdict = model.judges.judge(found.features, 0.0, found.vectors)
        filters = Filters(shipped_blocked(), shipped_segmenter().counts, shipped_finder().truecase)
        return {
            key
            for place, key in enumerate(found.keys)
            if found.tags[place] >= 0
            and filters.lets_pass(query, found, place, world)
            and (world.is_near(found, place) or verdict.on_topic[place] >= SURELY)
        }

    assert not shown("anyone else going out tonight for the shooting stars?")
    assert "datascience" in shown("Started a new job today as a data analyst. thrilled")


OWN = (
    "the starter doubled overnight.\n#Sourdough",
    "the market has the best flour stall.\n#Baking",
    "running with my sister.\n#Parkrun",
)


def test_what_is_popular_is_not_for_posts_of_another_world():
    told = "The council votes on the harbour budget, motion"
    posts = [(n / 10, f"u{n % 50}", f"{told} {n}.\n#Council") for n in range(600)]
    memory, prior = Memory(remember(town(posts))), Model.load(shipped_model()).prior

    def asked_about(body):
        post = PreparedPost(id="p", body=body, entities=(), hashtags=())
        read = PostWithNews(post, at(100), [], [])
        ((query, found),) = Search(memory, None, prior).candidates([read])
        return world_of(query, found.evidence.view), found, found.keys.index("council")

    world, found, place = asked_about("sourdough bread from my oven, and butter on it")
    assert world.is_large
    assert world.score < FOREIGN
    assert not world.is_home(found, place, used=0.04)
    assert not world.is_home(found, place, used=0.9)  # nothing in it is like those posts
    world, found, place = asked_about("another vote of the council on the budget")
    assert world.score >= FOREIGN
    assert world.is_home(found, place, used=0.04)
    assert not world.is_home(found, place, used=0.001)


def test_a_name_in_small_letters_is_a_name():
    filters = Filters(shipped_blocked(), shipped_segmenter().counts, shipped_finder().truecase)
    assert all(map(filters.is_proper, ["oaxaca", "lisbon", "peckham"]))
    assert not any(map(filters.is_proper, ["showered", "gorilla", "may", "xyzzy"]))
    with HashNews() as hashnews:
        answer = hashnews.suggest("one bite and i was back at my grandmother's table in oaxaca")
    assert "#Oaxaca" in [one.hashtag for one in answer.suggestions]
