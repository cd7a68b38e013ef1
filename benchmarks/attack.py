"""All fuzzers of tests/ for some minutes: inputs tried, outcomes, what went wrong.

    python benchmarks/attack.py --minutes 30 [--seed 1]

Those of HTTP send their requests to a service in processes of its own; its memory is told, too, and
whether any of its processes ended. Each input has a deadline of 30 seconds and a seed of its own,
so that what fails can be tried again: `--only NAME --seed N --minutes 0`.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/service"))
from fuzz_http import http
from fuzzers import FUZZERS
from servers import KEY, Server

from hashnews.suggest.pipeline import sample_store

DEADLINE = 30  # seconds of an input


class Hangs(BaseException):
    """An input took too long."""


def late(*_: object) -> None:
    """What the alarm calls."""
    raise Hangs


class Attack:
    """What was tried, what came of it, and the slowest of each kind."""

    def __init__(self) -> None:
        self.outcomes: dict[str, Counter[str]] = {}
        self.slowest: dict[str, float] = {}
        self.wrong = 0

    def attempt(self, name: str, seed: int, fuzzer: Callable[[], str]) -> None:
        """Try one input."""
        counts = self.outcomes.setdefault(name, Counter())
        began = time.monotonic()
        signal.alarm(DEADLINE)
        try:
            counts[fuzzer()] += 1
        except KeyboardInterrupt:
            raise
        except BaseException:
            signal.alarm(0)
            self.wrong += 1
            counts["WRONG"] += 1
            print(f"{name}, seed {seed}:", file=sys.stderr)
            traceback.print_exc()
        finally:
            signal.alarm(0)
        self.slowest[name] = max(self.slowest.get(name, 0.0), time.monotonic() - began)

    def table(self) -> str:
        """All of it, for people."""
        lines = ["| fuzzer | inputs | outcomes | slowest |", "|---|---|---|---|"]
        for name, counts in self.outcomes.items():
            told = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.most_common())
            lines.append(f"| {name} | {counts.total():,} | {told} | {self.slowest[name]:.1f} s |")
        total = sum(map(Counter.total, self.outcomes.values()))
        return "\n".join([*lines, "", f"{total:,} inputs, {self.wrong} wrong"])


def service_memory(server: Server) -> float:
    """Megabytes of all processes of the service, as it tells itself."""
    told = re.findall(r"^hashnews_memory_bytes\{.*?\} ([0-9.e+]+)$",
                      server.client.get("/metrics").text, re.MULTILINE)  # fmt: skip
    return sum(map(float, told)) / (1 << 20)


def own_memory() -> float:
    """Most megabytes that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Try until the time is over; exits with 1 where anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1_000_000)
    parser.add_argument("--only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, late)
    attack, seed, before = Attack(), options.seed, (0.0, 0.0)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        shutil.copyfile(sample_store(), folder / "served.db")
        with Server("--news", folder / "served.db", key=KEY) as server:
            port = int(server.url.rpartition(":")[2])
            chosen: dict[str, Callable[[random.Random], str]] = {
                fuzzer.__name__: partial(lambda fuzzer, chance: fuzzer(chance, folder), fuzzer)
                for fuzzer in FUZZERS
            }
            chosen["http"] = lambda chance: http(chance, port)
            end = time.monotonic() + 60 * options.minutes
            while True:
                for name, fuzzer in chosen.items():
                    if options.only in (None, name):
                        attack.attempt(name, seed, partial(fuzzer, random.Random(seed)))
                seed += 1
                if seed - options.seed == 100:
                    before = (own_memory(), service_memory(server))
                if time.monotonic() >= end:
                    break
            after = (own_memory(), service_memory(server))
            ended = sum(event["event"] == "replacing" for event in server.events)
            failed = [event for event in server.events if event["event"] == "failed"]
    print(attack.table())
    for whose, first, last in zip(("fuzzers", "service"), before, after, strict=True):
        print(f"memory of the {whose}: {first:,.0f} MB after 100 rounds, {last:,.0f} MB at the end")
    print(f"of the service {ended} processes ended and {len(failed)} requests failed")
    print(*failed, sep="\n", file=sys.stderr)
    sys.exit(1 if attack.wrong or ended or failed else 0)


if __name__ == "__main__":
    main()
