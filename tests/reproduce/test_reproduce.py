"""The whole reproduction on the shipped sample: small, skipped, killed, with a planted future."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from hashnews.errors import ConfigError, DataError
from hashnews.reproduce.config import BASELINES, TABLE_2, ReproduceConfig, TableModel
from hashnews.reproduce.plan import Dataset
from hashnews.sample import sample_file


def command(out, *more):
    return [
        sys.executable,
        "-m",
        "hashnews",
        "reproduce",
        *map(str, more),
        "--small",
        "-o",
        str(out),
    ]


def reproduce(out, *more):
    done = subprocess.run(command(out, *more), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def steps_of(out):
    return {path.parent.stem: path.parent for path in (out / "work").rglob("step.json")}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The folder of one whole reproduction."""
    out = tmp_path_factory.mktemp("small") / "out"
    reproduce(out, "--jobs", 2)
    return out


def test_all_models_are_in_the_table(small):
    results = json.loads((small / "results.json").read_text())
    assert [row["model"] for row in results["table_2"]] == [*TABLE_2, *BASELINES]
    assert len(results["claims"]) == len(results["beyond"]) == 5
    assert results["failed"] == {}
    gold = results["dataset"]["gold_hashtags_per_post"]
    for row in results["table_2"]:
        for scores in row["seeds"]:
            assert scores["F1@1"] == pytest.approx(2 * scores["ACC"] / (1 + gold))


def test_the_page_holds_every_table_and_figure(small):
    page = (small / "README.md").read_text("utf-8")
    for title in (
        "Table 1",
        "Table 2",
        "Claims",
        "Case study 2",
        "Coverage",
        "Not the paper's size",
    ):
        assert title in page
    figures = re.findall(r"!\[\w+\]\((.+?)\)", page)
    assert len(figures) == 5
    assert {path.name for path in small.iterdir()} == {
        "README.md", "results.json", "tables.tex", "work", *figures,
    }  # fmt: skip
    assert "10.59" in page  # the paper's own number
    assert "\\toprule" in (small / "tables.tex").read_text()


def test_case_study_2_is_of_the_sample(small):
    case = json.loads((steps_of(small)["case-examples"] / "case.json").read_text())
    with sample_file("posts.jsonl") as path:
        texts = {json.loads(line)["text"] for line in path.read_text("utf-8").splitlines()}
    assert len(case["examples"]) == 2
    for example in case["examples"]:
        assert example["post"] in texts
        assert example["news"]
        assert example["ranks"]
        assert len(example["hashnews"]) == len(example["seq2seq"]) == 5


def test_results_quote_no_post(small):
    with sample_file("posts.jsonl") as path:
        ids = [json.loads(line)["id"] for line in path.read_text("utf-8").splitlines()]
    told = (small / "results.json").read_text() + (small / "README.md").read_text()
    assert [name for name in ids if f'"{name}"' in told] == []
    assert str(Path.cwd()) not in told


def test_what_is_done_is_not_done_again(small):
    before = {
        name: (folder / "step.json").stat().st_mtime for name, folder in steps_of(small).items()
    }
    table = (small / "README.md").read_text()
    done = reproduce(small, "--jobs", 2)
    assert f"{len(before)} steps, {len(before)} done before" in done.stderr
    assert "begins" not in done.stderr
    after = {
        name: (folder / "step.json").stat().st_mtime for name, folder in steps_of(small).items()
    }
    assert after == before
    assert (small / "README.md").read_text() == table
    # Another setting of one model leaves the others alone.
    changed = reproduce(small, "--set", "lstm_top.epochs=1")
    assert re.findall(r"(\S+): begins", changed.stderr) == ["suggest-lstm-top-0"]


