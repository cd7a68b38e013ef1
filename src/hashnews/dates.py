"""Dates as strangers write them: each is read as the span of moments that it can mean.

A time of publication may be too late, never too early. So what a date leaves open counts as late
as it can be: without a zone it is the last place on Earth to get there (UTC-12), without an hour
the end of the day, 07/06 is the later of June and July. What cannot be understood whole is no
date. `settle` is the one door through which such dates come in.
"""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from itertools import chain
from typing import NamedTuple

from hashnews.errors import DataError
from hashnews.records import FIRST_YEAR, LAST_YEAR
from hashnews.times import EPOCH, FUTURE, SLACK, UNDATED

LONGEST = 100  # characters of a date
# The beginnings of time of databases, Macs, Unix and DOS: written where no date is known, in any
# zone and shifted by any.
ZEROS = [datetime(year, 1, 1, tzinfo=UTC) for year in (1900, 1904, 1970, 1980)]
NEAR_ZERO = timedelta(hours=36)
EVERYWHERE = (-12 * 60, 14 * 60)  # minutes east of UTC: the last zone to reach an hour, the first
# Zones by name, in hours east of UTC; where a name has several meanings, the least and the most.
ZONES = {
    name.lower(): (int(float(least) * 60), int(float((most or [least])[0]) * 60))
    for name, least, *most in (
        entry.split()
        for entry in """
        Z 0; UT 0; UTC 0; GMT 0; WET 0; WEST 1; BST 1 11; IST 1 5.5; CET 1; MEZ 1; CEST 2; MESZ 2;
        WAT 1; CAT 2; SAST 2; EET 2; EEST 3; MSK 3; MSD 4; EAT 3; TRT 3; IDT 3; GST -2 4; PKT 5;
        NPT 5.75; ICT 7; WIB 7; WITA 8; WIT 9; SGT 8; HKT 8; AWST 8; JST 9; KST 9; ACST 9.5;
        ACDT 10.5; AEST 10; AEDT 11; NZST 12; NZDT 13; EST -5 11; EDT -4 11; ET -5 -4; CST -6 10.5;
        CDT -5 10.5; CT -6 -5; MST -7 8; MDT -6; MT -7 -6; PST -8 8; PDT -7; PT -8 -7; AKST -9;
        AKDT -8; HST -10; HDT -9; AST -4 3; ADT -3 4; NST -3.5 12; NDT -2.5; BRT -3; BRST -2;
        ART -3; CLT -4; CLST -3; COT -5; PET -5 12; VET -4; UYT -3; BOT -4
        """.split(";")
    )
}
# Months by name, accents left out; English is asked first, then all others together.
ENGLISH = "january february march april may june july august september october november december"
OTHERS = """
januar februar marz april mai juni juli august september oktober november dezember
janner feber maerz april mai juni juli august september oktober november dezember
janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro
januari februari maart april mei juni juli augustus september oktober november december
januari februari mars april maj juni juli augusti september oktober november desember
stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia
ledna unora brezna dubna kvetna cervna cervence srpna zari rijna listopadu prosince
sijecnja veljace ozujka travnja svibnja lipnja srpnja kolovoza rujna listopada studenoga prosinca
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
январь февраль март апрель маи июнь июль август сентябрь октябрь ноябрь декабрь
ocak subat mart nisan mayıs haziran temmuz agustos eylul ekim kasım aralık
januar februar marcius aprilis majus junius julius augusztus szeptember oktober november december
ιανουαριου φεβρουαριου μαρτιου απριλιου μαιου ιουνιου ιουλιου αυγουστου σεπτεμβριου οκτωβριου νοεμβριου δεκεμβριου
ιανουαριος φεβρουαριος μαρτιος απριλιος μαιος ιουνιος ιουλιος αυγουστος σεπτεμβριος οκτωβριος νοεμβριος δεκεμβριος
januari februari maret april mei juni juli agustus september oktober november desember
"""  # noqa: E501
HALVES = {
    **dict.fromkeys(("am", "a.m.", "a.m", "오전", "上午", "午前", "πμ", "π.μ."), 0),
    **dict.fromkeys(("pm", "p.m.", "p.m", "오후", "下午", "午後", "μμ", "μ.μ."), 12),
}
HALF = "|".join(map(re.escape, sorted(HALVES, key=len, reverse=True)))
MONTH = r"([^\W\d_]{3,})\.?"
NTH = r"(?:st|nd|rd|th|er|\.|º|ª)?"
YEAR = r"('?\d\d|\d{4})"

