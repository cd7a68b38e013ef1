"""The store of the shipped sample, news and posts."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from hashnews.errors import StoreError
from hashnews.files import RecordFile
from hashnews.news.ingest import add_files
from hashnews.news.migrations import MIGRATIONS
from hashnews.news.store import NewsStore
from hashnews.news.summary import Refusals, Summary
from hashnews.portable import own_scratch_folder
from hashnews.posts.table import add_posts
from hashnews.prepare.preparer import Preparer
from hashnews.records import Post
from hashnews.sample import sample_file
from hashnews.text.entities import load_finder
from hashnews.text.segment import shipped_segmenter


def sample_store() -> Path:
    """The store of the sample; made once, in the user's cache folder."""
    with sample_file("news.jsonl") as news, sample_file("posts.jsonl") as posts:
        content = news.read_bytes() + posts.read_bytes() + bytes([len(MIGRATIONS)])
        name = f"sample-{hashlib.sha256(content).hexdigest()[:12]}.db"
        home = _cache_folder()
        if not (home / name).exists():
            with tempfile.TemporaryDirectory(dir=home) as scratch:
                finder = load_finder("fast")
                with NewsStore(Path(scratch) / name, "write") as store:
                    add_files(store, finder, [str(news)], Refusals(Summary()))
                    preparer = Preparer(shipped_segmenter(), finder)
                    add_posts(store, preparer.remember(RecordFile(posts, Post)))
                os.replace(Path(scratch) / name, home / name)
    return home / name


def _cache_folder() -> Path:
    """The user's own; without a home, one in the folder for passing things, if it is ours alone."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hashnews"
    with suppress(OSError):
        home.mkdir(parents=True, exist_ok=True)
        return home
    if (scratch := own_scratch_folder()) is None:
        raise StoreError(
            "the folder for temporary files is not yours alone: set XDG_CACHE_HOME to a folder of "
            "yours"
        )
    return scratch
