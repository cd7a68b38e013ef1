"""The panel: made-up answers counted by hand, and the shipped model held to its grades."""

import hashlib
import json
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from hashnews import HashNews, Post
from hashnews.news.store import NewsStore
from hashnews.text.hashtags import key_of

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
NIGHT = "2020-06-07T20:00:00Z"


@pytest.fixture(scope="module")
def panel():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import panel
    finally:
        sys.path.remove(str(BENCHMARKS))
    return panel


@pytest.fixture(scope="module")
def measures(panel):
    return sys.modules["panel_measures"]


@pytest.fixture(scope="module")
def sample_store(panel, tmp_path_factory):
    return panel.make_sample(tmp_path_factory.mktemp("panel"))


@pytest.fixture
def posts(measures):
    def one(name, part, topic, *editor):
        return measures.PanelPost(
            name, part, "2020-06-01T00:00:00Z", f"text of {name}", editor, topic
        )

    return [
        one("p1", "sample", "sport", "#Tennis", "#ATPFinals2020", "#Turin"),
        one("p2", "2021", "sport", "#Skiing"),
        one("p3", "everyday", "food", "#Baking", "#Bread"),
        one("p4", "everyday", "food"),
    ]


SYSTEMS = {
    "old": {"p1": ["#Slogan", "#tennis"], "p2": ["#Skiing"], "p3": ["#Slogan"], "p4": []},
    "new": {"p1": ["#Tennis", "#ATPFinal"], "p3": ["#Sourdough", "#Breads"]},
}
GRADES = {
    ("p1", "slogan"): {"a": -1, "b": 0},
    ("p1", "tennis"): {"a": 2, "b": 2},
    ("p1", "atpfinal"): {"a": 2, "b": 1},
    ("p3", "slogan"): {"a": 0},
    ("p3", "sourdough"): {"a": 2},
    ("p3", "breads"): {"a": 2, "b": 2},
}


def test_the_posts_are_as_promised(panel):
    read = panel.read_panel()
    assert len({post.id for post in read}) == len(read) >= 240
    assert min(Counter(post.part for post in read).values()) >= 60
    assert {post.part for post in read} == {"sample", "2021", "2023", "everyday"}
    assert {post.created_at[:4] for post in read} == set(panel.STORES)
    for post in read:
        assert len({key_of(tag) for tag in post.editor}) == len(post.editor) <= 5, post.id


def test_halves(panel, measures):
    read = panel.read_panel()
    half = measures.halves(read)
    for field, apart in (("part", 1), ("topic", 4)):  # a topic may be odd in each of four parts
        counts = Counter((getattr(post, field), half[post.id]) for post in read)
        for name in {getattr(post, field) for post in read}:
            assert abs(counts[name, "choose"] - counts[name, "report"]) <= apart, name
    assert measures.halves(read[::-1]) == half
    # Fixed for good: a post that moved to the other half would have been seen already.
    held_back = " ".join(sorted(name for name in half if half[name] == "report"))
    assert hashlib.sha256(held_back.encode()).hexdigest()[:16] == "6d16639bd952aea6"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("#Oscars2021", "#oscar"),
        ("#COVID19", "#Covid"),
        ("#Job_Cuts", "#JobCut"),
    ],
)
def test_families(measures, one, other):
    assert measures.family(one) == measures.family(other)


@pytest.mark.parametrize(
    ("one", "other"), [("#F1", "#F2"), ("#US", "#U"), ("#Press", "#Pres"), ("#Tennis", "#Golf")]
)
def test_no_family(measures, one, other):
    assert measures.family(one) != measures.family(other)


def test_the_lower_grade_counts(measures):
    for grades, mean in (((2, 1), 1), ((0, -1), -1), ((1, -1), 0), ((2, -1), 0), ((2,), 2)):
        assert measures.grade_of(dict(enumerate(grades))) == mean


def test_kappa(measures):
    # By hand: the grades are 2 of 4 apart. Each of the first with each of the second, they are
    # 3 (for the 2) + 3 (1) + 5 (0) + 5 (0) = 16 of 16 apart: 1 - (2 / 4) / (16 / 16).
    assert measures.kappa([(2, 2), (1, 2), (0, 0), (0, 1)]) == pytest.approx(0.5)
    assert measures.kappa([(2, 2), (0, 0)]) == 1
    assert measures.kappa([(2, 2), (2, 2)]) is None
    assert measures.kappa([(2, 0), (0, 2)]) == -1


