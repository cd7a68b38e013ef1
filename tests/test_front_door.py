"""What `import hashnews` offers."""

import asyncio
import importlib
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime

import pytest

import hashnews
from hashnews import Answer, HashNews, Post

AT = datetime(2020, 6, 2, 12, tzinfo=UTC)
TEXT = "George Floyd protests spread from Minneapolis to Washington"


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        with HashNews() as made:
            yield made


def test_what_is_offered_is_there_and_nothing_else():
    assert hashnews.__all__ == sorted(hashnews.__all__)
    assert set(hashnews._HOMES) == set(hashnews.__all__)
    for name in hashnews.__all__:
        assert getattr(hashnews, name).__module__.startswith("hashnews.")
        assert getattr(importlib.import_module(hashnews._HOMES[name]), name)
        assert name in dir(hashnews)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = hashnews.Nothing


def test_importing_it_brings_in_nothing_heavy():
    code = (
        "import time; began = time.process_time(); import hashnews; "
        "print(time.process_time() - began); import sys; "
        "print(*sorted({'numpy', 'numba', 'pydantic', 'onnxruntime'} & sys.modules.keys()))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, heavy = shown.stdout.split("\n")[:2]
    assert heavy == ""
    assert float(seconds) < 0.1  # processor time, so a busy machine does not matter


def test_a_text_is_enough_and_a_post_will_do(opened):
    answer = opened.suggest(Post(id="1", text=TEXT, created_at=AT))
    assert isinstance(answer, Answer)
    assert "#GeorgeFloyd" in [suggestion.hashtag for suggestion in answer.suggestions]
    now = opened.suggest(TEXT)
    assert now.post.text == TEXT
    assert now.post_id == now.post.id
    assert asyncio.run(opened.asuggest(TEXT)).post.text == TEXT


def test_sixteen_threads_get_the_answers_of_one(opened):
    posts = [Post(id=str(n), text=f"{TEXT} {n}", created_at=AT) for n in range(16)]
    expected = [opened.suggest(post).suggestions for post in posts]
    found, gate = {}, threading.Barrier(16)

    def ask(post):
        gate.wait()
        for _ in range(3):
            found.setdefault(post.id, []).append(opened.suggest(post).suggestions)
            time.sleep(0)

    threads = [threading.Thread(target=ask, args=(post,)) for post in posts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[post.id] for post in posts] == [[one] * 3 for one in expected]


def test_the_example_of_the_docstring_runs(opened):
    example = hashnews.__doc__.split("\n\n", 1)[1].replace('HashNews("news.db")', "HashNews()")
    names = {}
    exec(compile(example, "example", "exec"), names)
    assert names["hashtags"][0].startswith("#")
