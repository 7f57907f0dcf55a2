"""kernpack_kernels.torch.patch on Hugging Face's models: the same logits and tokens, with a mask, with a cache, compiled."""

from __future__ import annotations

import sys

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
import kernpack_kernels.torch as kt  # noqa: E402  (needs torch)
from kernpack_kernels.torch import module_functions  # noqa: E402

SIZES = {
    "vocab_size": 64,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": 0,
}


def build(name="Llama", **options):
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**SIZES, **options)
    return getattr(transformers, f"{name}ForCausalLM")(config).eval()


@pytest.fixture
def ids():
    return torch.randint(1, 64, (2, 7), generator=torch.Generator().manual_seed(1))


def by(patched):
    return {row.what: row.by for row in patched.rows}


@pytest.mark.parametrize(("name", "attention"), [("Llama", "sdpa"), ("Llama", "eager"), ("Qwen2", "sdpa")])
def test_logits_and_tokens_are_the_same(name, attention, ids):
    model = build(name, attn_implementation=attention)
    with torch.no_grad():
        logits = model(ids).logits
        tokens = model.generate(ids, max_new_tokens=8, do_sample=False)
        patched = kt.patch(model)
        assert by(patched) == {
            f"{name}RMSNorm": "rms_norm",
            f"{name}MLP": "swiglu",
            "attention": "attention",
            f"apply_rotary_pos_emb in {name}Attention": "rope",
            "loss": "cross_entropy",
        }
        torch.testing.assert_close(model(ids).logits, logits, atol=1e-5, rtol=1e-4)
        assert torch.equal(model.generate(ids, max_new_tokens=8, do_sample=False), tokens)
        kt.unpatch(model)
        assert model.config._attn_implementation == attention
        assert torch.equal(model(ids).logits, logits)


def test_masks_and_static_caches(ids):
    model = build()
    mask = torch.ones_like(ids)
    mask[0, :3] = 0  # padded on the left
    options = {"attention_mask": mask, "max_new_tokens": 6, "do_sample": False}
    with torch.no_grad():
        expected = model(ids, attention_mask=mask).logits[mask.bool()]
        tokens = model.generate(ids, **options)
        kt.patch(model)
        torch.testing.assert_close(model(ids, attention_mask=mask).logits[mask.bool()], expected, atol=1e-5, rtol=1e-4)
        assert torch.equal(model.generate(ids, **options), tokens)
        unpadded = model.generate(ids, max_new_tokens=6, do_sample=False)
        static = transformers.StaticCache(config=model.config, max_cache_len=16)
        first = model(ids, past_key_values=static).logits
        torch.testing.assert_close(first, model(ids).logits, atol=1e-5, rtol=1e-4)
        following = model(first[:, -1:].argmax(-1), past_key_values=static).logits
        assert torch.equal(following[:, -1].argmax(-1), unpadded[:, 8])


def test_the_kernel_is_called_where_the_table_says(ids, monkeypatch):
    model, called = build(), []
    ours = kt.functional.attention
    monkeypatch.setattr(kt.functional, "attention", lambda *a, **o: called.append(a[0].shape[2]) or ours(*a, **o))
    kt.patch(model)
    called.clear()  # of the trial
    with torch.no_grad():
        model.generate(ids, max_new_tokens=2, do_sample=False)
    assert called == [7, 7, 1, 1]


def test_training_gives_the_same_gradients(ids):
    model, plain = build().train(), build().train()
    kt.patch(model)
    for each in (model, plain):
        each(ids, labels=ids).loss.backward()
    for (name, a), b in zip(model.named_parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, atol=1e-5, rtol=1e-3, msg=name)


def test_a_bf16_model_keeps_its_logits_when_patched(ids):
    model = build().bfloat16()
    with torch.no_grad():
        expected = model(ids).logits.float()
        assert all(row.by for row in kt.patch(model).rows)
        assert (model(ids).logits.float() - expected).abs().max() < 0.05 * expected.abs().max()


