"""A cluster on paper: cores, memory, storage and network, from measured costs.

    python tools/sizing.py [--posts 500e6] [--articles 1e6]
    python tools/sizing.py --write        write it to results/scale/plan.md

Reads what benchmarks/scale_costs.py, scale_growth.py and memory.py measured
(results/scale/costs.json, articles.json and results/memory/growth.json) and reckons with straight
lines; how far a line leaves what was measured is said.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "scale"
MEMORY = ROOT / "results" / "memory" / "growth.json"
DAY = 86_400
WINDOW = 34  # days of news that the posts of one day look at: its own, five, and a month
REMEMBERED = 400  # days of posts that the shipped model remembers
WITHIN = 1_200_000  # posts that benchmarks/memory.py puts into so many days
# What is assumed, not measured.
USE = 0.6  # of a core's time that is work: the rest is starting, waiting, uneven files
PEAK = 2.0  # posts in the busiest hour, beside the mean
KEPT = 30  # days of posts and answers on the disk
COPIES = 3  # of what is stored
NODE_CORES, NODE_GB, NODE_GBIT = 64, 512, 25
LOOK_BACK_MS = 20.0  # a post, for remembered posts: a sample of them
ROOM_BYTES = 8  # of each worker, for a remembered post
HOUR_TO_BUILD = 3600.0  # seconds in which a day's index should be there, built by one core

HEAD = """# A plan for 500 million posts and 1 million articles a day

Calculated by `python tools/sizing.py --write` from the costs measured beside it; its head says what
is assumed. Nothing of this size was run.
"""

Rows = list[tuple[str, str, str]]


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


class Measured(NamedTuple):
    """Costs of the steps, and how those of the news grow with the articles of a day."""

    costs: Mapping[str, float]
    density: float
    """Articles a day of the real news."""
    ms: Line
    """Retrieval, a post."""
    lists_mb: Line
    """Own memory of a worker that retrieves."""
    opening_s: Line
    build_ms: float
    index_bytes: float
    """Both an article."""
    postings: float
    """Entries of a worker's lists, for each article of a day."""
    look_back_ms: Line
    """Of a post, by the posts remembered; all of them are within its 400 days."""
    post_bytes: float
    """Of a remembered post, in files that the workers of a node share."""

    @classmethod
    def of(
        cls,
        costs: Mapping[str, float],
        growth: Mapping[str, Mapping[str, Any]],
        memory: Mapping[str, Mapping[str, float]],
    ) -> Measured:
        """From the files; the days are as many in `real` as in `denser`."""
        seen = {count: row for count, row in memory.items() if int(count) <= WITHIN}
        rows = [row for name, row in growth.items() if not name.startswith("longer")]

        def line(name: str) -> Line:
            return Line.through([(row["articles"] / row["days"], row[name]) for row in rows])

        return cls(
            costs,
            growth["real"]["articles"] / growth["real"]["days"],
            line("best_ms"),
            line("best_own_mb"),
            line("best_opening_s"),
            max(1000 * row["build_s"] / row["articles"] for row in rows),
            max(row["bytes"] / row["articles"] for row in rows),
            max(row["best_postings"] / (row["articles"] / row["days"]) for row in rows),
            Line.through([(int(n), row["look back ms, mean"]) for n, row in seen.items()]),
            max(row["bytes a post"] for row in memory.values()),
        )

    @property
    def kept_posts(self) -> float:
        """The posts that can be looked back on in the time there is."""
        return (LOOK_BACK_MS - self.look_back_ms.start) / self.look_back_ms.slope

    @property
    def base_mb(self) -> float:
        """A worker that suggests, without lists of news and without memory."""
        known = self.costs["remembered"] * self.costs["remembered_bytes"] / 1e6
        return max(0.0, self.costs["suggest_own_mb"] - known - self.lists_mb.slope * self.density)

    def lists_gb(self, articles: float) -> float:
        """What a worker makes of the window's news."""
        return self.lists_mb.slope * articles / 1000


class Limit(NamedTuple):
    """Up to what load something holds."""

    what: str
    holds: float
    asked: float
    of: str


