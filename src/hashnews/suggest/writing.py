"""A hashtag as it is written: as people use it, or else as the post and its articles write it.

`atp finals` becomes #ATPFinals where a headline says ATP Finals, and `steam` stays #Steam though
somebody somewhere writes #STEAM: a plain word that the post writes small is no abbreviation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from hashnews.suggest.candidates import Candidates
from hashnews.suggest.query import Query
from hashnews.text.entities import Truecase
from hashnews.text.hashtags import Forms

LOUD = 5  # letters: what is longer and all in capitals shouts
PLAIN = 0.8  # the share of capitals in running text from which on a word is a name


class Writer(NamedTuple):
    """Writes candidates as hashtags."""

    forms: Forms
    truecase: Truecase
    known: Mapping[str, str]  # by key, as people write them where the model learnt

    def write(self, query: Query, found: Candidates, place: int) -> str:
        """As most write it in the memory; else as post and news do, or where the model learnt."""
        key, words, tag = found.keys[place], found.words[place], int(found.tags[place])
        if tag >= 0:
            written = self.forms.write(words, found.evidence.view.written(tag))
            is_name = any(form != key for form in query.writings[key])
            if not (written.islower() and len(words) == 1 and is_name):
                return written
        season, entry = query.season.get(key), query.entry(key)
        forms = (self.known.get(key), season and season.written, entry and entry.written)
        known = next((form for form in forms if form and not form[1:2].islower()), None)
        if known and len(words) > 1 and known.isupper() and len(known) > LOUD:
            known = None
        plain = len(words) == 1 and self._is_plain(words[0], query)
        if known and not plain:
            return self.forms.write(words, [known])
        if self.forms.knows(words) and not plain:
            return self.forms.write(words)
        return "#" + "".join(self._word(word, query) for word in words)

    def _word(self, word: str, query: Query) -> str:
        """A word as the texts write it most, with a capital at least."""
        capitals = Counter(
            {
                form: n
                for form, n in query.writings[word].items()
                if form != word and not (form.isupper() and len(form) > LOUD)
            }
        )
        if capitals and not self._is_plain(word, query):
            return min(capitals, key=lambda form: (-capitals[form], form))
        return self.forms.names.get(word) or word[:1].upper() + word[1:]

    def _is_plain(self, word: str, query: Query) -> bool:
        """Whether the post writes a word small, as running text mostly does."""
        seen, capital = self.truecase.seen.get(word, 0.0), self.truecase.capital.get(word, 0.0)
        return word in query.small and seen > 0 and capital < PLAIN * seen