def test_other_models_of_the_kind_are_not_changed(ids):
    model, other = build(), build()
    forward = type(model.model.layers[0].self_attn).forward
    kt.patch(model)
    assert "forward" not in other.model.layers[0].self_attn.__dict__
    assert type(model.model.layers[0].self_attn).forward is forward
    assert other.config._attn_implementation == "sdpa"


def test_compiled_to_one_graph(ids):
    model = build()
    with torch.no_grad():
        expected = model(ids, use_cache=False).logits
        kt.patch(model)
        whole = torch.compile(model, fullgraph=True)
        torch.testing.assert_close(whole(ids, use_cache=False).logits, expected, atol=1e-5, rtol=1e-4)


def test_geglu_and_weights_plus_one(ids):
    model = build("Gemma", head_dim=16)
    with torch.no_grad():
        expected = model(ids).logits
        found = by(kt.patch(model))
        assert (found["GemmaRMSNorm"], found["GemmaMLP"], found["attention"]) == ("rms_norm", "geglu", "attention")
        torch.testing.assert_close(model(ids).logits, expected, atol=1e-5, rtol=1e-4)


def test_masked_calls_are_computed_by_the_kernels(ids, monkeypatch):
    """Padding, in inference and in training, and the gradients of both."""
    model, plain = build().train(), build().train()
    kt.patch(model)
    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", None)
    mask = torch.ones_like(ids)
    mask[0, 4:] = 0  # padded on the right
    labels = ids.masked_fill(mask == 0, -100)
    loss = model(ids, attention_mask=mask, labels=labels).loss
    loss.backward()
    monkeypatch.undo()
    expected = plain(ids, attention_mask=mask, labels=labels).loss
    expected.backward()
    torch.testing.assert_close(loss, expected)
    for (name, a), b in zip(model.named_parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, atol=1e-5, rtol=1e-3, msg=name)


