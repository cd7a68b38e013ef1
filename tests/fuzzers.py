"""Hostile inputs, made from a seed, and what each may lead to; `benchmarks/attack.py` runs longer.

A fuzzer takes a chance and a folder, makes one input, tries it, and says what came of it. Anything
but what it allows is an error: a traceback, a hang, a wrong answer.
"""

import gzip
import json
import shutil
from datetime import timedelta

import numpy as np
from click.testing import CliRunner
from fuzz_files import FILES
from pydantic import ValidationError
from texts_to_mangle import NOW, PIECES, ROW, as_bytes, mangled

from hashnews.cli import main
from hashnews.dates import read_date, settle
from hashnews.errors import DataError, ModelError, NotAFeed
from hashnews.news.feeds import article_of, read_feed
from hashnews.news.pages import plain_text
from hashnews.saved import check_directory, new_directory, seal
from hashnews.suggest.ranker import Ranker
from hashnews.suggest.sources import FEATURES

DATE_PIECES = (
    "Mon, ;01;1;31;Jun;June;2020;20;99;0000;9999;20:00;20:00:00;8;8:00;PM;am;GMT;EST;XYZ;+0200"
    ";-07:00;+9999;Z;T; ;,;/;.;-;:;1591066800;2020-06;2020-06-01;juin;июня;年;月;日;(x);at;W23"
).split(";")
RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>T</title><item><title>One</title>
<link>https://example.org/1</link><guid>g</guid><pubDate>Tue, 02 Jun 2020 10:00:00 GMT</pubDate>
<description>&lt;p&gt;First&lt;/p&gt;</description></item><item><title>Two</title></item></channel>
</rss>"""


def times(chance, folder):
    """A date is a span that holds, or none; it never counts after it was seen."""
    text = "".join(chance.choices([*DATE_PIECES, " ", " "], k=chance.randrange(1, 12)))
    span = read_date(text)
    if span is None:
        return "no date"
    assert span.earliest <= span.latest, text
    try:
        settled = settle([text], NOW)
    except DataError:
        return "in the future"
    assert span.earliest <= settled <= max(NOW + timedelta(minutes=10), span.earliest), text
    return "a date"


def feeds(chance, folder):
    """A feed gives entries, each an article or refused by itself, or is none."""
    body = as_bytes(chance, mangled(chance, RSS))
    try:
        entries = read_feed(body, "https://example.org/feed")
    except NotAFeed:
        return "no feed"
    for entry in entries:
        try:
            article = article_of(entry, "https://example.org/feed", NOW)
        except (DataError, ValidationError):
            continue
        assert article.published_at <= NOW + timedelta(minutes=10)
    return "a feed"


def html(chance, folder):
    """Any HTML has a plain text."""
    plain_text(mangled(chance, "<div><p>One &amp; two</p><script>x</script></div>", most=30))
    return "text"


def files(chance, folder):
    """A command on a mangled file ends in 0, 1 or 2, and in one line where it fails."""
    lines = [json.dumps(ROW | {"id": str(n)}, ensure_ascii=False) for n in range(3)]
    lines[1] = mangled(chance, lines[1])
    content = as_bytes(chance, "\n".join(lines))
    names = ["n.jsonl", "n.csv", "n.jsonl.gz", "n.xml", "n.html", "n.warc", "n.parquet"]
    name = chance.choice(names)
    if name.endswith("gz"):
        content = gzip.compress(content)[: chance.choice([None, 40])]
    path = folder / name
    path.write_bytes(content)
    store = ["--news", folder / "w.db"]
    command = chance.choice(
        [["news", "add", path, *store], ["posts", "add", path, *store],
         ["prepare", path, "-o", folder / "o.jsonl"], ["posts", "days", path, "-o", folder / "d"],
         ["evaluate", path, "--posts", path], ["news", "fetch", path, *store]]
    )  # fmt: skip
    if command[:2] in (["news", "add"], ["posts", "add"]) and chance.random() < 0.5:
        command += ["--on-error", "skip"]
    shutil.rmtree(folder / "d", ignore_errors=True)
    done = CliRunner().invoke(main, [str(part) for part in command])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in (0, 1, 2)
    assert done.exit_code == 0 or done.stderr.count("Error: ") == 1, done.stderr
    return f"exit {done.exit_code}"


def options(chance, folder):
    """Any words of a command line end in 0, 1 or 2."""
    words = [
        "news", "add", "stats", "search", "posts", "trends", "segment", "entities", "--json",
        "--news", str(folder / "o.db"), "-n", "5", "--at", "--since", "2020-06-01", "-o", "--help",
        *PIECES,
    ]  # fmt: skip
    line = [word.replace("\0", "").replace("\ud800", "") for word in chance.choices(words, k=4)]
    done = CliRunner().invoke(main, line, input="")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return f"exit {done.exit_code}"


def rankers(chance, folder):
    """A damaged ranker is refused, or answers with probabilities."""
    path = folder / "ranker.npz"
    arrays = {
        "features": np.frombuffer("\n".join(FEATURES[:3]).encode(), np.uint8),
        "roots": np.array([0], np.int32), "depths": np.array([1], np.int32),
        "feature": np.array([0, 0, 0], np.int16), "threshold": np.array([0.5, -1, 1], np.float32),
        "steps": np.array([[1, 2], [0, 0], [0, 0]], np.int32),
        "scores": np.array([-1.0, 1.0]), "probabilities": np.array([0.0, 1.0]),
    }  # fmt: skip
    for name in chance.sample(sorted(arrays), chance.randrange(3)):
        value = chance.choice([-1, 0, 2, 3, 1 << 20, -(1 << 30)])
        arrays[name] = chance.choice(
            [arrays[name][:-1], arrays[name] * 0 + np.array(value).astype(arrays[name].dtype),
             arrays[name].astype(np.float64) * np.nan]
        )  # fmt: skip
    np.savez(path, **arrays)
    if chance.random() < 0.4:
        content = bytearray(path.read_bytes())
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
    try:
        answers = Ranker.load(path).probabilities(np.zeros((2, len(FEATURES))))
    except ModelError:
        return "refused"
    assert ((answers >= 0) & (answers <= 1)).all()
    return "loaded"


def models(chance, folder):
    """A directory that was changed is refused; sealed again it is read."""
    place = folder / "thing"
    with new_directory(place, "thing", {}) as scratch:
        (scratch / "a.txt").write_text("a")
        (scratch / "b.txt").write_text("b")
    target = place / chance.choice(["a.txt", "b.txt", "manifest.json", "c.txt"])
    old = target.read_text() if target.exists() else ""
    new = mangled(chance, old)
    target.write_text(new, errors="surrogatepass")
    try:
        check_directory(place, "thing")
    except ModelError:
        if target.name != "manifest.json":
            seal(place)
            check_directory(place, "thing")
        return "refused"
    assert new == old or target.name == "manifest.json", new
    return "as it was"


FUZZERS = (times, feeds, html, files, options, rankers, models, *FILES)
