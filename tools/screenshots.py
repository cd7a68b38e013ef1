"""Take the pictures of the page for the docs, with the shipped sample and model.

python tools/screenshots.py            # needs playwright and Chromium; writes docs/images
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
WIDE = {"width": 1280, "height": 900}
AT_A_GLANCE = {"light": "page", "dark": "page-dark"}  # for README and the first page
LOOKS = {
    "light": {"viewport": WIDE, "color_scheme": "light"},
    "dark": {"viewport": WIDE, "color_scheme": "dark"},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "color_scheme": "light",
        "device_scale_factor": 2,
    },
}


def main() -> None:
    """Serve, look, stop."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "hashnews", "serve", "--port", str(port)])
    try:
        wait(f"http://127.0.0.1:{port}/ready")
        with sync_playwright() as playwright:
            chromium = shutil.which("chromium")
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for name in LOOKS:
                take(browser, f"http://127.0.0.1:{port}", name)
    finally:
        server.terminate()
        server.wait()


def wait(url: str) -> None:
    """Until the service is ready."""
    for _ in range(600):
        try:
            urllib.request.urlopen(url).close()
            return
        except (OSError, urllib.error.HTTPError):
            time.sleep(0.2)
    sys.exit(f"{url} does not answer")


def take(browser: Browser, address: str, name: str) -> None:
    """The first example, a hashtag added, the reasons of another, an article opened."""
    page = browser.new_page(**LOOKS[name])
    page.goto(address)
    page.wait_for_selector("#rising li")
    page.locator("#examples button").first.click()
    page.wait_for_selector("#chips li")
    page.wait_for_timeout(800)
    page.locator(".tag.first").nth(1).click()
    if name in AT_A_GLANCE:
        page.evaluate("scrollTo(0, 0); document.activeElement.blur()")
        last = page.locator("#chips").bounding_box()
        end = last["y"] + last["height"] + 12
        clip = {"x": 0, "y": 0, "width": WIDE["width"], "height": end}
        page.screenshot(path=IMAGES / f"{AT_A_GLANCE[name]}.png", clip=clip)
    page.locator(".ask").first.click()
    page.locator(".articles summary").first.click()
    page.wait_for_timeout(500)
    page.evaluate("scrollTo(0, 0); document.activeElement.blur()")
    page.screenshot(path=IMAGES / f"{name}.png", full_page=True)
    page.close()


if __name__ == "__main__":
    main()
