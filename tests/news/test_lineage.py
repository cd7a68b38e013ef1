"""A store knows its own past: stores of the first release, copies that grew apart, deletions."""

import gzip
import random
import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from newsroom import START, Capitals, add, make

from hashnews.news.reindex import Reindexing
from hashnews.news.search import search
from hashnews.news.store import NewsStore
from hashnews.posts.table import add_posts, delete_posts, read_posts
from hashnews.records import Hashtag, PreparedPost
from hashnews.times import day_of

OLD = Path(__file__).with_name("version_0_1_0.db.gz")


def post(number, **changes):
    values = {
        "id": f"p{number}",
        "body": "on the bridge",
        "entities": (),
        "created_at": START + timedelta(hours=number),
        "hashtags": (Hashtag(("bridge",), "Bridge"),),
    }
    return PreparedPost(**{**values, **changes})


def now(store):
    """What an index would remember."""
    return store.state().writer, store.state().generation


def test_a_store_of_the_first_release_opens_and_carries_on(tmp_path):
    path = tmp_path / "news.db"
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    tables = {"articles": "row", "keys": "key", "facts": "name", "posts": "row", "feeds": "url"}

    def content():
        with closing(sqlite3.connect(path)) as db:
            return {
                table: db.execute(f"SELECT * FROM {table} ORDER BY {by}").fetchall()
                for table, by in tables.items()
            }

    before = content()
    with NewsStore(path) as store:
        assert content() == before
        assert (len(store), len(list(read_posts(store)))) == (6, 4)
        assert store.state()[:3] == (6, 1, "fast")
        assert store.check() == []
        assert [hit.article.id for hit in search(store, "lantern")] == ["old-4"]
    with NewsStore(path, "write") as store:
        assert add_posts(store, [post(9), post(2, id="p0")])[:2] == (1, 1)
        assert store.withdraw(["old-5"]) == 1
        assert store.last_row() == 6
        assert store.check() == []
        assert store.changes_since(1, "articles") == [day_of(START) + 3]


def test_every_change_raises_the_generation_and_nothing_else_does(store):
    def raised():
        last, raised.last = raised.last, store.state().generation
        return raised.last > last

    raised.last = store.state().generation
    assert add(store, [make(1), make(2)]).added
    assert raised()
    assert not add(store, [make(1)]).added
    assert not raised()
    assert add_posts(store, [post(1)]).added
    assert raised()
    assert not add_posts(store, [post(1)]).added
    assert not raised()
    assert delete_posts(store, ["p1", "none"]) == 1
    assert raised()
    assert delete_posts(store, ["p1"]) == 0
    assert not raised()
    assert store.withdraw(["a1", "none"]) == 1
    assert raised()
    assert store.withdraw(["a1"]) == 0
    assert not raised()
    assert store.database.rows("SELECT count(*) FROM lineage") == [(2,)]


def test_days_of_deletions_are_told_for_articles_and_posts_apart(store):
    add(store, [make(n) for n in range(0, 24 * 5, 6)])
    add_posts(store, [post(n) for n in range(-24 * 3, 24 * 5, 6)])
    _, start = now(store)
    first = day_of(START)
    assert store.changes_since(start, "posts") == []
    delete_posts(store, ["p0", "p6", "p48"])
    _, later = now(store)
    store.withdraw(["a24"])
    assert store.changes_since(start, "posts") == [first, first + 2]
    assert store.changes_since(later, "posts") == []
    assert store.changes_since(start, "articles") == [first + 1]
    gone = add_posts(store, [post(24 * 5)], kept=timedelta(days=6)).forgotten
    assert gone == 8
    assert store.changes_since(later, "posts") == [first - 3, first - 2]
    add(store, [make(24)])  # the same again: late, so its day is read again
    assert store.days_after(20) == [first + 1]
    assert store.check() == []


def test_a_day_before_1970_is_a_day_like_any_other(store):
    early = START.replace(year=1969, month=12, day=31, hour=23)
    add_posts(store, [post(1, created_at=early)])
    delete_posts(store, ["p1"])
    assert store.changes_since(0, "posts") == [-1]


def test_a_row_is_never_given_twice(store):
    add(store, [make(n) for n in range(5)])
    add_posts(store, [post(n) for n in range(5)])
    store.withdraw(["a4"])
    delete_posts(store, ["p4"])
    add(store, [make(9)])
    add_posts(store, [post(9)])
    assert store.last_row() == 6
    assert max(post.row for post in read_posts(store)) == 6


def test_what_a_withdrawn_article_leaves_behind(store):
    add(store, [make(1), make(2, text="An Otter swims.")])
    assert store.withdraw(["a2"]) == 1
    assert store.get("a2") is None
    assert search(store, "otter") == []
    assert store.check() == []
    assert add(store, [make(2, text="An Otter swims.")]).added == 1


def test_a_changed_row_is_a_change_whoever_made_it(store):
    add(store, [make(1)])
    _, before = now(store)
    with closing(sqlite3.connect(store.path)) as other, other:
        other.execute("UPDATE articles SET title = 'Another'")
    assert store.changes_since(before, "articles") == [day_of(START)]
    _, before = now(store)
    list(Reindexing(store, Capitals()))
    assert store.changes_since(before, "articles") == [day_of(START)]


def test_a_file_put_back_under_an_open_writer_is_noticed(store, tmp_path):
    add(store, [make(1)])
    shutil.copyfile(store.path, tmp_path / "copy.db")
    add(store, [make(2)])
    known = now(store)
    shutil.copyfile(tmp_path / "copy.db", store.path)
    add(store, [make(3)])
    assert not store.descends(*known)


@pytest.mark.parametrize("seed", range(6))
def test_copies_that_grew_apart_know_their_own_past_alone(tmp_path, seed):
    """Against the histories themselves: a state is a store's past where its history begins so."""
    chance = random.Random(seed)
    histories = {tmp_path / "0.db": ()}
    NewsStore(tmp_path / "0.db", "write").close()
    seen = []
    for step in range(60):
        path = chance.choice(sorted(histories))
        if chance.random() < 0.15:
            other = chance.choice([*sorted({*histories} - {path}), tmp_path / f"{step + 1}.db"])
            shutil.copyfile(path, other)  # also over another: a backup put back
            histories[other] = histories[path]
            continue
        with NewsStore(path, "write") as store:
            for more in range(chance.randrange(3)):
                if not (
                    chance.random() < 0.3
                    and store.withdraw([one.article.id for one in store.read()][:1])
                ):
                    add(store, [make(100 * step + more)])
                histories[path] = (*histories[path], (step, more))
                seen.append((histories[path], *now(store)))
    for path, history in histories.items():
        with NewsStore(path) as store:
            for known, writer, generation in seen:
                assert store.descends(writer, generation) is (history[: len(known)] == known)
