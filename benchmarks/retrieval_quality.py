"""What the retrievers find: hashtag words in contexts, linked articles, and temporal popularity.

    python benchmarks/retrieval_quality.py ../shared/data WORK -o results/retrieval

WORK holds stores made by `hashnews news add` (2020/news.db, 2019/news.db) and posts prepared with
a chronological split (congress20, blm20 and congress19, each with posts.jsonl). Only test posts
are scored; of links, which are few, also those of all posts.

    newW      share of gold hashtag words that are in the context and not in the post
    specific  the same over words that are neither in the post nor the last day's 100 commonest
    full      hashtags whose every word is in the post or in the context
    hit@5, MRR  of the article whose URL or whole title the post gives, of at most five days before

Intervals: 95 %, 1,000 bootstrap samples of posts.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from hashnews.arrays import Array
from hashnews.files import RecordFile
from hashnews.index.day import Day, Settings
from hashnews.index.folder import NewsIndex
from hashnews.index.word_postings import WordPostings
from hashnews.news.keys import canonical_url
from hashnews.news.store import NewsStore
from hashnews.records import ContextWord, PostContext, PreparedPost, Retrieved
from hashnews.retrieve.all_words import AllWordsConfig, AllWordsRetriever
from hashnews.retrieve.context import ArticleWords, WordSums
from hashnews.retrieve.equations import idf, temporal_popularity
from hashnews.retrieve.reference import load_reference
from hashnews.retrieve.retriever import Retriever, RetrieverConfig
from hashnews.retrieve.trends import trends
from hashnews.text.entities import load_finder
from hashnews.text.stopwords import STOP_WORDS
from hashnews.text.tokens import words
from hashnews.times import A_DAY, microseconds

SETS = {"congress20": "2020", "blm20": "2020", "congress19": "2019"}
WINDOW, MONTH, COMMON = 5, 28, 100
SHOWN = 40  # days of the figure
SAMPLES = 1000
Method = Callable[[Sequence[PreparedPost]], list[PostContext]]


class RollingRetriever(Retriever):
    """Temporal popularity against the month of news before the window, from the same sources."""

    def reference(self, number: int) -> list[Day]:
        """The days before the window."""
        return self.days(number, range(WINDOW + 1, WINDOW + 1 + MONTH))


class WordsRetriever(Retriever):
    """The paper's BM25 over all words of a post instead of its entities."""

    def terms(self, post: PreparedPost) -> list[str]:
        """The distinct words of a post, stop words aside."""
        return [word for word in dict.fromkeys(words(post.body)) if word not in STOP_WORDS]

    def _new_postings(self) -> Any:
        return WordPostings()


