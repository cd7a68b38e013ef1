"""Make the counts that ship with the package: words and pairs, and truecase.

    pip install wordsegment && python tools/counts.py ../shared/data --before 2020-04-25

The words and pairs start from the web counts inside the `wordsegment` package (Apache-2.0) and
learn from news and posts; truecase comes from the same texts. Only what is older than `--before`
is read, so that measurements on later posts stay honest. What is written are counts of words seen
several times, never a text.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import regex
import wordsegment

from hashnews.text.entities import Truecase
from hashnews.text.segment import Counts
from hashnews.text.tokens import repair

WEB_TOTAL = 1024908267229.0  # the words of the web corpus behind wordsegment's counts
NEWS_SHARE, POSTS_SHARE = 0.1, 0.03
RAREST_WEB_WORD = 20_000  # below that the web list is mostly typing errors
NEWS = ("2019/reference", "2019/news", "2020/reference")
POSTS = ("history/posts",)
SIGNS = regex.compile(r"[#@]\w+|https?://\S+")
TARGET = Path(__file__).parent.parent / "src" / "hashnews" / "text" / "data"


def texts(
    data: Path, names: tuple[str, ...], before: str, fields: tuple[str, ...]
) -> Iterator[str]:
    """The texts of the named files that are older than `before`, hashtags and names parted off."""
    for name in names:
        with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if (row.get("published_at") or row["created_at"]) < before:
                    whole = " . ".join(repair(row[field]) for field in fields)
                    yield SIGNS.sub(" . ", whole)


def web_counts() -> Counts:
    """The counts of the wordsegment package as ours."""
    wordsegment.load()
    words = {w: n for w, n in wordsegment.UNIGRAMS.items() if n >= RAREST_WEB_WORD}
    pairs: dict[str, dict[str, float]] = {}
    for pair, n in wordsegment.BIGRAMS.items():
        first, second = pair.split()
        if first in words and second in words:
            pairs.setdefault(first, {})[second] = n
    return Counts(WEB_TOTAL, words, pairs)


def main() -> None:
    """Read, count, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--before", default="2020-04-25")
    parser.add_argument("-o", "--out", type=Path, default=TARGET)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    read = (options.data, NEWS, options.before)
    posts = (options.data, POSTS, options.before, ("text",))
    counts = web_counts()
    counts = counts.mixed(Counts.of(texts(*read, ("title", "text")), 5, 8), NEWS_SHARE)
    counts = counts.mixed(Counts.of(texts(*posts), 5, 8), POSTS_SHARE)
    counts.save(options.out / "counts.npz")
    truecase = Truecase.of(texts(*read, ("text",)), 4).joined(Truecase.of(texts(*posts), 4))
    truecase.save(options.out / "truecase.npz")


if __name__ == "__main__":
    main()
