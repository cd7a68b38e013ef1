"""The news: names and phrases of the articles that were retrieved for the post."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from hashnews.records import Reason
from hashnews.suggest.sources.base import NAMED, Proposal, Source, many

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
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
        "news_name": 0.0, "news_articles": 0.0,
    }  # fmt: skip

    def propose(self, query: Query) -> Iterator[Proposal]:
        """The heaviest names and shared phrases, and what is in use already."""
        heaviest = sorted(query.in_news.items(), key=lambda item: (-item[1].weight, item[0]))
        told = [spelled for _, spelled in heaviest]
        for spelled in told:
            if spelled.weight > LIGHTEST:
                yield Proposal(spelled.words, only_known=True)
        for spelled in islice((one for one in told if one.name is not None), NAMES):
            yield Proposal(spelled.words)
        shared = (one for one in told if one.name is None and len(one.articles) > 1)
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
            either = sum(len(part) for part in parts if part in said or part in weight)
            rows.append(
                (
                    sum(weight.get(part, 0.0) for part in parts),
                    either / len(key),
                    min((rank.get(part, UNRANKED) for part in parts), default=UNRANKED),
                    told.weight if told else 0.0,
                    told.weight if told and told.name else 0.0,
                    len(told.articles) if told else 0.0,
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
        on += f" ({rise:.1f} on the rise)" if (rise or 0) > 1 else ""
        title = next(one.title for one in query.articles if one.id == told.articles[0])
        return Reason(
            source=self.name,
            text=f"{many(len(told.articles[:NAMED]), 'article')}{on} “{title}”",
            articles=told.articles[:NAMED],
            words=said,
            entity=told.name,
            rise=rise,
        )


NEWS = News()
