"""The post itself: its names, its phrases, its initials."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hashnews.records import Reason
from hashnews.suggest.from_text import initials
from hashnews.suggest.sources.base import Proposal, Source

if TYPE_CHECKING:
    from hashnews.suggest.candidates import Candidates
    from hashnews.suggest.query import Query

STEM = 5  # letters: `protest` and `protesters` say the same


class PostItself(Source):
    """Hashtags that the post spells."""

    name = "post"
    label = "Your post"
    columns = dict.fromkeys(
        (
            "in_post", "post_share", "post_name", "post_phrase", "stem_share", "initials",
            "within_phrase",
        ),
        0.0,
    )  # fmt: skip

    def propose(self, query: Query) -> Iterator[Proposal]:
        """Its names and words, and phrases that news or lexicon know; others if they are used."""
        for spelled in query.in_post.values():
            yield Proposal(spelled.words, only_known=True)
        for key in sorted(initials(query.words)):
            yield Proposal((key,), only_known=True)
        for key, spelled in query.in_post.items():
            if (
                spelled.name is not None
                or len(spelled.words) == 1
                or key in query.in_news
                or query.entry(key) is not None
            ):
                yield Proposal(spelled.words)

    def features(self, query: Query, found: Candidates) -> list[tuple[float, ...]]:
        """How much of the hashtag the post says."""
        said, short = set(query.words), initials(query.words)
        stems = {word[:STEM] for word in query.words}
        rows: list[tuple[float, ...]] = []
        for key, parts in zip(found.keys, found.words, strict=True):
            spelled = query.in_post.get(key)
            words = letters = stemmed = 0
            for part in parts:
                if part in said:
                    words += 1
                    letters += len(part)
                if part[:STEM] in stems:
                    stemmed += len(part)
            rows.append(
                (
                    words,
                    letters / len(key),
                    float(spelled is not None and spelled.name is not None),
                    float(spelled is not None),
                    stemmed / len(key),
                    float(key in short),
                    float(spelled is not None and query.is_within(parts)),
                )
            )
        return rows

    def reason(self, query: Query, found: Candidates, place: int) -> Reason | None:
        """That the post says it, and which name it is."""
        spelled = query.in_post.get(found.keys[place])
        if spelled is None and not (
            found.feature("initials")[place] or found.feature("post_share")[place] >= 0.5
        ):
            return None
        name = spelled.name if spelled else None
        text = f"in the post: {name}" if name else "in the post"
        return Reason(source=self.name, text=text, entity=name)


POST = PostItself()
