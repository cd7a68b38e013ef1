"""What makes a candidate a good hashtag: fit to be shown, not a slip of a better known one.

Left out are hashtags with a blocked word, half words and misspellings of a hashtag that is far
more common and labels that one author alone uses, unless the post or the news itself says them;
and whatever neither post, retrieved news nor memory says, for a model's own memory ages.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from itertools import accumulate
from pathlib import Path
from string import ascii_lowercase
from typing import NamedTuple

from hashnews.errors import ConfigError
from hashnews.suggest.candidates import Candidates
from hashnews.suggest.memory import View
from hashnews.suggest.query import Query
from hashnews.suggest.world import World
from hashnews.text.entities import Truecase
from hashnews.text.segment import Counts
from hashnews.text.stopwords import STOP_WORDS
from hashnews.text.tokens import words as title_words

SHORTEST_SLIP = 6  # letters: shorter hashtags differ by a letter and mean another thing
RARE = 2  # uses, at most, of what may be a slip
RARER = 300  # times rarer in running text is the rarest word of a misspelling
MORE_COMMON = 10  # times as often used: then the other is what was meant
MOSTLY = 0.5  # the share of a post's story whose headlines give the tone
HEADLINED = 0.5  # the weight of the headlines that make a reporter the topic
JOINING = frozenset("and of the".split())  # what may join the words of a phrase
FEASTS = {("new", "year"), ("new", "years"), ("may", "day")}
MONTHS = frozenset(
    "january february march april may june july august september october november december".split()
)
OFTEN = 8  # times that texts say a phrase with small words in it
OF_THE_KIND = 0.2  # the share of a story's headlines that make a kind
PRIVATE = 5  # uses by one author alone that make a label of that author's own
FAMOUS = 10  # people who use a given name as a hashtag: then it is somebody's whom all know
SEEN, CAPITAL = 4, 0.9  # how often, and with which share of capitals, running text has a name
CALLED_SO = 0.3  # the weight of the articles that call somebody by a given name
NETWORKS = frozenset("bluesky fediverse instagram mastodon tiktok twitter".split())
ON_NETWORKS = ("masto", "stodon", "fedi", "twitter", "instagram", "bluesky", "bsky", "tiktok")


class Blocked:
    """Words that are never suggested, alone or as a word of a hashtag; `*word` also inside one."""

    def __init__(self, lines: list[str]):
        listed = {line.strip().lower() for line in lines if line.strip() and line[0] != "#"}
        self.inside = tuple(sorted(word[1:] for word in listed if word.startswith("*")))
        self.words = frozenset(word.removeprefix("*") for word in listed)

    @classmethod
    def read(cls, path: Path) -> Blocked:
        """One word a line; lines that begin with `#` say why."""
        try:
            return cls(path.read_text("utf-8").splitlines())
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: cannot read the block list: {error}") from None

    def holds(self, key: str, words: tuple[str, ...]) -> bool:
        """Whether a hashtag is blocked."""
        return (
            key in self.words
            or not self.words.isdisjoint(words)
            or any(word in key for word in self.inside)
        )


@lru_cache(1)
def shipped_blocked() -> Blocked:
    """The block list that comes with the package."""
    listed = resources.files("hashnews.suggest") / "data" / "blocked.txt"
    return Blocked(listed.read_text("utf-8").splitlines())


@lru_cache(16)
def _listed(name: str) -> frozenset[str]:
    """The words of a list of the package; lines that begin with `#` say what they are."""
    lines = (resources.files("hashnews.suggest") / "data" / name).read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def beside_the_point() -> frozenset[str]:
    """Peoples, reporters and networks: what the news says of everything."""
    return _listed("beside.txt")


def headline_verbs() -> frozenset[str]:
    """What people do in headlines."""
    return _listed("headline_verbs.txt")


def says_when(words: tuple[str, ...]) -> bool:
    """Whether a hashtag says when and not what: #LastNight, #Day3; feasts and dates do not."""
    if words[:2] in FEASTS or (words[0] in MONTHS and words[-1].isdecimal()):
        return False
    of_time = _listed("when.txt") | MONTHS
    return all(word in of_time or word.isdecimal() for word in words)


@lru_cache(1)
def _tone() -> dict[str, frozenset[str]]:
    """Words of grief and words of joy."""
    listed = (resources.files("hashnews.suggest") / "data" / "tone.txt").read_text("utf-8")
    found: dict[str, set[str]] = {"grave": set(), "merry": set()}
    for line in listed.splitlines():
        if not line.startswith("#"):
            tone, words = line.split(":")
            found[tone].update(words.split())
    return {tone: frozenset(words) for tone, words in found.items()}


