"""Posts of the future are refused with a reason, and make no other post old."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from hashnews.cli import main
from hashnews.news.store import NewsStore
from hashnews.posts.table import add_posts, count_posts, read_posts
from hashnews.records import Hashtag, PreparedPost

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def post(name, at):
    tag = Hashtag(("bread",), "#Bread")
    return PreparedPost(id=name, created_at=at, body="x", entities=(), hashtags=(tag,))


def run(*words):
    return CliRunner().invoke(main, [*map(str, words)])


def line(name, at):
    return json.dumps({"id": name, "text": "Fresh bread. #SourDough", "created_at": at}) + "\n"


@pytest.fixture
def filled(tmp_path):
    """A store with three posts of 2020, as the sample's are."""
    store, file = tmp_path / "n.db", tmp_path / "old.jsonl"
    file.write_text("".join(line(f"p{n}", f"2020-06-0{n}T10:00:00Z") for n in (1, 2, 3)))
    assert run("posts", "add", file, "--news", store).exit_code == 0
    return store


def count(store):
    return json.loads(run("posts", "stats", "--news", store, "--json").stdout)["posts"]


def test_one_post_of_2199_does_not_erase_the_memory(filled, tmp_path):
    file = tmp_path / "late.jsonl"
    file.write_text(line("t", "2199-06-01T10:00:00Z"))
    done = run("posts", "add", file, "--news", filled)
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert "post t is written in the future" in done.stderr
    assert count(filled) == 3
    done = run("posts", "add", file, "--news", filled, "--on-error", "skip", "--json")
    assert json.loads(done.stdout) == {"added": 0, "known": 0, "forgotten": 0, "skipped": 1}
    assert count(filled) == 3


def test_what_is_skipped_is_listed_beside_the_store(filled, tmp_path):
    """Of all files of a run: a line that is none, one without a time, one of the future."""
    one, other, aside = tmp_path / "a.jsonl", tmp_path / "b.jsonl", tmp_path / "n.skipped.jsonl"
    undated = json.dumps({"id": "u", "text": "Fresh bread. #SourDough"}) + "\n"
    one.write_text("no line\n" + line("good", "2020-06-04T10:00:00Z") + undated)
    other.write_text(line("t", "2199-06-01T10:00:00Z"))
    done = run("posts", "add", one, other, "--news", filled, "--on-error", "skip", "--json")
    assert json.loads(done.stdout) == {"added": 1, "known": 0, "forgotten": 0, "skipped": 3}
    assert str(aside) in done.stderr
    told = [json.loads(row) for row in aside.read_text().splitlines()]
    assert told[0]["line"] == 1
    assert [row["file"] for row in told] == [str(one), str(one), str(other)]
    assert "no line" in told[0]["content"]
    assert "has no created_at" in told[1]["reason"]
    assert "is written in the future" in told[2]["reason"]
    assert json.loads(told[2]["content"])["id"] == "t"


def test_nothing_is_listed_where_nothing_is_skipped(filled, tmp_path):
    assert not (tmp_path / "n.skipped.jsonl").exists()


def test_the_table_itself_refuses_the_future(tmp_path):
    soon, late = NOW + timedelta(minutes=9), NOW + timedelta(minutes=11)
    with NewsStore(tmp_path / "n.db", "write") as store:
        done = add_posts(store, [post("a", NOW), post("b", soon), post("c", late)], now=NOW)
        assert done == (2, 0, 0, 1)
        assert [one.id for one in read_posts(store)] == ["a", "b"]


def test_keep_counts_from_now_where_a_post_of_the_future_is_there_already(tmp_path):
    """As in a store that an earlier version filled."""
    later = NOW + timedelta(days=365 * 170)
    with NewsStore(tmp_path / "n.db", "write") as store:
        add_posts(store, [post("future", later)], now=later)
        done = add_posts(store, [post("a", NOW - timedelta(days=399)),
                                 post("b", NOW - timedelta(days=401))], now=NOW)  # fmt: skip
        assert (done.added, done.forgotten) == (2, 1)
        assert [one.id for one in read_posts(store)] == ["future", "a"]


def test_keep_counts_from_the_newest_where_that_is_earlier(tmp_path):
    with NewsStore(tmp_path / "n.db", "write") as store:
        old = NOW - timedelta(days=2000)
        done = add_posts(store, [post("a", old), post("b", old - timedelta(days=399)),
                                 post("c", old - timedelta(days=401))], now=NOW)  # fmt: skip
        assert (done.added, done.forgotten) == (3, 1)
        assert count_posts(store)["posts"] == 2
        assert add_posts(store, [], now=NOW) == (0, 0, 0, 0)
