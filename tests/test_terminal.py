"""No character that a terminal obeys gets out: through every field and every command."""

import io
import json
import logging
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import hashnews
from hashnews import cli
from hashnews.cli import COMMANDS, follow, main
from hashnews.cli.console import say, track
from hashnews.files import new_file
from hashnews.news.store import NewsStore
from hashnews.posts.networks.sources import source_states
from hashnews.records import Article
from hashnews.service import logs
from hashnews.terminal import one_line, safe

# Not from the code under test: by category and by bidirectional class.
TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
OBEYED = [
    sign
    for sign in map(chr, range(0x110000))
    if (unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") and sign not in "\t\n")
    or unicodedata.bidirectional(sign) in TURNS
    or sign in "\u061c\u200e\u200f"  # marks of direction
]
SET = frozenset(OBEYED)
PRINTABLE = [sign for sign in OBEYED if not "\ud800" <= sign <= "\udfff"]
OSC = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\u202eevil\u2066"
EVIL = "x" + "".join(PRINTABLE) + OSC + "\nFORGED"
SGR = re.compile("\x1b\\[[0-9;]*m")  # our own bold and colours


def clean(text):
    left = [sign for sign in SGR.sub("", text) if sign in SET]
    assert not left, [hex(ord(sign)) for sign in left[:9]]
    return text


def test_every_character_that_a_terminal_obeys_is_told_by_its_name():
    assert 2100 < len(OBEYED) < 2200
    for sign in OBEYED:
        assert safe(f"a{sign}b") == f"a\\u{ord(sign):04x}b"
    assert one_line("a\nb\tc") == "a\\nb c"
    assert len(one_line("x" * 5000, 1000)) == 1000


def test_nothing_else_changes():
    kept = "".join(
        sign for sign in map(chr, range(0x110000)) if sign not in SET and
        not "\u206a" <= sign <= "\u206f" and not "\ufff9" <= sign <= "\ufffb"
    )  # fmt: skip
    assert safe(kept) == kept
    assert safe("👩‍👩‍👧 नमस्ते שלום\t1\n") == "👩‍👩‍👧 नमस्ते שלום\t1\n"


def test_json_stays_the_same_json():
    assert json.loads(safe(json.dumps(EVIL, ensure_ascii=False))) == EVIL


def test_there_is_one_door():
    """All commands print by `say`: nothing else in the code prints."""
    source = Path(hashnews.__file__).parent
    for path in source.rglob("*.py"):
        if path.name != "console.py":
            assert not re.search(r"click\.s?echo|^\s+print\(", path.read_text("utf-8"), re.M), path


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A store whose every field is hostile, as a file and a feed can make it; and hostile files."""
    folder = tmp_path_factory.mktemp("evil")
    rows = [
        {"id": f"{n}{EVIL}", "title": f"Angela Merkel {n} {EVIL}", "text": f"Paris {EVIL}",
         "published_at": f"2020-06-0{min(n, 3)}T10:00:00Z", "url": f"https://e.org/{n}{EVIL}",
         "source": f"S{EVIL}", "entities": ["Angela Merkel", f"Merkel{EVIL}"]}
        for n in range(1, 20)
    ]  # fmt: skip
    news = folder / "news.jsonl"
    news.write_text("\n".join(map(json.dumps, rows)))
    posts = [
        {"id": f"p{n}{EVIL}", "user": f"u{EVIL}", "created_at": f"2020-06-0{n}T12:00:00Z",
         "text": f"Angela Merkel in Paris {EVIL} #paris #Berlin"}
        for n in (2, 3, 4)
    ]  # fmt: skip
    (folder / "posts.jsonl").write_text("\n".join(map(json.dumps, posts)))
    (folder / f"b{OSC}.jsonl").write_text(json.dumps({"text": EVIL, "published_at": EVIL}) + "\n[")
    (folder / f"b{OSC}.xml").write_text(f"<rss><channel>{OSC}")
    toots = [
        {"type": "Create", "published": "2020-06-04T12:00:00Z",
         "to": ["https://www.w3.org/ns/activitystreams#Public"],
         "object": {"type": "Note", "id": f"https://e.org/{n}{EVIL}", "content": f"{EVIL} #paris",
                    "published": time, "to": ["https://www.w3.org/ns/activitystreams#Public"]}}
        for n, time in enumerate(["2020-06-04T12:00:00Z", EVIL])
    ]  # fmt: skip
    (folder / f"o{OSC}.json").write_text(
        json.dumps({"type": "OrderedCollection", "orderedItems": toots})
    )
    (folder / f"t{OSC}.csv").write_text(f"words,when\n{OSC} #paris,{OSC}\n")
    (folder / f"z{OSC}.zip").write_bytes(b"PK\x03\x04" + EVIL.encode())
    (folder / f"tokens{OSC}.txt").write_text(f"e.org {OSC}\n")
    (folder / "feeds.txt").write_text(f"http://127.0.0.1:1/{OSC}\n")
    # A numbered reference is the one way to have such a character in OPML.
    hidden = EVIL.encode("ascii", "xmlcharrefreplace").decode().replace("\x1b", "")
    hidden = "".join(sign for sign in hidden if sign.isprintable() and sign not in "<>\"'")
    (folder / "feeds.opml").write_text(
        f'<opml><body><outline text="{hidden}" xmlUrl="http://127.0.0.1:1/x"/></body></opml>'
    )
    return folder


def run(folder, *arguments, stdin=None):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = CliRunner().invoke(main, [str(part) for part in arguments], stdin, color=True)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert "Traceback" not in done.output
    return clean(done.stdout) + clean(done.stderr)


BAD, FEED = f"b{OSC}.jsonl", f"b{OSC}.xml"
DB, SKIP = ("--news", "w.db"), ("--on-error", "skip")
LINES = [
    ("news", "add", BAD, *DB), ("news", "add", BAD, *DB, "--on-error", "skip"),
    ("news", "add", FEED, *DB), ("news", "add", f"no{OSC}.jsonl", *DB),
    ("news", "add", "news.jsonl", *DB), ("news", "add", "news.jsonl", *DB, "--json"),
    ("news", "fetch", "feeds.txt", *DB), ("news", "fetch", "feeds.txt", *DB, "--json"),
    ("news", "fetch", f"http://{OSC}/", *DB), ("news", "fetch", OSC, *DB),
    ("news", "stats", *DB), ("news", "stats", *DB, "--json"), ("news", "stats", "--check", *DB),
    ("news", "search", "merkel", *DB), ("news", "search", "merkel", *DB, "--json"),
    ("news", "search", OSC, *DB), ("news", "export", "-o", "-", *DB, "--entities"),
    ("news", "export", "-o", f"x{OSC}.jsonl", *DB), ("news", "backup", f"c{OSC}.db", *DB),
    ("news", "reference", "-o", "-", *DB, "--before", "2020-06-09", "--size", "2"),
    ("news", "reindex", "--finder", "fast", *DB), ("news", "stats", "--news", f"no{OSC}.db"),
    ("feeds", "import", "feeds.opml", *DB), ("feeds", "import", "feeds.txt", *DB),
    ("feeds", "list", *DB), ("feeds", "list", *DB, "--json"), ("feeds", "export", *DB),
    ("feeds", "check", *DB), ("feeds", "check", *DB, "--json"), ("feeds", "add", OSC, *DB),
    ("feeds", "remove", OSC, *DB), ("feeds", "starter", OSC, *DB), ("feeds", "import", FEED, *DB),
    ("posts", "add", "posts.jsonl", *DB), ("posts", "add", BAD, *DB), ("posts", "stats", *DB),
    *(("posts", "add", f"o{OSC}.json", *DB, *more) for more in ((), SKIP, ("--user", OSC, *SKIP))),
    ("posts", "add", f"t{OSC}.csv", *DB, "--columns", "text=words,created_at=when"),
    ("posts", "add", f"t{OSC}.csv", *DB, "--columns", f"text={OSC},created_at=when"),
    ("posts", "add", f"t{OSC}.csv", *DB, "--columns", OSC), ("posts", "add", f"z{OSC}.zip", *DB),
    ("posts", "follow", OSC, *DB), ("posts", "follow", f"mastodon://e.org/tags/{OSC}", *DB),
    ("posts", "follow", "mastodon://127.0.0.1/tags/x", *DB, "--user", OSC),
    ("posts", "follow", "mastodon://127.0.0.1/tags/x", *DB, "--tokens", f"tokens{OSC}.txt"),
    ("posts", "follow", "mastodon://127.0.0.1/tags/x", *DB),
    ("posts", "forget", OSC, *DB), ("posts", "forget", "--author", OSC, *DB),
    ("posts", "forget", "--post", OSC, *DB), ("news", "forget", OSC, *DB),
    ("posts", "days", "posts.jsonl", "-o", f"d{OSC}"), ("posts", "days", BAD, "-o", "days"),
    ("trends", *DB, "--at", "2020-06-04"), ("trends", *DB, "--at", "2020-06-04", "--json"),
    ("trends", *DB, "--at", OSC), ("prepare", "posts.jsonl", "-o", "-"),
    ("prepare", "posts.jsonl", "-o", "prepared.jsonl"), ("prepare", BAD, "-o", "-"),
    ("segment", f"#a{OSC}b"), ("entities", f"Angela Merkel {OSC}"),
    ("entities", f"Angela Merkel {OSC}", "--json"),
    ("suggest", f"Angela Merkel in Paris {OSC}", "--at", "2020-06-04", *DB),
    ("suggest", f"Angela Merkel in Paris {OSC}", "--at", "2020-06-04", *DB, "--json"),
    ("suggest", "posts.jsonl", *DB), ("suggest", BAD, *DB), ("suggest", "x", "--model", OSC),
    ("retrieve", "prepared.jsonl", *DB, "-o", f"c{OSC}.jsonl"),
    ("retrieve", "prepared.jsonl", *DB, "--preset", "paper", "--ranking", "bm25",
     "--explain", f"p2{EVIL}"),
    ("evaluate", BAD, "--posts", BAD), ("doctor", "--news", f"no{OSC}.db"),
    ("doctor", *DB, "--json"), ("doctor", *DB), (OSC,), (f"--{OSC}",), ("news", OSC),
    ("reproduce", OSC), ("train", "tagger", "-c", OSC, "-o", OSC), ("serve", "--news", f"{OSC}.db"),
    ("mcp", "--news", f"{OSC}.db"),
]  # fmt: skip


def test_no_command_lets_a_field_speak_to_the_terminal(world):
    """Escapes in addresses, sources and entities of a fetched feed reached the terminal."""
    reached = {line[0] for line in LINES}
    assert set(COMMANDS) - reached == {"demo"}  # it shows the shipped sample
    for line in LINES:
        output = run(world, *line)
        assert not re.search(r"^FORGED", output, re.M), line
    assert "\\u001b]52" in run(world, "news", "search", "merkel", *DB)
    assert "\\u001b]52" in run(world, "news", "stats", *DB)
    assert "\\u001b]52" in run(world, "trends", *DB, "--at", "2020-06-04")


def test_what_a_followed_server_says_is_only_shown(world, capsys, monkeypatch):
    """A server's error, and a source as somebody wrote it into the store."""
    path = world / "followed.db"
    with NewsStore(path, "write") as store:
        store.database.run(
            "INSERT INTO followed (address, state, error, failed) VALUES (?, 'failed', ?, 1)",
            (f"mastodon://{EVIL}", EVIL),
        )
    shown = run(world, "posts", "sources", "--news", path)
    assert "\\u001b]52" in shown
    assert not re.search(r"^FORGED", shown, re.M)
    told = json.loads(run(world, "posts", "sources", "--news", path, "--json"))
    assert told["error"] == EVIL

    with NewsStore(path) as store:
        found = source_states(store)

    class Ending:
        def __init__(self):
            self.ends = iter([False, True])

        def wait(self, _):
            return next(self.ends)

        def state(self):
            return found

    for terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda answer=terminal: answer, raising=False)
        follow._watch(Ending())
        line = capsys.readouterr().err.removeprefix("\r\x1b[K").rstrip("\n")
        assert "\\u001b]52" in clean(line)
        assert "\n" not in line


