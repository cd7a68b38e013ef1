"""Hashtags on the rise, and the uses of a hashtag day by day."""

from datetime import UTC, datetime, timedelta

from hashnews.posts.table import Remembered
from hashnews.records import Hashtag
from hashnews.suggest.filters import shipped_blocked
from hashnews.suggest.memory import Memory, View
from hashnews.suggest.rising_hashtags import RisingHashtag, rising_hashtags
from hashnews.text.hashtags import shipped_forms
from hashnews.times import microseconds

NOON = datetime(2020, 6, 10, 12, tzinfo=UTC)


def post(row, hours_ago, user, *words, written=None):
    tag = Hashtag(words, written or "#" + "".join(word.title() for word in words))
    posted = microseconds(NOON - timedelta(hours=hours_ago))
    return Remembered(row, posted, str(row), user, (tag,), (), "words")


def rising(posts, most=5):
    return rising_hashtags(Memory(posts), microseconds(NOON), shipped_forms(), most)


def test_what_more_people_use_than_before_is_on_the_rise():
    fresh = [post(n, 2 + n, f"u{n}", "cup", "final") for n in range(4)]
    usual = [post(100 + n, 6 * n, f"u{n % 9}", "monday", "motivation") for n in range(100)]
    (first, *rest) = rising(fresh + usual)
    assert first == RisingHashtag("#CupFinal", 4, [0, 0, 0, 0, 0, 0, 0, 4])
    assert "#CupFinal" not in {one.hashtag for one in rest}


def test_one_person_alone_makes_no_rise_and_a_blocked_word_none_either():
    assert rising([post(n, 1 + n, "ann", "buy", "this") for n in range(30)]) == []
    blocked = min(shipped_blocked().words)
    assert rising([post(n, 1 + n, f"u{n}", blocked) for n in range(9)]) == []
    assert rising([]) == []


def test_nothing_at_or_after_the_moment_is_seen():
    past = [post(n, 2 + n, f"u{n}", "cup", "final") for n in range(4)]
    later = [post(50 + n, -n, f"v{n}", "cup", "final") for n in range(9)]
    assert rising(past + later) == rising(past)


def test_days_used_end_at_the_moment():
    posts = [post(n, hours, f"u{n}", "flood") for n, hours in enumerate((2, 3, 25, 50, 167, 169))]
    view = View(Memory(posts), microseconds(NOON), None)
    assert view.days_used(view.memory.tags.get("flood"), 7) == [1, 0, 0, 0, 1, 1, 2]
