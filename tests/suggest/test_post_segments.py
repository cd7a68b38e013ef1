"""The segments beside a store: whatever happened to both, they say what the store's posts say."""

import os
import random
import shutil
import signal
import time
from datetime import timedelta
from itertools import count
from unittest import mock

import pytest
from harbour import START, at, found_for, query_of
from hypothesis import given, settings
from hypothesis import strategies as st

from hashnews.index import post_segments
from hashnews.index.post_segments import PostSegments, folder_of_posts
from hashnews.news.store import NewsStore
from hashnews.posts.table import add_posts, delete_posts, read_posts
from hashnews.prepare.preparer import Preparer
from hashnews.records import Post
from hashnews.suggest.memory import Memory
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter

WORDS = "budget vote council ferry harbour rain late tickets night good pass today".split()
NUMBERS = count()


def some_posts(chance, many):
    """Posts of made-up times, late ones among them."""
    posts = [
        Post(
            id=f"p{next(NUMBERS)}",
            created_at=START + timedelta(hours=chance.uniform(0, 1000)),
            user=chance.choice(["ann", "bob", "cyd", None]),
            text=" ".join(chance.sample(WORDS, 4)) + f".\n#Tag{chance.randint(0, 9)} #Ferry",
        )
        for _ in range(many)
    ]
    return Preparer(shipped_segmenter(), load_finder("fast")).remember(posts)


def change(store, chance):
    """Somebody writes another text, other hashtags or another time into the table."""
    ids = [post.id for post in read_posts(store)]
    for identifier in chance.sample(ids, min(len(ids), 3)):
        column, value = chance.choice(
            [("body", "rain tonight"), ("hashtags", '[["#Rain","rain"]]'), ("posted", at(30))]
        )
        value = value + next(NUMBERS) if column == "posted" else value
        store.database.run(f"UPDATE posts SET {column} = ? WHERE id = ?", (value, identifier))


def same(memory, store, days=None):
    """That a memory says what one says that is made of the store's posts now."""
    whole = Memory(read_posts(store), days)
    assert len(memory) == len(whole)
    for hours, user in [(1001, "ann"), (700, "bob"), (300, None)]:
        query = query_of(at(hours), user, "the ferry and the budget vote in the council")
        one, other = found_for(memory, query), found_for(whole, query)
        assert one.keys == other.keys
        assert (one.features == other.features).all()


@pytest.fixture(autouse=True)
def _small():
    with mock.patch.multiple(post_segments, FULL=40, BATCH=16, SAVED=4):
        yield


@pytest.fixture
def store(tmp_path):
    with NewsStore(tmp_path / "news.db", "write") as store:
        yield store


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_memory_that_is_refreshed_is_one_that_is_made_anew(tmp_path_factory, chance):
    path = tmp_path_factory.mktemp("posts") / "news.db"
    with NewsStore(path, "write") as store:
        memories = [Memory.open(store)]
        for _ in range(chance.randint(1, 8)):
            step = chance.random()
            if step < 0.5:
                add_posts(store, some_posts(chance, chance.randint(1, 30)))
            elif step < 0.7:
                ids = [post.id for post in read_posts(store)]
                delete_posts(store, chance.sample(ids, min(len(ids), chance.randint(0, 5))))
            elif step < 0.75:
                change(store, chance)
            elif step < 0.8:
                add_posts(store, some_posts(chance, 2), timedelta(hours=chance.uniform(300, 900)))
            elif step < 0.9:
                memories.append(Memory.open(store))
            else:
                chance.choice(memories).refresh(store)
        for memory in [*memories, Memory.open(store)]:
            memory.refresh(store)
            same(memory, store)
            assert not memory.refresh(store)


def test_the_oldest_post_may_get_another_time(store):
    add_posts(store, some_posts(random.Random(1), 60))
    memory = Memory.open(store)
    store.database.run(
        "UPDATE posts SET posted = ? WHERE posted = (SELECT min(posted) FROM posts)", (at(500),)
    )
    memory.refresh(store)
    for one in (memory, Memory.open(store)):
        same(one, store)
    assert PostSegments.check(store) is None


def test_what_was_deleted_does_not_come_back_with_an_older_post(store):
    """Of the oldest posts only their time says that they are gone."""
    chance = random.Random(1)
    add_posts(store, some_posts(chance, 60))
    memory = Memory.open(store)
    by_time = sorted(read_posts(store), key=lambda post: post.posted)
    for some in (by_time[:9], by_time[9:10]):
        delete_posts(store, [post.id for post in some])
        memory.refresh(store)
    add_posts(store, some_posts(chance, 20))  # the segments are saved with the deleted ones
    memory.refresh(store)
    late = next(some_posts(chance, 1)).model_copy(update={"created_at": START})
    add_posts(store, [late])
    memory.refresh(store)
    for one in (memory, Memory.open(store)):
        same(one, store)
    for post in list(read_posts(store)):
        delete_posts(store, [post.id])
        memory.refresh(store)
    assert (len(memory), len(Memory.open(store))) == (0, 0)
    add_posts(store, [late])
    memory.refresh(store)
    for one in (memory, Memory.open(store)):
        same(one, store)


