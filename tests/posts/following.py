"""What the tests of networks share: a follower that waits little, and what its store holds."""

import time
from contextlib import contextmanager

from hashnews.news.store import NewsStore
from hashnews.posts.networks.authors import hashed
from hashnews.posts.networks.events import FollowSettings
from hashnews.posts.networks.follower import Follower
from hashnews.posts.table import read_posts

PATIENT = 180.0  # seconds: a busy machine is slow
QUICK = {
    "allow_private": True, "pause": 0.0, "every": 0.2, "first_wait": 0.05, "longest_wait": 0.2,
}  # fmt: skip


def wait_for(condition, seconds=PATIENT):
    """What a condition gives as soon as it gives something."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.03)
    return found


@contextmanager
def following(path, *sources, **settings):
    follower = Follower(path, sources, FollowSettings(**{**QUICK, **settings}))
    follower.start()
    try:
        yield follower
    finally:
        follower.stop()
    assert follower.problem is None


def bodies(path):
    """The bodies of all posts, in order."""
    with NewsStore(path) as store:
        return sorted(post.body for post in read_posts(store))


def stored(path):
    with NewsStore(path) as store:
        return {post.id: post for post in read_posts(store)}


def rows(path, sql):
    with NewsStore(path) as store:
        return store.database.rows(sql)


def name_in(path, name):
    """The hash under which a store knows a name."""
    ((salt,),) = rows(path, "SELECT value FROM facts WHERE name = 'salt_of_authors'")
    return hashed(bytes.fromhex(salt), name)


def dump(path):
    """All that stands in a store, to look for what must not be there."""
    with NewsStore(path) as store:
        tables = [name for (name,) in store.database.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'table'"
        )]  # fmt: skip
        return repr([store.database.rows(f"SELECT * FROM {name}") for name in tables])
