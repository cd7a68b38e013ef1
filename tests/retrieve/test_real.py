"""The retriever on real posts and news against brute force, which shares no code with it."""

import runpy
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest
from in_memory import index_of

from hashnews.files import RecordFile
from hashnews.index.day import Settings, build_day, fold_entity
from hashnews.prepare.preparer import Preparer
from hashnews.records import Article, Post
from hashnews.retrieve.reference import entries
from hashnews.retrieve.retriever import Retriever, RetrieverConfig
from hashnews.text.entities import shipped_finder
from hashnews.text.segment import shipped_segmenter
from hashnews.times import microseconds

BRUTE_FORCE = runpy.run_path(str(Path(__file__).parent / "brute_force.py"))["BruteForce"]
FIRST, DAY, END = (datetime(2020, 5, day, tzinfo=UTC) for day in (1, 5, 6))


@pytest.mark.shared
@pytest.mark.parametrize("t", [1.0, 0.8])
def test_real_posts(shared, t):
    news = RecordFile(shared / "2020" / "news.jsonl.gz", Article)
    ours = list(entries((a for a in news if FIRST <= a.published_at < END), shipped_finder()))
    reference = RecordFile(shared / "2020" / "reference.jsonl.gz", Article)
    other_times = list(entries(islice(reference, 0, None, 24), shipped_finder()))
    posts = RecordFile(shared / "2020" / "posts.jsonl.gz", Post)
    today = (post for post in posts if DAY <= post.created_at < END)
    prepared = Preparer(shipped_segmenter(), shipped_finder()).prepare(today)
    asked = [post for post in prepared if post.entities][::12][:15]
    settings = Settings(t=t)
    finder = Retriever(
        index_of(ours, settings), build_day(other_times, settings), RetrieverConfig()
    )
    force = BRUTE_FORCE(
        [(e.id, e.published, e.entities) for e in ours],
        [(e.id, e.published, e.entities) for e in other_times],
        t=t,
    )
    answered = 0
    for post in asked:
        moment = microseconds(post.created_at)
        expected = force.retrieve(post.entities, moment)
        found = finder.find(list(dict.fromkeys(map(fold_entity, post.entities))), moment).named()
        assert [(r.id, r.window) for r in found] == [(i, window) for i, _, window in expected]
        assert [r.score for r in found] == pytest.approx([s for _, s, _ in expected], abs=1e-9)
        answered += bool(found)
    assert answered >= 8
