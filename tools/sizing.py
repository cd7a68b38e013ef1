"""A cluster on paper: cores, memory, storage and network, from measured costs.

    python tools/sizing.py [--posts 500e6] [--articles 1e6]

Reads what benchmarks/scale.py measured (results/scale/costs.json and articles.json) and reckons
with straight lines; where a line leaves the measured range by far, that is said.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).parent.parent / "results" / "scale"
DAY = 86_400
WINDOW = 34  # days of news that the posts of one day look at: its own, five, and a month
USE = 0.6  # of a core's time that is work: the rest is starting, waiting, uneven files
PEAK = 2.0  # posts in the busiest hour, beside the mean
KEPT = 30  # days of posts and answers on the disk
COPIES = 3  # of what is stored
NODE_CORES, NODE_GB, NODE_GBIT = 64, 512, 25


class Line(NamedTuple):
    """y = start + slope x, through the measured points by least squares; never below 0."""

    start: float
    slope: float
    last: float  # the largest x measured

    @classmethod
    def through(cls, points: list[tuple[float, float]]) -> Line:
        """The line with the smallest squared error."""
        n = len(points)
        mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
        slope = sum((x - mean_x) * (y - mean_y) for x, y in points)
        slope /= sum((x - mean_x) ** 2 for x, _ in points)
        return cls(mean_y - slope * mean_x, slope, max(x for x, _ in points))

    def at(self, x: float) -> float:
        """The value at a place, measured or not."""
        return max(0.0, self.start + self.slope * x)


class Plan(NamedTuple):
    """What is needed, each line with its reckoning."""

    rows: list[tuple[str, str, str]]
    notes: list[str]


def plan(posts: float, articles: float, costs: dict[str, float], growth: list[dict]) -> Plan:
    """The cluster for so many posts and articles a day."""
    days = growth[0]["days"]
    by_day = {
        name: Line.through([(row["articles"] / days, row[name]) for row in growth])
        for name in ("ms", "own_mb", "opening_s")
    }
    build_ms = max(1000 * row["build_s"] / row["articles"] for row in growth)
    index_bytes = growth[-1]["bytes"] / growth[-1]["articles"]
    retrieve_ms = by_day["ms"].at(articles)
    # A suggestion is retrieval and the rest; the rest does not depend on how much news there is.
    rest_ms = max(0.0, costs["suggest_ms"] - costs["retrieve_ms"])
    work = {
        "find entities": (articles, costs["finding_ms"]),
        "build the index": (articles, build_ms),
        "prepare": (posts, costs["prepare_ms"]),
        "retrieve, in suggest": (posts, retrieve_ms),
        "rank and the rest of suggest": (posts, rest_ms),
    }
    rows, total = [], 0.0
    for name, (count, ms) in work.items():
        busy = count * ms / 1000 / DAY
        cores = busy / USE * (PEAK if count == posts else 1)
        total += cores
        said = f"{count:,.0f} × {ms:.3f} ms / 86,400 s = {busy:,.1f} cores busy"
        rows.append((f"cores: {name}", said, f"{cores:,.0f}"))
    peak = f"/ {USE:.0%} use, posts × {PEAK:g} for the busiest hour"
    rows.append(("cores: all", peak, f"{total:,.0f}"))

    worker = by_day["own_mb"].at(articles) / 1000
    index_gb = WINDOW * articles * index_bytes / 1e9
    said = f"its own lists and tables over {WINDOW} days of news"
    rows.append(("memory: a worker", said, f"{worker:,.1f} GB"))
    said = f"{WINDOW} days × {articles:,.0f} × {index_bytes:,.0f} bytes, shared by a node's workers"
    rows.append(("memory: the mapped index, a node", said, f"{index_gb:,.0f} GB"))
    fitting = max(0, int((NODE_GB - index_gb) / max(worker, 0.1)))
    per_node = min(NODE_CORES, fitting)
    said = f"{NODE_CORES} cores, {NODE_GB} GB: room for {fitting:,} workers"
    rows.append(("workers a node", said, f"{per_node:,}"))
    nodes = total / per_node if per_node else float("inf")
    rows.append(("nodes", f"{total:,.0f} cores / {per_node}", f"{nodes:,.0f}"))
    one_day = articles * costs["build_bytes"] / 1e9
    said = f"{articles:,.0f} × {costs['build_bytes']:,.0f} bytes, one job a day of news"
    rows.append(("memory: building a day", said, f"{one_day:,.1f} GB"))
    hours = articles * build_ms / 1000 / 3600
    rows.append(("time: building a day", "one core, entities found before", f"{hours:.2f} h"))

    flows = {
        "raw posts": posts * costs["raw_bytes"],
        "answers, packed": posts * costs["answer_bytes_packed"],
        "articles, Parquet": articles * costs["article_bytes"],
        "index": articles * index_bytes,
    }
    for name, size in flows.items():
        rows.append((f"storage a day: {name}", "", f"{size / 1e9:,.1f} GB"))
    stored = KEPT * COPIES * sum(flows.values()) / 1e12
    rows.append(("storage", f"{KEPT} days, {COPIES} copies", f"{stored:,.0f} TB"))
    moved = PEAK * (flows["raw posts"] + flows["answers, packed"]) * 8 / DAY / 1e9
    rows.append(("network: posts and answers", "busiest hour", f"{moved:,.2f} Gbit/s"))
    if nodes < 1e6:
        new = nodes * flows["index"] * 8 / 3600 / 1e9
        rows.append(("network: a day of index to every node", "in an hour", f"{new:,.2f} Gbit/s"))
        start = index_gb * 8 / NODE_GBIT
        said = f"{index_gb:,.0f} GB at {NODE_GBIT} Gbit/s"
        rows.append(("network: a new node's first window", said, f"{start:,.0f} s"))
    opening = by_day["opening_s"].at(articles)
    rows.append(("start: a worker makes its lists", "CPU", f"{opening:,.0f} s"))

    last = by_day["ms"].last
    notes = []
    if articles > last:
        notes.append(
            f"Retrieval and memory were measured up to {last:,.0f} articles a day; at "
            f"{articles:,.0f} the lines are drawn {articles / last:,.0f} times further."
        )
    return Plan(rows, notes)


def main() -> int:
    """Print the plan as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=float, default=500e6)
    parser.add_argument("--articles", type=float, default=1e6)
    asked = parser.parse_args()
    costs = json.loads((RESULTS / "costs.json").read_text("utf-8"))
    measured = json.loads((RESULTS / "articles.json").read_text("utf-8"))
    costs["finding_ms"] = measured["finding_ms"]
    made = plan(asked.posts, asked.articles, costs, measured["rows"])
    sys.stdout.write("| what | reckoning | needed |\n|---|---|---|\n")
    for row in made.rows:
        sys.stdout.write("| " + " | ".join(row) + " |\n")
    for note in made.notes:
        sys.stdout.write(f"\n{note}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
