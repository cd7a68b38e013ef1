"""Figures of the news store: how fast it takes news in and gives it back, and what a kill costs.

    python benchmarks/store.py add ../shared/data/2020/news.jsonl.gz
    python benchmarks/store.py kills 200

`add` fills a new store with the fast finder, adds the same file again, then reads, searches,
checks and backs up. On a machine that does other work, too, the processor's time is the fairer
figure; both are printed.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hashnews.news.database import JOURNAL
from hashnews.news.ingest import add_files
from hashnews.news.search import search
from hashnews.news.stats import statistics
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary
from hashnews.text.entities import shipped_finder

TESTS = Path(__file__).parent.parent / "tests" / "news"


def megabytes() -> float:
    """Memory of this process at its peak."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fill(path: Path, file: str, label: str) -> tuple[float, float]:
    """Add a file; print and give the rates by the clock and by the processor."""
    peaks: list[float] = []
    refusals = Refusals(Summary())
    finder = shipped_finder()
    wall, processor = time.perf_counter(), time.process_time()
    with NewsStore(path, "write") as store:
        add_files(store, finder, [file], refusals, committed=lambda _: peaks.append(megabytes()))
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    summary = refusals.summary
    total = summary.added + summary.known.total() + summary.refused.total()
    tenth = peaks[max(0, len(peaks) // 10 - 1)]
    print(
        f"{label:10} {total:,} articles, {wall:.1f} s: {total / wall:,.0f} a second by the clock, "
        f"{total / processor:,.0f} by the processor; peak {tenth:.0f} MB after a tenth, "
        f"{peaks[-1]:.0f} MB at the end\n{'':10} {summary}; {dict(summary.known)}"
    )
    return total / wall, total / processor


def timed(label: str, action: Callable[[], Any]) -> None:
    """Print how long something takes."""
    began = time.perf_counter()
    action()
    print(f"{label:40} {1000 * (time.perf_counter() - began):9,.1f} ms")


def measure(file: str) -> None:
    """Fill a store, fill it again, use it."""
    print(f"journal {JOURNAL}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "news.db"
        once, again = fill(path, file, "first"), fill(path, file, "again")
        print(f"{'':10} again is {again[0] / once[0]:.1f} times as fast")
        with NewsStore(path) as store:
            size, count = path.stat().st_size, len(store)
            print(f"{'':10} {size / 1e6:.0f} MB, {size / count:.0f} bytes an article")
            timed("state (what an index asks every second)", store.state)
            timed("read the last 1,000 rows", lambda: list(store.read(after=count - 1000)))
            timed("read everything by time", lambda: sum(1 for _ in store.read()))
            timed("statistics", lambda: statistics(store))
            timed("search, three words", lambda: search(store, "george floyd protest"))
            timed("check", store.check)
            timed("backup, checked", lambda: store.backup(Path(folder) / "copy.db"))


def kill(times: int) -> int:
    """Run the test that kills, with more kills."""
    command = [sys.executable, "-m", "pytest", str(TESTS / "test_kill.py"), "-s"]
    environment = {**os.environ, "HASHNEWS_KILLS": str(times)}
    return subprocess.run(command, env=environment, check=False).returncode


def main() -> int:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["add", "kills"])
    parser.add_argument("value", help="a news file, or how many kills")
    arguments = parser.parse_args()
    if arguments.what == "kills":
        return kill(int(arguments.value))
    measure(arguments.value)
    return 0


if __name__ == "__main__":
    sys.exit(main())
