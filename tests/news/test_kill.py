"""kill -9 at random moments while adding; `HASHNEWS_KILLS=200` is the figure of the benchmark."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from newsroom import Capitals, add, dump, make

from hashnews.news import ingest
from hashnews.news.ingest import add_files
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary

KILLS = int(os.environ.get("HASHNEWS_KILLS", "15"))
ARTICLES = 4000
ADDING = """
import sys
from newsroom import Capitals
from hashnews.news import ingest
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary

ingest.BATCH = 40
with NewsStore(sys.argv[1], "write") as store:
    tell = lambda summary: print(summary.added + summary.known.total(), flush=True)
    print(0, flush=True)
    ingest.add_files(store, Capitals(), [sys.argv[2]], Refusals(Summary()), committed=tell)
"""


def articles():
    for n in range(ARTICLES):
        # Every tenth is a duplicate: of an id, of an address, of a title.
        twin = {10: {"id": "a1"}, 20: {"url": f"https://www.example.org/{n - 3}/"}}.get(n % 30, {})
        if n % 30 == 0:
            twin = {"title": f"Title {n - 1}", "published_at": make(n - 1).published_at}
        yield make(n, text=f"About Number {n} in Paris. " + "More of it. " * (n % 40), **twin)


def has_journal(path):
    """Whether a kill left a transaction half done."""
    journal = Path(f"{path}-journal")
    return journal.exists() and journal.stat().st_size > 0


def acknowledged(process, at_least, wait):
    """Kill the process a while after so many articles; give how many it had acknowledged."""
    told = 0
    while told < at_least and (line := process.stdout.readline()):
        told = int(line)
    time.sleep(wait)
    process.kill()
    more = process.stdout.read().split("\n")[:-1]  # a line cut short was not acknowledged
    process.wait()
    process.stdout.close()
    return int(more[-1]) if more else told


def test_nothing_acknowledged_is_lost_and_the_end_is_the_same(tmp_path, monkeypatch):
    file, path = tmp_path / "news.jsonl", tmp_path / "news.db"
    everything = list(articles())
    file.write_text("".join(article.to_json() + "\n" for article in everything))
    monkeypatch.setattr(ingest, "BATCH", 40)
    with NewsStore(tmp_path / "undisturbed.db", "write") as store:
        add_files(store, Capitals(), [str(file)], Refusals(Summary()))
        expected = dump(store)
        assert len(store) == 3601  # and 399 duplicates
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])  # the same code as here
    environment = {**os.environ, "PYTHONPATH": paths}
    chance, kills, torn, finished, told = random.Random(KILLS), 0, 0, 0, 0
    while kills < KILLS:
        process = subprocess.Popen(
            [sys.executable, "-c", ADDING, str(path), str(file)],
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        # Past what is stored already, where a run has something to add.
        told = acknowledged(process, chance.randrange(told + 1, ARTICLES), chance.uniform(0, 0.03))
        if told == ARTICLES:  # it was too late to kill: begin anew
            path.unlink()
            told, finished = 0, finished + 1
            continue
        kills += 1
        torn += has_journal(path)
        with NewsStore(path) as store:
            assert store.check() == []
            rows = dump(store)["articles"]
            known = {row[5] for row in rows}
            lost = [row[5] for row in expected["articles"] if row[5] not in known]
            wanted = {article.id for article in everything[:told]}
            assert not wanted.intersection(lost)
            assert rows == expected["articles"][: len(rows)]
    sys.stdout.write(
        f"{kills} kills while adding, {torn} within a transaction, {finished} too late\n"
    )
    assert torn
    with NewsStore(path, "write") as store:
        add_files(store, Capitals(), [str(file)], Refusals(Summary()))
        assert dump(store) == expected
        assert add(store, everything).added == 0
