"""The panel: do the suggestions make sense to anyone? Posts, grades, and the table.

    hashnews news add DATA/2021/news.jsonl.gz --news STORES/2021.db
    hashnews news add DATA/2023/news.jsonl.gz --news STORES/2023.db
    python benchmarks/panel.py ask NAME --stores STORES       # writes answers/NAME.jsonl
    python benchmarks/panel.py pool answers/*.jsonl -o sheet.jsonl
    python benchmarks/panel.py grade filled-by-ann.jsonl --by ann
    python benchmarks/panel.py table answers/*.jsonl --half choose

A post is asked about by a newcomer: with the news of its days and no memory of posts. The store of
the sample's news is made on the spot; posts whose store is missing are skipped. How the posts were
made and how they are graded: benchmarks/panel/README.md.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from panel_measures import (
    GRADES,
    HALVES,
    SECTIONS,
    WRITTEN_LATER,
    Answers,
    Grades,
    Pair,
    PanelPost,
    agreement,
    halves,
    score,
    sections,
    shown_pairs,
    text_table,
)

from hashnews import HashNews, Post
from hashnews.files import new_file
from hashnews.news.store import NewsStore
from hashnews.prepare.preparer import Preparer
from hashnews.records import Article
from hashnews.sample import sample_file
from hashnews.suggest.language_model import LanguageModel
from hashnews.text.entities import load_finder
from hashnews.text.hashtags import key_of
from hashnews.text.segment import shipped_segmenter

PANEL = Path(__file__).parent / "panel"
POSTS = tuple(PANEL / f"{name}.jsonl" for name in ("posts", *WRITTEN_LATER.values()))
GRADED = PANEL / "grades.jsonl"
STORES = {"2020": "sample", "2021": "2021", "2023": "2023"}  # year of a post -> its news
SEED = 1
TELLING, DAILY = 2, 60  # articles for each post, and of each day, in a small store
PATIENCE = 86_400.0  # seconds for a language model: what it says is measured, not how fast


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one of the commands."""
    options = _options(arguments)
    options.run(options)