def test_scores(panel, posts):
    report = panel.measured(posts, SYSTEMS, GRADES, ["news", "everyday"])
    old, new = report["scores"]["news"]["old"], report["scores"]["news"]["new"]
    assert old == (2, 50.0, 0.0, 33.3, 50.0, 1.5, 0, 1.0, 1)  # #Skiing has no grade
    assert new == (1, 100.0, 100.0, 100.0, 0.0, 2.0, 0, 2.0, 0)
    assert report["scores"]["everyday"]["old"] == (2, 0.0, 0.0, 0.0, 0.0, 0.5, 1, 0.0, 0)
    assert report["scores"]["topic food"]["new"] == (1, 100.0, 100.0, 100.0, 0.0, 2.0, 0, 1.0, 0)
    assert report["scores"]["everyday"]["(editor)"].ungraded == 2
    assert report["ungraded"] == [["p2", "#Skiing"]]
    # Both graded four of the shown: (-1, 0), (2, 2), (2, 1), (2, 2).
    (agreed,) = report["agreement"]
    assert (agreed["graders"], agreed["pairs"], agreed["equal"]) == (["a", "b"], 4, 50.0)
    assert agreed["kappa"] == 0.556  # 1 - (2 / 4) / (18 / 16)


def test_the_sheet_is_blind_and_whole(panel, posts):
    sheet = panel.pooled(posts, SYSTEMS, {("p1", "slogan"): {"a": -1}})
    tags = {line["id"]: line["tags"] for line in sheet}
    assert {name: sorted(inside) for name, inside in tags.items()} == {
        "p1": ["#ATPFinal", "#ATPFinals2020", "#Tennis", "#Turin"],  # once, though written twice
        "p2": ["#Skiing"],
        "p3": ["#Baking", "#Bread", "#Breads", "#Slogan", "#Sourdough"],
    }
    assert {key for line in sheet for key in line} == {"id", "created_at", "text", "tags"}
    swapped = dict(reversed(SYSTEMS.items()))
    assert panel.pooled(posts, swapped, {("p1", "slogan"): {"a": -1}}) == sheet
    several = {tuple(panel.pooled(posts, SYSTEMS, {}, seed=s)[0]["tags"]) for s in range(9)}
    assert len(several) > 1
    of_b = panel.pooled(posts, SYSTEMS, GRADES, by="b")
    assert {"#Slogan", "#Sourdough"} <= {tag for line in of_b for tag in line["tags"]}


def filled(**changes):
    line = {"id": "s01", "tags": ["#Baking", "#Loaf"], "grades": {"#Baking": 2, "#Loaf": -1}}
    return line | changes


def test_grades_are_taken_in_and_replaced(panel, tmp_path):
    sheet, grades = tmp_path / "sheet.jsonl", tmp_path / "grades.jsonl"
    for grader, line in (
        ("b", filled()),
        ("a", filled()),
        ("a", filled(tags=["#baking"], grades={"#baking": 1})),
    ):
        sheet.write_text(json.dumps(line))
        panel.main(["grade", str(sheet), "--by", grader, "--grades", str(grades)])
    lines = panel.read_lines(grades)
    assert [(line["key"], line["grader"], line["grade"]) for line in lines] == [
        ("baking", "a", 1),
        ("baking", "b", 2),
        ("loaf", "a", -1),
        ("loaf", "b", -1),
    ]
    assert lines[0]["written"] == "#baking"
    assert panel.read_grades(grades)["s01", "baking"] == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (filled(id="nobody"), "no post 'nobody'"),
        (filled(grades={"#Baking": 2}), "#Loaf has no grade"),
        (filled(grades=None), "has no grades"),
        (filled(grades={"#Baking": 2, "#Loaf": 3}), "#Loaf has 3"),
        (filled(grades={"#Baking": True, "#Loaf": 1}), "#Baking has True"),
        (filled(grades={"#Baking": 1.5, "#Loaf": 1}), "#Baking has 1.5"),
        (filled(grades={"#Baking": 2, "#Loaf": 1, "#Jam": 1}), "#Jam was not asked for"),
    ],
)
def test_a_bad_sheet_is_refused_whole(panel, tmp_path, line, said):
    sheet, grades = tmp_path / "sheet.jsonl", tmp_path / "grades.jsonl"
    sheet.write_text("\n".join(map(json.dumps, (filled(id="s02"), line))))
    with pytest.raises(SystemExit, match=said):
        panel.main(["grade", str(sheet), "--by", "a", "--grades", str(grades)])
    assert not grades.exists()


def test_a_post_stands_once_on_a_sheet(panel):
    assert panel.problems([filled(), filled()], {"s01"}) == ["line 2: post s01 is there twice"]