@pytest.mark.parametrize("feed_forward", ["relu", "gated-gelu"])
def test_t5_with_its_learned_bias(ids, feed_forward, monkeypatch):
    """Encoder and decoder, padded: the bias of positions is added to the scores, and learns."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 64, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
    config = transformers.T5Config(
        **sizes, feed_forward_proj=feed_forward, dropout_rate=0.0, decoder_start_token_id=0, eos_token_id=None
    )
    model = transformers.T5ForConditionalGeneration(config).eval()
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    call = {"input_ids": ids, "attention_mask": mask}

    def run():
        model.zero_grad()
        found = model(**call, labels=ids[:, :5].clone())
        found.loss.backward()
        return found.logits.detach(), {name: p.grad.clone() for name, p in model.named_parameters()}

    logits, gradients = run()
    tokens = model.generate(**call, max_new_tokens=6, do_sample=False)
    patched = kt.patch(model)
    assert by(patched)["T5LayerNorm"] == "rms_norm"
    assert by(patched)["attention"] == "attention"
    masks = []
    attention = kt.functional.attention
    monkeypatch.setattr(kt.functional, "attention", lambda *a: (masks.append(a[6]), attention(*a))[1])
    again, learned = run()
    assert len(masks) == 6
    assert all(given is not None for given in masks)
    torch.testing.assert_close(again, logits, atol=1e-5, rtol=1e-4)
    for name, gradient in gradients.items():
        torch.testing.assert_close(learned[name], gradient, atol=1e-5, rtol=1e-4, msg=name)
    assert gradients["encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"].any()
    assert torch.equal(model.generate(**call, max_new_tokens=6, do_sample=False), tokens)


def test_the_loss(ids):
    """By the kernel, with what a trainer passes, and back to theirs."""
    model = build()
    before = model.loss_function
    losses = [model(ids, labels=ids).loss, model(ids, labels=ids, num_items_in_batch=torch.tensor(5)).loss]
    kt.patch(model)
    assert model.loss_function is not before
    found = [model(ids, labels=ids).loss, model(ids, labels=ids, num_items_in_batch=torch.tensor(5)).loss]
    torch.testing.assert_close(found, losses)
    kt.unpatch(model)
    assert model.loss_function is before
    model.loss_function = lambda *args, **kwargs: torch.tensor(3.0)
    row = next(row for row in kt.patch(model).rows if row.what == "loss")
    assert (row.by, row.note) == ("", "isn't transformers' ForCausalLMLoss")
    assert model(ids, labels=ids).loss == 3


def test_a_transformers_without_the_registry(ids, monkeypatch):
    model = build()
    monkeypatch.setitem(sys.modules, "transformers.integrations.sdpa_attention", None)
    row = next(row for row in kt.patch(model).rows if row.what == "attention")
    assert row.by == ""
    assert "has no registry for it" in row.note
    assert model.config._attn_implementation == "sdpa"


def test_rope_of_pairs_is_left_alone():
    def interleaved(q, k, cos, sin, unsqueeze_dim=1):
        return q + cos.unsqueeze(unsqueeze_dim), k

    assert module_functions._differs("apply_rotary_pos_emb", interleaved) == "pairs the elements of a head differently"


@pytest.mark.parametrize("implementation", ["eager", "grouped_mm"])
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("Mixtral", {"num_local_experts": 4}),
        ("Qwen3Moe", {"num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 48, "head_dim": 16}),
    ],
)
def test_experts_of_a_mixture(name, sizes, implementation, ids):
    model = build(name, experts_implementation=implementation, **sizes)
    logits, patched = model(ids).logits, kt.patch(model)
    assert by(patched)[f"{name}Experts"] == "grouped_linear"
    torch.testing.assert_close(model(ids).logits, logits, atol=1e-5, rtol=1e-4)
    model.train()
    found = [p.grad for p in backward(model, ids)]
    kt.unpatch(model)
    for mine, theirs in zip(found, backward(model, ids), strict=True):
        torch.testing.assert_close(mine, theirs.grad, atol=1e-5, rtol=1e-3)


def backward(model, ids):
    model.zero_grad(set_to_none=True)
    model(ids, labels=ids).loss.backward()
    return [p for p in model.parameters() if p.grad is not None]


def test_experts_of_a_mixture_compiled(ids):
    model = build("Mixtral", num_local_experts=4)
    with torch.no_grad():
        logits = model(ids).logits
        kt.patch(model)
        layer = torch.compile(model.model.layers[0].mlp.experts, fullgraph=True, backend="aot_eager")
        x, chosen = torch.randn(6, 64), torch.tensor([[0, 1], [3, 1], [2, 3], [1, 0], [1, 2], [0, 3]])
        torch.testing.assert_close(layer(x, chosen, torch.rand(6, 2)).shape, x.shape)
        torch.testing.assert_close(model(ids).logits, logits, atol=1e-5, rtol=1e-4)


def test_experts_with_biases_and_transposed_weights(ids):
    model = build("GptOss", num_local_experts=4, head_dim=16)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.1)
    logits, gradients = model(ids).logits, [p.grad.clone() for p in backward(model, ids)]
    assert by(kt.patch(model))["GptOssExperts"] == "grouped_linear"
    torch.testing.assert_close(model(ids).logits, logits, atol=1e-5, rtol=1e-4)
    for mine, theirs in zip(backward(model, ids), gradients, strict=True):
        torch.testing.assert_close(mine.grad, theirs, atol=1e-5, rtol=1e-3)


@pytest.mark.parametrize(("name", "sizes"), [("Mixtral", {}), ("GptOss", {"head_dim": 16})])
def test_experts_without_rows(name, sizes):
    """An expert layer that gets no token, as in a batch of padding alone."""
    layer = build(name, num_local_experts=4, **sizes).model.layers[0].mlp.experts
    assert by(kt.patch(layer))[f"{name}Experts"] == "grouped_linear"
    empty = torch.zeros(0, 64, requires_grad=True)
    found = layer(empty, torch.zeros(0, 2, dtype=torch.long), torch.zeros(0, 2))
    assert found.shape == (0, 64)
    found.sum().backward()
