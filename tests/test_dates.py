"""Written dates: each form beside the latest moment that it can mean, worked out by hand."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hashnews.dates import ZEROS, ZONES, agreed, read_date, settle
from hashnews.errors import DataError
from hashnews.records import parse_time, write_time

# The form, and the latest moment it can mean, in UTC; `-`: it is no date that can be trusted.
FORMS = """
Mon, 01 Jun 2020 20:00:00 GMT                    | 2020-06-01T20:00:00
Mon, 01 Jun 2020 20:00:00 +0000                  | 2020-06-01T20:00:00
Mon, 01 Jun 2020 20:00:00 -0000                  | 2020-06-01T20:00:00
Mon, 01 Jun 2020 20:00:00 +0200                  | 2020-06-01T18:00:00
Mon, 01 Jun 2020 20:00:00 -0700                  | 2020-06-02T03:00:00
Mon, 01 Jun 2020 20:00:00 -07:00                 | 2020-06-02T03:00:00
Mon, 01 Jun 2020 20:00:00 +05:30                 | 2020-06-01T14:30:00
Mon, 01 Jun 2020 20:00:00 +2                     | 2020-06-01T18:00:00
Mon, 01 Jun 2020 20:00:00 -7                     | 2020-06-02T03:00:00
Mon, 01 Jun 2020 20:00:00 -700                   | 2020-06-02T03:00:00
Mon, 01 Jun 2020 20:00:00 +02                    | 2020-06-01T18:00:00
Mon, 01 Jun 2020 20:00:00 UT                     | 2020-06-01T20:00:00
Mon, 01 Jun 2020 20:00:00 UTC                    | 2020-06-01T20:00:00
Mon, 01 Jun 2020 20:00:00 Z                      | 2020-06-01T20:00:00
Mon, 01 Jun 2020 20:00:00 EST                    | 2020-06-02T01:00:00
Mon, 01 Jun 2020 20:00:00 EDT                    | 2020-06-02T00:00:00
Mon, 01 Jun 2020 20:00:00 CST                    | 2020-06-02T02:00:00
Mon, 01 Jun 2020 20:00:00 CDT                    | 2020-06-02T01:00:00
Mon, 01 Jun 2020 20:00:00 MST                    | 2020-06-02T03:00:00
Mon, 01 Jun 2020 20:00:00 MDT                    | 2020-06-02T02:00:00
Mon, 01 Jun 2020 20:00:00 PST                    | 2020-06-02T04:00:00
Mon, 01 Jun 2020 20:00:00 PDT                    | 2020-06-02T03:00:00
Mon, 01 Jun 2020 20:00:00 HST                    | 2020-06-02T06:00:00
Mon, 01 Jun 2020 20:00:00 AKDT                   | 2020-06-02T04:00:00
Mon, 01 Jun 2020 20:00:00 BRT                    | 2020-06-01T23:00:00
Mon, 01 Jun 2020 20:00:00 ART                    | 2020-06-01T23:00:00
Mon, 01 Jun 2020 20:00:00 ET                     | 2020-06-02T01:00:00
Mon, 01 Jun 2020 20:00:00 PT                     | 2020-06-02T04:00:00
Mon, 01 Jun 2020 20:00:00 BST                    | 2020-06-01T19:00:00
Mon, 01 Jun 2020 20:00:00 CEST                   | 2020-06-01T18:00:00
Mon, 01 Jun 2020 20:00:00 MESZ                   | 2020-06-01T18:00:00
Mon, 01 Jun 2020 20:00:00 IST                    | 2020-06-01T19:00:00
Mon, 01 Jun 2020 20:00:00 JST                    | 2020-06-01T11:00:00
Mon, 01 Jun 2020 20:00:00 AEST                   | 2020-06-01T10:00:00
Mon, 01 Jun 2020 20:00:00 NZST                   | 2020-06-01T08:00:00
Mon, 01 Jun 2020 20:00:00 XYZT                   | 2020-06-02T08:00:00
Mon, 01 Jun 2020 08:00:00 XYZT                   | 2020-06-02T08:00:00
Mon, 01 Jun 2020 20:00:00 A                      | 2020-06-02T08:00:00
Mon, 01 Jun 2020 20:00:00                        | 2020-06-02T08:00:00
Mon, 01 Jun 2020 20:00 GMT                       | 2020-06-01T20:00:59
Mon, 01 Jun 2020 20:00 +0200                     | 2020-06-01T18:00:59
Mon, 1 Jun 2020 20:00:00 GMT                     | 2020-06-01T20:00:00
Mon,01 Jun 2020 20:00:00 GMT                     | -
Mon, 01 Jun 20 20:00:00 GMT                      | 2020-06-01T20:00:00
Mon, 01 Jun 2020                                 | 2020-06-02T11:59:59.999999
01 Jun 2020 20:00:00 GMT                         | 2020-06-01T20:00:00
01 June 2020 20:00:00 GMT                        | 2020-06-01T20:00:00
Monday, 01-Jun-20 20:00:00 GMT                   | 2020-06-01T20:00:00
Monday, 1 June 2020 20:00:00 GMT                 | 2020-06-01T20:00:00
Mon Jun  1 20:00:00 2020                         | 2020-06-02T08:00:00
Mon Jun 01 20:00:00 UTC 2020                     | 2020-06-01T20:00:00
Mon Jun 1 20:00:00 PDT 2020                      | 2020-06-02T03:00:00
Mon Jun 01 20:00:00 +0200 2020                   | 2020-06-01T18:00:00
Mon Jun 01 2020 20:00:00 GMT-0700 (Pacific Daylight Time) | 2020-06-02T03:00:00
Mon Jun 01 2020 20:00:00 GMT+0200 (CEST)         | 2020-06-01T18:00:00
Mon, 01 Jun 2020 20:00:00 +0200 (CEST)           | 2020-06-01T18:00:00
Mon, 01 Jun 2020 20:00:00 UTC-07:00              | 2020-06-02T03:00:00
Mon, 01 Jun 2020 20:00:00 GMT+2                  | 2020-06-01T18:00:00
Mon, 01 Jun 2020 20:00:00 GMT +0200              | 2020-06-01T18:00:00
Mon, 01 Jun 2020 20:00:00 UTC+5:30               | 2020-06-01T14:30:00
Mon, 01 Jun 2020 20:00:00 America/New_York       | 2020-06-02T08:00:00
Mon, 01 Jun 2020 20:00:00 +9999                  | 2020-06-02T08:00:00
Mon, 01 Jun 2020 20:00:00 +99999999999999999999  | -
Mon, 01 Jun 2020 20:00:00 +0200 PDT              | 2020-06-02T03:00:00
Mon, 1 Jun 2020 8:00:00 PM EST                   | 2020-06-02T01:00:00
Mon, 1 Jun 2020 8:00 PM EST                      | 2020-06-02T01:00:59
Mon, 1 Jun 2020 8 PM EST                         | 2020-06-02T01:59:59
Mon, 1 Jun 2020 8:00pm PDT                       | 2020-06-02T03:00:59
Mon, 1 Jun 2020 8:00 p.m. EDT                    | 2020-06-02T00:00:59
Mon, 1 Jun 2020 8:00:00 AM GMT                   | 2020-06-01T08:00:00
Mon, 1 Jun 2020 12:00:00 AM GMT                  | 2020-06-01T00:00:00
Mon, 1 Jun 2020 12:00:00 PM GMT                  | 2020-06-01T12:00:00
Mon, 1 Jun 2020 12:30 AM GMT                     | 2020-06-01T00:30:59
Mon, 1 Jun 2020 20:00 PM GMT                     | 2020-06-01T20:00:59
Mon, 01 Jun 2020 24:00:00 GMT                    | 2020-06-02T00:00:00
Mon, 01 Jun 2020 23:59:60 GMT                    | 2020-06-02T00:00:00
Mon, 01 Jun 2020 25:00:00 GMT                    | -
Mon, 01 Jun 2020 20:61:00 GMT                    | -
Mon, 31 Jun 2020 20:00:00 GMT                    | -
Mon, 01 Jun 2020 20:00:00.250 GMT                | 2020-06-01T20:00:00.250000
2020-06-01T20:00:00Z                             | 2020-06-01T20:00:00
2020-06-01t20:00:00z                             | 2020-06-01T20:00:00
2020-06-01T20:00:00+02:00                        | 2020-06-01T18:00:00
2020-06-01T20:00:00-07:00                        | 2020-06-02T03:00:00
2020-06-01T20:00:00+0200                         | 2020-06-01T18:00:00
2020-06-01T20:00:00+02                           | 2020-06-01T18:00:00
2020-06-01T20:00:00.123Z                         | 2020-06-01T20:00:00.123000
2020-06-01T20:00:00.123456789Z                   | 2020-06-01T20:00:00.123456
2020-06-01T20:00:00,5Z                           | 2020-06-01T20:00:00.500000
2020-06-01T20:00:00.000+0000                     | 2020-06-01T20:00:00
2020-06-01T20:00Z                                | 2020-06-01T20:00:59
2020-06-01T20:00+02:00                           | 2020-06-01T18:00:59
2020-06-01T20Z                                   | 2020-06-01T20:59:59
2020-06-01T20:00:00                              | 2020-06-02T08:00:00
2020-06-01T20:00                                 | 2020-06-02T08:00:59
2020-06-01 20:00:00                              | 2020-06-02T08:00:00
2020-06-01 20:00:00Z                             | 2020-06-01T20:00:00
2020-06-01 20:00:00 UTC                          | 2020-06-01T20:00:00
2020-06-01 20:00:00 PDT                          | 2020-06-02T03:00:00
2020-06-01 20:00:00 +0200                        | 2020-06-01T18:00:00
2020-06-01 20:00:00 +0200 CEST                   | 2020-06-01T18:00:00
2020-06-01 20:00:00.0 +02:00                     | 2020-06-01T18:00:00
2020-06-01 8:00 PM                               | 2020-06-02T08:00:59
2020-06-01 08:00:00 PM                           | 2020-06-02T08:00:00
2020-06-01T20:00:00+02:00[Europe/Berlin]         | 2020-06-01T18:00:00
2020-06-01T20:00:00Z[UTC]                        | 2020-06-01T20:00:00
2020-06-01T20:00:00-00:00                        | 2020-06-01T20:00:00
2020-06-01T20:00:00−07:00                        | 2020-06-02T03:00:00
2020-06-01T20:00:00+15:00                        | 2020-06-02T08:00:00
2020-06-01T20:00:00-13:00                        | 2020-06-02T08:00:00
2020-06-01T20:00:00Z-07:00                       | 2020-06-02T03:00:00
2020-6-1T20:00:00Z                               | 2020-06-01T20:00:00
2020-06-01T9:05:00Z                              | 2020-06-01T09:05:00
2020-06-01                                       | 2020-06-02T11:59:59.999999
2020-06-01Z                                      | 2020-06-01T23:59:59.999999
2020-06-01+02:00                                 | 2020-06-01T21:59:59.999999
2020/06/01                                       | 2020-06-02T11:59:59.999999
2020.06.01                                       | 2020-06-02T11:59:59.999999
2020. 06. 01.                                    | 2020-06-02T11:59:59.999999
2020/06/01 20:00:00 +0900                        | 2020-06-01T11:00:00
20200601                                         | 2020-06-02T11:59:59.999999
20200601T200000Z                                 | 2020-06-01T20:00:00
20200601T200000+0200                             | 2020-06-01T18:00:00
20200601T2000Z                                   | 2020-06-01T20:00:59
20200601200000                                   | 2020-06-02T08:00:00
202006012000                                     | 2020-06-02T08:00:59
2020-06                                          | 2020-07-01T11:59:59.999999
2020/06                                          | 2020-07-01T11:59:59.999999
06/2020                                          | 2020-07-01T11:59:59.999999
2020-02                                          | 2020-03-01T11:59:59.999999
2021-02                                          | 2021-03-01T11:59:59.999999
2020                                             | 2021-01-01T11:59:59.999999
June 2020                                        | 2020-07-01T11:59:59.999999
Jun, 2020                                        | 2020-07-01T11:59:59.999999
2020-W23                                         | 2020-06-08T11:59:59.999999
2020-W23-1                                       | 2020-06-02T11:59:59.999999
2020W231                                         | 2020-06-02T11:59:59.999999
2020-W54                                         | -
2020-153                                         | 2020-06-02T11:59:59.999999
2021-366                                         | -
2020-13-01                                       | -
2020-06-31                                       | -
2020-02-30T10:00:00Z                             | -
1591066800                                       | 2020-06-02T03:00:00
1591066800000                                    | 2020-06-02T03:00:00
1591066800.5                                     | 2020-06-02T03:00:00
999999999                                        | 2001-09-09T01:46:39
/Date(1591066800000)/                            | 2020-06-02T03:00:00
/Date(1591066800000-0700)/                       | 2020-06-02T03:00:00
07/06/2020                                       | 2020-07-07T11:59:59.999999
13/06/2020                                       | 2020-06-14T11:59:59.999999
06/13/2020                                       | 2020-06-14T11:59:59.999999
13/13/2020                                       | -
7.6.2020                                         | 2020-07-07T11:59:59.999999
07-06-2020                                       | 2020-07-07T11:59:59.999999
07/06/2020 10:00:00 GMT                          | 2020-07-06T10:00:00
07/06/2020 10:00 AM                              | 2020-07-06T22:00:59
6/1/2020 8:00:00 PM                              | 2020-06-02T08:00:00
01/06/20                                         | 2020-06-02T11:59:59.999999
20-06-01                                         | 2020-06-02T11:59:59.999999
June 1, 2020                                     | 2020-06-02T11:59:59.999999
Jun 1, 2020                                      | 2020-06-02T11:59:59.999999
Jun. 1, 2020                                     | 2020-06-02T11:59:59.999999
June 1st, 2020                                   | 2020-06-02T11:59:59.999999
1st June 2020                                    | 2020-06-02T11:59:59.999999
1st of June 2020                                 | 2020-06-02T11:59:59.999999
1 June, 2020                                     | 2020-06-02T11:59:59.999999
1-Jun-2020                                       | 2020-06-02T11:59:59.999999
Sept 1, 2020                                     | 2020-09-02T11:59:59.999999
June 1, 2020 8:00 PM ET                          | 2020-06-02T01:00:59
June 1, 2020 at 8:00 p.m. EDT                    | 2020-06-02T00:00:59
Monday, June 1, 2020 8:00 PM                     | 2020-06-02T08:00:59
Mon June 1 2020                                  | 2020-06-02T11:59:59.999999
8:00 PM EDT, June 1, 2020                        | 2020-06-02T00:00:59
20:00, 1 June 2020                               | 2020-06-02T08:00:59
20:00 GMT, Monday, 1 June 2020                   | 2020-06-01T20:00:59
1. Juni 2020                                     | 2020-06-02T11:59:59.999999
1. März 2020                                     | 2020-03-02T11:59:59.999999
Mo, 01 Mai 2020 20:00:00 +0200                   | 2020-05-01T18:00:00
Fr, 01 Mai 2020 20:00:00 MESZ                    | 2020-05-01T18:00:00
1. Dezember 2020                                 | 2020-12-02T11:59:59.999999
lun., 01 juin 2020 20:00:00 +0200                | 2020-06-01T18:00:00
1er juillet 2020                                 | 2020-07-02T11:59:59.999999
1 jui 2020                                       | 2020-07-02T11:59:59.999999
1 août 2020                                      | 2020-08-02T11:59:59.999999
1 févr. 2020                                     | 2020-02-02T11:59:59.999999
lundi 1 juin 2020                                | -
1 juin 2020 20h00                                | 2020-06-02T08:00:59
1 de junio de 2020                               | 2020-06-02T11:59:59.999999
lun, 01 ene 2020 20:00:00 -0300                  | 2020-01-01T23:00:00
1 de março de 2020                               | 2020-03-02T11:59:59.999999
01 out 2020 20:00:00 -0300                       | 2020-10-01T23:00:00
1 giugno 2020                                    | 2020-06-02T11:59:59.999999
ven, 01 mag 2020 20:00:00 +0200                  | 2020-05-01T18:00:00
1 mei 2020                                       | 2020-05-02T11:59:59.999999
1 czerwca 2020                                   | 2020-06-02T11:59:59.999999
1 listopada 2020                                 | 2020-11-02T11:59:59.999999
1 června 2020                                    | 2020-06-02T11:59:59.999999
1 srpna 2020                                     | 2020-08-02T11:59:59.999999
1 июня 2020                                      | 2020-06-02T11:59:59.999999
Пн, 01 июн 2020 20:00:00 +0300                   | 2020-06-01T17:00:00
1 мая 2020                                       | 2020-05-02T11:59:59.999999
1 Haziran 2020                                   | 2020-06-02T11:59:59.999999
Κυρ, 11 Ιούλ 2004 12:00:00 EST                   | 2004-07-11T17:00:00
2004-július-13T9:15-05:00                        | 2004-07-13T14:15:59
2020年6月1日                                     | 2020-06-02T11:59:59.999999
2020年6月1日 20:00                               | 2020-06-02T08:00:59
2020年6月                                        | 2020-07-01T11:59:59.999999
2020년 6월 1일                                   | 2020-06-02T11:59:59.999999
2004-05-25 오후 11:23:17                         | 2004-05-26T11:23:17
2004-05-25 오전 11:23:17                         | 2004-05-25T23:23:17
2020/6/1 下午8:00                                | 2020-06-02T08:00:59
２０２０-06-01T20:00:00Z                         | 2020-06-01T20:00:00
June 1, 2020 8:00 soir                           | 2020-06-02T08:00:59
June 1, 2020 8:00 in the evening                 | -
Mon, 01 Jan 0001 00:00:00 +0000                  | -
0001-01-01T00:00:00Z                             | -
9999-12-31T23:59:59Z                             | -
1899-12-30                                       | -
Thu, 01 Jan 1970 00:00:00 GMT                    | -
Thu, 01 Jan 1970 01:00:00 +0100                  | -
Wed, 31 Dec 1969 19:00:00 -0500                  | -
1970-01-01T00:00:00-12:00                        | -
1970-01-01                                       | -
0000000000                                       | -
Mon, 01 Jan 1900 00:00:00 +0000                  | -
1904-01-01T00:00:00Z                             | -
1980-01-01 00:00:00                              | -
1970-01-03T00:00:00Z                             | 1970-01-03T00:00:00
2563-06-01                                       | -
0000-00-00                                       | -
0000-00-00 00:00:00                              | -
1 June                                           | -
20:00                                            | -
yesterday                                        | -
2 hours ago                                      | -
the day before yesterday                         | -
Updated 1 June 2020                              | -
before 1 June 2020                               | -
1 June 2020 - 3 June 2020                        | -
1 June 2020 20:00 - 21:00                        | -
1 June 2020 (updated 3 June 2020)                | -
2020-06-01T20:00:00Z 2020-06-03T20:00:00Z        | -
32 June 2020                                     | -
1 Foo 2020                                       | -
Spring 2020                                      | -
令和2年6月1日                                    | -
1/2/3/2020                                       | -
159106680                                        | 1975-01-16T12:18:00
15910668                                         | -
99999999999999999999                             | -
-1591066800                                      | -
12                                               | -
null                                             | -
"""
TABLE = [tuple(part.strip() for part in line.rsplit("|", 1)) for line in FORMS.split("\n") if line]
NOW = datetime(2020, 7, 15, 12, tzinfo=UTC)


def test_the_table_is_as_long_as_it_should_be():
    assert len({written for written, _ in TABLE}) >= 150


@pytest.mark.parametrize(("written", "expected"), TABLE)
def test_a_written_date_counts_as_the_latest_moment_it_can_mean(written, expected):
    span = read_date(written)
    latest = None if span is None else write_time(span.latest.astimezone(UTC))
    assert latest == (None if expected == "-" else expected + "Z")
    assert span is None or span.earliest <= span.latest


def test_dates_that_were_read_too_early():
    """Each stands in the table of findings: a feed's zone, half of the day, month or number."""
    for written, at_least in [
        ("Mon, 01 Jun 2020 20:00:00 HST", "2020-06-02T06:00:00Z"),
        ("Mon, 1 Jun 2020 8:00:00 PM EST", "2020-06-02T01:00:00Z"),
        ("2020-06-01 20:00:00 PDT", "2020-06-02T03:00:00Z"),
        ("2020-06-01T20:00:00", "2020-06-02T08:00:00Z"),
        ("2020-06", "2020-07-01T11:59:59Z"),
        ("2020", "2021-01-01T11:59:59Z"),
        ("1591066800", "2020-06-02T03:00:00Z"),
    ]:
        assert settle([written], None) >= parse_time(at_least, "end"), written


