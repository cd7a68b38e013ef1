"""A dataset of one's own: what a store has collected, exported, is what `reproduce` reads."""

import json

import pytest
from click.testing import CliRunner

from hashnews.cli import main
from hashnews.files import RecordFile
from hashnews.records import Article, PreparedPost
from hashnews.reproduce.actions import POSTS, prepare_posts
from hashnews.reproduce.plan import Dataset
from hashnews.sample import sample_file

HOW = {"split": "chronological", "seed": 1, "collection": None, "finder": "fast", "most": None}


def hashnews(*words):
    done = CliRunner().invoke(main, list(map(str, words)))
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """The sample, as if it had flowed into a store, and the dataset made of it."""
    folder = tmp_path_factory.mktemp("collected")
    store, dataset = folder / "news.db", folder / "mine"
    dataset.mkdir()
    with sample_file("posts.jsonl") as posts, sample_file("news.jsonl") as news:
        hashnews("news", "add", news, "--news", store)
        hashnews("posts", "add", posts, "--news", store)
    hashnews("posts", "export", "-o", dataset / "posts.jsonl.gz", "--news", store)
    hashnews("news", "export", "-o", dataset / "news.jsonl.gz", "--news", store)
    return Dataset(dataset)


def prepared(folder, raw, never=()):
    folder.mkdir()
    prepare_posts(folder, raw=raw, never=never, **HOW)
    return {post.id: post for post in RecordFile(folder / POSTS, PreparedPost)}


def test_exported_posts_are_prepared_as_raw_ones_are(collected, tmp_path):
    with sample_file("posts.jsonl") as raw:
        wanted = prepared(tmp_path / "raw", raw)
    found = prepared(tmp_path / "exported", collected.needed("posts"))
    assert len(found) > 50
    assert found.keys() == wanted.keys()
    for name, post in found.items():
        assert post.hashtags == wanted[name].hashtags
        assert (post.body, post.entities) == (wanted[name].body, wanted[name].entities)
        assert (post.created_at, post.split) == (wanted[name].created_at, wanted[name].split)
    assert any(post.entities for post in found.values())


def test_what_was_followed_is_never_a_target(collected, tmp_path):
    everything = prepared(tmp_path / "all", collected.needed("posts"))
    tag = next(iter(everything.values())).hashtags[0]
    less = prepared(tmp_path / "less", collected.needed("posts"), never=[tag.written])
    assert any(tag.key in {one.key for one in post.hashtags} for post in everything.values())
    assert not any(tag.key in {one.key for one in post.hashtags} for post in less.values())


def test_exported_news_are_those_of_the_store(collected):
    with sample_file("news.jsonl") as path:
        ids = {json.loads(line)["id"] for line in path.read_text("utf-8").splitlines()}
    assert {article.id for article in RecordFile(collected.needed("news"), Article)} == ids
