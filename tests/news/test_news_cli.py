"""`hashnews news ...` as a user meets it."""

import gzip
import json
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner
from newsroom import make

from hashnews import HashNews, Post
from hashnews.cli import main
from hashnews.sample import sample_file

RSS = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>T</title>
<item><title>One</title><link>https://example.org/1</link><guid>g1</guid></item></channel></rss>"""


@pytest.fixture
def run(tmp_path):
    def go(*arguments, code=0):
        done = CliRunner().invoke(main, ["news", *map(str, arguments)])
        assert done.exit_code == code, done.output
        return done

    return go


@pytest.fixture
def db(tmp_path, run):
    with sample_file("news.jsonl") as sample:
        run("add", sample, "--news", tmp_path / "news.db")
    return tmp_path / "news.db"


def test_add_twice_and_look_at_it(tmp_path, run):
    db = tmp_path / "n.db"
    with sample_file("news.jsonl") as sample:
        first = json.loads(run("add", sample, "--news", db, "--json").stdout)
        again = json.loads(run("add", sample, "--news", db, "--json").stdout)
    assert (first["added"], first["known"], first["refused"]) == (again["known"], 0, 0)
    assert again["added"] == 0
    shown = run("stats", "--news", db, "--check").stdout
    assert "█" in shown
    assert "sources, the largest" in shown
    stats = json.loads(run("stats", "--news", db, "--json", "--since", "2020-06-01").stdout)
    assert min(stats["days"]) == "2020-06-01"
    assert stats["finder"] == "fast"


@pytest.mark.extra("parquet")
def test_search_export_reference_backup_reindex(tmp_path, run, db):
    hits = run("search", "george", "floyd", "--news", db, "--json", "-n", "3").stdout.splitlines()
    assert len(hits) == 3
    assert "Floyd" in run("search", '"george floyd"', "--news", db).stdout
    assert run("search", "zzzzz", "--news", db).stderr == "nothing found\n"
    out = tmp_path / "out.jsonl.gz"
    run("export", "-o", out, "--news", db, "--before", "2020-05-25")
    lines = gzip.decompress(out.read_bytes()).decode().splitlines()
    assert 0 < len(lines) < 230
    assert "entities" not in json.loads(lines[0])
    piped = run("export", "-o", "-", "--news", db, "--entities")
    assert len(piped.stdout.splitlines()) == 230
    run("export", "-o", tmp_path / "x.parquet", "--news", db)
    assert (tmp_path / "x.parquet" / "day=2020-06-01").is_dir()
    run("export", "-o", tmp_path / "x.txt", "--news", db, code=2)
    about = run(
        "reference", "-o", tmp_path / "r.jsonl", "--news", db, "--size", 20,
        "--before", "2020-05-30", "--json",
    )  # fmt: skip
    assert json.loads(about.stdout)["drawn_from"] == 104
    assert "230 articles" in run("backup", tmp_path / "copy.db", "--news", db).stdout
    assert "230 articles" in run("reindex", "--finder", "fast", "--news", db).stdout


def test_an_article_is_forgotten_by_id_or_address(run, db):
    post = Post(id="1", text="George Floyd protests", created_at=datetime(2020, 6, 3, tzinfo=UTC))
    with HashNews(db) as hashnews:
        first, second, *others = hashnews.suggest(post).articles
        named = ("forget", first.id, f"{second.url}?utm_source=feed", "none", "--news", db)
        assert json.loads(run(*named, "--json").stdout) == {"forgotten": 2}
        assert run(*named).stdout == "0 articles forgotten\n"
        left = {article.id for article in hashnews.suggest(post).articles}
    assert not left & {first.id, second.id}
    assert left & {article.id for article in others}
    assert run("stats", "--check", "--news", db).stderr == ""
    run("forget", "s001", "--news", db.with_name("none.db"), code=1)


def test_what_is_refused_is_told_and_set_aside(tmp_path, run):
    lines = [make(1).to_json(), '{"text": "undated"}', make(2, published_at="2199-01-01").to_json()]
    (tmp_path / "n.jsonl").write_text("\n".join(lines))
    done = run("add", tmp_path / "n.jsonl", "--news", tmp_path / "n.db", "--on-error", "skip")
    assert "1 added, 0 known already, 2 refused" in done.stdout
    assert "refused 1 × published in the future" in done.stdout
    assert len((tmp_path / "n.refused.jsonl").read_text().splitlines()) == 2
    stopped = run("add", tmp_path / "n.jsonl", "--news", tmp_path / "n.db", code=1)
    assert "n.jsonl:2: published_at: is missing" in stopped.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["stats", "--news", "nope.db"], 1, "there is no such news store"),
        (["add", "nope.jsonl"], 1, "nope.jsonl: there is no such file"),
        (["add", "."], 1, "its name should end in one of"),
        (["fetch", "nope.txt"], 1, "neither a URL nor a readable file"),
        (["fetch", "http://127.0.0.1/feed"], 1, "not public (--allow-private allows it)"),
        (["fetch", "http://x.test/", "--every", "often"], 2, "is not a duration"),
        (["stats", "--since", "yesterday"], 2, "is not a time"),
        (["reindex", "--finder", "fast", "--news", "nope.db"], 1, "there is no such news store"),
    ],
)
def test_errors_are_one_line(run, tmp_path, monkeypatch, arguments, code, line):
    monkeypatch.chdir(tmp_path)
    done = run(*arguments, code=code)
    assert line in done.stderr
    assert "Traceback" not in done.output
    assert not (tmp_path / "nope.db").exists()


class Feed(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(RSS)))
        self.end_headers()
        self.wfile.write(RSS)

    def log_message(self, *_):
        pass


@pytest.fixture
def feed():
    with ThreadingHTTPServer(("127.0.0.1", 0), Feed) as http:
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_address[1]}/feed"
        http.shutdown()
        thread.join()


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_fetching_goes_on_until_it_is_stopped(tmp_path, run, feed, stop):
    db = tmp_path / "n.db"
    arguments = ["news", "fetch", feed, "--news", db, "--allow-private", "--every", "1s", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "hashnews", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell starts what runs in the background with SIGINT ignored, and children inherit it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    rounds = [json.loads(process.stdout.readline()) for _ in range(2)]
    time.sleep(0.2)
    process.send_signal(stop)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 0, told
    assert "stopped; what was fetched is kept" in told
    assert [one["added"] for one in rounds] == [1, 0]
    assert rounds[0]["undated"] == 1
    assert json.loads(run("stats", "--news", db, "--json").stdout)["articles"] == 1
