"""The calendar: what had its day a year ago comes back, numbers turned, and nothing sooner."""

from datetime import UTC, date, datetime, timedelta

import pytest
from harbour import found_for, query_of, remember, town
from hypothesis import given
from hypothesis import strategies as st

from hashnews.errors import DataError
from hashnews.posts.table import Remembered
from hashnews.records import Hashtag
from hashnews.suggest.calendar import (
    AROUND,
    EPOCH,
    LEAST_SHARE,
    SEVERAL,
    TAKEN,
    Calendar,
    HashtagDay,
    calendar_of,
    counts_years,
)
from hashnews.suggest.memory import Memory
from hashnews.suggest.prior import Prior, known_hashtags, merged, prior_of
from hashnews.suggest.sources import PLACE, SEASON
from hashnews.times import A_DAY, microseconds


def moment(text: str) -> int:
    return microseconds(datetime.fromisoformat(text).replace(tzinfo=UTC))


def number(text: str) -> int:
    return date.fromisoformat(text).toordinal() - EPOCH


def used(day: str, user: str | None, *words: str) -> Remembered:
    tag = Hashtag(words, "#" + "".join(words).title())
    return Remembered(0, moment(day), f"{day}-{user}", user, (tag,), (), "")


def on(day: str, *words: str, authors: int = 5) -> list[Remembered]:
    return [used(day, f"user{n}", *words) for n in range(authors)]


HARBOUR_DAY = on("2019-06-06", "harbour", "day")


def test_a_hashtag_comes_back_after_a_year():
    calendar = calendar_of(HARBOUR_DAY)
    season = calendar.season(moment("2020-06-06"))["harbourday"]
    assert (season.authors, season.share, season.day) == (5, 1.0, date(2019, 6, 6))
    assert not season.turned


def test_a_number_that_counts_years_goes_on():
    posts = [*on("2019-06-06", "harbour", "day", "75"), *on("2019-06-06", "tide19")]
    found = calendar_of(posts).season(moment("2021-06-07"))
    assert set(found) == {"harbourday77", "tide21"}
    assert found["harbourday77"].turned
    assert found["harbourday77"].written == "#Harbourday77"
    assert found["harbourday77"].words == ("harbour", "day", "77")


@pytest.mark.parametrize(
    ("stem", "number", "counts"),
    [
        ("Budget", "2019", True), ("NLW", "19", True), ("DDay", "75", True),
        ("Apollo", "050", True),
        ("Agenda", "2030", False), ("September", "11", False), ("TX", "21", False),
        ("HR", "40", False), ("Vote", "2018", False),
    ],
)  # fmt: skip
def test_which_numbers_count_years(stem, number, counts):
    assert counts_years(stem, number, 2019) is counts


def test_days_near_it_are_its_season_and_others_are_not():
    calendar = calendar_of(HARBOUR_DAY)
    near = [day for day in range(-30, 31) if _there(calendar, "2020-06-06", day)]
    # A year is 365.25 days and this one had 366; and the Thursday after is that of the week after.
    assert near == [*range(-AROUND - 1, AROUND), 5]


def test_the_second_sunday_wanders_with_the_calendar():
    calendar = calendar_of(on("2022-05-08", "mothers", "day"))
    assert _there(calendar, "2023-05-14", 0)  # the second Sunday, 371 days later
    assert not _there(calendar, "2023-05-14", -1)


def test_nothing_comes_back_within_the_year():
    calendar = calendar_of(HARBOUR_DAY)
    for days in range(-400, 361):
        assert not _there(calendar, "2019-06-06", days), days


def _there(calendar: Calendar, day: str, days: int) -> bool:
    asked = moment(day) + microseconds(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=days))
    first = calendar.days[0].words
    return "".join(first) in calendar.season(asked)


def test_what_is_used_all_year_has_no_day():
    whole_year = [post for n in range(1, 13) for post in on(f"2019-{n:02}-06", "council")]
    assert calendar_of(whole_year).days == []


def test_a_day_takes_several_authors_that_are_known():
    posts = on("2019-06-06", "harbour", "day", authors=SEVERAL - 1)
    posts += [used("2019-06-06", None, "harbour", "day"), posts[0]]
    assert calendar_of(posts).days == []


