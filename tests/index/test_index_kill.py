"""kill -9 at random moments while the index is built, refreshed and appended to."""

import os
import random
import shutil
import signal
import sys
import time

import pytest
from stores import add, assert_as_fresh, news, withdraw

from hashnews.index import folder as index_folder
from hashnews.index.folder import NewsIndex, folder_of
from hashnews.news.store import NewsStore

KILLS = int(os.environ.get("HASHNEWS_KILLS", "40"))  # of each kind
DAYS = 12
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
AT = {"open", "os.rename", "os.remove"}  # what changes a folder


def opening(path, when):
    """Open the index in a process that is killed; says whether it was in time.

    A whole number: at that step that changes the folder. Otherwise: after so many seconds.
    """
    child = os.fork()
    if child == 0:
        try:
            left = [when if isinstance(when, int) else sys.maxsize]

            def step(event, arguments):
                if event in AT and str(path) in str(arguments[0]):
                    left[0] -= 1
                    if left[0] < 0:
                        os.kill(os.getpid(), signal.SIGKILL)

            with NewsStore(path) as store:
                sys.addaudithook(step)
                NewsIndex.open(store)
        finally:
            os._exit(0)
    if isinstance(when, float):
        time.sleep(when)
        os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def first_build(path, chance, step):
    shutil.rmtree(folder_of(path))


def refresh(path, chance, step):
    """Late and withdrawn articles on many days."""
    add(path, news(chance.randrange(10, 30), DAYS, chance.random(), f"r{step}-"))
    with NewsStore(path) as store:
        ids = [one.article.id for one in store.read()]
    withdraw(path, chance.sample(ids, len(ids) // 4))


def append(path, chance, step):
    add(path, news(2, DAYS, chance.random(), f"n{step}-"))


def restore(path, chance, step):
    """Another past, with as many articles."""
    copy = path.with_name("copy.db")
    if copy.exists():
        shutil.copyfile(copy, path)
    else:
        shutil.copyfile(path, copy)
    add(path, news(20, DAYS, chance.random(), f"s{step}-"))


@pytest.mark.parametrize("change", [first_build, refresh, append, restore])
@pytest.mark.parametrize("every", [0.0, 2.0])
def test_after_a_kill_every_answer_is_that_of_a_fresh_index(tmp_path, monkeypatch, change, every):
    monkeypatch.setattr(index_folder, "SAVED_EVERY", every)
    path, chance = tmp_path / "news.db", random.Random(KILLS)
    add(path, news(80, DAYS))
    with NewsStore(path) as store:
        assert_as_fresh(NewsIndex.open(store), store, DAYS)
    kills = half_built = resumed = step = 0
    while kills < KILLS // 2:
        step += 1
        change(path, chance, step)
        steps = 8 if change is append else 40
        when = chance.randrange(steps) if chance.random() < 0.7 else chance.uniform(0, 0.1)
        if not opening(path, when):
            continue  # too late
        kills += 1
        with NewsStore(path) as store:
            index = NewsIndex(folder=folder_of(path))
            index._read_manifest()
            before, left = set(index._files), index._about.get("waiting")
            half_built += bool(left)
            index = NewsIndex.open(store)
            resumed += bool(left) and bool(before & set(index._files))
            assert_as_fresh(index, store, DAYS)
    sys.stdout.write(f"{kills} kills, {step - kills} too late, {half_built} half built, ")
    sys.stdout.write(f"{resumed} went on\n")
    if change is not append and every == 0:
        assert resumed
    append(path, chance, "last")
    with NewsStore(path) as store:
        index = NewsIndex.open(store)
    left_behind = {file.name for file in folder_of(path).iterdir()} - {*index._files}
    assert left_behind == {"lock", "manifest.json"}
