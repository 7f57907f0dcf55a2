"""kernpack_kernels.torch.patch reaches gated MLPs of other layouts, activations, models inside others; what it leaves has its reason."""

from __future__ import annotations

import copy
import pickle

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
import kernpack_kernels.torch as kt  # noqa: E402  (needs torch)
from transformers.activations import ACT2FN  # noqa: E402  (needs torch)

SIZES = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": 0,
}
T5 = {"vocab_size": 64, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 1, "num_heads": 2}
MLPS = {
    "Phi3": ("Phi3ForCausalLM", SIZES, "Phi3MLP", "swiglu"),
    "Glm4": ("Glm4ForCausalLM", {**SIZES, "head_dim": 16}, "Glm4MLP", "swiglu"),
    "Lfm2": ("Lfm2ForCausalLM", {**SIZES, "layer_types": ["conv"]}, "Lfm2MLP", "swiglu"),
    "T5": ("T5EncoderModel", {**T5, "feed_forward_proj": "gated-gelu"}, "T5DenseGatedActDense", "geglu"),
    "MT5": ("MT5EncoderModel", {**T5, "feed_forward_proj": "gated-silu"}, "MT5DenseGatedActDense", "swiglu"),
    "ModernBert": ("ModernBertModel", SIZES, "ModernBertMLP", "geglu"),
}


def build(name):
    torch.manual_seed(0)
    made, sizes, mlp, by = MLPS[name]
    model = getattr(transformers, made)(getattr(transformers, f"{name}Config")(**sizes)).eval()
    return model, next(module for module in model.modules() if type(module).__name__ == mlp), by


@pytest.mark.parametrize("name", MLPS)
def test_other_layouts_of_gated_mlps(name):
    _, module, by = build(name)
    x = torch.randn(2, 3, 32, requires_grad=True)
    plain, expected = copy.deepcopy(module), module(x)
    patched = {row.what: row.by for row in kt.patch(module).rows}
    assert patched[type(module).__name__] == by
    other = copy.deepcopy(module)
    for each in (module, other):
        found = each(x)
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
        each.zero_grad()
        found.sum().backward()
    plain(x).sum().backward()
    for mine, theirs in zip(other.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad, atol=1e-5, rtol=1e-3)
    torch.testing.assert_close(
        torch.compile(module, fullgraph=True, backend="aot_eager")(x), expected, atol=1e-5, rtol=1e-4
    )


def test_a_cast_before_the_last_layer_stays():
    """T5's last layer may be kept in f32 in a model of bf16."""
    _, module, _ = build("T5")
    module = module.bfloat16()
    module.wo.float()
    x = torch.randn(2, 3, 32).bfloat16()
    expected = module(x)
    kt.patch(module)
    assert module(x).dtype == expected.dtype == torch.float32
    torch.testing.assert_close(module(x), expected, atol=3e-2, rtol=3e-2)


def test_quick_gelu():
    module, x = copy.deepcopy(ACT2FN["quick_gelu"]), torch.linspace(-30, 30, 301)
    expected = module(x)
    assert [row.by for row in kt.patch(module).rows] == ["silu"]
    torch.testing.assert_close(module(x), expected, atol=1e-6, rtol=1e-5)


class Inside(torch.nn.Module):
    """As PEFT's and TRL's models, and reward models: another module holds the model."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.pretrained_model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES))
        self.v_head = torch.nn.Linear(32, 1)

    def forward(self, ids):
        return self.v_head(self.pretrained_model(ids, output_hidden_states=True).hidden_states[-1])


class Lora(torch.nn.Module):
    """As PEFT's: stands where a linear layer was, with its weight."""

    def __init__(self, base_layer):
        super().__init__()
        self.base_layer = base_layer
        self.lora_a, self.lora_b = (
            torch.nn.Linear(base_layer.in_features, 2),
            torch.nn.Linear(2, base_layer.out_features),
        )
        self.dropout = torch.nn.Dropout(0.5)

    @property
    def weight(self):
        return self.base_layer.weight

    def forward(self, x):
        return self.base_layer(x) + self.lora_b(self.lora_a(self.dropout(x)))


@pytest.mark.parametrize("lora", [False, True])
def test_models_inside_others(lora):
    model, ids = Inside(), torch.randint(1, 64, (2, 7))
    if lora:
        for layer in model.pretrained_model.model.layers:
            for part, name in ((layer.mlp, "gate_proj"), (layer.mlp, "down_proj"), (layer.self_attn, "q_proj")):
                setattr(part, name, Lora(getattr(part, name)))
    model.eval()
    with torch.no_grad():
        expected = model(ids)
        found = {row.what: row.by for row in kt.patch(model).rows}
        assert found == {
            "LlamaRMSNorm": "rms_norm",
            "LlamaMLP": "swiglu",
            "attention": "attention",
            "apply_rotary_pos_emb in LlamaAttention": "rope",
            "loss": "cross_entropy",
        }
        torch.testing.assert_close(model(ids), expected, atol=1e-5, rtol=1e-4)
        kt.unpatch(model)
        assert torch.equal(model(ids), expected)


def test_attention_that_the_registry_does_not_give_has_its_row():
    sizes = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "vocab_size": 64,
    }
    model = transformers.DebertaModel(transformers.DebertaConfig(**sizes))
    notes = [row.note for row in kt.patch(model).rows if row.what == "attention" and not row.by]
    assert notes == ["DisentangledSelfAttention doesn't take its attention from transformers' registry"]


def test_a_loss_that_is_not_taken_from_transformers_has_its_row():
    config = transformers.BartConfig(
        vocab_size=64,
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=32,
    )
    notes = [row.note for row in kt.patch(transformers.BartForConditionalGeneration(config)).rows if row.what == "loss"]
    assert notes == ["BartForConditionalGeneration computes it in its own code"]


def test_pickling_a_patched_model_says_to_unpatch(tmp_path):
    model = Inside()
    kt.patch(model)
    for refused in (pickle.dumps, lambda it: torch.save(it, tmp_path / "model.pt")):
        with pytest.raises(TypeError, match=r"can't be pickled: call kernpack_kernels.torch.unpatch\(model\) first"):
            refused(model)
    copied = copy.deepcopy(model)
    kt.unpatch(copied)
    assert "_kernpack" not in str([module.__dict__.keys() for module in copied.modules()])
    copied, ids = pickle.loads(pickle.dumps(copied)), torch.ones(1, 3, dtype=torch.long)
    torch.testing.assert_close(copied(ids), model(ids), atol=1e-5, rtol=1e-4)
    other = copy.deepcopy(model)
    assert torch.equal(other(ids), model(ids))
