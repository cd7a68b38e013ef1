"""The sample by day, and what the local path makes of it."""

import json

import pytest
from byday import Sample, run

from hashnews.sample import sample_file


@pytest.fixture(scope="session")
def sample(tmp_path_factory) -> Sample:
    folder = tmp_path_factory.mktemp("sample")
    made = Sample(
        folder, folder / "news.db", folder / "r.jsonl", folder / "raw.jsonl",
        folder / "posts.jsonl", folder / "raw", folder / "posts",
    )  # fmt: skip
    with sample_file("news.jsonl") as news, sample_file("posts.jsonl") as posts:
        run("news", "add", news, "--news", made.news)
        lines = sorted(
            posts.read_text("utf-8").splitlines(),
            key=lambda line: json.loads(line)["created_at"][:10],
        )
    made.raw.write_text("\n".join(lines) + "\n", encoding="utf-8")
    run("prepare", made.raw, "-o", made.posts)
    run("posts", "days", made.raw, "-o", made.raw_days)
    run("posts", "days", made.posts, "-o", made.posts_days)
    run("news", "reference", "--news", made.news, "-o", made.reference, "--before",
        "2020-06-08T00:00:00Z", "--size", 100)  # fmt: skip
    return made
