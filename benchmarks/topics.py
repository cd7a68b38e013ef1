"""How well likeness and topics put hashtags in order that a reader graded.

    python benchmarks/topics.py -o results/sense/topics.json
    python benchmarks/topics.py --models OTHER/models

The posts are those of the school (tools/sense/school.jsonl): invented and graded; none of them
taught encoder or topics. Of each post every hashtag that a reader would use (2) is compared with
every one that is beside the point (0 or -1): the share of those pairs in order, half for a tie.
Chance is 50 %. `topics` is of the hashtags that are topics, `likeness` of all.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hashnews.files import new_file
from hashnews.suggest.emoji import emoji_words
from hashnews.suggest.topics import Topics
from hashnews.text.hashtags import key_of
from hashnews.text.meaning import Meaning
from hashnews.text.segment import shipped_segmenter

ROOT = Path(__file__).resolve().parents[1]
SCHOOL = ROOT / "tools" / "sense" / "school.jsonl"
# What the posts of each kind are about, by how their ids begin.
KINDS = {
    "w": "mixed",
    **dict.fromkeys(["og", "oh", "ol", "om", *"hijlm"], "news"),
    **dict.fromkeys("fgkno", "everyday"),
}


class Order:
    """Pairs of a good and a bad hashtag, and how many of them are in order."""

    def __init__(self) -> None:
        self.pairs, self.right = 0, 0.0

    def add(self, scores: Sequence[float], grades: Sequence[int]) -> None:
        """Compare the hashtags of one post."""
        score, grade = np.array(scores), np.array(grades)
        ahead = score[grade == 2][:, None] - score[grade <= 0][None]
        self.pairs += ahead.size
        self.right += float((ahead > 0).sum() + 0.5 * (ahead == 0).sum())

    @property
    def share(self) -> float:
        """The share in order, in percent."""
        return round(100 * self.right / max(1, self.pairs), 1)


def measure(models: Path) -> dict[str, Any]:
    """Both orders by kind of post."""
    encoder, topics = Meaning.load(models / "meaning"), Topics.load(models / "topics")
    rows = [json.loads(line) for line in SCHOOL.open(encoding="utf-8")]
    at, segmenter = {key: place for place, key in enumerate(topics.keys)}, shipped_segmenter()
    bodies = [" ".join([row["text"], *emoji_words(row["text"])]) for row in rows]
    found: dict[str, dict[str, Order]] = defaultdict(lambda: defaultdict(Order))
    posts: dict[str, int] = defaultdict(int)
    for row, vector in zip(rows, encoder.of_posts(bodies), strict=True):
        kind = KINDS.get(row["id"][:2]) or KINDS[row["id"][0]]
        tags = list(row["grades"])
        posts[kind] += 1
        grades, likely = list(row["grades"].values()), topics.of(vector)
        near = encoder.of_phrases([segmenter.segment(tag) for tag in tags]) @ vector
        found[kind]["likeness"].add(near.tolist(), grades)
        known = [(at[key_of(tag)], row["grades"][tag]) for tag in tags if key_of(tag) in at]
        scores = [float(likely[place]) for place, _ in known]
        found[kind]["topics"].add(scores, [grade for _, grade in known])
    return {
        kind: {
            "posts": posts[kind],
            **{name: {"pairs": one.pairs, "in order": one.share} for name, one in orders.items()},
        }
        for kind, orders in sorted(found.items())
    }


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", type=Path, default=ROOT / "src" / "hashnews" / "models")
    parser.add_argument("-o", "--out", type=Path)
    options = parser.parse_args()
    table = json.dumps(measure(options.models), indent=2) + "\n"
    print(table, end="")
    if options.out:
        with new_file(options.out) as stream:
            stream.write(table)


if __name__ == "__main__":
    main()
