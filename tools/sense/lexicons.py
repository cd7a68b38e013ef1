"""Lexicons: hashtags that people use anywhere, counted over all sets or without some of them.

What is learnt from a set must not know its posts beforehand, so each set that teaches has a
lexicon that was counted without it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hashnews.porter import stem
from hashnews.records import PreparedPost
from hashnews.saved import new_directory
from hashnews.suggest.filters import shipped_blocked
from hashnews.suggest.lexicon import KIND, LONGEST_CUE, Lexicon, LexiconEntry, Worth
from hashnews.tagger.finder import shipped_tagger
from hashnews.text.meaning import Vectors, unit
from hashnews.text.segment import shipped_segmenter
from hashnews.text.stopwords import STOP_WORDS
from hashnews.text.tokens import words
from sense.collections import SETS, lines, prepared
from sense.encoder import ENCODED, full_encoder, pieces, post_vectors
from sense.work import HERE, Work

Words = tuple[str, ...]
EPOCH = date(1970, 1, 1).toordinal()
YEARS = {"everyday": 2017, "searched": 2014, "howyoutag": 2013, "covid": 2020, "vaccine": 2021}
SOME_TIME = (2016, 2022)  # of posts whose year nobody knows
ALWAYS = (2006, 2026)  # of an editor's topic that no post holds
FORMS = 4  # writings of a hashtag that are kept per set
VECTORS = 40  # posts of a set that give a hashtag its meaning
SHORTEST, LONGEST = 3, 30  # letters of a hashtag
FEWEST_PEOPLE, EDITED_PEOPLE = 3, 10
# A topic is used in several sets, over years, by some people, and its posts are alike.
TOPIC_SETS, TOPIC_YEARS, TOPIC_PEOPLE, TOPIC_POSTS, TOPIC_COHERENCE = 2, 2, 5, 2, 0.22
SHRINKING = 5  # posts without a say in the mean of a hashtag's posts
USED_WEIGHT = 2  # of that mean beside the name
CUES_WEIGHT = 0.7  # of the cues, read as one text, beside both
NO_CUES = "-"
COMMON = 2900  # people who say a word that is no cue
SAME_PEOPLE = 400  # counts of words of one set are cut here
FEWEST_SAID, FEWEST_TAGGED = 8, 3
# Sets of the same people are left out together.
LEFT_OUT = {"c2020": ("c2020", "c2019")}


class Used(NamedTuple):
    """How a hashtag was used in a set; days since the year 1."""

    people: int
    first: int | None
    last: int | None
    forms: dict[str, int]


class SetCounts(NamedTuple):
    """What people of a set tag and say: hashtags, and people per word."""

    tags: dict[Words, Used]
    said: dict[str, int]
    tagged: dict[str, int]


class Found(NamedTuple):
    """A hashtag that may become an entry; days since 1970."""

    words: Words
    written: str
    people: int
    first: int
    last: int
    vectors: list[Vectors]  # of posts that use it

    @property
    def key(self) -> str:
        """What makes two hashtags the same."""
        return "".join(self.words)


def day(year: int) -> int:
    """The first day of a year, since 1970."""
    return date(year, 1, 1).toordinal() - EPOCH


def count(posts: Iterable[PreparedPost]) -> SetCounts:
    """Count the hashtags and words of a set; a post without an author is one person."""
    people: defaultdict[Words, set[str]] = defaultdict(set)
    days: defaultdict[Words, list[int]] = defaultdict(list)
    forms: defaultdict[Words, Counter[str]] = defaultdict(Counter)
    said: defaultdict[str, set[str]] = defaultdict(set)
    tagged: defaultdict[str, set[str]] = defaultdict(set)
    for post in posts:
        who = post.user or post.id
        for tag in (*post.hashtags, *post.inline):
            people[tag.words].add(who)
            forms[tag.words][tag.written] += 1
            if post.created_at:
                days[tag.words].append(post.created_at.date().toordinal())
            if len(tag.words) == 1:
                tagged[tag.words[0]].add(who)
        for word in words(post.body):
            said[word].add(who)
    tags = {
        tag: Used(
            len(people[tag]),
            min(days[tag], default=None),
            max(days[tag], default=None),
            dict(counted.most_common(FORMS)),
        )
        for tag, counted in forms.items()
    }
    return SetCounts(
        tags,
        {word: len(who) for word, who in said.items() if len(who) > 1},
        {word: len(who) for word, who in tagged.items()},
    )


class Sum:
    """How a hashtag was used in several sets."""

    def __init__(self) -> None:
        self.people, self.sets = 0, 0
        self.first: list[int] = []
        self.last: list[int] = []
        self.forms: Counter[str] = Counter()

    def add(self, name: str, used: Used) -> None:
        """Take in one set."""
        self.people += used.people
        self.sets += 1
        self.forms.update(used.forms)
        if used.first and used.last:
            span = used.first - EPOCH, used.last - EPOCH
        elif name in YEARS:
            span = day(YEARS[name]), day(YEARS[name]) + 365
        else:
            span = day(SOME_TIME[0]), day(SOME_TIME[1])
        self.first.append(span[0])
        self.last.append(span[1])

    @property
    def is_broad(self) -> bool:
        """Whether many use it, in many places, for long."""
        years = (max(self.last) - min(self.first)) / 365
        many = self.people >= TOPIC_PEOPLE
        return self.sets >= TOPIC_SETS and years >= TOPIC_YEARS and many

    def written(self, tag: Words) -> str:
        """The commonest writing; of several words, one with capitals inside counts double."""

        def weight(form: str) -> float:
            readable = len(tag) == 1 or any(letter.isupper() for letter in form[1:])
            return self.forms[form] * (1 if readable else 0.5)

        return max(sorted(self.forms), key=weight)


class Lexicographer:
    """Makes lexicons; what several of them need is read once."""

    def __init__(self, work: Work):
        self._work, self._segmenter, self._blocked = work, shipped_segmenter(), shipped_blocked()
        self._counts = {
            name: work.kept(f"counts-{name}", lambda name=name: count(prepared(work, name)))
            for name in SETS
        }
        self._basis = pieces(work).basis
        self._encoder = full_encoder(work)
        self._posts, self._mean = self._post_vectors()
        self._cues = cues_of_topics()
        self._topics = {
            "".join(parts): (parts, written)
            for written in self._cues
            for parts in [self._segmenter.segment(written)]
        }
        unwanted = {"".join(self._segmenter.segment(written)) for written in _list("unwanted.txt")}
        self._unwanted = unwanted - set(self._topics)
        edited = [(key, ", ".join(self._cues[name])) for key, (_, name) in self._topics.items()]
        read = unit(self._encoder.of_posts([cues for _, cues in edited]) @ self._basis)
        self._cue_vectors = {
            key: vector for (key, cues), vector in zip(edited, read, strict=True) if cues
        }
        self._persons: dict[Words, bool] = {}
        self._names: dict[Words, Vectors] = {}

    def lexicon(self, without: Collection[str]) -> Lexicon:
        """The lexicon of all sets but some; topics come first."""
        topics, others = self._sorted(without)
        self._look_up([one.words for one in topics])
        good, vectors = [], []
        for one in topics:
            centre, coherence = self._centre(one.vectors)
            edited = one.key in self._topics
            if edited or (coherence >= TOPIC_COHERENCE and not self._persons.get(one.words)):
                good.append(one)
                told = unit(self._names[one.words] + USED_WEIGHT * centre)
                vectors.append(told + CUES_WEIGHT * self._cue_vectors.get(one.key, 0 * told))
            else:
                others.append(one)
        others += self._official({one.key for one in (*good, *others)})
        entries = [LexiconEntry(row, *one[:5]) for row, one in enumerate([*good, *others])]
        worth = self._worth(without)
        cues = self._cues_of(entries[: len(good)], worth)
        return Lexicon(entries, unit(np.array(vectors)), worth, cues)

    def _cues_of(
        self, topics: list[LexiconEntry], worth: Mapping[str, Worth]
    ) -> dict[str, list[int]]:
        """The rows of the topics each cue speaks for; a topic's own words are a cue, too."""
        listed = {key: self._cues[written] for key, (_, written) in self._topics.items()}
        said: Counter[str] = Counter()
        for word, one in worth.items():
            said[stem(word)] += one.said
        common = {stem(word) for word in STOP_WORDS} | {w for w, n in said.items() if n > COMMON}
        found: defaultdict[str, list[int]] = defaultdict(list)
        for topic in topics:
            split = [words(cue) for cue in listed.get(topic.key, ())]
            told = [
                " ".join(map(stem, one))
                for one in split
                if 0 < len(one) <= LONGEST_CUE and one[0] not in STOP_WORDS
            ]
            own = " ".join(map(stem, topic.words))
            for cue in dict.fromkeys([own, *(cue for cue in told if cue not in common)]):
                found[cue].append(topic.row)
        return found

    def _post_vectors(self) -> tuple[Mapping[Words, Mapping[str, list[Vectors]]], Vectors]:
        """The vectors of the posts of each hashtag by set, and the mean of all posts."""
        found: defaultdict[Words, defaultdict[str, list[Vectors]]]
        found = defaultdict(lambda: defaultdict(list))
        everything = []
        for name in (name for name in SETS if name in ENCODED):
            posts, (at, halved) = prepared(self._work, name), post_vectors(self._work, name)
            vectors = unit(halved.astype(np.float32) @ self._basis)
            for place, vector in zip(at, vectors, strict=True):
                post = posts[place]
                for tag in {tag.words for tag in (*post.hashtags, *post.inline)}:
                    if len(found[tag][name]) < VECTORS:
                        found[tag][name].append(vector)
            everything.append(vectors)
        return found, np.concatenate(everything).mean(0)

    def _sorted(self, without: Collection[str]) -> tuple[list[Found], list[Found]]:
        """Hashtags that may name a topic, and the other ones."""
        topics: list[Found] = []
        others: list[Found] = []
        done: set[str] = set()
        for tag, uses in self._sums(without).items():
            key = "".join(tag)
            edited = self._topics.get(key)
            if not self._is_usable(key, tag) or (uses.people < FEWEST_PEOPLE and not edited):
                continue
            if key in done:
                continue
            done.add(key)
            written, people = uses.written(tag), uses.people
            if edited:
                (tag, written), people = edited, max(people, EDITED_PEOPLE)
            vectors = [
                vector
                for name, some in self._posts.get(tag, {}).items()
                if name not in without
                for vector in some
            ]
            one = Found(tag, written, people, min(uses.first), max(uses.last), vectors)
            wanted = len(vectors) >= TOPIC_POSTS and key not in self._unwanted
            (topics if edited or (uses.is_broad and wanted) else others).append(one)
        topics += [
            Found(tag, written, EDITED_PEOPLE, day(ALWAYS[0]), day(ALWAYS[1]), [])
            for key, (tag, written) in self._topics.items()
            if key not in done
        ]
        return topics, others

    def _sums(self, without: Collection[str]) -> dict[Words, Sum]:
        sums: defaultdict[Words, Sum] = defaultdict(Sum)
        for name, counts in self._counts.items():
            if name not in without:
                for tag, used in counts.tags.items():
                    if tag:
                        sums[tag].add(name, used)
        return sums

    def _is_usable(self, key: str, tag: Words) -> bool:
        plain = key.isascii() and key.isalnum() and not key.isdecimal()
        fits = SHORTEST <= len(key) <= LONGEST
        return plain and fits and key not in STOP_WORDS and not self._blocked.holds(key, tag)

    def _look_up(self, tags: list[Words]) -> None:
        """Learn which hashtags name a person, and the vector of each."""
        new = [tag for tag in tags if tag not in self._names]
        if new:
            named = self._encoder.of_posts([" ".join(tag) for tag in new])
            self._names.update(zip(new, unit(named @ self._basis), strict=True))
        several = [tag for tag in new if len(tag) > 1]
        said = [" ".join(word.capitalize() for word in tag) for tag in several]
        found = shipped_tagger().find_all([f"We talked about {name} today." for name in said])
        for tag, entities in zip(several, found, strict=True):
            self._persons[tag] = any(entity.kind == "person" for entity in entities)

    def _centre(self, vectors: list[Vectors]) -> tuple[Vectors, float]:
        """The mean of a hashtag's posts, drawn to that of all posts, and how alike they are."""
        summed = np.sum(np.array(vectors).reshape(-1, len(self._mean)) - self._mean, 0)
        centre = summed / (len(vectors) + SHRINKING)
        return centre, float(np.linalg.norm(summed)) / (len(vectors) + 1)

    def _official(self, known: set[str]) -> list[Found]:
        """Hashtags that had an emoji of their own, with their days."""
        flags = {}
        for row in lines(self._work.data / "hashtags" / "hashflags-2020-2026.jsonl.gz"):
            tag = row["tag"]
            plain = tag.isascii() and tag.replace("_", "").isalnum() and 4 <= len(tag) <= LONGEST
            if plain and row["start"] and any(letter.isupper() for letter in tag):
                flags[tag] = row["start"], row["end"]
        found = []
        for written, (start, end) in flags.items():
            tag = self._segmenter.segment(f"#{written}")
            key = "".join(tag)
            if key not in known and not self._blocked.holds(key, tag):
                known.add(key)
                days = [
                    date.fromisoformat(at).toordinal() - EPOCH if at else 0 for at in (start, end)
                ]
                found.append(Found(tag, f"#{written}", 0, days[0], days[1], []))
        return found

    def _worth(self, without: Collection[str]) -> dict[str, Worth]:
        """How many people say a word, and how many tag it; no set has more than its share."""
        said: Counter[str] = Counter()
        tagged: Counter[str] = Counter()
        for name, counts in self._counts.items():
            if name not in without:
                said.update({word: min(SAME_PEOPLE, n) for word, n in counts.said.items()})
                tagged.update({word: min(SAME_PEOPLE, n) for word, n in counts.tagged.items()})
        return {
            word: Worth(said[word], tagged[word])
            for word in said
            if word.isascii() and (said[word] >= FEWEST_SAID or tagged[word] >= FEWEST_TAGGED)
        }


def cues_of_topics() -> dict[str, list[str]]:
    """The editor's topics, each with what people say who use it."""
    lines = (line.split("\t") for line in (HERE / "cues.txt").read_text("utf-8").splitlines())
    split = ((written, cues.split(", ")) for written, cues in lines)
    return {written: [cue for cue in cues if cue != NO_CUES] for written, cues in split}


def _list(name: str) -> list[str]:
    """The lines of one of the editor's lists."""
    return (HERE / name).read_text("utf-8").split()


@lru_cache(1)
def _lexicographer(work: Work) -> Lexicographer:
    return Lexicographer(work)


def lexicon(work: Work, left_out: str | None) -> Path:
    """The directory of the lexicon without a set; None: of all sets."""
    target = work.folder / ("lexicon" if left_out is None else f"lexicon-{left_out}")
    if not target.exists():
        maker = _lexicographer(work)
        print(target.name, flush=True)
        without = () if left_out is None else LEFT_OUT.get(left_out, (left_out,))
        with new_directory(target, KIND, {}) as scratch:
            maker.lexicon(without).save(scratch)
    return target