def test_killed_and_resumed_it_gives_the_same(small, tmp_path):
    out = tmp_path / "out"
    models = ("--models", "neighbours,seq2seq,lstm-top")
    run = subprocess.Popen(
        command(out, *models), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    until, found = time.monotonic() + 120, []
    while not found and time.monotonic() < until:
        time.sleep(0.01)
        found = list(out.glob("work/sample/*/train-seq2seq-0.*/model.training/metrics.jsonl"))
    (metrics,) = found
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    assert not (out / "results.json").exists()
    assert not (metrics.parent.parent / "model").exists()
    done = reproduce(out, *models)
    assert "suggest-neighbours" not in re.findall(r"(\S+): begins", done.stderr)
    one, other = steps_of(small), steps_of(out)
    for name in ("suggest-neighbours", "suggest-seq2seq-0"):
        path = "suggestions.jsonl"
        assert (other[name] / path).read_bytes() == (one[name] / path).read_bytes(), name


def planted(folder, usable):
    """The sample, but its last post and an article after the last but one say something else."""
    folder.mkdir()
    with sample_file("posts.jsonl") as path:
        posts = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    with sample_file("news.jsonl") as path:
        news = path.read_text("utf-8")
    before, last = sorted(
        (post for post in posts if post["id"] in usable), key=lambda post: post["created_at"]
    )[-2:]
    assert last["created_at"] > before["created_at"]
    last["text"] = "Angela Merkel knows it from Ohio. Tomorrow we know too. #PlantedTomorrow"
    said = [re.sub(r"[#@]|https\S+", "", post["text"]) for post in posts[-12:]]
    text = " ".join(["Angela Merkel spoke in Ohio.", *said])
    article = {"id": "planted", "title": "PlantedTomorrow", "text": text, "source": "Tomorrow"}
    article["published_at"] = before["created_at"]
    lines = "".join(json.dumps(post, ensure_ascii=False) + "\n" for post in posts)
    (folder / "posts.jsonl").write_text(lines, "utf-8")
    (folder / "news.jsonl").write_text(news + json.dumps(article) + "\n", "utf-8")
    return last["id"]


def test_nothing_of_the_future_is_seen(small, tmp_path):
    one = steps_of(small)
    prepared = map(json.loads, (one["prepare"] / "posts.jsonl").read_text("utf-8").splitlines())
    last = planted(tmp_path / "planted", {post["id"] for post in prepared})
    models = ("--models", "recent,neighbours-author,hashnews")
    reproduce(tmp_path / "out", tmp_path / "planted", *models, "--jobs", 2)
    other = steps_of(tmp_path / "out")
    for name in ("suggest-recent", "suggest-neighbours-author", "suggest-hashnews-0"):
        true, false = (answers(folder[name] / "suggestions.jsonl") for folder in (one, other))
        assert true.keys() == false.keys()
        del true[last], false[last]
        assert len(true) >= 5
        assert true == false, name
    # The plant was there to be seen: the one post after it did see it.
    contexts = answers(other["retrieve-tp"] / "contexts.jsonl")
    assert [
        name for name, line in contexts.items() if "planted" in [a["id"] for a in line["articles"]]
    ] == [last]


def answers(path):
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    return {line["post_id"]: line for line in lines}


def test_models_by_name():
    assert TableModel.parse("hashnews").ranking == "tp"
    assert TableModel.parse("hashnews-norank-nolocal").ranking == "bm25"
    assert TableModel.parse("hashnews-copy@best").ranking == "best"
    assert TableModel.parse("seq2seq").ranking is None
    for name in ("hashnew", "seq2seq@tp", "hashnews@x", "author@tp"):
        with pytest.raises(ConfigError, match="is no model"):
            TableModel.parse(name)


def test_settings_that_belong_elsewhere_are_refused():
    for change in ("training.seed=3", "training.model.variant=seq2seq", "training.epochs=0", "x=1"):
        with pytest.raises(ConfigError):
            ReproduceConfig.load(None, [change])


@pytest.mark.parametrize("name", ["reproduce", "reproduce-fast"])
def test_shipped_settings_are_valid(name):
    root = Path(__file__).parent.parent.parent
    config = ReproduceConfig.load(root / "configs" / f"{name}.toml")
    if name == "reproduce":  # the paper's are the defaults
        ours = config.training_of(TableModel.parse("hashnews"), 0, Path("p"), None)
        bare = ReproduceConfig().training_of(TableModel.parse("hashnews"), 0, Path("p"), None)
        assert ours == bare.model_copy(update={"int8": False})
        assert config.lstm_top == ReproduceConfig().lstm_top


def test_a_public_dataset_in_its_own_files(tmp_path):
    """No news, no times, its own split: the models that read the post alone."""
    folder = tmp_path / "cmkp"
    folder.mkdir()
    things = ("bread", "rain", "trains", "chess", "tea")
    for part, count in (("train", 60), ("valid", 10), ("test", 10)):
        rows = (f"number {n} is about {things[n % 5]}<sep>{things[n % 5]} club<sep>x.jpg\n"
                for n in range(count))  # fmt: skip
        (folder / f"{part}_src.txt").write_text("".join(rows), "utf-8")
    models = ("--models", "most-frequent,neighbours,seq2seq")
    early = subprocess.run(
        command(tmp_path / "out", folder, *models, "--jobs", 0), capture_output=True, text=True
    )
    assert early.returncode == 1
    assert "nothing is done yet" in early.stderr
    reproduce(tmp_path / "out", folder, "--models", "most-frequent,neighbours")
    reproduce(tmp_path / "out", folder, *models, "--jobs", 0)
    page = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "**Baselines and retrieval only**" in page
    assert "**Not run**: seq2seq, seed 0." in page
    done = reproduce(tmp_path / "out", folder, *models)
    assert "judges nothing" in done.stderr
    assert "news" not in steps_of(tmp_path / "out")
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["dataset"]["split"] == "own"
    assert results["dataset"]["posts"] == {"train": 60, "validation": 10, "test": 10}
    scores = {row["model"]: row["mean"]["F1@1"] for row in results["table_2"]}
    assert scores["neighbours"] == 1.0 > scores["most-frequent"]
    page = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "A small run tests the machinery and judges nothing" in page
    asked = command(tmp_path / "other", folder, "--models", "hashnews")
    refused = subprocess.run(asked, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "has no news.jsonl" in refused.stderr


def test_a_small_run_judges_nothing(small):
    results = json.loads((small / "results.json").read_text())
    verdicts = {
        metric["verdict"] for claim in results["claims"] for metric in claim["metrics"].values()
    }
    assert results["small"]
    assert verdicts == {"not judged"}
    epochs = {(one["model"], one["seed"]): one for one in results["epochs"]}
    assert set(epochs) == {(model, 0) for model in TABLE_2}
    # Another test trains LSTM-TOP again, for one epoch.
    assert all(one["epochs"] == 2 for (model, _), one in epochs.items() if model != "lstm-top")
    assert all(one["ended by"] == "the limit of epochs" for one in epochs.values())


def test_a_dataset_that_is_none(tmp_path):
    with pytest.raises(DataError, match=r"has no posts\.jsonl"):
        Dataset(tmp_path).needed("posts")
    done = subprocess.run(command(tmp_path / "out", tmp_path), capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
