"""How often a written date is read too early: as before, by feedparser, and by `hashnews.dates`.

    python benchmarks/dates.py DATA/2020/news.jsonl.gz DATA/2021/news.jsonl.gz [--every 10]

The true moment of every tenth article is written in the ways feeds write dates, in a zone of its
country, and read again as if the feed had been fetched a quarter of an hour later. Too early is
what would let a post see an article that was not out yet.
"""

from __future__ import annotations

import argparse
import gzip
import json
import warnings
from calendar import timegm
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from statistics import median
from zlib import crc32
from zoneinfo import ZoneInfo

from feedparser.datetimes import _parse_date

from hashnews.dates import settle

AFTER = timedelta(minutes=15)
HERE = [f"America/{city}" for city in ("New_York", "Chicago", "Denver", "Los_Angeles")]
HERE += ["Pacific/Honolulu", "America/Anchorage"]
ELSEWHERE = [
    "Europe/London", "Europe/Berlin", "Asia/Kolkata", "Australia/Sydney", "America/Sao_Paulo",
    "Asia/Tokyo", "Pacific/Auckland", "Africa/Johannesburg", "America/Argentina/Buenos_Aires",
]  # fmt: skip
FORMS: dict[str, Callable[[datetime], str]] = {
    "Mon, 01 Jun 2020 20:00:00 GMT": lambda m: f"{m.astimezone(UTC):%a, %d %b %Y %H:%M:%S} GMT",
    "Mon, 01 Jun 2020 20:00:00 -0700": lambda m: f"{m:%a, %d %b %Y %H:%M:%S %z}",
    "Mon, 01 Jun 2020 20:00:00 PDT": lambda m: f"{m:%a, %d %b %Y %H:%M:%S %Z}",
    "Mon, 01 Jun 2020 20:00:00": lambda m: f"{m:%a, %d %b %Y %H:%M:%S}",
    "Mon, 1 Jun 2020 8:00:00 PM PDT": lambda m: f"{m:%a, %d %b %Y %I:%M:%S %p %Z}",
    "Mon, 01 Jun 2020 20:00:00 UTC-07:00": lambda m: (
        f"{m:%a, %d %b %Y %H:%M:%S} UTC{m:%z}"[:-2] + f":{m:%z}"[-2:]
    ),
    "2020-06-01T20:00:00-07:00": lambda m: m.isoformat(),
    "2020-06-01T20:00:00": lambda m: f"{m:%Y-%m-%dT%H:%M:%S}",
    "2020-06-01 20:00:00 PDT": lambda m: f"{m:%Y-%m-%d %H:%M:%S %Z}",
    "2020-06-01T20:00-07:00": lambda m: m.isoformat(timespec="minutes"),
    "June 1, 2020 8:00 PM PDT": lambda m: f"{m:%B %d, %Y %I:%M %p %Z}",
    "06/01/2020 20:00:00": lambda m: f"{m:%m/%d/%Y %H:%M:%S}",
    "2020-06-01": lambda m: f"{m:%Y-%m-%d}",
    "06/01/2020": lambda m: f"{m:%m/%d/%Y}",
    "2020-06": lambda m: f"{m:%Y-%m}",
    "2020": lambda m: f"{m:%Y}",
    "1591066800": lambda m: str(int(m.timestamp())),
    "Mon Jun 01 2020 20:00:00 GMT-0700": lambda m: f"{m:%a %b %d %Y %H:%M:%S} GMT{m:%z}",
}
DAY_END = time(23, 59, 59, 999_999, UTC)


def before(written: str, seen: datetime) -> datetime:
    """The moment as it was read: feedparser's, a date without a colon as the day's end in UTC."""
    parsed = _parse_date(written)
    if parsed is None:
        return seen
    moment = datetime.fromtimestamp(timegm(parsed), UTC)
    if ":" in written:
        return moment
    return min(datetime.combine(moment.date(), DAY_END), seen)


def after(written: str, seen: datetime) -> datetime:
    """The moment as it is read now."""
    return settle([written], seen)


def main() -> None:
    """Print one row a form."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("news", nargs="+")
    parser.add_argument("--every", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    moments, articles, bare = [], 0, 0
    for path in options.news:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                article = json.loads(line)
                articles += 1
                bare += "T" not in article["published_at"]
                if number % options.every == 0 and "T" in article["published_at"]:
                    zones = HERE if article.get("us") else ELSEWHERE
                    zone = zones[crc32(article["id"].encode()) % len(zones)]
                    moment = datetime.fromisoformat(article["published_at"])
                    moments.append(moment.astimezone(ZoneInfo(zone)))
    print(f"{articles:,} articles, {bare:,} with a day only; {len(moments):,} moments written "
          f"in {len(FORMS)} ways\n")  # fmt: skip
    print("| form | too early before | by (median) | now | later than true, median, now |")
    print("|---|---|---|---|---|")
    sums = [0, 0]
    for name, write in FORMS.items():
        told = []
        for read in (before, after):
            away = [(read(write(m), m + AFTER) - m).total_seconds() / 3600 for m in moments]
            told.append(([-hours for hours in away if hours < 0], median(away)))
        (early, _), (still, late) = told
        sums[0] += len(early)
        sums[1] += len(still)
        by = f"{median(early):,.2f} h" if early else ""
        shares = [f"{len(part) / len(moments):.1%}" for part in (early, still)]
        print(f"| `{name}` | {shares[0]} | {by} | {shares[1]} | {max(0.0, late) * 60:.0f} min |")
    total = len(moments) * len(FORMS)
    print(f"| all | {sums[0] / total:.1%} | | {sums[1] / total:.1%} ({sums[1]:,}) | |")


if __name__ == "__main__":
    main()
