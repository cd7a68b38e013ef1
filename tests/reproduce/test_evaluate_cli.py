"""`hashnews evaluate` as a user meets it."""

import json

import pytest
from click.testing import CliRunner

from hashnews.cli import main

POSTS = [
    ("1", "ann", "train", ["maga", "kag"]),
    ("2", "ann", "test", ["maga", "vote blue"]),
    ("3", "bob", "test", ["kag"]),
]


@pytest.fixture
def files(tmp_path):
    def tag(words):
        return {"words": words.split(), "written": "#" + words.replace(" ", "")}

    with (tmp_path / "posts.jsonl").open("w") as stream:
        for name, user, split, tags in POSTS:
            post = {"id": name, "user": user, "split": split, "body": "x", "entities": []}
            stream.write(json.dumps(post | {"hashtags": [tag(words) for words in tags]}) + "\n")
    for name, answers in {
        "one": {"2": ["vote blue", "x"], "3": ["kag"]},
        "two": {"2": [], "3": ["x"]},
        "short": {"2": []},
    }.items():
        with (tmp_path / f"{name}.jsonl").open("w") as stream:
            for post, tags in answers.items():
                found = [{"hashtag": "#x", "words": t.split(), "score": 1.0} for t in tags]
                stream.write(json.dumps({"post_id": post, "suggestions": found}) + "\n")
    return tmp_path


def evaluate(files, name, *more):
    arguments = ["evaluate", files / f"{name}.jsonl", "--posts", files / "posts.jsonl", *more]
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_as_text(files):
    done = evaluate(files, "one")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("2 posts, 3 hashtags\n")
    assert "ACC" in done.output
    assert " 100.00" in done.output


def test_as_json(files):
    told = json.loads(evaluate(files, "one", "--json").output)
    assert told["posts"] == 2
    scores = told["scores"]
    assert scores["ACC"] == 1.0
    assert scores["F1@1"] == pytest.approx(2 * 2 / (2 + 3))
    assert scores["unseen R@1"] == 1.0  # vote blue
    assert scores["new to the author R@1"] == 1.0  # vote blue and, for bob, kag


def test_scores_as_a_file(files):
    out = files / "scores.json"
    done = evaluate(files, "one", "-o", out)
    assert done.output.startswith("2 posts, 3 hashtags\n")
    assert out.read_text() == evaluate(files, "one", "--json").output


def test_lines_of_answers(files):
    """`hashnews suggest` writes whole answers; a line may name its post only in `post`."""
    lines = []
    for line in map(json.loads, (files / "one.jsonl").read_text().splitlines()):
        post = {"id": line["post_id"], "text": "x", "created_at": None}
        found = [{"words": one["words"]} for one in line["suggestions"]]
        lines.append({"post": post, "suggestions": found, "articles": [], "context": []})
    lines[0] |= {"post_id": lines[0]["post"]["id"]}
    (files / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert evaluate(files, "answers", "--json").output == evaluate(files, "one", "--json").output


def test_against_another(files):
    told = json.loads(evaluate(files, "one", "--against", files / "two.jsonl", "--json").output)
    assert told["differences"]["ACC"]["difference"] == 1.0
    assert "p = " in evaluate(files, "one", "--against", files / "two.jsonl").output


@pytest.mark.parametrize(
    ("name", "more", "says"),
    [("short", (), "no line of suggestions for post 3"), ("absent", (), "absent.jsonl"),
     ("one", ("--part", "validation"), "none of the 3 posts is of the part validation")],
)  # fmt: skip
def test_mistakes_are_one_line(files, name, more, says):
    done = evaluate(files, name, *more)
    assert done.exit_code == 1
    assert says in done.output
    assert done.output.count("\n") == 1
