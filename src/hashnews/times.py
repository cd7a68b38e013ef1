"""Times as the store keeps them, and which of them can be believed.

A moment is a whole number of microseconds since 1970 in UTC, beside the zone it was given in.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

from hashnews.errors import DataError
from hashnews.records import DAY_END, DAY_START, Post, PreparedPost

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND, MINUTE, DAY = timedelta(microseconds=1), timedelta(minutes=1), timedelta(days=1)
A_DAY = DAY // MICROSECOND
UNDATED, FUTURE = "no time of publication", "published in the future"
SLACK = timedelta(minutes=10)  # between the clocks of two honest machines


def microseconds(moment: datetime) -> int:
    """A time as the store keeps it."""
    return (moment - EPOCH) // MICROSECOND


def moment_of(microseconds: int, zone: int = 0) -> datetime:
    """The time again, in the zone it was given in (minutes east of UTC)."""
    moment = EPOCH + timedelta(microseconds=microseconds)
    return moment.astimezone(timezone(timedelta(minutes=zone))) if zone else moment


def time_of(
    post: Post | PreparedPost,
    remedy: str = "without it nothing can be its past",
    path: str | Path | None = None,
) -> datetime:
    """When a post was written; a post without a time is refused."""
    if post.created_at is None:
        raise DataError(f"post {post.id} has no created_at: {remedy}", path)
    return post.created_at


def day_of(moment: datetime) -> int:
    """The day of a time in UTC, counted from 1970."""
    return microseconds(moment) // A_DAY


def date_of(day: int) -> date:
    """The date of a day counted from 1970."""
    return EPOCH.date() + timedelta(days=day)


def is_bare_day(moment: datetime) -> bool:
    """Whether a time stands for "some time that day"."""
    return moment.timetz() == DAY_END


def is_future(moment: datetime, now: datetime) -> bool:
    """Whether a date cannot be true yet; a day without an hour can as soon as it is that day."""
    begins = datetime.combine(moment.date(), DAY_START) if is_bare_day(moment) else moment
    return begins > now + SLACK