WEEKDAY = re.compile(
    r"(?:([^\W\d_]+)\.?,|(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\.?)\s+"
)
RUN_TOGETHER = re.compile(r"(\d{4})(\d\d)(\d\d)[t ]?(\d\d)(\d\d)(\d\d)?(?!\d)")
CLOCK = re.compile(
    rf"(?:({HALF})\s*)?(?<!\d)(?<!\d[:.,])(\d{{1,2}})"
    rf"(?:[:h](\d\d)(?!\d)(?::(\d\d)(?!\d)(?:[.,](\d{{1,6}})\d*)?)?(?!:)(?:\s*({HALF})(?![^\W\d_]))?"
    rf"|\s*({HALF})(?!\s*\d)|(?<=t\d\d)(?=z|[+-]|$))"
)
WITH_ZONE = re.compile(r"(\d{4}-\d\d-\d\d)\s?(z|utc|gmt|[+-]\d\d:\d\d)")
COMMENT = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
OFFSET = re.compile(r"(?:utc|gmt)?\s*([+-])(\d{1,2})(?::?(\d\d))?(?::?\d\d)?(?![\d:-])")
WORD = re.compile(r"[a-z]{1,5}(?![\w.])|[a-z_]+/[a-z0-9_/+-]+")
BETWEEN = re.compile(r"(?:[\s,;|·@-]|\b(?:at|um|kl\.?|à|t)(?=\s*$)|(?<=\d)t(?=\s*$))+$")
EPOCH_NUMBER = re.compile(r"(?:/date\()?(\d{9,10}|\d{13})(?:\.\d+)?(?:[+-]\d{4})?(?:\)/)?")


class Meant(NamedTuple):
    """The span of moments that a date can mean: the first and the last."""

    earliest: datetime
    latest: datetime


def settle(claims: Sequence[str], seen: datetime | None) -> datetime:
    """When something was published: as late as its claims allow, and no later than it was seen.

    Without a claim it counts from the moment it was seen: then it cannot reach an earlier post.
    Claims that contradict each other count as the later one. One that cannot be true yet is
    refused.
    """
    spans = [span for claim in claims if (span := read_date(claim)) is not None]
    if not spans:
        if seen is None:
            raise DataError(UNDATED)
        return seen
    claimed, bound = agreed(spans), seen or datetime.now(UTC)
    if claimed.earliest > bound + SLACK:
        raise DataError(FUTURE)
    return min(claimed.latest, max(bound, claimed.earliest))


def agreed(spans: Sequence[Meant]) -> Meant:
    """What all spans have in common with the one that ends last."""
    latest_first = sorted(spans, key=lambda span: span.latest, reverse=True)
    common = latest_first[0]
    for span in latest_first[1:]:
        if span.latest >= common.earliest:
            common = Meant(max(common.earliest, span.earliest), min(common.latest, span.latest))
    return common


def read_date(written: str) -> Meant | None:
    """The moments that a written date can mean; None where it cannot be understood whole.

    None, too, where it stands for no date.
    """
    span = _span(written)
    is_zero = span is not None and any(
        abs(span.latest - zero) <= NEAR_ZERO and zero - span.earliest <= 2 * NEAR_ZERO
        for zero in ZEROS  # not a whole year or month that ends there
    )
    return None if is_zero else span


def _span(written: str) -> Meant | None:
    text = _plain(written)
    if text is None:
        return None
    if number := EPOCH_NUMBER.fullmatch(text):
        return _hull([*_of_epoch(number[1]), *_of_run(text)])
    text = RUN_TOGETHER.sub(_apart, text)
    text = text[weekday.end() :] if (weekday := _weekday(text)) else text
    found = None if WITH_ZONE.fullmatch(text) else CLOCK.search(text)
    if found is None:
        return _hull(_whole_days(text))
    rest, zones, has_words = _zones(text[found.end() :])
    day = BETWEEN.sub("", text[: found.start()])
    return _hull(_clocked(f"{day} {rest}".strip(" ,;."), found, zones, has_words))


def _plain(written: str) -> str | None:
    """Small letters without accents, one space between words."""
    if len(written) > LONGEST:
        return None
    # The dotted capital I of Turkish would become two signs.
    folded = unicodedata.normalize("NFKD", written.replace("İ", "i").lower())
    text = "".join(sign for sign in folded if not unicodedata.combining(sign))
    text = unicodedata.normalize("NFC", text).translate({0x2212: "-", 0x2010: "-", 0x2011: "-"})
    return " ".join(text.split())