@pytest.mark.parametrize(
    ("claims", "seen", "published"),
    [
        (["2020-07-15T10:00:00Z"], NOW, "2020-07-15T10:00:00Z"),
        (["2020-07-15T10:00:00+02:00"], NOW, "2020-07-15T10:00:00+02:00"),
        (["2020-07-15"], NOW, "2020-07-15T12:00:00Z"),  # it was there by then
        (["2020-07-14"], NOW, "2020-07-15T11:59:59.999999Z"),
        (["2020-07-15T10:00:00"], NOW, "2020-07-15T12:00:00Z"),
        (["2020-07"], NOW, "2020-07-15T12:00:00Z"),
        (["2020"], NOW, "2020-07-15T12:00:00Z"),
        (["08/07/2020"], NOW, "2020-07-15T12:00:00Z"),  # August is not yet, July may be
        (["2020-07-16"], NOW, "2020-07-15T12:00:00Z"),  # in the east it is that day already
        (["2020-07-17"], NOW, "published in the future"),
        (["2020-07-15T12:09:00Z"], NOW, "2020-07-15T12:09:00Z"),  # clocks differ
        (["2020-07-15T12:30:00Z"], NOW, "published in the future"),
        ([], NOW, "2020-07-15T12:00:00Z"),
        (["soon"], NOW, "2020-07-15T12:00:00Z"),
        (["0001-01-01T00:00:00Z"], NOW, "2020-07-15T12:00:00Z"),
        (["9999-12-31T23:59:59Z"], NOW, "2020-07-15T12:00:00Z"),
        ([], None, "no time of publication"),
        (["Mon, 01 Jan 0001 00:00:00 +0000"], None, "no time of publication"),
        (["2020-06-03"], None, "2020-06-04T11:59:59.999999Z"),
        # A day and an hour of it agree; two hours do not.
        (["2020-07-06", "2020-07-06T10:00:00-04:00"], NOW, "2020-07-06T10:00:00-04:00"),
        (["2020-07-06T10:00:00Z", "2020-07-06T10:00:05Z"], NOW, "2020-07-06T10:00:05Z"),
        (["2019-01-02", "2020-07-06T10:00:00Z"], NOW, "2020-07-06T10:00:00Z"),
        (["2020-07-06T10:00:00", "2020-07-06T10:00:00-04:00"], NOW, "2020-07-06T10:00:00-04:00"),
    ],
)
def test_a_time_of_publication_is_settled(claims, seen, published):
    try:
        settled = write_time(settle(claims, seen))
    except DataError as error:
        settled = error.reason
    assert settled == published