def cores(posts: float, articles: float, measured: Measured) -> Iterator[tuple[str, str, float]]:
    """Each kind of work with its reckoning and the cores it takes."""
    costs = measured.costs
    generate = costs["suggest_generate_ms"]
    # A suggestion is retrieval, generation and the rest, which depends on the posts remembered.
    rest = max(0.0, costs["suggest_ms"] - generate - measured.ms.at(measured.density))
    rest += LOOK_BACK_MS - measured.look_back_ms.at(costs["remembered"])
    work = {
        "find entities": (articles, costs["finding_ms"]),
        "build the index": (articles, measured.build_ms),
        "prepare": (posts, costs["prepare_ms"]),
        "suggest: retrieve": (posts, measured.ms.at(articles)),
        "suggest: generate": (posts, generate),
        "suggest: rank and the rest": (posts, rest),
    }
    for name, (count, ms) in work.items():
        busy = count * ms / 1000 / DAY
        said = f"{count:,.0f} × {ms:.3f} ms / 86,400 s = {busy:,.3g} busy"
        yield name, said, busy / USE * (PEAK if count == posts else 1)


def limits(posts: float, articles: float, measured: Measured) -> list[Limit]:
    """What does not hold for any load, whatever the number of nodes; the first to break first."""
    costs = measured.costs
    room = NODE_GB / NODE_CORES - measured.base_mb / 1000
    a_post = measured.post_bytes + NODE_CORES * ROOM_BYTES
    found = [
        Limit(
            f"{REMEMBERED} days of posts looked back on in {LOOK_BACK_MS:g} ms",
            measured.kept_posts / REMEMBERED,
            posts,
            "posts",
        ),
        Limit(
            f"{REMEMBERED} days of posts in the memory of a node",
            NODE_GB * 1e9 / a_post / REMEMBERED,
            posts,
            "posts",
        ),
        Limit(
            "lists of the window in every worker",
            room / measured.lists_gb(1),
            articles,
            "articles",
        ),
        Limit(
            "lists numbered with 31 bits",
            2**31 / measured.postings,
            articles,
            "articles",
        ),
        Limit(
            "a day's index built by one job: memory",
            NODE_GB * 1e9 / costs["build_bytes"],
            articles,
            "articles",
        ),
        Limit(
            "a day's index built by one job: an hour",
            1000 * HOUR_TO_BUILD / measured.build_ms,
            articles,
            "articles",
        ),
    ]
    return sorted(found, key=lambda limit: limit.holds / limit.asked)