def _weekday(text: str) -> re.Match[str] | None:
    """The name of a day at the beginning; any word before a comma may be one, but no month."""
    found = WEEKDAY.match(text)
    return None if found is None or (found[1] and _months(found[1])) else found


def _apart(run: re.Match[str]) -> str:
    year, month, day, hour, minute, second = run.groups()
    return f"{year}-{month}-{day} {hour}:{minute}" + (f":{second}" if second else "")


# ----- the day -----

DAY_FORMS = [
    (re.compile(r"(\d{4})\s?[-/.年년]\s?(\d{1,2})\s?[-/.月월]\s?(\d{1,2})\s?[.日일]?"), "ymd"),
    (re.compile(r"(\d{4})(\d\d)(\d\d)"), "ymd"),
    (re.compile(r"(\d{1,2})\s?[-/.]\s?(\d{1,2})\s?[-/.]\s?(\d{4})\.?"), "dmy mdy"),
    (re.compile(r"(\d{1,2})\s?[-/.]\s?(\d{1,2})\s?[-/.]\s?(\d\d)\.?"), "dmy mdy ymd"),
    (re.compile(rf"(\d{{1,2}}){NTH}[\s/.-]*(?:(?:of|de)\s)?{MONTH},?[\s/.-]*(?:(?:of|del?)\s)?"
                rf"{YEAR}\.?"), "dmy ymd"),
    (re.compile(rf"{MONTH}[\s/-]*(\d{{1,2}}){NTH}(?:,\s*|[\s/-]+){YEAR}"), "mdy"),
    (re.compile(rf"(\d{{4}})[\s/.-]*{MONTH}[\s/.-]*(\d{{1,2}}){NTH}"), "ymd"),
    (re.compile(r"(\d{4})\s?[-/.年년]\s?(\d{1,2})[月월]?"), "ym"),
    (re.compile(r"(\d{1,2})[/.-](\d{4})"), "my"),
    (re.compile(rf"{MONTH},?[\s/-]*(?:(?:of|del?)\s)?(\d{{4}})"), "my"),
    (re.compile(r"(\d{4})[年년]?"), "y"),
    (re.compile(r"(\d{4})-?w(\d\d)(?:-?([1-7]))?"), "ywd"),
    (re.compile(r"(\d{4})-?(\d{3})"), "yn"),
]  # fmt: skip


def _days(text: str) -> list[tuple[date, date]]:
    """All first and last days that a date without an hour can mean."""
    for form, orders in DAY_FORMS:
        if (found := form.fullmatch(text)) is not None:
            readings = chain.from_iterable(_read(found.groups(), order) for order in orders.split())
            return list(readings)
    return []


def _read(parts: Sequence[str | None], order: str) -> list[tuple[date, date]]:
    values = {kind: part for kind, part in zip(order, parts, strict=True) if part is not None}
    year = _year(values["y"])
    if year is None or len(values.get("d", "")) > 2:
        return []
    try:
        if "w" in values:
            first = date.fromisocalendar(year, int(values["w"]), int(values.get("d", "1")))
            return [(first, first if "d" in values else first + timedelta(days=6))]
        if "n" in values:
            first = date(year, 1, 1) + timedelta(days=int(values["n"]) - 1)
            return [(first, first)] if first.year == year else []
        if "m" not in values:
            return [(date(year, 1, 1), date(year, 12, 31))]
        return [_in_month(year, month, values.get("d")) for month in _months(values["m"])]
    except ValueError:
        return []


def _in_month(year: int, month: int, day: str | None) -> tuple[date, date]:
    if day is None:
        return date(year, month, 1), date(year, month, monthrange(year, month)[1])
    return date(year, month, int(day)), date(year, month, int(day))


def _year(written: str) -> int | None:
    """Of two digits as RFC 2822 has it; None for what stands for no date (0001, 9999)."""
    year = int(written.lstrip("'"))
    if len(written) < 4:
        year += 2000 if year < 50 else 1900
    return year if FIRST_YEAR <= year <= LAST_YEAR else None


def _months(written: str) -> list[int]:
    """The months of a number, or of a name or its beginning."""
    if written.isdecimal():
        return [int(written)] if 1 <= int(written) <= 12 else []
    if len(written) < 3:
        return []
    for names in (ENGLISH.split(), OTHERS.split()):
        if found := {at % 12 + 1 for at, name in enumerate(names) if name.startswith(written)}:
            return sorted(found)
    return [9] if written == "sept" else []


