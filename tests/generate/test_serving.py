"""Exported models: onnxruntime and torch agree, and what is not a whole model is refused."""

import json
import math
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
from small import EXAMPLES, ODD, small_config, small_numberer

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")

from safetensors.torch import load_file  # noqa: E402

from hashnews.errors import ConfigError, ModelError  # noqa: E402
from hashnews.generate.batch import Example  # noqa: E402
from hashnews.generate.export import save_model  # noqa: E402
from hashnews.generate.generator import KIND, Generator, generate  # noqa: E402
from hashnews.generate.model import GeneratorModel, TorchRuntime  # noqa: E402
from hashnews.records import ContextWord, Hashtag, PreparedPost  # noqa: E402
from hashnews.sample import sample_file  # noqa: E402
from hashnews.saved import new_directory  # noqa: E402
from hashnews.text.hashtags import Forms  # noqa: E402

VARIANTS = ["hashnews-copy", "seq2seq"]  # between them every part of the graphs


def sample_examples(config):
    """Posts of the sample, each beside words of an article."""
    with sample_file("posts.jsonl") as posts, sample_file("news.jsonl") as news:
        texts = [json.loads(line)["text"] for line in posts.read_text("utf-8").splitlines()]
        articles = [json.loads(line)["text"] for line in news.read_text("utf-8").splitlines()]
    examples = []
    for number, text in enumerate(texts[:60]):
        words = list(dict.fromkeys(articles[number % len(articles)].lower().split()))[: number + 3]
        context = [(word, float(len(words) - place)) for place, word in enumerate(words)]
        examples.append(Example.of(config, text, context))
    return examples


@pytest.fixture(scope="module", params=VARIANTS)
def saved(request, tmp_path_factory):
    """A model with random weights in torch, and saved in float32."""
    torch.manual_seed(3)
    config = small_config(request.param, beam=20, embedding=12, hidden=16, hashtag_words=10)
    numberer = small_numberer(config)
    model = GeneratorModel(config, len(numberer.source), len(numberer.hashtag)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4)
    folder = tmp_path_factory.mktemp(request.param) / "model"
    save_model(model, numberer, folder, {}, int8=False)
    return model, numberer, folder


def test_onnx_and_torch_agree(saved):
    model, numberer, folder = saved
    examples = [*sample_examples(model.config), *EXAMPLES, *ODD]
    expected = generate(TorchRuntime(model), numberer, examples, 10)
    found = Generator.load(folder).suggest(examples)
    for one, other in zip(found, expected, strict=True):
        assert len(one) == 10
        assert [g.words for g in one] == [g.words for g in other]
        np.testing.assert_allclose([g.score for g in one], [g.score for g in other], atol=1e-4)
    [alone] = Generator.load(folder).suggest(examples[:1], n=3)
    assert [g.words for g in alone] == [g.words for g in expected[0][:3]]


def test_weights_come_back_as_they_were(saved):
    model, _, folder = saved
    again = load_file(folder / "model.safetensors")
    assert again.keys() == model.state_dict().keys()
    for name, value in model.state_dict().items():
        assert torch.equal(again[name], value)


def test_prepared_posts_are_answered_without_their_hashtags(saved):
    served = Generator.load(saved[2])
    context = (ContextWord("covid", 2.0), ContextWord("game", 1.0))
    tag = Hashtag(("covid", "19"), "#COVID19")
    posts = [
        PreparedPost(id=str(n), body=body, entities=(), hashtags=(tag,))
        for n, body in enumerate(("rules again", "goals for bayern"))
    ]
    answers = served.suggest_posts(posts, [context, ()], Forms(tags=["#COVID19"]), 3)
    bare = [post.model_copy(update={"hashtags": ()}) for post in posts]
    assert served.suggest_posts(bare, [context, ()], Forms(tags=["#COVID19"]), 3) == answers
    example = Example.of(served.config, "rules again", context)
    (known,) = served.suggest([example], 3)
    assert [one.words for one in answers[0]] == [one.words for one in known]
    assert [one.score for one in answers[0]] == pytest.approx([math.exp(o.score) for o in known])
    assert all(one.hashtag.startswith("#") for answer in answers for one in answer)
    with pytest.raises(ValueError, match="zip"):
        served.suggest_posts(posts, [context], Forms(), 3)


