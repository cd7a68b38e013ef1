"""Meaning: how near a hashtag is to the post, and how near the articles are that say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hashnews.arrays import Array
from hashnews.suggest.sources.base import Source

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.query import Query


class MeaningOfHashtag(Source):
    """Speaks for no hashtag; says how much each has to do with the post."""

    of_hashtag = (
        "meaning", "unsaid_meaning", "news_meaning", "rarest", "ending", "glued", "scrap",
    )  # fmt: skip
    of_post = ("fit", "fit_meaning", "fit_meaning_mean")
    columns = dict.fromkeys((*of_hashtag, *of_post), 0.0)
    ranked = ("meaning",)

    def features(self, query: Query, found: Candidates) -> Array:
        """The similarity of hashtag and post, and of the headlines that say it and the post."""
        similar = query.meaning_of(found.words)
        # Of #TimesSquare a post on a square blanket says one word: what about the other?
        said = set(query.words)
        unsaid = [tuple(word for word in words if word not in said) for words in found.words]
        partly = [
            0 < len(rest) < len(words) for rest, words in zip(unsaid, found.words, strict=True)
        ]
        rest = np.where(partly, query.meaning_of([one or ("",) for one in unsaid]), similar)
        titles = query.title_meanings
        at = {article.id: place for place, article in enumerate(query.articles)}
        told = [query.in_news.get(key) for key in found.keys]
        nearest = [
            max((float(titles[at[one]]) for one in spelled.articles), default=0.0)
            if spelled
            else 0.0
            for spelled in told
        ]
        rarest = [max(query.rarity(word) for word in words) for words in found.words]
        endings = [ending(words[-1]) for words in found.words]
        about = (
            query.fit,
            float(titles.max(initial=0.0)),
            float(np.sort(titles)[-5:].mean()) if len(titles) else 0.0,
        )
        return np.column_stack(
            [
                similar,
                rest,
                nearest,
                rarest,
                endings,
                [query.is_glued(words) for words in found.words],
                [query.is_scrap(words) for words in found.words],
                np.tile(about, (len(found.keys), 1)),
            ]
        )


ENDINGS = ("ly", "ed", "ing", "er", "est", "s")


def ending(word: str) -> int:
    """Which ending a word has: what ends in -ly is seldom a hashtag."""
    return next((at for at, end in enumerate(ENDINGS, 1) if word.endswith(end)), 0)


MEANING = MeaningOfHashtag()
