"""The news: names and phrases of the articles that were retrieved for the post."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from hashnews.records import Reason
from hashnews.suggest.sources.base import NAMED, Proposal, Source, many

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.from_text import FromText
    from hashnews.suggest.query import Query

NAMES, PHRASES = 20, 10  # of the news that may be candidates though nobody used them yet
LIGHTEST = 0.02  # the share of the news that must say a hashtag that is known
UNRANKED = 200.0


class News(Source):
    """Hashtags that the news before the post spells."""

    name = "news"
    label = "News"
    columns = {
        "context": 0.0, "context_share": 0.0, "context_rank": UNRANKED, "news": 0.0,
        "news_name": 0.0, "news_articles": 0.0, "news_title": 0.0, "news_mentions": 0.0,
        "news_covered": 0.0, "story": 0.0, "story_share": 0.0, "story_title": 0.0,
    }  # fmt: skip

    def propose(self, query: Query) -> Iterator[Proposal]:
        """The heaviest names and shared phrases, and what is in use already."""
        heaviest = sorted(
            (-spelled.weight - query.story_shares[key], key, spelled)
            for key, spelled in query.in_news.items()
            if spelled.weight > LIGHTEST or spelled.name is not None or len(spelled.articles) > 1
        )
        told = [spelled for _, _, spelled in heaviest]
        for spelled in told:
            if spelled.weight > LIGHTEST:
                yield Proposal(spelled.words, only_known=True)
        for spelled in islice((one for one in told if one.name is not None), NAMES):
            yield Proposal(spelled.words)
        shared = (one for one in told if one.name is None and is_shared(query, one))
        for spelled in islice(shared, PHRASES):
            yield Proposal(spelled.words)

    def features(self, query: Query, found: Candidates) -> list[tuple[float, ...]]:
        """Its weight in the context words and in the articles."""
        said = set(query.words)
        heaviest = max((word.weight for word in query.context), default=1.0)
        weight = {word.word: word.weight / heaviest for word in query.context}
        rank = {word.word: at for at, word in enumerate(query.context)}
        rows: list[tuple[float, ...]] = []
        for key, parts in zip(found.keys, found.words, strict=True):
            told = query.in_news.get(key)
            heavy, letters, highest = 0.0, 0, UNRANKED
            for part in parts:
                if part in weight:
                    heavy += weight[part]
                    highest = min(highest, rank[part])
                if part in weight or part in said:
                    letters += len(part)
            rows.append(
                (
                    heavy,
                    letters / len(key),
                    highest,
                    told.weight if told else 0.0,
                    told.weight if told and told.name else 0.0,
                    len(told.articles) if told else 0.0,
                    *(prominence(query, told) if told else (0.0,) * 6),
                )
            )
        return rows

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """The articles that say it, or the context words it is made of."""
        told, parts = query.in_news.get(found.keys[place]), found.words[place]
        said = tuple(word.word for word in query.context if word.word in parts)
        if told is None:
            if not said:
                return None
            return Reason(source=self.name, text=f"the news says {', '.join(said)}", words=said)
        rise = query.popularity(told.name) if told.name else None
        on = f" on {told.name}" if told.name else ""
        on += " (on the rise)" if (rise or 0) > 1 else ""
        best = sorted(told.articles, key=query.story_of.__getitem__, reverse=True)[:NAMED]
        title = query.printed[best[0]]
        return Reason(
            source=self.name,
            text=f"{many(len(best), 'article')}{on} “{title}”",
            articles=tuple(best),
            words=said,
            entity=told.name,
            rise=rise,
        )


def is_shared(query: Query, told: FromText) -> bool:
    """Whether several articles say a phrase that stands by itself, or that the post says, too.

    One is enough for what its headline names before a colon.
    """
    if told.words in query.kickers:
        return True
    standing, key = query.standing(told.words), "".join(told.words)
    if len(told.articles) < 2 or (len(told.words) > 1 and standing.is_part):
        return False
    return len(told.words) == 1 or key in query.in_post or standing.is_usual


def prominence(query: Query, told: FromText) -> tuple[float, ...]:
    """How prominent a hashtag is in the articles that say it.

    The weight of those whose headline says it, its share of the names in them, by their weights,
    and how much of the post the best of them covers; how likely the likeliest of them tells the
    post's story, and of all that tell it the share that says it, and says it in the headline.
    """
    said, key = f" {' '.join(told.words)} ", "".join(told.words)
    weights = titled = mentions = covered = headlined = 0.0
    for article, title, names, total in (query.news_read[one] for one in told.articles):
        weight = article.score**2
        weights += weight
        titled += weight * (said in title)
        headlined += query.story_of[article.id] * (said in title)
        mentions += weight * names[key] / total
        covered = max(covered, article.covered)
    return (
        titled / query.news_weight,
        mentions / weights,
        covered,
        max(query.story_of[one] for one in told.articles),
        query.story_shares[key],
        headlined / (query.tellers or 1.0),
    )


NEWS = News()
