"""Training a suggester on one's own posts, in one command."""

import json
from datetime import timedelta

import numpy as np
import pytest
from click.testing import CliRunner

from hashnews.cli import main
from hashnews.files import RecordFile, write_records
from hashnews.learn.examples import (
    SITUATIONS,
    Examples,
    RankerConfig,
    make_examples,
    situations,
    thinned,
)
from hashnews.news.store import NewsStore
from hashnews.posts.sample_store import sample_store
from hashnews.posts.table import read_posts
from hashnews.prepare.preparer import Preparer
from hashnews.records import Post
from hashnews.sample import sample_file
from hashnews.suggest.candidates import Search
from hashnews.suggest.memory import Memory
from hashnews.suggest.model import Model, load_judges, shipped_model
from hashnews.suggest.pipeline import HashNews
from hashnews.suggest.query import PostWithNews
from hashnews.suggest.sources import PLACE, SEASON
from hashnews.suggest.sources.author import AUTHOR
from hashnews.suggest.sources.neighbours import NEIGHBOURS
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter
from hashnews.times import microseconds


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield sample_store()


@pytest.fixture(scope="module")
def read():
    preparer = Preparer(shipped_segmenter(), load_finder("fast"))
    with sample_file("posts.jsonl") as path:
        posts = list(RecordFile(path, Post))
    ready = list(preparer.prepare(posts))
    return [PostWithNews(post, microseconds(post.created_at), [], []) for post in ready]


@pytest.fixture(scope="module")
def judges():
    return load_judges(shipped_model())


@pytest.fixture(scope="module")
def memory(sample):
    with NewsStore(sample) as store:
        return Memory(read_posts(store))


def test_one_command_trains_a_model_that_suggests(sample, tmp_path):
    pytest.importorskip("lightgbm")
    with sample_file("posts.jsonl") as posts:
        done = CliRunner().invoke(
            main,
            ["train", "best", "--posts", str(posts), "--news", str(sample), "-o",
             str(tmp_path / "model"), "--set", "ranker.smallest=5", "--set", "ranker.rounds=10",
             "--set", "ranker.seeds=2", "--json"],
        )  # fmt: skip
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert {"online", "newcomer", "unknown author"} <= set(told["held_out"])
    assert "taught on" in (tmp_path / "model" / "README.md").read_text()
    model = Model.load(tmp_path / "model")
    assert model.about["posts"] == told["posts"]
    known = model.prior.hashtags
    assert known
    assert all(form.startswith("#") for form in known.values())
    assert {key.lower() for key in known} == set(known)
    with HashNews(sample, tmp_path / "model") as hashnews:
        post = Post.model_validate({"text": "Hong Kong", "created_at": "2020-06-02T00:00:00Z"})
        assert hashnews.suggest(post).suggestions


def test_older_posts_fill_the_calendar(sample, tmp_path):
    pytest.importorskip("lightgbm")
    with sample_file("posts.jsonl") as path:
        posts = list(RecordFile(path, Post))
    a_year = timedelta(days=366)
    older = tmp_path / "older.jsonl"
    write_records(
        older,
        (
            post.model_copy(update={"id": f"{post.id}-{n}", "user": f"elder{n}",
                                    "created_at": post.created_at - a_year})
            for post in posts for n in range(3) if post.created_at
        ),
    )  # fmt: skip
    with sample_file("posts.jsonl") as path:
        settings = tmp_path / "best.toml"
        settings.write_text(
            f'[[sets]]\nposts = ["{path}"]\nnews = "{sample}"\nhistory = ["{older}"]\n'
            "[ranker]\nsmallest = 5\nrounds = 10\nseeds = 1\n"
        )
        command = ["train", "best", "-c", str(settings), "-o", str(tmp_path / "model")]
        done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    model = Model.load(tmp_path / "model")
    feature = model.judges.ranker.trees.feature
    assert set(feature.tolist()) & {PLACE[name] for name in SEASON.columns}
    with HashNews(sample, tmp_path / "model") as hashnews:
        answers = hashnews.suggest_all(posts, n=50)
    found = [one for answer in answers for one in answer.suggestions]
    assert "season" in {why.source for one in found for why in one.because}


def test_wrong_usage_of_the_command(tmp_path):
    run = CliRunner().invoke(main, ["train", "best", "--posts", "x", "-o", str(tmp_path / "m")])
    assert run.exit_code == 2
    few = tmp_path / "few.jsonl"
    few.write_text('{"text": "One.\\n#Tag", "created_at": "2020-06-02T00:00:00Z"}\n')
    with NewsStore(tmp_path / "news.db", "write"):
        pass
    command = ["train", "best", "--posts", str(few), "--news", str(tmp_path / "news.db"), "-o"]
    run = CliRunner().invoke(main, [*command, str(tmp_path / "m")])
    assert run.exit_code == 1
    assert "too few" in run.stderr


def test_the_answer_is_not_part_of_the_question(read, memory, judges):
    examples = make_examples(read, Search(memory), judges)
    without = make_examples(
        [at._replace(post=at.post.model_copy(update={"hashtags": ()})) for at in read],
        Search(memory),
        judges,
    )
    assert examples.keys == without.keys
    assert (examples.features == without.features).all()
    assert examples.used.any()
    assert not without.used.any()


def test_used_candidates_are_the_authors(read, memory, judges):
    examples = make_examples(read, Search(memory), judges)
    starts = examples.starts
    for n, at in enumerate(read):
        used = examples.used[starts[n] : starts[n + 1]].astype(bool)
        found = {key for key, was in zip(examples.keys[n], used, strict=True) if was}
        gold = {tag.key for tag in at.post.hashtags}
        assert found == gold & set(examples.keys[n])
        assert examples.gold[n] == len(gold)


def test_every_post_is_taught_in_one_situation(read, sample, judges):
    with NewsStore(sample) as store:
        posts = list(read_posts(store))
    dealt = situations(read, posts, Search, judges, RankerConfig())
    assert tuple(dealt) == SITUATIONS
    ids = [i for part in dealt.values() for i in part.ids]
    assert sorted(ids) == sorted(at.post.id for at in read)
    assert all(len(part.ids) for part in dealt.values())
    neighbours = [PLACE[name] for name in NEIGHBOURS.columns]
    author = [PLACE[name] for name in AUTHOR.columns]
    assert not dealt["newcomer"].features[:, neighbours + author].any()
    assert not dealt["unknown author"].features[:, author].any()
    for name in ("online", "frozen", "unknown author"):
        assert dealt[name].features[:, neighbours].any()
    for name in ("online", "own archive"):
        assert dealt[name].features[:, author].any()


def test_thinning_keeps_what_was_used():
    chance = np.random.default_rng(1)
    used = np.array([1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0], np.uint8)
    features = chance.random((13, 3)).astype(np.float32)
    examples = Examples(features, used, np.array([5, 3, 5]), np.array([1, 1, 1]), [], [])
    rows, answers, sizes = thinned(examples, 2, seed=1)
    assert sizes.tolist() == [3, 3]  # the second post used no candidate
    assert answers.tolist() == [1, 0, 0, 1, 0, 0]
    assert (rows[0] == features[0]).all()
    assert (rows[3] == features[8]).all()
