"""How the index grows with the news: 0.2, 1 and 3 million articles, denser and longer.

    python benchmarks/scale_growth.py DATA NEWS WORK [real denser-5 denser-15 longer-5 longer-15]

DATA is a folder with posts.jsonl.gz and reference.jsonl.gz, NEWS a store made from its news. From
the real articles more are made: `denser` as many times as many in the same days, `longer` as many
in as many times as many days, all before the real ones. Each is a new article: its time moved by up
to two hours, every fifth word and name that of another article of any day. They are written into
WORK, once (--write: no more than that), indexed by Ray on two cores, and asked about all posts of
the busiest day by one process. Writes articles.json, .md and .png to results/scale/.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from scale import RESULTS, Promises, best, memory, on_two_cores, paper, prepared

from hashnews.files import RecordFile, write_records
from hashnews.news.store import NewsStore
from hashnews.records import Article, PreparedPost
from hashnews.retrieve.batch import context_lines
from hashnews.retrieve.source import RetrieverSource
from hashnews.scale.engine import Run
from hashnews.scale.news import Built, index_days

PARTS = ("real", "denser-5", "denser-15", "longer-5", "longer-15")
OTHER = 0.2  # of the words and names of an article made from a real one
ROUNDS = 3


class Pool(NamedTuple):
    """Words and names of real articles, as often as they stand there."""

    words: list[str]
    names: list[str]

    @classmethod
    def of(cls, articles: list[Article]) -> Pool:
        """From every fifth article."""
        some = articles[::5]
        return cls(
            [word for one in some for word in one.text.split()],
            [name for one in some for name in one.entities or ()],
        )


def perturbed(article: Article, copy: int, pool: Pool, draw: random.Random) -> Article:
    """A new article like a real one, of the same day."""

    def other(told: Iterable[str], known: list[str]) -> list[str]:
        return [draw.choice(known) if draw.random() < OTHER else one for one in told]

    start = article.published_at.replace(hour=0, minute=0, second=0, microsecond=0)
    moved = article.published_at + timedelta(seconds=draw.uniform(-7200, 7200))
    end = start + timedelta(days=1, microseconds=-1)
    return article.model_copy(update={
        "id": f"{article.id}~{copy}",
        "url": None,
        "title": f"{' '.join(other(article.title.split(), pool.words))} {copy}",
        "text": " ".join(other(article.text.split(), pool.words)),
        "entities": tuple(other(article.entities or (), pool.names)),
        "published_at": min(max(moved, start), end),
    })  # fmt: skip


def write_denser(store: NewsStore, target: Path, times: int) -> None:
    """The articles of a store so many times, by day: `part-0` as they are, the others made."""
    days: dict[date, list[Article]] = {}
    for stored in store.read():
        article = stored.article.model_copy(update={"finder": "fast"})
        days.setdefault(article.published_at.date(), []).append(article)
    pool = Pool.of([article for articles in days.values() for article in articles])
    draw = random.Random(times)
    for copy in range(times):
        for day, articles in days.items():
            made = [perturbed(one, copy, pool, draw) if copy else one for one in articles]
            write_records(target / f"day={day}" / f"part-{copy}.jsonl", made)


def write_longer(denser: Path, target: Path) -> None:
    """The same articles, each copy moved to days before those of the copy before it."""
    days = sorted(denser.iterdir())
    for folder in days:
        day = date.fromisoformat(folder.name.removeprefix("day="))
        for path in folder.iterdir():
            copy = int(path.stem.removeprefix("part-"))
            earlier = day - copy * timedelta(days=len(days))
            text = path.read_text("utf-8")
            moved = text.replace(f'"published_at":"{day}T', f'"published_at":"{earlier}T')
            place = target / f"day={earlier}"
            place.mkdir(parents=True, exist_ok=True)
            (place / "part-0.jsonl").write_text(moved, "utf-8")


def write_news(news: Path, work: Path, part: str) -> Path:
    """The articles of a part, by day, whole or not at all."""
    series, _, times = part.partition("-")
    target, scratch = work / part, work / f".{part}"
    if not target.exists():
        if series == "longer":
            write_longer(write_news(news, work, f"denser-{times}"), scratch)
        else:
            with NewsStore(news) as store:
                write_denser(store, scratch, int(times or 1))
        scratch.rename(target)
    return target


def build(run: Run[Any, Any], news: Path, index: Path) -> Built:
    """Build an index."""
    return index_days(news, index, run)


def busiest(posts: Path) -> list[PreparedPost]:
    """The posts of the day that has most."""
    every = [post for post in RecordFile(posts, PreparedPost) if post.created_at]
    days = Counter(_day(post.created_at) for post in every)
    return [post for post in every if _day(post.created_at) == days.most_common(1)[0][0]]


def _day(moment: datetime | None) -> date | None:
    return None if moment is None else moment.date()


def ask(source: RetrieverSource, posts: list[PreparedPost]) -> dict[str, float]:
    """Retrieval in a process of its own: CPU time per post and of opening, and its memory."""
    source.open().retrieve_all(posts[:1])  # compiles, and builds a reference
    spent: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        began = time.process_time()
        retriever = source.open()
        retriever.retrieve_all(posts[:1])
        opened = time.process_time()
        for _ in context_lines(retriever, iter(posts)):
            pass
        spent.append((opened - began, 1000 * (time.process_time() - opened) / len(posts)))
        own, mapped = memory()
        postings = retriever.postings.size
        del retriever
    opening, ms = (statistics.median(column) for column in zip(*spent, strict=True))
    return {
        "opening_s": opening,
        "ms": ms,
        "own_mb": own,
        "mapped_mb": mapped,
        "postings": postings,
    }


def measure(data: Path, news: Path, index: Path, posts: list[PreparedPost]) -> dict[str, Any]:
    """Build an index and ask it."""
    built = on_two_cores(build, news, index)
    row: dict[str, Any] = {
        "articles": built.articles,
        "days": built.days,
        "build_s": built.cpu_seconds,
        "bytes": built.bytes,
    }
    for name, source in (
        ("best", best(index)),
        ("paper", paper(index, data / "reference.jsonl.gz")),
    ):
        with get_context("spawn").Pool(1) as pool:
            row |= {
                f"{name}_{key}": value for key, value in pool.apply(ask, (source, posts)).items()
            }
    return row


def table(rows: dict[str, dict[str, Any]], asked: int) -> None:
    """All that was measured so far, as text."""
    promises = Promises("articles", "scale_growth.py DATA NEWS WORK")
    promises.say(
        "| | articles | days | articles a day | build, CPU s | CPU per article, ms | index, MB | "
        "bytes per article |\n" + "|---" * 8 + "|"
    )
    for name, row in rows.items():
        count, days, spent, size = (row[key] for key in ("articles", "days", "build_s", "bytes"))
        promises.say(
            f"| {name} | {count:,} | {days} | {count / days:,.0f} | {spent:,.0f} | "
            f"{1000 * spent / count:.3f} | {size / 1e6:,.0f} | {size / count:,.0f} |"
        )
    promises.say(
        "\n| | articles | `best`, ms a post | opening, CPU s | own memory, MB | mapped, MB | "
        "`paper`, ms a post | opening, CPU s | own memory, MB |\n" + "|---" * 9 + "|"
    )
    for name, row in rows.items():
        promises.say(
            f"| {name} | {row['articles']:,} | {row['best_ms']:.2f} | "
            f"{row['best_opening_s']:.1f} | {row['best_own_mb']:,.0f} | "
            f"{row['best_mapped_mb']:,.0f} | {row['paper_ms']:.2f} | "
            f"{row['paper_opening_s']:.1f} | {row['paper_own_mb']:,.0f} |"
        )
    promises.say(
        f"\nThe {asked:,} posts of the busiest day, one process, contexts written as JSON; opening "
        "is finding the first post's.\n`denser`: so many times the real articles in the same days; "
        "`longer`: as many a day, for so many times as long.\nMade articles have another time (up "
        "to two hours), and every fifth word and name is another article's. They\nbring few new "
        "words, so lists are longer, and articles smaller, than in real news of that size."
    )
    promises.write("More articles: the index and retrieval from it")


def plot(rows: dict[str, dict[str, Any]]) -> None:
    """The growth as a picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3), layout="constrained")
    shown = {
        "build, CPU s": ["build_s"],
        "index, MB": ["mb"],
        "retrieve, ms a post": ["best_ms", "paper_ms"],
    }
    styles = {"denser": ("o-", "#1b6ca8"), "longer": ("s--", "#c1462d")}
    for axes, (label, keys) in zip(figure.subplots(1, 3), shown.items(), strict=True):
        for series, (style, colour) in styles.items():
            some = [row for name, row in rows.items() if name.startswith((series, "real"))]
            some.sort(key=lambda row: row["articles"])
            for key in keys:
                values = [row["bytes"] / 1e6 if key == "mb" else row[key] for row in some]
                told = f"{series}, {key[:-3]}" if len(keys) > 1 else series
                axes.plot([row["articles"] / 1e6 for row in some], values, style, color=colour,
                          alpha=0.5 if key == "paper_ms" else 1, label=told)  # fmt: skip
        axes.set(xlabel="million articles", ylabel=label, ylim=(0, None), xlim=(0, None))
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
    figure.savefig(RESULTS / "articles.png", dpi=150)


def main() -> int:
    """Measure some parts, and tell of all that were measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("news", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("parts", nargs="*", default=PARTS)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_intermixed_args()
    if not (given.work / "posts.jsonl").exists():
        prepared(given.data, given.work)
    posts = busiest(given.work / "posts.jsonl")
    path = RESULTS / "articles.json"
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for part in given.parts:
        news = write_news(given.news, given.work, part)
        if not given.write:
            index = given.work / f"{part}.index"
            shutil.rmtree(index, ignore_errors=True)
            known[part] = measure(given.data, news, index, posts)
            path.write_text(json.dumps(known, indent=2) + "\n", "utf-8")
    if not given.write:
        rows = {part: known[part] for part in PARTS if part in known}
        table(rows, len(posts))
        plot(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