class News:
    """The news of a year: its index, what is common in it, and where links lead."""

    def __init__(self, store: Path, work: Path):
        with NewsStore(store) as opened:
            self.index = NewsIndex.open(opened, Settings(), work)
            self.finder = load_finder(opened.state().finder or "fast")
            self.urls: dict[str, list[tuple[int, str]]] = defaultdict(list)
            self.titles: dict[tuple[str, ...], list[tuple[tuple[str, ...], int, str]]]
            self.titles = defaultdict(list)
            for stored in opened.read():
                article, moment = stored.article, stored.published
                if article.url and (url := canonical_url(article.url)):
                    self.urls[url].append((moment, article.id))
                said = tuple(words(article.title))
                if len(said) >= 5:
                    self.titles[said[:5]].append((said, moment, article.id))
        self._words = ArticleWords()
        self._sums = WordSums(self._words)

    def window(self, moment: int, first: int) -> Iterable[tuple[Day, Array]]:
        """The articles from one moment up to another, day by day."""
        for number in range(first // A_DAY, moment // A_DAY + 1):
            day = self.index.day(number)
            yield day, np.arange(*np.searchsorted(day.times, (first, moment)))

    def commonest(self, moment: int) -> PostContext:
        """The commonest words of the 24 hours before a moment, stop words aside."""
        return PostContext([], self.common_words(self.window(moment, moment - A_DAY)))

    def common_words(self, rows: Iterable[tuple[Day, Array]]) -> list[ContextWord]:
        """The commonest words of articles."""
        numbers = [self._words.open(day) + places for day, places in rows]
        articles = np.concatenate([*numbers, np.zeros(0, np.int64)]).astype(np.int64)
        return self._sums.heaviest(articles, np.ones(len(articles)), COMMON)

    def random(self, post: PreparedPost) -> PostContext:
        """Five articles of the window drawn by lot."""
        moment = moment_of(post)
        rows = list(self.window(moment, (moment // A_DAY - WINDOW) * A_DAY))
        rng = np.random.default_rng(moment)
        size = sum(len(places) for _, places in rows)
        drawn = set(rng.choice(size, min(5, size), replace=False).tolist())
        articles, ids, start = [], [], 0
        for day, places in rows:
            ours = places[[k - start for k in sorted(drawn) if start <= k < start + len(places)]]
            articles.append((day, ours))
            ids += [Retrieved(day.ids[place], 1.0, 1) for place in ours.tolist()]
            start += len(places)
        return PostContext(ids, self.common_words(articles))

    def linked(self, post: PreparedPost) -> set[str]:
        """The articles of the window that a post gives the URL or the whole title of."""
        moment, body = moment_of(post), words(post.body)
        found = [row for url in post.urls for row in self.urls.get(canonical_url(url) or "", ())]
        for at in range(len(body) - 4):
            for said, published, name in self.titles.get(tuple(body[at : at + 5]), ()):
                if tuple(body[at : at + len(said)]) == said:
                    found.append((published, name))
        first = (moment // A_DAY - WINDOW) * A_DAY
        return {name for published, name in found if first <= published < moment}


def moment_of(post: PreparedPost) -> int:
    """The time of a post; all have one here."""
    assert post.created_at is not None
    return microseconds(post.created_at)


class Covered(NamedTuple):
    """Sums over posts: covered and all, for each measure."""

    new: int
    words: int
    specific: int
    specific_words: int
    full: int
    hashtags: int


def covered(post: PreparedPost, context: PostContext, common: set[str]) -> Covered:
    """How much of a post's hashtags its context covers."""
    said, told = set(words(post.body)), {word for word, _ in context.words}
    tags = [[w for w in tag.words if w not in STOP_WORDS] for tag in post.hashtags]
    gold = [w for tag in tags for w in tag]
    rare = [w for w in gold if w not in said and w not in common]
    return Covered(
        sum(w in told and w not in said for w in gold), len(gold),
        sum(w in told for w in rare), len(rare),
        sum(all(w in said or w in told for w in tag) for tag in tags), len(tags),
    )  # fmt: skip


def shares(sums: Array) -> Array:
    """newW, specific and full from sums, or from many rows of them."""
    ratios: Array = sums[..., 0::2] / sums[..., 1::2]
    return ratios


def resampled(rows: Array, draw: Callable[[Array], Array]) -> Array:
    """Some figures of bootstrap samples of rows."""
    rng = np.random.default_rng(0)
    return np.array([draw(rows[rng.integers(0, len(rows), len(rows))]) for _ in range(SAMPLES)])


def cells(values: Array, samples: Array, sign: str = "") -> list[str]:
    """Figures with their intervals."""
    low, high = np.percentile(samples, (2.5, 97.5), axis=0)
    return [
        f"{v:{sign}.3f} [{a:{sign}.3f}, {b:{sign}.3f}]"
        for v, a, b in zip(values, low, high, strict=True)
    ]


def methods(news: News, data: Path, work: Path, year: str) -> dict[str, Method]:
    """Everything that is compared."""
    index = news.index

    def paper(name: str, ranking: Any = "tp") -> Method:
        reference = load_reference(data / year / name, news.finder, Settings(), work)
        return Retriever(index, reference, RetrieverConfig(ranking=ranking)).retrieve_all

    bm25 = Retriever(index, None, RetrieverConfig(ranking="bm25"))
    found: dict[str, Method] = {
        "random, 5 articles": lambda posts: [news.random(post) for post in posts],
        "no query: the last day's 100 commonest words": lambda posts: [
            news.commonest(moment_of(post)) for post in posts
        ],
        "paper, BM25": bm25.retrieve_all,
        "paper, TP, given R": paper("reference.jsonl.gz"),
    }
    if (data / year / "reference-same-feeds.jsonl.gz").exists():
        found["paper, TP, R of the same feeds"] = paper("reference-same-feeds.jsonl.gz")
    found["paper, TP, rolling R"] = RollingRetriever(index).retrieve_all
    words_only = WordsRetriever(index, None, RetrieverConfig(ranking="bm25"))
    found["words, BM25, five windows"] = words_only.retrieve_all
    found["best"] = AllWordsRetriever(index, AllWordsConfig()).retrieve_all
    return found


def coverage(name: str, posts: list[PreparedPost], news: News, all_of: dict[str, Method]) -> str:
    """The table of one set of posts."""
    common = [{w for w, _ in news.commonest(moment_of(post)).words} for post in posts]
    scored: dict[str, Array] = {}
    for method, run in all_of.items():
        print(f"{name}: {method}", flush=True)
        rows = map(covered, posts, run(posts), common)
        scored[method] = np.array(list(rows), np.float64)
    lines = [f"## {name}: {len(posts):,} test posts", "", "| method | newW | specific | full |"]
    lines.append("|---" * 4 + "|")
    sampled = {m: resampled(rows, lambda r: shares(r.sum(0))) for m, rows in scored.items()}
    for method, rows in scored.items():
        figures = cells(shares(rows.sum(0)), sampled[method])
        lines.append(f"| {method} | {' | '.join(figures)} |")
    for one, other in pairs(scored):
        figures = cells(
            shares(scored[one].sum(0)) - shares(scored[other].sum(0)),
            sampled[one] - sampled[other], "+",
        )  # fmt: skip
        lines.append(f"| {one} − {other} | {' | '.join(figures)} |")
    return "\n".join(lines)


def pairs(scored: Collection[str]) -> list[tuple[str, str]]:
    """What is compared with what, on the same posts."""
    tp = [(name, "paper, BM25") for name in scored if name.startswith("paper, TP")]
    no_query = "no query: the last day's 100 commonest words"
    best = [("best", no_query), ("best", "words, BM25, five windows")] if "best" in scored else []
    return [*tp, *best]


def links(
    year: str, posts: list[PreparedPost], news: News, all_of: dict[str, Method], which: str
) -> str:
    """The table of linked articles."""
    wanted = [(post, found) for post in posts if (found := news.linked(post))]
    asked = [post for post, _ in wanted]
    lines = [f"## Links of {year}, {which}: {len(asked)} posts", "", "| method | hit@5 | MRR |"]
    lines.append("|---" * 3 + "|")
    if not asked:
        return "\n".join(lines)
    for method, run in all_of.items():
        if method.startswith("no query"):
            continue
        rows = []
        for context, (_, found) in zip(run(asked), wanted, strict=True):
            at = [k for k, article in enumerate(context.articles, 1) if article.id in found]
            rows.append((bool(at) and at[0] <= 5, 1 / at[0] if at else 0.0))
        scores = np.array(rows, np.float64)
        figures = cells(scores.mean(0), resampled(scores, lambda r: r.mean(0)))
        lines.append(f"| {method} | {' | '.join(figures)} |")
    return "\n".join(lines)


def figure(news: News, data: Path, work: Path, out: Path) -> None:
    """Normalised IDF and temporal popularity of what rose in spring 2020, day by day."""
    given = load_reference(data / "2020" / "reference.jsonl.gz", news.finder, Settings(), work)
    numbers = news.index.numbers()[-SHOWN:]  # with some weeks of news before them
    names: dict[str, float] = {}
    for number in numbers:
        at = datetime.fromtimestamp((number + 1) * A_DAY / 1e6 - 1, UTC)
        for trend in trends(news.index, at, 3):
            if trend.counts[-1] >= 30:  # an event, not a name in some headlines
                names[trend.entity] = max(names.get(trend.entity, 0.0), trend.popularity)
    chosen = sorted(names, key=lambda name: -names[name])[:8]
    panels = {
        "IDF(e, D₁) / ln(N + 1)": Retriever(news.index, given),
        "TP(e, D₁), given R": Retriever(news.index, given),
        "TP(e, D₁), rolling R": RollingRetriever(news.index),
    }
    series: dict[str, dict[str, list[float]]] = {title: {} for title in panels}
    for title, retriever in panels.items():
        for name in chosen:
            row = series[title][name] = []
            for number in numbers:
                table = retriever.table(number)
                n = sum(len(table.list_of(name, back)[0]) for back in (0, 1))
                size = sum(day.size for day in table.days[:2])
                idf_window = idf(size, n)
                if title.startswith("TP"):
                    row.append(temporal_popularity(table.reference_idf(name), idf_window, 10.0))
                else:
                    row.append(idf_window / float(np.log(size + 1)))
    dates = [str(datetime.fromtimestamp(n * A_DAY / 1e6, UTC).date()) for n in numbers]
    (out / "popularity.json").write_text(
        json.dumps({"days": dates, "series": series}, indent=1, ensure_ascii=False) + "\n", "utf-8"
    )
    plot = Figure(figsize=(13, 4.2), layout="constrained")
    for axes, (title, rows) in zip(plot.subplots(1, 3), series.items(), strict=True):
        for name, row in rows.items():
            axes.plot(range(len(row)), row, label=name)
        axes.set_title(title)
        axes.set_xticks(range(0, len(dates), 7), [d[5:] for d in dates[::7]])
        axes.grid(alpha=0.3)
    plot.axes[0].legend(fontsize=7)
    plot.savefig(out / "popularity.png", dpi=120)


def main() -> None:
    """Score everything and write quality.md and the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--index", type=Path, help="folder for the indexes, instead of WORK")
    parser.add_argument("-o", "--out", type=Path, default=Path("results/retrieval"))
    options = parser.parse_args()
    out, tables = options.out, ["# What the retrievers find", "", main_command()]
    out.mkdir(parents=True, exist_ok=True)
    held: dict[str, tuple[News, dict[str, Method]]] = {}
    of_year: dict[str, list[PreparedPost]] = defaultdict(list)
    for name, year in SETS.items():
        if year not in held:
            folder = (options.index or options.work / year) / f"{year}.index"
            news = News(options.work / year / "news.db", folder)
            held[year] = news, methods(news, options.data, folder, year)
        posts = list(RecordFile(options.work / name / "posts.jsonl", PreparedPost))
        of_year[year] += posts
        test = [post for post in posts if post.split == "test"]
        tables += ["", coverage(name, test, *held[year])]
        (out / "quality.md").write_text("\n".join(tables) + "\n", "utf-8")
    for year, posts in of_year.items():
        for which in ("test posts", "all posts"):
            some = [p for p in posts if which == "all posts" or p.split == "test"]
            tables += ["", links(year, some, *held[year], which)]
            (out / "quality.md").write_text("\n".join(tables) + "\n", "utf-8")
    figure(
        held["2020"][0], options.data, (options.index or options.work / "2020") / "2020.index", out
    )


def main_command() -> str:
    """How this was made."""
    return "Made by `python benchmarks/retrieval_quality.py ../shared/data WORK`; see there."


if __name__ == "__main__":
    main()
