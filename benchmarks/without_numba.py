"""What a core without numba would cost: the loops interpreted, and some of them by numpy.

    python benchmarks/without_numba.py -o results/first-minutes/without-numba.md

The posts of the sample are answered with compiled loops, then with the same loops run by the
interpreter. Four loops are also written with numpy, give the same, and are timed on a day of news
like a real one and on the candidates of a post.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

MODEL = Path(__file__).parents[1] / "src/hashnews/models/best"
POSTS, ARTICLES, WORDS, CANDIDATES = 10, 500, 20_000, 100


def answer_posts(interpreted: bool) -> float:
    """Processor seconds a post of the sample; the first ones, which compile, do not count."""
    if interpreted:
        import numba

        def as_it_is(**_: object) -> Callable[[Any], Any]:
            def keep(function: Any) -> Any:
                function._cache = types.SimpleNamespace()
                return function

            return keep

        numba.njit = as_it_is
    from hashnews.files import RecordFile
    from hashnews.records import Post
    from hashnews.sample import sample_file
    from hashnews.suggest.pipeline import HashNews

    with sample_file("posts.jsonl") as path:
        posts = list(RecordFile(path, Post))[-2 * POSTS :]
    with HashNews() as hashnews:
        for post in posts[:POSTS]:
            hashnews.suggest(post)
        began = time.process_time()
        for post in posts[POSTS:]:
            hashnews.suggest(post)
        return (time.process_time() - began) / POSTS


def trees_by_numpy(
    roots: Any, depths: Any, feature: Any, threshold: Any, children: Any, columns: Any
) -> Any:
    """As `run_trees`."""
    rows, below = np.arange(columns.shape[1]), children.ravel()
    sums = np.zeros(len(rows))
    for root, depth in zip(roots, depths, strict=True):
        nodes = np.full(len(rows), root, np.int64)
        for _ in range(depth):
            nodes = below[2 * nodes + (columns[feature[nodes], rows] > threshold[nodes])]
        sums += threshold[nodes]
    return sums


def hashes_by_numpy(text: Any, starts: Any) -> Any:
    """As `hashes_of`: letter by letter, all strings that have one more."""
    sizes, values = np.diff(starts), np.full(len(starts) - 1, 2166136261, np.uint64)
    for letter in range(int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > letter)
        values[longer] = (values[longer] ^ text[starts[longer] + letter]) * np.uint64(16777619)
    return (values & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def invert_by_numpy(
    doc_starts: Any, words: Any, counts: Any, lengths: Any, ends: Any, pool: Any
) -> None:
    """As `invert`."""
    docs = np.repeat(np.arange(len(doc_starts) - 1), np.diff(doc_starts))
    order = np.argsort(words, kind="stable")
    pool[:, 0], pool[:, 1], pool[:, 2] = docs[order], counts[order], lengths[docs[order]]
    ends -= np.bincount(words, minlength=len(ends))


def align_by_numpy(first: Any, second: Any) -> float:
    """As `align`: Smith-Waterman, one diagonal at a time."""
    rows, columns = len(first), len(second)
    before, last, best = np.zeros(rows + 1), np.zeros(rows + 1), 0.0
    for diagonal in range(2, rows + columns + 1):
        low, high = max(1, diagonal - columns), min(rows, diagonal - 1)
        at = np.arange(low, high + 1)
        same = np.where(first[at - 1] == second[diagonal - at - 1], 2.0, -1.0)
        now = np.zeros(rows + 1)
        gap = np.maximum(last[at - 1], last[at]) - 1.0
        now[at] = np.maximum(0.0, np.maximum(before[at - 1] + same, gap))
        before, last, best = last, now, max(best, float(now[at].max()))
    return best / (2.0 * max(rows, columns))


def spent(run: Callable[[], Any], times: int = 20) -> float:
    """Milliseconds of the processor, once."""
    run()
    began = time.process_time()
    for _ in range(times):
        run()
    return (time.process_time() - began) / times * 1e3


def loops() -> list[tuple[str, float, float]]:
    """Four loops: what each does, and its milliseconds, compiled and by numpy."""
    from hashnews.arrays import starts_of
    from hashnews.index.packed import hashes_of, pack
    from hashnews.index.word_postings import invert
    from hashnews.retrieve.equations import align, letters_of
    from hashnews.suggest.ranker import Ranker, run_trees
    from hashnews.suggest.sources import FEATURES

    chance, told = np.random.default_rng(0), []

    def compare(
        what: str, compiled: Callable[..., Any], other: Callable[..., Any], *given: Any
    ) -> None:
        assert np.array_equal(compiled(*given), other(*given)), what
        told.append((what, spent(lambda: compiled(*given)), spent(lambda: other(*given))))

    trees = Ranker.load(MODEL / "ranker.npz").trees
    columns = chance.random((len(FEATURES), CANDIDATES)).astype(np.float32)
    what = f"the {len(trees.roots)} trees of the ranker, {CANDIDATES} candidates"
    compare(what, run_trees, trees_by_numpy, *trees, columns)
    text, sizes = pack([f"word{number}" for number in range(WORDS)])
    compare(f"hashes of {WORDS:,} words", hashes_of, hashes_by_numpy, text, starts_of(sizes))
    doc_starts = starts_of(np.full(ARTICLES, 200))
    each = [chance.choice(WORDS, 200, replace=False) for _ in range(ARTICLES)]
    words = np.concatenate(each).astype(np.uint16)
    counts = chance.integers(1, 9, len(words)).astype(np.uint8)
    ends = starts_of(np.bincount(words, minlength=WORDS))[1:]

    def lists(make: Callable[..., None]) -> Callable[..., Any]:
        def made(*given: Any) -> Any:
            pool = np.empty((len(words), 3), np.int32)
            make(*given, ends.copy(), pool)
            return pool

        return made

    what = f"posting lists of a day of {ARTICLES} articles"
    said = (doc_starts, words, counts, np.full(ARTICLES, 250))
    compare(what, lists(invert), lists(invert_by_numpy), *said)
    names = letters_of(["minneapolis", "indianapolis"])
    tokens = (names.codes[names.starts[k] : names.starts[k + 1]] for k in (0, 1))
    compare("align of two tokens", align, align_by_numpy, *tokens)
    return told


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--answer", choices=["compiled", "interpreted"])
    parser.add_argument("-o", "--out", type=Path)
    asked = parser.parse_args()
    if asked.answer:
        print(answer_posts(asked.answer == "interpreted"))
        return
    rows = [
        f"| {what} | {compiled:.3f} | {numpy:.3f} | {numpy / compiled:.0f} |"
        for what, compiled, numpy in loops()
    ]
    taken = [
        1e3 * float(subprocess.check_output([sys.executable, __file__, "--answer", how], text=True))
        for how in ("compiled", "interpreted")
    ]
    told = (
        "# Without numba\n\n`python benchmarks/without_numba.py -o results/first-minutes/"
        "without-numba.md`: milliseconds of the processor.\nEach pair gives the same.\n\n"
        "| | compiled | by numpy | times |\n|---|---|---|---|\n" + "\n".join(rows) + "\n\n"
        "| | compiled | interpreted | times |\n|---|---|---|---|\n"
        f"| one post of the sample answered | {taken[0]:.0f} | {taken[1]:,.0f} "
        f"| {taken[1] / taken[0]:.0f} |\n"
    )
    print(told)
    if asked.out:
        asked.out.write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main()
