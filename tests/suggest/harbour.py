"""A small town's posts, and ways to ask the memory about them."""

from datetime import UTC, datetime, timedelta

from hashnews.posts.table import Remembered, remembered
from hashnews.prepare.preparer import Preparer
from hashnews.records import Hashtag, Post, PreparedPost
from hashnews.suggest.candidates import Candidates, find, with_features
from hashnews.suggest.evidence import Scratch
from hashnews.suggest.memory import Memory
from hashnews.suggest.query import PostWithNews, Query
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter
from hashnews.times import microseconds

START = datetime(2020, 6, 1, tzinfo=UTC)
POSTS = [
    (0, "ann", "The budget vote is tomorrow.\n#Budget2020 #Council"),
    (5, "bob", "Rain again over the harbour, ferries late.\n#Ferry"),
    (10, "ann", "Our council must pass the #budget vote!\n#Budget2020"),
    (20, "cyd", "Ferries run again at the harbour.\n#ferry #Harbour"),
    (30, "bob", "Ferry tickets cost more from today.\n#Ferry #BobSays"),
    (30.5, None, "What a budget. #council"),
    (31, "bob", "Good night, harbour.\n#BobSays"),
    (31.5, "cyd", "The council says good night to the budget.\n#Council #Budget_2020"),
    (40, "dan", "The budget passed the vote in the council.\n#budget2020"),
]


def at(hours: float) -> int:
    return microseconds(START + timedelta(hours=hours))


def town(posts=POSTS) -> list[Post]:
    return [
        Post(id=f"p{n}", created_at=START + timedelta(hours=hours), user=user, text=text)
        for n, (hours, user, text) in enumerate(posts)
    ]


def remember(posts: list[Post]) -> list[Remembered]:
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    return [remembered(ready) for ready in preparer.remember(posts)]


def query_of(moment: int, user=None, text="", given=(), articles=(), context=()) -> Query:
    post = PreparedPost(
        id="q",
        user=user,
        body=text,
        entities=(),
        hashtags=(),
        inline=[Hashtag((key,), f"#{key}") for key in given],
    )
    return Query(PostWithNews(post, moment, list(context), list(articles)))


def found_for(memory: Memory, query: Query, until=None) -> Candidates:
    return with_features(query, find(query, memory, Scratch(memory), (), until))


def ask(memory: Memory, moment: int, user=None, text="", given=(), until=None):
    """Candidates by key, each with its features."""
    found = found_for(memory, query_of(moment, user, text, given), until)
    return dict(zip(found.keys, found.features.tolist(), strict=True))
