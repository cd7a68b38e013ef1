"""How many test posts the news could help: its context says a hashtag that the post does not.

    python benchmarks/told.py POSTS CONTEXTS

POSTS are prepared and split, CONTEXTS what `hashnews retrieve --preset paper` wrote for them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from hashnews.files import RecordFile
from hashnews.generate.batch import ContextLine
from hashnews.records import PreparedPost
from hashnews.text.tokens import words


def main() -> None:
    """Count, print."""
    posts = list(RecordFile(Path(sys.argv[1]), PreparedPost))
    contexts = RecordFile(Path(sys.argv[2]), ContextLine)
    context = {line.post_id: {word for word, _ in line.context} for line in contexts}
    known = {tag.key for post in posts if post.split == "train" for tag in post.hashtags}
    asked = [post for post in posts if post.split == "test"]
    told = 0
    for post in asked:
        said = set(words(post.body))
        told += any(
            context[post.id].issuperset(tag.words) and not said.issuperset(tag.words)
            for tag in post.hashtags
        )
    gold = [tag.key for post in asked for tag in post.hashtags]
    unseen = sum(key not in known for key in gold)
    print(f"{told} of {len(asked)} posts are told a hashtag they do not say")
    print(f"{unseen} of {len(gold)} hashtags ({unseen / len(gold):.0%}) are in no training post")


if __name__ == "__main__":
    main()