def read_panel() -> list[PanelPost]:
    """The posts, in the order they were written down."""
    lines = [line for path in POSTS for line in read_lines(path)]
    return [PanelPost(**{**line, "editor": tuple(line["editor"])}) for line in lines]


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The JSON lines of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def write_lines(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Write JSON lines, whole or not at all."""
    with new_file(path) as stream:
        for line in lines:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")


# ask


def ask(options: argparse.Namespace) -> None:
    """Answer the panel with the installed package."""
    lines: dict[str, dict[str, Any]] = {}
    posts = read_panel()
    with tempfile.TemporaryDirectory() as scratch:
        for year, name in STORES.items():
            asked = [post for post in posts if post.created_at.startswith(year)]
            small = options.memory == "small"
            if options.no_news:
                store = Path(scratch) / f"{name}.db"
                NewsStore(store, "write").close()
            elif name == "sample":
                store = make_sample(Path(scratch), with_posts=small)
            elif small:
                print(f"{name}: has no small memory, {len(asked)} posts skipped")
                continue
            else:
                store = (options.stores or Path()) / f"{name}.db"
                if options.stores is None or not store.exists():
                    print(f"{name}: no store {store}, {len(asked)} posts skipped")
                    continue
            llm = LanguageModel(options.llm, seconds=PATIENCE) if options.llm else None
            with HashNews(store, options.model, llm) as hashnews:
                if options.finder:
                    finder = load_finder(options.finder)
                    hashnews.preparer = Preparer(shipped_segmenter(), finder)
                if len(hashnews.memory) and not small:
                    raise SystemExit(f"{store} remembers posts: a newcomer has none")
                told = [list(post.editor) for post in asked] if options.editor else None
                lines |= {line["id"]: line for line in answer(hashnews, asked, options.n, told)}
            write_lines(options.answers / f"{options.name}.jsonl", lines.values())
            print(f"{name}: {len(asked)} posts answered", flush=True)


def make_sample(folder: Path, with_posts: bool = False) -> Path:
    """A store of the shipped sample's news, and of its posts if so asked."""
    store = folder / "sample.db"
    for kind in ("news", "posts") if with_posts else ("news",):
        with sample_file(f"{kind}.jsonl") as path:
            command = [sys.executable, "-m", "hashnews", kind, "add", str(path), "--news", store]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return store


def few(options: argparse.Namespace) -> None:
    """Make small stores, as of somebody who follows few feeds.

    They hold the two articles that are found first for each post, and some of each day at random.
    """
    posts = read_panel()
    for year, name in STORES.items():
        whole, made = options.stores / f"{name}.db", options.out / f"{name}.db"
        if name == "sample" or not whole.exists():
            continue
        asked = [post for post in posts if post.created_at.startswith(year)]
        found: set[str] = set()
        with HashNews(whole) as hashnews:
            for post in asked:
                read = Post(id=post.id, text=post.text, created_at=post.created_at)
                found.update(one.id for one in hashnews.suggest(read).articles[:TELLING])
        days: defaultdict[str, list[Article]] = defaultdict(list)
        with NewsStore(whole) as store:
            for stored in store.read():
                days[str(stored.article.published_at)[:10]].append(stored.article)
        for articles in days.values():
            articles.sort(key=lambda article: crc32(article.id.encode()))
            found.update(article.id for article in articles[:DAILY])
        kept = [one for articles in days.values() for one in articles if one.id in found]
        made.parent.mkdir(parents=True, exist_ok=True)
        news = made.with_suffix(".jsonl")
        write_lines(news, (one.model_dump(mode="json", exclude={"entities"}) for one in kept))
        command = [sys.executable, "-m", "hashnews", "news", "add", str(news), "--news", str(made)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        print(f"{made}: {len(kept)} articles for {len(asked)} posts", flush=True)


def answer(
    hashnews: HashNews,
    posts: Sequence[PanelPost],
    n: int,
    proposed: Sequence[Sequence[str]] | None = None,
) -> list[dict[str, Any]]:
    """What is shown for each post, with scores and the sources of the reasons."""
    asked = [Post(id=post.id, text=post.text, created_at=post.created_at) for post in posts]
    return [
        {
            "id": found.post_id,
            "shown": [
                {
                    "hashtag": one.hashtag,
                    "score": one.score,
                    "sources": [reason.source for reason in one.because],
                }
                for one in found.suggestions
            ],
        }
        for found in hashnews.suggest_all(asked, n, proposed=proposed)
    ]


def read_answers(path: Path) -> Answers:
    """The hashtags a system shows for each post; its name is the file's."""
    return {line["id"]: [one["hashtag"] for one in line["shown"]] for line in read_lines(path)}


# pool and grade


def pool(options: argparse.Namespace) -> None:
    """Write a sheet of what is still to be graded."""
    systems = {path.stem: read_answers(path) for path in options.answers}
    sheet = pooled(read_panel(), systems, read_grades(options.grades), options.by, options.seed)
    write_lines(options.out, sheet)
    print(f"{sum(len(line['tags']) for line in sheet)} hashtags of {len(sheet)} posts to grade")


def pooled(
    posts: Sequence[PanelPost],
    systems: dict[str, Answers],
    grades: Grades,
    by: str | None = None,
    seed: int = SEED,
) -> list[dict[str, Any]]:
    """The ungraded hashtags of all systems and of the editor, in an order that tells nothing.

    One hashtag per key, written as most systems write it. `by`: those that this grader has not
    graded, instead of those that nobody has.
    """
    answered = [post for post in posts if any(post.id in answers for answers in systems.values())]
    editor = {"": {post.id: post.editor for post in answered}}
    pairs = shown_pairs(answered, editor) | shown_pairs(answered, systems)
    tags: defaultdict[str, list[str]] = defaultdict(list)
    for (post, key), written in sorted(pairs.items()):
        given = grades.get((post, key), {})
        if not given if by is None else by not in given:
            tags[post].append(written)
    order = random.Random(seed)
    open_posts = [post for post in answered if post.id in tags]
    order.shuffle(open_posts)
    for post in open_posts:
        order.shuffle(tags[post.id])
    return [
        {"id": post.id, "created_at": post.created_at, "text": post.text, "tags": tags[post.id]}
        for post in open_posts
    ]


def read_grades(path: Path = GRADED) -> Grades:
    """The grades of each pair, by grader."""
    grades: defaultdict[Pair, dict[str, int]] = defaultdict(dict)
    for line in read_lines(path) if path.exists() else ():
        # The key in the file is for the eye: what makes two hashtags the same may be refined.
        grades[line["post"], key_of(line["written"])][line["grader"]] = line["grade"]
    return dict(grades)


def grade(options: argparse.Namespace) -> None:
    """Take a filled sheet into the grades."""
    sheet = read_lines(options.sheet)
    wrong = problems(sheet, {post.id for post in read_panel()})
    if wrong:
        raise SystemExit("\n".join([*wrong, f"{options.sheet}: nothing was taken in"]))
    taken = take_in(sheet, options.by, options.grades)
    print(f"{taken} grades by {options.by} in {options.grades}")


def problems(sheet: Sequence[dict[str, Any]], posts: set[str]) -> list[str]:
    """What is wrong with a filled sheet, one line each."""
    found, seen = [], set()
    for number, line in enumerate(sheet, 1):
        name, grades = line.get("id"), line.get("grades")
        tags = line.get("tags", [])
        if name not in posts:
            found.append(f"line {number}: the panel has no post {name!r}")
        if name in seen:
            found.append(f"line {number}: post {name} is there twice")
        seen.add(name)
        if not isinstance(grades, dict):
            found.append(f"line {number}: post {name} has no grades")
            continue
        found += [f"line {number}: {tag} has no grade" for tag in tags if tag not in grades]
        for tag, given in grades.items():
            if tag not in tags:
                found.append(f"line {number}: {tag} was not asked for")
            elif type(given) is not int or given not in GRADES:
                found.append(f"line {number}: {tag} has {given!r}, which is none of {GRADES}")
    return found


def take_in(sheet: Sequence[dict[str, Any]], grader: str, path: Path = GRADED) -> int:
    """Add a grader's grades to the file, in place of earlier ones of the same; give how many."""
    lines = read_lines(path) if path.exists() else []
    kept = {(line["post"], key_of(line["written"]), line["grader"]): line for line in lines}
    new = {
        (line["id"], key_of(tag), grader): {
            "post": line["id"],
            "key": key_of(tag),
            "written": tag,
            "grader": grader,
            "grade": given,
        }
        for line in sheet
        for tag, given in line["grades"].items()
    }
    kept |= new
    write_lines(path, [kept[place] for place in sorted(kept)])
    return len(new)


# table


def table(options: argparse.Namespace) -> None:
    """Print how good each system is, and write it down."""
    panel = read_panel()
    half = halves(panel)
    posts = [post for post in panel if options.half in (None, half[post.id])]
    if options.small_letters:
        posts = [post for post in posts if post.text == post.text.lower()]
    systems = {path.stem: read_answers(path) for path in options.answers}
    report = measured(posts, systems, read_grades(options.grades), options.part or list(SECTIONS))
    print(f"half: {options.half or 'both'}; shares in percent, ungraded hashtags count as nothing")
    for one in report["agreement"]:
        print(
            "{} and {}: {pairs} shown hashtags graded by both, weighted kappa {kappa}, "
            "equal {equal} %".format(*one["graders"], **one)
        )
    print()
    print(text_table(report["scores"]))
    for post, written in report["ungraded"] if options.ungraded else ():
        print(post, written)
    if options.out:
        named = {
            section: {name: row and row._asdict() for name, row in rows.items()}
            for section, rows in report["scores"].items()
        }
        with new_file(options.out) as stream:
            whole = {"half": options.half or "both", **report, "scores": named}
            stream.write(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


def measured(
    posts: Sequence[PanelPost],
    systems: dict[str, Answers],
    grades: Grades,
    parts: Sequence[str],
) -> dict[str, Any]:
    """The scores of each section, the graders' agreement, and what is ungraded.

    The row `(editor)` is the editor's own hashtags: the most that can be hoped for.
    """
    found = sections(posts, parts)
    chosen = [post for post in posts if any(post in section for section in found.values())]
    answered = {post.id for post in chosen if any(post.id in a for a in systems.values())}
    rows = {**systems, "(editor)": {p.id: p.editor for p in chosen if p.id in answered}}
    pairs = shown_pairs(chosen, systems)
    return {
        "agreement": agreement(grades, set(pairs)),
        "scores": {
            section: {name: score(inside, answers, grades) for name, answers in rows.items()}
            for section, inside in found.items()
        },
        "ungraded": [
            [post, tag] for (post, key), tag in pairs.items() if (post, key) not in grades
        ],
    }


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(run: Any) -> argparse.ArgumentParser:
        made = commands.add_parser(run.__name__, help=run.__doc__, description=run.__doc__)
        made.set_defaults(run=run)
        return made

    asking = command(ask)
    asking.add_argument("name", help="name of the system, and of the file of its answers")
    asking.add_argument("--model", type=Path, help="folder of a model; default: the shipped one")
    asking.add_argument("--stores", type=Path, help="folder of 2021.db and 2023.db")
    asking.add_argument("-n", type=int, default=5, help="hashtags shown at most; default: 5")
    asking.add_argument(
        "--memory",
        choices=("none", "small"),
        default="none",
        help="small: with the sample's posts, for the posts of its days only",
    )
    asking.add_argument("--llm", metavar="URL", help="ask a language model there, too")
    asking.add_argument(
        "--editor", action="store_true", help="as if a language model said what the editor did"
    )
    asking.add_argument("--no-news", action="store_true", help="from a store without articles")
    asking.add_argument("--finder", help="what finds the names of posts; default: the store's")
    asking.add_argument("--answers", type=Path, default=Path("answers"), help="folder to write to")
    thinning = command(few)
    thinning.add_argument("--stores", type=Path, required=True, help="folder of the whole stores")
    thinning.add_argument("-o", "--out", type=Path, required=True, help="folder of the small ones")
    pooling = command(pool)
    pooling.add_argument("answers", type=Path, nargs="+")
    pooling.add_argument("-o", "--out", type=Path, required=True, help="the sheet")
    pooling.add_argument("--by", help="what this grader has not graded, not what nobody has")
    pooling.add_argument("--seed", type=int, default=SEED)
    grading = command(grade)
    grading.add_argument("sheet", type=Path)
    grading.add_argument("--by", required=True, help="name of the grader")
    showing = command(table)
    showing.add_argument("answers", type=Path, nargs="+")
    showing.add_argument("--half", choices=(*HALVES, *WRITTEN_LATER.values()), help="default: all")
    showing.add_argument("--small-letters", action="store_true", help="posts without capitals only")
    showing.add_argument("--part", choices=SECTIONS, action="append", help="may be repeated")
    showing.add_argument("--ungraded", action="store_true", help="list what has no grade yet")
    showing.add_argument("-o", "--out", type=Path, help="also write JSON")
    for one in (pooling, grading, showing):
        one.add_argument("--grades", type=Path, default=GRADED, help="file of the grades")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
