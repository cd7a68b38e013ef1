"""A large memory and posts of another world: what is popular there should stay there.

    hashnews news add DATA/2020/news.jsonl.gz --news big.db
    hashnews posts add DATA/2020/posts.jsonl.gz --news big.db
    python benchmarks/worlds.py big.db WORK/congress20.jsonl --at 2020-06-10T12:00:00Z

The panel's everyday posts are asked as of that time, by nobody known: how many hashtags a post are
shown that only the memory brings, neither the post nor the lexicon. Beside it F1@1 / F1@5 of
the newest prepared posts, whose world the memory is, also by nobody known.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from panel import read_panel

from hashnews import HashNews, Post
from hashnews.files import RecordFile
from hashnews.metrics import Judged, f1_at
from hashnews.records import Answer, PreparedPost

NEWEST, TOGETHER = 280, 40


def main() -> None:
    """Print both figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("news", type=Path)
    parser.add_argument("posts", type=Path)
    parser.add_argument("--at", required=True)
    options = parser.parse_args()
    everyday = [
        Post(text=post.text, created_at=options.at)
        for post in read_panel()
        if post.part == "everyday"
    ]
    own = list(RecordFile(options.posts, PreparedPost))[-NEWEST:]
    with HashNews(options.news) as hashnews:
        foreign = answers(hashnews, everyday)
        home = answers(hashnews, [post.model_copy(update={"user": None}) for post in own])
    brought = sum(map(by_memory_alone, foreign)) / len(foreign)
    judged = [
        Judged(
            tuple(tag.words for tag in post.hashtags),
            tuple(one.words for one in answer.suggestions),
        )
        for post, answer in zip(own, home, strict=True)
    ]
    f1 = " / ".join(f"{100 * f1_at(k, judged):.1f}" for k in (1, 5))
    print(f"{len(foreign)} everyday posts: {brought:.2f} a post by the memory alone; F1 {f1}")


def answers(hashnews: HashNews, posts: list[Post] | list[PreparedPost]) -> list[Answer]:
    """The answers to all posts."""
    found: list[Answer] = []
    for start in range(0, len(posts), TOGETHER):
        found += hashnews.suggest_all(posts[start : start + TOGETHER])
    return found


def by_memory_alone(answer: Answer) -> int:
    """How many hashtags are shown that neither post nor lexicon speaks for."""
    sources = [{reason.source for reason in one.because} for one in answer.suggestions]
    return sum(bool(named & {"memory", "rising"}) and not named & {"post", "lexicon"}
               for named in sources)  # fmt: skip


if __name__ == "__main__":
    main()
