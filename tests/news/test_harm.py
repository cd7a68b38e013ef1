"""Full disks, locks, foreign and damaged files: one clear line each, and nothing harmed."""

import os
import random
import resource
import shutil
import sqlite3
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from newsroom import add, make

from hashnews.errors import HashNewsError, SchemaTooNew, StoreError
from hashnews.news.migrations import MIGRATIONS
from hashnews.news.search import search
from hashnews.news.stats import statistics
from hashnews.news.store import NewsStore


def line_of(error):
    text = str(error.value)
    assert "\n" not in text
    assert len(text) < 300
    return text


def test_a_file_that_is_not_sqlite(tmp_path):
    path = tmp_path / "news.db"
    path.write_bytes(b"these are my notes, not a database" * 100)
    for mode in ("read", "write"):
        with pytest.raises(StoreError) as error:
            NewsStore(path, mode)
        assert line_of(error) == f"{path} is not a news store: it is not an SQLite file"
    assert path.read_bytes() == b"these are my notes, not a database" * 100


def test_another_programs_sqlite_file(tmp_path):
    path = tmp_path / "music.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE songs (name)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreError) as error:
        NewsStore(path, "write")
    assert "another program's SQLite file" in line_of(error)
    assert path.read_bytes() == before


def test_a_newer_schema(store):
    store.database.run("PRAGMA user_version = 99")
    for mode in ("read", "write"):
        with pytest.raises(SchemaTooNew) as error:
            NewsStore(store.path, mode)
        known = len(MIGRATIONS)
        assert f"schema 99, this version knows up to {known}: upgrade" in line_of(error)


def test_no_such_store_and_an_empty_one(tmp_path):
    with pytest.raises(StoreError) as error:
        NewsStore(tmp_path / "nope.db")
    assert "there is no such news store; make one: hashnews news add" in line_of(error)
    (tmp_path / "empty.db").touch()
    with pytest.raises(StoreError) as error:
        NewsStore(tmp_path / "empty.db")
    assert "holds no news yet" in line_of(error)
    with pytest.raises(StoreError) as error:
        NewsStore(tmp_path / "no" / "folder" / "news.db", "write")
    assert "cannot be opened: is there such a folder" in line_of(error)


def test_a_locked_file(store):
    add(store, [make(1)])
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError) as error:
        NewsStore(store.path, "write", patience=0.1)
    assert "in use by another program (waited 0.1 s): try again" in line_of(error)
    other.execute("ROLLBACK")
    other.execute("BEGIN IMMEDIATE")  # another writer: readers still read
    with NewsStore(store.path, patience=0.1) as reader:
        assert len(reader) == 1
    with NewsStore(store.path, "write", patience=0.1) as late, pytest.raises(StoreError) as error:
        add(late, [make(2)])
    assert "in use by another program" in line_of(error)
    other.close()
    assert len(store) == 1


@contextmanager
def as_nobody():
    """Without root's right to write everywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.setegid(65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def test_a_read_only_folder_can_be_read_and_says_so_when_written(tmp_path):
    path = tmp_path / "news.db"
    with NewsStore(path, "write") as store:
        add(store, [make(1)])
    Path(f"{path}-journal").unlink(missing_ok=True)
    for folder in (tmp_path.parent.parent, tmp_path.parent):
        folder.chmod(0o755)
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        with as_nobody():
            with NewsStore(path) as store:
                assert len(store) == 1
            with pytest.raises(StoreError) as error, NewsStore(path, "write") as store:
                add(store, [make(2)])
            assert "cannot be written: the file or its folder is read-only" in line_of(error)
            with pytest.raises(StoreError) as error:
                NewsStore(tmp_path / "new.db", "write")
            assert "cannot be opened: is there such a folder, and may you" in line_of(error)
            with NewsStore(path) as store, pytest.raises(StoreError) as error:
                store.backup(tmp_path / "copy.db")
            assert "copy.db" in line_of(error)
    finally:
        tmp_path.chmod(0o755)
    with NewsStore(path) as store:
        assert len(store) == 1


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 2 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a small disk cannot be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def fill(store):
    for start in range(0, 100_000, 50):
        texts = [
            make(n, text="Paris " + random.Random(n).randbytes(500).hex())
            for n in range(start, start + 50)
        ]
        add(store, texts)
        yield start + 50


def test_a_full_disk(small_disk):
    safe = 0
    with NewsStore(small_disk / "news.db", "write") as store:
        with pytest.raises(StoreError) as error:
            for done in fill(store):
                safe = done
        assert "the disk is full; what was added before is safe" in line_of(error)
        assert len(store) == safe > 100
    with NewsStore(small_disk / "news.db") as store:
        assert store.check() == []
        assert len(store) == safe


def test_a_file_size_limit(tmp_path):
    """As a quota would: another way in which a disk says no."""
    safe, before = 0, resource.getrlimit(resource.RLIMIT_FSIZE)
    with NewsStore(tmp_path / "news.db", "write") as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
        try:
            with pytest.raises(StoreError) as error:
                for done in fill(store):
                    safe = done
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert "what was added before is safe" in line_of(error)
        assert len(store) == safe > 100
        assert store.check() == []
        assert add(store, [make(-1)]).added == 1


def use(path):
    """Everything one does with a store."""
    with NewsStore(path, "write", patience=0.1) as store:
        store.check()
        statistics(store)
        search(store, "paris")
        for stored in store.read():
            stored.article.to_json()
        store.get("a3")
        add(store, [make(3), make(1000)])


def test_a_damaged_file_gives_a_clear_error_or_an_answer_never_a_traceback(tmp_path):
    path, damaged = tmp_path / "news.db", tmp_path / "damaged.db"
    with NewsStore(path, "write") as store:
        add(store, [make(n) for n in range(40)])
    content, random_of = path.read_bytes(), random.Random(4)
    refused = []
    for _ in range(300):
        changed = bytearray(content)
        for _ in range(random_of.choice([1, 8, 64])):
            changed[random_of.randrange(len(changed))] = random_of.randrange(256)
        if random_of.random() < 0.2:
            del changed[random_of.randrange(len(changed)) :]
        damaged.write_bytes(changed)
        try:
            use(damaged)
        except HashNewsError as error:
            refused.append(str(error))
    assert len(refused) > 30
    assert not any("\n" in line for line in refused)


def test_a_backup_of_a_damaged_store_is_not_kept(tmp_path):
    path = tmp_path / "news.db"
    with NewsStore(path, "write") as store:
        add(store, [make(n) for n in range(200)])
        pages = store.database.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'articles'")
        (size,) = store.database.rows("PRAGMA page_size")[0]
    content = bytearray(path.read_bytes())
    start = (pages[0][0] - 1) * size
    content[start : start + size] = bytes(size)
    path.write_bytes(content)
    with NewsStore(path) as store, pytest.raises(StoreError):
        store.backup(tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()
    shutil.rmtree(tmp_path)