def plan(posts: float, articles: float, measured: Measured) -> Rows:
    """The cluster for so many posts and articles a day."""
    costs, rows, total = measured.costs, Rows(), 0.0
    for name, said, needed in cores(posts, articles, measured):
        total += needed
        rows.append((f"cores: {name}", said, f"{needed:,.1f}"))
    said = f"/ {USE:.0%} use, posts × {PEAK:g} for the busiest hour"
    rows.append(("cores: all", said, f"{total:,.0f}"))

    base, lists = measured.base_mb / 1000, measured.lists_gb(articles)
    kept = min(posts * REMEMBERED, measured.kept_posts)
    one_in = posts * REMEMBERED / kept
    held = f"{kept:,.0f} × {measured.post_bytes:,.0f} bytes"
    said = f"one in {one_in:,.0f} of {REMEMBERED} days: {held}, shared"
    posts_gb, room_gb = kept * measured.post_bytes / 1e9, kept * ROOM_BYTES / 1e9
    rows.append(("memory: remembered posts, a node", said, f"{posts_gb:.1f} GB"))
    said = f"{articles:,.0f} a day × {lists * 1e9 / articles:,.0f} bytes"
    rows.append(("memory: lists of the window, a worker", said, f"{lists:,.1f} GB"))
    worker = base + lists + room_gb
    said = f"lists, {room_gb:.2f} GB for looking back, {base:.1f} GB of program"
    rows.append(("memory: a worker", said, f"{worker:,.1f} GB"))
    index_gb = WINDOW * articles * measured.index_bytes / 1e9
    said = f"{WINDOW} days × {articles:,.0f} × {measured.index_bytes:,.0f} bytes, shared"
    rows.append(("memory: the mapped index, a node", said, f"{index_gb:,.0f} GB"))
    fitting = max(0, int((NODE_GB - index_gb - posts_gb) / worker))
    per_node = min(NODE_CORES, fitting)
    said = f"{NODE_CORES} cores, {NODE_GB} GB: memory for {fitting:,}"
    rows.append(("workers a node", said, f"{per_node:,}"))
    nodes = total / per_node if per_node else float("inf")
    rows.append(("nodes", f"{total:,.0f} / {per_node}", f"{nodes:,.0f}"))
    opening = measured.opening_s.at(articles)
    rows.append(("start: a worker opens its window", "CPU", f"{opening:,.0f} s"))

    flows = {
        "raw posts": (posts, costs["raw_bytes"]),
        "answers, packed": (posts, costs["answer_bytes_packed"]),
        "articles, Parquet": (articles, costs["article_bytes"]),
        "index": (articles, measured.index_bytes),
    }
    sizes = {name: count * each for name, (count, each) in flows.items()}
    for name, (count, each) in flows.items():
        said = f"{count:,.0f} × {each:,.0f} bytes"
        rows.append((f"storage a day: {name}", said, f"{sizes[name] / 1e9:,.1f} GB"))
    stored = KEPT * COPIES * sum(sizes.values()) / 1e12
    rows.append(("storage", f"{KEPT} days, {COPIES} copies", f"{stored:,.0f} TB"))
    store = WINDOW * articles * costs["store_bytes"] / 1e9
    said = f"{WINDOW} days × {articles:,.0f} × {costs['store_bytes']:,.0f} bytes"
    rows.append(("disk of a node: the store's articles", said, f"{store:,.0f} GB"))
    moved = PEAK * (sizes["raw posts"] + sizes["answers, packed"]) * 8 / DAY / 1e9
    rows.append(("network: posts and answers", "busiest hour", f"{moved:,.2f} Gbit/s"))
    if per_node:
        new = nodes * (sizes["index"] + articles * costs["store_bytes"]) * 8 / 3600 / 1e9
        said = "a day of index and store to every node, in an hour"
        rows.append(("network: news", said, f"{new:,.1f} Gbit/s"))
    first = (index_gb + store) * 8 / NODE_GBIT
    said = f"{index_gb + store:,.0f} GB at {NODE_GBIT} Gbit/s"
    rows.append(("network: a new node's first window", said, f"{first:,.0f} s"))
    return rows


def text(posts: float, articles: float, measured: Measured) -> str:
    """The plan, what breaks first, and how far it is from what was measured."""
    lines = ["| what | reckoning | needed |", "|---|---|---|"]
    lines += ["| " + " | ".join(row) + " |" for row in plan(posts, articles, measured)]
    lines += ["", "What more nodes do not help, the first to break first:", ""]
    lines += ["| limit | holds up to, a day | of what is asked |", "|---|---|---|"]
    lines += [
        f"| {limit.what} | {limit.holds:,.0f} {limit.of} | {limit.holds / limit.asked:.2g} times |"
        for limit in limits(posts, articles, measured)
    ]
    last = measured.ms.last
    if articles > last:
        lines += [
            "",
            f"Retrieval and memory were measured up to {last:,.0f} articles a day; at "
            f"{articles:,.0f} the lines are drawn {articles / last:,.0f} times further.",
        ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Print the plan, or write it where the docs point to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=float, default=500e6)
    parser.add_argument("--articles", type=float, default=1e6)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    costs = json.loads((RESULTS / "costs.json").read_text("utf-8"))
    growth = json.loads((RESULTS / "articles.json").read_text("utf-8"))
    memory = json.loads(MEMORY.read_text("utf-8"))
    told = text(asked.posts, asked.articles, Measured.of(costs, growth, memory))
    if not asked.write:
        sys.stdout.write(told)
        return 0
    (RESULTS / "plan.md").write_text(f"{HEAD}\n{told}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
