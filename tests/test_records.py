"""Records: times with their zone, ids, and what is refused."""

from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hashnews.records import Article, Hashtag, Post, PreparedPost, parse_time, write_time


def test_a_bare_day_never_leaks():
    post = Post(id="1", text="x", created_at="2020-06-02")
    article = Article(id="1", text="x", published_at="2020-06-02")
    # Where the day begins first, and where it ends last.
    assert post.created_at == datetime(2020, 6, 1, 10, tzinfo=UTC)
    assert article.published_at == datetime(2020, 6, 3, 11, 59, 59, 999_999, tzinfo=UTC)
    assert not article.published_at < post.created_at
    for day, seen in [("2020-06-03", False), ("2020-06-04", False), ("2020-06-05", True)]:
        later = Post(id="2", text="x", created_at=day)
        assert (article.published_at < later.created_at) is seen


@given(st.dates(date(1990, 1, 1), date(2100, 1, 1)), st.dates(date(1990, 1, 1), date(2100, 1, 1)),
       st.integers(-720, 840), st.integers(-720, 840))  # fmt: skip
def test_bare_days_never_leak_whatever_zone_they_were_written_in(day, other, zone, post_zone):
    """An evening article of New York is not there at the end of the day in UTC."""
    last = datetime.combine(day, time.max, timezone(timedelta(minutes=zone)))
    first = datetime.combine(other, time.min, timezone(timedelta(minutes=post_zone)))
    article = Article(id="1", text="x", published_at=day.isoformat())
    post = Post(id="1", text="x", created_at=other.isoformat())
    assert article.published_at >= last
    assert post.created_at <= first


@pytest.mark.parametrize(
    "wrong",
    [
        "2020-06-02T14:05:00",  # no zone
        "2020-06-02T14:05Z",  # no seconds
        "2020-06-02T25:00:00Z",
        "2020-02-30",
        "02/06/2020",
        "1591106700",
        1591106700,
        "",
        "0000-01-01",
        "9999-12-31T23:59:59-12:00",
        "0002-01-01T00:00:00+23:59",  # in UTC it is the year 1
        "1899-12-31T23:59:59Z",
        "2201-01-01T00:00:00Z",
        "２０２０-06-02",
        None,
    ],
)
def test_times_are_parsed_strictly(wrong):
    with pytest.raises(ValidationError):
        Article(id="1", text="x", published_at=wrong)


def test_a_time_keeps_its_zone():
    moment = parse_time("2020-06-02t14:05:00.25+05:30", "start")
    assert moment.utcoffset() == timedelta(hours=5, minutes=30)
    assert write_time(moment) == "2020-06-02T14:05:00.250000+05:30"
    with pytest.raises(ValueError, match="no time zone"):
        parse_time(datetime(2020, 6, 2), "start")


zones = st.integers(-23 * 60, 23 * 60).map(lambda m: timezone(timedelta(minutes=m)))
moments = st.datetimes(datetime(1900, 1, 1), datetime(2200, 12, 31), timezones=zones)


@given(moments)
def test_written_times_read_back(moment):
    again = parse_time(write_time(moment), "start")
    assert again == moment
    assert again.utcoffset() == moment.utcoffset()


@given(moments, moments)
def test_zones_do_not_change_the_order(a, b):
    post = Post(id="1", text="x", created_at=write_time(a))
    article = Article(id="1", text="x", published_at=write_time(b))
    assert (article.published_at < post.created_at) == (b.timestamp() < a.timestamp()) or abs(
        b.timestamp() - a.timestamp()
    ) < 1e-3


def test_ids():
    assert Post(id=12, text="x").id == "12"
    nameless = Post.model_validate({"text": "x", "user": "u"})
    assert nameless.id == Post.model_validate({"text": "x", "user": "u"}).id
    assert nameless.id != Post.model_validate({"text": "y", "user": "u"}).id
    by_url = {"text": "x", "published_at": "2020-06-02", "url": "https://example.org/a"}
    assert Article.model_validate(by_url).id == Article.model_validate({**by_url, "text": "y"}).id


def test_an_empty_user_is_nobody():
    assert Post(id="1", text="x", user="").user is None


def test_unknown_columns_pass_and_nothing_changes_later():
    post = Post.model_validate({"id": "1", "text": "x", "likes": 3})
    with pytest.raises(ValidationError):
        post.text = "y"


def test_a_prepared_post_reads_back():
    post = PreparedPost(
        id="1",
        created_at="2020-06-02T14:05:00Z",
        body="hello",
        entities=("Ann",),
        hashtags=(Hashtag(("black", "lives"), "#BlackLives"),),
    )
    line = post.to_json()
    assert PreparedPost.model_validate_json(line) == post
    assert '"hashtags":[{"words":["black","lives"],"written":"#BlackLives"}]' in line
    assert "user" not in line


def test_hashtags_are_the_same_by_their_letters():
    assert Hashtag(("covid", "19"), "#COVID_19").key == Hashtag(("covid19",), "#covid19").key
