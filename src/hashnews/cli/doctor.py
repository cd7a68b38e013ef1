"""`hashnews doctor`: what is wrong with an installation, a store or a model, and what to do."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click

from hashnews.cli.console import say
from hashnews.cli.options import json_option, own_store_option

OLDEST_SAFE_EXPAT = (2, 4, 1)  # older ones expand entities without end
HEALED = ("index", "memory")  # they are made again where they are wrong
LEAST_FREE = 1 << 30  # bytes
POST = {
    "text": "Marching tonight in Minneapolis. Say his name: George Floyd.",
    "created_at": "2020-05-29T20:00:00Z",
}


class Finding(NamedTuple):
    """One thing looked at."""

    what: str
    found: str
    remedy: str | None = None  # None: nothing to do


@click.command()
@own_store_option
@click.option("--model", type=click.Path(path_type=Path), metavar="DIR",
              help="The model directory to look at.  [default: the shipped model]")  # fmt: skip
@json_option
def doctor(news: Path | None, model: Path | None, as_json: bool) -> None:
    """Check installation, store and model, and say how to fix problems; exits with 1 if any."""
    findings = []
    for finding in _look(news, model):
        findings.append(finding)
        if not as_json:
            good = finding.remedy is None
            say("ok   " if good else "WRONG", nl=False, fg="green" if good else None)
            say(f"  {finding.what:12} {finding.found}")
            if finding.remedy is not None:
                say(f"{'':20}{finding.remedy}")
    if as_json:
        say(json.dumps([finding._asdict() for finding in findings]))
    if any(finding.remedy is not None for finding in findings):
        click.get_current_context().exit(1)


def _look(news: Path | None, model: Path | None) -> Iterator[Finding]:
    yield from _install()
    yield _disk(news)
    if news is not None:
        looked_at = list(_guarded("store", lambda: _store(news)))
        yield from looked_at
        if any(finding.remedy for finding in looked_at if finding.what not in HEALED):
            return
    yield from _guarded("suggestion", lambda: _suggestion(news, model))


def _guarded(what: str, look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """What is found; an error is a finding, too."""
    from hashnews.errors import HashNewsError

    try:
        yield from look()
    except HashNewsError as error:
        found, _, remedy = str(error).rpartition(": ")
        yield Finding(what, found or remedy, remedy)
    except Exception as error:  # a broken installation raises anything
        yield Finding(what, f"{type(error).__name__}: {error}", "install it again")


def _install() -> Iterator[Finding]:
    import sqlite3
    from importlib.util import find_spec
    from pyexpat import EXPAT_VERSION, version_info

    from hashnews import __version__
    from hashnews.errors import EXTRAS
    from hashnews.news.database import JOURNAL

    yield Finding("hashnews", __version__)
    yield Finding("python", sys.version.split()[0])
    yield Finding("sqlite", f"{sqlite3.sqlite_version}, journal {JOURNAL}")
    safe = version_info >= OLDEST_SAFE_EXPAT
    yield Finding("expat", EXPAT_VERSION, None if safe else "feeds can harm: use a newer Python")
    there = [name for name, parts in EXTRAS.items() if all(find_spec(part) for part in parts)]
    absent = [name for name in EXTRAS if name not in there]
    left_out = f" (not installed: {', '.join(absent)})" if absent else ""
    yield Finding("extras", f"{', '.join(there) or 'none'}{left_out}")


def _disk(news: Path | None) -> Finding:
    import shutil

    place = Path.home() if news is None else news.absolute().parent
    free = shutil.disk_usage(place if place.exists() else Path("/")).free
    remedy = None if free >= LEAST_FREE else "free some: a store and its index need room to grow"
    return Finding("disk", f"{free / 1e9:.1f} GB free", remedy)


def _store(news: Path) -> Iterator[Finding]:
    from hashnews.index.folder import NewsIndex
    from hashnews.index.post_segments import PostSegments
    from hashnews.news.stats import statistics
    from hashnews.news.store import NewsStore

    with NewsStore(news) as store:
        counted = statistics(store)
        problems = store.check()
        index = None if problems else NewsIndex.check(store)
        memory = None if problems else PostSegments.check(store)
    days = f", {min(counted.days)} to {max(counted.days)}" if counted.days else ""
    yield Finding("store", f"{news}: {counted.articles:,} articles{days}, finder {counted.finder}")
    if not counted.articles:
        yield Finding("news", "none", "run hashnews feeds add SITE, then hashnews news fetch")
    gaps = [f"{first} to {last}" if first != last else str(first) for first, last in counted.gaps]
    if gaps:
        shown = ", ".join(gaps[:3]) + (f" and {len(gaps) - 3} more" if len(gaps) > 3 else "")
        yield Finding("gaps", f"no news on {shown}")
    remedy = "restore a backup; a copy is made by: hashnews news backup"
    yield Finding("integrity", problems[0] if problems else "good", remedy if problems else None)
    if not problems:
        heals = "nothing to do: it will be rebuilt when it is next used"
        yield Finding("index", index or "good", heals if index else None)
        yield Finding("memory", memory or "good", heals if memory else None)


def _suggestion(news: Path | None, model: Path | None) -> Iterator[Finding]:
    """One post, end to end."""
    from hashnews.records import Post
    from hashnews.suggest.pipeline import HashNews

    with HashNews(news, model) as hashnews:
        hashnews.suggest(Post.model_validate(POST))  # the first one compiles
        answer = hashnews.suggest(Post.model_validate(POST))
    yield Finding("model", str(model or "the shipped one"))
    best = answer.suggestions[0].hashtag if answer.suggestions else "no hashtag"
    taken = f"{answer.timings_ms['total']:.0f} ms"
    wrong = news is None and not answer.suggestions
    yield Finding("suggestion", f"{best} in {taken}", "report this" if wrong else None)