ANY_DATE = (
    st.datetimes(datetime(1901, 1, 1), datetime(2199, 12, 1))
    .map(lambda moment: moment.replace(microsecond=0))
    .filter(lambda wall: all(abs(wall.replace(tzinfo=UTC) - z).days > 3 for z in ZEROS))
)
WRITTEN_AS = ["%a, %d %b %Y %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%d %B %Y %I:%M:%S %p", "%Y%m%d%H%M%S"]


@given(ANY_DATE, st.sampled_from(WRITTEN_AS), st.integers(-12 * 60, 14 * 60))
def test_a_date_with_an_offset_is_exactly_that_moment(wall, form, offset):
    sign = "+-"[offset < 0]
    zone = f"{sign}{abs(offset) // 60:02}{abs(offset) % 60:02}"
    span = read_date(f"{wall.strftime(form)} {zone}")
    assert span == (moment := wall.replace(tzinfo=UTC) - timedelta(minutes=offset), moment)


@given(ANY_DATE, st.sampled_from(WRITTEN_AS), st.sampled_from(sorted(ZONES)))
def test_no_meaning_of_a_zone_is_later_than_the_span(wall, form, zone):
    span = read_date(f"{wall.strftime(form)} {zone.upper()}")
    for minutes in ZONES[zone]:
        meant = wall.replace(tzinfo=UTC) - timedelta(minutes=minutes)
        assert span.earliest <= meant <= span.latest


