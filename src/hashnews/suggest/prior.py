"""What a model knows of hashtags by itself, whatever store it is used with."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hashnews.posts.table import Remembered
from hashnews.suggest.calendar import SEVERAL, Calendar, calendar_of
from hashnews.suggest.lexicon import EMPTY, Lexicon
from hashnews.suggest.story import SameStory
from hashnews.text.meaning import TextEncoder


class Prior(NamedTuple):
    """Hashtags that people are known to use, and those of the seasons."""

    hashtags: Mapping[str, str] = {}  # by key, as people write them: the generator may write these
    calendar: Calendar = Calendar()
    lexicon: Lexicon = EMPTY
    meaning: TextEncoder | None = None
    story: SameStory | None = None


NOTHING = Prior()


def prior_of(posts: Sequence[Remembered]) -> Prior:
    """What there is to know from some posts."""
    return Prior(known_hashtags(posts), calendar_of(posts))


def merged(parts: Iterable[Prior]) -> Prior:
    """What several models know, together."""
    parts = list(parts)
    hashtags = {key: form for part in parts for key, form in part.hashtags.items()}
    return Prior(hashtags, Calendar({day for part in parts for day in part.calendar.days}))


def known_hashtags(posts: Iterable[Remembered]) -> dict[str, str]:
    """Hashtags that several authors used, by key, as they most often wrote them."""
    authors: defaultdict[str, set[str | None]] = defaultdict(set)
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for post in posts:
        for tag in (*post.hashtags, *post.inline):
            authors[tag.key].add(post.user)
            forms[tag.key][tag.written] += 1
    # Of writings used alike the first in the alphabet: capitals come before small letters.
    return {
        key: min(forms[key], key=lambda form: (-forms[key][form], form))
        for key in sorted(forms)
        if len(authors[key] - {None}) >= SEVERAL
    }