def is_out_of_place(query: Query, key: str, words: tuple[str, ...]) -> bool:
    """Whether a hashtag of joy stands where there is grief, or one of grief where there is joy.

    What the post says itself is never so. The mood is that of the post and of the headlines that
    tell its story: a merry post gets nothing that a grave headline says.
    """
    merry, grave = _tone()["merry"], _tone()["grave"]
    said, told = set(query.words), query.in_news.get(key)
    if key in query.in_post:
        return False
    is_grave = bool(said & grave) or query.tells(grave) >= MOSTLY
    if not merry.isdisjoint(words) and is_grave and not query.is_name(words):
        return True
    titles = [query.news_read[one][1] for one in told.articles] if told else []
    is_merry = bool(said & merry) and not said & grave
    return is_merry and not grave.isdisjoint(" ".join(titles).split())


def is_first_name(query: Query, words: tuple[str, ...]) -> bool:
    """Whether a hashtag is a given name alone: #Linda says who is meant only to her friends.

    It is more where the news calls somebody that, or many people use it.
    """
    if len(words) > 1 or words[0] not in _listed("given.txt"):
        return False
    entry, told = query.entry(words[0]), query.in_news.get(words[0])
    is_famous = entry is not None and entry.people >= FAMOUS
    return not is_famous and (told is None or told.name is None or told.weight < CALLED_SO)


def is_namesake(query: Query, words: tuple[str, ...], shown: Iterable[tuple[str, ...]]) -> bool:
    """Whether a hashtag names another person of the family that post or hashtags shown name."""
    if len(words) < 2 or "".join(words) in query.in_post or not query.is_name(words):
        return False
    given = _listed("given.txt")
    named = (tuple(title_words(name)) for name in query.entities)
    return any(
        len(other) > 1
        and other[-1] == words[-1]
        and other[0] != words[0]
        and not given.isdisjoint((other[0], words[0]))
        for other in (*named, *shown)
    )


def is_other_kind(query: Query, words: tuple[str, ...], shown: Iterable[tuple[str, ...]]) -> bool:
    """Whether a hashtag is another kind of what is shown: #CovidVaccine beside #MalariaVaccine.

    So it is where neither the post nor many headlines of its story say of which kind it is.
    """
    if len(words) < 2 or _is_heard(query, words):
        return False
    return any(
        len(other) > 1 and other[-1] == words[-1] and _is_heard(query, other) for other in shown
    )


def _is_heard(query: Query, words: tuple[str, ...]) -> bool:
    """Whether the post, or many headlines of its story, say of which kind something is."""
    return words[0] in query.words or query.tells(words[:1]) >= OF_THE_KIND


def is_of_a_network(key: str, query: Query) -> bool:
    """Whether a hashtag is of the people of one network, #DogsOfMastodon, that the post is not on.

    Where the post goes nobody knows; who follows that network has it in the memory.
    """
    if key in NETWORKS or key in query.in_post or not NETWORKS.isdisjoint(query.words):
        return False
    return any(part in key for part in ON_NETWORKS)


def is_slip(view: View, key: str, words: tuple[str, ...], counts: Counts) -> bool:
    """Whether a rare hashtag is a misspelling or the first half of one far more common.

    A misspelling is one letter off and made of far rarer words: `corona vius`, but not `policy`
    beside `police`. A half ends inside a word of the other: `juneteen`, but not `police` beside
    `police brutality`.
    """
    used = view.times_used(key)
    if len(key) < SHORTEST_SLIP or used > RARE:
        return False
    enough = MORE_COMMON * max(1, used)
    halves = (
        other
        for other in view.longer(key)
        if len(key) not in accumulate(map(len, view.words(other)))
        and view.times_used(other) >= enough
    )
    if next(halves, None) is not None:
        return True
    common = RARER * _commonness(words, counts)
    return any(
        _commonness(view.words(other), counts) > common and view.times_used(other) >= enough
        for other in _one_off(key)
        if view.memory.tags.get(other) is not None
    )


def _commonness(words: tuple[str, ...], counts: Counts) -> float:
    """How common the rarest word is in running text; unknown words count as once."""
    return min((counts.words.get(word, 1.0) for word in words if word.isalpha()), default=1.0)


def is_said(query: Query, found: Candidates, place: int) -> bool:
    """Whether post, retrieved articles, memory, or by its meaning the lexicon say a hashtag.

    What only the model recalls is of the weeks it learnt from: stale for a later post, hindsight
    for an earlier one.
    """
    key, words = found.keys[place], found.words[place]
    if found.tags[place] >= 0 or key in query.in_news or key in query.in_post:
        return True
    if key in query.near_keys:
        return True
    if place >= len(found.keys) - found.extra and query.entry(key) is not None:
        return True  # brought by an optional source, and people do use it
    return len(words) == 1 and words[0] in query.said  # words put together make scraps


def is_private(view: View, tag: int) -> bool:
    """Whether only one author, and another than the post's, has ever used a hashtag."""
    users = view.users(tag)
    return len(users) >= PRIVATE and bool((users == users[0]).all()) and users[0] != view.author


