"""Whether a post is of a memory's world: what is popular there says nothing about other posts.

    score(p) = mean of ln((n(w) + 0.1) / (N + 1)) - ln((m(w) + 5) / (M + 1))

over the telling words w of a post: n of the N posts of the memory that it may see say the word, and
m of M people anywhere. A post on bread among those of a parliament scores low.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hashnews.suggest.candidates import Candidates
from hashnews.suggest.memory import View
from hashnews.suggest.query import EVERYBODY, Query
from hashnews.suggest.sources.neighbours import posts_that_say
from hashnews.suggest.topics import UNLIKELY

MANY = 500  # posts of a large memory
# A small memory tells little of what its hashtags are about: then hashtag or headline must be near,
# or an own post that shares more with this one than a word that everybody says; and more than two
# or three such words ("anyone", "tonight") if the hashtag's meaning is far from the post.
NEAR, ALIKE = 0.4, 0.06
# What is near in neither way must be surely on topic, and be a topic by its meaning.
FAR, ALIKE_THOUGH_FAR, SURELY = 0.1, 0.2, 0.7
# A large memory's hashtags must be likely used; for posts of another world more so, and be like.
FOREIGN, LIKE, LIKELY, AT_HOME = -2.2, 0.05, 0.06, 0.01
CLEAR, RELATED = -2.0, 0.2  # log P of a topic that is clear; the similarity of what is about it


class World(NamedTuple):
    """What a memory has to do with what a post is about."""

    size: int  # posts that may be seen
    share: float  # of the post's words, as they tell, that the memory says at all
    score: float
    is_clear: bool = False  # what the post is about

    @property
    def is_large(self) -> bool:
        """Whether there are posts enough to tell what hashtags are about."""
        return self.size >= MANY

    def is_near(self, found: Candidates, place: int) -> bool:
        """Whether a hashtag of a small memory is about what the post is about.

        It is if a word of the post tells of it: bread, of sourdough. How like an own post is counts
        by how much of the post's words it can be about.
        """
        if found.feature("cues")[place] > 0:
            return True
        if max(found.feature(name)[place] for name in ("meaning", "news_meaning")) >= NEAR:
            return True
        is_far = found.feature("meaning")[place] < FAR
        enough = ALIKE_THOUGH_FAR if is_far else ALIKE
        return bool(found.feature("own_nearest")[place] * self.share >= enough)

    def is_home(self, found: Candidates, place: int, used: float) -> bool:
        """Whether that a large memory has a hashtag speaks for it.

        It does for a post of that world if it may be used; it must be likely used if the post is
        clearly about something else, and be like those that have the hashtag in another world.
        """
        if self.score >= FOREIGN:
            apart = self.is_clear and found.feature("meaning")[place] < RELATED
            return used >= (LIKELY if apart else AT_HOME)
        like = found.feature("nearest_three")[place] * self.share >= LIKE
        return bool(like and used >= LIKELY)


def world_of(query: Query, view: View) -> World:
    """What a memory has to do with a post."""
    said = list(query.weights)
    if not said or not view.size:
        return World(view.size, 0.0, FOREIGN - 1)
    counts, told = posts_that_say(view, said), np.array(list(query.weights.values()))
    anywhere = np.array([query.lexicon.worth_of(word).said for word in said])
    here = np.log((counts + 0.1) / (view.size + 1))
    score = here - np.log((anywhere + 5) / (EVERYBODY + 1))
    share = told[counts > 0].sum() / max(1e-9, told.sum())
    is_clear = bool(query.topics[1].max(initial=UNLIKELY) >= CLEAR)
    return World(view.size, float(share), float(score.mean()), is_clear)
