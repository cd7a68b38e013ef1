"""What the tests of the news share; helpers stand in newsroom.py."""

import pytest

from hashnews.news.store import NewsStore


@pytest.fixture
def store(tmp_path):
    with NewsStore(tmp_path / "news.db", "write") as opened:
        yield opened
