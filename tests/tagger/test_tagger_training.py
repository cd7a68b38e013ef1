"""Training the tagger, on a tiny encoder: it learns, resumes to the byte, and refuses."""

import json
import shutil
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch", reason="training needs the extra `train`")

from safetensors.torch import save_file  # noqa: E402

from hashnews.cli import main  # noqa: E402
from hashnews.errors import ConfigError, DataError  # noqa: E402
from hashnews.tagger.config import TaggerConfig  # noqa: E402
from hashnews.tagger.corpora import Sentence, read_conll  # noqa: E402
from hashnews.tagger.finder import Span, Tagger  # noqa: E402
from hashnews.tagger.measure import score_spans  # noqa: E402
from hashnews.tagger.training import train  # noqa: E402

WIDTH, INNER, VOCABULARY, PLACES = 16, 32, 30522, 128
PLACE_NAMES = ["London", "Paris", "Berlin", "Madrid", "Rome", "Vienna", "Oslo", "Dublin"]


def encoder(folder):
    """A BERT directory of one tiny layer with random weights."""
    folder.mkdir()
    generator = torch.Generator().manual_seed(1)

    def random(*shape):
        return torch.randn(*shape, generator=generator) * 0.1

    weights = {
        "embeddings.word_embeddings.weight": random(VOCABULARY, WIDTH),
        "embeddings.position_embeddings.weight": random(PLACES, WIDTH),
        "embeddings.token_type_embeddings.weight": random(2, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    linear = {}
    start = "encoder.layer.0."
    for name in ("query", "key", "value"):
        linear[f"{start}attention.self.{name}"] = (WIDTH, WIDTH)
    linear[f"{start}attention.output.dense"] = (WIDTH, WIDTH)
    linear[f"{start}intermediate.dense"] = (INNER, WIDTH)
    linear[f"{start}output.dense"] = (WIDTH, INNER)
    norms += [f"{start}attention.output.LayerNorm", f"{start}output.LayerNorm"]
    for name, shape in linear.items():
        weights[f"{name}.weight"], weights[f"{name}.bias"] = random(*shape), torch.zeros(shape[0])
    for name in norms:
        weights[f"{name}.weight"], weights[f"{name}.bias"] = torch.ones(WIDTH), torch.zeros(WIDTH)
    save_file(weights, folder / "model.safetensors")
    sizes = {
        "hidden_size": WIDTH, "vocab_size": VOCABULARY, "max_position_embeddings": PLACES,
        "num_attention_heads": 2, "intermediate_size": INNER,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(sizes))
    shipped = Path(str(resources.files("hashnews") / "models" / "tagger"))
    shutil.copyfile(shipped / "tokenizer.json", folder / "tokenizer.json")
    return folder


def corpus(path, count=160):
    said = ["we went to X today", "rain in X again", "X is far", "they love X and tea"]
    lines = []
    for n in range(count):
        for word in said[n % 4].split():
            tag = "B-LOC" if word == "X" else "O"
            lines.append(f"{PLACE_NAMES[n % 8] if word == 'X' else word}\t{tag}")
        lines.append("")
    path.write_text("\n".join(lines))
    return path


def settings(folder, **more):
    return TaggerConfig(
        train=(corpus(folder / "train.conll"),), dev=(corpus(folder / "dev.conll", 24),),
        encoder=folder / "encoder", layers=1, averaging=0.5, batch_pieces=128,
        casings=(1, 0, 0, 0), epochs=3, head_rate=1e-2, encoder_rate=1e-2, **more,
    )  # fmt: skip


class Stop(Exception):
    pass


def test_it_learns_and_resumes_to_the_byte(tmp_path):
    encoder(tmp_path / "encoder")
    config = settings(tmp_path)
    train(config, tmp_path / "whole")
    found = Tagger.load(tmp_path / "whole").find("we went to Oslo today")
    assert [(entity.text, entity.kind) for entity in found] == [("Oslo", "place")]

    def stop_after_the_first_epoch(news):
        if news.get("step") and news["epoch"] == 1:
            raise Stop

    with pytest.raises(Stop):
        train(config, tmp_path / "broken", stop_after_the_first_epoch)
    assert not (tmp_path / "broken").exists()
    train(config, tmp_path / "broken")
    for name in ("model.onnx", "config.json", "tokenizer.json"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "broken" / name).read_bytes()
    lines = (tmp_path / "whole.training" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in lines] == [1, 2, 3]
    with pytest.raises(ConfigError):
        train(settings(tmp_path, seed=7), tmp_path / "broken")


def test_the_command(tmp_path):
    encoder(tmp_path / "encoder")
    folder = str(tmp_path)
    text = f"""
        train = ["{corpus(tmp_path / "t.conll", 40)}"]
        dev = ["{corpus(tmp_path / "d.conll", 16)}"]
        encoder = "{folder}/encoder"
        layers = 1
        epochs = 1
    """
    (tmp_path / "tagger.toml").write_text(text)
    done = CliRunner().invoke(
        main, ["train", "tagger", "-c", f"{folder}/tagger.toml", "-o", f"{folder}/model"]
    )
    assert done.exit_code == 0, done.output
    Tagger.load(tmp_path / "model")


def test_the_shipped_settings_are_read():
    config = TaggerConfig.load(Path(__file__).parents[2] / "configs" / "tagger.toml")
    assert config.layers == 6


def test_conll_files(tmp_path):
    path = tmp_path / "x.conll"
    path.write_text(
        "@\tB-PER\nann\tB-PER\nmet\tO\nBob\tB-PER\nLee\tI-PER\n\nIn\tO\nOslo\tB-location\n"
    )
    one, two = read_conll(path)
    assert one.tokens == ["@ann", "met", "Bob", "Lee"]
    assert one.tags == ["O", "O", "B-person", "I-person"]
    assert two.tags == ["O", "B-place"]
    path.write_text("only one column\n")
    with pytest.raises(DataError, match=r"x\.conll"):
        read_conll(path)


def test_scores_count_exact_spans():
    sentence = Sentence(
        ["the", "New", "York", "'s", "mayor"], ["B-place", "I-place", "I-place", "I-place", "O"]
    )
    assert score_spans(sentence, [Span(1, 3, "person")]) == (1, 1, 1)
    assert score_spans(sentence, [Span(1, 2, "place")]) == (0, 1, 1)
