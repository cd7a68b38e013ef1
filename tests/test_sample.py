"""The shipped sample: large enough, in time order, and posts that follow the news."""

import json
import os
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from hashnews.errors import StoreError
from hashnews.files import RecordFile
from hashnews.prepare.preparer import Preparer
from hashnews.records import Article, Post
from hashnews.sample import sample_file
from hashnews.suggest.pipeline import sample_store
from hashnews.text.entities import shipped_finder
from hashnews.text.segment import shipped_segmenter
from hashnews.text.tokens import words

FIRST, LAST = datetime(2020, 5, 20, tzinfo=UTC), datetime(2020, 6, 9, tzinfo=UTC)


def load(name, kind):
    with sample_file(name) as path:
        return list(RecordFile(path, kind))


def test_the_articles():
    articles = load("news.jsonl", Article)
    assert len(articles) >= 150
    assert (
        len({article.id for article in articles}) == len({a.url for a in articles}) == len(articles)
    )
    # A bare day ends where it ends last.
    assert all(FIRST <= a.published_at < LAST + timedelta(hours=12) for a in articles)
    days = Counter(article.published_at.date() for article in articles)
    assert len(days) == 20
    assert min(days.values()) >= 5
    with sample_file("news.jsonl") as path:
        bare = [json.loads(line)["published_at"] for line in path.read_text("utf-8").splitlines()]
    assert sum(len(time) == 10 for time in bare) >= 3


def test_the_posts():
    posts = load("posts.jsonl", Post)
    ready = list(Preparer(shipped_segmenter(), shipped_finder()).prepare(posts))
    assert len(ready) >= 80
    assert posts == sorted(posts, key=lambda post: post.created_at)
    assert sum(bool(post.inline) for post in ready) >= 20
    assert Counter(post.user for post in ready).most_common(1)[0][1] >= 4


def test_posts_link_only_to_articles_that_were_out():
    out = {article.url: article.published_at for article in load("news.jsonl", Article)}
    linked = 0
    for post in load("posts.jsonl", Post):
        for url, published_at in out.items():
            if url in post.text.split():
                assert published_at < post.created_at, post.id
                linked += 1
    assert linked >= 15


def test_events_emerge_on_their_day():
    articles = load("news.jsonl", Article)

    def first(*said):
        return min(
            article.published_at
            for article in articles
            if set(said) <= set(words(article.title + " " + article.text))
        )

    assert first("george", "floyd") > datetime(2020, 5, 26, tzinfo=UTC)
    assert first("chauvin", "charged") > datetime(2020, 5, 29, tzinfo=UTC)
    assert first("lives", "matter", "plaza") > datetime(2020, 6, 5, tzinfo=UTC)
    assert first("colston") > datetime(2020, 6, 7, tzinfo=UTC)
    for event in (["george", "floyd"], ["docked"], ["jobs", "may"]):
        about = [p for p in load("posts.jsonl", Post) if set(event) <= set(words(p.text))]
        assert all(post.created_at > first(*event) for post in about)


@pytest.mark.parametrize("how", ["open to all", "a link"])
def test_without_a_home_a_folder_that_others_may_write_to_is_not_used(tmp_path, monkeypatch, how):
    """Whose it was nobody asked: anybody could have laid a store there."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    place = tmp_path / f"hashnews-{os.getuid()}"
    if how == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "elsewhere")
    else:
        place.mkdir()
        place.chmod(0o777)
    with pytest.raises(StoreError, match="not yours alone"):
        sample_store()
