"""A living network: authors write, change and delete while a follower is killed again and again.

Used by the test, and with larger numbers by benchmarks/networks.py.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

from following import name_in, rows, stored, wait_for

from hashnews.errors import StoreError

FACET = "app.bsky.richtext.facet#tag"
TOPICS = "sourdough rye focaccia bagel brioche naan pita lavash".split()


class Life:
    """Some authors, and what they do; what is said twice is said in other words."""

    def __init__(self, server, names, seed=1):
        self.server = server
        self.names = names
        self.written = self.deleted = self.changed = 0
        self._chance = random.Random(seed)
        self._uris = {name: [] for name in names}

    def act(self, many):
        """One author does several things at once: mostly writes, now and then deletes."""
        name = self._chance.choice(self.names)
        uris = self._uris[name]
        writes = [("create", {"value": self._record()}) for _ in range(many)]
        gone = self._chance.sample(uris, min(len(uris) // 4, many // 5))
        writes += [("delete", {"rkey": uri.rpartition("/")[2]}) for uri in gone]
        made = self.server.write(name, writes)
        self._uris[name] = [uri for uri in uris if uri not in gone] + [u for u in made if u]
        self.written += many
        self.deleted += len(gone)
        if self._chance.random() < 0.3:
            uri = self._chance.choice(self._uris[name])
            self.server.put(name, uri.rpartition("/")[2], self._record())
            self.changed += 1

    def _record(self):
        topic, number = self._chance.choice(TOPICS), self._chance.randrange(10**9)
        when = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        record = {"$type": "app.bsky.feed.post", "createdAt": when, "langs": ["en"]}
        kind = self._chance.randrange(4)
        if kind == 0:
            return {**record, "text": f"Loaf {number} is out of the oven. #{topic}"}
        if kind == 1:
            return {**record, "text": f"Loaf {number} with tags", "tags": [topic, "baking"]}
        if kind == 2:
            text = f"Loaf {number} of #{topic}"
            start = text.index("#")
            facet = {"index": {"byteStart": start, "byteEnd": len(text)},
                     "features": [{"$type": FACET, "tag": topic}]}  # fmt: skip
            return {**record, "text": text, "facets": [facet]}
        return {**record, "text": f"Loaf {number} without any hashtag"}

    def expected(self, db):
        """What the network holds, by its own word: id, author and number of each post."""
        found = {}
        for name in self.names:
            for uri, record in self.server.posts(name).items():
                if "#" in record["text"] or record.get("tags"):
                    user = name_in(db, self.server.dids[name])
                    found[name_in(db, uri)] = (user, record["text"].split()[1])
        return found


def held(db):
    """What the memory holds, likewise."""
    return {post.id: (post.user, post.body.split()[1]) for post in stored(db).values()}


class FollowerProcess:
    """`hashnews posts follow` in a process of its own."""

    def __init__(self, db, *sources):
        command = [sys.executable, "-m", "hashnews", "posts", "follow", *sources, "--news", str(db)]
        self.process = subprocess.Popen(
            [*command, "--allow-private", "--every", "1s"], stderr=subprocess.PIPE, text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            # A shell starts what runs in the background with SIGINT ignored; children inherit it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )  # fmt: skip

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, said
        return said


def is_following(db):
    with suppress(StoreError):  # it is just being made
        return rows(db, "SELECT 1 FROM followed WHERE state = 'following'")
    return []


def live_and_kill(server, life, db, source, kills, posts, restarts=1, at_once=10):
    """Let authors write so many posts while the follower is killed so often; returns the last."""
    done = threading.Event()

    def kill_now_and_then():
        chance, left = random.Random(7), kills
        follower = FollowerProcess(db, source)
        while left:
            before = _brought(db)
            wait_for(lambda before=before: _brought(db) > before or done.is_set())
            time.sleep(chance.uniform(0, 0.3))
            follower.kill()
            left -= 1
            follower = FollowerProcess(db, source)
        last.append(follower)

    last = []
    first = FollowerProcess(db, source)
    wait_for(lambda: is_following(db))
    life.act(2)  # following begins with the first cursor
    wait_for(lambda: rows(db, "SELECT 1 FROM followed WHERE cursor IS NOT NULL"))
    first.kill()
    killer = threading.Thread(target=kill_now_and_then)
    killer.start()
    marks = [posts * (n + 1) // (restarts + 1) for n in range(restarts)]
    while life.written < posts or killer.is_alive():
        life.act(at_once)
        if marks and life.written >= marks[0]:
            marks.pop(0)
            server.kill()
            server.start()
        if life.written >= posts:
            time.sleep(0.2)  # until all kills are done
    done.set()
    killer.join()
    return last[0]


def _brought(db):
    return rows(db, "SELECT coalesce(sum(posts), 0) FROM followed")[0][0]
