"""The tiny world: its expected values are those of the formulas, computed independently."""

import runpy
import subprocess
import sys
from pathlib import Path

from hashnews.files import RecordFile
from hashnews.records import Article, Post
from hashnews.retrieve.alignment import align, soft_match

WORLD = Path(__file__).parent / "world"


def test_expected_values_follow_from_the_formulas():
    done = subprocess.run([sys.executable, WORLD / "by_hand.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_matching_agrees_with_the_independent_script():
    by_hand = runpy.run_path(str(WORLD / "by_hand.py"))
    articles = list(RecordFile(WORLD / "news.jsonl", Article))
    posts = list(RecordFile(WORLD / "posts.jsonl", Post))
    tokens = {t for a in articles for e in a.entities for t in e.lower().split()}
    for x in tokens:
        for y in tokens:
            assert align(x, y) == by_hand["align"](x, y)
    for entity in {entity for post in posts for entity in post.entities}:
        for article in articles:
            for t in (1.0, 0.8):
                mentions = [mention.lower().split() for mention in article.entities]
                found = soft_match(entity.lower().split(), mentions, t, 0.65)
                expected = by_hand["m_soft"](entity, {"entities": article.entities}, t)
                assert [article.entities[at] for at in found] == expected
