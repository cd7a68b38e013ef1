"""Meaning: how near a hashtag is to the post, and how near the articles are that say it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from hashnews.arrays import Array
from hashnews.suggest.sources.base import Source
from hashnews.text.meaning import Vectors, similarity, unit

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.query import Query


class MeaningOfHashtag(Source):
    """Speaks for no hashtag; says how much each has to do with the post."""

    of_hashtag = (
        "meaning", "unsaid_meaning", "weakest", "news_meaning", "headline_meaning", "company",
        "rarest", "ending", "glued", "scrap",
    )  # fmt: skip
    of_post = ("fit", "fit_meaning", "fit_meaning_mean", "covered", "stories", "surest_story")
    columns = dict.fromkeys((*of_hashtag, *of_post), 0.0)
    ranked = ("meaning",)

    def features(self, query: Query, found: Candidates) -> Array:
        """The similarity of hashtag and post, and of the headlines that say it and the post."""
        vectors = found.vectors
        similar = query.meaning_of(vectors)
        # Of #TimesSquare a post on a square blanket says one word: what about the other?
        said = set(query.words)
        unsaid = [tuple(word for word in words if word not in said) for words in found.words]
        partly = [
            at
            for at, (rest, words) in enumerate(zip(unsaid, found.words, strict=True))
            if 0 < len(rest) < len(words)
        ]
        rest = similar.copy()
        rest[partly] = query.meaning_of(query.vectors_of([unsaid[at] for at in partly]))
        # No banana in a post on a loaf: #BananaBread is as good as its weakest word.
        each = list(dict.fromkeys(word for words in found.words for word in words))
        nearness = query.meaning_of(query.vectors_of([[word] for word in each])).tolist()
        alone = dict(zip(each, nearness, strict=True))
        titles = query.title_meanings
        ids = (article.id for article in query.articles)
        near = dict(zip(ids, titles.tolist(), strict=True))
        told = [query.in_news.get(key) for key in found.keys]
        nearest = [
            max(near[one] for one in spelled.articles) if spelled else 0.0 for spelled in told
        ]
        rarest = [query.lexicon.worth_of_all(words).rarest for words in found.words]
        endings = [ending(words[-1]) for words in found.words]
        about = (
            query.fit,
            float(titles.max(initial=0.0)),
            float(np.sort(titles)[-5:].mean()) if len(titles) else 0.0,
            max((article.covered for article in query.articles), default=0.0),
            query.tellers,
            float(query.stories.max(initial=0.0)),
        )
        return np.column_stack(
            [
                similar,
                rest,
                [min([alone[word] for word in words]) for words in found.words],
                nearest,
                similarity(vectors, query.headlines) if len(titles) else np.zeros(len(vectors)),
                _company(query, found, vectors),
                rarest,
                endings,
                [query.is_glued(words) for words in found.words],
                [query.is_scrap(words) for words in found.words],
                np.tile(about, (len(found.keys), 1)),
            ]
        )


def _company(query: Query, found: Candidates, vectors: Vectors) -> Vectors:
    """How near each hashtag is to the nearest topics together, itself left out.

    Of a match with a double bagel the topics are tennis and coffee: the one has company.
    """
    topics = query.company
    if not len(topics) or topics.shape[1] != vectors.shape[1]:
        return np.zeros(len(vectors), np.float32)
    together = topics.sum(0)
    near = similarity(vectors, unit(together))
    rows = {entry.key: at for at, entry in enumerate(query.near_topics[: len(topics)])}
    for at, key in enumerate(found.keys):
        if key in rows:
            near[at] = vectors[at] @ unit(together - topics[rows[key]])
    return near


ENDINGS = ("ly", "ed", "ing", "er", "est", "s")


@lru_cache(100_000)
def ending(word: str) -> int:
    """Which ending a word has: what ends in -ly is seldom a hashtag."""
    return next((at for at, end in enumerate(ENDINGS, 1) if word.endswith(end)), 0)


MEANING = MeaningOfHashtag()
