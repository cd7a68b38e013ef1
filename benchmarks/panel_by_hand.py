"""The panel answered by a score put together by hand: what every model has to beat.

    python benchmarks/panel_by_hand.py STORES         # answers/by-hand.jsonl, answers/names.jsonl

    score = 0.55 name in the post + 0.25 said in the post
          + share of the articles that say it, each by (likeness of headline and post - 0.2)
          + 0.12 log(1 + articles) + 1.3 (likeness of hashtag and post - 0.1)
          + 0.12 (log-odds that people make this word a hashtag + 3), for words of the post
          - 0.3 each for more than three words, a title with a name, a broadcaster, a plain word
          - 0.4 for a part of a longer name; scraps of headlines are out

It asks the same candidates, the same encoder and the same rules of what is a good hashtag as
HashNews does, so what differs is what judges. The floor was chosen on the half `choose`. The names
of the post alone, as the fast finder finds them, are written beside it.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from panel import STORES, make_sample, read_panel, write_lines

from hashnews import HashNews, Post
from hashnews.arrays import Array
from hashnews.suggest.candidates import Candidates
from hashnews.suggest.families import are_family
from hashnews.suggest.filters import beside_the_point
from hashnews.suggest.query import Query, with_news
from hashnews.suggest.world import world_of
from hashnews.text.tokens import words

SHOWN, FLOOR = 5, 0.7
PLAIN = 0.02  # the share of people who say a word as others say the commonest: then it is plain
EVERYBODY = 20_000


def main() -> None:
    """Answer every post of the panel whose store is there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("stores", type=Path, help="folder of 2021.db and 2023.db")
    parser.add_argument("--floor", type=float, default=FLOOR, help="nothing below is shown")
    parser.add_argument(
        "-o", "--out", type=Path, default=Path("answers"), help="folder to write to"
    )
    options = parser.parse_args()
    hand: list[dict[str, Any]] = []
    named: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        for year, name in STORES.items():
            is_sample = name == "sample"
            store = make_sample(Path(scratch)) if is_sample else options.stores / f"{name}.db"
            with HashNews(store) as hashnews:
                for post in read_panel():
                    if post.created_at.startswith(year):
                        asked = Post(id=post.id, text=post.text, created_at=post.created_at)
                        hand.append(_line(post.id, best(hashnews, asked, options.floor)))
                        named.append(_line(post.id, names(hashnews, asked)))
    write_lines(options.out / "by-hand.jsonl", hand)
    write_lines(options.out / "names.jsonl", named)


def _line(post: str, shown: list[tuple[str, float]]) -> dict[str, Any]:
    found = [{"hashtag": hashtag, "score": score, "sources": []} for hashtag, score in shown]
    return {"id": post, "shown": found}


def names(hashnews: HashNews, post: Post) -> list[tuple[str, float]]:
    """The names in a post, in its order; what somebody is called on the network is none."""
    _, ready = hashnews._read(post)
    called = {"".join(words(handle.replace("_", " "))) for handle in ready.mentions}
    keys = dict.fromkeys("".join(words(name)) for name in ready.entities)
    return [(f"#{key}", 1.0) for key in keys if key and key not in called][:SHOWN]


def best(hashnews: HashNews, post: Post, floor: float) -> list[tuple[str, float]]:
    """The best hashtags of a post, each of another family, and their scores."""
    _, ready = hashnews._read(post)
    read = with_news(hashnews.retriever, hashnews.store, [ready])
    ((query, found),) = hashnews._search.candidates(read)
    scores, world = by_hand(query, found), world_of(query, found.evidence.view)
    taken: list[int] = []
    for place in np.argsort(-scores, kind="stable").tolist():
        if scores[place] < floor or len(taken) == SHOWN:
            break
        parts = found.words[place]
        is_new = not any(are_family(query, parts, found.words[other]) for other in taken)
        if is_new and hashnews._filters.lets_pass(query, found, place, world):
            taken.append(place)
    write = hashnews._writer.write
    return [(write(query, found, place), round(float(scores[place]), 3)) for place in taken]


def by_hand(query: Query, found: Candidates) -> Array:
    """The score of each candidate."""
    near = np.maximum(0, query.title_meanings - 0.2)
    weight = dict(zip([one.id for one in query.articles], near.tolist(), strict=True))
    total = sum(weight.values()) or 1.0
    columns = (found.feature(name) for name in ("post_name", "in_post", "meaning", "worth"))
    rows = zip(found.keys, found.words, *(column.tolist() for column in columns), strict=True)
    scores = []
    for key, parts, named, said, meaning, worth in rows:
        told = query.in_news.get(key)
        saying = sum(weight[one] for one in told.articles) if told else 0.0
        score = 0.55 * (named > 0) + 0.25 * (said > 0) + saying / total
        score += 0.12 * math.log1p(len(told.articles) if told else 0)
        score += 1.3 * (meaning - 0.1)
        score += 0.12 * (worth + 3) * (said > 0)
        score -= 0.3 * ((len(parts) > 3) + query.is_glued(parts) + (key in beside_the_point()))
        plain = query.lexicon.worth_of(key).said >= PLAIN * EVERYBODY and not named
        score -= 0.3 * plain + 0.4 * query.is_scrap(parts)
        is_headline_scrap = told is not None and told.name is None and not said
        known = key in query.near_keys or query.entry(key) is not None
        scores.append(-1.0 if is_headline_scrap and not known else score)
    return np.array(scores)


if __name__ == "__main__":
    main()
