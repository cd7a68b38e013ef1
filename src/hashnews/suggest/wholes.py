"""Names as texts write them whole: Taylor Swift, Storm Bram, the Great British Bake Off.

The fast finder knows a word by how running text usually writes it, and so leaves out what is
usually small: *swift*, *storm*, *off*. Where most words of a text are small, capitals side by side
are one name:

    whole(e) = the run of capitals around e, without roles, days and words that say nothing at its
               ends, nor a word that begins a sentence and is usually small

A name that a text never says outside such a run is that run; else both are names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from itertools import groupby, islice
from typing import NamedTuple

import regex

from hashnews.suggest.from_text import (
    LONGEST_WHOLE,
    Words,
    capitals_tell,
    spoken,
    words_of_name,
)
from hashnews.text.entities import NOT_NAMES, shipped_finder
from hashnews.text.stopwords import STOP_WORDS

# Words with a capital side by side, what joins them, and a number behind them: `GTA 6`.
RUN = regex.compile(
    r"""(?<![\w'’.-])\p{Lu}[\w-]*+(?:\ of\ the\ \p{Lu}[\w-]*+)?+
        (?:\ (?:(?:of|&)\ )?\p{Lu}[\w-]*+)*+(?:\ \d{1,4}(?![\w:%–-]|[.,]\d))?+(?![.'’]\w)""",
    regex.VERBOSE,
)
TITLED = regex.compile(r"(?<=[\p{Ll},] )The(?: \p{Lu}[\w-]*+)++")  # `watched The Bear`
BEGINS = regex.compile(r"""(?:^|[.!?…:“”"•|–—*>(\[‘’'\n])\s*$""")
SMALL_WORD = regex.compile(r"(?<![\w'’-])\p{Ll}{4,}+(?![\w'’-])")
FEW = 2  # of them
BEFORE = 4  # letters before a run that tell whether it begins a sentence
USUALLY = 0.5  # the share of capitals of a word that is a name
TWICE = 2  # times a text says a run with a number: scores and ages stand behind a name once
LOUD = 3  # words all of capitals
ARTICLES = frozenset("the a an of &".split())
MOST_RUNS = 200  # of a text that are looked at


@lru_cache(1)
def _roles() -> tuple[frozenset[str], frozenset[str]]:
    """What somebody is, and what may stand before it."""
    listed = (resources.files("hashnews.suggest") / "data" / "roles.txt").read_text("utf-8")
    lines = [line.split(": ") for line in listed.splitlines() if not line.startswith("#")]
    roles, before = (
        frozenset(word for kind, some in lines if kind == one for word in some.split())
        for one in ("role", "before")
    )
    return roles, before


class ArticleText(NamedTuple):
    """An article as far as it is read, and the names the finder found in it, one per mention."""

    title: str
    body: str
    names: tuple[str, ...]


def whole_names(articles: Sequence[ArticleText]) -> list[tuple[str, ...]]:
    """The names of each article, one per mention, as headline and text write them whole."""
    read = [(*_runs(one.title), *_runs(one.body, is_cut=True)) for one in articles]
    every = [run for runs in read for run in runs]
    times = Counter(run.whole for run in every)
    sure = {run.whole for run in every if not run.begins}
    return [
        _whole_names(one, _counted(runs, times, sure)) if runs else one.names
        for one, runs in zip(articles, read, strict=True)
    ]


def _whole_names(article: ArticleText, runs: Counter[str]) -> tuple[str, ...]:
    found = _widened(article, runs)
    known = {words_of_name(name) for name in found}
    return (*found, *(run for run in runs.elements() if words_of_name(run) not in known))


def whole_names_of_post(body: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names found in a post, as it writes them whole; no others: people raise any word."""
    runs, post = _runs(body), ArticleText("", body, tuple(names))
    times = Counter(run.whole for run in runs)
    return _widened(post, _counted(runs, times, {run.whole for run in runs if not run.begins}))


def titles_in(text: str) -> dict[Words, str]:
    """Titles that a post raises with their article, by their words: nobody else writes *The* so."""
    found = TITLED.findall(text) if _tells(text) else ()
    return {words_of_name(title): title for title in found}


def _widened(article: ArticleText, runs: Counter[str]) -> tuple[str, ...]:
    """Each name, or the run in which alone it is said."""
    said = f" {' '.join(spoken(article.title))} {' '.join(spoken(article.body))} "
    parts = {run: words_of_name(run) for run in runs if not run[-1].isdecimal()}
    wider = {}
    for name in set(article.names):
        small = words_of_name(name)
        around = [
            run for run in parts if len(parts[run]) > len(small) and _holds(parts[run], small)
        ]
        if around and said.count(f" {' '.join(small)} ") <= sum(runs[run] for run in around):
            wider[name] = max(around, key=lambda run: (runs[run], -len(parts[run]), run))
    return tuple(wider.get(name, name) for name in article.names)


class _CapitalRun(NamedTuple):
    """A run of capitals as it is written, and where it stands."""

    whole: str
    begins: bool  # a sentence, with a word that is usually small

    @property
    def has_number(self) -> bool:
        """Whether a number ends it."""
        return self.whole[-1:].isdecimal()


def _counted(
    runs: Sequence[_CapitalRun], times: Mapping[str, int], sure: Collection[str]
) -> Counter[str]:
    """How often a text says each run; what is doubtful at its ends is left out.

    That is a number that all texts say once, and a usually small word that only begins sentences.
    """
    counted = Counter[str]()
    for run in runs:
        name = run.whole
        if run.has_number and times[name] < TWICE:
            name = without_last(name)
        if run.begins and name not in sure:
            name = name.partition(" ")[2].removeprefix("of ").removeprefix("the ")
        if name[-1:].isdecimal():  # Eurovision Song Contest 2023 is a Eurovision Song Contest
            counted[without_last(name)] += 1
        counted[name] += 1
    return Counter({name: n for name, n in counted.items() if " " in name})


def without_last(name: str) -> str:
    """All but its last word."""
    return name.rpartition(" ")[0]


@lru_cache(2_000)
def _runs(text: str, is_cut: bool = False) -> tuple[_CapitalRun, ...]:
    """The runs of capitals of a text, two words or more, where its capitals tell."""
    return tuple(_found(text, is_cut)) if _tells(text) else ()


def _found(text: str, is_cut: bool) -> Iterator[_CapitalRun]:
    for found in islice(RUN.finditer(text), MOST_RUNS):
        if is_cut and found.end() == len(text):
            return  # half a word
        forms = found[0].split(" ")
        before = text[max(0, found.start() - BEFORE) : found.start()]
        begins = bool(BEGINS.search(before)) and not _is_usual(forms[0])
        for some in _without_roles(forms):
            if sum(form.isupper() and len(form) > 1 for form in some) >= LOUD:
                continue
            if len(some) > 1 and len(words_of_name(name := " ".join(some))) <= LONGEST_WHOLE:
                yield _CapitalRun(name, begins and some[0] == forms[0])


def _tells(text: str) -> bool:
    """Whether capitals tell names: most words are small, or words that a Title would raise."""
    if capitals_tell(text):
        return True
    small = (word for word in SMALL_WORD.findall(text) if word not in STOP_WORDS)
    return len(list(islice(small, FEW))) == FEW


def _without_roles(forms: Sequence[str]) -> Iterator[list[str]]:
    """What stands between the roles in a run, without days and empty words at its ends."""
    roles, before = _roles()
    small = [form.lower() for form in forms]
    is_role = [word in roles for word in small]
    for at in range(len(forms) - 2, -1, -1):
        is_role[at] = is_role[at] or (small[at] in before and is_role[at + 1])
    for cut, some in groupby(range(len(forms)), is_role.__getitem__):
        if not cut:
            places = list(some)
            while places and _says_nothing(small[places[0]]):
                del places[0]
            while places and _says_nothing(small[places[-1]]):
                del places[-1]
            yield [forms[at] for at in places]


def _says_nothing(word: str) -> bool:
    return word in ARTICLES or word in NOT_NAMES


def _is_usual(form: str) -> bool:
    """Whether running text mostly writes a word with a capital, or does not know it."""
    case, word = shipped_finder().truecase, form.lower()
    seen = case.seen.get(word, 0.0)
    return not seen or case.capital.get(word, 0.0) >= USUALLY * seen


def _holds(parts: Words, some: Words) -> bool:
    """Whether words stand in a longer run."""
    size = len(some)
    return any(parts[at : at + size] == some for at in range(len(parts) - size + 1))
