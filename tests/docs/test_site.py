"""The site of the docs builds without a warning, and looks right in a browser."""

import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pages import ROOT

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site: links, anchors and the API reference are whole."""
    for part in ("material", "mkdocstrings"):
        pytest.importorskip(part, reason=f"{part} is not installed: make docs")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def test_it_is_whole(site):
    api = (site / "python.html").read_text("utf-8")
    for name in ("suggest_all", "on_topic", "HashNewsError"):
        assert name in api
    assert (site / "search" / "search_index.json").exists()
    # What pages link to outside docs/ comes along, with what that links to.
    assert (site / "results" / "panel" / "index.html").exists()
    assert (site / "results" / "retrieval" / "growth.png").exists()


def test_the_search_finds(site):
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    handler = partial(SimpleHTTPRequestHandler, directory=site)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport=WIDE)
        page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
        page.locator(".md-search__input").click()
        page.keyboard.type("bluesky")
        found = page.locator(".md-search-result__link")
        found.first.wait_for()
        assert "Bluesky" in found.first.inner_text()
        browser.close()
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", WIDE), ("dark", WIDE), ("light", PHONE)],
    ids=["light", "dark", "phone"],
)  # fmt: skip
def test_pages_fit_the_screen(site, scheme, size):
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    asked, wrong = [], []
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport=size, color_scheme=scheme)
        page.on("request", lambda request: asked.append(request.url))
        for path in sorted(set(site.glob("*.html")) - {site / "404.html"}):  # its links need a host
            page.goto(path.as_uri())
            wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
            broken = page.evaluate("[...document.images].some(image => !image.naturalWidth)")
            dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != (
                "rgb(255, 255, 255)"
            )
            if wide or broken or dark != (scheme == "dark"):
                wrong.append((path.name, wide, broken, dark))
        browser.close()
    assert wrong == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