def test_every_field_comes_back_from_json_as_it_went_in(world):
    run(world, "news", "add", "news.jsonl", "--news", "j.db")
    lines = run(world, "news", "export", "-o", "-", "--news", "j.db", "--entities").splitlines()
    read = {json.loads(line)["url"] for line in lines if line.startswith("{")}
    assert read == {f"https://e.org/{n}{EVIL}" for n in range(1, 20)}


def test_the_log_for_people_is_one_line_per_event(capsys):
    """A request for `/%1b%5d0;...%0aINJECTED` made lines of its own."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs._Lines())
    logger = logging.Logger("test")
    logger.addHandler(handler)
    for sign in [*OBEYED, "\n"]:
        logger.info("request", extra={"fields": {"path": f"/{sign}INJECTED", "why": sign}})
    assert len(clean(stream.getvalue()).splitlines()) == len(OBEYED) + 1
    try:
        raise ValueError(EVIL)
    except ValueError:
        logger.exception("failed")
    clean(stream.getvalue())


def test_progress_and_standard_output(capsys, monkeypatch):
    list(track(range(3), OSC))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    list(track(range(3), f"[/red]{OSC}.jsonl"))  # no markup either
    say(f"a{OSC}", bold=True)
    with new_file("-") as stream:
        stream.write(Article(id="1", text=EVIL, published_at="2020-06-01").to_json() + "\n")
    told = capsys.readouterr()
    clean(told.out)
    assert json.loads(told.out.splitlines()[-1])["text"] == EVIL
    assert "]52" not in told.err.replace("\\u001b]52", "")
    click.unstyle(told.out)


INTERRUPTED = """
import os, runpy, signal, sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[-1]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupts())
runpy.run_module("hashnews", run_name="__main__")
"""


@pytest.mark.parametrize("module", ["click", "hashnews.terminal", "hashnews.text.segment"])
def test_control_c_while_a_command_is_imported_is_one_line(module):
    """It was a traceback, where it came before anything was read."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, "segment", module], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.strip()) == (1, "Aborted!")


def test_warnings_of_the_library_go_through_the_same_door():
    """The name of a damaged file was printed as it was, all 5,000 letters of it."""
    CliRunner().invoke(cli.main, ["segment", "#x"])
    values = ("%s is damaged", (EVIL + "x" * 5000,), None)
    record = logging.LogRecord("hashnews.index", logging.WARNING, "", 1, *values)
    told = logging.lastResort.format(record)
    assert (told.count("\n"), len(told)) == (0, 500)
    assert told == safe(told)