# ----- the hour and the zone -----


def _zones(text: str) -> tuple[str, tuple[int, int], bool]:
    """What follows the hour: the rest, the zones that are meant, and whether words are unknown."""
    rest, least, most, has_words = COMMENT.sub(" ", text).strip(" ,;"), 10**6, -(10**6), False
    while True:
        if found := OFFSET.match(rest):
            minutes = int(found[2]) * 60 + int(found[3] or 0)
            meant = (minutes, minutes) if found[1] == "+" else (-minutes, -minutes)
            if not EVERYWHERE[0] <= meant[0] <= EVERYWHERE[1]:
                meant = EVERYWHERE
        elif (found := WORD.match(rest)) and not _months(found[0]):
            known = ZONES.get(found[0])
            if known is None and WEEKDAY.match(rest):
                break
            meant, has_words = known or EVERYWHERE, has_words or known is None
        else:
            break
        least, most = min(least, meant[0]), max(most, meant[1])
        rest = rest[found.end() :].lstrip(" ,;")
    return rest, (least, most) if least <= most else EVERYWHERE, has_words


def _clocked(
    day: str, clock: re.Match[str], zones: tuple[int, int], has_words: bool
) -> list[Meant]:
    """The moments of an hour on each day that is meant."""
    before, hours, minutes, seconds, fraction, after, alone = clock.groups()
    hour, half = int(hours), HALVES.get(before or after or alone or "")
    if half is not None:
        if not 1 <= hour <= 12:
            half = None  # 20:00 PM
        else:
            hour = hour % 12 + half
    first = timedelta(hours=hour, minutes=int(minutes or 0), seconds=int(seconds or 0))
    last = first + timedelta(minutes=0 if minutes else 59, seconds=0 if seconds else 59)
    if hour > 24 or int(minutes or 0) > 59 or int(seconds or 0) > 60 or first > timedelta(days=1):
        return []
    if fraction:
        first = last = first + timedelta(microseconds=int(fraction.ljust(6, "0")))
    if has_words and half is None and 1 <= hour <= 12:
        last += timedelta(hours=12)  # the word may be another language's "in the evening"
    return [
        Meant(_moment(begins, first, zones[1], zones), _moment(begins, last, zones[0], zones))
        for begins, ends in _days(WEEKDAY.sub("", day, count=1) if _weekday(day) else day)
        if begins == ends
    ]


def _moment(day: date, clock: timedelta, offset: int, zones: tuple[int, int]) -> datetime:
    """An hour of a day in one zone; told in it where no other can be meant."""
    moment = datetime.combine(day, time(), timezone(timedelta(minutes=offset))) + clock
    return moment if zones[0] == zones[1] != 0 else moment.astimezone(UTC)


def _whole_days(text: str) -> list[Meant]:
    """A day, month or year as a whole; a day may have a zone behind it, as in XML."""
    zones = EVERYWHERE
    if with_zone := WITH_ZONE.fullmatch(text):
        text, (_, zones, _) = with_zone[1], _zones(with_zone[2])
    a_day = timedelta(days=1, microseconds=-1)
    return [
        Meant(_moment(begins, timedelta(), zones[1], zones), _moment(ends, a_day, zones[0], zones))
        for begins, ends in _days(text.strip(" ,;"))
    ]


def _of_epoch(digits: str) -> list[Meant]:
    """Seconds or milliseconds since 1970."""
    seconds = int(digits) / (1000 if len(digits) == 13 else 1)
    moment = EPOCH + timedelta(seconds=seconds)
    return [Meant(moment, moment)] if moment.year <= LAST_YEAR else []


def _of_run(digits: str) -> list[Meant]:
    """Ten digits may also be a day and an hour run together."""
    if not re.fullmatch(r"\d{10}", digits):
        return []
    return _hull_list(read_date(f"{digits[:4]}-{digits[4:6]}-{digits[6:8]} {digits[8:]}:00"))


def _hull_list(span: Meant | None) -> list[Meant]:
    return [] if span is None else [span]


def _hull(spans: Sequence[Meant]) -> Meant | None:
    """From the first moment that any reading gives to the last."""
    if not spans:
        return None
    return Meant(min(span.earliest for span in spans), max(span.latest for span in spans))
