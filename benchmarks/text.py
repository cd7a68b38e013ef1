"""Quality and speed of the text layer on the measuring data, one core.

    python benchmarks/text.py ../shared/data        (make bench)
    python benchmarks/text.py ../shared/data --choose   (how the segmenter's weights were chosen)

Speeds are medians of interleaved rounds in one run, beside a named peer doing the same work, in
processor time of the one core they use, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import gzip
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import parasail
import regex
import wordsegment

from hashnews.files import RecordFile
from hashnews.index.token_index import TokenIndex
from hashnews.prepare.datasets import rules_for
from hashnews.prepare.preparer import Preparer
from hashnews.records import Article, Post
from hashnews.retrieve.equations import align, letters_of
from hashnews.text.entities import shipped_finder
from hashnews.text.segment import Segmenter, Weights, shipped_segmenter
from hashnews.text.tokens import repair, tokenise, words

ROUNDS = 5
CAMEL = regex.compile(r"#((?:[A-Z][a-z]+|[A-Z]{2,5}(?=[A-Z][a-z])){2,6})\b")
HUMP = regex.compile(r"[A-Z]{2,5}(?=[A-Z][a-z])|[A-Z][a-z]+")
Gold = list[tuple[str, set[str]]]


def gold(data: Path, name: str) -> Gold:
    """Tags with their accepted readings."""
    with gzip.open(data / "segmentation" / f"{name}.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    return [(tag, set(accepted.lower().split("|"))) for tag, accepted in rows]


def camel_tags(path: Path, size: int) -> Gold:
    """Tags written in CamelCase, lower-cased: their humps are the accepted reading."""
    seen = {tag for post in RecordFile(path, Post) for tag in CAMEL.findall(post.text)}
    tags = sorted(seen)
    random.Random(1).shuffle(tags)
    return [(tag.lower(), {" ".join(HUMP.findall(tag)).lower()}) for tag in tags[:size]]


def accuracy(segmenter: Segmenter, rows: Gold) -> float:
    """Percent of tags read as accepted."""
    right = sum(" ".join(segmenter.segment(tag)) in accepted for tag, accepted in rows)
    return 100 * right / len(rows)


def per_second(jobs: dict[str, Callable[[], object]], size: int) -> dict[str, float]:
    """Items a second of each job: medians of interleaved rounds."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(ROUNDS):
        for name, job in jobs.items():
            start = time.process_time()
            job()
            times[name].append(time.process_time() - start)
    return {name: size / statistics.median(spent) for name, spent in times.items()}


def show_ratio(what: str, speeds: dict[str, float]) -> None:
    """One line: our speed, the peers', and how many times faster we are."""
    (_, ours), *peers = speeds.items()
    beside = ", ".join(f"{name} {speed:,.0f}/s ({ours / speed:.1f}x)" for name, speed in peers)
    print(f"  {what}: {ours:,.0f}/s; {beside}")


def news_before(data: Path, day: str) -> Iterator[str]:
    """Texts of the news of 2020 before a day."""
    for article in RecordFile(data / "2020" / "news.jsonl.gz", Article):
        if article.published_at.date().isoformat() < day:
            yield repair(f"{article.title}\n{article.text}")


def segmentation(data: Path) -> None:
    """Exact readings, and distinct tags a second."""
    print("segmentation (percent exact)")
    segmenter = shipped_segmenter()
    for name in ("stanford-dev", "boun"):
        print(f"  {name}: {accuracy(segmenter, gold(data, name)):.1f}")
    tags = camel_tags(data / "2020" / "posts.jsonl.gz", 1500)
    learnt = segmenter.learn(news_before(data, "2020-06-01"))
    print(f"  CamelCase tags of 2020, lower-cased: {accuracy(segmenter, tags):.1f};", end=" ")
    print(f"with counts of the news before June 1: {accuracy(learnt, tags):.1f}")
    for tag in ("breonnataylor", "ahmaudarbery", "covid19", "georgefloydprotests"):
        print(f"    {tag}: {' '.join(learnt.segment(tag))}")
    wordsegment.load()
    distinct = [tag for tag, _ in tags]

    def ours() -> None:
        fresh = Segmenter(segmenter.counts)  # nothing remembered
        for tag in distinct:
            fresh.segment(tag)

    def theirs() -> None:
        for tag in distinct:
            wordsegment.segment(tag)

    show_ratio("distinct tags", per_second({"ours": ours, "wordsegment": theirs}, len(distinct)))
    for tag in distinct:
        segmenter.segment(tag)
    again = per_second({"": lambda: [segmenter.segment(tag) for tag in distinct]}, len(distinct))
    print(f"  repeated tags: {again['']:,.0f}/s")