def test_the_table_is_printed_and_written(panel, tmp_path, capsys):
    answers, grades, out = (tmp_path / name for name in ("one.jsonl", "grades.jsonl", "out.json"))
    panel.write_lines(answers, [{"id": "s01", "shown": [{"hashtag": "#Baking"}]}])
    panel.take_in([filled()], "a", grades)
    command = ["table", str(answers), "--grades", str(grades), "--part", "sample", "--ungraded"]
    panel.main([*command, "-o", str(out)])
    printed = capsys.readouterr().out
    assert "≥" not in next(line for line in printed.splitlines() if line.startswith("  one"))
    assert "2021" not in printed
    assert json.loads(out.read_text())["scores"]["sample"]["one"]["any_2"] == 100
    panel.write_lines(answers, [{"id": "s01", "shown": [{"hashtag": "#Jam"}]}])
    panel.main(command)
    printed = capsys.readouterr().out
    assert "≥0.0" in printed
    assert printed.endswith("s01 #Jam\n")


def test_a_newcomer_is_asked_for(panel, sample_store):
    asked = [post for post in panel.read_panel() if post.part == "sample"][:2]
    with HashNews(sample_store) as hashnews:
        assert len(hashnews.store)
        assert not len(hashnews.memory)
        lines = panel.answer(hashnews, asked, 3)
    assert [line["id"] for line in lines] == [post.id for post in asked]
    for line in lines:
        assert len(line["shown"]) <= 3
        for one in line["shown"]:
            assert one["hashtag"].startswith("#")
            assert 0 <= one["score"] <= 1
            assert one["sources"]


def test_the_shipped_model_keeps_to_its_bounds(panel, measures, sample_store):
    bounds = tomllib.loads((BENCHMARKS / "panel" / "bounds.toml").read_text())
    grades = panel.read_grades()
    if not grades:
        pytest.skip("the panel has no grades yet: see benchmarks/panel/README.md")
    asked = [post for post in panel.read_panel() if panel.STORES[post.created_at[:4]] == "sample"]
    with HashNews(sample_store) as hashnews:
        lines = panel.answer(hashnews, asked, 5)
    pairs = [(line["id"], key_of(one["hashtag"])) for line in lines for one in line["shown"]]
    given = [measures.grade_of(grades[pair]) for pair in pairs if pair in grades]
    if len(given) < bounds["graded"]:
        pytest.skip(
            f"{len(given)} of {len(pairs)} shown hashtags have a grade: pool and grade more"
        )
    assert given.count(-1) <= bounds["embarrassing"] * len(given)
    assert sum(grade >= 1 for grade in given) >= bounds["on_topic"] * len(given)


def test_a_small_store_holds_what_is_found_first_and_some_of_each_day(
    panel, sample_store, tmp_path, monkeypatch
):
    asked = [post for post in panel.read_panel() if post.part == "sample"][:4]
    monkeypatch.setattr(panel, "read_panel", lambda: asked)
    monkeypatch.setattr(panel, "STORES", {"2020": sample_store.stem + "-whole"})
    monkeypatch.setattr(panel, "DAILY", 1)
    whole = tmp_path / f"{sample_store.stem}-whole.db"
    whole.write_bytes(sample_store.read_bytes())
    panel.main(["few", "--stores", str(tmp_path), "-o", str(tmp_path / "few")])
    with NewsStore(tmp_path / "few" / whole.name) as few, NewsStore(whole) as every:
        days = {str(one.article.published_at)[:10] for one in every.read()}
        kept = {one.article.id for one in few.read()}
    found = set()
    with HashNews(whole) as hashnews:
        for post in asked:
            read = Post(id=post.id, text=post.text, created_at=post.created_at)
            found |= {one.id for one in hashnews.suggest(read).articles[: panel.TELLING]}
    assert found
    assert found <= kept
    assert len(kept) <= len(days) + len(found)


def test_the_score_by_hand_and_the_names_show_what_a_post_says(panel, sample_store, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import panel_by_hand

    post = Post(text="Marching for George Floyd in Minneapolis, @GeorgeFloydFan", created_at=NIGHT)
    with HashNews(sample_store) as hashnews:
        named = [tag for tag, _ in panel_by_hand.names(hashnews, post)]
        best = panel_by_hand.best(hashnews, post, panel_by_hand.FLOOR)
    assert named == ["#georgefloyd", "#minneapolis"]
    assert {"#GeorgeFloyd", "#Minneapolis"} <= {tag for tag, _ in best}
    assert [score for _, score in best] == sorted((score for _, score in best), reverse=True)
