"""Candidates for a post and what speaks for each: one row a hashtag, one column a feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hashnews.arrays import Array
from hashnews.records import ContextWord
from hashnews.suggest.calendar import AROUND, Season
from hashnews.suggest.evidence import COLUMN, EVIDENCE, STATISTICS, Desk, Past, newest
from hashnews.suggest.from_text import Spelled, Told, in_news, in_post, initials
from hashnews.suggest.memory import Memory
from hashnews.text.terms import terms
from hashnews.text.tokens import words

# How many candidates each kind of evidence may bring, best first.
TAKEN = {
    "neighbours": 60, "neighbours_inline": 25, "nearest": 25, "own_season": 40,
    "own_similar": 15, "six_hours": 10, "day": 25, "week": 20, "kindred": 25, "together": 15,
    "together_near": 15,
}  # fmt: skip
NAMES_OF_POST, NAMES_OF_NEWS, PHRASES_OF_NEWS = 25, 20, 10
LEAST = -8.0  # log-probability: what is less likely to the generator is all the same to it
STEM = 5  # letters: `protest` and `protesters` say the same
RANKED = ("neighbours", "nearest", "own_season", "own_similar", "day", "week", "kindred", "centre")

SPELLED = (
    "words", "letters", "digits", "in_post", "post_share", "post_name", "post_phrase",
    "context", "context_share", "context_rank", "news", "news_name", "news_articles",
    "stem_share", "initials",
)  # fmt: skip
ABOUT_POST = (
    "post_words", "own_posts", "own_newest", "newest", "given", "articles",
)  # fmt: skip
SEASON = ("season", "season_share", "season_away", "season_turned")
OUT_OF_SEASON = (0.0, 0.0, 2.0 * AROUND + 1, 0.0)
GENERATED = ("generator", "generator_rank")
FEATURES = (
    *EVIDENCE[1:],
    *STATISTICS,
    *SPELLED,
    *(f"{name}_rank" for name in RANKED),
    *(f"{name}_of_best" for name in RANKED),
    "rise", "sources",
    *ABOUT_POST,
    *SEASON,
    *GENERATED,
)  # fmt: skip


class Query(NamedTuple):
    """A post as its candidates are looked for."""

    moment: int
    body: str
    entities: Sequence[str]
    given: frozenset[str]  # keys of the hashtags it already holds
    context: Sequence[ContextWord]
    articles: Sequence[Told]
    generated: Sequence[tuple[str, ...]]  # hashtags the generator wrote, best first
    season: Mapping[str, Season] = {}  # hashtags of this time of the year, by key


class Candidates(NamedTuple):
    """Hashtags for a post: their keys, words, numbers in the memory (-1: none) and features."""

    keys: list[str]
    words: list[tuple[str, ...]]
    tags: Array
    features: Array
    in_post: dict[str, Spelled]
    in_news: dict[str, Spelled]


def candidates(query: Query, past: Past, never: frozenset[str] = frozenset()) -> Candidates:
    """All candidates for a post with their features; `never` are keys not to be suggested."""
    said = words(query.body)
    own, news = in_post(said, query.entities), in_news(query.articles)
    given = [n for key in sorted(query.given) if (n := past.known(key)) is not None]
    past.gather(given)
    keys: dict[str, tuple[int, tuple[str, ...]]] = {}
    unwanted = query.given | never
    for tag in _from_memory(past).tolist():
        keys[past.memory.tags.names[tag]] = (tag, past.memory.words[tag])
    for key, parts in _spelled(query, past, own, news):
        if key not in keys:
            number = past.known(key)
            keys[key] = (-1, parts) if number is None else (number, past.memory.words[number])
    kept = {key: found for key, found in keys.items() if key and key not in unwanted}
    tags = np.array([tag for tag, _ in kept.values()], np.int64)
    names = [parts for _, parts in kept.values()]
    table = _features(query, past, said, own, news, list(kept), names, tags)
    return Candidates(list(kept), names, tags, table, own, news)


def look_back(
    memory: Memory,
    desk: Desk,
    query: Query,
    user: str | None,
    never: frozenset[str] = frozenset(),
    until: int | None = None,
) -> tuple[Past, Candidates]:
    """The past of a post and the candidates from it; `until` closes the memory earlier."""
    past = Past(memory, desk, query.moment, user, terms(query.body), until)
    try:
        return past, candidates(query, past, never)
    finally:
        past.clean()


def _from_memory(past: Past) -> Array:
    """The best hashtags by each kind of evidence."""
    seen = past.seen
    chosen = [np.zeros(0, np.int64)]
    for name, most in TAKEN.items():
        evidence = past.evidence(seen, name)
        some = np.flatnonzero(evidence > 0)
        if len(some) > most:
            some = some[np.argpartition(-evidence[some], most)[:most]]
        chosen.append(seen[some])
    # In the order of first use, so that no tie is broken by what came after the post.
    return np.unique(np.concatenate(chosen))


def _spelled(
    query: Query, past: Past, own: dict[str, Spelled], news: dict[str, Spelled]
) -> list[tuple[str, tuple[str, ...]]]:
    """Hashtags spelled from post and news: known ones all, new ones the best of each kind."""
    found = [(key, spelled.words) for key, spelled in own.items() if past.known(key) is not None]
    found += [(key, (key,)) for key in initials(words(query.body)) if past.known(key) is not None]
    heaviest = sorted(news.items(), key=lambda item: (-item[1].weight, item[0]))
    found += [(k, s.words) for k, s in heaviest if s.weight > 0.02 and past.known(k) is not None]
    found += [(k, s.words) for k, s in own.items() if s.name is not None or k in news]
    found += [(k, s.words) for k, s in heaviest if s.name is not None][:NAMES_OF_NEWS]
    phrases = [(k, s.words) for k, s in heaviest if s.name is None and len(s.articles) > 1]
    found += phrases[:PHRASES_OF_NEWS]
    found += [("".join(parts), parts) for parts in query.generated]
    found += [(key, season.words) for key, season in query.season.items()]
    return found


def _features(
    query: Query,
    past: Past,
    said: list[str],
    own: dict[str, Spelled],
    news: dict[str, Spelled],
    keys: list[str],
    names: list[tuple[str, ...]],
    tags: Array,
) -> Array:
    table = np.zeros((len(keys), len(FEATURES)), np.float32)
    if not keys:
        return table
    evidence, statistics = past.table(tags)[:, 1:], past.statistics(tags)
    table[:, : len(EVIDENCE) - 1] = evidence
    at = len(EVIDENCE) - 1
    table[:, at : at + len(STATISTICS)] = statistics
    at += len(STATISTICS)
    table[:, at : at + len(SPELLED)] = _spelling(query, said, own, news, keys, names)
    at += len(SPELLED)
    place = {name: number for number, name in enumerate((*EVIDENCE[1:], *STATISTICS))}
    ranked = table[:, [place[name] for name in RANKED]]
    table[:, at : at + len(RANKED)] = _ranks(ranked)
    at += len(RANKED)
    table[:, at : at + len(RANKED)] = ranked / np.maximum(1e-9, ranked.max(axis=0))
    at += len(RANKED)
    day, week = table[:, place["day"]], table[:, place["week"]]
    table[:, at] = (day + 0.5) / (week / 7 + 0.5)
    sources = [COLUMN[n] - 1 for n in ("neighbours", "own", "week", "kindred", "together")]
    table[:, at + 1] = (evidence[:, sources] > 0).sum(axis=1)
    at += 2
    table[:, at : at + len(ABOUT_POST)] = _about(query, past, said)
    at += len(ABOUT_POST)
    table[:, at : at + len(SEASON)] = [_seasonal(query.season.get(key)) for key in keys]
    return table


def with_generator(found: Candidates, scores: Sequence[float]) -> Candidates:
    """Candidates with what the generator thinks of each: log-probability and rank."""
    known = np.maximum(np.array(scores, np.float32), LEAST)
    features = found.features.copy()
    at = FEATURES.index("generator")
    features[:, at] = known
    features[:, at + 1] = np.searchsorted(np.sort(-known), -known)
    return found._replace(features=features)


def _ranks(columns: Array) -> Array:
    """The rank of each value in its column, the highest 0, equal ones alike; nothing ranks last."""
    order = np.sort(-columns, axis=0)
    ranks = np.empty_like(columns)
    for at in range(columns.shape[1]):
        ranks[:, at] = np.searchsorted(order[:, at], -columns[:, at])
    ranks[columns <= 0] = len(columns)
    return ranks


def _spelling(
    query: Query,
    said: list[str],
    own: dict[str, Spelled],
    news: dict[str, Spelled],
    keys: list[str],
    names: list[tuple[str, ...]],
) -> list[tuple[float, ...]]:
    in_text = set(said)
    heaviest = max((word.weight for word in query.context), default=1.0)
    weight = {word.word: word.weight / heaviest for word in query.context}
    rank = {word.word: at for at, word in enumerate(query.context)}
    stems, short = {word[:STEM] for word in said}, initials(said)
    rows: list[tuple[float, ...]] = []
    for key, parts in zip(keys, names, strict=True):
        letters = len(key)
        spelled, told = own.get(key), news.get(key)
        covered = sum(len(part) for part in parts if part in in_text)
        either = sum(len(part) for part in parts if part in in_text or part in weight)
        rows.append(
            (
                len(parts),
                letters,
                sum(map(str.isdecimal, key)),
                sum(part in in_text for part in parts),
                covered / letters,
                float(spelled is not None and spelled.name is not None),
                float(spelled is not None),
                sum(weight.get(part, 0.0) for part in parts),
                either / letters,
                min((rank.get(part, 200) for part in parts), default=200),
                told.weight if told else 0.0,
                told.weight if told and told.name else 0.0,
                len(told.articles) if told else 0.0,
                sum(len(part) for part in parts if part[:STEM] in stems) / letters,
                float(key in short),
            )
        )
    return rows


def _seasonal(season: Season | None) -> tuple[float, ...]:
    if season is None:
        return OUT_OF_SEASON
    return season.authors, season.share, season.away, season.turned


def _about(query: Query, past: Past, said: list[str]) -> tuple[float, ...]:
    own_newest = past.ages(past.own[-1:])
    return (
        len(said),
        len(past.own),
        float(own_newest[0]) if len(own_newest) else 1000.0,
        newest(past),
        len(query.given),
        len(query.articles),
    )