def choose(data: Path) -> None:
    """Random search for the segmenter's weights on stanford-dev and older CamelCase tags.

    The shipped values are the best of 330 such steps, rounded; boun took no part.
    """
    counts, rng = shipped_segmenter().counts, random.Random(7)
    older = camel_tags(data / "history" / "posts.jsonl.gz", 2500)
    stanford, boun = gold(data, "stanford-dev"), gold(data, "boun")
    best, weights = 0.0, Weights()
    for _ in range(330):
        tried = Weights(*(w if rng.random() < 0.5 else w * rng.uniform(0.7, 1.4) for w in weights))
        segmenter = Segmenter(counts, tried)
        score = (accuracy(segmenter, stanford) + accuracy(segmenter, older)) / 2
        if score > best:
            best, weights = score, tried
            print(f"{score:.2f}  boun {accuracy(segmenter, boun):.2f}  {weights}", flush=True)


def preparing(data: Path) -> None:
    """Posts a second from the raw file, and how memory grows."""
    print("prepare, all raw posts of 2020, fast finder")
    preparer = Preparer(shipped_segmenter(), shipped_finder())
    start, count, memory = time.process_time(), 0, []
    raw = data / "2020" / "posts.jsonl.gz"
    posts = RecordFile(raw, Post)

    def counted() -> Iterator[Post]:
        nonlocal count
        for count, post in enumerate(posts, 1):
            if count % 10_000 == 0:
                memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
            yield post

    usable = sum(1 for _ in preparer.prepare(counted(), rules_for(raw)))
    spent = time.process_time() - start
    print(
        f"  {count:,} posts ({usable:,} usable) in {spent:.1f} s: {count / spent:,.0f}/s;", end=" "
    )
    print(f"peak memory after every 10,000: {memory} MB")


def aligned_share(x: str, y: str) -> float:
    """`align` of two strings."""
    return align(letters_of([x]).codes, letters_of([y]).codes)


def alignment(data: Path) -> None:
    """One token against 500,000, and the scalar function against parasail."""
    print("align")
    rng, real = random.Random(0), set()
    for text in islice(news_before(data, "2020-06-01"), 60_000):
        real.update(words(text))
    vocabulary, base = set(real), sorted(real)
    while len(vocabulary) < 500_000:
        word = rng.choice(base)
        at = rng.randrange(len(word))
        vocabulary.add(word[:at] + rng.choice("aeinorst") + word[at + rng.randrange(2) :])
    tokens = sorted(vocabulary)[:500_000]
    index = TokenIndex(tokens)
    queries = [*rng.sample(base, 40), "minneapolis", "coronavirus", "trump", "floyd"]
    for t in (1.0, 0.9, 0.8, 0.7):
        spent = []
        for query in queries:
            start = time.perf_counter()
            index.aligned(query, t)
            spent.append(1000 * (time.perf_counter() - start))
        print(f"  one token against 500,000 at t = {t}: ", end="")
        print(f"median {statistics.median(spent):.1f} ms, worst {max(spent):.1f} ms")
    sample = rng.sample(range(len(tokens)), 20_000)
    for query in queries[-4:]:
        hits = set(index.aligned(query, 0.7)) & set(sample)
        assert hits == {at for at in sample if aligned_share(query, tokens[at]) >= 0.7}, query
    print("  the same answers as brute force on 4 x 20,000 pairs at t = 0.7")
    ascii_tokens = [token for token in rng.sample(tokens, 40_000) if token.isascii()]
    matrix = parasail.matrix_create("".join(sorted(set("".join(ascii_tokens)))), 2, -1)

    def theirs() -> list[int]:
        return [parasail.sw_scan_16("minneapolis", t, 1, 1, matrix).score for t in ascii_tokens]

    few = TokenIndex(ascii_tokens)
    jobs = {"ours": lambda: few.aligned("minneapolis", 0.8), "parasail": theirs}
    show_ratio("pairs at t = 0.8", per_second(jobs, len(ascii_tokens)))


def reading(data: Path) -> None:
    """Posts a second through repair, tokens and entities; and the first answer of the command."""
    path = data / "2020" / "posts.jsonl.gz"
    texts = [post.text for post in islice(RecordFile(path, Post), 5000)]
    finder = shipped_finder()
    print("reading posts")
    for name, function in {"repair": repair, "tokens": tokenise, "entities": finder.find}.items():
        speed = per_second({"": lambda f=function: [f(text) for text in texts]}, len(texts))
        print(f"  {name}: {speed['']:,.0f}/s")
    spent = []
    for _ in range(7):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "hashnews", "--help"], capture_output=True, check=True
        )
        spent.append(time.perf_counter() - start)
    print(f"hashnews --help: median {statistics.median(spent):.2f} s, worst {max(spent):.2f} s")


def main() -> None:
    """Measure everything, or choose the weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--choose", action="store_true")
    options = parser.parse_args()
    if options.choose:
        choose(options.data)
        return
    for measure in (preparing, segmentation, alignment, reading):
        measure(options.data)


if __name__ == "__main__":
    main()