@given(ANY_DATE, st.sampled_from(["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d %b %Y", "%Y-%m", "%Y"]),
       st.integers(-12 * 60, 14 * 60), st.integers(0, 86_399))  # fmt: skip
def test_nothing_that_a_day_can_mean_is_later_than_the_span(day, form, offset, second):
    meant = day.replace(hour=0, minute=0, second=0, tzinfo=UTC)
    meant += timedelta(seconds=second) - timedelta(minutes=offset)
    span = read_date(day.strftime(form))
    assert span.earliest <= meant <= span.latest


@given(st.text(max_size=120) | st.from_regex(r"[0-9:/.+ TZ()adempr-]{1,60}", fullmatch=True))
@example("1" * 99)
@example("9" * 10)
@example("2200-12-31T23:59:59-12:00")
@example("٢٠٢٠-٠٦-٠١")
@example("2020-06-01T20:00:00+" + "9" * 70)
def test_any_text_is_a_date_or_none(text):
    span = read_date(text)
    if span is not None and span.earliest <= NOW:
        assert span.earliest <= settle([text], NOW) <= NOW


@given(st.lists(st.sampled_from([read_date(w) for w, e in TABLE if e != "-"]), min_size=1))
def test_what_claims_agree_on_never_ends_before_all_of_them_could(spans):
    common = agreed(spans)
    assert max(span.earliest for span in spans) <= common.latest
    assert common.latest <= max(span.latest for span in spans)


@pytest.mark.parametrize("written", ["1969", "1969-12", "1903", "1979-12"])
def test_a_year_that_ends_at_a_zero_is_a_year(written):
    assert read_date(written) is not None
