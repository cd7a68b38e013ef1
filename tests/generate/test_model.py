"""The model: its equations, and that padding, order and odd input do not matter."""

import numpy as np
import pytest
from small import EXAMPLES, ODD, small_config, small_numberer

torch = pytest.importorskip("torch", reason="torch is not installed")

from typing import get_args  # noqa: E402

from hashnews.generate import model as parts  # noqa: E402
from hashnews.generate.batch import Example, make_batch  # noqa: E402
from hashnews.generate.config import Variant  # noqa: E402
from hashnews.generate.generator import generate  # noqa: E402
from hashnews.generate.model import (  # noqa: E402
    GeneratorModel,
    HybridBiAttention,
    TorchRuntime,
    copied_probability,
    masked_softmax,
    mixed,
)
from hashnews.generate.vocabulary import END, START  # noqa: E402

VARIANTS = get_args(Variant)


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(7)
    torch.set_num_threads(1)


def small_model(variant, spread=5.0, **changes):
    """Weights large enough that attention is far from even."""
    config = small_config(variant, **changes)
    numberer = small_numberer(config)
    model = GeneratorModel(config, len(numberer.source), len(numberer.hashtag)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(spread)
    return model, numberer


def batch_of(numberer, examples):
    return make_batch([numberer(example) for example in examples])


def attention_inputs(dtype=torch.float32, **kind):
    post = torch.randn(2, 4, 6, dtype=dtype, **kind)
    context = torch.randn(2, 5, 6, dtype=dtype, **kind)
    masks = torch.arange(4) < torch.tensor([[4], [2]]), torch.arange(5) < torch.tensor([[3], [5]])
    return post, context, *masks


def test_with_weights_one_hybrid_attention_is_bi_attention_exactly():
    attend = HybridBiAttention(6)
    torch.nn.init.normal_(attend.w_b_DD)
    post, context, post_mask, context_mask = attention_inputs()
    news, posts = attend(post, context, post_mask, context_mask, torch.ones(2, 5))
    scores = post @ attend.w_b_DD @ context.transpose(1, 2)
    plain = scores.masked_fill(~context_mask[:, None], -torch.inf).softmax(2) @ context
    assert torch.equal(news, plain)
    other = scores.masked_fill(~post_mask[:, :, None], -torch.inf).softmax(1)
    assert torch.equal(posts, other.transpose(1, 2) @ post)


def test_hybrid_attention_by_loops():
    attend = HybridBiAttention(6)
    torch.nn.init.normal_(attend.w_b_DD, std=0.3)
    post, context, post_mask, context_mask = attention_inputs()
    weight = torch.rand(2, 5) * 2
    news, posts = attend(post, context, post_mask, context_mask, weight)
    p, c, w = post.double(), context.double(), weight.double()
    w_b = attend.w_b_DD.detach().double()
    for b in range(2):
        there = [j for j in range(5) if context_mask[b, j]]
        words = [i for i in range(4) if post_mask[b, i]]
        for i in words:
            e = {j: torch.exp(w[b, j] * (p[b, i] @ w_b @ c[b, j])) for j in there}
            expected = sum(e[j] * c[b, j] for j in there) / sum(e.values())
            torch.testing.assert_close(news[b, i].double(), expected, atol=1e-5, rtol=1e-4)
        for j in there:
            e = {i: torch.exp(p[b, i] @ w_b @ c[b, j]) for i in words}
            expected = sum(e[i] * p[b, i] for i in words) / sum(e.values())
            torch.testing.assert_close(posts[b, j].double(), expected, atol=1e-5, rtol=1e-4)


def test_attention_rows_sum_to_one_and_padding_gets_nothing():
    post, context, _, context_mask = attention_inputs()
    scores = post @ context.transpose(1, 2)
    attention = masked_softmax(scores, context_mask[:, None], 2)
    torch.testing.assert_close(attention.sum(2), torch.ones(2, 4))
    assert (attention[0, :, 3:] == 0).all()


def test_gradients_of_attention_and_copying():
    attend = HybridBiAttention(6).double()
    torch.nn.init.normal_(attend.w_b_DD)
    post, context, post_mask, context_mask = attention_inputs(torch.float64, requires_grad=True)
    weight = torch.rand(2, 5, dtype=torch.float64)

    def both(post, context, w_b):
        return torch.func.functional_call(
            attend, {"w_b_DD": w_b}, (post, context, post_mask, context_mask, weight)
        )

    w_b = torch.randn(6, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(both, (post, context, w_b))
    copies = torch.tensor([[1, 2, 1, 3], [0, 5, 5, 5]])
    words = torch.tensor([1, 5])

    def copying(scores, vocabulary, gate):
        copied = copied_probability(scores.softmax(1), copies, words)
        return mixed(vocabulary.sigmoid(), copied, gate.sigmoid()).log()

    inputs = [torch.randn(*shape, dtype=torch.float64, requires_grad=True)
              for shape in ((2, 4), (2,), (2,))]  # fmt: skip
    assert torch.autograd.gradcheck(copying, inputs)


@pytest.mark.parametrize("variant", ["seq2seq-copy", "hashnews-copy", "hashnews"])
def test_gradients_of_the_whole_model(variant):
    model, numberer = small_model(variant, 1.0, embedding=3, hidden=4)
    model = model.double()
    batch = batch_of(numberer, EXAMPLES)
    for name, parameter in model.named_parameters():
        analytic = torch.autograd.grad(model(batch).sum(), parameter)[0].flatten()
        place = int(analytic.abs().argmax())
        with torch.no_grad():
            flat = parameter.view(-1)
            flat[place] += 1e-5
            above = model(batch).sum()
            flat[place] -= 2e-5
            below = model(batch).sum()
            flat[place] += 1e-5
        numeric = float(above - below) / 2e-5
        assert float(analytic[place]) == pytest.approx(numeric, rel=1e-4, abs=1e-8), name


def test_the_encoder_is_torchs_packed_one():
    config = small_config(layers=2)
    encoder = parts.Encoder(config).eval()
    packed = torch.nn.GRU(6, 4, 2, batch_first=True, bidirectional=True)
    for layer in range(2):
        for suffix, half in (("", encoder.forwards[layer]), ("_reverse", encoder.backwards[layer])):
            for name, value in half.named_parameters():
                own = getattr(packed, name.replace("_l0", f"_l{layer}{suffix}"))
                own.data.copy_(value.data)
    length = torch.tensor([5, 1, 3])
    words = torch.randn(3, 5, 6)
    states, last = encoder(words, length)
    rows = torch.nn.utils.rnn.pack_padded_sequence(words, length, True, enforce_sorted=False)
    expected, final = packed(rows)
    expected, _ = torch.nn.utils.rnn.pad_packed_sequence(expected, batch_first=True)
    there = (torch.arange(5) < length[:, None])[:, :, None]
    torch.testing.assert_close(states * there, expected * there)
    torch.testing.assert_close(last, torch.cat([final[2], final[3]], 1))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_batch_equals_its_posts_one_by_one(variant):
    model, numberer = small_model(variant)
    examples = EXAMPLES + ODD
    together = generate(TorchRuntime(model), numberer, examples, 4)
    for example, best in zip(examples, together, strict=True):
        [alone] = generate(TorchRuntime(model), numberer, [example], 4)
        assert [g.words for g in alone] == [g.words for g in best]
        np.testing.assert_allclose([g.score for g in alone], [g.score for g in best], atol=1e-5)
    order = [3, 0, 2, 1]
    whole = model(batch_of(numberer, EXAMPLES)).sum()
    shuffled = model(batch_of(numberer, [EXAMPLES[place] for place in order])).sum()
    singles = sum(model(batch_of(numberer, [example])).sum() for example in EXAMPLES)
    torch.testing.assert_close(whole, shuffled, atol=1e-4, rtol=1e-6)
    torch.testing.assert_close(whole, singles, atol=1e-4, rtol=1e-6)


@pytest.mark.parametrize("variant", ["hashnews", "hashnews-copy"])
def test_permuting_posts_permutes_answers(variant):
    model, numberer = small_model(variant)
    order = [3, 0, 2, 1]
    answers = generate(TorchRuntime(model), numberer, EXAMPLES, 4)
    again = generate(TorchRuntime(model), numberer, [EXAMPLES[place] for place in order], 4)
    for place, best in zip(order, again, strict=True):
        assert [g.words for g in best] == [g.words for g in answers[place]]
        np.testing.assert_allclose(
            [g.score for g in best], [g.score for g in answers[place]], atol=1e-5
        )


@pytest.mark.parametrize("variant", VARIANTS)
def test_odd_posts_have_finite_answers_and_losses(variant):
    model, numberer = small_model(variant)
    answers = generate(TorchRuntime(model), numberer, ODD, 4)
    assert all(len(best) == 4 and np.isfinite([g.score for g in best]).all() for best in answers)
    tagged = [example._replace(hashtags=(("covid",),)) for example in ODD]
    losses = model(batch_of(numberer, tagged))
    losses.sum().backward()
    assert torch.isfinite(losses).all()
    for name, parameter in model.named_parameters():
        assert torch.isfinite(parameter.grad).all(), name


@pytest.mark.parametrize("variant", VARIANTS)
def test_training_and_search_see_the_same_probabilities(variant):
    model, numberer = small_model(variant)
    for example in EXAMPLES:
        for best in generate(TorchRuntime(model), numberer, [example], 4)[0]:
            batch = batch_of(numberer, [example._replace(hashtags=(best.words,))])
            assert -model(batch).sum().item() == pytest.approx(best.score, abs=1e-5)


@pytest.mark.parametrize("variant", VARIANTS)
def test_probabilities_sum_to_one(variant):
    model, numberer = small_model(variant)
    batch = batch_of(numberer, EXAMPLES)
    runtime = TorchRuntime(model)
    memory, state = runtime.start(batch)
    last = np.full(4, START)
    log, _ = runtime.step(memory, state, last, np.arange(4))
    np.testing.assert_allclose(np.exp(log).sum(1), 1, atol=1e-5)
    if model.config.copies:  # an own word of another post cannot be written
        size = len(numberer.hashtag)
        for post, own in enumerate(batch.own):
            assert (log[post, size + len(own) :] < -60).all()


@pytest.mark.parametrize("variant", ["seq2seq-copy", "hashnews-copy"])
def test_copying_can_write_a_word_outside_the_vocabulary(variant):
    model, numberer = small_model(variant)
    with torch.no_grad():
        model.decoder.gate.bias.fill_(20.0)
        model.decoder.write.bias[END] = 30.0
    [best] = generate(TorchRuntime(model), numberer, [Example(("zzz", "yyy"))], 4)
    assert best[0].words[0] in ("zzz", "yyy")
    if variant == "hashnews-copy":
        example = Example(("rules",), ("vvv",), (1.0,))
        [best] = generate(TorchRuntime(model), numberer, [example], 4)
        assert any("vvv" in generated.words for generated in best)


def test_without_local_weights_the_weights_say_nothing():
    for variant, differs in (("hashnews", True), ("hashnews-norank-nolocal", False)):
        model, numberer = small_model(variant)
        example = EXAMPLES[1]
        flat = example._replace(weights=(1.0,) * 5)
        one, other = (model(batch_of(numberer, [e])) for e in (example, flat))
        assert torch.equal(one, other) != differs
