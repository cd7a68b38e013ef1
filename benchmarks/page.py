"""How quick the page is, in a real Chromium: first paint, and the answer after the last key.

    python benchmarks/page.py [--news DB] [--times 20] [-o results/service/page.json]

Needs playwright and Chromium. First paint is what the browser itself reports, in a browser that has
never seen the page. The answer is counted from the last key until the hashtags are painted; the
page waits 150 ms for another key, which is the pause. Says how busy the machine was.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from hashnews.files import new_file

PAUSE = 150  # milliseconds, as in page/app.js
POSTS = (
    ("Marching tonight in Minneapolis. Say his name: George Floyd.", "2020-05-29T20:00"),
    ("Two astronauts leave for the space station from Florida", "2020-05-30T21:00"),
    ("Beijing writes the law, Hong Kong has to live with it.", "2020-05-28T19:00"),
    ("That statue stood in Bristol for 125 years", "2020-06-08T09:00"),
    ("third loaf this week, the starter is finally bubbling", "2020-06-05T09:00"),
)
# From the last key to the frame after the answer: what a reader waits.
WATCH = """() => new Promise((done) => {
    const post = document.getElementById("post");
    const hashtags = document.getElementById("suggestions");
    const began = performance.now();
    new MutationObserver((_, watcher) => {
        if (hashtags.getAttribute("aria-busy") !== "false") return;
        watcher.disconnect();
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
    }).observe(hashtags, { attributeFilter: ["aria-busy"] });
    post.value += " today";
    post.dispatchEvent(new Event("input", { bubbles: true }));
})"""
FIRST_PAINT = """() => new Promise((done) => new PerformanceObserver((list) => {
    const found = list.getEntriesByName("first-contentful-paint")[0];
    if (found) done(found.startTime);
}).observe({ type: "paint", buffered: true }))"""


def main() -> None:
    """Serve, look, write down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--news", help="a store; default: the shipped sample")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("-o", "--out", type=Path, help="write JSON there, too")
    options = parser.parse_args()
    loads = [os.getloadavg()[0]]
    command = [sys.executable, "-m", "hashnews", "serve", "--port", "0"]
    command += ["--news", options.news] if options.news else []
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        url = wait(server)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            paints = [first_paint(browser, url) for _ in range(options.times)]
            answers = answered(browser, url, options.times)
    finally:
        server.terminate()
        server.wait()
    loads.append(os.getloadavg()[0])
    report = {
        "cores": os.cpu_count(),
        "load_before_and_after": [round(load, 1) for load in loads],
        "first_paint_ms": told(paints),
        "answer_after_the_last_key_ms": told(answers),
        "answer_after_the_pause_ms": told([one - PAUSE for one in answers]),
    }
    text = json.dumps(report, indent=1)
    print(text)
    if options.out:
        with new_file(options.out) as stream:
            stream.write(text + "\n")


def wait(server: subprocess.Popen[str]) -> str:
    """Until the service is ready; gives its address."""
    url = ""
    assert server.stderr is not None
    for line in server.stderr:
        if not line.startswith("{"):
            continue
        event = json.loads(line)
        if event["event"] == "listening":
            url = event["address"]
        if event["event"] == "ready":
            # Its log must be read, or it would stop writing; nobody needs it here.
            subprocess.Popen(["cat"], stdin=server.stderr, stdout=subprocess.DEVNULL)
            return url
    raise SystemExit("the service did not start")


def first_paint(browser: Browser, url: str) -> float:
    """Milliseconds until a browser that has nothing of the page paints its first words."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(url)
    paint = page.evaluate(FIRST_PAINT)
    context.close()
    return float(paint)


def answered(browser: Browser, url: str, times: int) -> list[float]:
    """Milliseconds from the last key of a post until its hashtags are painted."""
    page = browser.new_context().new_page()
    page.goto(url)
    page.locator("#rising li").first.wait_for()
    found = []
    for number in range(times + len(POSTS)):
        text, at = POSTS[number % len(POSTS)]
        ask(page, f"{text} {number}", at)
        found.append(float(page.evaluate(WATCH)))
    return found[len(POSTS) :]  # the first of each warms what is kept


def ask(page: Page, text: str, at: str) -> None:
    """Write a post and wait for its answer."""
    page.evaluate(
        """([text, at]) => {
            for (const [id, value, event] of [["as-of", at, "change"], ["post", text, "input"]]) {
                const field = document.getElementById(id);
                field.value = value;
                field.dispatchEvent(new Event(event, { bubbles: true }));
            }
        }""",
        [text, at],
    )
    page.wait_for_timeout(2 * PAUSE)
    page.locator('#suggestions[aria-busy="false"]').wait_for()


def told(values: list[float]) -> dict[str, Any]:
    """The middle one, nine in ten, and the worst."""
    ordered = sorted(values)
    return {
        "median": round(statistics.median(ordered)),
        "nine_in_ten": round(ordered[int(0.9 * (len(ordered) - 1))]),
        "worst": round(ordered[-1]),
        "times": len(ordered),
    }


if __name__ == "__main__":
    main()
