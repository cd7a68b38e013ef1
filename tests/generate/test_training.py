"""Training: it learns, it resumes bit for bit, and it stops and chooses as it says."""

import json
import math
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("safetensors", reason="safetensors is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")

from safetensors.torch import load_file, save_file  # noqa: E402

from hashnews.cli import main  # noqa: E402
from hashnews.cli.train import train as train_command  # noqa: E402
from hashnews.errors import ConfigError, DataError  # noqa: E402
from hashnews.generate import training  # noqa: E402
from hashnews.generate.batch import Example, make_batch  # noqa: E402
from hashnews.generate.config import TrainingConfig  # noqa: E402
from hashnews.generate.generator import Generated, Generator  # noqa: E402
from hashnews.generate.model import GeneratorModel  # noqa: E402
from hashnews.generate.training import judged, load_data, rate_after, train  # noqa: E402
from hashnews.metrics import f1_at  # noqa: E402
from hashnews.sample import sample_file  # noqa: E402

SMALL = {"embedding": 16, "hidden": 16, "beam": 5, "layers": 1, "variant": "hashnews"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The sample prepared, with words of its news as contexts."""
    folder = tmp_path_factory.mktemp("sample")
    with sample_file("posts.jsonl") as posts, sample_file("news.jsonl") as news:
        arguments = ["prepare", str(posts), "-o", str(folder / "raw.jsonl")]
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, done.output
        titles = [json.loads(line)["title"] for line in news.read_text("utf-8").splitlines()]
    prepared = [json.loads(line) for line in (folder / "raw.jsonl").read_text().splitlines()]
    with (folder / "posts.jsonl").open("w") as out, (folder / "contexts.jsonl").open("w") as news:
        for number, post in enumerate(prepared[:44]):
            post["split"] = "train" if number < 32 else "validation"
            words = titles[number].lower().split()
            context = [[word, float(len(words) - place)] for place, word in enumerate(words)]
            out.write(json.dumps(post) + "\n")
            news.write(
                json.dumps({"post_id": post["id"], "articles": [], "context": context}) + "\n"
            )
    return folder


@pytest.fixture(autouse=True)
def _quick(request, monkeypatch):
    """Export takes seconds: without the fixture `exported` only the weights are saved."""
    if "exported" in request.fixturenames:
        return

    def save_weights(model, _, directory, *__):
        directory.mkdir()
        save_file(model.state_dict(), directory / "model.safetensors")

    monkeypatch.setattr(training, "save_model", save_weights)


@pytest.fixture
def exported():
    """For tests that serve what they trained."""


def settings(files, model=(), **changes):
    base = {"posts": files / "posts.jsonl", "contexts": files / "contexts.jsonl", "batch": 8,
            "epochs": 2, "source_least": 1, "model": SMALL | dict(model)}  # fmt: skip
    return TrainingConfig.model_validate(base | changes)


def losses(out):
    lines = (out.with_name(f"{out.name}.training") / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_learning_rate_of_the_released_code():
    perplexities, rates = [27, 25, 28, 24, 23], []
    for epochs in range(1, 6):
        rates.append(rate_after(perplexities[:epochs], 1e-3, 0.5))
    assert rates == [1e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4]
    assert rate_after([], 1e-3, 0.5) == 1e-3


def test_f1_by_hand():
    gold = [Example((), hashtags=(("maga",), ("kag",))), Example((), hashtags=(("vote", "blue"),))]
    answers = [
        [Generated(("maga",), 0.0), Generated(("x",), -1.0)],
        [Generated(("voteblue",), 0.0)],
    ]
    assert f1_at(5, map(judged, gold, answers)) == pytest.approx(2 * 2 / (2 * 5 + 3))
    assert f1_at(1, map(judged, gold, answers)) == pytest.approx(2 * 2 / (2 * 1 + 3))
    assert f1_at(5, map(judged, gold, [[], []])) == 0.0


def test_the_validation_posts_are_drawn_with_the_seed(files, monkeypatch):
    asked = []
    monkeypatch.setattr(training, "generate", lambda _, __, posts, n: asked.append(posts) or
                        [[] for _ in posts])  # fmt: skip
    for seed in (0, 0, 1):
        config = settings(files, validation_posts=5, seed=seed)
        training.Trainer(config, load_data(config), files / "unused", 0, 1)._f1()
    assert [len(posts) for posts in asked] == [5, 5, 5]
    assert asked[0] == asked[1] != asked[2]
    assert asked[0] != load_data(config).validation[:5]


def test_it_learns_32_posts_by_heart(files):
    config = settings(files, {"embedding": 128, "hidden": 128, "layers": 2, "dropout": 0.0})
    data = load_data(config)
    batch = make_batch(data.train)
    torch.manual_seed(0)
    model = GeneratorModel(config.model, len(data.numberer.source), len(data.numberer.hashtag))
    optimiser = torch.optim.Adam(model.parameters(), 0.005)
    # Hashtags of one post share its probability: choosing one of n costs ln n, and no model can
    # do better. What is beyond that must fall to nothing.
    least = sum(len(post.hashtags) * math.log(len(post.hashtags)) for post in data.train)
    for _ in range(200):
        optimiser.zero_grad()
        loss = model(batch).sum()
        loss.backward()
        optimiser.step()
        beyond = (loss.item() - least) / len(batch.post_R)
        if beyond < 0.05:
            break
    assert beyond < 0.05


class Broken(Exception):
    pass


def broken_at(step):
    def progress(at):
        if at.step == step:
            raise Broken

    return progress


@pytest.mark.parametrize("step", [3, 5])
def test_resumed_equals_uninterrupted_bit_for_bit(files, tmp_path, step):
    config = settings(files, {"variant": "hashnews-copy"}, epochs=2, checkpoint_steps=3)
    train(config, tmp_path / "whole")
    with pytest.raises(Broken):
        train(config, tmp_path / "parts", broken_at(step))
    assert not (tmp_path / "parts").exists()
    train(config, tmp_path / "parts")
    assert losses(tmp_path / "parts") == losses(tmp_path / "whole")
    for name in ("weights", "best", "adam"):
        one, other = (load_file(tmp_path / f"{run}.training/checkpoint/{name}.safetensors")
                      for run in ("whole", "parts"))  # fmt: skip
        assert one.keys() == other.keys()
        assert all(torch.equal(one[key], other[key]) for key in one)
    saved = [(tmp_path / run / "model.safetensors").read_bytes() for run in ("whole", "parts")]
    assert saved[0] == saved[1]


def test_same_seed_same_losses_and_another_other_ones(files, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        with pytest.raises(Broken):
            train(settings(files, seed=seed), tmp_path / name, broken_at(4))
    assert losses(tmp_path / "a") == losses(tmp_path / "b") != losses(tmp_path / "c")


def test_it_stops_early_and_keeps_the_best_epoch(files, tmp_path):
    config = settings(files, epochs=9, patience=1, rate=0.05, select="perplexity")
    measured = train(config, tmp_path / "m")
    epochs = [line["perplexity"] for line in losses(tmp_path / "m") if "mean_loss" in line]
    assert len(epochs) < 9
    assert epochs[-1] > epochs[-2] == min(epochs)
    assert measured.perplexity == min(epochs)


def test_another_run_in_the_same_place_is_refused(files, tmp_path):
    with pytest.raises(Broken):
        train(settings(files, checkpoint_steps=1), tmp_path / "m", broken_at(2))
    with pytest.raises(ConfigError, match="other settings or posts"):
        train(settings(files, rate=0.5), tmp_path / "m")


def test_posts_without_a_split_are_refused(files, tmp_path):
    lines = (files / "posts.jsonl").read_text().replace('"validation"', '"test"')
    (tmp_path / "posts.jsonl").write_text(lines)
    with pytest.raises(DataError, match="no validation posts"):
        load_data(settings(files, posts=tmp_path / "posts.jsonl"))
    with pytest.raises(DataError, match="no training posts"):
        (tmp_path / "posts.jsonl").write_text(lines.replace('"train"', '"test"'))
        load_data(settings(files, posts=tmp_path / "posts.jsonl"))


def test_the_command(files, tmp_path, exported):
    file = tmp_path / "generator.toml"
    model = "".join(f"{key} = {json.dumps(value)}\n" for key, value in SMALL.items())
    file.write_text(
        f'posts = "{files}/posts.jsonl"\ncontexts = "{files}/contexts.jsonl"\nepochs = 1\n'
        f"batch = 8\n[model]\n{model}"
    )
    out = tmp_path / "model"
    arguments = ["generator", "-c", str(file), "-o", str(out), "--json", "--set", "seed=4"]
    done = CliRunner().invoke(train_command, arguments)
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["model"] == str(out)
    assert "step 1 of 4" in done.stderr
    served = Generator.load(out)
    assert served.about["trained"]["seed"] == 4
    assert served.about["int8"]
    assert served.about["validation"] == {key: answer[key] for key in ("perplexity", "f1")}


def test_the_shipped_settings_are_the_defaults():
    from pathlib import Path

    shipped = TrainingConfig.load(Path(__file__).parents[2] / "configs/generator.toml")
    assert shipped == TrainingConfig(posts=shipped.posts, contexts=shipped.contexts)


def test_two_processes_learn_together(files, tmp_path):
    config = settings(files, epochs=1)
    (tmp_path / "c.json").write_text(config.model_dump_json())
    script = tmp_path / "run.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\n"
        "from hashnews.generate.config import TrainingConfig\n"
        "from hashnews.generate import training\n"
        "training.save_model = lambda *given: given[2].mkdir()\n"
        "here = Path(sys.argv[1])\n"
        "config = TrainingConfig.model_validate_json((here / 'c.json').read_text())\n"
        "training.train(config, here / 'm')\n"
    )
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
    ]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run([*command, str(script), str(tmp_path)], capture_output=True, text=True,
                          env=environment, timeout=100)  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    lines = losses(tmp_path / "m")
    assert [line["step"] for line in lines[:-1]] == [1, 2]  # four batches, two for each process
    assert (tmp_path / "m").is_dir()