def test_only_so_many_hashtags_of_a_season_those_of_most_authors():
    posts = [p for n in range(TAKEN + 9) for p in on("2019-06-06", f"tag{n}x", authors=3 + n)]
    found = calendar_of(posts).season(moment("2020-06-06"))
    assert list(found) == [f"tag{n}x" for n in range(TAKEN + 8, 8, -1)]


# Weeks of June in four years: dense enough that days are made and come back.
DAYS = st.builds(
    lambda year, day: number("2017-06-03") + 365 * year + day, st.integers(0, 3), st.integers(0, 2)
)
USES = st.lists(
    st.tuples(DAYS, st.sampled_from("abcd"), st.sampled_from(["tide", "fair19"])),
    min_size=20,
    max_size=80,
)


def _post(use: tuple[int, str, str]) -> Remembered:
    day, user, word = use
    return Remembered(0, day * A_DAY, "", user, (Hashtag((word,), f"#{word}"),), (), "")


@given(USES)
def test_days_are_those_that_counting_finds(uses):
    posts = list(map(_post, uses))
    expected = set()
    for word in {word for *_, word in uses}:
        once = {(day, user) for day, user, other in uses if other == word}
        for day in {day for day, _ in once}:
            authors = sum(other == day for other, _ in once)
            near = sum(abs(other - day) <= 3 for other, _ in once)
            year = sum(abs(other - day) <= 182.625 for other, _ in once)
            if authors >= 3 and near / year >= LEAST_SHARE:
                expected.add(HashtagDay(day, f"#{word}", (word,), authors, near / year))
    assert set(calendar_of(posts).days) == expected


@given(USES, DAYS)
def test_later_posts_change_nothing(uses, asked):
    """A calendar of all posts says to a post what a calendar of the posts before it says."""
    posts = list(map(_post, uses))
    now = asked * A_DAY
    before = [post for post in posts if post.posted < now]
    assert calendar_of(posts).season(now) == calendar_of(before).season(now)


def test_written_and_read_it_is_the_same():
    calendar = calendar_of([*HARBOUR_DAY, *on("2018-12-24", "lights", "on")])
    lines = list(calendar.lines())
    assert lines[0] == "2018-12-24\t#Lightson\tlights on\t5\t1.00"
    assert Calendar.read(lines).days == calendar.days


@pytest.mark.parametrize(
    "line", ["2019-06-06\t#a\ta\t3", "6 June\t#a\ta\t3\t1", "2019-06-06\t#a\ta\tx\t1"]
)
def test_a_line_that_is_none_is_told(line):
    with pytest.raises(DataError, match="not a line of a calendar"):
        Calendar.read([line])


def test_a_hashtag_is_known_once_three_authors_used_it_and_as_most_wrote_it():
    posts = [
        (0, "ann", "note.\n#HarbourDay #AnnOnly"),
        (1, "bob", "note.\n#harbourday #TwoOfUs"),
        (2, "cyd", "note.\n#HarbourDay #TwoOfUs"),
        (3, "ann", "note.\n#AnnOnly"),
        (4, "ann", "note.\n#AnnOnly"),
        (5, None, "note.\n#TwoOfUs"),
    ]
    assert known_hashtags(remember(town(posts))) == {"harbourday": "#HarbourDay"}
    assert known_hashtags([]) == {}


def test_what_several_posts_teach_goes_together():
    one, other = prior_of(HARBOUR_DAY), prior_of(on("2019-07-04", "parade"))
    both = merged([one, other])
    assert set(both.hashtags) == {"harbourday", "parade"}
    assert both.calendar.days == [*one.calendar.days, *other.calendar.days]
    assert merged([one, one]).calendar.days == one.calendar.days  # the same history, named twice
    assert merged([]).hashtags == Prior().hashtags == {}


def test_a_hashtag_of_the_season_is_a_candidate_with_its_figures():
    now = moment("2020-06-06")
    season = calendar_of([*HARBOUR_DAY, *on("2019-06-06", "tide19")]).season(now)
    memory = Memory()
    query = query_of(now, None, "Lanterns on the quay")
    query.season = season
    found = found_for(memory, query)
    columns = [PLACE[name] for name in SEASON.columns]
    rows = dict(zip(found.keys, found.features[:, columns], strict=True))
    assert rows["harbourday"].tolist() == [5, 1, 0.75, 0]
    assert rows["tide20"].tolist() == [5, 1, 0.75, 1]
    assert "harbourday" not in found_for(memory, query_of(now, None, "Lanterns on the quay")).keys