def test_int8_is_close_and_runs_alone(saved, tmp_path):
    model, numberer, folder = saved
    if model.config.variant != "hashnews-copy":
        pytest.skip("one variant is enough: an export takes seconds")
    save_model(model, numberer, tmp_path / "int8", {"by": "test"})
    served = Generator.load(tmp_path / "int8")
    assert served.about == {"by": "test", "int8": True}
    for graph in ("encoder.onnx", "step.onnx"):
        weights = onnx.load(tmp_path / "int8" / graph).graph.initializer
        kinds = {tensor.data_type for tensor in weights if len(tensor.dims) == 2}
        assert kinds == {onnx.TensorProto.INT8}
    examples = sample_examples(model.config)[:20]
    found, expected = served.suggest(examples), Generator.load(folder).suggest(examples)
    same = [a[0].words == b[0].words for a, b in zip(found, expected, strict=True)]
    assert np.mean(same) > 0.8
    for example, together in zip(examples, found, strict=True):  # whatever is read beside it
        [alone] = served.suggest([example])
        assert [tag.words for tag in alone] == [tag.words for tag in together]
        np.testing.assert_allclose(
            [tag.score for tag in alone], [tag.score for tag in together], atol=1e-4
        )
    served.save(tmp_path / "copy")
    assert not (tmp_path / "copy/model.safetensors").exists()
    without_torch = (
        "import sys; sys.modules['torch'] = None\n"
        "from hashnews.generate.batch import Example\n"
        "from hashnews.generate.generator import Generator\n"
        f"print(Generator.load({str(tmp_path / 'copy')!r}).suggest([Example(('rules',))], 2))\n"
    )
    done = subprocess.run([sys.executable, "-c", without_torch], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Generated") == 2


@pytest.fixture
def folder(saved, tmp_path):
    """A copy that may be harmed."""
    return shutil.copytree(saved[2], tmp_path / "model")


def test_nothing_is_asked_for(folder):
    with pytest.raises(ConfigError, match="one hashtag or more"):
        Generator.load(folder).suggest([], n=0)
    assert Generator.load(folder).suggest([]) == []


@pytest.mark.parametrize("name", ["config.json", "source.tsv", "encoder.onnx", "step.onnx"])
def test_damaged_files_are_refused(folder, name):
    path = folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match=f"{name} is damaged"):
        Generator.load(folder)
    path.unlink()
    with pytest.raises(ModelError, match=f"{name} is missing"):
        Generator.load(folder)


def test_half_written_and_foreign_directories_are_refused(folder, tmp_path):
    with pytest.raises(ModelError, match="no such directory"):
        Generator.load(tmp_path / "nowhere")
    (folder / "manifest.json").unlink()
    with pytest.raises(ModelError, match="has no manifest"):
        Generator.load(folder)
    with new_directory(tmp_path / "tagger", "tagger", {}) as scratch:
        (scratch / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="holds a 'tagger', not a 'generator'"):
        Generator.load(tmp_path / "tagger")
    with new_directory(tmp_path / "bare", KIND, {}) as scratch:
        (scratch / "config.json").write_text("{}")
    with pytest.raises(ModelError, match=r"has no source\.tsv"):
        Generator.load(tmp_path / "bare")


class Evil:
    def __reduce__(self):
        return (exec, ("raise SystemExit('a pickle was run')",))


def test_pickles_are_refused(folder):
    (folder / "model.pt").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ModelError, match=r"model\.pt is a pickle"):
        Generator.load(folder)


def test_graphs_and_settings_that_are_none_are_refused(folder):
    config = (folder / "config.json").read_bytes()
    _reseal(folder, "config.json", b'{"hidden": 8, "secret": 1}')
    with pytest.raises(ModelError, match="secret: unknown setting"):
        Generator.load(folder)
    _reseal(folder, "config.json", config)
    _reseal(folder, "step.onnx", b"not a graph")
    with pytest.raises(ModelError, match="not a graph onnxruntime can run"):
        Generator.load(folder)


def _reseal(folder, name, content):
    """Change a file and the manifest with it, as somebody who knows how would."""
    from hashnews.saved import file_sum, read_manifest, write_manifest

    (folder / name).write_bytes(content)
    manifest = read_manifest(folder, KIND)
    sums = manifest.files | {name: file_sum(folder / name)}
    write_manifest(folder, KIND, manifest.about, sums)
