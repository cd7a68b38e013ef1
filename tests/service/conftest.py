"""A store with the sample's news, and a server that most tests share."""

from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the service is an optional part")

from browsing import CHROMIUM, FLAGS, WIDE, playwright_api
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


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests of the page."""
    with playwright_api().sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def sample():
    """The server as somebody starts it first: with no arguments."""
    with Server() as running:
        yield running


@pytest.fixture
def visit(browser, sample):
    """Open the page; at the end nothing may have gone wrong in it that was not meant to."""
    contexts, errors = [], []

    def open_page(url=sample.url, path="/", viewport=WIDE, context=None, **options):
        if context is None:
            context = browser.new_context(viewport=viewport, **options)
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.errors = errors
        page.goto(url + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []
