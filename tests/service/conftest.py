"""A store with the sample's news, and a server that most tests share."""

from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the service is an optional part")

from servers import KEY, Server

from hashnews.news.ingest import add_files
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary
from hashnews.sample import sample_file
from hashnews.text.entities import shipped_finder


@pytest.fixture(scope="session")
def sample_news(tmp_path_factory) -> Path:
    """A store with the news of the sample, of which tests take copies."""
    path = tmp_path_factory.mktemp("news") / "news.db"
    with sample_file("news.jsonl") as news, NewsStore(path, "write") as store:
        add_files(store, shipped_finder(), [str(news)], Refusals(Summary()))
    return path


@pytest.fixture(scope="session")
def news(sample_news, tmp_path_factory) -> Path:
    """The store of the server that most tests share."""
    path = tmp_path_factory.mktemp("served") / "news.db"
    with NewsStore(sample_news) as store:
        store.backup(path)
    return path


@pytest.fixture(scope="session")
def server(news):
    """The server that most tests share; it may be written to."""
    with Server("--news", news, key=KEY) as running:
        yield running


@pytest.fixture
def http(server):
    return server.client
