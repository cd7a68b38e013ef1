"""Times as people and tools write them: `Nov 16, 2026 10:00 AM`, `16/11/2026`, seconds since 1970.

What has no zone is taken as UTC, as a bare day is; a bare day counts as its start.
`05/11/2026` may be two days: it is refused unless the file settles which number is the day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hashnews.records import parse_time
from hashnews.times import EPOCH

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
DAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
BETWEEN = frozenset({"at", "on", "of", "the"})
NUMBER = re.compile(r"\d{8,14}(?:\.\d+)?", re.ASCII)
MILLISECONDS = 10**11  # seconds up to the year 5138; more are milliseconds since 1973
ZONE = r"Z|UTC|GMT|(?:UTC|GMT)?[+-]\d\d:?\d\d"
CLOCK = re.compile(
    rf"(?<![\d:])(\d{{1,2}}):(\d\d)(?::(\d\d)(?:[.,]\d{{1,9}})?)?(?:\s*([AP])\.?M\b\.?)?"
    rf"(?:\s*({ZONE})(?![\d\w:]))?(?![\d:])",
    re.ASCII | re.IGNORECASE,
)
YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})", re.ASCII)
YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})", re.ASCII)
PIECE = re.compile(r"(\d+)(?:st|nd|rd|th)?(?![A-Za-z\d])|([A-Za-z]+)|([^\s,.])", re.ASCII)


def everyday_time(value: Any, day_first: bool | None = None) -> datetime:
    """The time that a text or a number means; ValueError where it means none, or two."""
    if isinstance(value, str):
        text = " ".join(value.replace("\u202f", " ").split())
        if NUMBER.fullmatch(text):
            return _since_1970(float(text))
        try:
            return parse_time(text, bare_day="utc")
        except ValueError:
            return _written(text, day_first)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _since_1970(value)
    return parse_time(value, bare_day="utc")


def day_order(values: Iterable[Any]) -> bool | None:
    """Whether the days come before the months in a file's dates; None where nothing says so."""
    before = after = False
    for value in values:
        if isinstance(value, str) and (found := YEAR_LAST.search(value)) and found[2] != ".":
            before |= int(found[1]) > 12
            after |= int(found[3]) > 12
    return before if before != after else None


def _since_1970(number: float) -> datetime:
    if not 0 <= number < 1000 * MILLISECONDS:
        raise ValueError(f"{number} is not a time in seconds since 1970")
    return EPOCH + timedelta(seconds=number / (1000 if number >= MILLISECONDS else 1))


def _written(text: str, day_first: bool | None) -> datetime:
    unknown = ValueError(f"{text[:40]!r} is not a time: write 2020-06-02T14:05:00Z or a day")
    text = re.sub(r"(?<=\d)[Tt](?=\d)", " ", text[:100])
    clock = CLOCK.search(text)
    rest = text if clock is None else f"{text[: clock.start()]} {text[clock.end() :]}"
    day = _day(rest.strip(" ,"), day_first)
    if day is None:
        raise unknown
    hour = minute = second = 0
    if clock is not None:
        hour, minute, second = int(clock[1]), int(clock[2]), int(clock[3] or 0)
        if half := (clock[4] or "").lower():
            if not 1 <= hour <= 12:
                raise unknown
            hour = hour % 12 + (12 if half == "p" else 0)
    try:
        zone = UTC if clock is None else _zone(clock[5] or "")
        moment = datetime(*day, hour, minute, second, tzinfo=zone)
    except ValueError as error:
        raise ValueError(f"{text[:40]!r} is not a time: {error}") from None
    return parse_time(moment, bare_day="utc")


def _zone(written: str) -> timezone:
    found = re.search(r"([+-])(\d\d):?(\d\d)", written)
    if found is None:
        return UTC
    offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
    return timezone(offset if found[1] == "+" else -offset)


def _day(text: str, day_first: bool | None) -> tuple[int, int, int] | None:
    """Year, month and day."""
    text = re.sub(rf"^(?:{'|'.join(day[:3] for day in DAYS)})[a-z]*\.?,? ", "", text, flags=re.I)
    if found := YEAR_FIRST.fullmatch(text):
        return int(found[1]), int(found[3]), int(found[4])
    if found := YEAR_LAST.fullmatch(text):
        first, second, year = int(found[1]), int(found[3]), int(found[4])
        if found[2] == "." or first > 12 or first == second:
            day_first = True
        elif second > 12:
            day_first = False
        if day_first is None:
            raise ValueError(f"{text!r} may be two days: write {year}-{second:02}-{first:02}")
        return (year, second, first) if day_first else (year, first, second)
    return _named_day(text)


def _named_day(text: str) -> tuple[int, int, int] | None:
    """Year, month and day of a date with the month as a word."""
    months, numbers = [], []
    for number, word, sign in PIECE.findall(text):
        if number:
            numbers.append(number)
        elif sign and sign != "-":
            return None
        elif word and word.lower() not in BETWEEN:
            named = [at for at, month in enumerate(MONTHS, 1) if _names(word.lower(), month)]
            if not named:
                return None
            months += named
    years = [number for number in numbers if len(number) == 4]
    days = [number for number in numbers if len(number) <= 2]
    if len(months) != 1 or len(years) != 1 or len(days) != 1 or len(numbers) != 2:
        return None
    return int(years[0]), months[0], int(days[0])


def _names(word: str, month: str) -> bool:
    return word in (month, month[:3]) or word == month[:4] == "sept"