def _one_off(key: str) -> list[str]:
    """All words one letter away: left out, swapped, changed or added; digits stay as they are."""
    parts = [(key[:at], key[at:]) for at in range(len(key) + 1)]
    swaps = [a + b[1] + b[0] + b[2:] for a, b in parts if len(b) > 1 and b[:2].isalpha()]
    drops = [a + b[1:] for a, b in parts if b and b[0].isalpha()]
    changes = [a + c + b[1:] for a, b in parts if b and b[0].isalpha() for c in ascii_lowercase]
    adds = [a + c + b for a, b in parts for c in ascii_lowercase]
    return [other for other in (*swaps, *drops, *changes, *adds) if other != key]


def is_phrase(query: Query, words: tuple[str, ...]) -> bool:
    """Whether words that are no name are a thing that post and news, or many articles, speak of.

    #BerlinDerby and #MalariaVaccine, but no #FloydProtestsSpread and no #BezosSteps.
    """
    standing = query.standing(words)
    does = not headline_verbs().isdisjoint((words[0], words[-1]))
    if standing.said < OFTEN and any(word in STOP_WORDS - JOINING for word in words):
        return False  # #LoveIsBlind, but no #GuitarOnSNL
    if "".join(words) not in query.in_post:
        return (standing.is_usual or words in query.kickers) and not does
    if not query.is_glued(words):
        return True
    return not does and (len(words) == 2 or standing.is_free)


def are_two(query: Query, words: tuple[str, ...]) -> bool:
    """Whether words are two names with `and` between them, and no name together."""
    return not query.is_name(words) and any(
        word == "and" and query.is_name(words[:at]) and query.is_name(words[at + 1 :])
        for at, word in enumerate(words)
    )


def _is_called(query: Query, key: str, words: tuple[str, ...]) -> bool:
    """Whether words begin in somebody's name on the network: `@irons_dave Lingard`."""
    return key not in query.in_news and any(map(query.is_mention, words))


class Filters(NamedTuple):
    """What keeps a candidate from being shown."""

    blocked: Blocked
    counts: Counts
    truecase: Truecase

    def is_proper(self, word: str) -> bool:
        """Whether running text writes a word with a capital: `oaxaca` is a name all the same."""
        seen = self.truecase.seen.get(word, 0.0)
        return seen >= SEEN and self.truecase.capital.get(word, 0.0) >= CAPITAL * seen

    def is_known(self, query: Query, found: Candidates, place: int) -> bool:
        """Whether people use a hashtag, or it is a name: what is left are scraps and plain words.

        A run of words is one only if post and headlines say it; `#showered`, `#25Million` and a
        slip of the pen are none at all.
        """
        key, words = found.keys[place], found.words[place]
        titles = max(found.feature("news_title")[place], found.feature("story_title")[place])
        if key in beside_the_point() and key not in query.in_post and titles < HEADLINED:
            return False
        entry, standing = query.entry(key), query.standing(words)
        is_famous = entry is not None and entry.people >= FAMOUS
        if standing.is_part and (not is_famous or query.is_within(words)):
            return False  # #RepublicBank of the First Republic Bank, #Bath of Bed Bath & Beyond
        if entry is not None:
            return True
        if words[0][0].isdecimal() or query.is_mention(key) or are_two(query, words):
            return False
        is_within = query.is_within(words) and not query.is_name(words)  # #SanSuu
        if key in query.in_post and (is_within or _is_called(query, key, words)):
            return False
        if query.is_name(words):
            is_whole = not query.is_glued(words) and words[2:3] != ("of",)
            return is_whole or standing.is_usual  # no #FeliciaSpencerOfCanada
        if len(words) == 1 and key in query.in_post and self.is_proper(key):
            return True
        if len(words) == 1:
            return key in query.in_news and key in self.counts.words
        return key in query.in_news and is_phrase(query, words)

    def lets_pass(self, query: Query, found: Candidates, place: int, world: World) -> bool:
        """Whether a candidate is a good hashtag for a post."""
        key, words, tag = found.keys[place], found.words[place], int(found.tags[place])
        if self.blocked.holds(key, words) or not is_said(query, found, place):
            return False
        if is_out_of_place(query, key, words) and not found.feature("own")[place]:
            return False
        if tag < 0 and (
            says_when(words)
            or is_first_name(query, words)
            or is_of_a_network(key, query)
            or not self.is_known(query, found, place)
        ):
            return False
        if not query.is_english:  # what is known of words is known of English ones
            return tag >= 0 or key in query.in_post
        if key in query.in_post:
            return True
        view, told = found.evidence.view, query.in_news.get(key)
        is_remembered = tag >= 0 and (world.is_large or world.is_near(found, place))
        if tag >= 0 and not is_remembered and key not in query.near_keys:
            return False
        if told is not None:
            return True
        if is_slip(view, key, words, self.counts):
            return False
        return tag < 0 or not is_private(view, tag)
