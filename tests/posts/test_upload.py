"""An uploaded archive is added in a process of its own, and nothing it does reaches further."""

import time

import pytest
from following import bodies
from makers import Plain, activity, moment, outbox, x_files, zipped
from test_archives_hostile import HOSTILE

from hashnews.news.arrivals import latest_arrivals
from hashnews.news.store import NewsStore
from hashnews.posts.upload import Upload

POSTS = [Plain(n, f"Loaf {n} is out of the oven. #bread", moment("2026-11-10T10:00:00Z"))
         for n in range(1, 4)]  # fmt: skip


@pytest.fixture
def db(tmp_path):
    return tmp_path / "news.db"


def write(tmp_path, content):
    path = tmp_path / "upload-1234"
    path.write_bytes(content)
    return path


def test_an_archive_is_added_and_told(tmp_path, db):
    path = write(tmp_path, zipped(x_files(POSTS)))
    told = Upload(path, db, "twitter.zip", "me").wait(120)
    assert told == told._replace(state="done", done=1.0, added=3, skipped=0, name="twitter.zip")
    assert len(bodies(db)) == 3
    with NewsStore(db) as store:
        (line,) = latest_arrivals(store)
        assert (line.source, line.came) == ("twitter.zip", 3)
        assert {user for (user,) in store.database.rows("SELECT user FROM posts")} == {"me"}
    assert Upload(path, db, "twitter.zip").wait(120).known == 3


@pytest.mark.parametrize("what", ["a zip bomb", "../ in a zip", "a CAR cut off", "UTF-16"])
def test_what_is_wrong_with_it_is_told_without_our_path(tmp_path, db, what):
    told = Upload(write(tmp_path, HOSTILE[what][0]()), db, "mine.zip").wait(120)
    assert (told.state, told.added) == ("failed", 0)
    assert told.note
    assert str(tmp_path) not in told.note


def test_what_takes_too_long_or_too_much_ends_alone(tmp_path, db):
    many = [Plain(n, f"Loaf {n} of #bread", moment("2026-11-10T10:00:00Z")) for n in range(9000)]
    path = write(tmp_path, outbox(map(activity, many)))
    late = Upload(path, db, "outbox.json", seconds=0.2).wait(120)
    assert (late.state, "took too long" in late.note) == ("failed", True)
    large = Upload(path, db, "outbox.json", memory=200 << 20).wait(120)
    assert large.state == "failed"
    stopped = Upload(path, db, "outbox.json")
    end = time.monotonic() + 120
    while not stopped.state.read:
        assert time.monotonic() < end
        time.sleep(0.01)
    stopped.stop()
    assert stopped.state.state in ("failed", "done")
    assert Upload(path, db, "outbox.json").wait(300).state == "done"  # goes on from there
    assert len(bodies(db)) == 9000


def test_no_process_stays_behind(tmp_path, db):
    upload = Upload(write(tmp_path, b"nothing"), db, "x")
    assert upload.wait(120).state == "failed"
    assert upload._process.poll() is not None
