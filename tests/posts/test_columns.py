"""Files of other tools: which column is what, and times as people write them."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from hashnews.cli import main
from hashnews.errors import DataError
from hashnews.files import Skipped
from hashnews.posts.archives.columns import ColumnsFile, read_columns
from hashnews.posts.archives.dates import day_order, everyday_time

TEN = datetime(2026, 11, 16, 10, 0, tzinfo=UTC)
COLUMNS = {"text": "Content", "created_at": "Date"}


@pytest.mark.parametrize(
    "written",
    [
        "2026-11-16 10:00", "2026-11-16T10:00", "2026-11-16 10:00:00", "2026-11-16T10:00:00Z",
        "2026-11-16 10:00 UTC", "2026-11-16 12:00 +0200", "2026-11-16 12:00:00+02:00",
        "2026/11/16 10:00", "16/11/2026 10:00", "11/16/2026 10:00 AM", "11/16/2026, 10:00:00 AM",
        "16.11.2026 10:00", "16-11-2026 10:00", "Nov 16, 2026 10:00 AM", "Nov 16, 2026, 10:00 am",
        "November 16, 2026 at 10:00 a.m.", "16 Nov 2026 10:00", "16 November 2026, 10:00",
        "16th of November 2026 10:00", "Mon, 16 Nov 2026 10:00:00 +0000", "10:00 16 Nov 2026",
        "Mon, 16 Nov 2026 10:00:00 GMT", "Mon Nov 16 10:00:00 +0000 2026", "1794823200",
        "1794823200000", "1794823200.0", 1794823200, 1794823200000, 1794823200.0,
        " 2026-11-16\u202f10:00 ", "2026-11-16 10:00:00.000", "2026-11-16T10:00:00.000000Z",
        "Monday, November 16, 2026 10:00 AM", "Sept 16 2026 10:00 am",
    ],
)  # fmt: skip
def test_everyday_times(written):
    right = TEN.replace(month=9) if str(written).startswith("Sept") else TEN
    assert everyday_time(written) == right


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2026-11-16", (2026, 11, 16)), ("16/11/2026", (2026, 11, 16)),
        ("Nov 16, 2026", (2026, 11, 16)),
        ("05.11.2026", (2026, 11, 5)), ("5/5/2026", (2026, 5, 5)), ("1 May 2026", (2026, 5, 1)),
        ("12:00 AM 1 May 2026", (2026, 5, 1)), ("29 Feb 2024", (2024, 2, 29)),
    ],
)  # fmt: skip
def test_a_bare_day_is_its_start(written, day):
    assert everyday_time(written) == datetime(*day, tzinfo=UTC)


@pytest.mark.parametrize(
    "written",
    [
        "", "soon", "yesterday", "32/11/2026", "2026-13-01 10:00", "30 Feb 2026", "Nov 2026",
        "16 Nov", "10:00", "25:00 16 Nov 2026", "13:00 PM 16 Nov 2026", "Nov 16, 2026 10:00 EST",
        "Nov Dec 16 2026", "16 17 Nov 2026", "16/11/26", "1e400", "999999999999999", "12345", -1,
        1e300, float("inf"), float("nan"), True, None, [], {}, "²026-11-16", "16/17/2026",
        "Nov 16, 2026 $", "2026-11-16 10:00:61", "2026-11-16 10:00 +9999",
    ],
)  # fmt: skip
def test_what_is_no_time_is_refused(written):
    with pytest.raises(ValueError, match=r"time|days|year|out of range"):
        everyday_time(written)


def test_a_date_that_may_be_two_days_is_refused_unless_the_file_settles_it():
    with pytest.raises(ValueError, match="may be two days"):
        everyday_time("05/11/2026")
    assert everyday_time("05/11/2026", day_first=True) == datetime(2026, 11, 5, tzinfo=UTC)
    assert everyday_time("05/11/2026", day_first=False) == datetime(2026, 5, 11, tzinfo=UTC)
    assert day_order(["05/11/2026", "16/11/2026"]) is True
    assert day_order(["05/11/2026", "11/16/2026 10:00"]) is False
    assert day_order(["16/11/2026", "11/16/2026"]) is None
    assert day_order(["05/11/2026", "16.11.2026", None, 7]) is None


@given(
    st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1)),
    st.integers(-12 * 4, 14 * 4),
)  # fmt: skip
def test_times_are_read_back_in_any_form(at, quarters):
    zone = timezone(timedelta(minutes=15 * quarters))
    moment = at.replace(microsecond=0, tzinfo=zone)
    for form in (
        "%Y-%m-%d %H:%M:%S %z", "%d %b %Y %H:%M:%S %z", "%B %d, %Y %I:%M:%S %p %z",
        "%a %b %d %H:%M:%S %z %Y", "%d.%m.%Y %H:%M:%S %z",
    ):  # fmt: skip
        assert everyday_time(moment.strftime(form)) == moment
    assert everyday_time(moment.strftime("%m/%d/%Y %I:%M %p%z"), day_first=False) == (
        moment.replace(second=0)
    )


@given(st.text(max_size=40))
def test_any_text_is_a_time_or_refused(text):
    try:
        assert everyday_time(text).tzinfo is not None
    except ValueError as problem:
        assert str(problem)  # noqa: PT017


def table(rows, delimiter=","):
    whole = io.StringIO()
    csv.writer(whole, delimiter=delimiter).writerows(rows)
    return whole.getvalue().encode("utf-8-sig")


def write(tmp_path, content, name):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def test_columns_of_csv_json_and_json_lines(tmp_path):
    rows = [["Nr", "Date", "Content", "Who"], ["7", "16/11/2026 10:00", "Späte Fähre #Oslo", "ann"],
            ["8", "05/11/2026", "Again\n#Oslo", ""]]  # fmt: skip
    objects = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    columns = COLUMNS | {"id": "Nr", "user": "Who"}
    for name, content in {
        "tool.csv": table(rows),
        "excel.csv": table(rows, ";"),  # as where commas are decimal
        "tabs.csv": table(rows, "\t"),
        "tool.json": json.dumps(objects).encode(),
        "wrapped.json": json.dumps({"version": 2, "posts": objects}).encode(),
        "tool.jsonl": "\n".join(map(json.dumps, objects)).encode(),
    }.items():
        found = list(ColumnsFile(write(tmp_path, content, name), columns))
        assert [(post.id, post.text, post.created_at, post.user) for post in found] == [
            ("7", "Späte Fähre #Oslo", TEN, "ann"),
            ("8", "Again\n#Oslo", datetime(2026, 11, 5, tzinfo=UTC), None),
        ], name


@pytest.mark.parametrize(
    ("content", "name", "line"),
    [
        (table([["Content", "Date"], ["x", "05/11/2026"]]), "a.csv", "a.csv:2: .*may be two days"),
        (
            table([["Text", "Date"], ["x", "2026-11-05"]]),
            "a.csv",
            "no column 'Content'; there is 'T",
        ),
        (table([["Content", "Date"], ["x", ""]]), "a.csv", "a post without a time"),
        (table([["Content", "Date"], [" ", "2026-11-05"]]), "a.csv", "a post without text"),
        (b'[{"Content": "x", "Date": "2026-11-05"}, 5]', "a.json", "a.json:2: there is no column"),
        (b'[{"Content": "x", "Date": "2026-11-05"}', "a.json", "a.json:2: broken JSON"),
        (b'[{"Content": "x", "Date": {"a": 1}}]', "a.json", "must be text"),
        (b'{"Content": "x", "Date"\n', "a.jsonl", "a.jsonl:1: broken JSON"),
        (b'[{"Content": ["x"], "Date": "2026-11-05"}]', "a.json", "a post without text"),
        (b"Content|Date\nx|2026-11-05\n", "a.csv", "there is 'Content|Date'"),
        ("Content,Date\nBröd,2026-11-05\n".encode("latin-1"), "a.csv", "a.csv:2: it is not UTF-8"),
        (
            table([["Content", "Date"]]).decode("utf-8-sig").encode("utf-16"),
            "a.csv",
            "a.csv:1: it is not UTF-8",
        ),
        (b"x", "a.txt", "its name should end in"),
    ],
)
def test_what_cannot_be_read_gets_one_line(tmp_path, content, name, line):
    path = write(tmp_path, content, name)
    with pytest.raises(DataError, match=line):
        list(ColumnsFile(path, COLUMNS))


def test_bad_rows_are_set_aside(tmp_path):
    rows = [["Content", "Date"], ["a #b", "16/11/2026"], ["c #d", "soon"], ["e #f", "17/11/2026"]]
    skipped = Skipped()
    found = list(ColumnsFile(write(tmp_path, table(rows), "a.csv"), COLUMNS, "skip", skipped))
    assert ([post.text for post in found], skipped.count) == (["a #b", "e #f"], 1)


@pytest.mark.parametrize(
    "written", ["text=A", "created_at=B", "text=A,created_at", "txt=A,created_at=B", "",
                "text=A,text=B,created_at=C", "text=,created_at=B"],
)  # fmt: skip
def test_columns_that_are_not_named_right_are_an_error_of_use(written, tmp_path):
    with pytest.raises(ValueError, match=r"FIELD=COLUMN|not named"):
        read_columns(written)
    call = ["posts", "add", "x.csv", "--columns", written, "--news", str(tmp_path / "n.db")]
    assert CliRunner().invoke(main, call).exit_code == 2


def test_posts_add_takes_columns(tmp_path):
    rows = [["Content", "Date"], ["Fresh bread. #SourDough", "Nov 15, 2026 10:00 AM"]]
    path = write(tmp_path, table(rows), "tool.csv")
    call = ["posts", "add", str(path), "--columns", "text=Content,created_at=Date", "--user", "me",
            "--news", str(tmp_path / "n.db"), "--json"]  # fmt: skip
    for added in (1, 0):
        done = CliRunner().invoke(main, call)
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["added"] == added


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b'[{"Content": "x"}]', "tool.json"),
        (table([["Content", "Date"], ["x #y", "2026-11-16"]]), "tool.csv"),
        (b'{"Content": "x #y", "Date": "2026-11-16"}', "tool.jsonl"),
    ],
)
def test_a_file_of_another_tool_without_columns_says_what_to_do(tmp_path, content, name):
    path = write(tmp_path, content, name)
    done = CliRunner().invoke(main, ["posts", "add", str(path), "--news", str(tmp_path / "n.db")])
    assert done.exit_code == 1
    assert "--columns" in done.stderr
