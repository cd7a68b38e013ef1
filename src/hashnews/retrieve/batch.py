"""Contexts for a file of posts: in order, with several processes, and resumed where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path

from hashnews.files import RecordFile, new_file
from hashnews.records import PostContext, PreparedPost
from hashnews.retrieve.base import BaseRetriever

CHUNK = 256
MakeRetriever = Callable[[], BaseRetriever]


def context_line(post: PreparedPost, context: PostContext) -> str:
    """One line of contexts.jsonl."""
    return json.dumps(
        {
            "post_id": post.id,
            "articles": [article._asdict() for article in context.articles],
            "context": context.words,
        },
        ensure_ascii=False,
    )


def write_contexts(
    posts: Path,
    target: Path,
    make: MakeRetriever,
    same: str,
    workers: int = 1,
    watch: Callable[[Iterable[str]], Iterable[str]] = lambda lines: lines,
) -> int:
    """Write the context of every post; what an earlier, broken-off run wrote is kept.

    `same` names everything the contexts depend on (settings, news, reference): a run that differs
    in it starts anew. `watch` sees the lines pass, for showing progress.
    """
    part = target.with_name(f".{target.name}.part")
    done = _resumable(part, hashlib.sha256(same.encode()).hexdigest())
    waiting = islice(iter(RecordFile(posts, PreparedPost)), done, None)
    with part.open("a", encoding="utf-8") as stream:
        for count, line in enumerate(watch(_contexts(waiting, make, workers)), 1):
            stream.write(line + "\n")
            if count % CHUNK == 0:
                stream.flush()
            done += 1
    with part.open(encoding="utf-8") as written, new_file(target) as stream:
        next(written)  # the head of the part file
        stream.writelines(written)
    part.unlink()
    return done


def _resumable(part: Path, digest: str) -> int:
    """How many contexts a part file holds that can be kept; the rest of it is cut off."""
    head = (json.dumps({"contexts of": digest}) + "\n").encode()
    if part.exists():
        content = part.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if whole.startswith(head):
            os.truncate(part, len(whole))
            return whole.count(b"\n") - 1
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_bytes(head)
    return 0


def _contexts(posts: Iterator[PreparedPost], make: MakeRetriever, workers: int) -> Iterator[str]:
    if workers == 1:
        return context_lines(make(), posts)
    return _by_processes(_chunks(posts), make, workers)


def context_lines(retriever: BaseRetriever, posts: Iterator[PreparedPost]) -> Iterator[str]:
    """The contexts of posts, one line each."""
    return chain.from_iterable(_lines(retriever, chunk) for chunk in _chunks(posts))


def _chunks(posts: Iterator[PreparedPost]) -> Iterator[list[PreparedPost]]:
    return iter(lambda: list(islice(posts, CHUNK)), [])


def _lines(retriever: BaseRetriever, posts: list[PreparedPost]) -> list[str]:
    return list(map(context_line, posts, retriever.retrieve_all(posts)))


def _by_processes(
    chunks: Iterator[list[PreparedPost]], make: MakeRetriever, workers: int
) -> Iterator[str]:
    with ProcessPoolExecutor(workers, get_context("spawn"), _prepare_worker, (make,)) as pool:
        # A few chunks ahead of the writing, not all of them: memory stays flat.
        ahead = [pool.submit(_work, chunk) for chunk in islice(chunks, 2 * workers)]
        while ahead:
            yield from ahead.pop(0).result()
            ahead += [pool.submit(_work, chunk) for chunk in islice(chunks, 1)]


_retriever: BaseRetriever | None = None


def _prepare_worker(make: MakeRetriever) -> None:
    global _retriever
    _retriever = make()


def _work(posts: list[PreparedPost]) -> list[str]:
    if _retriever is None:
        raise RuntimeError("the worker was not prepared")
    return _lines(_retriever, posts)