def test_what_is_saved_is_not_read_again(store):
    add_posts(store, some_posts(random.Random(1), 60))
    Memory.open(store)
    with mock.patch.object(post_segments, "build_segment") as built:
        assert len(Memory.open(store)) == 60
    assert not built.called


def test_segments_of_another_store_are_made_again(tmp_path, store, caplog):
    add_posts(store, some_posts(random.Random(1), 60))
    Memory.open(store)
    with NewsStore(tmp_path / "other.db", "write") as other:
        add_posts(other, some_posts(random.Random(2), 50))
        shutil.copytree(folder_of_posts(store), folder_of_posts(other))
        same(Memory.open(other), other)
    assert "another store" in caplog.text


def test_a_backup_that_was_restored_is_not_mistaken_for_the_store(tmp_path):
    path = tmp_path / "news.db"
    with NewsStore(path, "write") as store:
        add_posts(store, some_posts(random.Random(1), 60))
        store.database.copy_to(tmp_path / "backup.db")
        add_posts(store, some_posts(random.Random(2), 60))
        Memory.open(store)
    for old in tmp_path.glob("news.db*"):
        if old.is_file():
            old.unlink()
    shutil.copy(tmp_path / "backup.db", path)
    with NewsStore(path, "write") as store:
        same(Memory.open(store), store)
        add_posts(store, some_posts(random.Random(3), 60))
        same(Memory.open(store), store)


def test_segments_are_compared_with_the_store(tmp_path, store):
    assert PostSegments.check(store) is None
    add_posts(store, some_posts(random.Random(1), 60))
    Memory.open(store)
    add_posts(store, some_posts(random.Random(2), 5))
    change(store, random.Random(3))
    assert PostSegments.check(store) is None  # what is new is taken in the next time
    Memory.open(store)
    assert PostSegments.check(store) is None
    store.database.run("DROP TRIGGER posts_update")
    change(store, random.Random(4))
    assert "are not those of the store" in PostSegments.check(store)
    file = next(folder_of_posts(store).glob("*.posts"))
    file.write_bytes(file.read_bytes()[:-8])
    assert PostSegments.check(store)
    with NewsStore(tmp_path / "other.db", "write") as other:
        shutil.copytree(folder_of_posts(store), folder_of_posts(other))
        file.with_name("manifest.json").write_text("{")
        assert PostSegments.check(other)
        assert PostSegments.check(store)


@pytest.mark.parametrize("harm", ["cut", "gone", "manifest", "garbage"])
def test_damaged_segments_are_made_again(store, harm, caplog):
    add_posts(store, some_posts(random.Random(1), 60))
    Memory.open(store)
    folder = folder_of_posts(store)
    file = next(folder.glob("*.posts"))
    if harm == "cut":
        file.write_bytes(file.read_bytes()[:-8])
    elif harm == "gone":
        file.unlink()
    else:
        (folder / "manifest.json").write_text("{" if harm == "manifest" else "[]")
    same(Memory.open(store), store)
    assert "read again" in caplog.text
    same(Memory.open(store), store)


def test_a_full_disk_costs_nothing_but_the_files(store, caplog):
    add_posts(store, some_posts(random.Random(1), 60))
    with mock.patch.object(post_segments, "save_arrays", side_effect=OSError(28, "No space left")):
        same(Memory.open(store), store)
    assert "No space left" in caplog.text
    same(Memory.open(store), store)


def test_kills_while_segments_are_saved_harm_nothing(tmp_path):
    chance, path = random.Random(5), tmp_path / "news.db"
    killed = 0
    for _ in range(20):
        with NewsStore(path, "write") as store:
            add_posts(store, some_posts(chance, 100))
            ids = [post.id for post in read_posts(store)]
            delete_posts(store, chance.sample(ids, 5))
        child = os.fork()
        if child == 0:
            with NewsStore(path) as store:
                Memory.open(store)
            os._exit(0)
        time.sleep(chance.uniform(0, 0.08))
        os.kill(child, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        with NewsStore(path) as store:
            if chance.random() < 0.3:
                same(Memory.open(store), store)
    assert killed > 5
    with NewsStore(path) as store:
        same(Memory.open(store), store)
