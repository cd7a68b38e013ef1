"""The school: invented posts whose candidates a reader graded, and parts of the panel."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hashnews.arrays import Array
from hashnews.prepare.preparer import Preparer
from hashnews.records import Post
from hashnews.suggest.candidates import Search
from hashnews.suggest.memory import Memory
from hashnews.text.entities import load_finder
from hashnews.text.hashtags import key_of
from hashnews.text.meaning import Vectors
from hashnews.text.segment import shipped_segmenter
from sense.beside import DAYS, SPANS, TOGETHER, Asked, beside_news
from sense.collections import json_lines
from sense.stories import prior_of
from sense.work import HERE, Work

FEW = 4  # one post of so many is also asked beside a few articles, and all whose story is known
# Parts of the panel that teach: choices were made by them, or their mistakes were read.
TEACHING = frozenset("choose fresh later last newest plain wide closing".split())


class Graded(NamedTuple):
    """Candidates of a post of the school, and their grades."""

    features: Array
    grades: Array
    vectors: Vectors


def school(work: Work) -> list[Graded]:
    """Graded candidates: of the invented posts, and twice of parts of the panel.

    Some of the invented posts are asked once more beside a few articles.
    """
    own = work.kept("school", lambda: _graded(work, _school_rows()))
    few = work.kept("school-few", lambda: _graded(work, _few_rows(), few=True))
    return [*own, *few, *work.kept("panel", lambda: _graded(work, _panel_rows())) * 2]


def _school_rows() -> list[dict[str, Any]]:
    return json_lines("school.jsonl")


def _few_rows() -> list[dict[str, Any]]:
    told = {row["id"] for row in json_lines("stories.jsonl")}
    return [row for at, row in enumerate(_school_rows()) if row["id"] in told or at % FEW == 0]


def _panel_rows() -> list[dict[str, Any]]:
    """The panel's posts of 2021 and 2023 that teach, with the mean of their grades."""
    sys.path.append(str(HERE.parents[1] / "benchmarks"))
    import panel

    posts, given = panel.read_panel(), panel.read_grades()
    half = panel.halves(posts)
    grades: dict[str, dict[str, int]] = {}
    for (post, key), by in given.items():
        grades.setdefault(post, {})[key] = round(float(np.mean(list(by.values()))))
    return [
        {**post._asdict(), "grades": grades.get(post.id, {})}
        for post in posts
        if half[post.id] in TEACHING and post.created_at[:4] in SPANS
    ]


def _graded(work: Work, rows: Sequence[dict[str, Any]], few: bool = False) -> list[Graded]:
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    posts, grades = [], {}
    for year in SPANS:
        for row in work.limited([row for row in rows if row["created_at"].startswith(year)]):
            fields = {key: row[key] for key in ("id", "created_at", "text")}
            post = preparer.read(Post(**fields))
            posts.append(Asked(post, year, post.created_at))
            grades[post.id] = {key_of(tag): grade for tag, grade in row["grades"].items()}
    search = Search(Memory([], DAYS), None, prior_of(work, None))
    reads, found = beside_news(work, posts, few), []
    for start in range(0, len(reads), TOGETHER):
        part = reads[start : start + TOGETHER]
        for read, (_, candidates) in zip(part, search.candidates(part), strict=True):
            own = grades[read.post.id]
            at = [row for row, key in enumerate(candidates.keys) if key in own]
            given = np.array([own[candidates.keys[row]] for row in at], np.int64)
            found.append(Graded(candidates.features[at], given, candidates.vectors[at]))
    return found
