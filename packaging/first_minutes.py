"""A new user's first ten minutes, from `git clone` to a hashtag from one's own archive and feed.

    python packaging/first_minutes.py                   clone, install, and all that follows
    python packaging/first_minutes.py --with PYTHON     with an environment that has HashNews
    ... -o results/first-minutes/README.md              also write the table of times

Does what the table in docs/tutorial.md says, in a clean folder with an empty home, and fails where
a step does. The site with today's news is served by this machine; the archive is made up.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

HOME = Path(__file__).parents[1]
NOW = datetime.now(UTC)
NEWS = [
    "Crew Dragon leaves Kennedy Space Center for the station",
    "Crew Dragon launch watched by thousands near Kennedy Space Center",
    "Weather was perfect for Crew Dragon, says NASA",
    "Parliament debates the budget until midnight",
    "Rain ends the second day of the cricket test",
]
ARCHIVE = [
    "Fed the sourdough starter before work. #SourdoughClub #Baking",
    "Two loaves of sourdough out of the oven, one for the neighbours. #SourdoughClub",
    "My sourdough starter smells of apples today. #SourdoughClub #Baking",
]


class Step(NamedTuple):
    """One thing that the new user does, and how long it took."""

    does: str
    seconds: float
    processor: float


def feed() -> bytes:
    """News of the last hours as RSS."""
    items = "".join(
        f"<item><title>{title}</title><link>https://news.example/{n}</link>"
        f"<pubDate>{format_datetime(NOW - timedelta(hours=n + 1))}</pubDate>"
        f"<description>{title}. More in the evening.</description></item>"
        for n, title in enumerate(NEWS)
    )
    return f'<rss version="2.0"><channel><title>News</title>{items}</channel></rss>'.encode()


def archive() -> bytes:
    """What Mastodon gives one to download."""
    me = "https://social.example/users/ann"
    posts = [
        {
            "type": "Create",
            "actor": me,
            "object": {
                "id": f"{me}/statuses/{n}",
                "type": "Note",
                "inReplyTo": None,
                "attributedTo": me,
                "published": f"{NOW - timedelta(days=20 - n):%Y-%m-%dT%H:%M:%SZ}",
                "to": ["https://www.w3.org/ns/activitystreams#Public"],
                "content": f"<p>{text}</p>",
            },
        }
        for n, text in enumerate(ARCHIVE)
    ]
    outbox = {"id": "outbox.json", "type": "OrderedCollection", "orderedItems": posts}
    actor = {"id": me, "type": "Person", "preferredUsername": "ann"}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as files:
        files.writestr("actor.json", json.dumps(actor))
        files.writestr("outbox.json", json.dumps(outbox))
    return packed.getvalue()


class _Site(BaseHTTPRequestHandler):
    """A page that names a feed, and the feed."""

    page = b'<link rel="alternate" type="application/rss+xml" href="/feed.xml" title="News">'

    def do_GET(self) -> None:
        """Answer."""
        found = {"/": (self.page, "text/html"), "/feed.xml": (feed(), "application/rss+xml")}
        body, kind = found.get(self.path, (b"", "text/plain"))
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class NewUser:
    """Works in a folder, with nothing in the home; remembers how long each step took."""

    def __init__(self, folder: Path):
        self.folder, self.steps = folder, list[Step]()
        foreign = ("HASHNEWS", "NUMBA", "PYTHONDONTWRITE")  # a new user has none of these
        kept = {name: os.environ[name] for name in os.environ if not name.startswith(foreign)}
        home = {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "home/.cache")}
        self.environment = kept | home

    def run(self, does: str, *words: str | Path, within: Path | None = None) -> str:
        """A step; what it prints. Ends everything where it fails."""
        print(f"{len(self.steps) + 1}. {does}", flush=True)
        began, used = time.monotonic(), _processor()
        done = subprocess.run(
            list(map(str, words)), cwd=within or self.folder, env=self.environment,
            stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        if done.returncode:
            sys.exit(f"this step failed with {done.returncode}: {does}\n{done.stdout}")
        self.steps.append(Step(does, time.monotonic() - began, _processor() - used))
        return done.stdout


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _expect(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"not as promised: {what}")


def first_minutes(user: NewUser, python: Path | None, site: str) -> None:
    """The steps of the table in docs/tutorial.md."""
    if python is None:
        user.run("git clone", "git", "clone", "-q", HOME, "hashnews")
        clone = user.folder / "hashnews"
        make = ["make", f"PYTHON={sys.executable}"]
        user.run("make .venv/.core (what make demo installs)", *make, ".venv/.core", within=clone)
        told = user.run("make demo", *make, "demo", within=clone)
        python = clone / ".venv/bin/python"
    else:
        told = user.run("hashnews demo", python, "-m", "hashnews", "demo")
    _expect("  suggested #" in told and "What next" in told, "the demo suggests and says what next")
    mine = user.folder / "mine"
    mine.mkdir()
    (mine / "archive.zip").write_bytes(archive())
    hashnews = [python, "-m", "hashnews"]
    ask = ["suggest", "Fed", "my", "sourdough", "starter"]
    user.run("hashnews suggest, on the sample", *hashnews, *ask, within=mine)
    user.run("hashnews feeds add SITE", *hashnews, "feeds", "add", site, "--allow-private",
             within=mine)  # fmt: skip
    fetch = ["news", "fetch", "--allow-private", "--json"]
    fetched = user.run("hashnews news fetch", *hashnews, *fetch, within=mine)
    _expect(json.loads(fetched)["added"] == len(NEWS), "all news is fetched")
    told = user.run("hashnews posts add archive.zip", *hashnews, "posts", "add", "archive.zip",
                    "--user", "ann", "--json", within=mine)  # fmt: skip
    _expect(json.loads(told)["added"] == len(ARCHIVE), "the whole archive is remembered")
    own = user.run("hashnews suggest, from the archive", *hashnews, *ask, "--user", "ann", "--json",
                   within=mine)  # fmt: skip
    shown = [one["hashtag"] for one in json.loads(own)["suggestions"]]
    _expect("#SourdoughClub" in shown, f"one's own hashtag is suggested, not only {shown}")
    post = "Crew Dragon is on its way, what a launch"
    today = user.run("hashnews suggest, from today's news", *hashnews, "suggest", post, "--json",
                     within=mine)  # fmt: skip
    reasons = [why for one in json.loads(today)["suggestions"] for why in one["because"]]
    _expect(any(why["source"] == "news" for why in reasons), "today's news is a reason")
    ready = user.run("hashnews suggest, --for mastodon", *hashnews, *ask, "--user", "ann",
                     "--for", "mastodon", within=mine)  # fmt: skip
    _expect("Fed my sourdough starter\n\n#" in ready, "the post is ready to be pasted")


def table(steps: list[Step]) -> str:
    """The steps and their times as a page."""
    rows = "\n".join(
        f"| {n} | {step.does} | {step.seconds:.1f} | {step.processor:.1f} |"
        for n, step in enumerate(steps, 1)
    )
    load = os.getloadavg()[0]
    return (
        "# The first ten minutes, measured\n\n`python packaging/first_minutes.py -o "
        "results/first-minutes/README.md`: what [the page](../../docs/tutorial.md) says, done "
        f"in a clean\nfolder on {os.cpu_count()} cores, Python {platform.python_version()}, load "
        f"{load:.0f}. What others do on the machine lengthens the time, less so\nthe processor "
        "time.\n\n"
        f"| | step | seconds | of the processor |\n|---|---|---|---|\n{rows}\n"
        f"| | all | {sum(s.seconds for s in steps):.0f} | {sum(s.processor for s in steps):.0f} |\n"
    )


def main() -> None:
    """Serve the site, do the steps, say how long they took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--with", dest="python", type=lambda path: Path(path).absolute())
    parser.add_argument("-o", "--out", type=Path)
    asked = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        user = NewUser(Path(folder))
        first_minutes(user, asked.python, f"http://127.0.0.1:{server.server_port}")
    told = table(user.steps)
    print(told)
    if asked.out:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        asked.out.write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main()
