"""How answers on the panel are measured: halves, families, grades, agreement, the table."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from hashnews.text.hashtags import key_of

GRADES = (-1, 0, 1, 2)  # embarrassing, off topic, on topic and harmless, would use it
HALVES = ("choose", "report")
WRITTEN_LATER = {
    "n": "fresh",
    "q": "later",
    "r": "last",
    "u": "newest",
    "v": "plain",
    "w": "wide",
    "x": "closing",
    "y": "ninth",
}  # by how ids begin: sets of other writers
NEWS = ("sample", "2021", "2023")
SECTIONS = {"news": NEWS, **{part: (part,) for part in (*NEWS, "everyday")}}


class PanelPost(NamedTuple):
    """A post of the panel; `editor` are the hashtags fixed before any answer was seen."""

    id: str
    part: str
    created_at: str
    text: str
    editor: tuple[str, ...]
    topic: str


Answers = Mapping[str, Sequence[str]]  # post -> the hashtags shown, first to last
Pair = tuple[str, str]  # post, key of a hashtag
Grades = Mapping[Pair, Mapping[str, int]]  # -> grader -> grade


def halves(posts: Iterable[PanelPost]) -> dict[str, str]:
    """The half of each post: within its part, sorted by topic and sha256(id), every second one.

    So both halves of a part have as many posts, or one more, and nearly as many of each topic.
    Posts that were written later are in neither.
    """
    parts = defaultdict(list)
    posts = list(posts)
    later = {post.id: WRITTEN_LATER[post.id[0]] for post in posts if post.id[0] in WRITTEN_LATER}
    for post in (post for post in posts if post.id not in later):
        order = post.topic, hashlib.sha256(post.id.encode()).digest()
        parts[post.part].append((order, post.id))
    return later | {
        name: HALVES[rank % 2]
        for inside in parts.values()
        for rank, (_, name) in enumerate(sorted(inside))
    }


def family(hashtag: str) -> str:
    """What near variants of a hashtag share: its key without digits, then without a final s.

    #Oscars2021 and #Oscar are one family. Less than three letters are no family: #F1 stays, and
    so do #US and the s of #Press.
    """
    key = key_of(hashtag)
    letters = re.sub(r"\d+", "", key)
    key = letters if len(letters) >= 3 else key
    return key[:-1] if len(key) > 3 and key.endswith("s") and not key.endswith("ss") else key


def grade_of(given: Mapping[str, int]) -> int:
    """floor(mean of the graders' grades): where two differ by one, the lower counts."""
    return math.floor(sum(given.values()) / len(given))


def kappa(pairs: Sequence[tuple[int, int]]) -> float | None:
    """Cohen's kappa with linear weights: 1 - sum |i - j| p(i, j) / sum |i - j| p(i) p(j).

    None where both graders gave one and the same grade throughout: chance explains it all.
    """
    total = len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    by_chance = sum(abs(i - j) * first[i] * second[j] for i in first for j in second)
    if not by_chance:
        return None
    return 1 - total * sum(abs(a - b) for a, b in pairs) / by_chance


def agreement(grades: Grades, among: set[Pair]) -> list[dict[str, object]]:
    """How far each two graders agree on the pairs that both graded."""
    graders = sorted({name for pair in among for name in grades.get(pair, ())})
    agreed: list[dict[str, object]] = []
    for one, other in combinations(graders, 2):
        both = [
            (given[one], given[other])
            for given in (grades.get(pair, {}) for pair in among)
            if one in given and other in given
        ]
        if both:
            value = kappa(both)
            agreed.append(
                {
                    "graders": [one, other],
                    "pairs": len(both),
                    "kappa": None if value is None else round(value, 3),
                    "equal": _percent(sum(a == b for a, b in both), len(both)),
                }
            )
    return agreed


class Score(NamedTuple):
    """What a system is worth on some posts; shares in percent.

    An ungraded hashtag counts as nothing, so each share is "at least": `ungraded` says of how
    many shown hashtags nothing is known.
    """

    posts: int
    any_2: float  # posts with a 2 among those shown
    first_2: float  # posts whose first is a 2
    on_topic: float  # of all hashtags shown, those with 1 or 2
    with_minus: float  # posts with a -1 among those shown
    shown: float  # hashtags per post
    nothing: int  # posts with nothing shown
    overlap: float  # of the editor's families, how many are shown, per post
    ungraded: int  # hashtags shown without a grade


SHARES = ("any_2", "first_2", "on_topic", "with_minus")


def score(posts: Sequence[PanelPost], answers: Answers, grades: Grades) -> Score | None:
    """The score on the posts that were answered; None where none was."""
    asked = [post for post in posts if post.id in answers]
    if not asked:
        return None
    graded = [[grades.get((post.id, key_of(tag))) for tag in answers[post.id]] for post in asked]
    values = [[grade_of(given) if given else None for given in tags] for tags in graded]
    flat = [value for tags in values for value in tags]
    shared = sum(
        len({*map(family, post.editor)} & {*map(family, answers[post.id])}) for post in asked
    )
    return Score(
        posts=len(asked),
        any_2=_percent(sum(2 in tags for tags in values), len(asked)),
        first_2=_percent(sum(tags[:1] == [2] for tags in values), len(asked)),
        on_topic=_percent(sum(value in (1, 2) for value in flat), len(flat)),
        with_minus=_percent(sum(-1 in tags for tags in values), len(asked)),
        shown=round(len(flat) / len(asked), 2),
        nothing=sum(not tags for tags in values),
        overlap=round(shared / len(asked), 2),
        ungraded=flat.count(None),
    )


def sections(posts: Sequence[PanelPost], parts: Sequence[str]) -> dict[str, list[PanelPost]]:
    """The posts of each section of the table: the named parts, then each topic within them."""
    found = {
        name: [post for post in posts if post.part in SECTIONS[name]]
        for name in SECTIONS
        if name in parts
    }
    chosen = [post for post in posts if any(post in section for section in found.values())]
    for topic in sorted({post.topic for post in chosen}):
        found[f"topic {topic}"] = [post for post in chosen if post.topic == topic]
    return found


def shown_pairs(posts: Iterable[PanelPost], systems: Mapping[str, Answers]) -> dict[Pair, str]:
    """Every (post, key) that a system shows, as it is written most often."""
    written: defaultdict[Pair, Counter[str]] = defaultdict(Counter)
    for post in posts:
        for answers in systems.values():
            for tag in answers.get(post.id, ()):
                written[post.id, key_of(tag)][tag] += 1
    return {pair: min(forms, key=lambda w: (-forms[w], w)) for pair, forms in written.items()}


def text_table(found: Mapping[str, Mapping[str, Score | None]]) -> str:
    """Sections of rows, a row per system; `≥` where an ungraded hashtag could add to a share."""
    heads = [name.replace("_", " ").replace("minus", "-1") for name in Score._fields]
    width = max(len(name) for section, rows in found.items() for name in (section, *rows)) + 2
    lines = []
    for section, rows in found.items():
        answered = {name: row for name, row in rows.items() if row is not None}
        if answered:
            lines.append(f"{section:{width}}" + "".join(f"{head:>10}" for head in heads))
        for name, row in answered.items():
            mark = "≥" if row.ungraded else ""
            cells = row._replace(**{share: f"{mark}{getattr(row, share)}" for share in SHARES})
            lines.append(f"  {name:{width - 2}}" + "".join(f"{cell:>10}" for cell in cells))
        lines += [""] if answered else []
    return "\n".join(lines)


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0
